"""What came of a campaign on one page: the champion or what is kept, why, and where it holds; text and JSON (version 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.cell_result import CellResult
from hio_validate.evidence.champion import Champion, Regime
from hio_validate.evidence.comparison import Comparison
from hio_validate.evidence.outcome import Condition
from hio_validate.quantity import change, from_to
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table
from hio_validate.report.visible import visible
from hio_validate.settings.secrets import WITHHELD, says_secret
from hio_validate.settings.value import text_of


def render(found: Champion, width: int = 80) -> str:
    """The page as text: the answer first, then the cells, then the gates."""
    said = [*answer(found)]
    if found.is_measured and not found.is_recorded:
        said.append(
            f"not recorded yet: hio campaign run {found.campaign.name} --yes goes on, --close ends it"
        )
    parts = ["".join(paragraph(line, width) for line in said)]
    parts += ["cells\n" + table([_row(each) for each in found.cells], width, whole=True)]
    parts += [_conditions("missed", [each for each in found.gates if not each.met], width)]
    parts += [_conditions("met", [each for each in found.gates if each.met], width)]
    untested = [*found.untested]
    if found.untested_kinds:
        untested.append(f"kinds of tasks: {', '.join(found.untested_kinds)}")
    if untested:
        parts.append("untested\n" + "".join(paragraph(f"  {each}", width) for each in untested))
    return "\n".join(part for part in parts if part)


def answer(found: Champion) -> Iterator[str]:
    """What came of it, in the order in which a reader asks: what, why, for each regime, where it holds."""
    name = found.campaign.full_name
    if not found.is_measured:
        yield f"{name}: nothing was measured"
        yield f"keep {_baseline(found)}: no trial of any cell counts"
        return
    if not found.gates_met:
        yield f"{name}: no champion"
        missed = ", ".join(each.name for each in found.gates if not each.met)
        yield f"keep {_baseline(found)}: not met: {missed}"
        return
    if not found.winners:
        yield f"{name}: no improvement, keep the previous one: {_baseline(found)}"
    elif found.overall is not None:
        yield f"{name}: the champion is {configuration(found.overall)}"
    else:
        yield f"{name}: no single champion; one for each regime"
    for regime in found.regimes:
        yield f"{regime.name}: {_of_regime(found, regime)}"
    yield f"best of the {found.configurations} configurations measured in this scope: {found.scope}"


def _of_regime(found: Champion, regime: Regime) -> str:
    winner = regime.winner
    if winner is None or winner.best is None:
        return f"no improvement, keep {_baseline(found)}"
    best = winner.best
    near = f"; not told apart from {', '.join(regime.not_told_apart)}" if regime.not_told_apart else ""
    values = from_to(*best.medians, best.metric.unit)
    other = "".join(f"; {run} measured the same and shows {shown}" for run, shown in winner.otherwise)
    weights = "".join(
        f"; {each.sentence}" for each in winner.other_weights if each.candidate == best.candidate
    )
    return f"{configuration(winner)}, {best.metric.name} {values} ({change(best.change)}), by {winner.name}{weights}{near}{other}"


def configuration(winner: CellResult) -> str:
    """What won, in words: its stack with what is changed."""
    assert winner.run is not None and winner.best is not None
    arm = winner.run.model.arms[winner.best.candidate]
    changes = ", ".join(f"{name} = {text_of(value)}" for name, value in _shown(arm.set).items())
    return f"{arm.stack.partition('@')[0]}" + (f" with {changes}" if changes else "")


def _shown(delta: Mapping[str, Any]) -> dict[str, Any]:
    """What an arm sets; what is secret is withheld."""
    return {name: WITHHELD if says_secret(name) else value for name, value in delta.items()}


def gain_of(best: Comparison) -> str:
    """A metric and how it changed: decode_tps +20.18 %."""
    return f"{best.metric.name} {change(best.change)}"


def _baseline(found: Champion) -> str:
    said = found.campaign.model.baseline
    return said.stack if said is not None and said.stack else "what serves"


def _row(each: CellResult) -> tuple[str, str, str]:
    if each.best is not None and not each.against:
        best = each.best
        return (
            f"  {each.name}",
            each.regime,
            f"{gain_of(best)}, {best.candidate} is better",
        )
    return f"  {each.name}", each.regime, "; ".join(each.against)


def _conditions(title: str, conditions: list[Condition], width: int) -> str:
    if not conditions:
        return ""
    rows = [(f"  {each.name}", each.sentence) for each in conditions]
    return f"{title}, {len(conditions)}\n{table(rows, width)}"


def as_shape(found: Champion, exit_code: int) -> dict[str, Any]:
    """The page as versioned data; texts are as documents have them."""
    overall = found.overall
    return {
        "version": 1,
        "campaign": found.campaign.name,
        "service": found.campaign.service,
        "digest": found.campaign.document.digest,
        "result": _result(found),
        "recorded": found.is_recorded,
        "champion": _winner(overall) if overall is not None else None,
        "keeps": None if found.winners else _baseline(found),
        "regimes": [
            {
                "regime": each.name,
                "winner": _winner(each.winner) if each.winner is not None and found.gates_met else None,
                "not_told_apart": list(each.not_told_apart),
                "otherwise": [
                    {"run": run, "shows": shown}
                    for run, shown in (each.winner.otherwise if each.winner else ())
                ],
                "cells": [one.name for one in each.cells],
            }
            for each in found.regimes
        ],
        "cells": [_cell(each) for each in found.cells],
        "gates": [
            {"gate": each.name, "met": each.met, "reason": each.reason or None, "said": each.sentence}
            for each in found.gates
        ],
        "configurations": found.configurations,
        "scope": found.scope,
        "untested": found.untested,
        "task_kinds": {"measured": found.task_kinds, "untested": found.untested_kinds},
        "exit_code": exit_code,
    }


def _result(found: Champion) -> str:
    if not found.is_measured:
        return "nothing measured"
    if not found.gates_met:
        return "no champion"
    if found.overall is not None:
        return "champion"
    return "champion for each regime" if found.winners else "no improvement"


def _cell(each: CellResult) -> dict[str, Any]:
    judged = each.verdict
    return {
        "cell": each.name,
        "regime": each.regime,
        "run": each.run.name if each.run is not None else None,
        "tier": str(judged.tier) if judged is not None else None,
        "result": str(judged.result) if judged is not None else None,
        "may_win": each.may_win,
        "against": each.against,
    }


def _winner(winner: CellResult) -> dict[str, Any]:
    assert winner.run is not None and winner.best is not None
    best, arm = winner.best, winner.run.model.arms[winner.best.candidate]
    return {
        "cell": winner.name,
        "run": winner.run.name,
        "arm": best.candidate,
        "stack": arm.stack,
        "set": _shown(arm.set),
        "other_weights": next(
            (each.weights for each in winner.other_weights if each.candidate == best.candidate), None
        ),
        "metric": best.metric.name,
        "unit": best.metric.unit,
        "better": best.metric.better,
        "from": best.medians[0],
        "to": best.medians[1],
        "change_percent": best.change,
    }


def next_steps(found: Champion, service: str) -> list[str]:
    """The commands by which each winner enters the ledger."""
    return [
        f"hio ledger append increment --service {visible(service)} --from-run {visible(each.winner.run.name)}"
        for each in found.winners
        if each.winner is not None and each.winner.run is not None
    ]


def what_is_left(found: Champion) -> list[str]:
    """What to do where there is no champion yet; nothing where there is one, or none can be."""
    name = visible(found.campaign.name)
    if not found.is_measured:
        return [f"hio campaign check {name} says what it still needs, hio campaign run {name} --yes runs it"]
    if not found.gates_met:
        return [f"hio report {name} says what closes each gap"]
    return []
