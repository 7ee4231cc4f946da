"""The sections of a report about a campaign: regimes, cells, gates, then every cell's run as a report of its own tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.quantity import change, measured
from hio_validate.repo import name_of
from hio_validate.report.prose import bullets, command, fitted, paragraph, text
from hio_validate.report.published import sections
from hio_validate.report.published.sections import Section
from hio_validate.settings.value import text_of

Shape = dict[str, Any]

_OF_A_CELL: Sequence[Section] = (
    ("measurements", sections.measurements),
    ("individual observations", sections.observations),
    ("quality gate", sections.quality),
    ("what was not measured", sections.not_measured),
    ("failed and invalid", sections.failed),
    ("conditions of the tier", sections.conditions),
    ("identity", sections.identity),
    ("restoration", sections.restoration),
)


def _regimes(shape: Shape) -> list[str]:
    rows = []
    for each in shape["regimes"]:
        winner = each["winner"]
        if winner is None:
            rows.append(
                [text(each["regime"]), "-", "-", f"keep {text(shape['keeps'] or 'the previous one')}"]
            )
            continue
        values = f"{measured(winner['from'])} -> {measured(winner['to'], winner['unit'])}, {change(winner['change_percent'])}"
        rows.append(
            [
                text(each["regime"]),
                text(winner["cell"]),
                text(f"{winner['metric']} {values}"),
                text(_configuration(winner)),
            ]
        )
    near = [
        f"{each['regime']}: {each['winner']['cell']} is not told apart from {', '.join(each['not_told_apart'])}"
        for each in shape["regimes"] if each["winner"] and each["not_told_apart"]
    ]  # fmt: skip
    count, scope = shape["configurations"], shape["scope"]
    won = any(each["winner"] for each in shape["regimes"])
    scope = f"{'best of the ' if won else ''}{count} configurations measured in this scope: {scope}"
    return [fitted(("regime", "cell", "measured", "configuration"), rows), bullets(map(text, [*near, scope]))]


def _configuration(won: Shape) -> str:
    changed = ", ".join(f"{name} {text_of(value)}" for name, value in won["set"].items())
    return name_of(won["stack"]) + (f" with {changed}" if changed else "")


def _cells(shape: Shape) -> list[str]:
    rows = [
        [text(each["cell"]), text(each["regime"]), each["tier"] or "-", each["result"] or "not run"]
        for each in shape["cells"]
    ]
    why = [
        f"{each['cell']} is not the champion: {'; '.join(each['against'])}"
        for each in shape["cells"]
        if each["against"]
    ]
    runs = [f"{each['cell']}: run {each['run']}" for each in shape["cells"] if each["run"]]
    return [fitted(("cell", "regime", "tier", "result"), rows), bullets(map(text, [*why, *runs]))]


def _gates(shape: Shape) -> list[str]:
    missed = [f"missed: {each['reason']}: {each['said']}" for each in shape["gates"] if not each["met"]]
    met = [f"{each['gate']}: {each['said']}" for each in shape["gates"] if each["met"]]
    return [bullets(map(text, [*missed, *met]))]


def _decided(shape: Shape) -> list[str]:
    said = [
        f"{each['kind']} {each['entry']}, by {each['by']}, {each['at']}: {each['because'] or 'no reason was given'}"
        for each in shape["decisions"]
    ]
    return [bullets(map(text, said or ["no entry of the ledger stands on a run of this campaign"]))]


def _each_cell(shape: Shape) -> list[str]:
    parts = []
    for each in shape["cells"]:
        report = each["report"]
        if report is None:
            parts += [f"### {text(each['cell'])}: not run", paragraph(text(f"{'; '.join(each['against'])}."))]
            continue
        for heading, told in _OF_A_CELL:
            found = told(report)
            parts += [f"### {text(each['cell'])}: {heading}", *found] if found else []
    return parts


def _left(shape: Shape) -> list[str]:
    parts = sections.left({**shape, "next": None})
    if shape["next"] and not shape["decisions"]:
        parts += [paragraph("To accept what won:"), command(*shape["next"])]
    return parts


SECTIONS: Sequence[Section] = (
    ("Gaps", sections.gaps),
    ("What serves now", sections.serving),
    ("Champion", _regimes),
    ("Cells", _cells),
    ("Gates of a champion", _gates),
    ("Decisions", _decided),
    ("Every cell", _each_cell),
    ("Rollback", sections.way_back),
    ("What is left", _left),
    ("Evidence", sections.evidence),
)
"""In the order of the page."""
