"""hio probe model: read what a model is made of from its file, and keep it as a shape."""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from hio_validate import __version__, recording, writing
from hio_validate.cli.loading import load_repo, the_service
from hio_validate.cli.progress import hashing
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.models.core import ValidationError
from hio_validate.models.errors import refusals
from hio_validate.models.shape import Shape
from hio_validate.observe.hashing import default_cache, sha256_of
from hio_validate.observe.model_shape import ModelFile, read
from hio_validate.observe.refusal import Unobservable
from hio_validate.repo import Repo
from hio_validate.report.shape import text
from hio_validate.rules import NEWEST
from hio_validate.shaping.refusal import CannotShape, UnknownShape

_NO_SERVICE = "no/service"
"""Stands in a shape that is only shown."""


@click.command(short_help="Read the shape of a model from its file.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--service", metavar="SITE/NAME", help="The service that serves it (default with --write: the only one)."
)
@click.option("--name", help="Name of the shape (default: the file's, of a config.json its folder's).")
@click.option("--hash", "hashed", is_flag=True, help="Hash the model file, too: all its bytes are read.")
@click.option(
    "--dtype",
    help="Number format of what is not quantised, where config.json does not say it, e.g. bfloat16; kept.",
)
@click.option("--write", is_flag=True, help="Write the shape; nothing is ever replaced.")
@repo_option
@format_option
def model(
    file: Path, service: str | None, name: str | None, hashed: bool, dtype: str | None, write: bool,
    repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Read FILE, a GGUF model (of shards any one) or the config.json of a checkpoint: tensors by role, layers, experts.

    Only headers are read. Without --hash the digest of a model file is that of the service's capture which names the
    same path and size. What FILE does not tell is listed as unknown.

    Exit codes: 0 read; 1 FILE is wrong, or the shape is there; 2 usage; 3 FILE cannot be read, or its kind is not known.
    """
    if service is not None and service.count("/") != 1:
        stop(f"a service is SITE/NAME, got {service}", 2)
    found = _read(file, dtype, hashed)
    root, known = load_repo(repo) if service or write else (Path(), None)
    if write and known:
        service = service or the_service(known, None)
    named = name or _name_of(found.path)
    document = _document(found, named, service, known)
    shape = _checked(document, service)
    wrote = _written(root, document, service, found.config) if write and service else []
    if format_ == "json":
        show(as_json({"version": 1, "file": found.path, "shape": document, "wrote": wrote}))
    else:
        kept = "".join(f"wrote {each}\n" for each in wrote) or "nothing was kept; --write keeps it\n"
        show(f"{text(shape, width())}\n{kept}")
    sys.exit(0)


def _read(file: Path, dtype: str | None, hashed: bool) -> ModelFile:
    cache = default_cache()
    try:
        with hashing() as progress:
            found = read(
                str(file),
                dtype=dtype,
                hasher=partial(sha256_of, cache=cache, progress=progress) if hashed else None,
            )
        cache.save()
        return found
    except UnknownShape as error:
        stop(f"{file}: {error.reason}", 3)
    except (Unobservable, CannotShape) as error:
        stop(f"{file}: {error.reason}", 1)
    except OSError as error:
        stop(f"{file} cannot be read: {error.strerror or error}")


def _name_of(path: str) -> str:
    """A name from the file's: without its shard's number; of a config.json the folder's."""
    place = Path(path)
    stem = re.sub(r"-\d{5}-of-\d{5}$", "", place.stem)
    if place.name == "config.json":
        stem = place.absolute().parent.name
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", stem).lstrip("._+-")[:100] or "model"


def _document(found: ModelFile, name: str, service: str | None, known: Repo | None) -> dict[str, Any]:
    """The keys of shape/v1, in its order; without the service where none was named."""
    read_ = found.shape.as_document()
    unknown = read_.pop("unknown", [])
    source: dict[str, Any] = {"format": found.shape.format}
    digest = found.sha256 or (_captured(found, service, known) if service and known else None)
    if digest:
        source["sha256"] = digest
    else:
        unknown = [
            *unknown,
            "the digest of the model file: it was not hashed, and no capture names its path and size",
        ]
    if found.config is not None:
        source["file"] = {"file": f"{name}.config.json", "sha256": found.sha256}
    if found.dtype is not None:
        source["dtype"] = found.dtype
    head = {"hio": "shape/v1", "name": name, **({"service": service} if service else {}), "source": source}
    tail = {"unknown": unknown} if unknown else {}
    return {**head, **read_, **tail, "judged_by": {"hio": __version__, "rules": NEWEST}}


def _captured(found: ModelFile, service: str, known: Repo) -> str | None:
    """The digest of the file in a capture of the service that names the same path and size, if all agree."""
    paths = {os.path.abspath(found.path), os.path.realpath(found.path)}
    digests = {
        artifact.sha256
        for item in known.of("capture/v1") if item.service == service
        for process in item.model.processes.values()
        for artifact in process.artifacts.values()
        if artifact.path in paths and artifact.bytes == found.size and artifact.sha256
    }  # fmt: skip
    return digests.pop() if len(digests) == 1 else None


def _checked(document: dict[str, Any], service: str | None) -> Shape:
    try:
        shape = Shape.model_validate({**document, "service": service or _NO_SERVICE})
        return shape if service else shape.model_copy(update={"service": "not said: --service SITE/NAME"})
    except ValidationError as error:
        stop("; ".join(refusal.message for refusal in refusals(error, "shape/v1", document)), 2)


def _written(root: Path, document: dict[str, Any], service: str, config: bytes | None) -> list[str]:
    """The files of the shape, written: its document last, so that nothing names what is not there yet."""
    file = f"manifests/services/{service}/shapes/{document['name']}.yaml"
    files = {f"{file.removesuffix('.yaml')}.config.json": config} if config is not None else {}
    files[file] = recording.shape_file(document, file)
    try:
        for each in files:
            if (root / each).exists():
                raise FileExistsError(0, "", each)
        for each, content in files.items():
            writing.create(root / each, content)
    except FileExistsError as error:
        stop(f"{error.filename} exists and is never replaced; give another --name", 1)
    except OSError as error:
        stop(f"the shape cannot be written: {error.strerror}")
    return list(reversed(files))
