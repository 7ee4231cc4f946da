"""An entry that decides or publishes a number and pins no run.

"Threads 4 is 6 % faster" without the run is a rumour: nobody can tell which two arms were compared, whether
they differed in this setting alone (contract 3.5), or compute the number again. An increment or a negative
control therefore pins the run that measured it, and so does a decision that publishes a result (contract
1.4). A failed run stays on record (contract 6.7): it pins what was kept of it, or says in `because` what was
seen.

History from before hio (`imported: true`) may honestly have no rows any more: there it is a gate, because
such an entry may be recorded and never carries a deployment.

How to fix: add `pins: {run: "<name>@sha256:<digest>"}` with the digest that `sha256sum` prints for the run's
run.yaml. If nothing was measured, it is no increment: record an entry of kind `decision` without a result.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.entry import Decision, FailedRun, Increment, NegativeControl
from hio_validate.repo import Item, pin_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key


def check(item: Item, view: View) -> Iterator[Problem]:
    entry = item.model
    if pin_of(item, "run") is not None:
        return
    severity = Severity.GATE if entry.imported else None
    if isinstance(entry, Increment | NegativeControl):
        yield Problem(
            at_key(item, "pins") if entry.pins else at(item, "factor"),
            f"this {entry.kind} pins no run, so nobody can check what it says about {entry.factor}",
            'add pins: {run: "<name>@sha256:<digest>"}, the digest of its run.yaml',
            severity=severity,
        )
    elif isinstance(entry, Decision) and entry.result is not None:
        yield Problem(
            at_key(item, "result"),
            f"a change of {entry.result.metric} is published here and no run is pinned",
            'add pins: {run: "<name>@sha256:<digest>"}, the digest of its run.yaml',
            severity=severity,
        )
    elif isinstance(entry, FailedRun) and entry.because is None:
        yield Problem(
            at(item, "hazard"),
            f"a trial ended by {entry.hazard} that pins no run and does not say what was seen",
            "pin what was kept of it, or write because: what was seen",
            severity=severity,
        )


RULE = Rule(
    "unpinned-evidence", Scope.DOCUMENT, Severity.ERROR, "an entry relies on evidence it does not pin", check,
    kinds=("entry/v1",), contract=("1.4", "3.5"), suppressible=False,
)  # fmt: skip
