"""/metrics of llama-server: counters since its start, and what two snapshots of them say of the time between.

Source: the /metrics handler of tools/server (examples/server before 2025); the text is Prometheus's exposition format.
Invariant: a counter since the start is no rate. Gauges that are called averages were averages since the last scrape in
one version and since the start in another: how they are counted stays unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from hio_validate.evidence.observed import Fact, Finding, Measured, Observation
from hio_validate.importing.results.delimited import CUT, is_cut
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.skipping import Skipped
from hio_validate.importing.results.source import Source

_LINE = re.compile(r"llamacpp:(\w+)(?:\{([^}]*)\})?\s+(\S+)(?:\s+-?\d+)?\s*$")
_COUNTERS = frozenset({
    "prompt_tokens_total", "prompt_tokens_cached_total", "prompt_seconds_total", "tokens_predicted_total",
    "tokens_predicted_seconds_total", "n_decode_total", "n_tokens_max", "tokens_drafted_total",
    "tokens_drafted_accepted_total", "spec_decode_num_draft_tokens_total", "spec_decode_num_accepted_tokens_total",
    "spec_decode_num_drafts_total",
})  # fmt: skip
_AVERAGES = {
    "prompt_tokens_seconds": "token/s",
    "predicted_tokens_seconds": "token/s",
    "n_busy_slots_per_decode": "1",
    "kv_cache_usage_ratio": "1",
}
_SINCE_START = "counters run since the start of the server and mix all its requests: two snapshots in one call give a rate"
_LARGEST = frozenset({"n_tokens_max"})
"""Called a counter, and yet the largest so far: its difference means nothing."""


def _recognises(source: Source) -> bool:
    return re.search(r"^(?:# (?:HELP|TYPE) )?llamacpp:\w+", source.head, re.MULTILINE) is not None


def _read(source: Source) -> Iterator[Observation]:
    """A record for each snapshot, and between two of one server another for the time between them."""
    skipped = Skipped(source)
    before: dict[str, Observation] = {}
    records: list[Observation] = []
    for number, (line, labels, told) in enumerate(_snapshots(source, skipped), 1):
        made = _snapshot(f"snapshot-{number}", line, labels, told)
        records.append(made)
        if labels in before:
            records.append(between(before[labels], made))
        before[labels] = made
    if not records:
        raise source.refuse("it has no value of llama-server", "start it with --metrics, ask again", code=3)
    if skipped.count:
        records[-1].findings.append(skipped.finding())
    if is_cut(source):
        records[-1].findings.append(Finding("cut-short", f"{CUT}: it is left out", records[-1].line))
    yield from records


def _snapshots(source: Source, skipped: Skipped) -> Iterator[tuple[int, str, dict[str, float]]]:
    """(line, labels, values) of each; a name that comes again with its labels begins another. Raises CannotImport."""
    told: dict[str, dict[str, float]] = {}
    began: dict[str, int] = {}
    for number, text in _ended(source):
        if text.startswith("#"):
            continue
        found = _LINE.match(text)
        if found is None:
            if text.startswith("llamacpp:"):
                raise source.refuse(
                    "the line is cut off: expected a name and a number", "ask /metrics again", number
                )
            if not re.match(r"[a-zA-Z_:][\w:]*(?:\{[^}]*\})? [-+\w.]+", text):
                skipped.line(number, text)
            continue
        name, labels, value = found[1], found[2] or "", _value(source, found[3], number)
        if name in told.get(labels, ()):
            yield began.pop(labels), labels, told.pop(labels)
        told.setdefault(labels, {})[name] = value
        began.setdefault(labels, number)
    yield from ((began[labels], labels, values) for labels, values in told.items())


def _ended(source: Source) -> Iterator[tuple[int, str]]:
    """The lines but the last where nothing ends it: its number may be half of one."""
    held: tuple[int, str] | None = None
    for each in source.lines():
        if held is not None:
            yield held
        held = each
    if held is not None and not (held[1][-1:] in "0123456789." and is_cut(source)):
        yield held


def _value(source: Source, text: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise source.refuse(f"{text[:40]!r} is no number", "ask /metrics again", line) from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _snapshot(name: str, line: int, labels: str, told: Mapping[str, float]) -> Observation:
    subject: dict[str, Fact] = {"engine": "llama.cpp"}
    if model := re.search(r'model="([^"]+)"', labels):
        subject["model"] = model[1]
    made = Observation(name, line, subject=subject)
    made.findings.append(Finding("since-start", _SINCE_START, line))
    for key, value in told.items():
        if not math.isfinite(value) or value < 0:
            made.findings.append(Finding("impossible-value", f"{key} is {value}: not used", line))
        elif key in _COUNTERS or key.startswith("requests_"):
            made.workload[key] = value
        elif key in _AVERAGES:
            made.metrics.append(Measured(key, "unknown", "mean", value, _AVERAGES[key]))
        else:
            made.foreign[key] = value
    made.unknown = ("since when the averages run: since the start, or since the last scrape",)
    return made


def between(first: Observation, second: Observation) -> Observation:
    """What a server did between two of its snapshots: tokens over their time, all requests together.

    Rates in token/s. Without metrics where a counter went back (it was started anew) or where nothing was done.
    """
    made = Observation(f"{first.name} to {second.name}", second.line, subject=dict(second.subject))
    done = {
        key: _number(second.workload[key]) - _number(first.workload[key])
        for key in sorted(_COUNTERS - _LARGEST)
        if key in first.workload and key in second.workload
    }
    if back := sorted(key for key, value in done.items() if value < 0):
        why = f"{back[0]} went from {first.workload[back[0]]} to {second.workload[back[0]]}: the server was started anew, or it is another"
        made.findings.append(Finding("counter-went-back", why, second.line))
        return made
    made.workload = {f"{key}_between": value for key, value in sorted(done.items())}
    made.metrics = list(_rates(done))
    if not made.metrics:
        made.findings.append(Finding("nothing-measured", "no token was computed between them", second.line))
    made.unknown = ("how many requests it were, and of which lengths",)
    return made


def _number(value: Fact) -> float:
    return value if isinstance(value, int | float) else math.nan


def _rates(done: Mapping[str, float]) -> Iterator[Measured]:
    for name, tokens, seconds, definition in (
        ("prompt_tokens_total / prompt_seconds_total", "prompt_tokens_total", "prompt_seconds_total", "prefill-rate-evaluated"),
        ("tokens_predicted_total / tokens_predicted_seconds_total", "tokens_predicted_total",
         "tokens_predicted_seconds_total", "decode-rate-n"),
    ):  # fmt: skip
        if done.get(tokens) and done.get(seconds):
            yield Measured(name, definition, "total", done[tokens] / done[seconds], "token/s", derived=True)
    for accepted, drafted in (
        ("spec_decode_num_accepted_tokens_total", "spec_decode_num_draft_tokens_total"),
        ("tokens_drafted_accepted_total", "tokens_drafted_total"),
    ):
        if done.get(drafted) and accepted in done:
            share = done[accepted] / done[drafted]
            yield Measured(
                accepted, "draft-acceptance", "total", share, "1", int(done[drafted]), derived=True
            )


LLAMA_SERVER_METRICS = Importer(
    format="llama-server-metrics",
    about="snapshots of /metrics of llama-server",
    recognises=_recognises,
    read=_read,
    generation=lambda source: None,
    unknown=(
        "single requests: lengths, latencies, gaps",
        "which model and build, unless a label says it",
        "settings of the server",
        "when the snapshots were taken",
        "how long the server was busy: times of requests that ran at once are added up",
        "what else ran on the host",
    ),
)
"""The importer."""
