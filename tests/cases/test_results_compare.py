"""The published figures of two campaigns come out of their raw rows, through the verb that a person calls.

`HIO_CASES` names the folder with campaign/.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cases.build_campaign import SERVICE, Campaign, build
from tests.cli.console import hio

PUBLISHED = Path(os.environ.get("HIO_CASES", "nowhere")) / "campaign"
pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="HIO_CASES names no folder with the published rows"
)
TABLE = "hga-matched-8k-table.tsv"
BASE, CORRECTED, LOCAL, THREE = (
    "whole-layer K=2 baseline", "split-1024 K=2 corrected global stream", "split-1024 K=2 pair-local streams",
    "whole-layer K=3",
)  # fmt: skip
TEXTS = ("arm", "factor", "flag", "content_sha256")


def published(root: Path, name: str, file: str, column: str) -> None:
    """A run whose raw rows are a published file, byte for byte."""
    campaign: Campaign = build(root)
    rows = (PUBLISHED / file).read_text()
    head, *lines = rows.splitlines()
    names = head.split("\t")
    arms = dict.fromkeys(line.split("\t")[names.index(column)] for line in lines)
    stack = root / "manifests/services/desk/tiny/stacks/Z2.yaml"
    pin = f"Z2@{campaign.write(str(stack.relative_to(root)), stack.read_text())}"
    digest = campaign.write(f"manifests/services/{SERVICE}/runs/{name}/rows.tsv", rows)
    told = {"decode_tps": "{unit: token/s, better: higher}", "wall_s": "{unit: s, better: lower}"}
    columns = "".join(f"  {each}: {told.get(each, '{unit: text}')}\n" for each in names)
    listed = "".join(f'  "{arm}": {{stack: "{pin}", set: {{threads: "{arm}"}}}}\n' for arm in arms)
    campaign.write(
        f"manifests/services/{SERVICE}/runs/{name}/run.yaml",
        f"hio: run/v1\nname: {name}\nservice: {SERVICE}\nimported: true\n"
        f"scope: {{fixture: focused-512, regime: cold}}\narms:\n{listed}"
        f'raw: {{file: rows.tsv, sha256: "{digest.removeprefix("sha256:")}", format: tsv, rows: {len(lines)}, '
        f"arm: {column}}}\ncolumns:\n{columns}",
    )


def decode(root: Path, one: str, other: str) -> dict[str, Any]:
    said = hio(root, "compare", one, other, "--statistic", "mean", "--format", "json")
    found: list[dict[str, Any]] = json.loads(said.out)["metrics"]
    return next(each for each in found if each["sides"][0]["name"] == "decode_tps")


@pytest.mark.parametrize(
    ("file", "percent", "word"),
    [
        ("zc2_q4-n4-schedule-confirm_results.tsv", 11.56, "better"),
        ("zc1_smallbatch-screen_results.tsv", -35.28, "worse"),
    ],
)
def test_a_published_change_is_that_of_the_raw_rows(
    tmp_path: Path, file: str, percent: float, word: str
) -> None:
    published(tmp_path, "published", file, "arm")
    found = decode(tmp_path, "published:off", "published:on")
    assert found["change_percent"] == pytest.approx(percent, abs=0.005)
    assert found["word"] == word


def test_sixteen_batch_threads_are_best(tmp_path: Path) -> None:
    published(tmp_path, "published", "zc2_batch-thread-sweep_results.tsv", "threads_batch")
    for threads in (10, 12, 14):
        assert decode(tmp_path, "published:16", f"published:{threads}")["word"] == "worse"


def test_a_rate_of_the_table_is_of_63_tokens(tmp_path: Path) -> None:
    rows = [
        line.split("\t") for line in (PUBLISHED / TABLE).read_text().splitlines() if not line.startswith("#")
    ]
    base = dict(zip(rows[0], rows[1], strict=True))
    assert float(base["decode_tok_s"]) * float(base["decode_ms"]) / 1000 == pytest.approx(63, abs=0.05)
    shape = json.loads(hio(tmp_path, "import", PUBLISHED / TABLE, "--format", "json").out)
    assert json.dumps(shape).count('"decode-rate-n-1"') >= 4, "the token basis of every row"


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (CORRECTED, "accepted tokens: 40 in A, 41 in B"),
        (LOCAL, "target batches: unknown in A, 23 in B"),
        (THREE, "accepted tokens: 40 in A, 45 in B"),
    ],
)
def test_rows_that_did_other_work_are_not_compared(tmp_path: Path, other: str, sentence: str) -> None:
    table = PUBLISHED / TABLE
    said = hio(tmp_path, "compare", f"{table}#{BASE}", f"{table}#{other}", "--same", "concurrency")
    decode_said = said.out.partition("\nnot comparable\n")[2]
    assert "decode_tok_s" in decode_said and sentence in said.out
    prefill = [line for line in said.out.splitlines() if line.startswith("prefill_tok_s")]
    assert len(prefill) == 1 and "better" in prefill[0], "no drafting is in a prefill"
    assert hio(tmp_path, "compare", f"{table}#{BASE}", f"{table}#{other}").code == 3, "at unknown concurrency"
