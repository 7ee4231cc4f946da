"""A plan that needs a number which the server of an arm does not report.

llama-server says with each answer how long its prompt and its tokens took. vLLM and SGLang do not: a plan that decides by
`decode_tps` or `prefill_tps`, or bounds it, would find no such column after its last leg. The client sees `tpot_ms`,
`itl_ms`, `ttft_ms` and `wall_s` of every server. How many prompt tokens came from a cache they say only where they are told
to; without that nobody can show that a cold leg was cold (contract 6.2), and its run stays a draft: a gate. A plan that a run has pinned is frozen and not
judged.

How to fix: decide by `tpot_ms` (with `ttft_ms` as a bound); set `enable-prompt-tokens-details` (vLLM) or
`enable-cache-report` (SGLang) in the stack.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Path, Severity
from hio_validate.evidence.design import settings_of
from hio_validate.evidence.dialects import dialects_of
from hio_validate.evidence.metrics import TIMED_BY_SERVER
from hio_validate.models.plan import Plan
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.rules.planned import is_open
from hio_validate.settings.request import Dialect


def check(item: Item, view: View) -> Iterator[Problem]:
    plan: Plan = item.model
    if plan.method != "http" or not is_open(item, view):
        return
    dialects = dialects_of(item, view.repo)
    silent = {dialect.family: arm for arm, dialect in dialects.items() if not dialect.times_itself}
    for path, metric in _metrics(plan):
        if silent and metric in TIMED_BY_SERVER:
            family, arm = next(iter(silent.items()))
            yield Problem(
                at(item, *path),
                f"{metric} comes from the server's own times, and {family}, which serves {arm}, reports none",
                f"take what the client sees: {'tpot_ms' if metric == 'decode_tps' else 'ttft_ms'}",
            )
    yield from _uncounted(item, plan, dialects, view)


def _metrics(plan: Plan) -> Iterator[tuple[Path, str]]:
    yield ("decide", "metric"), plan.decide.metric
    for number, bound in enumerate(plan.decide.bounds):
        yield ("decide", "bounds", number, "metric"), bound.metric


def _uncounted(item: Item, plan: Plan, dialects: dict[str, Dialect], view: View) -> Iterator[Problem]:
    """The arms of which nobody will know how many prompt tokens came from a cache, together."""
    silent = [name for name, dialect in dialects.items() if not _counts_cached(name, item, dialect, view)]
    if silent:
        yield Problem(
            at_key(item, "arms"),
            f"the server of {' and of '.join(silent)} does not say how many prompt tokens come from a cache, so "
            f"nobody can show that its legs were {plan.cache}",
            f'add ["--{dialects[silent[0]].counts_cached_where}"] to the argv of its stack',
            severity=Severity.GATE,
        )


def _counts_cached(name: str, item: Item, dialect: Dialect, view: View) -> bool:
    """Whether an arm's server says it; one whose settings nobody can read is not judged."""
    effective = settings_of(item.model.arms[name], item.service, view.repo, view.settings)
    switch = dialect.counts_cached_where
    if switch is None or effective is None:
        return True
    return any(each.factor == switch and each.value == "on" for each in effective.settings.values())


RULE = Rule(
    "unreported-number", Scope.DOCUMENT, Severity.ERROR, "a plan needs a number that a server does not report", check,
    kinds=("plan/v1",), contract=("6.1", "6.2"), since=6,
)  # fmt: skip
