"""The ledger of a service as a page: parent, what serves, accepted, excluded, tried, open, next (contract 8.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hio_validate.ledger import NOTHING, Ledger
from hio_validate.models.entry import (
    Approval,
    Correction,
    Decision,
    Deployment,
    FailedRun,
    Opportunity,
    Rollback,
)
from hio_validate.moment import moment
from hio_validate.next_test import AskedTest
from hio_validate.quantity import published
from hio_validate.repo import Item, name_of, pin_of
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table

Shape = dict[str, Any]


def as_shape(ledger: Ledger, tests: Sequence[AskedTest], now: str) -> Shape:
    """The ledger as versioned data; `now` is the moment (UTC, as documents write it) approvals are held against."""
    entries = list(ledger.as_of())
    parent = ledger.parent_entry
    return {
        "service": ledger.service,
        "entries": len(entries),
        "tips": sorted(ledger.tips),
        "disagreements": [
            {"subject": each.subject, "entries": list(each.entries)} for each in ledger.disagreements
        ],
        "parent": {"stack": ledger.parent, **_entry(parent)} if parent else None,
        "deployed": _deployed(ledger.deployment),
        "accepted": [
            {**_measured(item), "corrected_by": ledger.corrected.get(item.name)} for item in ledger.accepted()
        ],
        "excluded": [
            {
                **_measured(item),
                "blocks": list(item.model.blocks),
                "corrected_by": ledger.corrected.get(item.name),
            }
            for item in ledger.exclusions()
        ],
        "failed_runs": [{**_measured(item), "hazard": item.model.hazard} for item in _of(entries, FailedRun)],
        "decisions": [
            {**_measured(item), "decision": item.model.decision, "next": item.model.next}
            for item in _of(entries, Decision)
        ],
        "opportunities": [_opportunity(item) for item in _of(entries, Opportunity)],
        "approvals": [_approval(item, now) for item in _of(entries, Approval)],
        "attempts": [_attempt(item) for item in _of(entries, Rollback) if item.model.attempted],
        "corrections": [
            {**_entry(item), "corrects": item.model.corrects} for item in _of(entries, Correction)
        ],
        "retests": [each._asdict() for each in tests],
    }


def _of(entries: Sequence[Item], kind: type) -> Iterator[Item]:
    return (item for item in entries if isinstance(item.model, kind))


def _entry(item: Item) -> Shape:
    model = item.model
    return {
        "entry": item.name,
        "kind": model.kind,
        "by": model.by,
        "at": model.at,
        "imported": model.imported,
        "because": model.because,
    }


def _measured(item: Item) -> Shape:
    run = pin_of(item, "run")
    result = getattr(item.model, "result", None)
    return {
        **_entry(item),
        "factor": item.model.factor,
        "run": name_of(run) if run else None,
        "result": result.model_dump(by_alias=True) if result else None,
    }


def _deployed(item: Item | None) -> Shape | None:
    if item is None:
        return None
    pins = item.model.pins
    stack = pins.candidate if isinstance(item.model, Deployment) else pins.stack
    return {"stack": name_of(stack or NOTHING), **_entry(item)}


def _opportunity(item: Item) -> Shape:
    model: Opportunity = item.model
    return {
        **_entry(item),
        "factor": model.factor,
        "result_kind": model.result_kind,
        "benefit": model.benefit,
        "regression": model.regression,
        "uncertainty": model.uncertainty,
        "workloads": list(model.workloads),
        "next": model.next,
    }


def _attempt(item: Item) -> Shape:
    """A stack that was switched to and never stood."""
    model: Rollback = item.model
    return {**_entry(item), "stack": name_of(model.attempted or NOTHING), "failed": dict(model.failed)}


def _approval(item: Item, now: str) -> Shape:
    model: Approval = item.model
    return {
        **_entry(item),
        "approves": model.approves,
        "services": list(model.services),
        "owners": list(model.owners),
        "until": model.until,
        "expired": moment(model.until) < moment(now),
    }


def render(shape: Shape, width: int = 80) -> str:
    """The same as text."""
    count = "1 entry" if shape["entries"] == 1 else f"{shape['entries']} entries"
    tips = ("tip" if len(shape["tips"]) == 1 else "tips") + f" {', '.join(shape['tips'])}"
    parts = [f"{shape['service']}: {count}, {tips}\n", table(_standing(shape), width)]
    for title, told, each_of in _SECTIONS:
        rows = [told(each) for each in shape[each_of]]
        if rows:
            parts.append(f"{title}\n" + "".join(_told(*row, width) for row in rows))
    return "\n".join(parts)


def render_next(tests: Sequence[AskedTest], service: str, width: int = 80) -> str:
    """The next test with its reason, then what waits."""
    if not tests:
        return f"{service}: nothing asks for a test\n"
    first, *others = tests
    rows = [
        ("test", f"{first.factor}  {first.change}".rstrip()),
        ("do", first.what),
        ("because", first.why),
        ("asked by", first.source),
    ]
    parts = [f"{service}: the next isolated test\n" + table(rows, width)]
    if others:
        told = "".join(_told(*_test(each._asdict()), width) for each in others)
        parts.append(f"then, in this order\n{told}")
    return "\n".join(parts)


def _told(head: str, said: Sequence[str], width: int) -> str:
    """A line, and below it the sentences it deserves."""
    below = [paragraph(f"    {sentence}", width - 2, 0) for sentence in said if sentence]
    return "".join([paragraph(f"  {head}", width - 2), *below])


def _standing(shape: Shape) -> list[tuple[str, str]]:
    parent, deployed = shape["parent"], shape["deployed"]
    serves = f"{deployed['stack']}, {_said(deployed)}" if deployed else "no deployment is recorded"
    return [
        ("parent", f"{parent['stack']}, {_said(parent)}" if parent else "none: begin with a baseline"),
        ("serving", serves),
    ]


def _said(each: Shape) -> str:
    imported = ", imported" if each["imported"] else ""
    return f"{each['kind']} {each['entry']} by {each['by']}{imported}"


def _numbers(each: Shape) -> str:
    result = each["result"]
    return f"{published(result['change_percent'])} {result['metric']}" if result else ""


def _source(each: Shape) -> str:
    words = [each["entry"], f"run {each['run']}" if each["run"] else "no run", f"by {each['by']}"]
    return ", ".join([*words, *(["imported"] if each["imported"] else [])])


def _measured_told(each: Shape) -> tuple[str, list[str]]:
    blocks = each.get("blocks")
    return _joined(each["factor"], _numbers(each)), [
        _source(each),
        *_because(each),
        *([f"blocks {', '.join(blocks)}"] if blocks else []),
        *([f"put right later by {each['corrected_by']}"] if each["corrected_by"] else []),
    ]


def _because(each: Shape) -> list[str]:
    return [each["because"]] if each["because"] else []


def _joined(*words: str | None) -> str:
    return "  ".join(word for word in words if word)


def _attempted(each: Shape) -> tuple[str, list[str]]:
    told = [f"{name}: {found}" for name, found in each["failed"].items()]
    return each["stack"], [f"{each['entry']}, by {each['by']}", *told, *_because(each)]


def _failed(each: Shape) -> tuple[str, list[str]]:
    return _joined(each["factor"], each["hazard"]), [_source(each), *_because(each)]


def _decision(each: Shape) -> tuple[str, list[str]]:
    next_ = [f"next: {each['next']}"] if each["next"] else []
    return _joined(each["factor"], each["decision"], _numbers(each)), [_source(each), *_because(each), *next_]


def _opportunity_told(each: Shape) -> tuple[str, list[str]]:
    return _joined(each["factor"] or each["entry"], each["result_kind"]), [
        f"{each['benefit']}; costs {each['regression']}; uncertain: {each['uncertainty']}",
        f"for {', '.join(each['workloads'])}; next: {each['next']}",
    ]


def _approved(each: Shape) -> tuple[str, list[str]]:
    until = f"{'expired' if each['expired'] else 'until'} {each['until']}"
    return _joined(each["approves"], until), [f"{each['entry']} by {', '.join(each['owners'])}"]


def _corrected(each: Shape) -> tuple[str, list[str]]:
    return f"{each['corrects']}, put right by {each['entry']}", _because(each)


def _disagreement(each: Shape) -> tuple[str, list[str]]:
    return f"{each['subject']}: {' against '.join(each['entries'])}", []


def _test(each: Shape) -> tuple[str, list[str]]:
    waits = f"after {', '.join(each['waits_for'])}: " if each["waits_for"] else ""
    return _joined(each["factor"], each["change"], f"({each['source']})"), [f"{waits}{each['what']}"]


_SECTIONS: tuple[tuple[str, Callable[[Shape], tuple[str, list[str]]], str], ...] = (
    ("tips disagree: deployment waits for hio ledger merge", _disagreement, "disagreements"),
    ("accepted", _measured_told, "accepted"),
    ("excluded", _measured_told, "excluded"),
    ("failed runs", _failed, "failed_runs"),
    ("attempts that never stood", _attempted, "attempts"),
    ("decisions", _decision, "decisions"),
    ("opportunities", _opportunity_told, "opportunities"),
    ("approvals", _approved, "approvals"),
    ("corrections", _corrected, "corrections"),
    ("to be tested, the next one first", _test, "retests"),
)
"""Title, how one thing of the section is told, key of the shape; in the order of the page."""
