"""Evidence whose two arms do not differ in exactly the setting it is cited for.

The faster arm had eight threads, and also another library, a warm page cache or a longer draft: whoever reads
"threads: +12 %" next year builds on a number that belongs to something else. Contract 3.5: isolation is computed
from the two arms (stack, delta, captures, defaults of their builds), never declared; contract 3.6: a result of
several settings together decides none of them, except for a bundle, and then for all of its members.

A known further difference is an error, and so is a run that does not vary the setting at all. What nobody
observed is a gate: without a capture of each arm, and in each of its legs, something else could differ unseen.
Where the entry publishes a result, the two arms it names are the ones that count.

How to fix: measure the setting alone, one delta on one stack, with a capture of each arm pinned in the run; or
declare the settings as a bundle with its question before measuring; or write `retest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.isolation import Isolation
from hio_validate.models.matrix import Bundle
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at, listed
from hio_validate.rules.cited import Cited, decided_rows, isolation_of
from hio_validate.settings.difference import NEEDS_A_ROW, Compared, Group
from hio_validate.settings.setting import Origin


def check(item: Item, view: View) -> Iterator[Problem]:
    for cited in decided_rows(item, view, "changed", "excluded"):
        run = cited.run
        if run is None:
            continue
        isolation = isolation_of(cited, view)
        if isolation is not None:
            yield from _judge(item, cited, run, isolation)
        elif len(run.model.arms) < 2:
            yield Problem(
                at(item, *cited.evidence_path),
                f"{run.name} compares nothing: its only arm is {listed(run.model.arms)}",
                "cite a run with two arms that differ in this setting",
                (_arms(run),),
            )


def _arms(run: Item) -> tuple[str, Place]:
    return "the arms", Place(run.document, ("arms",), at_key=True)


def _judge(item: Item, cited: Cited, run: Item, isolation: Isolation) -> Iterator[Problem]:
    place = at(item, *cited.evidence_path)
    arms = f"the arms {isolation.arms[0]} and {isolation.arms[1]} of {run.name}"
    related = (_arms(run),)
    constant = _constant_members(cited, isolation)
    if not isolation.differs:
        yield Problem(
            place, f"{arms} do not differ in {cited.name}", "cite a run that varies this setting", related
        )
    elif isolation.further:
        further = listed(f"{each.address} ({each.from_} -> {each.to})" for each in isolation.further)
        advice = "measure it alone; a result of several settings together decides none of them"
        if isinstance(cited.row, Bundle):
            advice = "add them to the members of the bundle, or measure the bundle alone"
        yield Problem(place, f"{arms} also differ in {further}", advice, related)
    elif constant:
        yield Problem(
            place,
            f"{arms} do not differ in {listed(constant)} of {cited.name}",
            "measure the whole, or decide these members in rows of their own",
            related,
        )
    elif isolation.unobserved:
        yield Problem(
            place,
            f"isolation of {cited.name} is unknown: {listed(isolation.unobserved, 3)}",
            "pin a capture of each arm in the run",
            related,
            severity=Severity.GATE,
        )


def _constant_members(cited: Cited, isolation: Isolation) -> list[str]:
    """Members that differ between parent and candidate and were the same on both arms."""
    if not isinstance(cited.row, Bundle):
        return []
    return [
        each.address for each in cited.compared if each.group in NEEDS_A_ROW and not _varies(each, isolation)
    ]


def _varies(each: Compared, isolation: Isolation) -> bool:
    """Whether the arms differ in a setting, or could without anybody having seen it."""
    sides = [side for side in (each.parent, each.candidate) if side is not None]
    names = [each.address, *(name for side in sides for name in (side.address, side.factor))]
    found = next(filter(None, map(isolation.difference.find, names)), None)
    if found is None:
        return bool(isolation.unobserved) and any(side.origin is Origin.IDENTITY for side in sides)
    return found.group is not Group.EQUAL


RULE = Rule(
    "confounded-evidence", Scope.DOCUMENT, Severity.ERROR, "the evidence does not isolate this setting", check,
    kinds=("matrix/v1",), contract=("3.5", "3.6", "4.6"), since=2,
)  # fmt: skip
