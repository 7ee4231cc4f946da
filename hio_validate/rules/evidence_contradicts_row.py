"""A row that cites an entry about another setting, about another value, or one that decided the opposite.

The citation is what a reviewer trusts without opening it. `evidence: 2026-09-16-threads` behind a row about
`ubatch-size`, a negative control behind `changed`, or a run of 8 and 16 threads behind a change to 4 looks like
evidence and is none (contract 3.5: evidence isolates that setting). The values are computed from the arms of
the cited run, never read from its text.

How to fix: cite the entry that measured this setting with this value: an increment (or a decision to adopt) for
`changed`, a negative-control (or a decision against it) for `excluded`; where there is none, write `retest`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hio_validate.diagnostic import Severity
from hio_validate.models.entry import Decision, Increment, NegativeControl
from hio_validate.models.matrix import Bundle, FactorRow
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed
from hio_validate.rules.cited import Cited, decided_rows, isolation_of
from hio_validate.settings.value import UNKNOWN, same

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
    what = f"{'an' if model.kind == 'increment' else 'a'} {model.kind}"
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
    """The run measured this setting, but not the value that the row decides about."""
    if not isinstance(cited.row, FactorRow) or not cited.compared or cited.run is None:
        return None
    by_arm = _values(cited, cited.run, view)
    compared = cited.compared[0]
    decided = [compared.to] if cited.row.disposition == "changed" else [compared.from_, compared.to]
    result = getattr(entry.model, "result", None)
    accepted = by_arm.get(result.to_arm) if result and isinstance(entry.model, Increment) else None
    every = list(dict.fromkeys(by_arm.values()))
    measured = [accepted] if accepted is not None else every
    if len(every) < 2 or UNKNOWN in (*measured, *decided):
        return None
    if any(same(mine, theirs) for mine in decided for theirs in measured):
        return None
    return Problem(
        at(item, *cited.evidence_path),
        f"{entry.name} measured {cited.name} at {listed(measured)}; "
        f"the row decides about {' -> '.join(decided)}",
        "cite an entry whose run measured this value, or write retest",
        (("the arms", Place(cited.run.document, ("arms",), at_key=True)),),
    )


def _served_loser(item: Item, cited: Cited, entry: Item, view: View) -> Problem | None:
    """An exclusion whose candidate runs the very value that lost."""
    result = getattr(entry.model, "result", None)
    if cited.row.disposition != "excluded" or not result or not cited.compared or cited.run is None:
        return None
    lost, served = _values(cited, cited.run, view).get(result.to_arm), cited.compared[0].to
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
        reverses = isinstance(later.model, opposite) and _names_the_row(later.model.factor, cited)
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


def _values(cited: Cited, run: Item, view: View) -> dict[str, str]:
    """Arm -> value of the row's setting there, as far as the arms can be resolved."""
    found: dict[str, str] = {}
    for pair in combinations(run.model.arms, 2):
        two = run.model.model_copy(update={"arms": {name: run.model.arms[name] for name in pair}})
        isolation = isolation_of(cited._replace(run=run._replace(model=two)), view)
        named = (isolation.difference.find(name) for name in sorted(_names(cited))) if isolation else ()
        for compared in filter(None, named):
            found |= {pair[0]: compared.from_, pair[1]: compared.to}
    return found


RULE = Rule(
    "evidence-contradicts-row", Scope.DOCUMENT, Severity.ERROR, "the cited entry decides something else", check,
    kinds=("matrix/v1",), contract=("3.5",),
)  # fmt: skip
