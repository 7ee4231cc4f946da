"""New documents from what was observed: engines, captures, draft stacks and sites.

Invariant: a draft never replaces what a document says, and no value of a secret is ever written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate.models.capture import Capture
from hio_validate.models.ceilings import Ceilings
from hio_validate.models.family import Family
from hio_validate.models.profile import Profile
from hio_validate.models.site import Site
from hio_validate.settings.argv import read_argv
from hio_validate.settings.captured import stack_of
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.family import recognised
from hio_validate.settings.places import SECRET
from hio_validate.settings.secrets import WITHHELD
from hio_validate.source import digest_of
from hio_validate.source.dump import Row, dump
from hio_validate.source.edit import Edit, Set, edit

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


def ceilings_file(ceilings: Ceilings, file: str, verb: str) -> bytes:
    """The bytes of measured ceilings, which `verb` measured."""
    head = (
        modeline("ceilings", file) + f"\nMeasured by {verb}; never edited. What is absent was not measured."
    )
    data = ceilings.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    judged_by = {"judged_by": Row(data["judged_by"])} if "judged_by" in data else {}
    return dump({"hio": "ceilings/v1", **data, **judged_by}, head=head)


def profile_file(profile: Profile, file: str) -> bytes:
    """The bytes of a profile."""
    head = modeline("profile", file) + "\nWritten by hio probe profile; never edited. Shares, never speeds."
    data = profile.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    judged_by = {"judged_by": Row(data["judged_by"])} if "judged_by" in data else {}
    return dump({"hio": "profile/v1", **data, **judged_by}, head=head)


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


def shape_file(document: Mapping[str, Any], file: str) -> bytes:
    """The bytes of a model's shape."""
    rows = {key: [Row(each) for each in document[key]] for key in ("attention", "weights")}
    return dump({**document, **rows}, head=modeline("shape", file) + "\nRead by hio probe model.")


def draft_stack(
    name: str,
    capture: Capture,
    families: Mapping[str, tuple[Family | None, Catalogue | None]],
    file: str,
    known: Mapping[str, str] | None = None,
) -> tuple[bytes, dict[str, str]]:
    """A stack that says what a capture shows, and what its ${place-holders} stand for there.

    `known` is what place-holders of the service stand for already: none of them is given another meaning.
    """
    shown = stack_of(capture, name).model_dump(exclude_defaults=True)
    places = dict(known or {})
    for role, process in shown["processes"].items():
        family, catalogue = families.get(role, (None, None))
        process["argv"] = with_place_holders(process.get("argv", []), family, catalogue, places)
        process["env"] = {
            variable: secret(variable, places) if value == WITHHELD else value
            for variable, value in process.get("env", {}).items()
            if variable not in _OF_A_PLACE
        }
        for key in [key for key, value in process.items() if not value]:
            del process[key]
    data = {"hio": "stack/v1", "name": name, "processes": shown["processes"]}
    return dump(data, head=modeline("stack", file)), places


_OF_A_PLACE = frozenset({"LD_LIBRARY_PATH", "LD_PRELOAD"})


def with_place_holders(
    lines: list[list[str]], family: Family | None, catalogue: Catalogue | None, places: dict[str, str]
) -> list[list[str]]:
    """Locators, endpoints and withheld secrets become ${...}; everything else stays as it runs."""
    of_a_place = {
        factor
        for name in ("artifact", "locator", "endpoint")
        for factor in (family.classes.get(name, []) if family else [])
    }
    written = [list(line) for line in lines]
    for given in read_argv(lines, family, catalogue)[0]:
        if len(given.path) != 2:
            continue
        row, column = int(given.path[0]), int(given.path[1])
        word = written[row][column]
        # The value may stand behind its flag, in one word (--port=8080); a grammar without a help may take more words for it.
        value = given.value if word.endswith(given.value) else word
        if value == WITHHELD:
            filled = secret(given.factor, places)
        elif given.factor in of_a_place and _names_a_place(given.factor, value):
            filled = f"${{{place_holder(given.factor, value, places)}}}"
        else:
            continue
        written[row][column] = word.removesuffix(value) + filled
    return written


def _names_a_place(factor: str, value: str) -> bool:
    """Whether a value belongs to a host; one that something else still fills in stays as it is written."""
    if "$" in value or "{{" in value:
        return False
    return factor in ("host", "port") or value.startswith(("/", "~/", "./", "../")) or value.endswith(".gguf")


def place_holder(factor: str, value: str, places: dict[str, str]) -> str:
    key = factor
    number = 2
    while places.get(key, value) != value:
        key, number = f"{factor}-{number}", number + 1
    places[key] = value
    return key


def secret(name: str, places: dict[str, str]) -> str:
    """The reference to a secret of which nobody said yet where it is kept."""
    places.setdefault(f"{SECRET}{name}", "say where it is kept")
    return f"${{{SECRET}{name}}}"


def programs_of(capture: Capture) -> dict[str, str]:
    """Build, or else family, of each process -> the program it runs, where that can be started again under its path."""
    found = {}
    for process in capture.processes.values():
        path = process.executable.path
        if path and not process.executable.note and recognised([path]) == process.family:
            found[process.build or process.family] = path
    return found


def draft_site(
    site: str, model: str, places: Mapping[str, str], file: str, programs: Mapping[str, str] | None = None
) -> bytes:
    """A site that says where the captured process listened, found its files and had its program."""
    data: dict[str, Any] = {"hio": "site/v1", "name": site, "services": {model: _place(places)}}
    if programs:
        data["programs"] = dict(programs)
    return dump(data, head=modeline("site", file))


def with_places(
    raw: bytes, site: Site, model: str, places: Mapping[str, str], programs: Mapping[str, str] | None = None
) -> bytes:
    """A site with what it does not say yet of a service and of programs; what it says stays. Raises CannotEdit."""
    return edit(raw, [*_new_places(site, model, _place(places)), *_new_programs(site, programs or {})])


def _new_programs(site: Site, programs: Mapping[str, str]) -> list[Edit]:
    new = {name: path for name, path in programs.items() if name not in site.programs}
    if not site.programs:
        return [Set(("programs",), new)] if new else []
    return [Set(("programs", name), path) for name, path in new.items()]


def _new_places(site: Site, model: str, place: Mapping[str, Any]) -> list[Edit]:
    said = site.services.get(model)
    if not place:
        return []
    if not site.services:
        return [Set(("services",), {model: dict(place)})]
    if said is None:
        return [Set(("services", model), dict(place))]
    edits: list[Edit] = []
    for key, value in place.items():
        own = getattr(said, key)
        if not own:
            edits.append(Set(("services", model, key), value))
        elif isinstance(value, dict):
            edits += [
                Set(("services", model, key, name), text) for name, text in value.items() if name not in own
            ]
    return edits


def _place(places: Mapping[str, str]) -> dict[str, Any]:
    """The place of a service as a site states it."""
    secrets = {name.removeprefix(SECRET): where for name, where in places.items() if name.startswith(SECRET)}
    paths = {
        name: value
        for name, value in places.items()
        if name not in ("host", "port") and not name.startswith(SECRET)
    }
    port = places.get("port", "")
    return {
        **({"host": places["host"]} if "host" in places else {}),
        **({"port": int(port)} if port.isdigit() else {}),
        **({"paths": paths} if paths else {}),
        **({"secrets": secrets} if secrets else {}),
    }
