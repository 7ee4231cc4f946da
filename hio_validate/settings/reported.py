"""What a process says of itself: settings in /props and its log, and the hashes of what it mapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import PurePosixPath
from typing import NamedTuple

from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import Family
from hio_validate.models.reported import facts
from hio_validate.settings.value import UNKNOWN, reported_text


class Report(NamedTuple):
    """What a process says of one setting."""

    where: str
    """Field of the captured process: props or log."""
    key: str
    factor: str
    text: str


def reports(observed: CapturedProcess | None, family: Family | None) -> Iterator[Report]:
    """Everything a process says of its settings, in /props and its log.

    A notice that a feature is not supported (`disabled.*`) reports 0; several K/V caches of different types
    (joined with `;`) report nothing, since the setting is one.
    """
    if observed is None or family is None:
        return
    for where, said, table in (
        ("props", facts(observed.props), family.props),
        ("log", facts(observed.log), family.log),
    ):
        for key, factor in table.items():
            if key in said:
                text = "0" if key.startswith("disabled.") else reported_text(said[key])
                if where == "props" or ";" not in text:
                    yield Report(where, key, factor, text)


def observed_settings(observed: CapturedProcess | None, family: Family | None) -> dict[str, tuple[str, str]]:
    """Factor -> (value, where) that the process reported of itself; where both speak, the log."""
    return {
        each.factor: (each.text, "/props" if each.where == "props" else "log")
        for each in reports(observed, family)
    }


def observed_identity(observed: CapturedProcess | None) -> dict[str, str]:
    """Identity factors of a captured process -> SHA-256 or unknown.

    `executable`, `lib.<name>` for the libraries that stand beside it, `system-libraries` for all others as
    one group (one digest over their names and digests), `artifact.<role>` for model and companions.
    """
    if observed is None:
        return {}
    home = _folder(observed.executable.path or "/")
    found = {"executable": observed.executable.sha256 or UNKNOWN}
    system: dict[str, str | None] = {}
    for name, library in observed.libraries.items():
        if library.path and _folder(library.path) == home:
            found[f"lib.{name.partition('.so')[0]}"] = library.sha256 or UNKNOWN
        else:
            system[name] = library.sha256
    if system:
        found["system-libraries"] = _digest_of_all(system)
    found |= {f"artifact.{role}": artifact.sha256 or UNKNOWN for role, artifact in observed.artifacts.items()}
    return found


@cache
def _folder(path: str) -> PurePosixPath:
    """Remembered, because the processes of a site map the same few files."""
    return PurePosixPath(path).parent


def _digest_of_all(digests: Mapping[str, str | None]) -> str:
    if not all(digests.values()):
        return UNKNOWN
    return sha256(
        "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()
    ).hexdigest()
