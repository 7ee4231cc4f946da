"""A campaign on a page: what each cell would do, what speaks against it, how far it has come; text and JSON (version 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hio_validate.campaigns.prospect import CampaignProspect, CellProspect
from hio_validate.diagnostic import Report, Severity
from hio_validate.execute.campaigns import Standing
from hio_validate.models.campaign import Campaign
from hio_validate.quantity import counted, span
from hio_validate.report.json_ import summary_and_findings
from hio_validate.report.paragraph import paragraph
from hio_validate.report.refusals import refusals
from hio_validate.report.table import table
from hio_validate.report.visible import visible


def as_shape(found: CampaignProspect, report: Report | None, exit_code: int) -> dict[str, Any]:
    """The page as versioned data."""
    return {
        "version": 1,
        "campaign": found.item.name,
        "service": found.item.service,
        "file": found.item.file,
        "digest": found.item.document.digest,
        "question": found.model.question,
        "run_id": found.run_id,
        "begun": found.begun.at if found.begun else None,
        "record": found.record.file if found.record else None,
        "cells": [_cell(each, found.coverage) for each in found.cells],
        "coverage": list(found.coverage),
        "acts": {act: list(of) for act, of in found.acts.items()},
        "longest_s": found.longest_s,
        "refused": found.refused,
        **(summary_and_findings(report) if report is not None else {}),
        "exit_code": exit_code,
    }


def _cell(each: CellProspect, coverage: Sequence[str]) -> dict[str, Any]:
    plan = each.plan
    return {
        "cell": each.name,
        "plan": each.cell.plan,
        "engine": each.cell.engine,
        "regime": each.cell.regime,
        "run": each.standing.run,
        "state": each.standing.state,
        "why": each.standing.why or None,
        "required": each.name in coverage,
        "order": list(plan.plan.order) if plan else None,
        "longest_s": plan.longest_s if plan else None,
        "stops": plan.stops if plan else None,
        "approvals": [
            {"approves": one.approves, "entry": one.entry, "missing": one.missing or None}
            for one in (plan.approvals if plan else ())
        ],
        "refused": list(each.refused),
    }


_BY_A_RULE = re.compile(r"\[[a-z-]+\]$")


def render(found: CampaignProspect, width: int = 80, *, judged: bool = False) -> str:
    """The page as text. `judged`: a report of the rules stands below it, so that what they found is not told twice."""
    model = found.model
    parts = [
        paragraph(f"{found.item.name}: a campaign of {found.item.service}", width)
        + paragraph(model.question, width),
        table(list(_facts(found)), width),
        "cells\n"
        + table(
            [_row(each) for each in found.cells],
            width,
            ("  cell", "state", "its run" if found.record else "what it does"),
            True,
        ),
    ]
    if found.record is not None:
        return "\n".join(parts)
    against = [each for each in found.refused if not (judged and _BY_A_RULE.search(each))]
    parts += ["what speaks against it\n" + refusals(against, width)] if against else []
    return "\n".join(parts)


def next_step(found: CampaignProspect, report: Report, width: int = 80) -> str:
    """What to type now: one paragraph."""
    name = found.item.name
    if found.record is not None:
        said = f"hio champion {name}; it has run, so that a new question is a new campaign"
    elif report.exit_code or found.refused:
        said = f"mend what speaks against it, then hio campaign check {name}"
    elif any(each.rule == "unknown-noise" for each in report.of(Severity.GATE)):
        said = (
            f"hio plan new --a-a{_fixture(found)}, run it, and name its run in decide.noise of every plan; without it no "
            f"cell becomes a VERDICT. hio campaign run {name} runs the cells all the same"
        )
    elif report.of(Severity.GATE):
        said = f"close the gates, which keep a champion from being named; hio campaign run {name} runs it all the same"
    else:
        said = f"hio campaign run {name} --yes"
    return "\n" + paragraph(f"next: {said}", width)


def _fixture(found: CampaignProspect) -> str:
    """The option that names what the A-A experiment asks, where that is one fixture."""
    asked = {each.plan.plan.fixture for each in found.cells if each.plan is not None}
    only = asked.pop() if len(asked) == 1 else None
    return f" --fixture {visible(only)}" if only else ""


def _facts(found: CampaignProspect) -> Iterator[tuple[str, str]]:
    model = found.model
    yield "run id", found.run_id + (f", begun {found.begun.at}" if found.begun else "")
    stacks = model.baseline.stack if model.baseline else None
    yield "baseline", f"{stacks or 'unknown'}: measured again in every cell"
    if model.focus:
        yield "focus", f"{model.focus.metric}, {model.focus.better} is better"
    has = "has" if len(found.coverage) == 1 else "have"
    yield "coverage", f"{', '.join(found.coverage)} {has} to be complete for a champion"
    scope = model.scope
    yield "quantisation", ", ".join(scope.quantisation) or "not touched"
    yield "speculation", ", ".join(scope.speculation) or "not touched"
    acts = "; ".join(f"{act} for {', '.join(of)}" for act, of in found.acts.items())
    yield "acts", acts or "none beyond measuring"
    if found.record is not None:
        yield "recorded", found.record.file
        return
    left = len(found.left)
    yield (
        "at most",
        f"{span(found.longest_s)} for the {counted(left, 'cell')} that {'is' if left == 1 else 'are'} left, restorations aside",
    )


def _row(each: CellProspect) -> tuple[str, str, str]:
    plan = each.plan
    if plan is None:
        return f"  {each.name}", "unreadable", f"its plan {each.cell.plan} cannot be read"
    if not each.standing.is_open:
        return f"  {each.name}", each.standing.state, each.standing.why or each.standing.run
    stops = f"stops {plan.stops}" if plan.stops else "stops nothing"
    missing = sum(1 for one in plan.approvals if one.missing)
    lacks = f"; {counted(missing, 'approval')} missing" if missing else ""
    arms = ", ".join(plan.plan.arms)
    said = f"{each.cell.plan}: {counted(len(plan.plan.order), 'leg')} of {arms}, at most {span(plan.longest_s)}; {stops}{lacks}"
    return f"  {each.name}", each.standing.state, each.standing.why or said


def progress_line(number: int, of: int, standing: Standing, said: str) -> str:
    """What happens to a cell, in a line."""
    return f"cell {number} of {of}, {visible(standing.cell)}: {visible(said)}\n"


def outcome(
    run_id: str, model: Campaign, standings: Sequence[Standing], record: str | None, width: int
) -> str:
    """How every cell ended."""
    rows = [(f"  {each.cell}", each.state, each.why or each.run) for each in standings]
    where = f"recorded in {record}" if record else "not over yet: nothing is recorded of the campaign itself"
    return f"{visible(run_id)}: {counted(len(model.cells), 'cell')}\n{table(rows, width, whole=True)}{visible(where)}\n"


def outcome_shape(
    run_id: str, campaign: str, standings: Sequence[Standing], record: str | None, exit_code: int
) -> dict[str, Any]:
    """The same as versioned data."""
    return {
        "version": 1,
        "campaign": campaign,
        "run_id": run_id,
        "record": record,
        "cells": [
            {"cell": each.cell, "run": each.run, "state": each.state, "why": each.why or None}
            for each in standings
        ],
        "exit_code": exit_code,
    }
