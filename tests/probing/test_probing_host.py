"""What is written is what was measured, and a document that hio judges."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from hio_validate.costs.units import DIMENSION_OF, UNITS
from hio_validate.history import WorkTree
from hio_validate.models.base import JudgedBy
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.observe.host import observe_host
from hio_validate.probing import host, memory
from hio_validate.probing.extent import Extent
from hio_validate.probing.refusal import CannotProbe, NotMeasured
from hio_validate.probing.sampling import Step, rate
from hio_validate.recording import ceilings_file
from hio_validate.repo import load
from tests.small_repo import git, write

pytest.importorskip("numpy")
FILE = "manifests/ceilings/here.yaml"


def measured(extent: Extent, folder: Path) -> Ceilings:
    said: list[str] = []
    found = host.ceilings(
        host.machine(), "here", extent, folder, lambda what, _: said.append(what), JudgedBy(hio="0.1.0", rules=6)
    )  # fmt: skip
    assert {*found.rates} <= {*said}
    return found


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Ceilings:
    from tests.probing.conftest import TINY  # a fixture of a module takes none of a function

    return measured(TINY, tmp_path_factory.mktemp("disk"))


def test_every_value_is_the_median_of_its_samples_in_a_unit_of_its_quantity(here: Ceilings) -> None:
    assert {each.quantity for each in here.rates.values()} >= {
        "memory-read", "memory-copy", "matmul", "http-round-trip", "process-start",
    }  # fmt: skip
    for each in here.rates.values():
        assert len(each.samples) >= 7 and each.method and each.source is None
        assert each.value == median(each.samples)
        assert (each.low, each.high) == (min(each.samples), max(each.samples))
        assert UNITS[each.unit][0] == DIMENSION_OF[each.quantity]
        assert each.threads is None or 1 <= each.threads <= host.machine().usable.count


def test_it_is_of_this_host_and_says_what_it_did_not_measure(here: Ceilings) -> None:
    assert (here.how, here.host, here.per) == ("measured", observe_host().id, "host")
    assert here.at and here.load is not None
    assert here.unknown[0].startswith("matmul of bf16, f16 and int8")


def test_the_memory_of_the_host_is_what_the_kernel_says_at_most(here: Ceilings) -> None:
    lines = Path("/proc/meminfo").read_text().splitlines()
    whole = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal"))
    assert here.memory is not None and 0 < here.memory <= whole
    assert any(each.startswith("memory: a control group") for each in here.unknown) == (here.memory < whole)


def test_the_document_is_read_back_as_it_was(here: Ceilings, tmp_path: Path) -> None:
    git(tmp_path, "init")
    write(tmp_path, {FILE: ceilings_file(here, FILE, "hio probe host").decode()})
    item = load(WorkTree(tmp_path)).find("ceilings/v1", "here")
    assert item is not None and item.model == here


def test_when_the_time_is_over_nothing_more_is_begun_and_what_is_missing_is_told(
    tiny: Extent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(host.time, "monotonic", lambda: now[0])

    def step(name: str, takes_s: float) -> Step:
        def measure() -> tuple[str, Rate]:
            now[0] += takes_s
            return name, rate("link", [1.0], "GB/s", "a test")

        return measure

    parts = {
        "whole": lambda: [step("one", 0), step("two", 0)],
        "part": lambda: [step("three", 0.6), step("four", 0)],
        "none": lambda: [step("five", 0)],
    }
    monkeypatch.setattr(host, "_parts", lambda *_: parts)
    found = measured(replace(tiny, budget_s=0.5), tmp_path)
    assert [*found.rates] == ["one", "two", "three"]
    assert [each for each in found.unknown[1:] if not each.startswith("others used")] == [
        "part: not all of it, the 0.5 s were over after three",
        "none: not begun, the 0.5 s were over",
    ]


def test_a_machine_of_which_nothing_can_be_measured_gives_no_document(tiny: Extent, tmp_path: Path) -> None:
    with pytest.raises(CannotProbe, match="nothing could be measured: process-start: not begun"):
        measured(replace(tiny, budget_s=-1), tmp_path)


def test_what_one_part_cannot_measure_does_not_keep_the_others_back(
    tiny: Extent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> memory.Stream:
        raise NotMeasured("memory-read, memory-copy: the caches would answer")

    monkeypatch.setattr(memory, "stream", refuses)
    found = measured(tiny, tmp_path)
    assert "memory-read, memory-copy: the caches would answer" in found.unknown
    assert not [each for each in found.rates if each.startswith("memory")]
    assert [each for each in found.rates if each.startswith("matmul")]


def test_who_else_ran_is_told(tiny: Extent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def step() -> tuple[str, Rate]:
        time.sleep(0.5)
        return "one", rate("link", [1.0], "GB/s", "a test")

    monkeypatch.setattr(host, "_parts", lambda *_: {"part": lambda: [step]})
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(2)]
    try:
        found = measured(tiny, tmp_path)
    finally:
        for each in busy:
            each.kill()
            each.wait()
    assert found.rates["one"].confidence != "high"
    assert found.unknown[-1].startswith("others used up to ") and found.unknown[-1].endswith(": one")


def test_the_published_example_of_the_guide_is_a_document(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/guide/probing.md").read_text()
    [example] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    git(tmp_path, "init")
    write(tmp_path, {"manifests/ceilings/h200-sxm-published.yaml": example})
    item = load(WorkTree(tmp_path)).find("ceilings/v1", "h200-sxm-published")
    assert item is not None and item.model is not None and item.model.how == "published"
    for each in item.model.rates.values():
        assert UNITS[each.unit][0] == DIMENSION_OF[each.quantity]
        assert each.efficiency is not None and (each.source or item.model.source)
        assert each.sparsity == "dense" or each.quantity != "matmul"
