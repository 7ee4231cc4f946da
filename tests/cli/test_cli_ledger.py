"""The ledger as a person reads and extends it: branches that both append, editors, runs, what comes next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.build_campaign import build
from tests.cli.console import Said, hio, one_sentence
from tests.evidence.experiment import SPEEDS, Experiment, whole
from tests.small_repo import MATRIX, SERVICE, committed, git, matrix, stack, write

MEASURED = ("--run", "r1", "--factor", "server.threads", "--result", "speed", "one", "two")
"""What a person says of a run that is less than a VERDICT."""
SLOWER = {"base": SPEEDS["two"], "two": SPEEDS["base"]}
EQUAL = {"base": SPEEDS["base"], "two": [50.3, 49.8, 50.4, 49.9]}

OWN = Path(__file__).parents[2]
PAGES = Path(__file__).parents[1] / "cases" / "pages"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


def append(repo: Path, kind: str, *words: str) -> Said:
    said = hio(repo, "ledger", "append", kind, "--service", SERVICE, "--by", "someone", *words)
    assert said.code == 0, said.err
    return said


def shown(repo: Path, service: str) -> dict[str, Any]:
    said = hio(repo, "ledger", "show", service, "--format", "json")
    assert said.code == 0, said.err
    [shape] = json.loads(said.out)["ledgers"]
    found: dict[str, Any] = shape
    return found


def said_of(shape: dict[str, Any]) -> dict[str, Any]:
    """What a person would write down of a ledger."""
    return {
        "parent": shape["parent"]["stack"],
        "accepted": [each["factor"] for each in shape["accepted"]],
        "excluded": [each["factor"] for each in shape["excluded"]],
        "tests": [each["factor"] for each in shape["retests"]],
    }


def test_the_ledger_recorded_here_says_what_was_written_down_by_hand() -> None:
    assert said_of(shown(OWN, "lab/gemma-270m")) == {
        "parent": "threads-2",
        "accepted": ["server.threads"],
        "excluded": [
            "server.flash-attn",
            "server.ubatch-size",
            "server.poll",
            "server.cache-type-k",
            "server.threads",
        ],
        "tests": [
            "prefill-trio",
            "server.flash-attn",
            "server.spec-type",
            "server.spec-type",
            "server.flash-attn",
            "the bundle prefill-trio",
            "server.build",
            "server.dry-penalty-last-n",
            "server.reasoning-preserve",
        ],
    }
    next_ = hio(OWN, "ledger", "next", "lab/gemma-270m")
    assert next_.out.splitlines()[1] == "test      prefill-trio"
    assert (
        "  server.flash-attn  (2026-11-30-decision-flash-attn)\n    a third comparison of flash attention in decode"
        in next_.out
    )
    assert (
        "  server.flash-attn  off -> on  (base-to-flash-on)\n    measure this change alone against base"
        in next_.out
    ), "what a row of a replaced parent asked is not what a decision asks of the parent now"
    assert (
        "  the bundle prefill-trio  (base-to-trio)\n    measure its members together: do two threads"
        in next_.out
    ), "a decision about one of its members says nothing of the bundle"
    assert (
        "the parent is threads-2 meanwhile"
        in hio(OWN, "ledger", "next", "lab/gemma-270m", "--format", "json").out
    )
    assert "2026-11-30-opportunity-spec-type" in next_.out


def test_the_campaign_says_what_was_written_down_by_hand(tmp_path: Path) -> None:
    build(tmp_path)
    assert said_of(shown(tmp_path, "desk/tiny")) == {
        "parent": "Z2",
        "accepted": ["four-row-schedule"],
        "excluded": ["threadpools", "SMALL_BATCH"],
        "tests": ["the bundle capacity", "defaults of P0 and Z2"],
    }


def test_a_bundle_is_asked_in_the_words_of_whoever_names_it_and_not_one_of_its_members(
    tmp_path: Path,
) -> None:
    build(tmp_path)
    words = (
        "--result-kind",
        "speed",
        "--benefit",
        "b",
        "--regression",
        "r",
        "--uncertainty",
        "u",
        "--workload",
        "w",
    )
    desk = ("ledger", "append", "opportunity", "--service", "desk/tiny", "--by", "someone", *words)
    assert hio(tmp_path, *desk, "--factor", "ctx-size", "--next", "one member alone").code == 0
    first = hio(tmp_path, "ledger", "next", "desk/tiny").out
    assert "do        measure its members together: does one process replace the pair" in first
    assert "one member alone" in first, "it is asked for by itself"
    assert hio(tmp_path, *desk, "--factor", "capacity", "--next", "all of them at once").code == 0
    second = hio(tmp_path, "ledger", "next", "desk/tiny").out
    assert "test      the bundle capacity\ndo        all of them at once" in second


@pytest.mark.parametrize("words", [("ledger", "show"), ("ledger", "next"), ("status",)])
def test_the_pages_of_the_campaign_read_as_they_were_approved(tmp_path: Path, words: tuple[str, ...]) -> None:
    build(tmp_path)
    said = hio(tmp_path, *words)
    assert said.code == 0
    assert said.out == (PAGES / f"{'-'.join(words)}.txt").read_text(encoding="utf-8")
    assert max(map(len, said.out.splitlines())) <= 80


def test_two_branches_that_both_append_merge_without_conflict_and_are_closed(repo: Path) -> None:
    _two_branches_that_disagree(repo)
    assert [each["subject"] for each in shown(repo, SERVICE)["disagreements"]] == ["threads"]
    refused = hio(repo, "ledger", "merge", SERVICE)
    assert refused.code == 1
    assert "--keep" in refused.err and "-increment-threads" in refused.err
    kept = next(each for each in _entries(repo) if "-increment-" in each)
    assert hio(repo, "ledger", "merge", SERVICE, "--keep", kept, "--because", "repeated").code == 0
    shape = shown(repo, SERVICE)
    assert (shape["parent"]["stack"], shape["disagreements"], len(shape["tips"])) == ("base", [], 1)
    assert shape["excluded"] == []
    assert hio(repo, "validate").code == 0
    assert "nothing to merge" in hio(repo, "ledger", "merge", SERVICE).out


def _two_branches_that_disagree(repo: Path) -> None:
    """One accepts what the other excludes; merged by git without a conflict."""
    git(repo, "checkout", "-q", "-b", "one")
    append(repo, "increment", *MEASURED, "--factor", "threads")
    _commit(repo, "one accepts")
    git(repo, "checkout", "-q", "-b", "two", "HEAD~1")
    append(repo, "negative-control", *MEASURED, "--factor", "threads")
    _commit(repo, "two excludes")
    git(repo, "merge", "-q", "-m", "both", "one")


def _commit(repo: Path, message: str) -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", message)


def _entries(repo: Path) -> list[str]:
    return [path.stem for path in (repo / "ledger").rglob("*.yaml")]


def test_branches_that_agree_are_closed_without_a_question(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "one")
    append(repo, "negative-control", *MEASURED, "--factor", "threads")
    _commit(repo, "one")
    git(repo, "checkout", "-q", "-b", "two", "HEAD~1")
    append(repo, "opportunity", "--result-kind", "speed", "--benefit", "b", "--regression", "r",
           "--uncertainty", "u", "--workload", "w", "--next", "n")  # fmt: skip
    _commit(repo, "two")
    git(repo, "merge", "-q", "-m", "both", "one")
    assert len(shown(repo, SERVICE)["tips"]) == 2
    assert hio(repo, "ledger", "merge", SERVICE).code == 0
    assert len(shown(repo, SERVICE)["tips"]) == 1


def test_an_entry_takes_its_setting_and_its_number_from_a_run(tmp_path: Path) -> None:
    repo = whole(tmp_path).root
    file = repo / append(repo, "increment", "--from-run", "threads", "--stack", "two").out.split()[1]
    text = file.read_text()
    assert "factor: server.threads\n" in text
    assert "metric: decode_tps\n" in text and "change_percent: 20.2595\n" in text
    assert file.stem.endswith("-increment-threads")


@pytest.mark.parametrize(
    ("kind", "speeds", "said"),
    [
        ("increment", SLOWER, "harm, VERDICT; an increment would say the opposite"),
        ("increment", EQUAL, "within noise, VERDICT; an increment would say the opposite"),
        ("negative-control", SPEEDS, "improvement, VERDICT; a negative-control would say the opposite"),
    ],
)
def test_an_entry_that_the_verdict_contradicts_is_refused(
    tmp_path: Path, kind: str, speeds: dict[str, list[float]], said: str
) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(speeds=speeds)
    refused = hio(tmp_path, "ledger", "append", kind, "--service", SERVICE, "--from-run", "threads")
    assert refused.code == 2
    assert said in one_sentence(refused)


def test_a_draft_is_kept_as_research_and_accepted_by_nobody(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(run=lambda document: document.pop("logs"))
    refused = hio(tmp_path, "ledger", "append", "increment", "--service", SERVICE, "--from-run", "threads")
    assert refused.code == 2
    assert "improvement, DRAFT (no-log); an increment stands on a VERDICT" in one_sentence(refused)
    file = append(tmp_path, "decision", "--from-run", "threads", "--decision", "keep-research", "--evidence", "cost", "one core",
                  "--next", "keep the log").out.split()[1]  # fmt: skip
    text = (tmp_path / file).read_text()
    assert "mechanism: a second core" in text, "what the plan said"
    assert "change_percent: 20.2595" in text


def test_speeds_of_different_work_are_not_published(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(rows=lambda row: row.update(generated=7) if row["arm"] == "two" else None)
    refused = one_sentence(
        hio(tmp_path, "ledger", "append", "increment", "--service", SERVICE, "--from-run", "threads")
    )
    assert "tokens generated in request 1: 8 in base and 7 in two" in refused
    assert "no speed is published" in refused
    file = append(tmp_path, "decision", "--from-run", "threads", "--decision", "keep-research", "--evidence", "cost", "one core",
                  "--evidence", "benefit", "none yet", "--next", "the same answers").out.split()[1]  # fmt: skip
    assert "result:" not in (tmp_path / file).read_text()


@pytest.mark.parametrize(
    ("outcome", "hazard"), [("aborted", "resource-limit"), ("failed", "crash"), ("stopped", "other")]
)
def test_a_failed_run_names_its_hazard_from_how_it_ended(tmp_path: Path, outcome: str, hazard: str) -> None:
    experiment = Experiment(tmp_path)
    experiment.run(run=lambda document: document.update(outcome=outcome, why="it was like that"))
    text = (tmp_path / append(tmp_path, "failed-run", "--from-run", "threads").out.split()[1]).read_text()
    assert f"hazard: {hazard}\n" in text
    assert "because: it was like that\n" in text and "factor: server.threads\n" in text


def test_a_run_that_did_not_fail_is_no_failed_run(tmp_path: Path) -> None:
    refused = hio(
        whole(tmp_path).root, "ledger", "append", "failed-run", "--service", SERVICE, "--from-run", "threads"
    )
    assert "did not fail: improvement" in one_sentence(refused)


def test_an_opportunity_says_what_the_run_showed(tmp_path: Path) -> None:
    repo = whole(tmp_path).root
    text = (
        repo / append(repo, "opportunity", "--from-run", "threads", "--next", "long prompts").out.split()[1]
    ).read_text()
    assert "decode_tps of two +20.26 % (50.1 -> 60.25 token/s, p 0.0286)" in text
    assert "result_kind: speed\n" in text and "workloads: [" in text and "tides, cold" in text


def test_a_second_entry_of_a_day_gets_a_name_of_its_own(repo: Path) -> None:
    words = ("--factor", "threads", *MEASURED)
    first, second = (append(repo, "negative-control", *words).out for _ in range(2))
    assert second.strip() == first.strip().replace(".yaml", "-2.yaml")


EDITED = ("negative-control", *MEASURED, "--service", SERVICE, "--by", "someone", "--edit")


def _editor(folder: Path, script: str) -> dict[str, str]:
    program = folder / "editor.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"EDITOR": str(program), "VISUAL": str(program)}


def test_an_editor_completes_an_entry_and_the_hints_are_not_kept(repo: Path, tmp_path: Path) -> None:
    env = _editor(tmp_path, f"cp $1 {tmp_path}/seen; sed -i 's/^by: .*/&\\nbecause: it lost/' $1")
    said = hio(repo, "ledger", "append", *EDITED, "--id", "x", env=env)
    assert said.code == 0, said.err
    text = (repo / said.out.split()[1]).read_text()
    assert "because: it lost\n" in text and "#   " not in text
    assert "#   blocks: Settings that make no sense" in (tmp_path / "seen").read_text()
    assert hio(repo, "validate", "ledger").code == 0


def test_what_an_editor_leaves_unfinished_is_kept_and_said(
    repo: Path, tmp_path: Path, own_home: Path
) -> None:
    env = _editor(tmp_path, "sed -i 's/^kind: .*/kind: incremint/' $1")
    said = hio(repo, "ledger", "append", *EDITED, "--id", "x", env=env)
    assert said.code == 1
    assert "expected baseline, increment" in one_sentence(said)
    kept = Path(one_sentence(said).rpartition(" ")[2])
    assert "incremint" in kept.read_text() and own_home in kept.parents
    assert git(repo, "status", "--porcelain") == ""
    unsaved = hio(repo, "ledger", "append", *EDITED, "--id", "x", env=_editor(tmp_path, "true"))
    assert "saved nothing" in one_sentence(unsaved)


def test_what_is_no_digest_is_refused(repo: Path) -> None:
    refused = hio(repo, "ledger", "append", "redaction", "--service", SERVICE, "--redacts", "a", "sha256:1")
    assert "expected a digest" in one_sentence(refused)


def test_a_key_of_another_kind_is_refused_by_its_option(repo: Path) -> None:
    refused = hio(
        repo,
        "ledger",
        "append",
        "decision",
        "--service",
        SERVICE,
        "--decision",
        "keep-research",
        "--corrects",
        "b0",
    )
    assert refused.code == 2
    assert "--corrects has no meaning here" in one_sentence(refused)


def test_an_unknown_service_is_named_with_its_nearest(repo: Path) -> None:
    for words in (("ledger", "show"), ("ledger", "next"), ("status",)):
        assert "did you mean lab/tiny?" in one_sentence(hio(repo, *words, "lab/tinny"))


def test_status_follows_from_the_ledger_and_not_from_a_document(tmp_path: Path) -> None:
    repo = whole(tmp_path).root

    def levels() -> dict[str, str]:
        shape = json.loads(hio(repo, "status", SERVICE, "--format", "json").out)
        return {each["stack"]: each["status"] for each in shape["services"][SERVICE]}

    assert levels()["base"] == "accepted"
    assert levels()["two"] == "experimental"
    append(repo, "increment", "--from-run", "threads", "--stack", "two")
    assert levels()["two"] == "accepted"
    write(repo, {f"manifests/services/{SERVICE}/stacks/two.yaml": stack("two", 3)})
    said = hio(repo, "status")
    assert levels()["two"] == "experimental"
    assert "its bytes are not the ones" in " ".join(said.out.split())


def test_a_run_that_is_less_than_a_verdict_makes_nothing_tested_or_accepted(repo: Path) -> None:
    refused = hio(
        repo, "ledger", "append", "increment", "--service", SERVICE, *MEASURED, "--stack", "two", "--id", "i1"
    )
    assert refused.code == 2
    assert "the ledger would call two the parent" in one_sentence(refused)
    assert shown(repo, SERVICE)["parent"]["stack"] == "base"
    append(repo, "increment", *MEASURED, "--id", "i1")
    assert shown(repo, SERVICE)["parent"]["stack"] == "base"
    said = hio(repo, "status", SERVICE, "--format", "json")
    levels = {each["stack"]: each["status"] for each in json.loads(said.out)["services"][SERVICE]}
    assert levels["two"] == "experimental"


def test_a_correction_is_told_wherever_the_corrected_entry_is(repo: Path) -> None:
    append(repo, "increment", *MEASURED, "--id", "i1")
    append(repo, "correction", "--corrects", "i1", "--because", "another host", "--id", "c1")
    [accepted] = shown(repo, SERVICE)["accepted"]
    assert accepted["corrected_by"] == "c1"
    assert "put right later by c1" in hio(repo, "ledger", "show").out


def test_status_tells_that_an_increment_was_put_right(tmp_path: Path) -> None:
    repo = whole(tmp_path).root
    append(repo, "increment", "--from-run", "threads", "--stack", "two", "--id", "i1")
    append(repo, "correction", "--corrects", "i1", "--because", "another host", "--id", "c1")
    assert "increment i1, which c1 puts right" in hio(repo, "status").out


def test_drafts_that_are_no_entry_yet_are_all_kept(repo: Path, tmp_path: Path) -> None:
    kept = []
    for text in ("one", "two"):
        env = _editor(tmp_path, f"sed -i 's/^kind: .*/kind: {text}/' $1")
        said = one_sentence(hio(repo, "ledger", "append", *EDITED, "--id", "x", env=env))
        kept.append(Path(said.rpartition(" ")[2]).read_text())
    assert "kind: one" in kept[0] and "kind: two" in kept[1]


def test_a_service_that_nobody_has_is_refused_where_it_would_say_nothing(repo: Path) -> None:
    refused = hio(repo, "ledger", "append", "approval", "--service", SERVICE, "--approves", "deploy",
                  "--scope", "x", "--until", "2030-01-01T00:00:00Z", "--affects", "no/where")  # fmt: skip
    assert "no service is called no/where" in one_sentence(refused)
    assert "no service is called lab/nope" in one_sentence(hio(repo, "ledger", "merge", "lab/nope"))
    _two_branches_that_disagree(repo)
    refused = hio(repo, "ledger", "merge", SERVICE, "--keep", "b0")
    assert refused.code == 2
    assert "b0 is no side of a disagreement" in one_sentence(refused)


def test_an_id_that_differs_in_case_only_is_refused(repo: Path) -> None:
    refused = hio(repo, "ledger", "append", "baseline", "--service", SERVICE, "--stack", "base", "--id", "B0")
    assert refused.code == 1
    assert "would be the same file" in one_sentence(refused)


def test_no_deployment_is_recorded_while_anything_blocks_its_matrix(repo: Path) -> None:
    append(repo, "increment", *MEASURED, "--id", "i1")
    row = matrix(disposition="changed, evidence: i1")
    write(repo, {MATRIX: row})
    append(
        repo,
        "approval",
        "--approves",
        "deploy",
        "--scope",
        "lab",
        "--until",
        "2099-01-01T00:00:00Z",
        "--id",
        "ok",
    )
    words = ("deployment", "--service", SERVICE, "--by", "ada", "--matrix", "base-to-two", "--parent", "base",
             "--candidate", "two", "--rollback", "base", "--approval", "ok", "--id", "d1")  # fmt: skip
    refused = one_sentence(hio(repo, "ledger", "append", *words))
    assert "the capture that proves what serves now" in refused, "what the entry itself lacks"
    assert "isolation" in refused or "not captured" in refused, "and what blocks its matrix"
    assert not list((repo / "ledger").rglob("d1.yaml"))
