"""systemd: a unit with its environment file, and what an operator needs beside it: argv, readiness, verification, way back.

Invariant: the unit starts exactly the words of the stack, has exactly its variables by one environment file, and no
other command; systemd itself says so before there is a bundle.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.units import read_unit
from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import shell
from hio_validate.render.consumers import systemd as reader
from hio_validate.render.launch import Launch
from hio_validate.render.limits import limits_of, plain
from hio_validate.render.options import options_of
from hio_validate.render.reading import OWN_ENVIRONMENT_READER, refuse_other_environment
from hio_validate.render.target import Asked, Draft, Target, WayBack
from hio_validate.render.way_back import Earlier

ENVIRONMENT, ARGV, READY, VERIFY = "environment", "argv.json", "ready.sh", "verify.sh"
_FOLDER = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9_.,@+-]+)+")
_OPTIONS = {"user": re.compile(r"[A-Za-z_][A-Za-z0-9_-]*"), "folder": _FOLDER, "units": _FOLDER}
_UNIT = re.compile(r"[A-Za-z0-9:_.-]{1,200}\.service")
_LIMITS = {
    "memory_max": "MemoryMax",
    "memory_high": "MemoryHigh",
    "memory_swap_max": "MemorySwapMax",
    "locked_memory": "LimitMEMLOCK",
    "tasks_max": "TasksMax",
    "open_files": "LimitNOFILE",
    "cpus": "CPUQuota",
    "stop_s": "TimeoutStopSec",
}
_CREDENTIAL = "LoadCredential="
"""systemd-analyze shows no credentials."""
_SHOWN = frozenset({"MemoryMax", "MemoryHigh", "MemorySwapMax", "TasksMax", "LimitMEMLOCK", "LimitNOFILE"})
"""Limits that systemd-analyze shows as the number that was written."""


def unit_of(launch: Launch) -> str:
    """The name of the unit. Raises CannotRender."""
    unit = launch.place.unit or f"hio-{launch.model_name}.service"
    if not _UNIT.fullmatch(unit):
        raise CannotRender(
            f"{unit} is no name of a unit: write unit: NAME.service, of letters, digits and : - _ ., "
            f"for {launch.model_name} in manifests/sites/{launch.site.name}.yaml"
        )
    return unit


def is_of_a_user(launch: Launch) -> bool:
    return launch.place.backend == "systemd-user"


def _options(launch: Launch) -> dict[str, str]:
    target = "systemd-user" if is_of_a_user(launch) else "systemd"
    said = options_of(launch, target, _OPTIONS)
    if target == "systemd" and "user" not in said:
        raise CannotRender(
            f"manifests/sites/{launch.site.name}.yaml does not say as which user {launch.model_name} runs, and hio makes no "
            f"server that runs as root: write targets: {{systemd: {{user: NAME}}}} under services: {launch.model_name}: in "
            "it, or backend: systemd-user for the systemd of whoever calls hio"
        )
    return said


def _folders(launch: Launch, asked: Asked) -> tuple[PurePosixPath, PurePosixPath]:
    """Where the files of the service and the units are. Raises CannotRender."""
    said = _options(launch)
    usual = None if is_of_a_user(launch) else PurePosixPath("/etc/hio") / launch.service
    if asked.root and not _FOLDER.fullmatch(str(asked.root)):
        raise CannotRender(
            f"{str(asked.root)!r} is no folder for files of systemd: expected an absolute path of letters, digits and "
            "_ . , @ + -"
        )
    root = asked.root or (PurePosixPath(said["folder"]) if "folder" in said else usual)
    units = asked.units or PurePosixPath(
        said.get("units", "/" if is_of_a_user(launch) else "/etc/systemd/system")
    )
    if root is None or units == PurePosixPath("/"):
        raise CannotRender(
            f"the site {launch.site.name} does not say where the units of its user are: "
            "write targets: {systemd-user: {folder: /home/NAME/.config/hio, units: /home/NAME/.config/systemd/user}}"
        )
    return root, units


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    root, units = _folders(launch, asked)
    unit = unit_of(launch)
    return (
        Draft(unit, "systemd/unit.j2", 0o644, units / unit),
        Draft(ENVIRONMENT, "systemd/environment.j2", 0o600, root / ENVIRONMENT),
        Draft(ARGV, "systemd/argv.json.j2", 0o644, root / ARGV),
        Draft(READY, "systemd/ready.sh.j2", 0o755, root / READY),
        Draft(VERIFY, "systemd/verify.sh.j2", 0o755, root / VERIFY),
    )


def _words(launch: Launch) -> list[str]:
    return launch.words({name: f"$CREDENTIALS_DIRECTORY/{name}" for name in launch.secrets})


def _limits(launch: Launch) -> dict[str, str]:
    found = limits_of(launch.place, "systemd", _LIMITS)
    return {
        _LIMITS[name]: f"{plain(value * 100)}%" if name == "cpus" else plain(value)
        for name, value in found.items()
    } | {"TimeoutStartSec": str(launch.ready.within_s)}


def _context(launch: Launch, asked: Asked) -> dict[str, Any]:
    root, _ = _folders(launch, asked)
    return {
        "unit": unit_of(launch),
        "user_unit": is_of_a_user(launch),
        "backend": "systemd-user" if is_of_a_user(launch) else "systemd",
        "user": _options(launch).get("user", ""),
        "environment_path": str(root / ENVIRONMENT),
        "root": str(root),
        "credentials": launch.secret_files(),
        "words": _words(launch),
        "unit_limits": _limits(launch),
    }


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    unit = unit_of(launch)
    root, _ = _folders(launch, asked)
    refuse_other_environment(texts[ENVIRONMENT], ENVIRONMENT, launch.plain)
    if reader.is_installed():
        _refuse_other_unit(unit, texts[unit], launch, root)
        by = reader.version()
    else:
        _refuse_other_unit_by_our_reader(unit, texts, launch, root)
        by = "hio's own reader of units (systemd-analyze is not installed)"
    return {
        unit: by,
        ENVIRONMENT: OWN_ENVIRONMENT_READER,
        ARGV: _argv_reader(texts[ARGV], launch),
        READY: _ready_reader(texts[READY], launch),
        VERIFY: _verify_reader(texts[VERIFY], launch),
    }


def _refuse_other_unit(unit: str, text: str, launch: Launch, root: PurePosixPath) -> None:
    words = _words(launch)
    read = reader.read(unit, text, [words[0]])
    meant = {
        "EnvironmentFile": [str(root / ENVIRONMENT)],
        "User": [user] if (user := _options(launch).get("user")) else [],
        "WorkingDirectory": [launch.command.folder],
        "Environment": [],
        **{name: [value] for name, value in _limits(launch).items() if name in _SHOWN},
    }
    other = [name for name, values in meant.items() if read.settings.get(name, []) != values]
    started = {
        name: [[_undoubled(word, unit) for word in line] for line in lines]
        for name, lines in read.commands.items()
    }
    if started != {"ExecStart": [words]}:
        other.append("ExecStart")
    credentials = [
        line.removeprefix(_CREDENTIAL) for line in text.split("\n") if line.startswith(_CREDENTIAL)
    ]
    if credentials != [f"{name}:{path}" for name, path in launch.secret_files().items()]:
        other.append("LoadCredential")
    if other:
        raise CannotRender(f"{unit}: systemd reads {', '.join(other)} otherwise than the stack says it")


def _undoubled(word: str, unit: str) -> str:
    """A word of a command line when systemd has filled it in; nothing may be left to fill in."""
    pieces = word.split("$$")
    if any("$" in piece for piece in pieces):
        raise CannotRender(f"{unit}: a word of ExecStart has a $ that systemd would fill in")
    return "$".join(pieces)


def _refuse_other_unit_by_our_reader(
    unit: str, texts: Mapping[str, str], launch: Launch, root: PurePosixPath
) -> None:
    other = _other_settings(texts[unit], launch, root)
    if other:
        raise CannotRender(
            f"{unit}: hio's own reader reads {', '.join(other)} otherwise than the stack says it"
        )
    with tempfile.TemporaryDirectory(prefix="hio-unit-") as folder:
        file = Path(folder, str(root / ENVIRONMENT).lstrip("/"))
        file.parent.mkdir(parents=True)
        file.write_text(texts[ENVIRONMENT], encoding="utf-8")
        Path(folder, unit).write_text(texts[unit], encoding="utf-8")
        try:
            read = read_unit(Path(folder, unit), Path(folder))
        except Unobservable as error:
            raise CannotRender(str(error).replace(folder, "")) from None
    words = (
        None if launch.secret else tuple(launch.command.argv)
    )  # our reader follows no launcher, and sh is one
    if read.argv != words or read.env != launch.plain or (read.unresolved and not launch.secret):
        raise CannotRender(f"{unit}: hio's own reader reads it otherwise than the stack says it")


def _other_settings(text: str, launch: Launch, root: PurePosixPath) -> list[str]:
    """Settings of a unit that say something else than the launch, by our own reading of its lines."""
    said: dict[str, list[str]] = {}
    for line in text.replace("\\\n", " ").split("\n"):
        key, equals, value = line.partition("=")
        if equals and not key.startswith(("#", ";")):
            said.setdefault(key.strip(), []).append(value.strip())
    user = _options(launch).get("user")
    meant = {
        "User": [user] if user else [],
        "WorkingDirectory": [launch.command.folder],
        "EnvironmentFile": [str(root / ENVIRONMENT)],
        "LoadCredential": [f"{name}:{path}" for name, path in launch.secret_files().items()],
        **{name: [value] for name, value in _limits(launch).items()},
    }
    more = [name for name in said if name.startswith("Exec") and (name != "ExecStart" or len(said[name]) > 1)]
    return more + [name for name, values in meant.items() if said.get(name, []) != values]


def _argv_reader(text: str, launch: Launch) -> str:
    try:
        said = json.loads(text)
    except ValueError as error:
        raise CannotRender(f"{ARGV} is no JSON: {error}") from None
    if not isinstance(said, dict) or said.get("argv") != launch.command.argv:
        raise CannotRender(f"{ARGV} says other words than the stack {launch.stack.name}")
    return "the JSON reader of Python"


def _ready_reader(text: str, launch: Launch) -> str:
    who = shell.refuse_syntax(text, READY)
    lines = {line.partition("=")[0]: line.partition("=")[2] for line in text.split("\n") if "=" in line}
    if shell.unquoted(lines.get("URL", "")) != launch.ready.url or lines.get("WITHIN_S") != str(
        launch.ready.within_s
    ):
        raise CannotRender(f"{READY} asks another address, or for another time, than the site says")
    return who


def _verify_reader(text: str, launch: Launch) -> str:
    who = shell.refuse_syntax(text, VERIFY)
    if not all(each in text for each in (launch.stack.name, launch.service, unit_of(launch))):
        raise CannotRender(f"{VERIFY} does not name the stack, the service and the unit")
    return who


def _steps(launch: Launch, asked: Asked, earlier: Earlier | None) -> list[str]:
    unit, root = unit_of(launch), _folders(launch, asked)[0]
    ctl = f"systemctl{' --user' if is_of_a_user(launch) else ''}"
    stop = [f"`{ctl} stop {unit}`", f"`{ctl} show -p MainPID --value {unit}` must print 0"]
    if earlier is None:
        return [
            *stop,
            f"`{ctl} disable {unit}`",
            "Remove the files of the table below",
            f"`{ctl} daemon-reload`",
        ]
    again = f"hio render {earlier.name} --service {launch.service} --target systemd --out back"
    return [
        *stop,
        f"Put back the files of the table below: from the folder that hio deploy saved them in, or from `{again}`",
        f"`{ctl} daemon-reload`",
        f"`{ctl} start {unit}`",
        f"`sh {root / READY}` must end without a word",
    ]


def _checks(launch: Launch, asked: Asked, earlier: Earlier | None) -> list[str]:
    port = launch.ready.port
    if earlier is None:
        return [f"`ss -ltn 'sport = :{port}'` shows that nobody listens"]
    user = " --user" if is_of_a_user(launch) else ""
    return [
        f"`hio verify {earlier.name} --service {launch.service} --unit {unit_of(earlier.launch)}` exits 0",
        "`sha256sum` of every file of the table below begins with what stands there under afterwards",
        f"`ss -ltnp 'sport = :{port}'` shows one process, the main one of `systemctl{user} status {unit_of(earlier.launch)}`",
    ]


TARGET = Target(
    _drafts,
    _context,
    _read_back,
    WayBack(
        plan=Draft("rollback.yaml", "systemd/rollback.yaml.j2"),
        page=Draft("ROLLBACK.md", "systemd/ROLLBACK.md.j2"),
        steps=_steps,
        checks=_checks,
    ),
)
