"""A qualification whose verdicts, numbers, claim or hashes do not follow from its rows and its capture.

A qualification is a receipt: others deploy on it. Its rows say what was sent and received, as counts and times;
each probe's numbers and verdict are computed from them again, with the bounds that `hio qualify` judges by
(contract 7.3). The capacity that the probes had to fill, and the hashes of what ran, are those of the capture
that it pins: a receipt that claims less than the process had, or names other bytes, tests something else
(contract 1.3, 1.6).

A probe of a later set, which this hio does not know, is not judged.

How to fix: nothing in a qualification is edited. Probe the stack again with `hio qualify`, and rely on that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hio_validate.diagnostic import Severity
from hio_validate.evidence.probes import PROBES, claim_of, judged
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.qualification import Qualification
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed

_AGAIN = "a receipt is never edited: probe the stack again with hio qualify"


def check(item: Item, view: View) -> Iterator[Problem]:
    receipt: Qualification = item.model
    yield from _captured(item, view)
    if receipt.rows is None:
        yield Problem(
            at_key(item, "probes"), f"{item.name} keeps no rows, so nothing of it can be computed", _AGAIN
        )
        return
    raw = view.repo.beside(item, receipt.rows.file)
    if raw is None:
        return
    rows = _rows(raw)
    if rows is None:
        yield Problem(at(item, "rows", "file"), f"{receipt.rows.file} is not one JSON object a line", _AGAIN)
        return
    for name in receipt.probes:
        if name in PROBES:
            yield from _probe(item, name, rows)


def _probe(item: Item, name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Verdict and numbers of one probe against its rows."""
    receipt: Qualification = item.model
    said, computed = receipt.probes[name], judged(name, rows, receipt.claim)
    if said.verdict != computed.verdict:
        why = f" ({computed.because})" if computed.because else ""
        yield Problem(
            at(item, "probes", name, "verdict"),
            f"{name} is said to be {said.verdict}; its rows show {computed.verdict}{why}",
            _AGAIN,
        )
    numbers = sorted(said.found.keys() | computed.found.keys())
    wrong = [
        f"{key} {said.found.get(key, 'not said')}, by the rows {computed.found.get(key, 'nothing')}"
        for key in numbers
        if said.found.get(key) != computed.found.get(key)
    ]
    if wrong:
        yield Problem(
            at_key(item, "probes", name, "found" if said.found else "verdict"),
            f"the numbers of {name} are not those of its rows: {listed(wrong, 3)}",
            _AGAIN,
        )


def _rows(raw: bytes) -> list[dict[str, Any]] | None:
    """The rows of a file; None where a line is none."""
    import json  # only where there is a qualification

    try:
        rows = [json.loads(line) for line in raw.decode("utf-8").splitlines()]
    except (ValueError, RecursionError):
        return None
    return rows if all(isinstance(row, dict) for row in rows) else None


def _captured(item: Item, view: View) -> Iterator[Problem]:
    """Claim and hashes against those of the captured process."""
    receipt: Qualification = item.model
    capture = (
        view.repo.find("capture/v1", name_of(receipt.capture), item.service) if receipt.capture else None
    )
    if capture is None or capture.model is None or len(capture.model.processes) != 1:
        return
    role, process = next(iter(capture.model.processes.items()))
    where = (("the captured process", at(capture, "processes", role)),)
    claim = claim_of(process)
    if receipt.claim != claim:
        yield Problem(
            at(item, "claim"),
            f"it claims {_capacity(receipt.claim)}; the captured process had {_capacity(claim)}",
            _AGAIN,
            where,
        )
    for path, said in _hashes(receipt):
        seen = _hash_in(process, path)
        if seen is not None and said not in ("unknown", seen):
            yield Problem(
                at(item, "process", *path),
                f"{path[-1]} is {said[:12]}; the captured one is {seen[:12]}",
                _AGAIN,
                where,
            )


def _capacity(claim: Any) -> str:
    held = claim.context_per_slot or "unknown"
    return f"{claim.slots or 'unknown'} slots of {held} tokens"


def _hashes(receipt: Qualification) -> Iterator[tuple[tuple[str, ...], str]]:
    yield ("executable",), receipt.process.executable
    yield from ((("libraries", name), sha256) for name, sha256 in receipt.process.libraries.items())
    yield from ((("artifacts", role), sha256) for role, sha256 in receipt.process.artifacts.items())


def _hash_in(process: CapturedProcess, path: tuple[str, ...]) -> str | None:
    match path:
        case ("libraries", name):
            found: Any = process.libraries.get(name)
        case ("artifacts", role):
            found = process.artifacts.get(role)
        case _:
            found = process.executable
    return found.sha256 if found is not None else None


RULE = Rule(
    "qualification-contradicts-rows", Scope.DOCUMENT, Severity.ERROR, "a qualification does not follow from its rows", check,
    kinds=("qualification/v1",), contract=("7.3", "1.3"), since=4, suppressible=False,
)  # fmt: skip
