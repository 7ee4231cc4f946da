"""Whether a log can be of a process: the port, the model and the build that its last start names.

Invariant: only what is known on both sides is compared; between "listening" and the next start nothing is read,
where lines hold other people's requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from hio_validate.models.capture import CapturedProcess
from hio_validate.models.reported import facts
from hio_validate.observe.log_facts import PREFIX, READY, START

_PORT = re.compile(r"listening on https?://\S+?:(\d+)\b")
_MODEL = re.compile(r"load_model: loading model '([^']+)'")
_BUILD = re.compile(r"build:? (\d+) \((?!unknown)([0-9a-f]+)\)")


class Stranger(NamedTuple):
    """A line of a log that speaks of another process."""

    line: int
    """From 1."""
    said: str
    expected: str


def stranger(lines: Iterable[str], process: CapturedProcess) -> Stranger | None:
    """The first line of the last start that contradicts what was observed of a process; None where none does."""
    found = (_contradiction(number, text, process) for number, text in _last_start(lines))
    return next((each for each in found if each), None)


def _last_start(lines: Iterable[str]) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    ready = False
    for number, line in enumerate(lines, 1):
        text = PREFIX.sub("", line.rstrip("\r\n"), count=1)
        if START.match(text) and ready:
            kept, ready = [], False
        if not ready:
            kept.append((number, text))
            ready = READY.search(text) is not None
    return kept


def _contradiction(number: int, text: str, process: CapturedProcess) -> Stranger | None:
    for pattern, expected in (
        (_PORT, _port(process)), (_MODEL, _models(process)), (_BUILD, _build(process)),
    ):  # fmt: skip
        match = pattern.search(text)
        said = "-".join(match.groups()) if match else ""
        if match and expected and said not in expected:
            return Stranger(number, text.strip(), " or ".join(expected))
    return None


def _port(process: CapturedProcess) -> list[str]:
    port = process.listening.port if process.listening else None
    return [str(port)] if port else []


def _models(process: CapturedProcess) -> list[str]:
    """The paths under which the process can have opened its model; none where neither it nor its arguments say."""
    said = facts(process.props).get("model_path")
    given = [word for line in process.argv.value or [] for word in line if word.endswith(".gguf")]
    named = [str(said)] if said else given
    mapped = [each.path for each in process.artifacts.values() if each.path]
    return list(dict.fromkeys([*named, *given, *mapped])) if named else []


def _build(process: CapturedProcess) -> list[str]:
    """`b4567-abc1234` of /props as a log writes it: 4567-abc1234."""
    said = str(facts(process.props).get("build_info", ""))
    known = re.fullmatch(r"b([1-9]\d*)-([0-9a-f]+)", said)
    return ["-".join(known.groups())] if known else []
