"""The cases of every rule: small trees, each with the findings that ALL rules together must give on it.

A case is a folder tests/rules/<rule id>/{pass,fail}-*/ with matrix/, ledger/, manifests/ as in a repository,
`expect.txt` with lines `file:line:column rule-id` (absent = no finding at all), and, for rules about
changes, `before/` with the tree of the base revision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hio_validate import engine
from hio_validate.diagnostic import Report
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules import RULES
from hio_validate.rules.base import Rule

HERE = Path(__file__).parent


@dataclass(frozen=True)
class BaseFolder:
    """A base revision that is a folder of the case."""

    root: Path

    def paths(self) -> Sequence[str]:
        return Folder(self.root).paths()

    def same(self, path: str, raw: bytes) -> bool:
        return (self.root / path).read_bytes() == raw

    def commit_of(self, path: str) -> str:
        return "HEAD"


@dataclass(frozen=True)
class Case:
    """One tree and what must be found in it."""

    folder: Path

    def __str__(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def rule(self) -> str:
        return self.folder.parent.name

    @property
    def fails(self) -> bool:
        return self.folder.name.startswith("fail-")

    @property
    def expected(self) -> list[str]:
        file = self.folder / "expect.txt"
        return sorted(file.read_text(encoding="utf-8").split("\n")[:-1]) if file.exists() else []

    def report(self, rules: Sequence[Rule] = RULES) -> Report:
        """What the rules say of the tree."""
        base = self.folder / "before"
        return engine.run(load(Folder(self.folder)), BaseFolder(base) if base.exists() else None, rules)

    def found(self, rules: Sequence[Rule] = RULES) -> list[str]:
        """`file:line:column rule-id` of every finding, suppressed ones left out."""
        return sorted(
            f"{found.location.file}:{found.location.line}:{found.location.column} {found.rule}"
            for found in self.report(rules).diagnostics
        )


def cases(rule: str = "*") -> Iterator[Case]:
    """Every case of one rule or of all."""
    return (Case(folder) for folder in sorted(HERE.glob(f"{rule}/*-*")) if folder.is_dir())
