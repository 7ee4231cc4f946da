"""What an estimate is computed from, gathered once."""

from __future__ import annotations

from dataclasses import dataclass

from hio_validate.estimating.bounds.asked import PATH_OF as PATH_OF
from hio_validate.estimating.bounds.asked import STATED as STATED
from hio_validate.estimating.bounds.asked import Asked
from hio_validate.estimating.bounds.asked import Path as Path
from hio_validate.models.estimate import MeasuredBaseline
from hio_validate.repo import Item
from hio_validate.rules.base import View


@dataclass(frozen=True, kw_only=True)
class Inputs(Asked):
    """Everything that an estimate follows from: what its ledger does, and what is known beside."""

    service: str
    stack: Item
    fixture: Item | None = None
    named: tuple[tuple[str, str], ...] = ()
    """(option, name) of documents that were named, in place of those that `hio estimate` would choose."""
    baseline: MeasuredBaseline | None = None
    profile: Item | None = None
    wrong: tuple[Item, ...] = ()
    """Open correctness failures of the stack (contract 9.6)."""
    capture: Item | None = None
    """The newest capture of the stack: what became of settings that the engine decides itself."""
    view: View | None = None
    """The repository it was gathered from: settings in force, ledger, runs. Without it no setting is known."""
