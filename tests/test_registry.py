"""Every rule is registered, named for its defect, documented, and cites contract lines that exist."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from hio_validate import rules
from hio_validate.diagnostic import Severity
from hio_validate.models import KINDS
from hio_validate.rules import NEWEST, RULES
from hio_validate.rules.base import Rule, Scope

DOCS = Path(__file__).parents[1] / "docs"
MODULES = [import_module(f"hio_validate.rules.{module.name}") for module in iter_modules(rules.__path__)]
NO_RULE = {"base", "cited", "estimated", "faults", "planned", "texts"}
"""Modules of the room that hold no rule."""

AN_ID = re.compile(r"[a-z]+(-[a-z]+)+")
A_CONTRACT_LINE = re.compile(r"^(\d+\.\d+) ", re.MULTILINE)

UNSUPPRESSIBLE = {
    "ambiguous-scalar", "anchor-lost", "answers-contradict-tasks", "approval-does-not-cover",
    "baseline-contradicts-rows", "incomplete-baseline", "placeholder-baseline", "broken-lineage", "campaign-run-contradicts-runs", "dangling-reference", "duplicate-key",
    "frozen-document-changed", "history-altered", "history-hidden", "impossible-measurement",
    "incomplete-decision", "incomplete-deployment", "internal-error", "literal-secret",
    "misdirected-rollback-plan", "misnamed-document", "not-same-work", "nothing-measured", "open-tips",
    "pin-mismatch", "qualification-contradicts-rows", "receipt-contradicts-rows", "recomputed-mismatch", "redaction-incomplete",
    "run-measured-something-else", "schema-violation", "syntax-error", "time-runs-backwards",
    "undecided-merge", "undocumented-difference", "unpinned-evidence", "unproven-deployment",
    "unqualified-deployment", "unreadable-records", "unreadable-rows", "unsigned-decision",
    "unused-suppression", "ceiling-contradicts-samples", "estimate-as-verdict", "estimate-contradicts-run", "estimate-contradicts-terms",
    "summed-overlapping-bounds", "unit-mismatch",
}  # fmt: skip
"""Bytes, digests, pins, the ledger, numbers and completeness: a comment must not keep these quiet (a promise)."""

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def test_every_module_with_a_rule_is_registered() -> None:
    found = {module.__name__.rpartition(".")[2]: getattr(module, "RULE", None) for module in MODULES}
    assert {name for name, rule in found.items() if rule is None} == NO_RULE
    assert sorted(rule.id for rule in found.values() if rule) == sorted(rule.id for rule in RULES)
    assert all(any(rule is each for each in RULES) for rule in found.values() if rule)


@every_rule
def test_a_rule_is_called_as_its_module(rule: Rule) -> None:
    assert AN_ID.fullmatch(rule.id)
    module = import_module(f"hio_validate.rules.{rule.id.replace('-', '_')}")
    assert module.RULE is rule
    assert module.check is rule.check


def test_no_id_is_given_twice() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


@every_rule
def test_a_rule_says_what_it_is_about(rule: Rule) -> None:
    assert rule.summary and rule.summary[0].islower() and not rule.summary.endswith(".")
    assert len(rule.summary) <= 72
    assert isinstance(rule.severity, Severity)
    assert 1 <= rule.since <= NEWEST
    assert set(rule.kinds) <= set(KINDS)
    assert rule.scope is Scope.DOCUMENT or not rule.kinds


@every_rule
def test_a_rule_explains_itself(rule: Rule) -> None:
    text = import_module(f"hio_validate.rules.{rule.id.replace('-', '_')}").__doc__ or ""
    assert text.partition("\n")[0].endswith(".")
    assert "How to fix: " in text


@every_rule
def test_a_rule_has_its_page(rule: Rule) -> None:
    page = DOCS / "rules" / f"{rule.id}.md"
    assert page.is_file()
    text = page.read_text(encoding="utf-8")
    assert rule.id in text
    assert "How to fix" in text


def test_no_page_is_left_of_a_rule_that_is_gone() -> None:
    pages = {page.stem for page in (DOCS / "rules").glob("*.md")} - {"README", "index"}
    assert pages == {rule.id for rule in RULES}


@every_rule
def test_a_rule_cites_contract_lines_that_exist(rule: Rule) -> None:
    contract = (DOCS / "contract.md").read_text(encoding="utf-8")
    assert set(rule.contract) <= set(A_CONTRACT_LINE.findall(contract))


def test_rules_stand_in_reading_order() -> None:
    """Bytes, documents and pins first, suppressions and crashes, which need all others, last."""
    ids = [rule.id for rule in RULES]
    assert ids[0] == "syntax-error"
    assert [rule.scope for rule in RULES[-2:]] == [Scope.SUPPRESSION, Scope.CRASH]
    assert all(rule.scope not in (Scope.SUPPRESSION, Scope.CRASH) for rule in RULES[:-2])
    of_matrices = [at for at, rule in enumerate(RULES) if rule.kinds == ("matrix/v1",)]
    assert of_matrices == list(range(of_matrices[0], of_matrices[-1] + 1))


@every_rule
def test_what_others_rely_on_cannot_be_suppressed(rule: Rule) -> None:
    whole = rule.scope in (Scope.CHANGE, Scope.HISTORY, Scope.CRASH, Scope.SUPPRESSION)
    assert not (whole and rule.suppressible)
    assert rule.suppressible == (rule.id not in UNSUPPRESSIBLE)
