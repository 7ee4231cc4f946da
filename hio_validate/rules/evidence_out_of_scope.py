"""Evidence that was measured on another parent, host, model, fixture or regime than it is cited for.

Eight threads won on a 16-core host with a 4B model and a warm cache; the candidate serves a 27B model on 8
cores with cold prompts. Contract 3.7: evidence has a scope, compared part by part. What the captures of the
run's arms show counts before what its `scope:` declares; a known difference is an error; a part that either
side does not state is a gate, because unknown is not equal. Evidence holds along the accepted chain of the
ledger, so an older accepted stack is still a parent. Only the arms count that the entry's result names, or, where it
publishes none, those that isolate the setting: what another arm ran lends its parent and its host to nothing.

Where a row says `depends:`, the value of that setting during the measurement is compared with the candidate's;
if it moved, or nobody observed it, the row calls for a retest.

How to fix: measure on this parent, host, model and workload; state the run's `scope:` and the matrix's
`workload:` and `captures:` where a part is unknown; or write `retest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.workload import model_in
from hio_validate.inheritance import Inheritance, names_an_identity
from hio_validate.models.matrix import FactorRow
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed
from hio_validate.rules.cited import Cited, decided_rows, isolation_of
from hio_validate.settings.value import UNKNOWN


def check(item: Item, view: View) -> Iterator[Problem]:
    found = view.inheritance(item)
    for cited in decided_rows(item, view, "changed", "excluded"):
        if found is not None and cited.run is not None:
            yield from _judge(item, cited, cited.run, found, view)
            yield from _dependencies(item, cited, cited.run, found, view)


def _judge(item: Item, cited: Cited, run: Item, found: Inheritance, view: View) -> Iterator[Problem]:
    place = at(item, *cited.evidence_path)
    related = (("the run's scope", Place(run.document, ("scope",), at_key=True)),)
    here, there = _here(found, view), _there(run, view)
    stacks = {name_of(arm.stack) for arm in run.model.arms.values()}
    chain = [found.parent.name, *found.ledger.accepted_stacks(found.tips)]
    different = [
        f"{part} ({there[part]}, here {here[part]})"
        for part in here
        if UNKNOWN not in (here[part], there[part]) and here[part] != there[part]
    ]
    if not stacks & set(chain):
        different.insert(0, f"parent ({listed(sorted(stacks))}, here {listed(dict.fromkeys(chain))})")
    if different:
        yield Problem(
            place,
            f"{run.name} was measured elsewhere: {'; '.join(different)}",
            "measure it on this parent, host, model and workload, or write retest",
            related,
        )
    unknown = [part for part in here if UNKNOWN in (here[part], there[part])]
    if unknown:
        yield Problem(
            place,
            f"whether {run.name} holds here is unknown: {', '.join(unknown)}",
            "state the run's scope, the matrix's workload: and captures:",
            related,
            severity=Severity.GATE,
        )


def _there(run: Item, view: View) -> dict[str, str]:
    """The context in which the run was measured: what its captures show, else what its scope declares."""
    scope = run.model.scope
    parts = ("host", "model", "fixture", "regime")
    declared = {part: (getattr(scope, part) if scope else None) or UNKNOWN for part in parts}
    seen = _observed(run, view)
    return {part: _known(declared[part], seen.get(part, [])) for part in parts}


def _known(declared: str, seen: list[str | None]) -> str:
    """What captures show wins over what is declared; a declaration stands for those that do not know."""
    known = {each for each in seen if each}
    if not known:
        return declared
    claimed = known | ({declared} - {UNKNOWN})
    if not all(seen) and len(claimed) == 1:
        return declared
    return " and ".join(sorted(known if all(seen) else claimed))


def _observed(run: Item, view: View) -> dict[str, list[str | None]]:
    """Host and model as the captures of all arms show them, None where one does not know."""
    pins = [pin for arm in run.model.arms.values() for pin in arm.captures or ("",)]
    captures = [view.repo.find("capture/v1", name_of(pin), run.service) for pin in pins]
    models = [capture.model if capture else None for capture in captures]
    return {
        "host": [model.host.id if model else None for model in models],
        "model": [model_in(model) if model else None for model in models],
    }


def _dependencies(item: Item, cited: Cited, run: Item, found: Inheritance, view: View) -> Iterator[Problem]:
    """Settings that the row depends on, where their value is not the one of the measurement."""
    isolation = isolation_of(cited, view)
    if isolation is None or not isinstance(cited.row, FactorRow):
        return
    for index, name in enumerate(cited.row.depends):
        measured, here = isolation.difference.find(name), found.difference.find(name)
        if here is None and not names_an_identity(
            name
        ):  # a name that neither stack has is an unknown-setting
            continue
        there = {measured.from_, measured.to} if measured else {UNKNOWN}
        now = here.to if here else UNKNOWN
        if there != {now} or now == UNKNOWN:
            yield Problem(
                at(item, *cited.path, "depends", index),
                f"{cited.name} depends on {name}: {listed(sorted(there))} when {run.name} measured it, "
                f"{now} at the candidate",
                "write retest, or measure it again with the candidate's value",
                (("the arms", Place(run.document, ("arms",), at_key=True)),),
                severity=Severity.GATE,
            )


def _here(found: Inheritance, view: View) -> dict[str, str]:
    """The context in which the candidate shall serve, as captures and the declared workload give it."""
    matrix = found.matrix
    name = matrix.captures.candidate if matrix.captures else None
    capture = view.repo.find("capture/v1", name, found.item.service) if name else None
    shown = capture.model if capture else None
    return {
        "host": (shown.host.id if shown else None) or UNKNOWN,
        "model": (model_in(shown) if shown else None) or UNKNOWN,
        "fixture": (matrix.workload.fixture if matrix.workload else None) or UNKNOWN,
        "regime": (matrix.workload.regime if matrix.workload else None) or UNKNOWN,
    }


RULE = Rule(
    "evidence-out-of-scope", Scope.DOCUMENT, Severity.ERROR, "the evidence was measured in another context", check,
    kinds=("matrix/v1",), contract=("3.7",), since=2,
)  # fmt: skip
