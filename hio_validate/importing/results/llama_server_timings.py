"""`timings` of llama-server as a record: one request, its counts, its two rates, and what cannot be so.

Source: get_formated_timings of examples/server/server.cpp (2023, 2024) and result_timings::to_json of tools/server
(since): prompt_n counts the prompt tokens that no cache held, predicted_n all generated ones, over predicted_ms, which
begins where the prompt ends. Since 2026 the two numbers of the decode leave the first token out (n - 1 over predicted_ms,
seen in b11434); which way it was counted is recomputed, never guessed from a version. cache_n is told since 2025, draft_n and draft_n_accepted only where something was drafted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Fact, Finding, Measured, Observation, Requests
from hio_validate.importing.results.importer import foreign, is_number

COUNTS = ("prompt_n", "predicted_n", "cache_n", "draft_n", "draft_n_accepted")
KNOWN = frozenset(COUNTS) | {
    "prompt_ms", "prompt_per_token_ms", "prompt_per_second",
    "predicted_ms", "predicted_per_token_ms", "predicted_per_second",
}  # fmt: skip
_CACHE_UNTOLD = "how many prompt tokens a cache held"


def is_timings(value: Any) -> bool:
    """Whether a JSON value is such an object."""
    return isinstance(value, dict) and {"prompt_n", "predicted_n"} <= value.keys()


def record_of(name: str, line: int, timings: Mapping[str, Any], cached_is_told: bool = False) -> Observation:
    """One request that was answered; whole prompts are counted where the cache is told."""
    made = Observation(name, line, subject={"engine": "llama.cpp"}, requests=Requests(asked=1, completed=1))
    made.findings = [Finding(kind, why, line) for kind, why in _impossible(timings)]
    made.workload = _workload(timings)
    made.foreign = foreign(timings, KNOWN, "timings.")
    if "cache_n" not in timings:
        made.unknown = () if cached_is_told else (_CACHE_UNTOLD,)
    if not made.findings:
        made.metrics = list(_measured(timings))
        made.findings = [Finding(kind, why, line) for kind, why in _unusable(timings)]
        wrong = {why.split()[0] for kind, why in _unusable(timings) if kind != "cache-answered"}
        made.metrics = [each for each in made.metrics if each.name not in wrong]
    return made


def _workload(timings: Mapping[str, Any]) -> dict[str, Fact]:
    names = {
        "prompt_n": "evaluated_tokens", "cache_n": "cached_tokens", "predicted_n": "generated_tokens",
        "draft_n": "drafted_tokens", "draft_n_accepted": "accepted_tokens",
    }  # fmt: skip
    told: dict[str, Fact] = {name: timings[key] for key, name in names.items() if _is_count(timings.get(key))}
    if {"evaluated_tokens", "cached_tokens"} <= told.keys():
        told["prompt_tokens"] = timings["prompt_n"] + timings["cache_n"]
    return told


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _is_amount(value: Any) -> bool:
    """A number that a time or a rate can be."""
    return is_number(value) and (isinstance(value, float) or abs(value) < 2**63) and 0 <= value < math.inf


def _measured(timings: Mapping[str, Any]) -> Iterator[Measured]:
    one_less = _leaves_the_first_out(timings)
    for name, definition, unit in (
        ("prompt_ms", "prefill-time", "ms"),
        ("prompt_per_second", "prefill-rate-evaluated", "token/s"),
        ("predicted_per_token_ms", "decode-time-n-1" if one_less else "decode-time-n", "ms"),
        ("predicted_per_second", "decode-rate-n-1" if one_less else "decode-rate-n", "token/s"),
    ):
        if _is_amount(timings.get(name)):
            yield Measured(name, definition, "value", timings[name], unit, 1)
    if one_less:
        # What older builds tell, and what hio's own runs compute: comparable across builds.
        rate = 1e3 * timings["predicted_n"] / timings["predicted_ms"]
        name = "predicted_n / predicted_ms"
        yield Measured(name, "decode-rate-n", "value", rate, "token/s", 1, derived=True)
    for name, definition in (("predicted_n", "generated-length"), ("cache_n", "cached-length")):
        if name in timings:
            yield Measured(name, definition, "value", timings[name], "1", 1)
    drafted, accepted = timings.get("draft_n"), timings.get("draft_n_accepted")
    if drafted and accepted is not None:
        yield Measured(
            "draft_n_accepted", "draft-acceptance", "value", accepted / drafted, "1", drafted, derived=True
        )


def _shown(value: Any) -> str:
    return repr(value)[:40]


def _impossible(timings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What makes the whole object untrustworthy."""
    for key in COUNTS:
        if key in timings and not _is_count(timings[key]):
            yield "impossible-value", f"{key} is {_shown(timings[key])}: expected a count"
            return
    drafted, accepted = timings.get("draft_n"), timings.get("draft_n_accepted")
    if drafted is not None and accepted is not None and accepted > drafted:
        yield "impossible-value", f"draft_n_accepted is {accepted} of {drafted} drafted: more than there were"
    for count, time in (("prompt_n", "prompt_ms"), ("predicted_n", "predicted_ms")):
        value = timings.get(time)
        if value is not None and not _is_amount(value):
            yield "impossible-value", f"{time} is {_shown(value)}: expected a time"
        elif value == 0 and timings[count] > 1:
            yield "impossible-value", f"{time} is 0 for {timings[count]} tokens: no work takes no time"


def _unusable(timings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(id, sentence that begins with the name of the number) of numbers that are not used."""
    cached = timings.get("cache_n", 0)
    if timings["prompt_n"] <= 1:
        why = f"{cached} came from the cache" if cached else "a cache held the others, or there was one"
        for name in ("prompt_per_second", "prompt_ms"):
            if name in timings:
                sentence = (
                    f"{name} is no prefill speed: {timings['prompt_n']} prompt token was evaluated, {why}"
                )
                yield "no-prefill", sentence
    elif cached:
        total = cached + timings["prompt_n"]
        yield "cache-answered", f"{cached} of {total} prompt tokens came from the cache: not a cold request"
    if timings["predicted_n"] <= 1:
        for name in ("predicted_per_second", "predicted_per_token_ms"):
            if timings.get(name) is not None:
                yield "no-decode", f"{name} is no decode speed: {timings['predicted_n']} token was generated"
    yield from _against_counts(timings)


def _leaves_the_first_out(timings: Mapping[str, Any]) -> bool:
    """Whether the numbers of the decode count n - 1 tokens: by which way more of them, and more closely, are so."""
    count, time = timings["predicted_n"], timings.get("predicted_ms")
    if count <= 1 or not time:
        return False
    fits = []
    for counted in (count, count - 1):
        off = [
            _off(told, recomputed, time) for _, told, recomputed in _recomputed(timings, "predicted", counted)
        ]
        fits.append((sum(each <= 1 for each in off), -sum(off)))
    return fits[1] > fits[0]


def _recomputed(timings: Mapping[str, Any], kind: str, counted: int) -> Iterator[tuple[str, float, float]]:
    """(name, told, recomputed) of the two numbers that are told of one half of a request."""
    time = timings[f"{kind}_ms"]
    for name, recomputed in (
        (f"{kind}_per_second", 1e3 * counted / time),
        (f"{kind}_per_token_ms", time / counted),
    ):
        if timings.get(name) is not None:
            yield name, timings[name], recomputed


def _off(told: Any, recomputed: float, time: float) -> float:
    """How far apart, in what rounding explains: logs round rates and times to 0.01, in JSON they are exact."""
    if not _is_amount(told):
        return math.inf
    return float(abs(told - recomputed) / (0.006 + recomputed * (1e-4 + 0.006 / time)))


def _against_counts(timings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Rates that are not their count over their time."""
    for kind in ("prompt", "predicted"):
        count, time = timings[f"{kind}_n"], timings.get(f"{kind}_ms")
        if count <= 1 or not time:
            continue
        counted = count - 1 if kind == "predicted" and _leaves_the_first_out(timings) else count
        for name, told, recomputed in _recomputed(timings, kind, counted):
            if _off(told, recomputed, time) > 1:
                why = f"{name} is {_shown(told)}, but {count} tokens in {time} ms are {recomputed:.6g}: not used"
                yield "rate-contradicts-counts", why
