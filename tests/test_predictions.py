"""docs/predictions.py: bounds of arms that were measured, computed here once more by hand from the same documents."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "docs" / "predictions.py"
SERVICE = "manifests/services/lab/gemma-270m"
RUNS = ("2026-11-30-decode.one-thread", "2026-11-30-decode-a-a", "2026-11-30-a-a-decode-2")
HOST = "b61026bf2745b70a926cc2ba93ee9bbe010a45d01a70a4b0aee093ef3c725bbb"
GB_S = {"Q8_0": 7.0, "Q5_0": 5.5, "Q4_K": 7.0, "Q6_K": 6.0}
"""Rates of one thread; two do twice as much."""
BYTES = {"Q8_0": 179_824_640, "Q5_0": 43_591_680, "Q4_K": 13_271_040, "Q6_K": 9_676_800}
"""Bytes of the model's weights that every token reads."""


def ceilings(name: str, rates: str, engine: str = "") -> str:
    head = f"hio: ceilings/v1\nname: {name}\nabout: made up\nhow: measured\nhost: {HOST}\n"
    return f'{head}at: "2026-11-30T12:00:00Z"\n{engine}rates:\n{rates}'


def kernels(times: float, vectors: str = "") -> str:
    """Both kinds of products for each format, `times` as fast; `vectors`: what a rate says of them."""
    rates = ""
    for dtype, rate in GB_S.items():
        for threads in (1, 2):
            value = rate * threads * times
            more = f"threads: {threads}, dtype: {dtype}{vectors}}}\n"
            rates += f"  matvec-{dtype}-{threads}: {{quantity: matvec, value: {value}, unit: GB/s, {more}"
            rates += (
                f"  matmul-{dtype}-{threads}: {{quantity: matmul, value: {5 * value}, unit: GFLOP/s, {more}"
            )
    return ceilings("kernels", rates, engine="engine: b10001\n")


MEMORY = ceilings(
    "host",
    "".join(
        f"  read-{n}: {{quantity: memory-read, value: {100 * n}, unit: GB/s, threads: {n}}}\n" for n in (1, 2)
    ),
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of this repository with all that they name, and no ceilings."""
    root = tmp_path_factory.mktemp("predictions")
    for part in ("engines", "sites"):
        shutil.copytree(ROOT / "manifests" / part, root / "manifests" / part)
    for part in ("captures", "fixtures", "plans", "shapes", "stacks", "tasks"):
        shutil.copytree(ROOT / SERVICE / part, root / SERVICE / part)
    for run in RUNS:
        shutil.copytree(ROOT / SERVICE / "runs" / run, root / SERVICE / "runs" / run)
    return root


def written(root: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words, str(root)], capture_output=True, text=True, check=False
    )
    assert not done.stderr, done.stderr
    page = root / "docs/guide/predictions.md"
    return done.returncode, done.stdout, page.read_text() if page.exists() else ""


def cells(page: str, run: str, arm: str) -> list[list[str]]:
    """The rows of an arm, decode before prefill."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if "|" in line]
    return [row for row in rows if row[:2] == [run, arm]]


def test_without_ceilings_nothing_is_predicted_and_each_arm_says_what_it_lacks(repo: Path) -> None:
    shutil.rmtree(repo / "manifests/ceilings", ignore_errors=True)
    code, _, page = written(repo)
    assert code == 0
    assert "has what a prediction takes yet" in page
    assert "ceilings of the host of threads-2" in page
    assert "  - 2026-11-30-decode.one-thread: threads-2, one-thread" in page


def test_a_prediction_is_the_sum_over_formats_beside_what_the_rows_say(repo: Path) -> None:
    folder = repo / "manifests/ceilings"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernels.yaml").write_text(kernels(1))
    (folder / "host.yaml").write_text(MEMORY)
    code, said, page = written(repo)
    assert (code, said) == (0, "docs/guide/predictions.md: written\n")
    alone = sum(count / GB_S[dtype] / 1e9 for dtype, count in BYTES.items())
    decode, prefill = cells(page, "2026-11-30-decode.one-thread", "one-thread")
    assert float(decode[2].split()[0]) == pytest.approx(1 / alone, rel=0.02)
    assert decode[3] == "24.0 (20.7 to 26.4)"
    assert float(decode[4]) == pytest.approx(float(decode[2].split()[0]) / 24.0, abs=0.01)
    assert (decode[5], prefill[5]) == ("weights (compute)", "compute")
    two, _ = cells(page, "2026-11-30-decode.one-thread", "threads-2")
    assert float(two[2].split()[0]) == pytest.approx(2 / alone, rel=0.02)
    first, _ = cells(page, "2026-11-30-decode-a-a", "threads-2")
    again, _ = cells(page, "2026-11-30-decode-a-a", "again")
    assert first[2] == again[2]
    assert (first[3], again[3]) == ("39.2 (37.2 to 40.2)", "38.7 (36.6 to 39.6)")
    assert "refuted**" not in page.partition("## Decode")[2]
    assert "- its host is a140cbba4fc4, the ceilings are of b61026bf2745:\n  - 2026-11-30-a-a-decode-2: base-1, base-2\n" in page  # fmt: skip


def test_an_arm_above_its_bound_is_refuted_and_check_sees_what_is_stale(repo: Path) -> None:
    folder = repo / "manifests/ceilings"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernels.yaml").write_text(kernels(0.5))
    (folder / "host.yaml").write_text(MEMORY)
    _, _, page = written(repo)
    decode, _ = cells(page, "2026-11-30-decode.one-thread", "one-thread")
    assert decode[4].endswith("**refuted**")
    assert written(repo, "--check")[:2] == (0, "docs/guide/predictions.md: up to date\n")
    (repo / "docs/guide/predictions.md").write_text("older\n")
    code, said, kept = written(repo, "--check")
    assert (code, kept) == (1, "older\n")
    assert "not up to date; run python docs/predictions.py" in said


@pytest.mark.parametrize(
    ("vectors", "told"), [("", "reach less with a few vectors"), (", vectors: 2", "in tiles of vectors")]
)
def test_what_is_not_counted_follows_from_what_was_measured(repo: Path, vectors: str, told: str) -> None:
    folder = repo / "manifests/ceilings"
    folder.mkdir(exist_ok=True)
    (folder / "kernels.yaml").write_text(kernels(1.0, vectors))
    (folder / "host.yaml").write_text(MEMORY)
    assert told in written(repo)[2]
