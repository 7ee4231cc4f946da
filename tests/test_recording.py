"""Drafts of what was observed: place-holders, references to secrets, and the places of a site."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.models import reader
from hio_validate.models.capture import Capture
from hio_validate.recording import draft_site, draft_stack, programs_of, with_places
from hio_validate.repo import item_of
from hio_validate.source import read
from hio_validate.source.edit import CannotEdit
from tests.settings.stacks import captured, catalogue, table

FILE = "manifests/services/lab/tiny/stacks/seen.yaml"
SITE_FILE = "manifests/sites/lab.yaml"


def drafted(
    argv: list[list[str]], known: dict[str, str] | None = None, build: str = "llama", **more: Any
) -> tuple[Any, dict[str, str]]:
    """The drafted stack's process, and its places."""
    process = captured(argv, **more).model_dump(exclude_none=True)
    capture: Capture = reader("capture/v1").validate_python({
        "hio": "capture/v1", "name": "c", "at": "2026-01-02T03:04:05Z", "by": "hio", "host": {"how": "unknown"},
        "processes": {"server": process},
    })  # fmt: skip
    raw, places = draft_stack("seen", capture, {"server": (table(build), catalogue(build))}, FILE, known)
    item = item_of(read(raw, FILE))
    assert item.model is not None, item.refused
    return item.model.processes["server"], places


def site(raw: bytes) -> Any:
    item = item_of(read(raw, SITE_FILE))
    assert item.model is not None, item.refused
    return item.model


def test_places_become_place_holders_and_secrets_references() -> None:
    environ = {"how": "proc", "names": ["HF_TOKEN"], "withheld": ["HF_TOKEN"]}
    process, places = drafted(
        [["--port", "8081"], ["--api-key", "withheld"], ["-t", "2"], ["-m", "/m.gguf"]], environ=environ
    )
    assert process.argv == [
        ["--port", "${port}"], ["--api-key", "${secret:api-key}"], ["-t", "2"], ["-m", "${model}"],
    ]  # fmt: skip
    assert process.env == {"HF_TOKEN": "${secret:HF_TOKEN}"}
    place = site(draft_site("lab", "tiny", places, SITE_FILE)).services["tiny"]
    assert (place.port, place.paths, list(place.secrets)) == (
        8081,
        {"model": "/m.gguf"},
        ["api-key", "HF_TOKEN"],
    )


def test_a_value_in_the_word_of_its_flag_keeps_the_flag() -> None:
    process, _ = drafted([["m"], ["--port=8081"]], build="vllm")
    assert process.argv[1] == ["--port=${port}"]


def test_a_place_holder_of_the_site_keeps_its_meaning() -> None:
    process, places = drafted(
        [["-m", "/other.gguf"], ["--port", "1"]], known={"model": "/m.gguf", "port": "1"}
    )
    assert process.argv == [["-m", "${model-2}"], ["--port", "${port}"]]
    assert places == {"model": "/m.gguf", "model-2": "/other.gguf", "port": "1"}


WRITTEN = """\
hio: site/v1
name: lab
services:
  old:  # the first one
    port: 8080
    paths: {model: /m.gguf}
# the end
"""


def test_a_second_service_is_added_and_all_else_stays() -> None:
    raw = with_places(WRITTEN.encode(), site(WRITTEN.encode()), "tiny", {"port": "8081", "model": "/n.gguf"})
    lines = raw.decode().splitlines()
    assert [line for line in lines if line not in WRITTEN.splitlines()] == [
        "  tiny: {port: 8081, paths: {model: /n.gguf}}"
    ]
    assert set(WRITTEN.splitlines()) < set(lines)
    assert site(raw).services["tiny"].paths == {"model": "/n.gguf"}


def test_a_service_that_is_there_gains_what_it_lacks_and_loses_nothing() -> None:
    places = {"port": "9", "host": "::1", "model": "/other", "model-2": "/n.gguf", "secret:key": "elsewhere"}
    place = site(with_places(WRITTEN.encode(), site(WRITTEN.encode()), "old", places)).services["old"]
    assert (place.port, place.host) == (8080, "::1")
    assert place.paths == {"model": "/m.gguf", "model-2": "/n.gguf"}
    assert place.secrets == {"key": "elsewhere"}


def test_a_site_without_services_gains_them() -> None:
    raw = b"hio: site/v1\nname: lab  # mine\n"
    assert site(with_places(raw, site(raw), "tiny", {"port": "1"})).services["tiny"].port == 1


def test_what_comes_from_an_alias_is_left_to_a_person() -> None:
    raw = b"hio: site/v1\nname: lab\nservices:\n  a: &a {port: 1}\n  b: *a\n"
    with pytest.raises(CannotEdit):
        with_places(raw, site(raw), "b", {"host": "::1"})


def _seen(family: str = "llama-server", build: str | None = None, **executable: Any) -> Capture:
    process = captured([["-t", "2"]]).model_dump(exclude_none=True)
    process |= {"family": family, "executable": {"how": "unknown", **executable}} | (
        {"build": build} if build else {}
    )
    seen: Capture = reader("capture/v1").validate_python({
        "hio": "capture/v1", "name": "c", "at": "2026-01-02T03:04:05Z", "by": "hio", "host": {"how": "unknown"},
        "processes": {"server": process},
    })  # fmt: skip
    return seen


def test_a_program_is_kept_by_its_build_where_it_could_be_started_again() -> None:
    path = "/opt/llama/bin/llama-server"
    assert programs_of(_seen(build="b9001", path=path)) == {"b9001": path}
    assert programs_of(_seen(path=path)) == {"llama-server": path}
    assert not programs_of(_seen(path=path, note="(deleted)"))
    assert not programs_of(_seen(family="vllm", path="/usr/bin/python3.11"))
    assert not programs_of(_seen())


def test_programs_join_a_site_and_replace_none() -> None:
    raw = with_places(WRITTEN.encode(), site(WRITTEN.encode()), "old", {}, {"b9001": "/a"})
    assert set(WRITTEN.splitlines()) < set(raw.decode().splitlines())
    again = site(with_places(raw, site(raw), "old", {}, {"b9001": "/b", "b9002": "/c"}))
    assert again.programs == {"b9001": "/a", "b9002": "/c"}
    assert site(draft_site("lab", "tiny", {"port": "1"}, SITE_FILE, {"b9001": "/a"})).programs == {
        "b9001": "/a"
    }
