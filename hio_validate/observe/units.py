"""Reads systemd service units: the command line and environment they would start a process with.

Invariant: what only the running system could fill in (specifiers, variables of the manager, a launcher
script's own doing) is never guessed; it stays as written and is listed in `unresolved`. Nothing is run.
Rules: systemd.service(5) "Command lines", systemd.exec(5) "Environment", systemd.syntax(7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hio_validate.observe.environment_file import environment_file, text_of
from hio_validate.observe.refusal import Unobservable
from hio_validate.settings.family import WRAPPERS, program_at

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"})
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "apptainer", "singularity"})
_PREFIXES = "@-:+!|"
_SPECIFIER = re.compile(r"%[A-Za-z]")
_VARIABLE = re.compile(r"\$\$|\$\{(\w+)\}|\$(\w+)")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "s": " "}


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit starts. `argv` has the program first; None = a launcher decides, so it is unknown."""

    file: Path
    argv: tuple[str, ...] | None
    env: dict[str, str]
    unresolved: tuple[str, ...] = ()
    """Sentences `file:line: what stays open`."""
    words: tuple[str, ...] = ()
    """The whole command, before wrappers, shells and containers are looked through."""
    open_words: tuple[str, ...] = ()
    """Those of the sentences that are not about wrappers, shells and containers."""
    line: int = 0
    """Of the command."""


@dataclass(frozen=True, slots=True)
class _Setting:
    section: str
    key: str
    value: str
    place: str
    """`file:line`."""


@dataclass
class _Reading:
    """What has been found so far."""

    root: Path
    missing_is_open: bool = False
    commands: list[_Setting] = field(default_factory=list)
    environment: list[_Setting] = field(default_factory=list)
    files: list[_Setting] = field(default_factory=list)
    unset: list[_Setting] = field(default_factory=list)
    kind: str = "simple"
    unresolved: list[str] = field(default_factory=list)


def read_unit(path: Path, root: Path = Path("/"), *, missing_is_open: bool = False) -> Unit:
    """A service unit with its drop-ins (`a.service.d/*.conf`) and environment files.

    Absolute paths of environment files are looked up under `root`; one that is missing is unresolved where
    `missing_is_open`, as for a unit of another host. Raises Unobservable for a file that is missing or no unit, and for
    a unit that systemd would refuse.
    """
    reading = _Reading(root, missing_is_open)
    for file in [path, *sorted(path.with_name(path.name + ".d").glob("*.conf"), key=lambda drop: drop.name)]:
        for setting in _settings(file, reading):
            _take(setting, reading)
    env = _environment(reading)
    command = _command(path, reading)
    words = _command_words(command, env, reading)
    open_words = tuple(dict.fromkeys(reading.unresolved))
    argv = _program(words, env, command, reading)
    return Unit(
        path, argv, env, tuple(dict.fromkeys(reading.unresolved)), tuple(words), open_words,
        int(command.place.rpartition(":")[2]),
    )  # fmt: skip


def _take(setting: _Setting, reading: _Reading) -> None:
    """A list setting adds up, and an empty assignment resets it."""
    if setting.section != "Service":
        return
    lists = {
        "ExecStart": reading.commands,
        "Environment": reading.environment,
        "EnvironmentFile": reading.files,
        "UnsetEnvironment": reading.unset,
    }
    if setting.key == "Type":
        reading.kind = setting.value
    elif setting.key == "PassEnvironment" and setting.value:
        reading.unresolved.append(
            f"{setting.place}: {setting.value} is passed on from systemd itself: unknown"
        )
    elif setting.key in lists and not setting.value:
        lists[setting.key].clear()
    elif setting.key in lists:
        lists[setting.key].append(setting)


def _settings(file: Path, reading: _Reading) -> Iterator[_Setting]:
    section = ""
    for number, line in _logical_lines(text_of(file)):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        key, equals, value = line.partition("=")
        if equals:
            yield _Setting(section, key.strip(), value.strip(), f"{file.name}:{number}")
        else:
            reading.unresolved.append(f"{file.name}:{number}: systemd ignores this line: it has no '='")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations joined by a blank, comments (also between continuations) left out."""
    begun, at = "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if line.startswith(("#", ";")) or (not line and not begun):
            continue
        at = at if begun else number
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        whole = (begun + line).strip()
        begun = ""
        if whole:
            yield at, whole
    if begun.strip():
        yield at, begun.strip()


def _words(setting: _Setting, value: str) -> list[str]:
    """Splits at blanks outside quotes, takes quotes away and C escapes apart, as systemd does."""
    words: list[str] = []
    word, quote, at = "", "", 0
    within = False
    while at < len(value):
        char = value[at]
        if char == "\\" and at + 1 < len(value):
            decoded, at = _escape(value, at + 1, setting)
            word, within = word + decoded, True
            continue
        if quote:
            if char == quote:
                quote = ""
            else:
                word += char
        elif char in "'\"":
            quote, within = char, True
        elif char.isspace():
            if within:
                words.append(word)
            word, within = "", False
        else:
            word, within = word + char, True
        at += 1
    if quote:
        raise Unobservable(f"{setting.place}: {setting.key}= has a quote {quote} that is not closed")
    return [*words, word] if within else words


def _escape(value: str, at: int, setting: _Setting) -> tuple[str, int]:
    """The character of an escape whose letter stands at `at`, and where the text goes on.

    An unknown one stays as written, as systemd leaves it with a warning.
    """
    letter = value[at]
    if letter in _ESCAPES:
        return _ESCAPES[letter], at + 1
    if letter in "\\\"'":
        return letter, at + 1
    if letter == ";":
        return "\\;", at + 1
    digits = {"x": (1, 2, 16), "u": (1, 4, 16), "U": (1, 8, 16)}.get(letter, (0, 3, 8))
    begin, count, base = at + digits[0], digits[1], digits[2]
    try:
        code = int(value[begin : begin + count], base) if len(value) >= begin + count else -1
        decoded = chr(code) if code > 0 and value[begin].isalnum() else ""
        decoded.encode()
    except (ValueError, OverflowError):
        decoded = ""
    if decoded:
        return decoded, begin + count
    return "\\" + letter, at + 1


def _environment(reading: _Reading) -> dict[str, str]:
    """Environment= first, then the files, which win; UnsetEnvironment= last."""
    env: dict[str, str] = {}
    for setting in reading.environment:
        for word in _words(setting, setting.value):
            match = _ASSIGNMENT.fullmatch(_percent(word, setting, reading))
            if match:
                env[match[1]] = match[2]
            else:
                reading.unresolved.append(f"{setting.place}: systemd ignores {word!r}: it is no NAME=value")
    for setting in reading.files:
        env |= _file_variables(setting, reading)
    for setting in reading.unset:
        for word in _words(setting, setting.value):
            name, equals, value = word.partition("=")
            if name in env and (not equals or env[name] == value):
                del env[name]
    return env


def _file_variables(setting: _Setting, reading: _Reading) -> dict[str, str]:
    optional = setting.value.startswith("-")
    name = setting.value.removeprefix("-")
    if _SPECIFIER.search(name.replace("%%", "")):
        reading.unresolved.append(
            f"{setting.place}: the environment file {name} is not read: its path has a specifier"
        )
        return {}
    if not name.startswith("/"):
        raise Unobservable(f"{setting.place}: EnvironmentFile={name} is no absolute path: systemd refuses it")
    place = name.replace("%%", "%").lstrip("/")
    found = sorted(reading.root.glob(place)) if re.search(r"[*?\[]", place) else [reading.root / place]
    found = [file for file in found if file.exists()]
    if not found and reading.missing_is_open:
        reading.unresolved.append(
            f"{setting.place}: the environment file {name} is not here: its settings are unknown"
        )
    elif not found and not optional:
        raise Unobservable(
            f"{setting.place}: the environment file {name} is missing: its settings are unknown"
        )
    elif not found:
        reading.unresolved.append(f"{setting.place}: the optional environment file {name} is not there")
    env: dict[str, str] = {}
    for file in found:
        env |= environment_file(text_of(file), file.name, reading.unresolved)
    return env


def _command(path: Path, reading: _Reading) -> _Setting:
    if not reading.commands:
        raise Unobservable(f"{path}: no ExecStart= in [Service]: it starts nothing")
    if len(reading.commands) > 1:
        places = " and ".join(command.place for command in reading.commands)
        if reading.kind != "oneshot":
            raise Unobservable(
                f"{path}: several ExecStart= ({places}), which systemd refuses without Type=oneshot: "
                "a drop-in first resets it with an empty ExecStart="
            )
        reading.unresolved.append(f"{places}: several commands run one after the other; the last is taken")
    return reading.commands[-1]


def _command_words(command: _Setting, env: dict[str, str], reading: _Reading) -> list[str]:
    line = command.value
    prefix = line[: len(line) - len(line.lstrip(_PREFIXES))]
    words = _words(command, line[len(prefix) :])
    if ";" in words:
        reading.unresolved.append(f"{command.place}: several commands in one line; the last is taken")
        words = words[len(words) - words[::-1].index(";") :]
    words = [";" if word == "\\;" else word for word in words]
    if not words:
        raise Unobservable(f"{command.place}: ExecStart= names no program")
    words = [_percent(word, command, reading) for word in words]
    if ":" not in prefix:
        words = [
            words[0],
            *(each for word in words[1:] for each in _substituted(word, env, command, reading)),
        ]
    if "@" in prefix:
        del words[1:2]
    return words


def _program(
    words: list[str], env: dict[str, str], command: _Setting, reading: _Reading
) -> tuple[str, ...] | None:
    """The words from the program on; `env NAME=value program` is resolved, a launcher makes argv unknown."""
    name = words[0].rpartition("/")[2]
    begin = program_at(words)
    if begin:
        env |= {match[1]: match[2] for word in words[:begin] if (match := _ASSIGNMENT.fullmatch(word))}
        wrapped = " ".join(word for word in words[:begin] if not _ASSIGNMENT.fullmatch(word))
        if wrapped.rpartition("/")[2] != "env":
            reading.unresolved.append(f"{command.place}: started through {wrapped}, which is not compared")
        return tuple(words[begin:])
    if name == "env":
        rest = words[1:]
        while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
            env[match[1]] = match[2]
            rest = rest[1:]
        if rest and not rest[0].startswith("-"):
            return _program(rest, env, command, reading)
        reading.unresolved.append(f"{command.place}: env with options decides the environment: argv unknown")
        return None
    if name in _SHELLS or name.endswith((".sh", ".bash")):
        script = next((word for word in words if word.endswith((".sh", ".bash"))), words[0])
        reading.unresolved.append(
            f"{command.place}: the launcher {script} decides the command line: argv unknown"
        )
        return None
    if name in _CONTAINERS:
        reading.unresolved.append(
            f"{command.place}: {name} starts a container with a command line of its own"
        )
        return None
    if name in WRAPPERS:
        reading.unresolved.append(
            f"{command.place}: starts through {name}; its words stand before the engine's"
        )
    return tuple(words)


def _percent(word: str, setting: _Setting, reading: _Reading) -> str:
    """Specifiers stay as written and are noted; `%%` is a percent sign."""
    for specifier in dict.fromkeys(_SPECIFIER.findall(word.replace("%%", ""))):
        reading.unresolved.append(f"{setting.place}: {specifier} is filled in by systemd: left as written")
    return word.replace("%%", "%")


def _substituted(word: str, env: Mapping[str, str], command: _Setting, reading: _Reading) -> Sequence[str]:
    """`$NAME` as a whole word splits into words, `${NAME}` anywhere is replaced, `$$` is a dollar sign."""
    alone = re.fullmatch(r"\$([A-Za-z_]\w*)", word)
    if alone:
        if alone[1] in env:
            return env[alone[1]].split()
        reading.unresolved.append(f"{command.place}: {word} is set nowhere in the unit: left as written")
        return [word]

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        if match[1] is None:
            return match[0]
        if match[1] in env:
            return env[match[1]]
        reading.unresolved.append(f"{command.place}: {match[0]} is set nowhere in the unit: left as written")
        return match[0]

    return [_VARIABLE.sub(value, word)]
