"""What `hio estimate` says of two campaigns that were measured before hio: the right suspect, or what is missing to name one.

`HIO_WRITE_PAGES=1 python -m pytest tests/cases/test_estimate.py` writes the pages anew; read the difference before you
commit it. `HIO_CASES` may name a folder with the published rows of the campaigns that these are shaped after.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cases.build_estimate import STACK, build_estimated, build_streamed
from tests.cli.console import Said, hio

PAGES = Path(__file__).parent / "pages"

DRAFTED = ("--assume", "draft-cost=0.01..0.1")
"""How many are drafted and accepted, the rows count."""
MEMORY = ("--assume", "memory-read=40..100GB/s")
"""What two channels of such a processor's memory may reach; nobody measured it."""
PRODUCTS = ("--assume", "matmul=150..350GFLOP/s")
DEVICE = ("--assume", "memory-read=300..700GB/s")
LINK = ("--assume", "collective-bytes=4..8GB", "--assume", "link=12..25GB/s")


def asked(root: Path, stack: str, *words: str) -> Said:
    return hio(root, "estimate", stack, "--fixture", "focused-512", *words)


def told(root: Path, stack: str, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(asked(root, stack, *words, "--format", "json").out)
    return answer


@pytest.mark.parametrize(
    ("page", "build", "stack", "words", "code"),
    [
        ("as-stated", build_estimated, "P1", (), 3),
        ("memory-stated", build_estimated, "P1", (*DRAFTED, *MEMORY), 0),
        ("rates-stated", build_estimated, "P1", (*DRAFTED, *MEMORY, *PRODUCTS), 0),
        ("streamed", build_streamed, "S1", DEVICE, 0),
    ],
)
def test_the_page_is_the_committed_one(
    tmp_path: Path, page: str, build: Callable[[Path], None], stack: str, words: tuple[str, ...], code: int
) -> None:
    build(tmp_path)
    said = asked(tmp_path, stack, *words)
    file = PAGES / f"estimate-{page}.txt"
    if os.environ.get("HIO_WRITE_PAGES"):
        file.write_text(said.out, encoding="utf-8")
    assert said.code == code, said.all
    assert said.out == file.read_text(encoding="utf-8")
    assert max(len(line) for line in said.out.splitlines() if not line.startswith("  hio ")) <= 80


def test_without_rates_nothing_is_bounded_and_the_page_says_what_gets_them(tmp_path: Path) -> None:
    build_estimated(tmp_path)
    answer = told(tmp_path, "P1")
    assert answer["status"] == "NEEDS_CONTEXT"
    assert (answer["bound"], answer["candidates"], answer["bound_by"]) == (None, [], [])
    assert any("hio probe host" in said for said in answer["missing"])


def test_memory_alone_leaves_most_of_the_time_unexplained(tmp_path: Path) -> None:
    build_estimated(tmp_path)
    answer = told(tmp_path, "P1", *DRAFTED, *MEMORY)
    assert answer["bound_by"] == ["weights"]
    assert answer["baseline"]["efficiency_percent"]["value"] < 40
    assert any("matmul" in said for said in answer["missing"]), "the arithmetic was left out, and is said"
    assert answer["next"]["candidate"] is None, "a gap asks for a measurement, not for a mechanism"


def test_four_tokens_a_pass_make_arithmetic_the_suspect(tmp_path: Path) -> None:
    """Which fits the sweep: more batch threads gave more speed up to the last one, as no full memory bus would."""
    build_estimated(tmp_path)
    answer = told(tmp_path, "P1", *DRAFTED, *MEMORY, *PRODUCTS)
    assert answer["bound_by"] == ["compute"]
    assert answer["causes"] == [], "no profile shows it, so it stays a suspicion"


def test_a_stack_that_drafts_in_other_words_is_not_taken_for_one_token_a_pass(tmp_path: Path) -> None:
    stack = STACK.replace("llama-server", "one-process-server").replace("--spec-type", "--drafts-by")
    build_estimated(tmp_path, stack=stack)
    answer = told(tmp_path, "P1", *DRAFTED, *MEMORY, *PRODUCTS)
    assert answer["bound_by"] == ["compute"], (
        "with one token a pass it would be weights, and the speed a good one"
    )
    assert answer["workload"]["drafting"] == "2.93 tokens a pass, as rows of batch-threads count"


def test_what_is_sent_to_a_device_is_the_suspect_once_it_is_stated(tmp_path: Path) -> None:
    build_streamed(tmp_path)
    before, after = told(tmp_path, "S1", *DEVICE), told(tmp_path, "S1", *DEVICE, *LINK)
    assert before["bound_by"] == ["weights"]
    assert before["baseline"]["efficiency_percent"]["high"] < 20
    assert before["next"]["candidate"] is None
    assert after["bound_by"] == ["collectives"]
    assert after["baseline"]["efficiency_percent"]["low"] > 20


PUBLISHED = Path(os.environ.get("HIO_CASES", "nowhere")) / "campaign"


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="HIO_CASES names no folder with the published rows")
class TestPublishedRows:
    """The published rows, of which none tells the tokens of the prompt."""

    def rows(self, file: str, arm: str, names: dict[str, str]) -> str:
        head, *lines = [line.split("\t") for line in (PUBLISHED / file).read_text().splitlines()]
        table = [dict(zip(head, line, strict=True)) for line in lines]
        made = ["leg\tarm\tdecode_tps\tgenerated\tdrafted\taccepted"]
        made += [
            f"{row['sequence']}\t{names[row[arm]]}\t{row['decode_tps']}\t{row.get('generated', '512')}\t"
            f"{row['drafted']}\t{row['accepted']}"
            for row in table
            if row[arm] in names
        ]
        return "\n".join(made) + "\n"

    def test_the_prompt_is_missing_and_nothing_else_of_the_workload(self, tmp_path: Path) -> None:
        names = {"16": "b16", "12": "b12", "10": "b8"}
        build_estimated(tmp_path, self.rows("zc2_batch-thread-sweep_results.tsv", "threads_batch", names))
        answer = told(tmp_path, "P1", *DRAFTED, *MEMORY)
        assert answer["status"] == "NEEDS_CONTEXT"
        assert any("prompt-tokens" in said for said in answer["missing"])

    def test_sixteen_batch_threads(self, tmp_path: Path) -> None:
        names = {"16": "b16", "12": "b12", "10": "b8"}
        build_estimated(tmp_path, self.rows("zc2_batch-thread-sweep_results.tsv", "threads_batch", names))
        prompt = ("--assume", "prompt-tokens=340")
        answer = told(tmp_path, "P1", *prompt, *DRAFTED, *MEMORY, *PRODUCTS)
        assert answer["bound_by"] == ["compute"]
        assert answer["baseline"]["value"] == pytest.approx(23.2636, abs=1e-4)
        assert answer["baseline"]["arm"] == "b16"

    def test_small_target_batches_widen_the_gap_and_move_no_bound(self, tmp_path: Path) -> None:
        """-35.28 %: the same bytes and operations, so that only a profile can say where the time went."""
        measured = {}
        for arm, other in (("0", "1"), ("1", "0")):
            root = tmp_path / arm
            names = {arm: "b16", other: "b8"}
            build_estimated(root, self.rows("zc1_smallbatch-screen_results.tsv", "flag", names))
            measured[arm] = told(root, "P1", "--assume", "prompt-tokens=340", *DRAFTED, *MEMORY)
        assert measured["0"]["bound"] == measured["1"]["bound"]
        off, on = (measured[arm]["baseline"]["efficiency_percent"]["value"] for arm in ("0", "1"))
        assert on / off == pytest.approx(1 - 0.3528, abs=1e-4)
        assert measured["1"]["next"]["candidate"] is None

    def test_the_streamed_model_is_far_from_its_memory(self, tmp_path: Path) -> None:
        line = next(
            line.split("\t")
            for line in (PUBLISHED / "hga-matched-8k-table.tsv").read_text().splitlines()
            if line.startswith("whole-layer K=2")
        )
        rows = (
            "leg\tarm\tdecode_tps\tevaluated\tgenerated\tdrafted\taccepted\n"
            f"1\twhole\t{line[4]}\t8010\t64\t{line[6]}\t{line[5]}\n"
        )
        build_streamed(tmp_path, rows)
        answer = told(tmp_path, "S1", *DEVICE)
        assert answer["baseline"]["efficiency_percent"]["high"] < 20
        assert answer["next"]["candidate"] is None
        assert answer["causes"] == []
