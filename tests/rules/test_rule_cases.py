"""Every rule fails on its bad cases at the right line, passes its good ones, with all rules on."""

from __future__ import annotations

import pytest

from hio_validate.diagnostic import Severity
from hio_validate.rules import RULES
from hio_validate.rules.base import Scope
from tests.rules.cases import Case, cases

SAYS_HOW_IT_WEIGHS = ("-is-an-error", "-is-a-gate", "-is-a-note")

SPECIAL = {"internal-error", *(rule.id for rule in RULES if rule.scope is Scope.HISTORY)}
"""Not shown by documents: a rule that raises (tests/test_engine.py), what commits did (tests/history)."""

ONE_A_DOCUMENT = {
    "above-ceiling",
    "contested-port",
    "few-items",
    "fixture-not-reproduced",
    "human-score-unblinded",
    "not-same-work",
    "nothing-measured",
    "run-measured-something-else",
    "stderr-contradicts-n",
    "syntax-error",
    "undecided-merge",
    "unlearned-help",
    "unpinned-evidence",
    "unreachable-level",
    "unreachable-margin",
    "unreadable-rows",
    "vague-hypothesis",
    "weak-baseline",
}
"""After the first such fault nothing more can be said of the document, so there is no second to lose."""


@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_all_rules_together_find_exactly_what_the_case_says(case: Case) -> None:
    assert case.found() == case.expected


@pytest.mark.parametrize(
    "case", [each for each in cases() if each.folder.name.endswith(SAYS_HOW_IT_WEIGHS)], ids=str
)
def test_a_case_that_names_a_severity_gets_it(case: Case) -> None:
    mine = {found.severity for found in case.report().diagnostics if found.rule == case.rule}
    assert mine == {Severity(case.folder.name.rpartition("-")[2])}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.id not in SPECIAL], ids=lambda rule: rule.id)
def test_a_rule_has_failing_passing_and_good_before_bad_cases(rule) -> None:
    mine = list(cases(rule.id))
    failing = [case for case in mine if case.fails]
    assert any(case.folder.name == "fail-good-before-bad" for case in failing), (
        "a good item before the bad one"
    )
    assert len(failing) >= 2, "the smallest failing case and the good-before-bad one"
    assert any(not case.fails for case in mine)
    assert all(any(line.endswith(f" {rule.id}") for line in case.expected) for case in failing)
    assert not any(line.endswith(f" {rule.id}") for case in mine if not case.fails for line in case.expected)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.id not in SPECIAL], ids=lambda rule: rule.id)
def test_an_emptied_check_is_noticed(rule) -> None:
    emptied = [each._replace(check=lambda *_: iter(())) if each is rule else each for each in RULES]
    failing = [case for case in cases(rule.id) if case.fails]
    assert failing
    assert all(case.found(emptied) != case.expected for case in failing)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.id not in SPECIAL], ids=lambda rule: rule.id)
def test_a_check_that_stops_after_the_first_finding_is_noticed(rule) -> None:
    stopped = [each._replace(check=_first_only(rule.check)) if each is rule else each for each in RULES]
    failing = [case for case in cases(rule.id) if case.fails]
    counting = [case for case in failing if _several_in_one_file(case, rule.id)]
    assert any(case.found(stopped) != case.expected for case in counting or failing) == (
        rule.id not in ONE_A_DOCUMENT
    )
    if rule.scope is not Scope.CHANGE:
        assert all(case.found(stopped) != case.expected for case in counting)


def _several_in_one_file(case: Case, rule: str) -> bool:
    files = [line.partition(":")[0] for line in case.expected if line.endswith(f" {rule}")]
    return len(files) > len(set(files))


def _first_only(check):
    def one_then_return(*given):
        for problem in check(*given):
            yield problem
            return

    return one_then_return
