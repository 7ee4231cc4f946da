"""What a report needs to know of a rule: its id, its severity and one sentence."""

from __future__ import annotations

from typing import Protocol

from hio_validate.diagnostic import Severity


class DescribedRule(Protocol):
    """A rule as a list of rules shows it; the rules themselves stand right of here and are passed in."""

    @property
    def id(self) -> str: ...

    @property
    def severity(self) -> Severity: ...

    @property
    def summary(self) -> str: ...
