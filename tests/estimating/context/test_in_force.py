"""What the settings of a stack say of its workload, as each engine spells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.estimating.context.in_force import InForce, in_force
from hio_validate.history import Folder
from hio_validate.models.estimate import Sharding
from hio_validate.repo import Item, load
from hio_validate.rules.base import View
from tests.estimating.tiny import vllm
from tests.small_repo import FILES, ROOM, pin, sha, write

MORE = """\
-ub,   --ubatch-size N                  physical maximum batch size (default: 512)
-ctk,  --cache-type-k TYPE              KV cache data type for K (default: f16)
-ctv,  --cache-type-v TYPE              KV cache data type for V (default: f16)
-np,   --parallel N                     number of server slots (default: -1, -1 = auto)
-sm,   --split-mode {none,layer,row}    how to split the model across multiple GPUs (default: layer)
-ts,   --tensor-split N0,N1,N2,...      fraction of the model to offload to each GPU, comma-separated list of
                                        proportions, e.g. 3,1
-ngl,  --gpu-layers, --n-gpu-layers N   max. number of layers to store in VRAM, either an exact number, 'auto', or
                                        'all' (default: auto)
--rpc SERVERS                           comma-separated list of RPC servers (host:port)
--spec-type none,draft-mtp,ngram-simple
                                        type of speculative decoding (default: none)
"""
HELP = FILES["manifests/engines/llama-server/b1/help.txt"].replace("-m,    --model", f"{MORE}-m,    --model")
ENGINE = FILES["manifests/engines/llama-server/b1/engine.yaml"].replace(
    sha(FILES["manifests/engines/llama-server/b1/help.txt"]), sha(HELP)
)
assert pin("b1", ENGINE)


def _stack(*lines: tuple[str, str]) -> str:
    argv = "".join(f'      - ["{flag}", "{value}"]\n' for flag, value in lines) or "      []\n"
    return f"hio: stack/v1\nname: one\nprocesses:\n  server:\n    engine: llama-server\n    build: b1\n    argv:\n{argv}"


def _of(root: Path, content: str, path: str = "decode-token", *, batched: bool = False) -> InForce:
    engine = "manifests/engines/llama-server/b1"
    write(
        root,
        {f"{engine}/help.txt": HELP, f"{engine}/engine.yaml": ENGINE, f"{ROOM}/stacks/one.yaml": content},
    )
    view = View(load(Folder(root)))
    item = view.repo.find("stack/v1", "one")
    assert isinstance(item, Item) and item.model is not None
    return in_force(view, item, None, path, batched=batched)


def test_defaults_of_the_build_count_and_what_it_decides_itself_is_said(tmp_path: Path) -> None:
    found = _of(tmp_path, _stack())
    assert (found.microbatch, found.key_type, found.value_type, found.devices) == (512, "f16", "f16", 1)
    assert (found.threads, found.slots, found.drafting) == (None, None, None)
    (missing,) = found.missing
    assert missing.startswith("server.threads is unknown (-1), which the engine decides itself")


@pytest.mark.parametrize("path", ["decode-token", "load", "prefill-token", "request"])
def test_passes_of_several_tokens_have_their_own_threads(tmp_path: Path, path: str) -> None:
    found = _of(tmp_path, _stack(("--threads", "2"), ("--threads-batch", "6")), path)
    assert (found.threads, found.batch_threads, found.missing) == (2, 6, ())


@pytest.mark.parametrize(
    ("more", "batched", "missed"),
    [((), False, False), ((), True, True), ((("--spec-type", "ngram-simple"),), False, True)],
    ids=["one-token", "several-requests", "drafting"],
)
def test_threads_of_several_tokens_are_missed_where_passes_have_several(
    tmp_path: Path, more: tuple[tuple[str, str], ...], batched: bool, missed: bool
) -> None:
    found = _of(tmp_path, _stack(("--threads", "2"), ("--threads-batch", "0"), *more), batched=batched)
    assert (found.threads, found.batch_threads) == (2, None)
    assert any("server.threads-batch" in each for each in found.missing) == missed


def test_batch_threads_follow_threads(tmp_path: Path) -> None:
    assert _of(tmp_path, _stack(("--threads", "3")), "prefill-token").batch_threads == 3


@pytest.mark.parametrize(
    ("path", "given", "said"),
    [
        ("decode-token", "--threads-batch", 1),
        ("prefill-token", "--threads-batch", 0),
        ("decode-token", "--threads", 0),
    ],
)
def test_threads_that_a_path_has_not_are_not_missed(tmp_path: Path, path: str, given: str, said: int) -> None:
    found = _of(tmp_path, _stack((given, "6")), path)
    assert sum("threads" in each for each in found.missing) == said


def test_what_is_asked_for_counts(tmp_path: Path) -> None:
    found = _of(
        tmp_path,
        _stack(("--threads", "2"), ("--ubatch-size", "256"), ("--cache-type-k", "q8_0"), ("--parallel", "4"),
               ("--spec-type", "ngram-simple")),
    )  # fmt: skip
    assert (found.microbatch, found.key_type, found.value_type, found.slots) == (256, "q8_0", "f16", 4)
    assert found.drafting == "server.spec-type ngram-simple"


def test_a_microbatch_is_never_larger_than_its_batch(tmp_path: Path) -> None:
    assert _of(tmp_path, _stack(("--batch-size", "64"), ("--ubatch-size", "256"))).microbatch == 64


@pytest.mark.parametrize(
    ("mode", "split", "devices"),
    [("row", "3,1", 2), ("row", "1,0,1", 2), ("layer", "3,1", 1), ("none", "1", 1)],
)
def test_only_a_split_of_rows_divides_a_pass(tmp_path: Path, mode: str, split: str, devices: int) -> None:
    assert _of(tmp_path, _stack(("--split-mode", mode), ("--tensor-split", split))).devices == devices


def test_another_engine_spells_it_otherwise(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, vllm("one", "--tensor-parallel-size=8", "--kv-cache-dtype=fp8", "--max-num-seqs=16",
                               "--max-num-batched-tokens=8k"))  # fmt: skip
    assert (found.engine, found.build) == ("vllm", None)
    assert (found.devices, found.key_type, found.value_type, found.slots) == (8, "fp8", "fp8", 16)
    assert found.microbatch == 8000
    assert found.threads is None and found.missing == (), "it has no such threads"


@pytest.mark.parametrize("words", [["-tp", "2"], ["--tp", "2"], ["--tensor-parallel-size", "2"]])
def test_a_short_flag_divides_too(tmp_path: Path, words: list[str]) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, vllm("one", *words))
    assert (found.devices, found.held_in) == (2, "device")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--tensor-parallel-size", "${tp}"], "server.tensor-parallel-size is ${tp}, expected a number of devices"),
        (["--pipeline-parallel-size", "two"], "server.pipeline-parallel-size is two"),
        (["--data-parallel-size", "-2"], "server.data-parallel-size is -2"),
        (["--tensor-parallel-size", "99999999999999999999"], "server.tensor-parallel-size is 99999999999999999999"),
        (["--config", "/etc/vllm.yaml"], "server.config /etc/vllm.yaml may divide the model, and is not read"),
    ],
)  # fmt: skip
def test_a_division_that_cannot_be_read_says_not_what_a_device_holds(
    tmp_path: Path, words: list[str], why: str
) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, vllm("one", *words))
    assert found.held_in is None
    assert [each for each in found.missing if why in each], found.missing


def sglang(name: str, *words: str) -> str:
    return vllm(name, *words).replace("engine: vllm", "engine: sglang")


def test_sglang_spells_it_its_own_way(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, sglang("one", "--tp", "4", "--kv-cache-dtype=fp8_e5m2", "--max-running-requests=32",
                                 "--chunked-prefill-size=4096"))  # fmt: skip
    assert (found.engine, found.devices, found.slots, found.microbatch) == ("sglang", 4, 32, 4096)
    assert (found.key_type, found.value_type, found.drafting) == ("fp8_e5m2", "fp8_e5m2", None)
    assert found.missing == ()


@pytest.mark.parametrize(
    "content",
    [sglang("one", "--chunked-prefill-size=-1"), vllm("one", "--max-num-batched-tokens=64", "--no-enable-chunked-prefill")],
)  # fmt: skip
def test_prompts_that_are_not_cut_take_one_pass(tmp_path: Path, content: str) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, content, "prefill-token")
    assert found.whole_prompts and found.microbatch is None
    assert not any("tokens of one pass" in each or "chunked" in each for each in found.missing)


@pytest.mark.parametrize(
    ("words", "path", "devices", "said"),
    [
        (("--tensor-parallel-size=8",), "decode-token", 8, ""),
        (("--tensor-parallel-size=2", "--pipeline-parallel-size=4"), "decode-token", 2, ""),
        (("--tensor-parallel-size=2", "--pipeline-parallel-size=4"), "prefill-token", 8, "the 4 stages of the pipeline"),
        (("--data-parallel-size=8", "--enable-expert-parallel"), "decode-token", 8, "what each of 8 replicas reads alone"),
        (("--data-parallel-size=8",), "decode-token", 1, "which of 8 replicas a request goes to"),
        (("--tp-size=8", "--dp-size=8", "--enable-dp-attention"), "decode-token", 8, ""),
        (("--tp-size=2", "--dp-size=4"), "decode-token", 2, "which of 4 replicas a request goes to"),
    ],
)  # fmt: skip
def test_the_bound_never_takes_fewer_devices_than_divide_a_pass(
    tmp_path: Path, words: tuple[str, ...], path: str, devices: int, said: str
) -> None:
    write(tmp_path, FILES)
    made = sglang if words[0].startswith("--tp-") else vllm
    found = _of(tmp_path, made("one", *words), path)
    assert found.devices == devices
    told = [each for each in found.missing if "replica" in each or "pipeline" in each]
    assert [said in each for each in told] == ([True] if said else [])


@pytest.mark.parametrize(
    ("content", "least", "most"),
    [
        (vllm("one", "--speculative-config.method=ngram", "--speculative-config.num_speculative_tokens=5"), 0, 5),
        (vllm("one", "--speculative-config.method=mtp", "--speculative-config.num_speculative_tokens=2"), 2, 2),
        (sglang("one", "--speculative-algorithm=NGRAM", "--speculative-num-draft-tokens=12"), 0, 11),
        (sglang("one", "--speculative-algorithm=EAGLE3", "--speculative-num-draft-tokens=4"), 3, 3),
    ],
)  # fmt: skip
def test_the_drafted_tokens_of_a_pass_are_read_where_the_settings_say_them(
    tmp_path: Path, content: str, least: int, most: int
) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, content)
    assert found.drafting and found.draft_tokens
    assert (found.draft_tokens.low, found.draft_tokens.high) == (least, most)


@pytest.mark.parametrize(
    "content",
    [vllm("one", "--speculative-config.method=eagle"), sglang("one", "--speculative-algorithm=NGRAM")],
)
def test_a_length_that_the_engine_decides_is_not_made_up(tmp_path: Path, content: str) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, content)
    assert found.drafting and found.draft_tokens is None


def test_what_drafts_nothing_is_no_drafting(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert _of(tmp_path, sglang("one")).drafting is None
    assert _of(tmp_path, vllm("one", "--speculative-config", "{}")).drafting is None


def test_auto_is_no_number_format(tmp_path: Path) -> None:
    found = _of(tmp_path, vllm("one", "--kv-cache-dtype=auto"))
    assert (found.key_type, found.value_type) == (None, None)
    assert [each for each in found.missing if "server.kv-cache-dtype is" in each and "auto" in each]


def test_the_process_that_serves_is_the_one_whose_engine_is_known(tmp_path: Path) -> None:
    content = vllm("one", "--tensor-parallel-size=2").replace("  server:", "  engine:")
    proxy = "  proxy:\n    engine: unknown\n"
    found = _of(tmp_path, content.replace("processes:\n", f"processes:\n{proxy}"))
    assert (found.process, found.devices) == ("engine", 2)


DIVIDED = """\
hio: stack/v1
name: one
processes:
  router:
    engine: unknown
  prefill:
    engine: vllm
    argv:
      - ["--kv-cache-dtype", "fp8"]
      - ["--enforce-eager"]
      - ["--max-num-seqs", "16"]
      - ["--max-num-batched-tokens", "32768"]
      - ["--no-enable-prefix-caching"]
      - ["--data-parallel-size", "8"]
      - ["--enable-expert-parallel"]
  decode:
    engine: vllm
    argv:
      - ["--tensor-parallel-size", "8"]
      - ["--kv-cache-dtype", "fp8"]
      - ["--max-num-seqs", "256"]
      - ["--max-num-batched-tokens", "256"]
      - ["--compilation-config", '{"cudagraph_mode":"FULL_DECODE_ONLY","mode":0}']
"""
"""The shape of a service whose prompts and answers are computed by engines of their own, as llm-d starts them."""


@pytest.mark.parametrize(
    ("path", "process", "microbatch", "slots"),
    [
        ("prefill-token", "prefill", 32768, 16),
        ("request", "prefill", 32768, 16),
        ("decode-token", "decode", 256, 256),
    ],
)
def test_each_half_of_a_divided_service_is_read_for_its_own_path(
    tmp_path: Path, path: str, process: str, microbatch: int, slots: int
) -> None:
    write(tmp_path, FILES)
    found = _of(tmp_path, DIVIDED, path)
    assert (found.process, found.microbatch, found.slots, found.devices) == (process, microbatch, slots, 8)
    assert (found.key_type, found.value_type) == ("fp8", "fp8")


def test_tokens_of_a_pass_are_asked_for_only_where_prompts_are_evaluated(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    content = vllm("one", "--max-num-batched-tokens=auto", "--kv-cache-dtype=fp8")
    assert _of(tmp_path, content, "decode-token").missing == ()
    assert "max-num-batched-tokens is" in _of(tmp_path, content, "prefill-token").missing[0]


def _sharded(tmp_path: Path, content: str) -> Sharding | None:
    return _of(tmp_path, content).sharding


def test_context_that_is_divided_divides_k_and_v_by_position(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    words = ("--tensor-parallel-size=8", "--kv-cache-dtype=fp8")
    assert _sharded(tmp_path, vllm("one", *words)) == Sharding(weights=8, attention=8, experts=8)
    divided = vllm("one", *words, "--decode-context-parallel-size=4")
    assert _sharded(tmp_path, divided) == Sharding(weights=8, attention=8, experts=8, positions=4)
    assert _of(tmp_path, divided).missing == ()
    assert _sharded(tmp_path, vllm("one")) is None


def test_experts_over_all_replicas_leave_each_its_own_attention(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    words = ("--tensor-parallel-size=2", "--data-parallel-size=4")
    spread = _sharded(tmp_path, vllm("one", *words, "--enable-expert-parallel"))
    assert spread == Sharding(weights=2, attention=2, experts=8, groups=4)
    assert _sharded(tmp_path, vllm("one", *words)) == Sharding(weights=2, attention=2, experts=8, replicas=4)
    (said,) = (each for each in _of(tmp_path, vllm("one", *words)).missing if "replicas" in each)
    assert "which of 4 replicas" in said and "vLLM divides the experts of a mixture over all of them" in said


def test_contexts_of_prompts_are_devices_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    words = (
        "--tensor-parallel-size=4",
        "--decode-context-parallel-size=2",
        "--prefill-context-parallel-size=3",
    )
    found = _sharded(tmp_path, vllm("one", *words))
    assert found == Sharding(weights=4, attention=4, experts=12, positions=6)


def test_attention_in_parts_divides_requests_and_not_heads(tmp_path: Path) -> None:
    """python/sglang/srt/layers/dp_attention.py: attn_tp_size is tp_size by attn_dp_size."""
    write(tmp_path, FILES)
    words = ("--tp-size=8", "--dp-size=4", "--pp-size=2")
    parts = _sharded(tmp_path, sglang("one", *words, "--enable-dp-attention"))
    assert parts == Sharding(stages=2, weights=8, attention=2, experts=8, groups=4)
    whole = _sharded(tmp_path, sglang("one", *words))
    assert whole == Sharding(stages=2, weights=8, attention=8, experts=8, replicas=4)


@pytest.mark.parametrize(
    ("method", "loaded"), [("fp8", "fp8"), ("bitsandbytes", "bitsandbytes"), ("awq", None), ("auto", None)]
)
def test_what_weights_are_quantised_to_while_they_are_loaded(
    tmp_path: Path, method: str, loaded: str | None
) -> None:
    """Of `awq` the checkpoint itself has the bytes."""
    assert _of(tmp_path, vllm("one", "--quantization", method)).loaded_as == loaded


@pytest.mark.parametrize(
    ("content", "held"),
    [
        (vllm("one"), "device"),
        (vllm("one", "--cpu-offload-gb=4"), "host-and-devices"),
        (vllm("one", "--cpu-offload-gb=0"), "device"),
        (vllm("one", "--device=cpu"), "host"),
        (_stack(), "host-and-devices"),
        (_stack(("--n-gpu-layers", "0")), "host"),
        (_stack(("-ngl", "99")), "host-and-devices"),
        (_stack(("--rpc", "10.0.0.1:50052")), None),
    ],
)
def test_which_memory_has_to_hold_it(tmp_path: Path, content: str, held: str | None) -> None:
    write(tmp_path, FILES)
    assert _of(tmp_path, content).held_in == held


def test_only_llama_cpp_takes_room_for_all_slots_when_it_starts(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    stacks = (_stack(), vllm("one"), sglang("one"))
    assert [_of(tmp_path, each).kv_cache for each in stacks] == ["at-start", "paged", "paged"]
