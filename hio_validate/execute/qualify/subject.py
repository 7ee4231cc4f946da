"""What a probe asks: a server that was verified before, and the capacity that it claims."""

from __future__ import annotations

from dataclasses import dataclass

from hio_validate.execute.qualify.asking import Server
from hio_validate.execute.verified import Verification
from hio_validate.models.qualification import Claim


@dataclass(frozen=True)
class Subject:
    """The server, what it was verified to be, and its claim."""

    server: Server
    verification: Verification
    claim: Claim
