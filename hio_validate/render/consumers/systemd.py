"""Units, read by systemd itself: `systemd-analyze verify` must say nothing, and shows what it read when asked to debug.

It runs in a folder of its own that stands for `/` and has nothing but the unit, what a unit depends on and an empty file for each
program: what is installed on this host changes no answer. No systemd is started. It exits 0 on a key that it does
not know, so that only silence is a yes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import programs

PROGRAM = "systemd-analyze"
_TARGETS = ("sysinit", "basic", "shutdown", "multi-user", "default", "network-online", "network")
_SETTING = re.compile(r"^\t\t([A-Za-z]+): (.*)$")
_COMMAND = re.compile(r"^\t\t-> ([A-Za-z]+):$")
_LINE = "\t\t\tCommand Line: "
_NAMED = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}


@dataclass(frozen=True)
class Read:
    """What systemd read in a unit."""

    commands: dict[str, list[list[str]]]
    """Setting, e.g. ExecStart -> its command lines in words, in which `$$` still stands for `$`."""
    settings: dict[str, list[str]]
    """Every other setting of the service as systemd shows it, also those that the unit does not have."""


def is_installed() -> bool:
    return programs.path_of(PROGRAM) is not None


def version() -> str:
    """Which systemd reads here."""
    return programs.version(PROGRAM, "--version")


def read(name: str, text: str, executables: Iterable[str]) -> Read:
    """What systemd reads in a unit that names these programs. Raises CannotRender where it has anything to say."""
    with tempfile.TemporaryDirectory(prefix="hio-unit-") as folder:
        root = Path(folder)
        _lay_out(root, name, text, executables)
        words = [PROGRAM, "--man=no", f"--root={root}", "verify", name]
        said = programs.run(words)
        if said.returncode or said.stdout or said.stderr:
            told = (said.stderr or said.stdout).decode(errors="replace").replace(str(root), "").strip()
            raise CannotRender(
                f"{name}: systemd-analyze verify says: {told[:500] or f'exit {said.returncode}'}"
            )
        dump = programs.run(words, environment={"SYSTEMD_LOG_LEVEL": "debug"}).stdout
    return _read(dump.decode("utf-8", "surrogateescape"))


def _lay_out(root: Path, name: str, text: str, executables: Iterable[str]) -> None:
    units = root / "usr/lib/systemd/system"
    for folder in (units, root / "etc/systemd/system", root / "tmp", root / "run"):
        folder.mkdir(parents=True)
    for target in _TARGETS:
        (units / f"{target}.target").write_text(f"[Unit]\nDescription={target}\n")
    for each in executables:
        path = root / each.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        path.chmod(0o755)
    (root / "etc/systemd/system" / name).write_text(text, encoding="utf-8")


def _read(dump: str) -> Read:
    commands: dict[str, list[list[str]]] = {}
    settings: dict[str, list[str]] = {}
    setting = ""
    for line in dump.split("\n"):
        if begun := _COMMAND.match(line):
            setting = begun[1]
        elif line.startswith(_LINE):
            commands.setdefault(setting, []).append(words_of(line.removeprefix(_LINE)))
        elif said := _SETTING.match(line):
            settings.setdefault(said[1], []).append(said[2])
    return Read(commands, settings)


def words_of(line: str) -> list[str]:
    """The words of a command line as systemd shows one (quote_command_line of src/basic/escape.c)."""
    return [_unescaped(match[1] if match[1] is not None else match[2]) for match in _WORD.finditer(line)]


_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^ "]+)', re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:([0-7]{3})|x([0-9a-f]{2})|(.))", re.DOTALL)


def _unescaped(text: str) -> str:
    def byte(match: re.Match[bytes]) -> bytes:
        if match[1] or match[2]:
            return bytes([int(match[1], 8) if match[1] else int(match[2], 16)])
        named = _NAMED.get(match[3].decode())
        return bytes([named]) if named else match[3]

    return _ESCAPE.sub(byte, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
