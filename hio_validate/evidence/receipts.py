"""The receipts of a run (contract 7.2): its end, raw rows, log, commands, approval, restoration, samples of the host.

Invariant: a receipt that is not kept is missed, and one that has expired or has a hole is no receipt.
"""

from __future__ import annotations

from collections.abc import Callable

from hio_validate.evidence.arrivals import UnreadableReceipts
from hio_validate.evidence.case import Case
from hio_validate.evidence.outcome import Condition
from hio_validate.evidence.raw import Row
from hio_validate.evidence.received import contradictions
from hio_validate.evidence.trials import pinned
from hio_validate.models.entry import Approval
from hio_validate.moment import moment
from hio_validate.repo import name_of


def receipts(case: Case) -> list[Condition]:
    """Every receipt, kept or missed."""
    return [check(case) for check in _RECEIPTS]


def _ended(case: Case) -> Condition:
    outcome = case.model.outcome
    if outcome == "completed":
        return Condition("ran to its end", "", "completed")
    why = f": {case.model.why}" if case.model.why else ""
    return Condition(
        "ran to its end", "not-completed", f"it was {outcome}{why}" if outcome else "the run does not say"
    )


def _raw(case: Case) -> Condition:
    if case.rows is None:
        return Condition(
            "raw rows", "no-raw-rows", "the raw rows cannot be read, or are not the recorded ones"
        )
    wrong = _contradiction(case, list(case.rows))
    if wrong:
        return Condition("raw rows", "rows-contradict-receipts", wrong)
    invalid = [trial for trial in case.trials if not trial.counted]
    kept = f", {len(invalid)} of their trials are invalid and kept" if invalid else ""
    return Condition("raw rows", "", f"{len(case.rows)} rows{kept}")


def _contradiction(case: Case, rows: list[Row]) -> str | None:
    """The first row that is not what the client received, in words."""
    try:
        found = next(contradictions(case.run, rows, case.known.repo), None)
    except UnreadableReceipts as error:
        return f"what the client received cannot be read: {error}"
    return f"line {found[0].line} of the rows: {found[1]}" if found else None


def _log(case: Case) -> Condition:
    if case.model.logs:
        return Condition("log", "", f"{len(case.model.logs)} kept")
    return Condition("log", "no-log", "no server log is kept beside it")


def _commands(case: Case) -> Condition:
    if case.model.commands:
        return Condition("commands", "", f"{len(case.model.commands)} kept")
    return Condition("commands", "no-commands", "the commands behind it are not kept")


def _approval(case: Case) -> Condition:
    name, needed = "approval", {"load-test"}
    if case.plan is not None and case.plan.serving.during == "stop":
        needed.add("stop-production")
    for pin in case.model.approvals:
        found = pinned(case.known.repo, "entry/v1", pin, case.run.service)
        if found is None or not isinstance(found.model, Approval):
            return Condition(
                name, "no-approval", f"{name_of(pin)} is no approval of the ledger with the pinned bytes"
            )
        if _last_moment(case) is None or moment(found.model.until) < moment(_last_moment(case) or ""):
            return Condition(
                name, "approval-expired", f"{name_of(pin)} had expired before the last leg ended"
            )
        needed.discard(found.model.approves)
    if needed:
        return Condition(name, "no-approval", f"no approval of kind {' and '.join(sorted(needed))} is pinned")
    return Condition(name, "", ", ".join(map(name_of, case.model.approvals)))


def _last_moment(case: Case) -> str | None:
    return case.model.legs[-1].ended if case.model.legs else case.model.ended


def _restoration(case: Case) -> Condition:
    stops = case.plan is not None and case.plan.serving.during == "stop"
    restored = case.model.restored
    if restored is not None and restored.proven:
        return Condition("restoration", "", f"{name_of(restored.stack)} serves again, proven")
    if restored is not None or stops:
        return Condition(
            "restoration", "not-restored", "nobody proved that the service which was stopped serves again"
        )
    if case.plan is None:
        return Condition("restoration", "not-restored", "nothing says whether a service had to be stopped")
    return Condition("restoration", "", "no service was stopped")


def _samples(case: Case) -> Condition:
    samples = case.model.samples
    if samples is None or samples.count == 0:
        return Condition("samples of the host", "no-samples", "nobody watched the host meanwhile")
    if case.plan is not None and samples.longest_gap_s > case.plan.limits.gap_s:
        said = f"{samples.longest_gap_s:g} s without a sample; the plan allows {case.plan.limits.gap_s:g} s"
        return Condition("samples of the host", "sampling-hole", said)
    return Condition("samples of the host", "", f"{samples.count}, longest gap {samples.longest_gap_s:g} s")


_RECEIPTS: tuple[Callable[[Case], Condition], ...] = (
    _ended, _raw, _log, _commands, _approval, _restoration, _samples,
)  # fmt: skip
