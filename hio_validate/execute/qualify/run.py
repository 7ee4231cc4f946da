"""All probes of one verified process, one after the other.

Invariant: nothing is asked of a process that is not proven to be the stack; what a probe could not ask is a row, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hio_validate.evidence.probes import Judged, claim_of, judged
from hio_validate.execute.qualify.asking import Row, Server
from hio_validate.execute.qualify.probes import ALL, identity
from hio_validate.execute.qualify.subject import Subject
from hio_validate.execute.verified import Verification
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.qualification import Claim


class NotTheStack(Exception):
    """The process is not proven to be the stack, so that nothing was asked."""


@dataclass(frozen=True)
class Probed:
    """What every probe found."""

    at: str
    verification: Verification
    process: CapturedProcess
    claim: Claim
    rows: Sequence[Row]
    probes: dict[str, Judged]

    @property
    def passed(self) -> bool:
        return all(each.verdict == "passed" for each in self.probes.values())

    @property
    def failed(self) -> bool:
        return any(each.verdict == "failed" for each in self.probes.values())


def probed(
    verification: Verification, host: str, port: int, key: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Probed:  # fmt: skip
    """Ask every probe; `tell` hears which one begins. Raises NotTheStack."""
    process = verification.process
    if process is None:
        raise NotTheStack("the process could not be captured")
    claim = claim_of(process)
    at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    subject = Subject(Server(host, port, key), verification, claim)
    rows: list[Row] = identity.ask(subject)
    first = judged(identity.NAME, rows, claim)
    if first.verdict != "passed":
        raise NotTheStack(first.because or "nothing was checked")
    for probe in ALL:
        if probe is not identity:
            tell(probe.NAME)
            rows += probe.ask(subject)
    found = {probe.NAME: judged(probe.NAME, rows, claim) for probe in ALL}
    return Probed(at, verification, process, claim, rows, found)
