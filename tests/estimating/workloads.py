"""Inputs of an estimate from documents as a repository holds them, for tests of ledgers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hio_validate.estimating.context.inputs import STATED, Inputs
from hio_validate.models.estimate import Amount, EstimateTarget, Workload
from hio_validate.repo import Item, item_of
from hio_validate.source import read

HOST = "a" * 64
PIN = "base@sha256:" + "0" * 64


def item(kind: str, name: str, place: str, **said: Any) -> Item:
    """A valid document, read as one of a repository."""
    text = json.dumps({"hio": kind, "name": name, **said})
    found = item_of(read(text.encode(), f"{place}/{name}.yaml"))
    assert found.model is not None, found.refused
    return found


def shape(*weights: tuple[str, str, int, int], **more: Any) -> Item:
    """A stated shape; each of `weights` is (role, format, elements, bytes)."""
    keys = ("role", "type", "elements", "bytes")
    return item(
        "shape/v1",
        "shape-1",
        "manifests/services/lab/tiny/shapes",
        service="lab/tiny",
        source={"format": "stated", "says": "a test"},
        weights=[dict(zip(keys, each, strict=True)) for each in weights],
        **more,
    )


def ceilings(name: str, rates: Mapping[str, Mapping[str, Any]], **more: Any) -> Item:
    """Rates measured on HOST, if nothing else is said."""
    said = {"about": f"the machine {name}", "how": "measured", "host": HOST, **more}
    return item("ceilings/v1", name, "manifests/ceilings", rates=rates, **said)


def rate(quantity: str, value: float, unit: str, **more: Any) -> dict[str, Any]:
    return {"quantity": quantity, "value": value, "unit": unit, **more}


def said(**amounts: Any) -> dict[str, Amount]:
    """What a person states, by name with _ for -: a number or (value, low, high) in the unit of STATED."""
    found = {}
    for key, ends in amounts.items():
        name = key.replace("_", "-")
        value, low, high = ends if isinstance(ends, tuple) else (ends, ends, ends)
        found[name] = Amount.model_validate(
            {"value": float(value), "low": float(low), "high": float(high), "unit": STATED[name][0]}
        )
    return found


def inputs(
    path: str = "decode-token",
    metric: str = "tpot_ms",
    *,
    shape: Item | None = None,
    ceilings: tuple[Item, ...] = (),
    stated: Mapping[str, Amount] | None = None,
    **workload: Any,
) -> Inputs:
    """Inputs of one path; the workload runs on HOST."""
    stack = item(
        "stack/v1", "base", "manifests/services/lab/tiny/stacks",
        processes={"server": {"engine": "llama-server", "build": "b1", "argv": []}},
    )  # fmt: skip
    better = "higher" if metric.endswith("_tps") else "lower"
    return Inputs(
        service="lab/tiny",
        stack=stack,
        workload=Workload.model_validate({"stack": PIN, "target_host": HOST, **workload}),
        target=EstimateTarget.model_validate({"metric": metric, "better": better}),
        path=path,
        shape=shape,
        ceilings=ceilings,
        stated=stated or {},
    )
