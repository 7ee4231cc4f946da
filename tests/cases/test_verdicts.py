"""What `hio verdict` says of a campaign that was measured before hio: its numbers, and which conditions it meets.

`HIO_WRITE_PAGES=1 python -m pytest tests/cases/test_verdicts.py` writes the pages anew; read the difference before you
commit it. `HIO_CASES` may name a folder with the published rows of the campaign that this one is shaped after.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hio_validate.evidence.averages import mean
from hio_validate.evidence.outcome import Result, Tier
from hio_validate.evidence.statistics import permutation_test
from hio_validate.evidence.tiers import Verdict, verdict
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.cases.build_campaign import SERVICE, build, build_matched
from tests.cli.console import hio

PAGES = Path(__file__).parent / "pages"
RUNS = ("schedule", "small-batch", "pools", "batch-threads")


@pytest.mark.parametrize("run", RUNS)
def test_the_page_of_a_run_is_the_committed_one(tmp_path: Path, run: str) -> None:
    build(tmp_path)
    said = hio(tmp_path, "verdict", run)
    page = PAGES / f"verdict-{run}.txt"
    if os.environ.get("HIO_WRITE_PAGES"):
        page.write_text(said.out, encoding="utf-8")
    assert said.code == 0
    assert said.out == page.read_text(encoding="utf-8")
    assert max(map(len, said.out.splitlines()[:-1])) <= 80


def test_the_page_of_a_matched_table_compares_nothing(tmp_path: Path) -> None:
    build_matched(tmp_path)
    said = hio(tmp_path, "verdict", "matched")
    page = PAGES / "verdict-matched.txt"
    if os.environ.get("HIO_WRITE_PAGES"):
        page.write_text(said.out, encoding="utf-8")
    assert said.out.splitlines()[0] == "desk/tiny/matched: not comparable, NEEDS_CONTEXT"
    assert said.out == page.read_text(encoding="utf-8")
    told = hio(tmp_path, "compare", "matched:whole", "matched:split")
    assert told.code == 3
    assert "tokens accepted in request 1: 12 in whole and 13 in split" in told.out


def judged(root: Path, run: str) -> Verdict:
    repo = load(Folder(root))
    item = repo.find("run/v1", run, SERVICE)
    assert item is not None
    return verdict(item, View(repo))


@pytest.mark.parametrize(
    ("run", "change"), [("schedule", 11.5), ("small-batch", -34.8259), ("pools", -1.7456)]
)
def test_the_numbers_are_those_of_the_rows(tmp_path: Path, run: str, change: float) -> None:
    build(tmp_path)
    [found] = judged(tmp_path, run).deciding
    one, two = found.means
    assert 100 * (two / one - 1) == pytest.approx(change, abs=1e-4)


def test_no_run_from_before_hio_is_a_verdict(tmp_path: Path) -> None:
    build(tmp_path)
    for run in RUNS:
        found = judged(tmp_path, run)
        assert found.tier is Tier.NEEDS_CONTEXT, "its lengths were never recorded"
        assert {"imported", "no-plan", "too-few-trials", "noise-unknown", "workload-unknown"} <= {
            each.reason for each in found.reasons
        }
        assert found.result is Result.NO_IMPROVEMENT, (
            "two legs per arm reach no level, however large the effect"
        )


def test_the_best_of_a_sweep_is_the_reference_where_nothing_is_shown(tmp_path: Path) -> None:
    build(tmp_path)
    found = judged(tmp_path, "batch-threads")
    assert found.best == "b16"
    assert found.case.alpha == pytest.approx(0.025)


PUBLISHED = Path(os.environ.get("HIO_CASES", "nowhere")) / "campaign"


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="HIO_CASES names no folder with the published rows")
class TestPublishedRows:
    """The published rows give the published numbers, where they do."""

    def arms(self, file: str, column: str, only: str = "") -> dict[str, list[float]]:
        lines = [line.split("\t") for line in (PUBLISHED / file).read_text().splitlines()]
        rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
        found: dict[str, list[float]] = {}
        for row in rows:
            if row.get("factor", "") == only:
                found.setdefault(row[column], []).append(float(row["decode_tps"]))
        return found

    def change(self, arms: dict[str, list[float]], one: str = "off", two: str = "on") -> float:
        return 100 * (mean(arms[two]) / mean(arms[one]) - 1)

    def test_confirmation(self) -> None:
        arms = self.arms("zc2_q4-n4-schedule-confirm_results.tsv", "arm")
        assert self.change(arms) == pytest.approx(11.5602, abs=1e-4)
        assert permutation_test(arms["off"], arms["on"]).p == pytest.approx(2 / 70)

    def test_small_target_batch(self) -> None:
        arms = self.arms("zc1_smallbatch-screen_results.tsv", "arm")
        assert self.change(arms) == pytest.approx(-35.28, abs=0.005)
        assert permutation_test(arms["off"], arms["on"]).smallest_p == pytest.approx(1 / 3)

    def test_batch_threads(self) -> None:
        arms = self.arms("zc2_batch-thread-sweep_results.tsv", "threads_batch")
        assert max(arms, key=lambda name: mean(arms[name])) == "16"

    def test_threadpools_were_published_otherwise_than_their_screen_gives(self) -> None:
        arms = self.arms("zc1_factor-screen_results.tsv", "arm", "threadpools")
        assert self.change(arms) == pytest.approx(0.456, abs=0.01), "not -1.98"
