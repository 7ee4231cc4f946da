"""The small experiment of tests/evidence, with a shape of its model and ceilings of its host."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hio_validate.estimating.context.gather import inputs_of
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.evidence.experiment import HOST, MODEL, text, whole
from tests.small_repo import ROOM, SERVICE, sha, write

SHAPE: dict[str, Any] = {
    "hio": "shape/v1", "name": "tiny", "service": SERVICE, "source": {"format": "gguf", "sha256": MODEL},
    "layers": 2, "embedding": 64, "heads": 4, "vocabulary": 1000, "tied": False,
    "attention": [{"layers": 2, "kv_heads": 2, "key_size": 16, "value_size": 16}],
    "weights": [
        {"role": "embedding", "type": "f16", "elements": 64000, "bytes": 128000, "tensors": 1},
        {"role": "attention", "type": "f16", "elements": 24576, "bytes": 49152, "tensors": 8},
        {"role": "feed-forward", "type": "f16", "elements": 98304, "bytes": 196608, "tensors": 6},
        {"role": "output", "type": "f16", "elements": 64000, "bytes": 128000, "tensors": 1},
    ],
}  # fmt: skip
CEILINGS: dict[str, Any] = {
    "hio": "ceilings/v1", "name": "lab-host", "about": "the lab's host", "how": "measured", "host": HOST,
    "at": "2026-01-05T00:00:00Z",
    "rates": {
        "memory-read-1": {"quantity": "memory-read", "value": 50.0, "unit": "MB/s", "low": 49.0, "high": 51.0,
                          "samples": [49.0, 50.0, 51.0], "threads": 1, "method": "streams"},
        "matmul-f32-1": {"quantity": "matmul", "value": 1.0, "unit": "GFLOP/s", "low": 0.9, "high": 1.1,
                         "samples": [0.9, 1.0, 1.1], "threads": 1, "dtype": "f32", "method": "512 x 512"},
    },
}  # fmt: skip
PUBLISHED: dict[str, Any] = {
    "hio": "ceilings/v1", "name": "paper", "about": "a device as its maker says", "how": "published",
    "date": "2025-01-01", "source": "the data sheet",
    "rates": {"memory-read": {"quantity": "memory-read", "value": 1.0, "unit": "GB/s", "efficiency": 0.8}},
}  # fmt: skip


def changed(document: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A copy with other values; None takes a key away."""
    made = copy.deepcopy(dict(document)) | more
    return {key: value for key, value in made.items() if value is not None}


def lab(root: Path, *documents: Mapping[str, Any]) -> Path:
    """A repository with the runs threads (base and two threads) and aa, and what else is given."""
    whole(root)
    put(root, *documents)
    return root


def put(root: Path, *documents: Mapping[str, Any]) -> None:
    """Write documents where their kind stands."""
    room = {"shape/v1": f"{ROOM}/shapes", "ceilings/v1": "manifests/ceilings", "fixture/v1": f"{ROOM}/fixtures",
            "profile/v1": f"{ROOM}/profiles"}  # fmt: skip
    write(root, {f"{room[each['hio']]}/{each['name']}.yaml": text(dict(each)) for each in documents})


def view_of(root: Path) -> View:
    return View(load(Folder(root)))


def gathered(root: Path, stack: str = "base", **options: Any) -> Inputs:
    """The inputs of a stack, with the fixture that the runs ask."""
    return inputs_of(view_of(root), SERVICE, stack, **({"fixture": "tides"} | options))


def other(host: str) -> str:
    """Another SHA-256."""
    return sha(host)


def vllm(name: str, *words: str) -> str:
    """A stack of another engine, of which no build is recorded."""
    argv = ", ".join(f'"{word}"' for word in words)
    return (
        f"hio: stack/v1\nname: {name}\nprocesses:\n  server:\n    engine: vllm\n    argv:\n      - [{argv}]\n"
    )
