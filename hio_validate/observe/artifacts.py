"""Which mapped files are the model and its companions, by what the command line and environment name.

Invariant: a digest is of the mapped (or still open) file; a file that is neither is unknown, whatever its
path holds now. One shard or an LFS pointer never passes as the model (contract 1.6).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from hio_validate.models.capture import Artifact
from hio_validate.observe import gguf, mapped, proc
from hio_validate.observe.refusal import Unobservable

ROLES = {
    "model": "model",
    "spec-draft-model": "draft",
    "model-draft": "draft",
    "mmproj": "projector",
    "lora": "adapter",
    "lora-scaled": "adapter",
    "control-vector": "control-vector",
    "control-vector-scaled": "control-vector",
    "model-vocoder": "vocoder",
}
"""Factor whose value names a file -> role of that file."""

_LISTS = frozenset({"lora", "lora-scaled", "control-vector", "control-vector-scaled"})
_HEAD_BYTES = 64


@dataclass(frozen=True, slots=True)
class Named:
    """A file that an argument or variable names."""

    role: str
    value: str
    paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class Look:
    """What looking at the files of one process needs: which process, how to hash, when it started."""

    pid: int
    hasher: mapped.Hasher
    since: float


def named_files(settings: Iterable[tuple[str, str]], working_directory: str | None) -> list[Named]:
    """The files that (factor, value) pairs name; of a list each with a number, else the last value counts."""
    values: dict[str, list[str]] = {}
    for factor, value in settings:
        role = ROLES.get(factor)
        if role is None or not value:
            continue
        if factor in _LISTS:
            scaled = factor.endswith("-scaled")
            parts = [part.rpartition(":")[0] or part if scaled else part for part in value.split(",")]
            values.setdefault(role, []).extend(filter(None, parts))
        else:
            values[role] = [value]
    return [
        Named(role if number == 1 else f"{role}-{number}", value, _paths(value, working_directory))
        for role, given in values.items()
        for number, value in enumerate(given, 1)
    ]


def artifacts(look: Look, files: Sequence[proc.MappedFile], named: Sequence[Named]) -> dict[str, Artifact]:
    """Every named file and every other mapped GGUF file, by role."""
    data = [file for file in files if not file.executable]
    pairs, left = _matched(named, data, look)
    found: dict[str, Artifact] = {}
    for name, mapping in pairs:
        shard = gguf.shard_of(mapping.path) if mapping else None
        if mapping is None:
            found[name.role] = _unmapped(look, name)
        elif shard:
            siblings = [file for file in data if _same_model(file.path, shard)]
            left = [file for file in left if file not in siblings]
            found |= _sharded(look, name.role, shard, siblings)
        else:
            found[name.role] = _one(look, mapping)
    for number, mapping in enumerate(left, 1):
        one = _one(look, mapping)
        note = "; ".join(filter(None, [one.note, "no argument names it"]))
        found[f"gguf-{number}"] = one.model_copy(update={"note": note})
    return found


def _paths(value: str, working_directory: str | None) -> frozenset[str]:
    """Where a named file may be mapped from: its path as written, and behind symbolic links."""
    if not value.startswith("/") and working_directory is None:
        return frozenset()
    path = os.path.normpath(Path(working_directory or "/") / value)
    return frozenset({path, os.path.realpath(path)})


def _matched(
    named: Sequence[Named], data: Sequence[proc.MappedFile], look: Look
) -> tuple[list[tuple[Named, proc.MappedFile | None]], list[proc.MappedFile]]:
    """Named files with their mappings, and mapped GGUF files that nothing names.

    A single name left and a single file left belong together: the name is a link that was pointed elsewhere,
    or a repository whose cached file has another name. A single file and no name at all is the model.
    """
    pairs = [(name, next((file for file in data if file.path in name.paths), None)) for name in named]
    taken = [mapping for _, mapping in pairs if mapping]
    left = [file for file in data if file not in taken and _is_gguf(look.pid, file)]
    heads = [file for file in left if (shard := gguf.shard_of(file.path)) is None or shard.number == 1]
    heads = [file for file in heads if not any(_shards_together(file.path, other.path) for other in taken)]
    open_names = [name for name, mapping in pairs if mapping is None]
    if not any(name.role == "model" for name in named):
        open_names.append(Named("model", "", frozenset()))
        pairs.append((open_names[-1], None))
    if len(open_names) == 1 and len(heads) == 1:
        pairs = [(name, heads[0] if name is open_names[0] else mapping) for name, mapping in pairs]
        left.remove(heads[0])
    return [pair for pair in pairs if pair[1] or pair[0].value], left


def _is_gguf(pid: int, mapping: proc.MappedFile) -> bool:
    with mapped.opened(pid, mapping) as seen:
        if seen.file is None:
            return mapping.path.endswith(".gguf")
        return _head(seen.file).startswith(gguf.MAGIC)


def _head(file: BinaryIO) -> bytes:
    return os.pread(file.fileno(), _HEAD_BYTES, 0)


def _one(look: Look, mapping: proc.MappedFile) -> Artifact:
    with mapped.opened(look.pid, mapping) as seen:
        return _artifact(look, mapping.path, seen)


def _artifact(look: Look, path: str, seen: mapped.Opened) -> Artifact:
    if seen.file is None:
        return Artifact(path=path, how="unknown", note=seen.note)
    refusal = gguf.why_not_a_model("", _head(seen.file))
    if refusal:
        return Artifact(path=path, how="unknown", note=refusal)
    plain = mapped.as_mapped(path, seen, look.hasher, look.since)
    facts, complaint = _header(seen.file)
    note = "; ".join(filter(None, [plain.note, complaint])) or None
    return Artifact(path=path, sha256=plain.sha256, bytes=plain.bytes, how=plain.how, note=note, gguf=facts)


def _header(file: BinaryIO) -> tuple[gguf.Facts | None, str | None]:
    if not _head(file).startswith(gguf.MAGIC):
        return None, None
    try:
        return gguf.header_facts(file), None
    except Unobservable as refused:
        return None, refused.reason


def _unmapped(look: Look, name: Named) -> Artifact:
    """A named file without a mapping: through its descriptor if it is still open, else unknown."""
    with mapped.opened_descriptor(look.pid, set(name.paths)) as seen:
        if seen:
            return _artifact(look, name.value, seen)
    pointer = next((note for path in sorted(name.paths) if (note := _pointer_at(path))), None)
    return Artifact(path=name.value, how="unknown", note=pointer or "not mapped")


def _pointer_at(path: str) -> str | None:
    try:
        with mapped.opened_regular(path) as file:
            head = _head(file)
    except OSError:
        return None
    refusal = gguf.why_not_a_model("", head)
    return f"not mapped; its path holds {refusal}" if refusal else None


def _sharded(
    look: Look, role: str, shard: gguf.Shard, siblings: list[proc.MappedFile]
) -> dict[str, Artifact]:
    """Each mapped shard by itself; the role as a whole has no digest, since no file is the whole model."""
    found: dict[str, Artifact] = {}
    for mapping in siblings:
        place = gguf.shard_of(mapping.path)
        assert place
        found[f"{role}-{place.number:05d}-of-{place.count:05d}"] = _one(look, mapping)
    missing = shard.count - len(found)
    note = f"split into {shard.count} shards, each listed by itself: one shard alone is not the model"
    if missing:
        note = f"{missing} of its {shard.count} shards are not mapped: one shard alone is not the model"
    first = found.get(f"{role}-00001-of-{shard.count:05d}")
    path, header = (first.path, first.gguf) if first else (None, None)
    return {role: Artifact(path=path, how="unknown", note=note, gguf=header), **found}


def _same_model(path: str, shard: gguf.Shard) -> bool:
    other = gguf.shard_of(path)
    return other is not None and (other.stem, other.count) == (shard.stem, shard.count)


def _shards_together(path: str, other: str) -> bool:
    shard = gguf.shard_of(path)
    return shard is not None and _same_model(other, shard)
