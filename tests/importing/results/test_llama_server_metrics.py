"""Counters since the start are no rates; two snapshots are."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.evidence.observed import Observation
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.llama_server_metrics import between
from tests.importing.results.reading import SAMPLES, findings, read, source_of


def snapshot(
    prompt: int, prompt_s: float, tokens: int, tokens_s: float, labels: str = "", drafted: int = 0
) -> str:
    told = {
        "prompt_tokens_total": prompt, "prompt_seconds_total": prompt_s, "tokens_predicted_total": tokens,
        "tokens_predicted_seconds_total": tokens_s, "n_tokens_max": 60, "predicted_tokens_seconds": 36.244,
        "spec_decode_num_draft_tokens_total": drafted, "spec_decode_num_accepted_tokens_total": drafted // 4,
        "requests_processing": 0, "new_value": 3,
    }  # fmt: skip
    return "".join(
        f"# HELP llamacpp:{name} About it\n# TYPE llamacpp:{name} counter\nllamacpp:{name}{labels} {value}\n"
        for name, value in told.items()
    )


def snapshots(folder: Path, text: str) -> list[Observation]:
    return read(source_of(folder, text), "llama-server-metrics")


def test_one_snapshot_gives_no_rate(tmp_path: Path) -> None:
    (record,) = snapshots(tmp_path, snapshot(18, 0.25, 96, 2.5))
    assert [(each.name, each.definition) for each in record.metrics] == [
        ("predicted_tokens_seconds", "unknown")
    ]
    assert record.workload["tokens_predicted_total"] == 96
    assert record.tier is Tier.NEEDS_CONTEXT and findings([record]) == [("since-start", 3)]
    assert record.foreign == {"new_value": 3}


def test_two_snapshots_give_the_time_between(tmp_path: Path) -> None:
    text = snapshot(18, 0.25, 96, 2.5) + snapshot(118, 0.75, 196, 5.0, drafted=40)
    first, second, made = snapshots(tmp_path, text)
    assert made.name == "snapshot-1 to snapshot-2"
    told = {each.definition: each for each in made.metrics}
    assert told["prefill-rate-evaluated"].value == 200 and told["decode-rate-n"].value == 40
    assert (told["draft-acceptance"].value, told["draft-acceptance"].n) == (0.25, 40)
    assert {each.statistic for each in made.metrics} == {"total"}
    assert "n_tokens_max_between" not in made.workload
    assert between(first, second) == made


def test_a_restart_and_an_idle_server(tmp_path: Path) -> None:
    busy, idle = snapshot(18, 0.25, 96, 2.5), snapshot(18, 0.25, 96, 2.5)
    records = snapshots(tmp_path, busy + idle + snapshot(1, 0.1, 1, 0.1))
    assert [kind for kind, _ in findings(records[2:3])] == ["nothing-measured"]
    assert [kind for kind, _ in findings(records[4:])] == ["counter-went-back"]
    assert "prompt_seconds_total went from 0.25 to 0.1" in records[4].findings[0].message
    assert records[2].metrics == records[4].metrics == []


def test_models_of_a_router_are_apart(tmp_path: Path) -> None:
    text = snapshot(1, 1, 1, 1, '{model="a"}') + snapshot(5, 1, 5, 1, '{model="b"}')
    assert [each.subject.get("model") for each in snapshots(tmp_path, text)] == ["a", "b"]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    good = snapshot(18, 0.25, 96, 2.5)
    for bad, told in (
        ("llamacpp:x nine", "given:31: 'nine' is no number"),
        ("llamacpp:x", "given:31: the line is cut off"),
        ("curl: (7) Failed to connect", "given:31: the line is no data"),
    ):
        with pytest.raises(CannotImport) as caught:
            snapshots(tmp_path, good + bad)
        assert told in str(caught.value)
    with pytest.raises(CannotImport) as caught:
        snapshots(tmp_path, "# HELP llamacpp:x About it\n")
    assert caught.value.code == 3
    records = snapshots(tmp_path, good.replace("_predicted_total 96", "_predicted_total NaN"))
    assert ("impossible-value", 3) in findings(records)
    assert "tokens_predicted_total" not in records[0].workload


def test_a_last_line_without_its_end_is_left_out_and_told(tmp_path: Path) -> None:
    whole = (SAMPLES / "llama-server-metrics" / "one.txt").read_text()
    upto = whole[: whole.index("\n", whole.index("\nllamacpp:predicted_tokens_seconds ") + 1)]
    for text, kept in ((upto + "\n", True), (upto, False), (upto[:-1], False)):
        (record,) = read(source_of(tmp_path, text), "llama-server-metrics")
        names = {each.name for each in record.metrics}
        assert ("predicted_tokens_seconds" in names) is kept
        assert ("cut-short" in {each.id for each in record.findings}) is not kept
