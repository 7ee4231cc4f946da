"""Estimates that the tests of their pages print: a whole one, one that lacks nearly everything, one that is blocked."""

from __future__ import annotations

from typing import Any

from hio_validate.models.estimate import Estimate


def amount(value: float, low: float, high: float, unit: str) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "unit": unit}


def exact(value: float, unit: str) -> dict[str, Any]:
    return amount(value, value, value, unit)


def pin(name: str) -> str:
    return f"{name}@sha256:{name.encode().hex():0<64.64}"


WEIGHTS = {
    "name": "weights",
    "about": "every weight is read once by a pass",
    "resource": "memory",
    "work": exact(4_980_736_000, "B"),
    "cost": {
        "amount": amount(61.2, 55.4, 63.9, "GB/s"),
        "ceiling": "lab/tiny/host-a",
        "rate": "memory-read-8",
    },
    "time": amount(81.384, 77.946, 89.905, "ms"),
    "source": "shape tiny, read from the model file",
    "confidence": "high",
    "refuted_by": "kernel-counters",
}
KV = {
    "name": "kv-read",
    "about": "K and V of all tokens before are read by a pass",
    "resource": "memory",
    "work": amount(268_000_000, 134_000_000, 402_000_000, "B"),
    "cost": {
        "amount": amount(61.2, 55.4, 63.9, "GB/s"),
        "ceiling": "lab/tiny/host-a",
        "rate": "memory-read-8",
    },
    "time": amount(4.379, 2.097, 7.256, "ms"),
    "source": "2048 tokens, K f16 and V f16",
    "confidence": "medium",
    "refuted_by": "kernel-counters",
}
COMPUTE = {
    "name": "compute",
    "about": "two operations a weight",
    "resource": "compute",
    "work": exact(9.9e9, "FLOP"),
    "cost": {
        "amount": amount(420, 300, 540, "GFLOP/s"),
        "ceiling": "published-chip",
        "rate": "matmul-f16",
        "efficiency": 0.6,
        "assumed": "ada, from the data sheet of 2025",
    },
    "time": amount(23.571, 18.333, 33.0, "ms"),
    "source": "shape tiny, read from the model file",
    "confidence": "low",
    "refuted_by": "attribute-cpu-and-device",
}
GAPS = {
    "name": "host-gaps",
    "about": "the host samples between two passes",
    "resource": "host",
    "work": exact(1, "1"),
    "cost": {"amount": amount(300, 100, 900, "us"), "assumed": "ada, of another build"},
    "fixed": exact(20, "us"),
    "time": amount(320, 120, 920, "us"),
    "source": "one gap a token",
    "confidence": "low",
    "refuted_by": "device-timeline",
}

WORKLOAD = {
    "stack": pin("base"),
    "fixture": pin("focused-512"),
    "shape": pin("tiny"),
    "prompt_tokens": 2048,
    "generated_tokens": 512,
    "threads": 8,
    "microbatch": 256,
    "key_type": "f16",
    "value_type": "f16",
    "drafting": "two layers of the model, 3 tokens a pass",
    "target_host": "ab" * 32,
}

DRAFTING: dict[str, Any] = {
    "name": "draft-deeper",
    "family": 1,
    "mechanism": "one pass over the weights serves more tokens, where more drafted ones are accepted",
    "term": "weights",
    "factor": "server.spec-draft-n-max",
    "change": "3 -> 4",
    "share_percent": amount(79.2, 70.1, 84.8, "1"),
    "share_of": "measured",
    "gain_percent": amount(14.6, 6.2, 21.3, "1"),
    "confidence": "medium",
    "minutes": 42,
    "rollback": "set server.spec-draft-n-max back to 3",
    "stop_if": "accepted tokens a pass do not grow by 5 %",
    "needs": ["a task set with the same right answers"],
    "route": "tune-sweep",
}
REUSE: dict[str, Any] = {
    "name": "keep-prefix",
    "family": 5,
    "mechanism": "the prefix that every request begins with is evaluated once",
    "share_percent": amount(9, 2, 14, "1"),
    "share_of": "bound",
    "gain_percent": amount(9, 2, 14, "1"),
    "confidence": "low",
    "rollback": "take the flag away",
    "stop_if": "the cold run is slower",
    "route": "measure-baseline",
    "caching": True,
    "cold": pin("cold-1"),
}

FULL: dict[str, Any] = {
    "hio": "estimate/v1",
    "name": "before-the-sweep",
    "service": "lab/tiny",
    "at": "2026-11-30T09:00:00Z",
    "status": "DRAFT",
    "target": {"metric": "decode_tps", "better": "higher", "goal": 12},
    "path": "decode-token",
    "workload": WORKLOAD,
    "terms": [WEIGHTS, KV, COMPUTE, GAPS],
    "bound": {
        "groups": [["weights", "compute"], ["kv-read"], ["host-gaps"]],
        "time": amount(86.083, 80.163, 98.081, "ms"),
        "metric": amount(11.617, 10.196, 12.475, "1"),
    },
    "baseline": {
        "run": pin("threads"),
        "arm": "t8",
        "value": 9.4,
        "low": 9.32,
        "high": 9.51,
        "unit": "token/s",
        "efficiency_percent": amount(80.9, 74.7, 93.3, "1"),
    },
    "missing": ["no profile of this stack: shares are those of the bound, not of the time"],
    "findings": ["19 % of the measured time is explained by no term: look between the passes first"],
    "profile": None,
    "causes": [{"claim": "the threads wait for each other", "profile": pin("perf-1")}],
    "assumptions": [
        {
            "name": "acceptance",
            "amount": amount(0.7, 0.4, 0.9, "1"),
            "source": "another fixture's",
            "changes": "below 0.5 keep-prefix is the first",
        },
        {"name": "host-gap", "amount": amount(300, 100, 900, "us"), "source": "another build's"},
    ],
    "candidates": [DRAFTING, REUSE],
    "next": {
        "candidate": "draft-deeper",
        "experiment": "server.spec-draft-n-max 3 against 4, all else as in base, 4 legs an arm",
        "proves": "decode_tps of a run with its rows, and accepted tokens a pass",
        "stop_if": "accepted tokens a pass do not grow by 5 %",
        "route": "tune-sweep",
        "command": "hio plan new --stack base --factor server.spec-draft-n-max --from 3 --to 4 --fixture focused-512",
    },
}

BARE: dict[str, Any] = {
    "hio": "estimate/v1",
    "name": "too-early",
    "service": "lab/tiny",
    "status": "NEEDS_CONTEXT",
    "target": {"metric": "ttft_ms", "better": "lower"},
    "path": "request",
    "workload": {"stack": pin("base")},
    "missing": [
        "no shape of the model: hio probe model reads it from the file",
        "no fixture: how many tokens are asked for is unknown",
    ],
}

MEASURED_ONLY = BARE | {"baseline": FULL["baseline"] | {"efficiency_percent": None}}

BLOCKED = FULL | {
    "candidates": [],
    "next": {
        "experiment": "find the cause of wrong-answers (non-finite-values): base against itself with focused-512",
        "proves": "whether base still answers wrongly: a run of stage a-a whose checks pass or fail",
        "stop_if": "the cause is mended and a correction of wrong-answers is in the ledger",
        "route": "measure-baseline",
        "command": "hio plan new --service lab/tiny --a-a --stack base --fixture focused-512 --metric decode_tps",
    },
    "blocked_by": [pin("wrong-answers")],
}


TOO_LARGE = FULL | {
    "baseline": None,
    "workload": WORKLOAD
    | {
        "held_in": "device",
        "devices": 2,
        "sharding": {"weights": 2, "attention": 1, "experts": 2, "groups": 2},
    },
    "memory": {
        "per": "device",
        "parts": [
            {"name": "weights", "about": "its tensors, divided over 2 devices", "amount": exact(70, "GB")},
            {
                "name": "kv",
                "about": "K and V of 8 requests of 2560 tokens",
                "amount": amount(12, 6, 24, "GB"),
            },
            {"name": "state", "about": "states of 8 requests", "amount": exact(8, "GB")},
        ],
        "needed": amount(90, 84, 102, "GB"),
        "capacity": exact(80, "GB"),
        "ceiling": "published-chip",
        "outcome": "cannot-fit",
    },
    "findings": [
        "cannot fit: weights 70 GB + K/V 6 GB + states 8 GB = 84 GB at least, and a device has 80 GB (published-chip): the "
        "bound presumes that all of it is held there"
    ],
    "next": {
        "experiment": "none of base as it is, which cannot fit: divide it over more devices; then estimate again",
        "proves": "that what has to be held is less than there is: the line `memory` of the next estimate",
        "stop_if": "it fits, or another model or machine is decided on",
        "route": "size-capacity",
        "command": "hio estimate base --service lab/tiny --fixture focused-512 --metric decode_tps",
    },
}


def estimate(data: dict[str, Any], **more: Any) -> Estimate:
    return Estimate.model_validate(data | more)
