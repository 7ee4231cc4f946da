"""What hio finds in a hand-kept campaign: what its table leaves out, what it contradicts, what nobody observed."""

from __future__ import annotations

from pathlib import Path

from hio_validate import engine
from hio_validate.history import Folder
from hio_validate.repo import load
from tests.cases.build_campaign import MATRIX, build

EXPECTED = {
    ("error", "recomputed-mismatch"): ["change of decode_tps is -1.98 % here; the raw rows give -1.74564 %"],
    ("error", "undocumented-difference"): [
        "server.VISIBLE_DEVICES has no row: absent -> 0 (it differs)",
        "server.model-sampling has no row: unknown -> 1 (it cannot be compared)",
        "worker.IO_PROFILE has no row: 0 -> absent (it differs)",
    ],
    ("error", "preserved-but-different"): ["top-k is called preserved and differs: 64 -> absent"],
    ("gate", "changed-without-evidence"): [
        "four-row-schedule is changed because of schedule, which is history from before hio",
        "the bundle capacity is changed without evidence",
    ],
    ("gate", "retest-open"): ["unknown defaults await a retest"],
    ("gate", "unknown-relied-on"): [
        "the parent and the candidate were not captured, so their executable, libraries and model are unknown"
    ],
}
UNOBSERVED = ["four-row-schedule", "threadpools", "small-batch"]


def test_the_table_is_incomplete_and_not_free_of_contradictions(tmp_path: Path) -> None:
    build(tmp_path)
    report = engine.run(load(Folder(tmp_path)))
    found: dict[tuple[str, str], list[str]] = {}
    for each in report.diagnostics:
        found.setdefault((str(each.severity), each.rule), []).append(each.message)
    isolation = found.pop(("gate", "confounded-evidence"))
    scope = found.pop(("gate", "evidence-out-of-scope"))
    assert {key: sorted(messages) for key, messages in found.items()} == EXPECTED
    assert [message.partition(" is unknown")[0] for message in isolation] == [
        f"isolation of {name}" for name in UNOBSERVED
    ]
    assert all(message.endswith("here is unknown: host, model") for message in scope)
    assert len(scope) == len(UNOBSERVED)
    assert report.exit_code == 1


def test_the_whole_campaign_needs_eight_rows() -> None:
    rows = [line for line in MATRIX.splitlines() if line.startswith("  - ")]
    assert len(rows) == 8


def test_what_the_table_left_out_is_all_it_lacks(tmp_path: Path) -> None:
    build(tmp_path)
    matrix = tmp_path / "matrix/desk/tiny/P0-to-Z2.yaml"
    completed = matrix.read_text().replace("[cache-type-k, top-k]", "[cache-type-k]").replace(
        "defaults:",
        '  - {factor: VISIBLE_DEVICES, from: absent, to: "0", disposition: retest}\n'
        "  - {factor: model-sampling, from: unknown, to: 1, disposition: retest}\n"
        '  - {factor: IO_PROFILE, from: "0", to: absent, disposition: retest}\n'
        "  - {factor: top-k, from: 64, to: absent, disposition: retest, because: nobody set it}\ndefaults:",
    )  # fmt: skip
    matrix.write_text(completed)
    report = engine.run(load(Folder(tmp_path)))
    assert [each.rule for each in report.diagnostics if each.severity == "error"] == ["recomputed-mismatch"]


def contradictions(root: Path) -> list[tuple[str, str]]:
    report = engine.run(load(Folder(root)))
    return [
        (str(each.severity), each.message)
        for each in report.diagnostics
        if each.rule == "evidence-contradicts-row"
    ]


def test_evidence_that_was_put_right_or_overruled_later_no_longer_carries_its_row(tmp_path: Path) -> None:
    campaign = build(tmp_path)
    assert contradictions(tmp_path) == []
    campaign.entry("put-right", "correction", "2026-09-17T00:00:00Z", "corrects: schedule\n")
    assert contradictions(tmp_path) == [("gate", "schedule was put right later, by put-right")]
    campaign.entry("lost", "negative-control", "2026-09-18T00:00:00Z", "factor: threadpools\n")
    campaign.entry("won", "increment", "2026-09-19T00:00:00Z", "factor: server.threadpools\n")
    assert ("gate", "pools was overruled later, by won") in contradictions(tmp_path)


def test_an_excluded_setting_that_the_candidate_still_runs_is_a_contradiction(tmp_path: Path) -> None:
    build(tmp_path)
    stack = tmp_path / "manifests/services/desk/tiny/stacks/Z2.yaml"
    stack.write_text(stack.read_text().replace("env: {", 'env: {SMALL_BATCH: "1", '))
    said = "small-batch is excluded, and the candidate runs the value that lost: 1"
    assert ("error", said) in contradictions(tmp_path)


def test_a_document_outside_its_room_is_told(tmp_path: Path) -> None:
    build(tmp_path)
    entry = tmp_path / "ledger/desk/tiny/2026/pools.yaml"
    (tmp_path / "manifests/ledger").mkdir()
    entry.rename(tmp_path / "manifests/ledger/pools.yaml")
    found = [
        each.message
        for each in engine.run(load(Folder(tmp_path))).diagnostics
        if each.rule == "misnamed-document"
    ]
    assert found == ["entry documents do not stand here"]
