"""New documents from what was observed: engines, captures, draft stacks and sites.

Invariant: a draft never replaces a document that exists, and no value of a secret is ever written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.models.capture import Capture
from hio_validate.models.family import Family
from hio_validate.settings.argv import read_argv
from hio_validate.settings.captured import stack_of
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.secrets import WITHHELD
from hio_validate.source import digest_of
from hio_validate.source.dump import dump

_SCHEMA_DEPTH = "../"


def modeline(kind: str, file: str) -> str:
    """The comment that gives an editor the schema of a document, relative to where the document stands."""
    return f"yaml-language-server: $schema={_SCHEMA_DEPTH * file.count('/')}schemas/{kind}.schema.json"


def capture_file(capture: Capture, file: str) -> bytes:
    """The bytes of a capture."""
    head = modeline("capture", file) + "\nWritten by hio capture; never edited. What is absent is unknown."
    return dump(
        capture.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True) | {"hio": "capture/v1"},
        head=head,
    )


def engine_file(
    name: str,
    family: str,
    help_text: bytes,
    identity: Mapping[str, Any] | None,
    revision: str | None,
    file: str,
) -> bytes:
    """The bytes of an engine document; its help text stands beside it as help.txt."""
    data: dict[str, Any] = {
        "hio": "engine/v1",
        "name": name,
        "family": family,
        "help": {"file": "help.txt", "sha256": digest_of(help_text).removeprefix("sha256:")},
    }
    if revision:
        data["source"] = {"revision": revision}
    if identity:
        data["identity"] = dict(identity)
    return dump(data, head=modeline("engine", file))


def draft_stack(
    name: str, capture: Capture, families: Mapping[str, tuple[Family | None, Catalogue | None]], file: str
) -> tuple[bytes, dict[str, str]]:
    """A stack that says what a capture shows, and the values that its ${place-holders} stand for there."""
    shown = stack_of(capture, name).model_dump(exclude_defaults=True)
    places: dict[str, str] = {}
    for role, process in shown["processes"].items():
        family, catalogue = families.get(role, (None, None))
        process["argv"] = _with_place_holders(process.get("argv", []), family, catalogue, places)
        process["env"] = {
            name: value
            for name, value in process.get("env", {}).items()
            if name not in _OF_A_PLACE and value != WITHHELD
        }
        process.update({key: value for key, value in list(process.items()) if value})
        for key in [key for key, value in process.items() if not value]:
            del process[key]
    data = {"hio": "stack/v1", "name": name, "processes": shown["processes"]}
    return dump(data, head=modeline("stack", file)), places


_OF_A_PLACE = frozenset({"LD_LIBRARY_PATH", "LD_PRELOAD"})


def _with_place_holders(
    lines: list[list[str]], family: Family | None, catalogue: Catalogue | None, places: dict[str, str]
) -> list[list[str]]:
    """Locators and endpoints become ${factor}; everything else stays as it runs."""
    of_a_place = {
        factor
        for name in ("artifact", "locator", "endpoint")
        for factor in (family.classes.get(name, []) if family else [])
    }
    written = [list(line) for line in lines]
    for given in read_argv(lines, family, catalogue)[0]:
        if given.factor in of_a_place and _names_a_place(given.factor, given.value) and len(given.path) == 2:
            row, column = given.path
            key = _place_holder(given.factor, given.value, places)
            written[int(row)][int(column)] = f"${{{key}}}"
    return written


def _names_a_place(factor: str, value: str) -> bool:
    return factor in ("host", "port") or value.startswith("/")


def _place_holder(factor: str, value: str, places: dict[str, str]) -> str:
    key = factor
    number = 2
    while places.get(key, value) != value:
        key, number = f"{factor}-{number}", number + 1
    places[key] = value
    return key


def draft_site(site: str, model: str, places: Mapping[str, str], file: str) -> bytes:
    """A site that says where the captured process listened and found its files."""
    paths = {name: value for name, value in places.items() if name not in ("host", "port")}
    place: dict[str, Any] = {}
    if "host" in places:
        place["host"] = places["host"]
    if places.get("port", "").isdigit():
        place["port"] = int(places["port"])
    if paths:
        place["paths"] = paths
    return dump({"hio": "site/v1", "name": site, "services": {model: place}}, head=modeline("site", file))
