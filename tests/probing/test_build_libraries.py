"""Which libraries of a build are loaded, and what is refused before any of its code runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.probing.build_libraries import kernels_of
from hio_validate.probing.refusal import CannotProbe
from tests.small_repo import sha, write

FILES = {"server": "program", "libggml-base.so.0.1": "base", "libggml-cpu.so.0.1": "cpu"}
RECORDED = {name: sha(content) for name, content in FILES.items() if name != "server"}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """The program of a build whose libraries stand beside it, each with a link as linkers want it."""
    write(tmp_path, FILES)
    (tmp_path / "libggml-cpu.so").symlink_to("libggml-cpu.so.0.1")
    return tmp_path / "server"


def refused(*arguments: object) -> str:
    with pytest.raises(CannotProbe) as error:
        kernels_of(*arguments)  # type: ignore[arg-type]
    return str(error.value)


def test_the_recorded_libraries_beside_the_program_are_found(build: Path) -> None:
    found = kernels_of(build, RECORDED)
    assert (found.base.name, found.cpu.name) == ("libggml-base.so.0.1", "libggml-cpu.so.0.1")


def test_a_link_to_the_program_leads_to_its_libraries(build: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "server"
    link.parent.mkdir()
    link.symlink_to(build)
    assert kernels_of(link, RECORDED).cpu.parent == build.parent


def test_other_bytes_are_another_build(build: Path) -> None:
    (build.parent / "libggml-cpu.so.0.1").write_text("CPU")
    told = refused(build, RECORDED)
    assert "libggml-cpu.so.0.1 is of another build" in told
    assert sha("cpu")[:12] in told
    assert sha("CPU")[:12] in told


def test_what_nobody_recorded_is_not_loaded(build: Path) -> None:
    told = refused(build, {"libggml-base.so.0.1": sha("base")})
    assert "no hash of libggml-cpu.so.0.1 is recorded" in told
    assert "hio engine learn" in told


def test_a_program_without_libraries_says_what_was_expected(tmp_path: Path) -> None:
    write(tmp_path, {"server": "program"})
    assert "has no libggml-base: expected a llama.cpp build" in refused(tmp_path / "server", RECORDED)


def test_of_several_variants_one_is_chosen(build: Path) -> None:
    write(build.parent, {"libggml-cpu-haswell.so": "haswell"})
    assert "has several: libggml-cpu-haswell.so, libggml-cpu.so.0.1; say which with --library" in refused(
        build, RECORDED
    )
    more = {**RECORDED, "libggml-cpu-haswell.so": sha("haswell")}
    assert kernels_of(build, more, "libggml-cpu-haswell.so").cpu.name == "libggml-cpu-haswell.so"
    assert "has no libggml-cpu-zen4.so" in refused(build, more, "libggml-cpu-zen4.so")
