"""The builds, stacks and captures that the tests of settings are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hio_validate.models import reader
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import Family
from hio_validate.models.stack import Stack
from hio_validate.settings import family as families
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.difference import LEAVES_NO_DIFFERENCE, Difference, Group
from hio_validate.settings.resolve import resolve
from hio_validate.settings.setting import Effective, Knowledge, Setting

FIXTURES = Path(__file__).parent / "fixtures"
HELP = {"llama": "llama-help.txt", "next": "llama-help-next.txt", "vllm": "vllm-help.txt"}
FAMILY = {"llama": "llama-server", "next": "llama-server", "vllm": "vllm"}
SHA = "0123456789abcdef" * 4


def help_text(build: str) -> str:
    return (FIXTURES / HELP[build]).read_text(encoding="utf-8")


def table(build: str) -> Family:
    found = families.packaged(FAMILY[build])
    assert found is not None
    return found


@cache
def catalogue(build: str) -> Catalogue:
    return families.learn(help_text(build), table(build))


def known(build: str, observed: CapturedProcess | None = None) -> Knowledge:
    return Knowledge(table(build), catalogue(build), build, {}, observed)


def stack(argv: Sequence[Sequence[str]] = (), env: Mapping[str, str] | None = None, **more: Any) -> Stack:
    """A stack of one process called server."""
    process = {"engine": "any", "argv": [list(line) for line in argv], "env": dict(env or {}), **more}
    made: Stack = reader("stack/v1").validate_python(
        {"hio": "stack/v1", "name": "made", "processes": {"server": process}}
    )
    return made


def effective(
    build: str,
    argv: Sequence[Sequence[str]] = (),
    env: Mapping[str, str] | None = None,
    observed: CapturedProcess | None = None,
    **more: Any,
) -> Effective:
    return resolve(stack(argv, env, **more), {"server": known(build, observed)})


def setting(found: Effective, factor: str) -> Setting:
    return found.settings[f"server.{factor}"]


def captured(
    argv: Sequence[Sequence[str]] | None = (),
    props: Mapping[str, Any] | None = None,
    log: Mapping[str, Any] | None = None,
    **more: Any,
) -> CapturedProcess:
    """A process as a capture shows it; `argv` are the lines after the program."""
    value = None if argv is None else [["/opt/engine/llama-server"], *map(list, argv)]
    data = {
        "pid": 7,
        "family": "llama-server",
        "started": {"how": "proc"},
        "executable": {"path": "/opt/engine/llama-server", "sha256": SHA, "how": "hash"},
        "argv": {"how": "unknown"} if value is None else {"how": "proc", "value": value},
        "environ": {"how": "proc"},
        "threads": {"how": "unknown"},
        "memory": {"how": "unknown"},
        **({"props": {"how": "props", "facts": dict(props)}} if props else {}),
        **({"log": {"how": "log", "facts": dict(log)}} if log else {}),
        **more,
    }
    return CapturedProcess.model_validate(data)


SILENT = {*LEAVES_NO_DIFFERENCE}


def told(found: Difference) -> dict[str, tuple[Group, str, str]]:
    """Everything that is not equal."""
    return {each.address: (each.group, each.from_, each.to) for each in found if each.group not in SILENT}


def processes(**made: Any) -> Stack:
    data = {name: {"engine": "x", **process} for name, process in made.items()}
    found: Stack = reader("stack/v1").validate_python({"hio": "stack/v1", "name": "made", "processes": data})
    return found


def exhaustive(found: Difference, parent: Effective, candidate: Effective) -> bool:
    """Every setting of either side is in exactly one place, and every place has one group."""
    theirs = Counter(each.parent.address for each in found if each.parent)
    mine = Counter(each.candidate.address for each in found if each.candidate)
    addresses = [each.address for each in found]
    grouped = [each for group in Group for each in found.of(group)]
    return (
        theirs == Counter(list(parent.settings))
        and mine == Counter(list(candidate.settings))
        and len(addresses) == len(set(addresses)) == len(grouped)
    )
