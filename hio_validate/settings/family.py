"""Engine families: the grammar of an argv, the tables kept by hand, and how to learn from a help text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from hio_validate.models import reader
from hio_validate.models.family import Family
from hio_validate.settings.catalogue import Catalogue
from hio_validate.source import read

PACKAGED = ("llama-server", "vllm", "sglang")
"""Families that ship with hio; a repository adds its own under manifests/engines/<family>/family.yaml."""


def recognised(argv: Sequence[str]) -> str | None:
    """The packaged family whose program a command line starts; python (and its `-m`) may stand before it."""
    words = list(argv[:1])
    if words and words[0].rpartition("/")[2].startswith("python"):
        words = [argv[2].partition(".")[0]] if len(argv) > 2 and argv[1] == "-m" else list(argv[1:2])
    for word in words:
        program = word.rpartition("/")[2]
        for name in PACKAGED:
            if program == name or program.startswith(f"{name}-"):
                return name
    return None


WRAPPERS = frozenset(
    {
        "chrt", "env", "ionice", "nice", "nohup", "numactl", "setpriv", "setsid", "stdbuf", "sudo", "systemd-run",
        "taskset", "time", "timeout",
    }
)  # fmt: skip
"""Programs that set something and then become the program named in their arguments."""


def program_at(argv: Sequence[str]) -> int:
    """Where the engine's own words begin: behind wrappers such as `numactl --membind=0`; 0 where none is known."""
    if not argv or argv[0].rpartition("/")[2] not in WRAPPERS:
        return 0
    return next((at for at in range(1, len(argv)) if recognised(argv[at:])), 0)


@cache
def packaged(name: str) -> Family | None:
    """The family table that ships in the package, None where there is none."""
    if name not in PACKAGED:
        return None
    raw = (Path(__file__).parent / "families" / f"{name}.yaml").read_bytes()
    family: Family = reader("family/v1").validate_python(read(raw, f"{name}.yaml").data)
    return family


def extended(base: Family | None, extension: Family | None) -> Family | None:
    """The packaged table with a repository's own on top: lists and mappings add up, single values win."""
    if base is None or extension is None:
        return extension or base
    merged = base.model_dump(by_alias=True)
    for key, value in extension.model_dump(by_alias=True, exclude_unset=True).items():
        merged[key] = _joined(merged.get(key), value)
    family: Family = reader("family/v1").validate_python(merged)
    return family


def _joined(ours: object, theirs: object) -> object:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {**ours, **{key: _joined(ours.get(key), value) for key, value in theirs.items()}}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [*ours, *(item for item in theirs if item not in ours)]
    return theirs


def learn(text: str, family: Family) -> Catalogue:
    """The catalogue in a help text. Raises UnreadableHelp with the line that is not understood."""
    return _reader_of_help(family.help)(text)


def _reader_of_help(kind: str) -> Callable[[str], Catalogue]:
    # Imported here: a help text is read only where settings are resolved, and one of the two readers serves.
    if kind == "argparse":
        from hio_validate.settings import help_argparse

        return help_argparse.learn
    from hio_validate.settings import help_llama

    return help_llama.learn
