"""Whatever a report has to leave open comes with what closes it."""

from __future__ import annotations

import ast
from pathlib import Path

import hio_validate.evidence
from hio_validate.evidence.outcome import Tier
from hio_validate.evidence.tiers import Verdict
from hio_validate.report.published.gaps import REMEDIES, gaps_of
from hio_validate.report.published.run import tier_of
from hio_validate.rests_on import Broken
from tests.evidence.experiment import Experiment, whole

EVIDENCE = Path(hio_validate.evidence.__file__).parent
OF_AN_EFFECT = {
    "effect-within-noise",
    "below-tolerance",
    "not-significant",
    "bound-broken",
    "bound-unmeasured",
}
"""Reasons of a result, which is published as it is; they leave nothing open."""


def _reasons() -> set[str]:
    """Every reason that a condition of the evidence can have."""
    found = set()
    for name in ("conditions", "receipts", "quality_gate", "quality", "champion_gates"):
        for node in ast.walk(ast.parse((EVIDENCE / f"{name}.py").read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Condition", "Gated"):
                reason = node.args[1 if getattr(node.func, "id", "") == "Condition" else 0]
                words = (each.value for each in ast.walk(reason) if isinstance(each, ast.Constant))
                found |= {word for word in words if isinstance(word, str) and word}
    return found


def test_every_reason_of_a_record_has_a_remedy() -> None:
    assert len(_reasons()) > 30
    assert _reasons() - OF_AN_EFFECT <= set(REMEDIES)


def _judged(tmp_path: Path, **spoil: str) -> Verdict:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(run=lambda document: document.update(spoil))
    return experiment.verdict()


def test_a_whole_record_has_none_and_its_report_is_a_verdict(tmp_path: Path) -> None:
    judged = whole(tmp_path).verdict()
    assert gaps_of(judged, (), True) == []
    assert tier_of(judged, [], True) is Tier.VERDICT
    assert tier_of(judged, [], False) is Tier.DRAFT, "who asks for no gaps to be refused gets a draft"


def test_a_gap_of_the_evidence_or_of_git_makes_a_draft_of_a_verdict(tmp_path: Path) -> None:
    judged = whole(tmp_path).verdict()
    broken = Broken("manifests/run.yaml", 7, "server.log, which it relies on, is not there")
    found = gaps_of(judged, [broken], False)
    assert [each.id for each in found] == ["broken-evidence", "not-committed"]
    assert found[0].sentence == "manifests/run.yaml:7: server.log, which it relies on, is not there"
    assert all(each.do for each in found)
    assert tier_of(judged, found, True) is Tier.DRAFT


def test_an_unknown_workload_stays_what_it_is(tmp_path: Path) -> None:
    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(plan=lambda plan: plan.pop("fixture"), run=lambda run: run["scope"].pop("fixture"))
    judged = experiment.verdict()
    assert judged.tier is Tier.NEEDS_CONTEXT
    assert tier_of(judged, gaps_of(judged, (), True), False) is Tier.NEEDS_CONTEXT


def test_how_a_run_ended_is_said_whole(tmp_path: Path) -> None:
    found = gaps_of(_judged(tmp_path, outcome="aborted", why="swap grew"), (), True)
    assert ("not-completed", "ran to its end: it was aborted: swap grew") in [each[:2] for each in found]
