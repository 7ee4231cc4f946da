"""A row that cites an entry about another setting, about another value, or one that decided the opposite.

The citation is what a reviewer trusts without opening it. `evidence: 2026-09-16-threads` behind a row about
`ubatch-size`, a negative control behind `changed`, or a run of 4 and 8 threads behind a change from 2 to 8 looks
like evidence and is none (contract 3.5: evidence isolates that setting). The values are computed from the arms of
the cited run, never read from its text; where the entry publishes a result, from its arms in their order. A value
that no capture shows on an arm is a gate: it could be another one.

How to fix: cite the entry that measured this setting with this value: an increment (or a decision to adopt) for
`changed`, a negative-control (or a decision against it) for `excluded`; where there is none, write `retest`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hio_validate.diagnostic import Severity
from hio_validate.models.entry import Decision, Increment, NegativeControl
from hio_validate.models.matrix import Bundle, FactorRow
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed, with_article
from hio_validate.rules.cited import Cited, decided_rows, isolation_of
from hio_validate.settings.difference import NEEDS_A_ROW, Compared
from hio_validate.settings.value import ABSENT, UNKNOWN, same

_DECIDED_BY = {"changed": Increment, "excluded": NegativeControl}
_DECISIONS = {"changed": ("experimental-default", "deploy"), "excluded": ("stop-trial", "keep-research")}


def check(item: Item, view: View) -> Iterator[Problem]:
    for cited in decided_rows(item, view, "changed", "excluded"):
        if cited.entry is not None and cited.entry.model is not None:
            problem = _wrong_kind(item, cited, cited.entry) or _wrong_factor(item, cited, cited.entry)
            problem = problem or _served_loser(item, cited, cited.entry, view)
            problem = problem or _wrong_value(item, cited, cited.entry, view)
            problem = problem or _overruled(item, cited, cited.entry, view)
            if problem:
                yield problem


def _wrong_kind(item: Item, cited: Cited, entry: Item) -> Problem | None:
    disposition, model = cited.row.disposition, entry.model
    if isinstance(model, _DECIDED_BY[disposition]):
        return None
    if isinstance(model, Decision) and model.decision in _DECISIONS[disposition]:
        return None
    what = with_article(model.kind)
    if isinstance(model, Decision):
        what += f" to {model.decision}"
    return Problem(
        at(item, *cited.evidence_path),
        f"{cited.name} is {disposition}, but {entry.name} is {what}",
        "cite an increment for a change and a negative-control for an exclusion",
        (("the cited entry", Place(entry.document, ("kind",))),),
    )


def _wrong_factor(item: Item, cited: Cited, entry: Item) -> Problem | None:
    factor = entry.model.factor
    if isinstance(cited.row, Bundle) and factor in (None, cited.row.bundle):
        return None
    if factor is not None and _names_the_row(factor, cited):
        return None
    return Problem(
        at(item, *cited.evidence_path),
        f"{entry.name} is about {factor or 'no setting'}, not about {cited.name}",
        "cite the entry that isolates this setting",
        (("the cited entry", Place(entry.document, ("factor",) if factor else ("kind",))),),
    )


def _names_the_row(factor: str, cited: Cited) -> bool:
    names = _names(cited)
    return factor.lstrip("-") in names or factor.partition(".")[2] in names


def _names(cited: Cited) -> set[str]:
    """Every way to name the settings of a row: addresses, factors, flags and environment names of both sides."""
    names = {cited.row.factor} if isinstance(cited.row, FactorRow) else set(cited.row.members)
    for each in cited.compared:
        names.add(each.address)
        for side in (each.parent, each.candidate):
            if side is not None:
                spelt = side.option.flags + side.option.env if side.option else ()
                names |= {side.address, side.factor, *(flag.lstrip("-") for flag in spelt)}
    return names


def _wrong_value(item: Item, cited: Cited, entry: Item, view: View) -> Problem | None:
    """The run measured this setting, but not the change of it that the row decides about."""
    alone = isinstance(cited.row, FactorRow)
    for each in cited.compared:
        if cited.run is not None and (alone or each.group in NEEDS_A_ROW):
            problem = _measured_otherwise(item, cited, entry, each, _values(cited, each, cited.run, view))
            if problem:
                return problem
    return None


def _measured_otherwise(
    item: Item, cited: Cited, entry: Item, compared: Compared, by_arm: dict[str, str]
) -> Problem | None:
    measured = list(dict.fromkeys(by_arm.values()))
    varied = len(measured) > 1 or measured == [UNKNOWN]
    if not varied or UNKNOWN in (compared.from_, compared.to):
        return None  # findings of other rules
    result = entry.model.result if isinstance(entry.model, Increment) else None
    if result is not None and {result.from_arm, result.to_arm} <= by_arm.keys():
        measured = [by_arm[result.from_arm], by_arm[result.to_arm]]
        fits, shown = all(map(_is_value, measured, (compared.from_, compared.to))), " -> ".join(measured)
    else:
        found = [any(_is_value(each, value) for each in measured) for value in (compared.from_, compared.to)]
        fits, shown = all(found) if cited.row.disposition == "changed" else any(found), listed(measured)
    if fits:
        return None
    known = UNKNOWN not in measured
    name = cited.name if isinstance(cited.row, FactorRow) else compared.address
    return Problem(
        at(item, *cited.evidence_path),
        f"{entry.name} measured {name} at {shown}; the row decides about {compared.from_} -> {compared.to}",
        "cite an entry whose run measured both values, or write retest"
        if known
        else "pin a capture that shows the value of each arm in the run, or write retest",
        (("the arms", Place(cited.run.document, ("arms",), at_key=True)),) if cited.run else (),
        severity=None if known else Severity.GATE,
    )


def _is_value(measured: str, decided: str) -> bool:
    """Whether an arm ran this value; what a side does not have at all can only be measured switched off."""
    return same(measured, decided) or (decided == ABSENT and same(measured, "off"))


def _served_loser(item: Item, cited: Cited, entry: Item, view: View) -> Problem | None:
    """An exclusion whose candidate runs the very value that lost."""
    result = getattr(entry.model, "result", None)
    if cited.row.disposition != "excluded" or not result or not cited.compared or cited.run is None:
        return None
    lost, served = _values(cited, cited.compared[0], cited.run, view).get(result.to_arm), cited.compared[0].to
    if lost is None or UNKNOWN in (lost, served) or not same(lost, served):
        return None
    return Problem(
        at(item, *cited.path, "to") if isinstance(cited.row, FactorRow) else at(item, *cited.evidence_path),
        f"{cited.name} is excluded, and the candidate runs the value that lost: {served}",
        "put the stack right, or write retest",
        (("the measured loser", Place(entry.document, ("result", "to"))),),
    )


def _overruled(item: Item, cited: Cited, entry: Item, view: View) -> Problem | None:
    """A later entry put the cited one right, or decided the opposite about the same setting."""
    opposite = NegativeControl if cited.row.disposition == "changed" else Increment
    ledger = view.ledger(entry.service)
    for later in ledger.entries.values():
        corrects = later.model.kind == "correction" and later.model.corrects.rpartition("/")[2] == entry.name
        reverses = (
            isinstance(later.model, opposite)
            and _names_the_row(later.model.factor, cited)
            and not _decided_another_value(cited, later, view)
        )
        if (corrects or reverses) and entry.name in ledger.ancestors(ledger.after(later.name)):
            what = "put right" if corrects else "overruled"
            return Problem(
                at(item, *cited.evidence_path),
                f"{entry.name} was {what} later, by {later.name}",
                "read what it says, then cite an entry that still holds, or write retest",
                (("the later entry", Place(later.document, ("kind",))),),
                severity=Severity.GATE,
            )
    return None


def _decided_another_value(cited: Cited, later: Item, view: View) -> bool:
    """Whether a later entry is known to speak of another value than the row's: that going back loses overrules nothing."""
    result, pin = getattr(later.model, "result", None), pin_of(later, "run")
    run = view.repo.find("run/v1", name_of(pin), later.service) if pin else None
    if result is None or run is None or run.model is None or len(cited.compared) != 1:
        return False
    (compared,) = cited.compared
    decided = _values(cited, compared, run, view).get(result.to_arm, UNKNOWN)
    return UNKNOWN not in (decided, compared.to) and not same(decided, compared.to)


def _values(cited: Cited, compared: Compared, run: Item, view: View) -> dict[str, str]:
    """Arm -> value of one setting of the row there, as far as the arms can be resolved."""
    sides = [side for side in (compared.parent, compared.candidate) if side]
    names = [compared.address, *(name for side in sides for name in (side.address, side.factor))]
    found: dict[str, str] = {}
    for pair in combinations(run.model.arms, 2):
        two = run.model.model_copy(update={"arms": {name: run.model.arms[name] for name in pair}})
        isolation = isolation_of(cited._replace(run=run._replace(model=two)), view)
        difference = isolation.difference if isolation else None
        there = next(filter(None, map(difference.find, names)), None) if difference else None
        if there is not None:
            found |= {pair[0]: there.from_, pair[1]: there.to}
    return found


RULE = Rule(
    "evidence-contradicts-row", Scope.DOCUMENT, Severity.ERROR, "the cited entry decides something else", check,
    kinds=("matrix/v1",), contract=("3.5",), since=2,
)  # fmt: skip
