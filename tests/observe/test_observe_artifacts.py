"""Which mapped file is the model, and what never passes as one."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hio_validate.models.capture import Artifact
from hio_validate.observe import mapped, proc
from hio_validate.observe.artifacts import Look, artifacts, named_files
from hio_validate.observe.hashing import HashCache, sha256_of

from .conftest import ROOT, Start, as_nobody
from .gguf_writer import gguf

MAP = """
import mmap, sys
keep = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        keep.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED))
"""
FUTURE = 2.0**40


def model(file: Path, name: str = "tiny", **more: Any) -> Path:
    pairs = {"general.name": ("str", name), **{key.replace("_", "."): value for key, value in more.items()}}
    file.write_bytes(gguf(pairs) + b"tensors" * 1000)
    return file


def look_at(pid: int, *settings: tuple[str, str]) -> dict[str, Artifact]:
    look = Look(pid, partial(sha256_of, cache=HashCache(None)), FUTURE)
    return artifacts(look, proc.mapped_files(pid), named_files(settings, proc.working_directory(pid)))


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_the_named_model_is_found_with_its_header(start_python: Start, place: Path) -> None:
    file = model(place / "m.gguf")
    pid = start_python(MAP, str(file)).pid
    found = look_at(pid, ("model", str(file)))
    assert set(found) == {"model"}
    assert (found["model"].sha256, found["model"].how, found["model"].note) == (digest(file), "hash", None)
    assert (found["model"].gguf or {})["general.name"] == "tiny"


def test_relative_and_linked_names(start_python: Start, place: Path) -> None:
    file = model(place / "blob")
    (place / "link.gguf").symlink_to("blob")
    pid = start_python(MAP, "link.gguf", cwd=place).pid
    for value in ("link.gguf", "./blob", str(place / "link.gguf")):
        found = look_at(pid, ("model", value))
        assert set(found) == {"model"}, value
        assert found["model"].sha256 == digest(file)


def test_a_link_pointed_elsewhere_still_gives_the_running_model(start_python: Start, place: Path) -> None:
    file, other = model(place / "one.gguf"), model(place / "two.gguf", "other")
    (place / "link.gguf").symlink_to(file)
    pid = start_python(MAP, str(place / "link.gguf")).pid
    (place / "link.gguf").unlink()
    (place / "link.gguf").symlink_to(other)
    found = look_at(pid, ("model", str(place / "link.gguf")))
    assert set(found) == {"model"}
    assert found["model"].sha256 == digest(file)


def test_a_single_model_without_a_name_is_the_model(start_python: Start, place: Path) -> None:
    file = model(place / "cached-blob")
    pid = start_python(MAP, str(file)).pid
    assert look_at(pid)["model"].sha256 == digest(file)


def test_companions_by_role_and_a_stranger(start_python: Start, place: Path) -> None:
    files = {name: model(place / f"{name}.gguf", name) for name in ("m", "draft", "mm", "l1", "l2", "x", "y")}
    pid = start_python(MAP, *map(str, files.values())).pid
    found = look_at(
        pid,
        ("model", str(files["m"])),
        ("spec-draft-model", str(files["draft"])),
        ("mmproj", str(files["mm"])),
        ("lora-scaled", f"{files['l1']}:0.5,{files['l2']}:2"),
    )
    roles = {role: (artifact.gguf or {}).get("general.name") for role, artifact in found.items()}
    assert {roles.pop("gguf-1"), roles.pop("gguf-2")} == {"x", "y"}
    assert roles == {"model": "m", "draft": "draft", "projector": "mm", "adapter": "l1", "adapter-2": "l2"}
    assert found["gguf-1"].note == "no argument names it"


def test_of_two_models_given_the_last_counts() -> None:
    assert [
        name.value for name in named_files([("model", "/a"), ("model", "/b"), ("threads", "2")], "/")
    ] == ["/b"]


def test_a_model_that_is_not_mapped_is_unknown_and_never_its_paths_bytes(
    start_python: Start, place: Path
) -> None:
    file = model(place / "m.gguf")
    found = look_at(start_python("").pid, ("model", str(file)))
    assert found == {"model": Artifact(path=str(file), how="unknown", note="not mapped")}


def test_a_model_that_is_still_open_is_hashed_through_its_descriptor(
    start_python: Start, place: Path
) -> None:
    file = model(place / "m.gguf")
    before = digest(file)
    pid = start_python("import sys\nheld = open(sys.argv[1], 'rb')", str(file)).pid
    found = look_at(pid, ("model", str(file)))["model"]
    assert (found.sha256, found.how, found.note) == (before, "hash", "open, not mapped")
    model(place / "new", "other").replace(file)
    found = look_at(pid, ("model", str(file)))["model"]
    assert (found.sha256, found.note) == (before, "open, not mapped; (deleted), replaced")


@pytest.mark.parametrize("remove", [True, False])
def test_a_replaced_model(start_python: Start, place: Path, remove: bool) -> None:
    file = model(place / "m.gguf")
    before = digest(file)
    pid = start_python(MAP, str(file), as_nobody=True).pid
    if remove:
        file.unlink()
    else:
        model(place / "new", "other").replace(file)
    if ROOT:
        found = look_at(pid, ("model", str(file)))["model"]
        assert (found.sha256, found.note) == (before, "(deleted)" if remove else "(deleted), replaced")
    seen = as_nobody(lambda: look_at(pid, ("model", str(file)))["model"].model_dump())
    assert (seen["sha256"], seen["how"]) == (None, "unknown")
    assert seen["note"] == ("(deleted)" if remove else "replaced")


def test_an_ordinary_user_gets_the_model_that_is_in_place(start_python: Start, place: Path) -> None:
    file = model(place / "m.gguf")
    pid = start_python(MAP, str(file), as_nobody=True).pid
    seen = as_nobody(lambda: look_at(pid, ("model", str(file)))["model"].model_dump())
    assert (seen["sha256"], seen["note"], seen["gguf"]["general.name"]) == (digest(file), None, "tiny")


def test_a_pointer_is_refused_as_model(start_python: Start, place: Path) -> None:
    file = place / "m.gguf"
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 5\n")
    held = look_at(start_python(MAP, str(file)).pid, ("model", str(file)))["model"]
    assert (held.sha256, held.how) == (None, "unknown")
    assert "a Git LFS pointer, not the model it points to" in (held.note or "")
    unmapped = look_at(start_python("").pid, ("model", str(file)))["model"]
    assert "its path holds a Git LFS pointer" in (unmapped.note or "")


def test_a_split_model_is_its_shards(start_python: Start, place: Path) -> None:
    shards = [model(place / f"m-{number:05d}-of-00002.gguf", f"shard {number}") for number in (1, 2)]
    found = look_at(start_python(MAP, *map(str, shards)).pid, ("model", str(shards[0])))
    assert set(found) == {"model", "model-00001-of-00002", "model-00002-of-00002"}
    assert (found["model"].sha256, found["model"].how) == (None, "unknown")
    assert "one shard alone is not the model" in (found["model"].note or "")
    assert (found["model"].gguf or {})["general.name"] == "shard 1"
    assert [found[f"model-{number:05d}-of-00002"].sha256 for number in (1, 2)] == [
        digest(shard) for shard in shards
    ]


def test_the_first_shard_alone_is_refused_as_model(start_python: Start, place: Path) -> None:
    shard = model(place / "m-00001-of-00003.gguf")
    found = look_at(start_python(MAP, str(shard)).pid, ("model", str(shard)))
    assert found["model"].sha256 is None
    assert found["model"].note == "2 of its 3 shards are not mapped: one shard alone is not the model"


def test_a_broken_header_does_not_cost_the_digest(start_python: Start, place: Path) -> None:
    file = place / "m.gguf"
    file.write_bytes(gguf({"general.name": ("str", "x" * 100)})[:60])
    found = look_at(start_python(MAP, str(file)).pid, ("model", str(file)))["model"]
    assert (found.sha256, found.gguf) == (digest(file), None)
    assert "GGUF header is cut" in (found.note or "")


def test_other_mapped_data_is_no_artifact(start_python: Start, place: Path) -> None:
    (place / "archive").write_bytes(os.urandom(5000))
    pid = start_python(MAP, str(place / "archive")).pid
    assert look_at(pid) == {}
    found = mapped.libraries(pid, proc.mapped_files(pid), partial(sha256_of, cache=HashCache(None)), FUTURE)
    assert "archive" not in found


def test_linked_names_of_two_models_are_told_apart(start_python: Start, place: Path) -> None:
    files = {role: model(place / f"{role}-blob", role) for role in ("model", "draft")}
    for role, file in files.items():
        (place / f"{role}.gguf").symlink_to(file)
    pid = start_python(MAP, *map(str, files.values())).pid
    found = look_at(pid, ("model", f"{place}/model.gguf"), ("spec-draft-model", f"{place}/draft.gguf"))
    assert {role: artifact.sha256 for role, artifact in found.items()} == {
        role: digest(file) for role, file in files.items()
    }
