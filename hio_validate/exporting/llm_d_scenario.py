"""What ran and what was asked of it, in the words of llm-d's benchmark report v0.2.

A process becomes a `generic` component: an `inference_engine` must name its accelerators and their number, which a
capture does not count. Arguments are those of the live process; what a capture withholds as secret is not in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from hio_validate.evidence.case import Case
from hio_validate.evidence.raw import Row
from hio_validate.evidence.trials import pinned
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.fixture import Fixture
from hio_validate.repo import name_of
from hio_validate.settings.value import text_of


def stack(case: Case, arm: str) -> list[dict[str, Any]]:
    """Every process that the legs of an arm ran; those that differ in what they ran are components of their own."""
    found: dict[str, dict[str, Any]] = {}
    for _, capture in case.captures(arm):
        for role, process in capture.processes.items() if capture else ():
            told = _component(case, arm, role, process, capture)
            told["metadata"]["label"] = role if not _has_label(found, role) else f"{role}-{len(found)}"
            found.setdefault(f"{role} {told['metadata']['cfg_id']} {process.executable.sha256}", told)
    return list(found.values())


def _has_label(found: dict[str, dict[str, Any]], role: str) -> bool:
    return any(each["metadata"]["label"] == role for each in found.values())


def _component(
    case: Case, arm: str, role: str, process: CapturedProcess, capture: Capture | None
) -> dict[str, Any]:
    native = {"args": _arguments(process), "envars": dict(process.environ.values)}
    native = {key: value for key, value in native.items() if value}
    return {
        "metadata": {
            "schema_version": "0.0.1",
            "label": role,
            "cfg_id": identifier(native),
            "description": _described(case, arm),
        },
        "standardized": {
            "kind": "generic",
            "tool": process.family,
            "tool_version": process.build or "unknown",
            **_hashes(process),
            **({"host": _host(capture)} if capture else {}),
        },
        "native": native,
    }


def identifier(configuration: Any) -> str:
    """SHA-256 of a configuration, computed as llm-d's converters do (native_to_br0_2.py, config_hash)."""
    return sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()


def _described(case: Case, arm: str) -> str:
    planned = case.arm(arm)
    delta = ", ".join(f"{factor} {text_of(value)}" for factor, value in planned.set.items())
    return f"stack {planned.stack}" + (f" with {delta}" if delta else "")


def _arguments(process: CapturedProcess) -> dict[str, Any]:
    """Flag -> its value; several words or a flag that stands twice give a list, none gives null."""
    found: dict[str, Any] = {}
    for flag, *values in (process.argv.value or [])[1:]:
        value: Any = None if not values else values[0] if len(values) == 1 else values
        if flag in found:
            before = found[flag] if isinstance(found[flag], list) else [found[flag]]
            value = [*before, value]
        found[flag] = value
    return found


def _hashes(process: CapturedProcess) -> dict[str, Any]:
    known = {"executable": process.executable.sha256}
    known |= {name: each.sha256 for name, each in process.artifacts.items()}
    return {"sha256": {name: digest for name, digest in known.items() if digest is not None}}


def _host(capture: Capture) -> dict[str, Any]:
    host = capture.host
    told = {"id": host.id, "cpu": host.cpu, "cores": host.cores, "memory_bytes": host.memory_bytes,
            "devices": list(host.devices)}  # fmt: skip
    return {key: value for key, value in told.items() if value}


def load(case: Case, rows: Sequence[Row]) -> dict[str, Any] | None:
    """What was asked; None where the lengths of the prompts, which the schema needs, are unknown."""
    lengths = _lengths(case, rows)
    if lengths is None:
        return None
    plan, model = case.plan, case.model
    bench = plan.bench if plan is not None else None
    standardized: dict[str, Any] = {
        "tool": ("llama-bench, by hio" if bench else "hio") if not model.imported else "unknown",
        "tool_version": model.judged_by.hio if model.judged_by else "unknown",
        "source": "random" if bench else "sampled" if model.fixtures else "unknown",
        "input_seq_len": lengths,
    }
    if bench is not None and bench.generated_tokens:
        standardized["output_seq_len"] = {"distribution": "fixed", "value": bench.generated_tokens}
    elif (budget := _enforced(case)) is not None:
        standardized["output_seq_len"] = {"distribution": "fixed", "value": budget}
    if not model.imported:
        standardized["concurrency"] = 1  # hio's client asks one request at a time
    return {
        "metadata": _metadata(case),
        "standardized": standardized,
        "native": {"config": _asked(case)} if plan is not None else {},
    }


def _metadata(case: Case) -> dict[str, Any]:
    pin = case.model.plan
    known = {"schema_version": "0.0.1", "cfg_id": pin.partition("@sha256:")[2] if pin else None,
             "description": f"{case.fixture or 'unknown fixture'}, {case.regime or 'unknown cache regime'}"}  # fmt: skip
    return {key: value for key, value in known.items() if value}


def _lengths(case: Case, rows: Sequence[Row]) -> dict[str, Any] | None:
    bench = case.plan.bench if case.plan is not None else None
    if bench is not None:
        return {"distribution": "fixed", "value": bench.prompt_tokens}
    found = tokens(rows, "evaluated", "cached")
    if found is None:
        return None
    if min(found) == max(found):
        return {"distribution": "fixed", "value": found[0]}
    return {"distribution": "other", "value": sum(found) / len(found), "min": min(found), "max": max(found)}


def tokens(rows: Sequence[Row], *columns: str) -> list[int] | None:
    """Tokens of each request, summed over columns; None where one of them does not say."""
    cells = [[row.cells.get(column, "") for column in columns] for row in rows]
    if not all(cell.isascii() and cell.isdigit() for row in cells for cell in row):
        return None
    return [sum(map(int, row)) for row in cells]


def _enforced(case: Case) -> int | None:
    """Tokens that every answer has to have; None where it may end earlier."""
    asked = case.plan.fixture if case.plan is not None else None
    pin = next((each for each in case.model.fixtures if asked and name_of(each) == asked), None)
    found = pinned(case.known.repo, "fixture/v1", pin, case.run.service) if pin else None
    fixture: Fixture | None = found.model if found is not None else None
    return fixture.max_tokens if fixture is not None and fixture.ignore_eos else None


def _asked(case: Case) -> dict[str, Any]:
    plan = case.plan
    if plan is None:
        return {}
    told: dict[str, Any] = {
        "plan": case.model.plan, "method": plan.method, "fixtures": list(case.model.fixtures), "cache": plan.cache,
        "restart": plan.restart, "order": list(plan.order),
    }  # fmt: skip
    if plan.requests is not None:
        told["requests_per_leg"] = {"warm_up": plan.requests.warm_up, "measured": plan.requests.measured}
    return told
