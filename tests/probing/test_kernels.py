"""Foreign libraries that cannot be used, or that end the process they are loaded in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.probing import ggml, kernels
from hio_validate.probing.refusal import CannotProbe


def asked(library: Path, *dtypes: str) -> kernels.Asked:
    return kernels.Asked(
        str(library), str(library), dtypes, (1,), 256, 2, 1 << 20, block=1 << 16, samples=2, seconds=5.0
    )


def refused(of: kernels.Asked) -> str:
    with pytest.raises(CannotProbe) as error:
        kernels.measured(of)
    assert "\n" not in str(error.value)
    return str(error.value)


def compiled(folder: Path, body: dict[str, str]) -> Path:
    """A library with every function that is asked for; those of `body` do what it says, the others answer 1."""
    names = [*ggml.BASE, *ggml.CPU]
    source = "#include <stdlib.h>\n" + "".join(
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
def test_a_build_that_numbers_its_formats_otherwise_is_not_measured(tmp_path: Path) -> None:
    library = compiled(tmp_path, QUIET)
    assert "this build has no Q4_K: it calls number 12 other" in refused(asked(library, "Q4_K"))


@needs_cc
def test_a_format_that_nobody_knows_says_which_are_known(tmp_path: Path) -> None:
    told = refused(asked(compiled(tmp_path, QUIET), "Q9_K"))
    assert "hio knows no number format Q9_K; known are F32, F16, Q4_0" in told


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
