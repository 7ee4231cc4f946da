"""Writes docs/guide/predictions.md: what hio estimate says of each arm of this repository's runs, beside what was measured.

    python docs/predictions.py [--check] [ROOT]      --check only compares

Reads documents alone: runs, stacks, shapes, ceilings. An arm that changes settings of its stack is estimated with them.
"""  # fmt: skip

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hio_validate.costs.units import base  # noqa: E402
from hio_validate.estimating.bounds.ledger import bound_of, terms_of  # noqa: E402
from hio_validate.estimating.context.cannot import CannotEstimate  # noqa: E402
from hio_validate.estimating.context.gather import inputs_of  # noqa: E402
from hio_validate.estimating.context.inputs import Inputs  # noqa: E402
from hio_validate.estimating.context.recorded import rows_asked  # noqa: E402
from hio_validate.evidence.averages import median  # noqa: E402
from hio_validate.evidence.case import Case  # noqa: E402
from hio_validate.evidence.raw import is_unknown, number  # noqa: E402
from hio_validate.evidence.trials import pinned  # noqa: E402
from hio_validate.evidence.workload import cache_of, concurrency_of  # noqa: E402
from hio_validate.execute.arms import NotStartable, with_delta  # noqa: E402
from hio_validate.history import Folder  # noqa: E402
from hio_validate.models.estimate import Amount, MeasuredBaseline  # noqa: E402
from hio_validate.repo import Item, load  # noqa: E402
from hio_validate.rules.base import View  # noqa: E402
from hio_validate.settings.value import text_of  # noqa: E402
from hio_validate.source.document import Document  # noqa: E402

METRICS = {"decode_tps": "Decode", "prefill_tps": "Prefill"}
"""Metric -> heading of its table; each a rate, so that the bound is above what is measured."""
PAGE = "docs/guide/predictions.md"


@dataclass(frozen=True)
class Row:
    """One arm of one run, for one metric."""

    run: str
    arm: str
    metric: str
    bound: Amount | None = None
    measured: MeasuredBaseline | None = None
    longest: str = ""
    lacks: tuple[str, ...] = ()

    @property
    def factor(self) -> float | None:
        """How many times the predicted rate is the measured one; None where either is missing or the measured is 0."""
        if self.bound is None or self.measured is None or not self.measured.value:
            return None
        return self.bound.value / self.measured.value

    @property
    def is_refuted(self) -> bool:
        """Whether the arm was faster than even the upper end of its bound allows."""
        return self.bound is not None and self.measured is not None and self.measured.value > self.bound.high


def rows_of(view: View) -> Iterator[Row]:
    """Every arm of every run, in the order of the runs' names."""
    for run in sorted(view.repo.of("run/v1"), key=lambda item: (item.service or "", item.name)):
        case = Case(run, view)
        for arm in run.model.arms:
            for metric in METRICS:
                if metric in run.model.columns:
                    yield _row(view, case, arm, metric)


def _row(view: View, case: Case, arm: str, metric: str) -> Row:
    run = case.run
    stack = _stack_of(view, case, arm)
    if isinstance(stack, str):
        return Row(run.name, arm, metric, lacks=(stack,))
    fixture = case.fixture
    if fixture is not None and view.repo.find("fixture/v1", fixture, run.service) is None:
        fixture = None
    try:
        inputs = inputs_of(view, run.service or "", stack, fixture=fixture, metric=metric, run=run.name,
                           concurrency=concurrency_of(case) or 1, cache=cache_of(case) or "cold")  # fmt: skip
    except CannotEstimate as error:
        return Row(run.name, arm, metric, lacks=(_of_the_arm(str(error), arm),))
    return _predicted(inputs, case, arm, metric)


def _of_the_arm(sentence: str, arm: str) -> str:
    """Of a refusal that names every arm of the run, the part about one."""
    parts = sentence.partition(" is no baseline of this workload: ")[2].split(" | ")
    return next((part.removeprefix(f"{arm}: ") for part in parts if part.startswith(f"{arm}: ")), sentence)


def _predicted(inputs: Inputs, case: Case, arm: str, metric: str) -> Row:
    run = case.run.name
    ledger = terms_of(inputs)
    bound = bound_of(ledger, inputs)
    measured = _measured(inputs.baseline, case, arm, metric)
    if bound is not None and bound.metric is not None and measured is not None:
        longest = max(ledger.terms, key=lambda term: base(term.time).value)
        by = "" if longest.resource == longest.name else f" ({longest.resource})"
        return Row(run, arm, metric, bound.metric, measured, f"{longest.name}{by}")
    lacks = [each for each in (*inputs.missing, *ledger.missing) if not each.startswith("a profile of ")]
    if measured is None:
        lacks.append("no leg of this arm that counts has this metric")
    return Row(run, arm, metric, None, measured, lacks=tuple(dict.fromkeys(lacks)))


def _measured(found: MeasuredBaseline | None, case: Case, arm: str, metric: str) -> MeasuredBaseline | None:
    """The numbers of this arm alone: where a run measured one stack twice, an estimate takes the legs of both."""
    if found is None:
        return None
    legs = case.values(arm, metric)
    rows = [number(row, metric) for row in rows_asked(case, arm) if not is_unknown(row, metric)]
    if not legs or not rows:
        return None
    return found.model_copy(update={"arm": arm, "value": median(rows), "low": min(legs), "high": max(legs)})


def _stack_of(view: View, case: Case, arm: str) -> Item | str:
    """The stack that an arm had, its changes included; a sentence where its bytes are not the pinned ones any more."""
    said = case.arm(arm)
    item = pinned(view.repo, "stack/v1", said.stack, case.run.service)
    if item is None:
        return f"its stack {said.stack.partition('@')[0]} has other bytes now than it pinned"
    delta = {name: text_of(value) for name, value in said.set.items()}
    if not delta:
        return item
    try:
        changed = with_delta(item.model, delta, view.settings)
    except NotStartable as error:
        return str(error)
    # Another file name: settings are remembered by it.
    document = Document(f"{item.file}#{case.run.name}.{arm}", item.document.raw, item.document.data)
    return item._replace(document=document, model=changed)


def page(root: Path) -> str:
    """The Markdown page."""
    view = View(load(Folder(root)))
    rows = list(rows_of(view))
    known = [row for row in rows if row.factor is not None]
    parts = [
        "# Predictions\n\n"
        "What `hio estimate` says of each arm of this repository's runs, beside what was measured. Written by "
        "`python docs/predictions.py` from committed documents; `--check` compares.\n\n"
        "A prediction is a bound: no way of running this on that host can be faster than its ceilings allow. Factor = "
        "predicted by measured: 1.3 means that 30 % more were possible at best; below 1, the arm was faster than the "
        "best guess of its bound, and **refuted** where it was faster than the bound's upper end.",
        f"Not counted: what stands between the kernels (norms, activations, the waiting of threads for each other), and that "
        f"{_not_counted(view)}.",
        _summary(rows, known),
    ]
    for metric, heading in METRICS.items():
        mine = [row for row in known if row.metric == metric]
        if mine:
            parts.append(f"## {heading}\n\n{_table(mine)}")
    lacking = [row for row in rows if row.factor is None]
    if lacking:
        parts.append(f"## Not predicted\n\n{_lacking(lacking)}")
    return "\n\n".join(parts) + "\n"


def _not_counted(view: View) -> str:
    """What is not known of passes with several tokens: less where products were measured by number of vectors."""
    measured = (item.model for item in view.repo.of("ceilings/v1") if item.model is not None)
    rates = [rate for each in measured if each.engine for rate in each.rates.values()]
    if any((rate.vectors or 1) > 1 for rate in rates):
        return (
            "kernels work in tiles of vectors, so that a pass of a number of tokens that `hio probe engine` did not measure "
            "may take longer than the numbers beside it say"
        )
    return (
        "kernels reach less with a few vectors (a short prompt, the drafted tokens of a pass) than with the many of the "
        "products that were measured"
    )


def _summary(rows: Sequence[Row], known: Sequence[Row]) -> str:
    if not known:
        return f"None of {len(rows)} has what a prediction takes yet."
    factors = sorted(row.factor for row in known if row.factor is not None)
    within = sum(1 / 1.5 <= factor <= 1.5 for factor in factors)
    refuted = sum(row.is_refuted for row in known)
    return (
        f"{len(known)} of {len(rows)} predicted: factors {factors[0]:.2f} to {factors[-1]:.2f}, {within} within 1.5; "
        f"{refuted} refuted."
    )


def _table(rows: Sequence[Row]) -> str:
    head = "| Run | Arm | Predicted (interval), token/s | Measured (legs), token/s | Factor | Longest term |\n|---|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {row.run} | {row.arm} | {_number(row.bound)} | {_number(row.measured)} | "
        f"{row.factor:.2f}{' **refuted**' if row.is_refuted else ''} | {row.longest} |"
        for row in rows
    )


def _number(amount: Amount | MeasuredBaseline | None) -> str:
    return "" if amount is None else f"{amount.value:.1f} ({amount.low:.1f} to {amount.high:.1f})"


def _lacking(rows: Sequence[Row]) -> str:
    """Rows that lack the same stand together, by run."""
    found: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for row in rows:
        arms = found.setdefault(row.lacks, {}).setdefault(row.run, [])
        other = f"{row.arm} ({METRICS['decode_tps'].lower()})"
        if row.metric == "prefill_tps" and other in arms:
            arms[arms.index(other)] = row.arm
        else:
            arms.append(f"{row.arm} ({METRICS[row.metric].lower()})")
    return "\n".join(
        f"- {'; '.join(lacks)}:\n" + "\n".join(f"  - {run}: {', '.join(arms)}" for run, arms in runs.items())
        for lacks, runs in found.items()
    )


def main(words: Sequence[str]) -> int:
    """Write the page, or compare it; exit 1 where it is stale."""
    root = Path(next((word for word in words if not word.startswith("--")), ROOT))
    wanted, file = page(root), root / PAGE
    stale = not file.is_file() or file.read_text(encoding="utf-8") != wanted
    if "--check" in words:
        print(f"{PAGE}: not up to date; run python docs/predictions.py" if stale else f"{PAGE}: up to date")
        return int(stale)
    if stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(wanted, encoding="utf-8")
    print(f"{PAGE}: {'written' if stale else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
