"""A plan that asks its measuring method for what that method cannot do.

`http` sends the plan's fixture to a server and needs `fixture` and `requests`; `llama-bench` has prompts of its own and
needs `bench`. Each measures its own metrics, and every metric has one direction: deciding by `decode_tps` with
`better: lower` would call the slower arm the winner (contract 4.4, 6.5).

How to fix: give the method what it needs, take away what it does not use, and decide by a metric that it measures.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.evidence.metrics import METRICS
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key

_OF_BENCH = "bench_"
"""What the metrics of llama-bench begin with; no other does."""


_KEYS: dict[str, tuple[list[str], list[str]]] = {
    "http": (["fixture", "requests"], ["bench"]),
    "llama-bench": (["bench"], ["fixture", "requests", "checks", "quality"]),
}
"""Method -> the keys it needs, and those that mean nothing to it."""


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    needs, strange = _KEYS[plan.method]
    for key in needs:
        if getattr(plan, key) is None:
            yield Problem(
                at_key(item, "method" if "method" in item.document.data else "name"),
                f"{plan.method} needs {key}, which this plan does not give",
                f"add {key}:",
            )
    for key in strange:
        if getattr(plan, key):
            yield Problem(
                at(item, key), f"{plan.method} does not use {key}", "remove it, or choose the other method"
            )
    yield from _metrics(item, plan)
    if plan.decide.better != METRICS[plan.decide.metric].better:
        yield Problem(
            at(item, "decide", "better"),
            f"of {plan.decide.metric} the {METRICS[plan.decide.metric].better} is the better, not the {plan.decide.better}",
            f"write better: {METRICS[plan.decide.metric].better}",
        )


def _metrics(item: Item, plan: Plan) -> Iterator[Problem]:
    """The metrics that the method does not measure, or was not asked for."""
    asked: list[tuple[Path, str]] = [(("decide", "metric"), plan.decide.metric)]
    asked += [(("decide", "bounds", at_), each.metric) for at_, each in enumerate(plan.decide.bounds)]
    for path, metric in asked:
        if metric.startswith(_OF_BENCH) != (plan.method == "llama-bench"):
            mine = [name for name in METRICS if name.startswith(_OF_BENCH) == (plan.method == "llama-bench")]
            yield Problem(
                at(item, *path), f"{plan.method} does not measure {metric}", f"it measures {', '.join(mine)}"
            )
        elif plan.bench and not _tokens(plan, metric):
            yield Problem(
                at(item, *path),
                f"the bench makes no tokens for {metric}",
                "ask for tokens of that test in bench:",
            )


def _tokens(plan: Plan, metric: str) -> int:
    """Tokens of the llama-bench test behind a metric."""
    if plan.bench is None or plan.method != "llama-bench":
        return 1
    return plan.bench.prompt_tokens if metric == "bench_prefill_tps" else plan.bench.generated_tokens


RULE = Rule(
    "mismatched-method", Scope.DOCUMENT, Severity.ERROR, "a plan asks its method for what it cannot measure", check,
    kinds=("plan/v1",), contract=("4.4", "6.5"), since=3,
)  # fmt: skip
