"""The shape of a model from its file: the headers of a GGUF file and its shards, or a checkpoint's config.json.

Invariant: no weights are read, unless a digest is asked for; a model of which a shard is missing has no shape.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hio_validate.observe import gguf, gguf_shape
from hio_validate.observe.gguf_tensors import Contents, contents
from hio_validate.observe.mapped import opened_regular
from hio_validate.observe.refusal import Unobservable
from hio_validate.shaping import hf_shape
from hio_validate.shaping.read_shape import ReadShape
from hio_validate.source.strict_json import Twice, strict_json

_HEAD_BYTES = 64
_LARGEST_CONFIG_BYTES = 4 << 20
_MOST_SHARDS = 10_000


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A shape, with the file that was read: of shards the first one."""

    shape: ReadShape
    path: str
    size: int
    sha256: str | None
    """Of a GGUF file only where it was asked for."""
    config: bytes | None = None
    """The bytes of config.json."""
    dtype: str | None = None
    """The number format that whoever read config.json stated."""


def read(
    path: str, *, dtype: str | None = None, hasher: Callable[[BinaryIO], str] | None = None
) -> ModelFile:
    """The shape of the model in one file. `dtype`: the number format of what is not quantised, instead of what a
    config.json says of it; a GGUF file says each tensor's.

    Raises Unobservable or CannotShape for a file that is wrong, UnknownShape for one whose kind is not known, OSError.
    """
    if Path(path).is_dir():
        raise Unobservable("it is a folder: expected a GGUF file or the config.json in it")
    with opened_regular(path) as file:
        head = file.read(_HEAD_BYTES)
        if head.startswith(gguf.LFS_POINTER):
            raise Unobservable(f"it is {gguf.why_not_a_model('', head)}")
        if head.startswith(gguf.MAGIC):
            if dtype:
                raise Unobservable("a GGUF file says the number format of each tensor: leave --dtype out")
            return _gguf(path, hasher)
        if not path.endswith(".json") and not head.lstrip().startswith(b"{"):
            raise Unobservable(
                "it is neither a GGUF file nor a config.json; of other weights, give the config.json beside them"
            )
        return _config(path, file, dtype)


def _gguf(path: str, hasher: Callable[[BinaryIO], str] | None) -> ModelFile:
    files = _shards(path)
    found: list[Contents] = []
    for each in files:
        with opened_regular(each) as file:
            if len(files) > 1 and file.read(_HEAD_BYTES).startswith(gguf.LFS_POINTER):
                raise Unobservable(
                    f"its shard {Path(each).name} is a Git LFS pointer: fetch it with `git lfs pull`"
                )
            found.append(_of_shard(each, file, len(files)))
    _check_places(found)
    with opened_regular(files[0]) as file:
        digest = hasher(file) if hasher else None
        size = os.fstat(file.fileno()).st_size
    return ModelFile(gguf_shape.shape_of(found), files[0], size, digest)


def _of_shard(path: str, file: BinaryIO, count: int) -> Contents:
    try:
        return contents(file)
    except Unobservable as error:
        if count == 1:
            raise
        raise Unobservable(f"its shard {Path(path).name}: {error.reason}") from None


def _shards(path: str) -> list[str]:
    """All files of the model that this one is, or is one shard of, the first one first."""
    shard = gguf.shard_of(path)
    if shard is None:
        return [path]
    if not 1 <= shard.number <= shard.count <= _MOST_SHARDS:
        raise Unobservable(f"it is named shard {shard.number} of {shard.count}: expected 1 to {shard.count}")
    files = [f"{shard.stem}-{number:05d}-of-{shard.count:05d}.gguf" for number in range(1, shard.count + 1)]
    missing = [each for each in files if not os.path.exists(each)]
    if missing:
        raise Unobservable(
            f"{len(missing)} of its {shard.count} shards are missing, the first one {Path(missing[0]).name}: fetch them all"
        )
    return files


def _check_places(found: list[Contents]) -> None:
    """Refuses shards whose headers say other places than their names."""
    for number, each in enumerate(found):
        count, place = each.facts.get("split.count", 1), each.facts.get("split.no", 0)
        if (count or 1) != len(found) or (len(found) > 1 and place != number):
            said = f"shard {place + 1 if isinstance(place, int) else place} of {count}"
            raise Unobservable(
                f"a header says that it is {said}, and by name it is {number + 1} of {len(found)}: "
                "expected files named as they were split, all in one folder"
            )


def _config(path: str, file: BinaryIO, dtype: str | None) -> ModelFile:
    file.seek(0)
    raw = file.read(_LARGEST_CONFIG_BYTES + 1)
    if len(raw) > _LARGEST_CONFIG_BYTES:
        raise Unobservable(f"it has more than {_LARGEST_CONFIG_BYTES >> 20} MiB: expected a config.json")
    config = _parsed(raw)
    digest = hashlib.sha256(raw).hexdigest()
    return ModelFile(hf_shape.shape_of(config, dtype), path, len(raw), digest, raw, dtype)


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        found = strict_json(raw.decode("utf-8"))
    except Twice as error:
        raise Unobservable(f"it states the key {str(error)!r} twice in one object") from None
    except (ValueError, RecursionError) as error:
        said = str(error).partition("\n")[0][:100]
        raise Unobservable(f"it is no JSON: {said}; expected the config.json of a checkpoint") from None
    if not isinstance(found, dict):
        raise Unobservable("it is JSON, and no object: expected the config.json of a checkpoint")
    return found
