"""What a report would have to leave open, each with what closes it (contract 10.6).

Invariant: every reason for which a verdict is refused has a remedy here (tests/report/published/test_gaps.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hio_validate.evidence.outcome import Result
from hio_validate.evidence.tiers import Verdict
from hio_validate.rests_on import Broken


class Gap(NamedTuple):
    """Something that a strict report needs and does not have."""

    id: str
    """Kebab-case; the reason of the verdict where it has one."""
    sentence: str
    """What is missing."""
    do: str
    """What to do about it."""


_AGAIN = "plan the question again and run it: hio plan new, hio plan check, hio run"
_BY_HIO = "measure it with hio run, which records it; what was not recorded then cannot be added now"

REMEDIES = {
    "workload-unknown": "name fixture, cache regime and lengths: run a plan that has a fixture",
    "no-plan": _AGAIN,
    "contradicts-plan": f"a changed plan is a new plan; {_AGAIN}",
    "imported": "measure it with hio run; what was measured elsewhere stays a draft",
    "stage-unknown": _BY_HIO,
    "screening": "plan the confirmation: hio plan new without --screening",
    "a-a-experiment": "report the experiment that uses it as its noise: decide: {noise: RUN}",
    "baseline-not-accepted": "accept the baseline first (hio ledger append baseline), then measure against it",
    "source-unknown": "learn the build with its source revision: hio engine learn",
    "delivery-unknown": "run it where hio may read the mapped files, so that their hashes are known",
    "no-identity": _BY_HIO,
    "too-few-trials": "plan at least three legs per arm",
    "not-restarted": "plan restart: every-leg, so that every leg is a process of its own",
    "host-unknown": _BY_HIO,
    "host-differs": "run all legs on one host",
    "order-unproven": _BY_HIO,
    "order-not-counterbalanced": "plan a balanced order, as hio plan new writes it",
    "regime-unlabelled": "name the cache regime in the plan: cache: cold or warm",
    "regime-unproven": "keep the column of cached tokens, and warm the cache where warm is planned",
    "no-quality-gate": "add a fixture with an expected result to the plan's checks, and measure again",
    "quality-gate-failed": "keep the arm whose answers are right; find out why the other's are not",
    "quality-not-shown": "ask more items, or plan the margin that so many can show: hio plan check says which",
    "work-differs": "make the arms do the same work (fixture, seed, sampling), or widen same_work in a new plan",
    "work-unproven": _BY_HIO,
    "instrumented": "measure again without the profiler; a profiled leg is no benchmark",
    "instruments-unknown": _BY_HIO,
    "not-completed": "keep it on record (hio ledger append failed-run), remove the cause, run the plan again",
    "no-raw-rows": "restore the recorded rows from git; without them there is no number",
    "rows-contradict-receipts": "restore the recorded rows from git: they are not what the client received",
    "no-log": _BY_HIO,
    "no-commands": _BY_HIO,
    "no-approval": "have the owner approve before the run: hio ledger append approval",
    "approval-expired": "have the owner approve again, then run the plan again",
    "not-restored": "prove that the service serves again: hio verify; then run the plan again",
    "no-samples": _BY_HIO,
    "sampling-hole": "run it again while nothing keeps hio from sampling the host",
    "noise-unknown": "measure the baseline against itself (hio plan new --a-a) and name it: decide: {noise: RUN}",
    "level-unreachable": "plan more legs, or the level that so few can reach",
    "not-the-planned-metric": "report the metric that the plan decides by",
    "inputs-missing": "write what hio campaign check names, then run it as a new campaign",
    "coverage-incomplete": "run the cells that are left: hio campaign run",
    "baseline-answers-wrong": "mend what serves first: a wrong baseline has no better candidate",
    "accuracy-unknown": "plan checks or a task set in every cell (quality: {tasks: ..., floor: ..., margin: ...}); other weights need the task set",
    "nothing-to-compare": "run the campaign: hio campaign run",
    "model-differs": "serve the same weights in the baseline of every cell, from files that hio may hash: other weights are a candidate",
    "baseline-differs": "measure the campaign's baseline in every cell",
    "baseline-program-differs": "measure all cells with one program; after a new build the baseline is measured again",
    "fixture-differs": "ask the same in all cells of a regime, or name another regime",
    "not-a-verdict": "close the gaps of its cells, which stand below",
    "out-of-scope": "declare it in the campaign's scope, before it is measured",
    "open-correctness-failure": "close the failure first: the same fixture has to pass",
    "not-recorded": "let it end, or end it as it stands: hio campaign run --close",
    "not-committed": "commit the run: git add, git commit, or hio checkpoint",
    "broken-evidence": "restore the recorded bytes from git; hio validate names every such file",
    Result.NOT_MEASURABLE.value.replace(" ", "-"): "find out why no trial counts, and run the plan again",
    Result.NOT_COMPARABLE.value.replace(" ", "-"): "compare arms that did the same work",
}
"""Gap -> what closes it."""


def gaps_of(judged: Verdict, broken: Sequence[Broken], is_committed: bool) -> list[Gap]:
    """Everything that keeps a report of this run from being strict; empty where nothing does."""
    return [
        Gap(id_, sentence, REMEDIES.get(id_, _AGAIN))
        for id_, sentence in _found(judged, broken, is_committed)
    ]


def gap(id_: str, sentence: str) -> Gap:
    """A gap with what closes it."""
    return Gap(id_, sentence, REMEDIES.get(id_, _AGAIN))


def _found(judged: Verdict, broken: Sequence[Broken], is_committed: bool) -> Iterator[tuple[str, str]]:
    for each in judged.reasons:
        is_short = each.reason == "not-completed"  # "the run does not say" says nothing alone
        yield each.reason, f"{each.name}: {each.sentence}" if is_short else each.sentence
    if judged.result in (Result.NOT_MEASURABLE, Result.NOT_COMPARABLE):
        yield judged.result.value.replace(" ", "-"), f"the result is: {judged.result}"
    yield from (("broken-evidence", f"{each.file}:{each.line}: {each.sentence}") for each in broken)
    if not is_committed:
        yield "not-committed", "git does not keep these bytes yet, so they could still be replaced"
