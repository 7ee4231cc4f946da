"""Facts of llama-server logs, in the wording of several builds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe.log_facts import log_facts

QUIET = """\
0.00.001.100 I srv  llama_server: initializing ...
0.00.004.506 I srv    load_model: loading model '/models/tiny.gguf'
0.00.960.297 I cmn          init: llama threadpool init, n_threads = 1
0.01.350.800 W srv    load_model: cache_reuse is not supported by this context, it will be disabled
0.01.350.808 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 512, kv_unified = 'false'
0.01.353.207 I srv  llama_server: listening on http://127.0.0.1:18311
"""

VERBOSE = """\
0.00.004.315 I cmn  common_param: common_params_print_info: build 4567 (abc1234) with GNU 12.2.0 for Linux x86_64
0.00.004.682 I cmn  common_param: system_info: n_threads = 2 (n_threads_batch = 3) / 4 | CPU : SSE3 = 1 |
0.00.004.949 I srv          init: using 6 threads for HTTP server
0.00.400.000 I llama_kv_cache: size =    9.00 MiB (   512 cells,   3 layers,  2/2 seqs), K (f16):    4.50 MiB, V (f16):    4.50 MiB
0.00.458.653 I common_fit_params: fitting params to free memory took 0.45 seconds
0.00.856.853 I load_tensors: loading model tensors, this can take a while... (load_mode = mmap)
0.00.861.678 I load_tensors:   CPU_Mapped model buffer size =   235.16 MiB
0.00.877.573 I llama_context: n_seq_max             = 2
0.00.877.574 I llama_context: n_ctx                 = 2048
0.00.877.574 I llama_context: n_ctx_seq             = 1024
0.00.877.574 I llama_context: n_batch               = 2048
0.00.877.575 I llama_context: n_ubatch              = 512
0.00.877.576 I llama_context: flash_attn            = auto
0.00.877.576 I llama_context: kv_unified            = false
0.00.877.581 I llama_context: n_ctx_seq (1024) < n_ctx_train (32768) -- the full capacity of the model will not be utilized
0.00.877.715 I llama_context:        CPU  output buffer size =     2.00 MiB
0.00.877.764 I llama_kv_cache:        CPU KV buffer size =     3.19 MiB
0.00.877.913 I llama_kv_cache: size =    3.19 MiB (  1024 cells,   3 layers,  2/2 seqs), K (q8_0):    1.59 MiB, V (q8_0):    1.59 MiB
0.00.878.001 I llama_kv_cache:        CPU KV buffer size =    15.94 MiB
0.00.886.730 I llama_kv_cache: size =   15.94 MiB (  1024 cells,  15 layers,  2/2 seqs), K (q8_0):    7.97 MiB, V (q8_0):    7.97 MiB
0.00.886.900 I resolve_fused_ops: Flash Attention enabled
0.00.887.462 I resolve_fused_ops: fused DeepSeek V4 HC pre enabled
0.01.097.559 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 1024, kv_unified = 'false'
0.01.097.650 I srv    load_model: prompt cache is enabled, size limit: 8192 MiB
0.01.097.651 I srv    load_model: context checkpoints enabled, max = 32, min spacing = 8192
0.01.103.763 I srv  llama_server: listening on http://127.0.0.1:18101
"""


def read(text: str) -> dict[str, object]:
    return dict(log_facts(text.splitlines()))


def test_a_quiet_log_says_little_and_nothing_is_made_up() -> None:
    assert read(QUIET) == {
        "n_threads": 1,
        "n_slots": 2,
        "n_ctx_slot": 512,
        "kv_unified": False,
        "disabled.cache_reuse": "cache_reuse is not supported by this context, it will be disabled",
    }


def test_a_verbose_log() -> None:
    assert read(VERBOSE) == {
        "build": 4567,
        "commit": "abc1234",
        "compiler": "GNU 12.2.0 for Linux x86_64",
        "n_threads": 2,
        "n_threads_batch": 3,
        "n_cpus": 4,
        "n_threads_http": 6,
        "load_mode": "mmap",
        "n_seq_max": 2,
        "n_ctx": 2048,
        "n_ctx_seq": 1024,
        "n_batch": 2048,
        "n_ubatch": 512,
        "flash_attn": "enabled",
        "kv_unified": False,
        "buffer.CPU_Mapped.model_mib": 235.16,
        "buffer.CPU.output_mib": 2.0,
        "buffer.CPU.kv_mib": 19.13,
        "cache_type_k": "q8_0",
        "cache_type_v": "q8_0",
        "kv_k_mib": 9.56,
        "kv_v_mib": 9.56,
        "kv_cells": "1024;1024",
        "n_slots": 2,
        "n_ctx_slot": 1024,
        "prompt_cache_mib": 8192,
        "n_ctx_checkpoints": 32,
    }


def test_a_build_that_does_not_know_itself_is_absent() -> None:
    assert "build" not in read("common_params_print_info: build 0 (unknown) with GNU 12 for Linux")


def test_of_two_starts_in_one_log_the_last_counts() -> None:
    found = read(QUIET + QUIET.replace("n_slots = 2", "n_slots = 5").replace("cache_reuse is", "nothing is"))
    assert found["n_slots"] == 5
    assert "disabled.cache_reuse" not in found


def test_requests_in_a_log_are_not_read() -> None:
    poisoned = (
        "srv load_model: initializing, n_slots = 99, n_ctx_slot = 1, kv_unified = 'true'\nflash_attn = 1\n"
    )
    assert read(QUIET + poisoned) == read(QUIET)


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("llama_context: flash_attn    = enabled", "enabled"),
        ("llama_context: flash_attn    = 0", "disabled"),
        ("llama_context: flash_attn    = auto", "auto"),
        ("sched_reserve: Flash Attention was auto, set to enabled", "enabled"),
        ("llama_context: Flash Attention was auto, set to disabled", "disabled"),
        ("0.00.886.900 W resolve_fused_ops: Flash Attention not supported, set to disabled", "disabled"),
        ("llama_init_from_model: enabling flash_attn since it is required for quantized V cache", "enabled"),
        ("llama_init_from_model: flash_attn is not compatible with Grok - forcing off", "disabled"),
    ],
)
def test_flash_attention_in_every_wording(line: str, state: str) -> None:
    assert read("llama_context: flash_attn = auto\n" + line)["flash_attn"] == state


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("srv load_model: ctx_shift is not supported by multimodal, it will be disabled", "ctx_shift"),
        ("srv load_model: swa_full is not supported by this model, it will be disabled", "swa_full"),
        ("srv load_model: --cache-idle-slots requires --cache-ram, disabling", "cache-idle-slots"),
        ("srv load_model: speculative decoding not supported by this context", "speculative-decoding"),
    ],
)
def test_what_was_disabled_is_told(line: str, name: str) -> None:
    assert [key for key in read(line) if key.startswith("disabled.")] == [f"disabled.{name}"]


def test_an_older_build() -> None:
    text = (
        "system_info: n_threads = 4 (n_threads_batch = 4) / 8 | CUDA : ARCHS = 520 |\n"
        "llama_context: n_ctx_per_seq = 512\n"
        "llama_context: KV self size  =  192.00 MiB, K (f16):   96.00 MiB, V (f16):   96.00 MiB\n"
        "init:      CUDA0 KV buffer size =   192.00 MiB\n"
        "slot   load_model: id  0 | task -1 | new slot, n_ctx = 1024\n"
        "slot   load_model: id  1 | task -1 | new slot, n_ctx = 1024\n"
    )
    found = read(text)
    assert (found["n_threads"], found["n_cpus"], found["n_ctx_per_seq"]) == (4, 8, 512)
    assert (found["cache_type_k"], found["kv_k_mib"], found["buffer.CUDA0.kv_mib"]) == ("f16", 96.0, 192.0)
    assert (found["n_slots"], found["n_ctx_slot"]) == (2, 1024)
    assert "kv_cells" not in found


def test_a_draft_model_has_facts_of_its_own() -> None:
    text = (
        "llama_context: n_ctx = 2048\nsrv load_model: loading draft model '/m/draft.gguf'\n"
        "llama_context: n_ctx = 512\n"
        "srv load_model: initializing, n_slots = 1, n_ctx_slot = 2048, kv_unified = 'true'\n"
    )
    found = read(text)
    assert (found["n_ctx"], found["draft.n_ctx"], found["n_slots"]) == (2048, 512, 1)


@given(st.text())
def test_any_text_is_read_without_a_traceback(text: str) -> None:
    read(text)


@given(st.lists(st.sampled_from((QUIET + VERBOSE).splitlines())))
def test_any_order_of_lines_is_read_without_a_traceback(lines: list[str]) -> None:
    log_facts(lines)
