"""The way back from a stack: to the one that its service had before, with its files, command, steps and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from hio_validate.ledger import ledgers
from hio_validate.render.bundle import CannotRender, File
from hio_validate.render.consumers import yaml11
from hio_validate.render.launch import Launch
from hio_validate.repo import Item, Repo


@dataclass(frozen=True)
class Earlier:
    """The stack that serves again, rendered for the same target."""

    launch: Launch
    files: tuple[File, ...]

    @property
    def pin(self) -> str:
        return self.launch.stack.pin

    @property
    def name(self) -> str:
        return self.launch.stack.name


def earlier_stack(repo: Repo, stack: Item, service: str) -> Item | None:
    """The stack that was accepted or deployed last beside this one; None where nothing served before."""
    ledger = ledgers(repo).get(service)
    names = ledger.accepted_stacks() if ledger else []
    found = (repo.find("stack/v1", name, service) for name in reversed(names) if name != stack.name)
    return next((each for each in found if each is not None and each.model is not None), None)


def files_of(now: tuple[File, ...], earlier: Earlier | None) -> list[dict[str, str | None]]:
    """Every installed file with the digests that the plan knows: after the deployment, and before it."""
    after = {each.install: _digest(each) for each in now if each.install}
    before = {each.install: _digest(each) for each in earlier.files if each.install} if earlier else {}
    return [
        {"path": path, "before": before.get(path), "after": after.get(path)}
        for path in sorted({*after, *before})
    ]


def _digest(file: File) -> str:
    return sha256(file.content).hexdigest()


def read_plan(text: str, file: str, known: Mapping[str, Any]) -> str:
    """Who read a plan of rollback back. Raises CannotRender where it says anything else than was meant."""
    said = yaml11.read(text, file)
    meant = {
        "version": 1,
        "service": known["service"],
        "site": known["site"],
        "backend": known["backend"],
        "unit": known["unit"],
        "takes_back": known["stamp"]["stack"],
        "restores": known["restores"],
        "files": known["back_files"],
        "steps": known["back_steps"],
        "checks": known["back_checks"],
    }
    if said != meant:
        raise CannotRender(f"{file}: its reader finds another plan than was meant")
    return yaml11.NAME


def read_page(text: str, file: str, known: Mapping[str, Any]) -> str:
    """Who looked at the page for people. Raises CannotRender where it leaves out a step, a check or a file."""
    needed = [
        *known["back_steps"],
        *known["back_checks"],
        *(str(each["path"]) for each in known["back_files"]),
    ]
    missing = [each for each in needed if each not in text]
    if missing:
        raise CannotRender(f"{file} leaves out: {missing[0]}")
    return "people; hio found every step, check and file in it"
