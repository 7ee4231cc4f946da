"""Which measurement answers which suspicion, as data: what it measures, what to type, which artifact holds the answer.

Invariant: every route of estimate/v1 has exactly one row (tests/costs/test_routes.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class RouteOf(NamedTuple):
    """One row of the table."""

    suspicion: str
    """What it answers."""
    measure: str
    """What is measured."""
    commands: tuple[str, ...]
    """What to type, in order; words in capitals are to be replaced."""
    artifact: str
    """The document that holds the answer."""
    instrumented: bool = False
    """Whether the measured process is slowed: its numbers are shares, never speeds (contract 5.6)."""


ROUTES: Mapping[str, RouteOf] = MappingProxyType(
    {
        "measure-baseline": RouteOf(
            "the serving curve end to end, or a baseline that is missing",
            "the workload as it is, the current parent against itself",
            ("hio plan new --a-a --fixture FIXTURE", "hio plan check PLAN", "hio run PLAN"),
            "run/v1 of stage a-a: median, spread and noise",
        ),
        "attribute-cpu-and-device": RouteOf(
            "which code the time goes to, on processors and devices",
            "a sampling profile of the serving process while the workload runs",
            (
                "perf record -e cpu-clock -F 499 -p PID -- sleep 30",
                "perf report --stdio -n --header > REPORT",
                "hio probe profile REPORT --stack STACK --path PATH --fixture FIXTURE --write",
            ),
            "profile/v1 with raw samples beside it",
            instrumented=True,
        ),
        "decode-step-budget": RouteOf(
            "one decode step at one request: host, kernels and communication",
            "the engine's own kernels at one token, against one step of the server",
            ("hio probe engine BUILD --yes --write", "hio estimate STACK --fixture FIXTURE"),
            "ceilings/v1 of the engine, and the estimate's terms against the measured step",
        ),
        "device-timeline": RouteOf(
            "launch gaps, and what overlaps with what",
            "an absolute timeline of host and device",
            (
                "nsys profile -o OUT COMMAND",
                "hio estimate STACK --fixture FIXTURE --assume launch=TIME --assume host-gap=TIME",
            ),
            "the estimate's terms with launches and gaps as the timeline has them",
            instrumented=True,
        ),
        "kernel-counters": RouteOf(
            "stalls, occupancy and bytes of one kernel",
            "hardware counters of that kernel, against the ceilings of the machine",
            ("hio probe engine BUILD --yes --write", "perf stat -p PID -- sleep 30"),
            "ceilings/v1 of the engine's kernel, beside the counters",
            instrumented=True,
        ),
        "tune-sweep": RouteOf(
            "a setting of the engine",
            "parent against parent with this one change; several values as cells of a campaign",
            ("hio plan new --set SETTING=VALUE --fixture FIXTURE", "hio plan check PLAN", "hio run PLAN"),
            "run/v1 with its verdict",
        ),
        "quantise-and-evaluate": RouteOf(
            "the number format of weights or of K/V",
            "speed and right answers of both formats, under one quality gate",
            ("hio plan new --set SETTING=VALUE --fixture FIXTURE", "hio run PLAN", "hio quality gate"),
            "run/v1 with the rows of its quality gate",
        ),
        "size-capacity": RouteOf(
            "how many requests or machines it takes",
            "the workload at rising concurrency until the goal is missed",
            ("hio campaign new NAME --plan PLAN", "hio campaign run NAME"),
            "campaign-run/v1 over the concurrencies",
        ),
    }
)
"""Route of estimate/v1 -> what it is."""
