"""Hand-kept tables of matched runs: which tokens a rate counts is found by arithmetic or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.observed import Observation
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.matched_table import _of_decode
from tests.importing.results.reading import findings, read, source_of

COMMENT = "# ~1000 prompt tokens, 21 generated, ONE run per row\n"
HEAD = "config\tprefill_ms\tprefill_tok_s\tdecode_ms\tdecode_tok_s\taccepted\tdrafted\ttarget_batches\n"
WHOLE = "whole\t4000.00\t250.00\t2000.00\t10.00\t12\t15\t\n"
SPLIT = "split\t3900.00\t256.41\t2100.00\t9.52\t13\t14\t7\n"


def table(folder: Path, text: str, skip: bool = False) -> list[Observation]:
    return read(source_of(folder, text, skip), "matched-table")


def definitions(record: Observation) -> dict[str, str]:
    return {each.name: each.definition for each in record.metrics}


def test_the_first_token_came_with_the_prompt(tmp_path: Path) -> None:
    whole, split = table(tmp_path, COMMENT + HEAD + WHOLE + SPLIT)
    assert (whole.name, whole.line, split.line) == ("whole", 3, 4)
    assert definitions(whole) == {
        "prefill_ms": "prefill-time", "prefill_tok_s": "prefill-rate-evaluated", "decode_ms": "unknown",
        "decode_tok_s": "decode-rate-n-1",
    }  # fmt: skip
    assert whole.workload == {
        "prompt_tokens": 1000, "generated_tokens": 21, "accepted_tokens": 12, "drafted_tokens": 15,
    }  # fmt: skip
    assert split.workload["target_batches"] == 7, "an empty cell is absent, this one is none"
    assert {each.n for each in whole.metrics} == {1}
    assert not findings([whole, split])


@pytest.mark.parametrize(
    ("rate", "definition", "found"),
    [
        ("10.50", "decode-rate-n", []),
        ("10.00", "decode-rate-n-1", []),
        ("11.00", "unknown", ["rate-contradicts-counts"]),
        ("10", "unknown", ["token-basis-open"]),
    ],
)
def test_the_token_basis(tmp_path: Path, rate: str, definition: str, found: list[str]) -> None:
    row = WHOLE.replace("10.00", rate)
    _, made = table(tmp_path, COMMENT + HEAD + SPLIT.replace("split", "good") + row)
    assert definitions(made)["decode_tok_s"] == definition
    assert [each.id for each in made.findings] == found


def test_a_prefill_rate_of_other_tokens_than_the_prompt_has(tmp_path: Path) -> None:
    text = COMMENT.replace("~1000 prompt", "900 prompt") + HEAD + WHOLE
    (made,) = table(tmp_path, text)
    assert definitions(made)["prefill_tok_s"] == "unknown"
    assert [each.id for each in made.findings] == ["rate-contradicts-counts"]
    assert (
        "prefill_tok_s over prefill_ms is 1000 tokens; the table says 900 prompt tokens"
        in made.findings[0].message
    )


def test_without_counts_nothing_is_known(tmp_path: Path) -> None:
    (made,) = table(tmp_path, HEAD + WHOLE)
    assert set(definitions(made).values()) == {"unknown"}
    assert {each.n for each in made.metrics} == {None}, "nobody says how many runs a row is"


def test_counts_in_columns_and_other_separators(tmp_path: Path) -> None:
    text = 'arm,decode_s,decode_tps,generated,prompt_tokens,note\n"a",2.00,10.50,21,1000,warm\n'
    (made,) = table(tmp_path, text)
    assert definitions(made) == {"decode_s": "unknown", "decode_tps": "decode-rate-n"}
    assert made.foreign == {"note": "warm"}


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("", []),
        ("-", []),
        ("OOM", ["no-number"]),
        ("nan", ["impossible-value"]),
        ("-3", ["impossible-value"]),
        ("0", ["impossible-value"]),
    ],
)
def test_what_is_no_number_is_no_measurement(tmp_path: Path, cell: str, found: list[str]) -> None:
    _, made = table(tmp_path, COMMENT + HEAD + SPLIT + WHOLE.replace("2000.00", cell))
    assert "decode_ms" not in definitions(made)
    assert [each.id for each in made.findings] == found


def test_more_accepted_than_drafted(tmp_path: Path) -> None:
    _, made = table(tmp_path, COMMENT + HEAD + SPLIT + WHOLE.replace("12\t15", "16\t15"))
    assert findings([made]) == [("impossible-value", 4)] and "accepted_tokens" not in made.workload


def test_a_row_of_nothing_is_no_zero(tmp_path: Path) -> None:
    _, made = table(tmp_path, COMMENT + HEAD + WHOLE + "failed" + "\t" * 7 + "\n")
    assert made.metrics == [] and findings([made]) == [("nothing-measured", 4)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "the table has a head and no row: nothing was measured"),
        (HEAD + WHOLE + "split\t1\n", ":3: the row has 2 values, its head 8"),
        (HEAD.replace("prefill_tok_s", "prefill_ms") + WHOLE, ":1: two columns are called prefill_ms"),
        (HEAD + '"split\t1\t1\t1\t1\t1\t1\t1\n', "a quote does not end"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CannotImport) as caught:
        table(tmp_path, text)
    assert said in str(caught.value)


def test_runs_of_one_arm_are_records_of_their_own(tmp_path: Path) -> None:
    assert [each.name for each in table(tmp_path, HEAD + WHOLE + SPLIT + WHOLE)] == [
        "whole",
        "split",
        "whole #2",
    ]


def test_a_cut_file_is_told(tmp_path: Path) -> None:
    *_, made = table(tmp_path, COMMENT + HEAD + WHOLE + SPLIT.rstrip("\n"))
    assert findings([made]) == [("cut-short", 4)]


@given(st.integers(2, 5000), st.integers(0, 1), st.floats(1e-3, 1e3))
def test_the_basis_that_made_the_rate_is_found_or_left_open(count: int, less: int, seconds: float) -> None:
    rate = round((count - less) / seconds, 2)
    made = Observation("x", workload={"generated_tokens": count})
    bounds = (rate - 0.005) * seconds, (rate + 0.005) * seconds
    found = _of_decode(bounds, "", made)
    assert found in ("unknown", "decode-rate-n-1" if less else "decode-rate-n")
    assert (found == "unknown") == (made.findings != [])


def test_a_count_that_no_request_has_is_a_finding(tmp_path: Path) -> None:
    (record,) = table(tmp_path, COMMENT.replace("~1000", "1" * 5000) + HEAD + WHOLE)
    assert "prompt_tokens" not in record.workload
    assert ("impossible-value", "prompt tokens of a comment has 5000 digits: expected a count") in [
        (each.id, each.message) for each in record.findings
    ]
