"""What perf prints, as it prints it; each refusal says what was expected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe.perf_report import read_report
from hio_validate.observe.profile import parts_of
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.symbols import TABLES, belongs

WITH_SAMPLES = """\
# ========
# captured on    : Mon Nov 30 11:42:44 2026
# perf version : 6.1.187
# cmdline : /usr/bin/perf record -e cpu-clock -p 42
# ========
#
# Total Lost Samples: 0
#
# Samples: 1K of event 'cpu-clock'
# Event count (approx.): 2004008000
#
# Overhead       Samples  Command       Shared Object           Symbol
# ........  ............  ............  ......................  ......................................
#
    60.00%           600  llama-server  libggml-cpu.so.0.16.0   [.] ggml_vec_dot_q8_0_q8_0
    20.00%           200  llama-server  libggml-cpu.so.0.16.0   [.] ggml_gemv_q4_K_8x8_q8_K
     9.90%            99  llama-server  libgomp.so.1.0.0        [.] gomp_team_barrier_wait_end
     5.00%            50  llama-server  [kernel.kallsyms]       [k] exc_page_fault
     5.00%            50  llama-server  libggml-cpu.so.0.16.0   [.] (anonymous namespace)::tinyBLAS<1, float>::gemm
     0.10%             1  llama-server  libm.so.6               [.] __sincosf_fma


#
# (Cannot load tips.txt file, please install perf!)
#
"""
WITH_CALLERS = """\
# Samples: 100  of event 'cpu-clock'
# Event count (approx.): 1000000
#
# Children      Self  Command      Shared Object           Symbol
# ........  ........  ...........  ......................  ...............................
#
    90.00%    30.00%  llama-bench  libggml-cpu.so.0.16.0   [.] ggml_compute_forward_mul_mat
            |
            |--60.00%--ggml_compute_forward_mul_mat
            |          ggml_vec_dot_q6_K_q8_K
             --30.00%--start

    60.00%    60.00%  llama-bench  libggml-cpu.so.0.16.0   [.] ggml_vec_dot_q6_K_q8_K
            |
            ---ggml_compute_forward_mul_mat
               ggml_vec_dot_q6_K_q8_K

"""


def test_samples_are_taken_as_perf_counts_them() -> None:
    found = read_report(WITH_SAMPLES)
    assert found.counts == {
        "ggml_vec_dot_q8_0_q8_0": 600, "ggml_gemv_q4_K_8x8_q8_K": 200, "gomp_team_barrier_wait_end": 99,
        "exc_page_fault": 50, "(anonymous namespace)::tinyBLAS<1, float>::gemm": 50, "__sincosf_fma": 1,
    }  # fmt: skip
    assert found.rest == 0
    assert (found.event, found.version) == ("cpu-clock", "6.1.187")
    assert found.command == "/usr/bin/perf record -e cpu-clock -p 42"


def test_a_sample_counts_where_it_was_taken_and_not_in_its_callers() -> None:
    found = read_report(WITH_CALLERS)
    assert found.counts == {"ggml_compute_forward_mul_mat": 300_000, "ggml_vec_dot_q6_K_q8_K": 600_000}
    assert found.rest == 100_000


def test_addresses_of_a_library_without_symbols_are_one_part_of_it() -> None:
    stripped = WITH_SAMPLES.replace("[.] gomp_team_barrier_wait_end", "[.] 0x000000000001f7da").replace(
        "[k] exc_page_fault", "[k] 0xffffffff81e012a3"
    ).replace("libm.so.6               [.] __sincosf_fma", "libgomp.so.1.0.0        [.] 0x000000000001f622")  # fmt: skip
    counts = read_report(stripped).counts
    assert counts["libgomp.so.1.0.0 (no symbols)"] == 100
    assert counts["[kernel.kallsyms] (no symbols)"] == 50
    assert len(counts) == 5


def test_folded_stacks_count_their_last_frame() -> None:
    text = "server;main;a 3\nserver;main;a;ggml_vec_dot_q4_K_q8_K 5\nserver;other;a 1\n"
    assert read_report(text).counts == {"a": 4, "ggml_vec_dot_q4_K_q8_K": 5}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it has no samples"),
        ("server;main 3\nserver main\n", "line 2 is neither of a perf report nor a folded stack"),
        (WITH_SAMPLES + WITH_SAMPLES.replace("cpu-clock", "cycles"), "of several events (cpu-clock, cycles)"),
        (WITH_SAMPLES.replace("60.00%", "61.00%"), "its rows are 101.00 % together"),
        (WITH_SAMPLES.replace("    60.00%", "#    60.00%"), "its rows tell 40.00 % of the samples"),
        (WITH_SAMPLES.replace("Symbol", "Sample"), "it has no columns Overhead and Symbol"),
        (WITH_SAMPLES.replace("           600", "           6oo"), "line 15 does not stand in its columns"),
        (WITH_CALLERS.replace("# Event", "# No event"), "it says neither samples nor an event count"),
    ],
    ids=[
        "empty",
        "no-count",
        "two-events",
        "too-much",
        "cut",
        "no-symbols",
        "torn",
        "nothing-counted",
    ],
)
def test_what_cannot_be_read_is_one_sentence(text: str, told: str) -> None:
    with pytest.raises(Unobservable) as error:
        read_report(text)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


SYMBOLS = st.text("abcdefgh_:<> ", min_size=1).filter(lambda text: text == text.strip())


@given(st.dictionaries(SYMBOLS, st.integers(1, 10**6), min_size=1))
def test_the_parts_have_every_sample_once(counts: dict[str, int]) -> None:
    text = "".join(f"root;{symbol} {count}\n" for symbol, count in counts.items())
    parts = parts_of(read_report(text), "llama-server", "decode-token")
    assert sum(part.samples for part in parts) == sum(counts.values())


@given(st.text())
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    try:
        assert sum(read_report(text).counts.values()) > 0
    except Unobservable as error:
        assert "\n" not in str(error)


def test_the_parts_of_a_report_belong_to_terms_and_what_nobody_knows_stays_other() -> None:
    parts = {part.name: part for part in parts_of(read_report(WITH_SAMPLES), "llama-server", "decode-token")}
    assert (parts["ggml_vec_dot_q8_0_q8_0"].term, parts["ggml_vec_dot_q8_0_q8_0"].what) == (
        "weights",
        "data-movement",
    )
    assert parts["gomp_team_barrier_wait_end"].what == "waiting"
    assert parts["gomp_team_barrier_wait_end"].term is None
    assert (parts["exc_page_fault"].term, parts["exc_page_fault"].what) == (None, "other")
    assert parts["1 symbol below 1% each"].samples == 1
    unknown = parts_of(read_report(WITH_SAMPLES), "another-engine", "decode-token")
    assert {part.what for part in unknown} == {"other"}


@pytest.mark.parametrize(
    ("symbol", "path", "term", "what"),
    [
        ("ggml_gemm_q4_K_8x8_q8_K", "prefill-token", "compute", "arithmetic"),
        ("ggml_compute_forward_flash_attn_ext_tiled", "prefill-token", "compute", "arithmetic"),
        ("ggml_compute_forward_flash_attn_ext", "decode-token", "kv-read", "data-movement"),
        ("ggml_vec_soft_max_f32", "decode-token", "kv-read", "data-movement"),
        ("ggml_vec_dot_f16", "decode-token", "kv-read", "data-movement"),
        ("ggml_compute_forward_set_rows", "decode-token", "kv-write", "data-movement"),
        ("ggml_compute_forward_mul_mat", "decode-token", "weights", "data-movement"),
        ("ggml_compute_forward_mul", "decode-token", "compute", "arithmetic"),
        ("quantize_row_q8_K", "decode-token", "compute", "arithmetic"),
        ("repack_q4_K_to_q4_K_8_bl", "decode-token", "loading", "set-up"),
        ("llama_vocab::impl::load", "decode-token", "loading", "set-up"),
        ("ggml_backend_sched_split_graph", "decode-token", "dispatch", "dispatch"),
        ("llama_sampler_chain_apply", "decode-token", "host-gaps", "dispatch"),
        ("ggml_barrier", "decode-token", None, "waiting"),
        ("__memmove_avx512_unaligned_erms", "decode-token", None, "data-movement"),
        ("libgomp.so.1.0.0 (no symbols)", "decode-token", None, "waiting"),
        ("libiomp5.so (no symbols)", "prefill-token", None, "waiting"),
        ("libm.so.6 (no symbols)", "decode-token", None, "other"),
        ("_int_malloc", "decode-token", None, "other"),
    ],
)
def test_each_symbol_of_llama_belongs_where_its_time_is_spent(
    symbol: str, path: str, term: str | None, what: str
) -> None:
    assert belongs("llama-server", symbol, path) == (term, what)


def test_products_of_f16_are_nobodys_where_weights_are_f16_too() -> None:
    assert belongs("llama-server", "ggml_vec_dot_f16", "decode-token", {"Q8_0"}).term == "kv-read"
    assert belongs("llama-server", "ggml_vec_dot_f16", "decode-token", {"F16"}).term is None


def test_every_table_is_of_a_family_that_hio_knows() -> None:
    from hio_validate.settings.family import PACKAGED  # the list of families, beside the table

    assert set(TABLES) <= set(PACKAGED)


@pytest.mark.parametrize(
    ("report", "says"),
    [
        (WITH_SAMPLES.replace("of event 'cpu-clock'", "of events 'cycles, instructions'"), "several events"),
        (WITH_SAMPLES.replace("           600  llama", "             1  llama"), "60.00 % and 1 of 401 samples"),
        ("a;b 5\na;c 99999999999999999999999999999\n", "line 2 counts 99999999999999999999…"),
    ],
    ids=["two events", "columns that contradict each other", "a count of 29 digits"],
)  # fmt: skip
def test_what_cannot_be_true_is_refused(report: str, says: str) -> None:
    with pytest.raises(Unobservable, match=says):
        read_report(report)
