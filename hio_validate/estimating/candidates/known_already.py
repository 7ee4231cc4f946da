"""What the ledger of a service has decided: a value that was excluded or accepted is not proposed again (contract 8.1).

An entry whose run does not say which value it decided about excludes every value of the setting.
"""

from __future__ import annotations

from hio_validate.estimating.candidates.mechanism import Mechanism, Seen
from hio_validate.ledger import one_setting
from hio_validate.models.estimate import Workload
from hio_validate.repo import Item, Repo
from hio_validate.settings.value import text_of


def decided(seen: Seen, mechanism: Mechanism) -> str | None:
    """Why it is not proposed again, in a sentence; None where nobody decided about it here."""
    view, factor = seen.inputs.view, mechanism.factor
    if view is None or factor is None:
        return None
    ledger, workload = view.ledger(seen.inputs.service), seen.inputs.workload
    for entry in ledger.exclusions():
        if _is_about(view.repo, entry, factor, workload) and _value(view.repo, entry, factor) in (
            None,
            mechanism.to,
        ):
            return f"{mechanism.name}: {factor} is excluded by {entry.name}: not proposed again"
    for entry in ledger.accepted():
        if _is_about(view.repo, entry, factor, workload) and _value(view.repo, entry, factor) == mechanism.to:
            return f"{mechanism.name}: {factor} = {mechanism.to} is accepted by {entry.name}: take its stack"
    return None


def _is_about(repo: Repo, entry: Item, factor: str, workload: Workload) -> bool:
    return one_setting(entry.model.factor, factor) and _is_here(repo, entry, workload)


def _is_here(repo: Repo, entry: Item, workload: Workload) -> bool:
    """Whether the run of an entry may be about this host: another one decides nothing here (contract 3.7)."""
    run = repo.run_of(entry)
    host = run.model.scope.host if run is not None and run.model.scope is not None else None
    return host is None or workload.target_host is None or host == workload.target_host


def _value(repo: Repo, entry: Item, factor: str) -> str | None:
    """The value that an entry decided about, as an arm of its run sets it; None where that is not known."""
    run = repo.run_of(entry)
    arms = run.model.arms if run is not None else {}
    result = entry.model.result
    wanted = [result.to_arm] if result is not None else list(arms)
    for arm in wanted:
        for name, value in arms[arm].set.items() if arm in arms else ():
            if one_setting(name, factor):
                return text_of(value)
    return None
