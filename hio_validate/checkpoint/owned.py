"""Which changed files the named paths mean, and which of them cannot be taken because of what or where they are."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hio_validate.checkpoint.plan import Misnamed, Refusal
from hio_validate.checkpoint.standing import Standing
from hio_validate.history import git

_CONFLICTS = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})
_BUILT = frozenset({"__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
                    "CMakeFiles", ".eggs"})  # fmt: skip
_BUILT_ENDINGS = (".pyc", ".pyo", ".o", ".obj", ".a", ".so", ".dylib", ".dll", ".whl", ".egg-info", ".class")


class Owned(NamedTuple):
    """The named files, sorted out."""

    taken: list[str]
    unchanged: list[str]
    refusals: list[Refusal]
    left: list[tuple[str, str]]


def sort_out(standing: Standing, named: Sequence[Path], largest: int) -> Owned:
    """Every changed file, by whether somebody named it. `largest` counts bytes. Raises Misnamed, GitError."""
    wanted: dict[str, None] = {}
    unchanged, refusals = [], []
    for path in named:
        place = _place(standing.top, path)
        found = [each for each in standing.changes if place == "." or each == place or each.startswith(f"{place}/")
                 or each == f"{place}/"]  # fmt: skip
        wanted.update(dict.fromkeys(found))
        if found:
            continue
        if _is_ignored(standing.top, place):
            refusals.append(Refusal(place, "git ignores it, so it is a build product or scratch",
                                    "git check-ignore -v says which line; take it out of .gitignore if it belongs here"))  # fmt: skip
        elif _is_known(standing.top, place):
            unchanged.append(place)
        else:
            raise Misnamed(f"{path} does not exist, and the last commit has no such file")
    found_bad = {path: bad for path in wanted if (bad := _not_to_be_taken(standing, path, largest))}
    return Owned(
        taken=sorted(path for path in wanted if path not in found_bad),
        unchanged=unchanged,
        refusals=[*refusals, *(found_bad[path] for path in sorted(found_bad))],
        left=[
            (path, _in_words(letters))
            for path, letters in sorted(standing.changes.items())
            if path not in wanted
        ],
    )


def _place(top: Path, path: Path) -> str:
    """A path as git names it. The folder is resolved, the last part is not: it may be a link."""
    folder = os.path.realpath(path.parent)
    place = os.path.relpath(
        os.path.realpath(path) if path.name in ("", "..") else os.path.join(folder, path.name), top
    )
    if place == ".." or place.startswith("../"):
        raise Misnamed(f"{path} is outside of this repository")
    return place


def _is_ignored(top: Path, place: str) -> bool:
    return bool(
        git(
            top,
            "--literal-pathspecs",
            "ls-files",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
            "--",
            place,
        )
    )


def _is_known(top: Path, place: str) -> bool:
    return bool(git(top, "--literal-pathspecs", "ls-files", "--", place)) or os.path.isdir(top / place)


def _not_to_be_taken(standing: Standing, path: str, largest: int) -> Refusal | None:
    letters = standing.changes[path]
    if letters in _CONFLICTS:
        return Refusal(path, "has a merge conflict", "resolve it and git add it")
    if letters[0] not in " ?" and letters[1] != " ":
        return Refusal(path, "is staged with other content than it has now, so somebody may still be at work on it",
                       "git diff and git diff --cached show both; stage it as it is, or unstage it")  # fmt: skip
    if "D" in letters:
        return None
    found = os.lstat(standing.top / path)
    if stat.S_ISLNK(found.st_mode):
        return Refusal(path, "is a symbolic link", "put the file itself here")
    if stat.S_ISDIR(found.st_mode):
        return Refusal(
            path.rstrip("/"),
            "is a repository of its own (a submodule)",
            "commit in there, and move the submodule with git",
        )
    if not stat.S_ISREG(found.st_mode):
        return Refusal(path, "is no regular file")
    parts = path.split("/")
    if _BUILT & set(parts) or any(part.endswith(_BUILT_ENDINGS) for part in parts):
        return Refusal(
            path, "is a build product", "build products are made again, not kept; add it to .gitignore"
        )
    if found.st_size > largest:
        return Refusal(path, f"has {found.st_size / 2**20:.1f} MiB, more than {largest / 2**20:g} MiB",
                       "name the file by its sha256 in a document instead, or raise --largest")  # fmt: skip
    return None


def _in_words(letters: str) -> str:
    if letters == "??":
        return "new, not staged"
    if letters in _CONFLICTS:
        return "in conflict"
    staged, beside = letters[0] != " ", letters[1] != " "
    return "staged and changed again" if staged and beside else "staged" if staged else "changed, not staged"
