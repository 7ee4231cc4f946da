"""Foreign libraries that cannot be used, or that end the process they are loaded in."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.models.ceilings import Rate
from hio_validate.probing import ggml, kernels
from hio_validate.probing.refusal import CannotProbe
from tests.estimating.workloads import shape


def asked(library: Path, *dtypes: str) -> kernels.Asked:
    return kernels.Asked(
        str(library),
        str(library),
        dtypes,
        (1,),
        256,
        (1, 2, 32),
        1 << 20,
        block=1 << 16,
        samples=2,
        seconds=600.0,
    )


def refused(of: kernels.Asked) -> str:
    with pytest.raises(CannotProbe) as error:
        kernels.measured(of)
    assert "\n" not in str(error.value)
    return str(error.value)


def compiled(folder: Path, body: dict[str, str]) -> Path:
    """A library with every function that is asked for; those of `body` do what it says, the others answer 1."""
    names = [*ggml.BASE, *ggml.CPU]
    source = "#include <stdlib.h>\n#include <unistd.h>\n" + "".join(
        f"void *{name}(long first, long second) {{ {body.get(name, 'return (void *) 1;')} }}\n"
        for name in names
    )
    (folder / "fake.c").write_text(source)
    library = folder / "libfake.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", str(library), str(folder / "fake.c")], check=True)
    return library


needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="cc makes the library")
NAMED = 'return first == 8 ? "q8_0" : first == 14 ? "q6_K" : "other";'
QUIET = {"ggml_type_name": NAMED, "ggml_backend_reg_get_proc_address": "return 0;"}


def test_a_file_that_is_no_library_is_one_sentence(tmp_path: Path) -> None:
    library = tmp_path / "libggml.so"
    library.write_text("no library")
    assert "the build's libraries cannot be used" in refused(asked(library, "Q8_0"))


@needs_cc
def test_a_library_without_the_functions_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.c").write_text("int nothing;\n")
    library = tmp_path / "libempty.so"
    subprocess.run(["cc", "-shared", "-o", str(library), str(tmp_path / "empty.c")], check=True)
    assert "libempty.so has no function ggml_init" in refused(asked(library, "Q8_0"))


@needs_cc
def test_code_that_aborts_ends_the_child_alone_and_the_next_format_goes_on(tmp_path: Path) -> None:
    library = compiled(tmp_path, {**QUIET, "ggml_blck_size": "if (first == 8) abort(); exit(7);"})
    begun: list[str] = []
    with pytest.raises(CannotProbe, match="matvec of Q8_0: the build's own code ended with SIGABRT"):
        kernels.measured(asked(library, "Q8_0", "Q6_K"), begun.append)
    assert begun == ["Q8_0", "Q6_K"]


@needs_cc
def test_code_that_exits_says_its_code(tmp_path: Path) -> None:
    library = compiled(tmp_path, {**QUIET, "ggml_blck_size": "exit(7);"})
    assert refused(asked(library, "Q6_K")).startswith(
        "matvec of Q6_K: the process that measures ended with exit code 7"
    )


@needs_cc
def test_bytes_that_are_no_text_between_the_answers_are_none_of_ours(tmp_path: Path) -> None:
    library = compiled(
        tmp_path, {**QUIET, "ggml_blck_size": 'write(1, "\\377\\376\\n", 3); write(2, "\\377!", 2); exit(7);'}
    )
    assert "ended with exit code 7: �!" in refused(asked(library, "Q6_K"))


@needs_cc
def test_a_build_that_numbers_its_formats_otherwise_is_not_measured(tmp_path: Path) -> None:
    library = compiled(tmp_path, QUIET)
    assert "this build has no Q4_K: it calls number 12 other" in refused(asked(library, "Q4_K"))


@needs_cc
def test_a_format_that_nobody_knows_says_which_are_known(tmp_path: Path) -> None:
    told = refused(asked(compiled(tmp_path, QUIET), "Q9_K"))
    assert "hio knows no number format Q9_K; known are F32, F16, Q4_0" in told


MEASURABLE = {
    **QUIET,
    "ggml_type_name": NAMED.replace("return", 'return first == 0 ? "f32" :'),
    "ggml_blck_size": "return (void *) 32;",
    "ggml_row_size": "return (void *) 272;",
    "ggml_quantize_chunk": f"return (void *) {272 * 256};",
    "ggml_tensor_overhead": "return (void *) 64;",
    "ggml_backend_graph_compute": "return 0;",
    "ggml_backend_dev_supports_op": "return (void *) 1;",
    "ggml_backend_buft_name": 'return "CPU";',
    "ggml_backend_tensor_get": "*(float *) second = 1; return 0;",
}
"""A build whose products take no time and give a number."""


@needs_cc
def test_time_that_is_up_is_said_of_each_rate(tmp_path: Path) -> None:
    told = refused(replace(asked(compiled(tmp_path, MEASURABLE), "Q8_0"), seconds=0.0))
    assert told == "matvec of Q8_0 with 1 vector and 1 thread: there was no time left"


@needs_cc
def test_a_later_turn_that_has_no_time_left_says_nothing_and_ends_the_turns(tmp_path: Path) -> None:
    """What the first turn measured stays a rate; that no more samples of it were taken is no lack."""
    busy = tmp_path / "busy"
    slow = f'usleep(access("{busy}", 0) ? 60000 : 3000000); return 0;'
    library = compiled(tmp_path, {**MEASURABLE, "ggml_backend_graph_compute": slow})
    begun: list[str] = []

    def tell(what: str) -> None:
        begun.append(what)
        if what.endswith("again"):
            busy.touch()

    rates, unknown = kernels.measured(replace(asked(library, "Q8_0"), vectors=(1,), seconds=8.0), tell)
    assert begun == ["Q8_0", "Q8_0, again"], "the second turn was begun, and measured nothing"
    assert [each for each in unknown if "time" in each] == []
    assert {len(each.samples) for each in rates.values()} <= {2}


@given(st.none() | st.integers(0, 1 << 34), st.none() | st.integers(1 << 28, 1 << 40))
def test_what_is_streamed_is_larger_than_the_caches_and_fits_the_memory(
    caches: int | None, available: int | None
) -> None:
    found = kernels.stream_bytes(caches, available)
    assert found <= kernels.MOST_STREAM
    assert available is None or found <= available // 8
    if available is None or available // 8 >= kernels.MOST_STREAM:
        assert found >= min(2 * (caches or 0), kernels.MOST_STREAM)
        assert found >= kernels.LEAST_STREAM


@given(st.integers(0, 1 << 34), st.floats(1, 1e13))
def test_no_more_is_streamed_than_a_pass_of_the_model_reads(caches: int, one_pass: float) -> None:
    found = kernels.stream_bytes(caches, None, one_pass)
    assert found <= max(one_pass, kernels.BLOCK)
    assert found <= kernels.stream_bytes(caches, None)
    assert found == min(max(int(one_pass), kernels.BLOCK), kernels.stream_bytes(caches, None))


@pytest.mark.parametrize(
    ("most", "streamed", "cached"),
    [
        (512, [1, 2, 4, 8, 16], [32, 128, 512]),
        (64, [1, 2, 4, 8, 16], [32, 64]),
        (16, [1, 2, 4, 8, 16], []),
        (3, [1, 2, 3], []),
    ],
)
def test_few_vectors_are_measured_from_memory_and_many_in_a_cache(
    most: int, streamed: list[int], cached: list[int]
) -> None:
    counts = kernels.vectors_up_to(most)
    assert (kernels.streamed(counts), kernels.cached(counts)) == (streamed, cached)


def test_decoding_reads_every_expert_in_the_end_and_of_a_table_one_row() -> None:
    found = shape(
        ("embedding", "f16", 3200, 6400), ("experts", "Q4_K", 2560, 1440), ("norm", "f32", 64, 256),
        embedding=32, vocabulary=100, tied=False, experts={"count": 8, "active": 2},
    )  # fmt: skip
    assert kernels.read_again(found.model) == 64 + 1440 + 256


LINE = {
    "dtype": "Q8_0", "threads": 2, "width": 640, "rows": 1024, "bytes": 10_000_000, "kind": "CPU", "taken": 2,
    "repeated": 1, "samples": [4e9, 5e9, 6e9],
}  # fmt: skip


@pytest.mark.parametrize(
    ("what", "vectors", "count", "name", "unit", "method"),
    [
        ("matvec", 1, 14, "matvec-Q8_0-2", "GB/s", "with one vector: 14 matrices of 1024 x 640, 10 MB in turn"),
        ("matvec", 16, 14, "matvec-Q8_0-2x16", "GB/s", "with 16 vectors: 14 matrices of 1024 x 640, 10 MB in turn"),
        ("matmul", 512, 1, "matmul-Q8_0-2x512", "GFLOP/s", "with 512 vectors: one matrix of 1024 x 640, 10.00 MB"),
    ],
)  # fmt: skip
def test_a_rate_says_by_how_many_vectors_and_how_much_was_read_again(
    what: str, vectors: int, count: int, name: str, unit: str, method: str
) -> None:
    line = {**LINE, "what": what, "vectors": vectors, "count": count}
    found: Rate = kernels._rate(line)
    assert kernels._name(line) == name
    assert (found.quantity, found.unit, found.value) == (what, unit, 5.0)
    assert (found.vectors, found.working_set, found.threads) == (vectors, 10_000_000, 2)
    assert found.method and method in found.method and found.method.endswith("type CPU, 2 products a sample")
