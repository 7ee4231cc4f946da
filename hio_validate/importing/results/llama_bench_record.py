"""A test of llama-bench as a record: what was measured, what was asked of it, its numbers, and what cannot be so.

Source of the arithmetic: test::get_ts, avg and stdev of llama-bench.cpp. samples_ts is 1e9 * (n_prompt + n_gen) /
samples_ns, avg_ts its mean, avg_ns the whole part of the mean; stddev_ns is computed in unsigned 64-bit integers, which
wrap for samples of some seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.evidence.observed import Fact, Finding, Measured, Observation
from hio_validate.importing.results.llama_bench_fields import KNOWN, RESULTS, WORK, Row

ENOUGH = 3
"""Repetitions from which a spread says something."""
_MOST = 2**64
"""No time in nanoseconds and no rate reaches it: llama-bench keeps times in 64 bits."""
_SETTINGS = sorted(KNOWN - {"build_number", "build_commit", "model_filename", "test_time"} - WORK - RESULTS)
_NO_SAMPLES = "how often each test was repeated, and the single repetitions"
_OF_A_TABLE = ("settings that stood at their defaults", "exact values: rates are rounded to 0.01 token/s")


def test_of(row: Row) -> str:
    """`pp512`, `tg128`, `pp512+tg128@d4096`; as llama-bench writes it in its tables, without blanks."""
    if "n_prompt" not in row.values:
        return str(row.foreign.get("test", "untold"))
    prompt, generated, depth = (row.values.get(key, 0) for key in ("n_prompt", "n_gen", "n_depth"))
    parts = ([f"pp{prompt}"] if prompt else []) + ([f"tg{generated}"] if generated else [])
    return ("+".join(parts) or "no-work") + (f"@d{depth}" if depth else "")


def record_of(row: Row, name: str) -> Observation:
    """The record of one test."""
    values = row.values
    made = Observation(name, row.line, values.get("test_time"), _subject(row), _workload(row))
    made.foreign = dict(row.foreign)
    made.metrics, made.findings = _numbers(row)
    unknown = [*_OF_A_TABLE] if row.rounded else []
    if "samples_ns" not in values and "samples_ts" not in values:
        unknown.append(_NO_SAMPLES)
    if "build_commit" not in values:
        unknown.append("which source was built")
    made.unknown = tuple(unknown)
    return made


def _subject(row: Row) -> dict[str, Fact]:
    values = row.values
    found: dict[str, Fact] = {"engine": "llama.cpp"}
    build = [f"b{values['build_number']}"] if "build_number" in values else []
    build += [values["build_commit"]] if "build_commit" in values else []
    if build:
        found["build"] = "-".join(build)
    if "model_filename" in values:
        found["model"] = values["model_filename"]
    found |= {key: values[key] for key in _SETTINGS if key in values}
    return found


def _workload(row: Row) -> dict[str, Fact]:
    if "n_prompt" not in row.values:
        return {}
    return {
        "prompt_tokens": row.values["n_prompt"],
        "generated_tokens": row.values["n_gen"],
        # Versions without a depth clear the cache before each repetition, as those with one do at depth 0.
        "depth_tokens": row.values.get("n_depth", 0),
    }


def _definition(row: Row) -> str:
    prompt, generated = bool(row.values.get("n_prompt")), bool(row.values.get("n_gen"))
    return {
        (True, False): "prefill-rate-bench",
        (False, True): "decode-rate-bench",
        (True, True): "combined-rate-bench",
    }.get((prompt, generated), "unknown")


def _numbers(row: Row) -> tuple[list[Measured], list[Finding]]:
    """The numbers that can be so, and why the others cannot."""
    values = row.values
    if "n_prompt" in values and not values["n_prompt"] + values["n_gen"]:
        why = "n_prompt and n_gen are 0: no token was computed, its numbers measure nothing"
        return [], [Finding("no-work", why, row.line)]
    if impossible := next(_impossible(row), None):
        return [], [Finding("impossible-value", impossible, row.line)]
    contradictions = list(_contradictions(row))
    findings = [Finding(each.id, each.why, row.line) for each in contradictions]
    gone = {name for each in contradictions for name in each.concerned}
    measured = [each for each in _measured(row) if each.name not in gone]
    for each in [each for each in measured if not 0 <= each.value < math.inf]:
        measured.remove(each)
        findings.append(Finding("impossible-value", f"{each.name} is {each.value}: not used", row.line))
    if "n_prompt" not in values:
        findings.append(Finding("unknown-test", f"{test_of(row)} is no test that is known", row.line))
    if not measured and not gone:
        told = row.foreign.get("t/s")
        why = (
            f"the row has no rate: t/s is {str(told)[:40]!r}, expected 12.34 ± 0.56"
            if told
            else "the row has no rate"
        )
        findings.append(Finding("nothing-measured", why, row.line))
    n = _repetitions(row)
    if n is not None and n < ENOUGH:
        findings.append(
            Finding("few-samples", f"{n} repetition{'s' * (n > 1)}: too few for a spread", row.line)
        )
    return measured, findings


def _repetitions(row: Row) -> int | None:
    """None: unknown. Without samples a spread of exactly 0 ns is the mark of one repetition."""
    for key in ("samples_ns", "samples_ts"):
        if key in row.values:
            return len(row.values[key])
    return 1 if row.values.get("stddev_ns") == 0 and row.values.get("stddev_ts") == 0 else None


def _measured(row: Row) -> Iterator[Measured]:
    values, n = row.values, _repetitions(row)
    told = n if "samples_ns" in values or "samples_ts" in values else None
    for mean, std, samples, definition, unit in (
        ("avg_ts", "stddev_ts", "samples_ts", _definition(row), "token/s"),
        ("avg_ns", "stddev_ns", "samples_ns", "sample-time-bench", "ns"),
    ):
        if mean in values:
            yield Measured(mean, definition, "mean", values[mean], unit, told, values.get(samples, ()))
        if std in values and n != 1:
            yield Measured(std, definition, "std", values[std], unit, told)


def _impossible(row: Row) -> Iterator[str]:
    values = row.values
    for key in ("n_prompt", "n_gen", "n_depth"):
        if values.get(key, 0) < 0:
            yield f"{key} is {values[key]}: less than nothing"
    for key in ("avg_ts", "avg_ns"):
        if key in values and not 0 < values[key] < _MOST:
            yield f"{key} is {values[key]}: no test takes no time or goes at such a rate"
    for key in ("samples_ts", "samples_ns"):
        for number, value in enumerate(values.get(key, ()), 1):
            if not 0 < value < _MOST:
                yield f"repetition {number} of {key} is {value}: no test takes no time or goes at such a rate"
        if key in values and not values[key]:
            yield f"{key} is empty, and its mean is given all the same"
    lengths = {len(values[key]) for key in ("samples_ts", "samples_ns") if key in values}
    if len(lengths) > 1:
        yield "samples_ts and samples_ns have different lengths"


class _Contradiction(NamedTuple):
    """What two numbers of a row say differently."""

    id: str
    why: str
    concerned: tuple[str, ...]
    """Numbers that are left out, since nothing says which of them is wrong."""


_RATE = ("avg_ts", "stddev_ts")
_TIME = ("avg_ns", "stddev_ns")


def _contradictions(row: Row) -> Iterator[_Contradiction]:
    values = row.values
    tokens = values.get("n_prompt", 0) + values.get("n_gen", 0)
    times, rates = values.get("samples_ns"), values.get("samples_ts")
    if times and rates and (wrong := _first_apart([1e9 * tokens / each for each in times], rates)):
        number, one, other = wrong
        yield _Contradiction(
            "rate-contradicts-counts",
            f"repetition {number} of samples_ts is {other:g}, but {tokens} tokens in {times[number - 1]} ns are {one:g} token/s",
            _RATE + _TIME,
        )
    for names, samples, slack in ((_RATE, rates, 0.0), (_TIME, times, 1.0)):
        mean = names[0]
        if samples and mean in values:
            recomputed = sum(samples) / len(samples)
            if not math.isclose(recomputed, values[mean], rel_tol=1e-5, abs_tol=slack):
                why = f"{mean} is {values[mean]}, but the mean of its samples is {recomputed:.6g}"
                yield _Contradiction("mean-contradicts-samples", why, names)
    if not times and not row.rounded:
        yield from _rate_against_time(row, tokens)
    yield from _spread_of_rates(row)
    yield from _spread_of_times(row)


def _first_apart(recomputed: list[float], told: tuple[float, ...]) -> tuple[int, float, float] | None:
    """The first repetition whose rate is not what its time gives; samples are printed with six digits."""
    for number, (one, other) in enumerate(zip(recomputed, told, strict=True), 1):
        if not math.isclose(one, other, rel_tol=1e-5):
            return number, one, other
    return None


def _rate_against_time(row: Row, tokens: int) -> Iterator[_Contradiction]:
    """The mean of rates is never below the rate of the mean, and above it by about the square of the relative spread."""
    values = row.values
    if not tokens or "avg_ts" not in values or "avg_ns" not in values:
        return
    ratio = values["avg_ts"] * values["avg_ns"] / (1e9 * tokens)
    spread = values.get("stddev_ts", math.nan) / values["avg_ts"]
    most = 1 + 3 * spread * spread + 1e-4 if spread <= 0.1 else math.inf
    if not 1 - 1e-4 <= ratio <= most:
        yield _Contradiction(
            "rate-contradicts-counts",
            f"avg_ts is {values['avg_ts']:g}, but {tokens} tokens in avg_ns {values['avg_ns']} ns "
            f"are {1e9 * tokens / values['avg_ns']:g} token/s",
            _RATE + _TIME,
        )


def _spread_of_rates(row: Row) -> Iterator[_Contradiction]:
    """stddev_ts that is not the spread of its samples, which are printed with six digits."""
    rates, told = row.values.get("samples_ts"), row.values.get("stddev_ts")
    if not rates or len(rates) < 2 or told is None or not math.isfinite(told):
        return
    mean = sum(rates) / len(rates)
    spread = math.sqrt(sum((each - mean) ** 2 for each in rates) / (len(rates) - 1))
    if not abs(told - spread) <= 1e-3 * spread + 2e-5 * mean:
        why = f"stddev_ts is {told:g}, but the spread of its samples is {spread:.6g} token/s"
        yield _Contradiction("statistic-contradicts-samples", why, ("stddev_ts",))


def _spread_of_times(row: Row) -> Iterator[_Contradiction]:
    """stddev_ns that is not the spread of its samples: the integers of llama-bench wrapped."""
    values = row.values
    times, told = values.get("samples_ns"), values.get("stddev_ns")
    if told is None:
        return
    if times and len(times) > 1:
        mean = sum(times) / len(times)
        variance = sum((each - mean) ** 2 for each in times) / (len(times) - 1)
        if abs(variance - told**2) > 1e-3 * variance + 8 * mean + 2 * told + 1:
            yield _Contradiction(
                "std-contradicts-samples",
                f"stddev_ns is {told}, but the spread of its samples is {math.sqrt(variance):.0f} ns: not used "
                "(llama-bench computes it in integers that wrap)",
                ("stddev_ns",),
            )
    elif not times and values.get("avg_ts") and values.get("avg_ns") and values.get("stddev_ts"):
        of_rates, of_times = values["stddev_ts"] / values["avg_ts"], told / values["avg_ns"]
        slack = 4 / math.sqrt(values["avg_ns"])
        if of_rates < 0.1 and not of_rates / 2 - slack <= of_times <= of_rates * 2 + slack:
            yield _Contradiction(
                "std-contradicts-samples",
                f"stddev_ns is {of_times:.1%} of avg_ns, but stddev_ts {of_rates:.1%} of avg_ts: stddev_ns is not used "
                "(llama-bench computes it in integers that wrap)",
                ("stddev_ns",),
            )
