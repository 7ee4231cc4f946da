"""What to type for an estimate: the question as `hio estimate` is asked it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from hio_validate.estimating.bounds.asked import stated_in
from hio_validate.models.estimate import Amount, Estimate, EstimateTarget, Workload
from hio_validate.repo import name_of


def command(
    service: str, workload: Workload, target: EstimateTarget, *,
    documents: Iterable[tuple[str, str]] = (), stated: Mapping[str, Amount] | None = None, ask: Iterable[str] = (),
) -> str:  # fmt: skip
    """One line. `documents`: (option, name) of those that are named; `ask`: what a person is to state in the place of N (asked.STATED)."""
    words = [name_of(workload.stack), "--service", service]
    words += ["--fixture", name_of(workload.fixture)] if workload.fixture else []
    words += ["--metric", target.metric]
    words += ["--goal", _number(target.goal)] if target.goal is not None else []
    words += ["--concurrency", str(workload.concurrency)] if workload.concurrency > 1 else []
    words += ["--cache", workload.cache] if workload.cache != "cold" else []
    words += [word for option in documents for word in option]
    asked = [*dict.fromkeys(ask)]
    for name, said in (stated or {}).items():
        words += ["--assume", f"{name}={_amount(said)}"] if name not in asked else []
    words += [word for name in asked for word in ("--assume", f"{name}=N")]
    return shlex.join(["hio", "estimate", *words])


def of_kept(estimate: Estimate) -> str:
    """The question that a kept estimate answers, of the very documents that it pins."""
    documents = [("--ceilings", name_of(pin)) for pin in estimate.ceilings]
    documents += [("--shape", name_of(estimate.workload.shape))] if estimate.workload.shape else []
    documents += [("--run", name_of(estimate.baseline.run))] if estimate.baseline else []
    documents += [("--profile", name_of(estimate.profile))] if estimate.profile else []
    return command(
        estimate.service, estimate.workload, estimate.target, documents=documents, stated=stated_in(estimate)
    )


def _amount(said: Amount) -> str:
    """As `--assume` reads it (context/stated.py): what is between two ends is their middle."""
    ends = _number(said.low) if said.low == said.high else f"{_number(said.low)}..{_number(said.high)}"
    return ends + ("" if said.unit == "1" else said.unit)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)
