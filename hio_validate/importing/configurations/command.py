"""A command line becomes the engine's own words: behind wrappers, containers, shells and launchers.

Invariant: where another program decides the command line, it is named and the words are not taken for the engine's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hio_validate.importing.configurations.found import Found, Started, quoted
from hio_validate.importing.configurations.words import (
    Unclosed,
    Word,
    commands,
    loses_json,
    split,
    substituted,
)
from hio_validate.settings.family import program_at, recognised

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "busybox"})
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_ALONE = frozenset(
    {
        "--detach", "--init", "--interactive", "--no-healthcheck", "--oom-kill-disable", "--privileged",
        "--publish-all", "--quiet", "--read-only", "--replace", "--rm", "--tty", "-P", "-d", "-i", "-it", "-q",
        "-t", "-ti",
    }
)  # fmt: skip
"""Flags of `docker run` that take no value; every other one takes one."""
_ASSIGNS = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_CONTROL = frozenset(
    {
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "function",
        "{",
        "}",
    }
)
_LEADS_TO = frozenset({"exec", "command", "time", "nohup"})
_IMAGES = {"vllm": ("vllm",), "llama-server": ("llama.cpp", "llama-server")}
"""Engine family -> what the name of an image says that starts it."""
_MOST_NESTED = 4


def unpack(started: Started, found: Found, line: int, depth: int = 0) -> None:
    """Bring the words of a process to where the engine's begin, and list what decides them otherwise."""
    words = started.words
    if not words or depth > _MOST_NESTED:
        return
    begin = program_at(words)
    while (
        begin < len(words) and (match := _ASSIGNS.fullmatch(words[begin])) and not recognised(words[begin:])
    ):
        started.env[match[1]] = match[2]
        begin += 1
    for word in words[:begin]:
        if match := _ASSIGNS.fullmatch(word):
            started.env[match[1]] = match[2]
    wrapped = " ".join(word for word in words[:begin] if not _ASSIGNS.fullmatch(word))
    if wrapped and wrapped.rpartition("/")[2] != "env":
        found.leave_open(line, f"started through {quoted(wrapped)}, which a stack does not say")
    started.words = words = words[begin:]
    if words:
        _of_program(words[0].rpartition("/")[2], started, found, line, depth)


def _of_program(name: str, started: Started, found: Found, line: int, depth: int) -> None:
    words = started.words
    if name in SHELLS:
        _through_a_shell(started, found, line, depth)
    elif name == "env" and len(words) > 1:
        started.words = words[1:]
        if started.words[0].startswith("-"):
            found.leave_open(line, f"env {started.words[0]} decides the environment")
            started.words = next(
                (words[at:] for at in range(1, len(words)) if recognised(words[at:])), started.words
            )
        unpack(started, found, line, depth + 1)
    elif name in _CONTAINERS and "run" in words[1:3]:
        _in_a_container(started, found, line)
    elif name.endswith((".sh", ".bash")):
        started.launcher, started.words = words[0], []
        found.leave_open(line, f"the launcher {words[0]} decides the command line")


def _text_of_a_shell(words: Sequence[str]) -> str | None:
    """What stands behind `-c`; None where a script is named or nothing is."""
    flags = [at for at, word in enumerate(words[1:], 1) if re.fullmatch(r"-[a-z]*c", word)]
    return words[flags[0] + 1] if flags and flags[0] + 1 < len(words) else None


def _through_a_shell(started: Started, found: Found, line: int, depth: int) -> None:
    words = started.words
    inner = _text_of_a_shell(words)
    if inner is not None:
        read = shell_text(inner, found, line)
        if len(read) == 1:
            started.words, started.env = read[0].words, started.env | read[0].env
            unpack(started, found, line, depth + 1)
            return
        found.leave_open(
            line, f"the text behind {words[0]} -c starts {len(read) or 'no'} engines that hio knows"
        )
        started.launcher, started.words = words[0], []
        return
    script = next((word for word in words[1:] if not word.startswith("-")), words[0])
    started.launcher, started.words = script, []
    found.leave_open(line, f"the launcher {script} decides the command line")


def _in_a_container(started: Started, found: Found, line: int) -> None:
    """`docker run FLAGS IMAGE WORDS`: the words behind the image are its entry point's."""
    words = started.words
    at = words.index("run") + 1
    while at < len(words) and words[at].startswith("-"):
        flag, equals, value = words[at].partition("=")
        alone = bool(equals) or flag in _ALONE
        if not equals and not alone and at + 1 < len(words):
            value = words[at + 1]
        if flag in ("-e", "--env"):
            _given(value, started, found, line)
        elif flag == "--env-file":
            found.leave_open(line, f"the environment file {value} of the container is not read")
        elif flag == "--entrypoint":
            started.by_entry_point = False
            found.leave_open(line, f"the entry point {value} decides the command line of the container")
        at += 1 if alone else 2
    started.image = words[at] if at < len(words) else None
    started.words = words[at + 1 :]
    launched(started, found, line)
    found.leave_open(
        line, "ports, volumes and limits of the container are no settings: a site says where it listens"
    )


def launched(started: Started, found: Found, line: int) -> None:
    """Where an image is made for an engine and something else than its entry point begins: that decides the words."""
    known = started.by_entry_point or started.launcher or not started.words or recognised(started.words)
    if not known and engine_in(started.image):
        found.leave_open(line, f"{quoted(started.words[0])} decides the command line of the container")
        started.launcher, started.words = started.words[0], []


def _given(assignment: str, started: Started, found: Found, line: int) -> None:
    match = _ASSIGNS.fullmatch(assignment)
    if match:
        started.env[match[1]] = match[2]
    else:
        found.leave_open(
            line, f"{quoted(assignment)} is passed on from whoever starts the container: unknown"
        )


def engine_of(started: Started) -> str | None:
    """The engine family that a process is of, by its program or its image; None where neither says it."""
    if started.words and (family := recognised(started.words)):
        return family
    return None if started.launcher or not started.by_entry_point else engine_in(started.image)


def engine_in(image: str | None) -> str | None:
    """The engine family that an image is made for, by its name."""
    image = (image or "").partition("@")[0].lower()
    path, _, tag = image.rpartition(":") if ":" in image.rpartition("/")[2] else (image, "", "")
    for family, names in _IMAGES.items():
        if any(name in path.rpartition("/")[2] for name in names):
            if family == "llama-server" and tag and "server" not in tag and "full" not in tag:
                return None
            return family
    return None


def shell_text(text: str, found: Found, line: int) -> list[Started]:
    """The processes that a shell text starts, each with its own words. Raises Unclosed."""
    words = split(text, line=line)
    known: dict[str, str] | None = {}
    if any(word.raw in _CONTROL for word in words):
        known = None
        found.leave_open(
            line, "the text decides by itself what it does (if, for, case): its variables stay as written"
        )
    started: list[Started] = []
    for command in commands(words):
        process = _command(command, known, found)
        if process is not None:
            started.append(process)
    return started


def _command(command: Sequence[Word], known: dict[str, str] | None, found: Found) -> Started | None:
    """The process of one simple command, where it starts an engine; what it assigns is remembered."""
    own: dict[str, str] = {}
    words = list(command)
    is_export = bool(words) and words[0].text in ("export", "readonly", "local", "declare")
    words = words[1:] if is_export else words
    while words and (match := _ASSIGNS.fullmatch(words[0].text)) and words[0].raw[:1] not in "'\"":
        value, certain = substituted(
            Word(match[2], words[0].line, words[0].raw, words[0].expands), known or {}
        )
        own[match[1]] = value
        if certain and known is not None and (is_export or len(words) == 1 or not _rest(words)):
            known[match[1]] = value
        words = words[1:]
    while words and words[0].text in _LEADS_TO:
        words = words[1:]
    texts = [substituted(word, known or {}) for word in words]
    begin = program_at([text for text, _ in texts])
    if not words or is_export or not _starts_an_engine([text for text, _ in texts], begin):
        return None
    for word, (text, certain) in zip(words, texts, strict=True):
        if not certain:
            found.leave_open(word.line, f"{quoted(text)} is filled in by the shell: left as written")
        if loses_json(word.raw, _unquoted(word)):
            found.leave_open(
                word.line,
                f"a shell takes the quotes of the JSON {quoted(text)} away: put it in single quotes",
            )
    return Started(words=[text for text, _ in texts], env=own)


def _rest(words: Sequence[Word]) -> bool:
    return any(not _ASSIGNS.fullmatch(word.text) for word in words)


def _unquoted(word: Word) -> str:
    return word.raw.replace('"', "")


def _starts_an_engine(texts: Sequence[str], begin: int) -> bool:
    """Whether a command starts an engine, or a container or script that may."""
    if recognised(texts[begin:]):
        return True
    name = texts[0].rpartition("/")[2] if texts else ""
    if name in SHELLS:
        inner = _text_of_a_shell(texts)
        return inner is not None and bool(shell_text(inner, Found("", "", 1), 1))
    return (name in _CONTAINERS and "run" in texts[1:3]) or name.endswith(("-server", "_server"))


__all__ = ["SHELLS", "Unclosed", "engine_in", "engine_of", "launched", "shell_text", "unpack"]
