"""Answers of llama-server: of /completion, of the OpenAI endpoints, bare timings; alone, in a list, as lines, or streamed.

Source: server_task_result_cmpl_final::to_json_* of tools/server, format_final_response of examples/server before.
Prompts and answers are not read into records: they are other people's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Fact, Finding, Observation, Requests
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.llama_server_timings import is_timings, record_of
from hio_validate.importing.results.skipping import Skipped
from hio_validate.importing.results.source import Source

_HEADS = re.compile(
    r'"timings"\s*:\s*\{\s*"(?:cache_n|prompt_n)"|^\s*\[?\s*\{\s*"(?:cache_n|prompt_n|predicted_n)"\s*:'
    r'|"id_slot"\s*:[^\n]*"tokens_predicted"|"system_fingerprint"\s*:\s*"b\d+-'
    r'|^\s*\{"error":\s*\{"code":\s*\d+,\s*"message"'
)
_BEGINS = re.compile(r"\s*(?:data: ?)?[\[{]|\s*:|\s*event:")
_SAMPLING = (
    "seed",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "max_tokens",
    "n_predict",
    "ignore_eos",
    "stream",
)
_BUILD = re.compile(r"b([1-9]\d*)-(?!unknown)(\w+)$")


def _recognises(source: Source) -> bool:
    return bool(_BEGINS.match(source.head)) and _HEADS.search(source.head) is not None


def _read(source: Source) -> Iterator[Observation]:
    """A record for each answer; the last of them tells what was skipped."""
    skipped = Skipped(source)
    several = _streamed(source, skipped) if _is_stream(source) else _values(source, skipped)
    held: Observation | None = None
    for number, (line, value) in enumerate(several, 1):
        if held:
            yield held
        held = _answer(source, f"request-{number}", line, value)
    if held is None:
        raise source.refuse("no answer in it has timings", "keep the last event of each stream", code=3)
    if skipped.count:
        held.findings.append(skipped.finding())
    yield held


def _is_stream(source: Source) -> bool:
    return re.search(r"^(?:data: ?[{\[]|event:)", source.head, re.MULTILINE) is not None


_Values = Iterator[tuple[int, Any]]


def _values(source: Source, skipped: Skipped) -> _Values:
    """One JSON value, a list of them, or one a line."""
    first = next(source.lines(), (1, ""))[1].strip()
    if (first.startswith("{") and first.endswith("}")) or not first.startswith(("{", "[")):
        yield from _by_line(source, skipped)
        return
    value = source.json()
    for each in value if isinstance(value, list) else [value]:
        yield 1, each


def _by_line(source: Source, skipped: Skipped) -> _Values:
    for number, text in source.lines():
        if text.lstrip().startswith(("{", "[")):
            value = source.value_of(text, number)
            for each in value if isinstance(value, list) else [value]:
                yield number, each
        else:
            skipped.line(number, text)


def _streamed(source: Source, skipped: Skipped) -> _Values:
    """The last event with timings of each stream of server-sent events. Raises CannotImport for one that does not end."""
    last: tuple[int, Any] | None = None
    open_since = 0
    for number, text in source.lines():
        kind, _, content = text.partition(":")
        if content.strip() == "[DONE]":
            if open_since:
                yield last or (open_since, None)
            last, open_since = None, 0
        elif kind in ("data", "error") and content.strip():
            value = source.value_of(content, number)
            # Until 2025 a stream that failed ended with a field of its own.
            value = {"error": value} if kind == "error" else value
            if not open_since:
                open_since = number
            last = (number, value) if _timings(value) or _is_error(value) else last
            if _is_end(value) and last:
                yield last
                last, open_since = None, 0
        elif kind not in ("", "event", "id", "retry"):
            skipped.line(number, text)
    if open_since and last and _ended(last[1]):
        yield last
    elif open_since:
        raise source.refuse(
            "the stream does not end: its last event, with the timings, is missing",
            "keep the stream to its end",
            open_since,
        )


def _is_end(value: Any) -> bool:
    """Whether a stream surely ends here; OpenAI's may go on with its usage, until [DONE]."""
    return _is_error(value) or (isinstance(value, dict) and value.get("stop") is True)


def _is_error(value: Any) -> bool:
    return isinstance(value, dict) and "error" in value


def _ended(value: Any) -> bool:
    """Whether an event without [DONE] after it is the last: a finish reason, or the usage of all."""
    finished = any(each.get("finish_reason") for each in _choices(value))
    return (
        finished
        or (value.get("choices") == [] and "usage" in value)
        or is_timings(value)
        or value.get("stop") is True
    )


def _timings(value: Any) -> Mapping[str, Any] | None:
    if is_timings(value):
        return dict(value)
    inner = value.get("timings") if isinstance(value, dict) else None
    return inner if is_timings(inner) else None


def _answer(source: Source, name: str, line: int, value: Any) -> Observation:
    timings = _timings(value)
    if timings is None:
        return _without(source, name, line, value)
    if timings == value:
        return record_of(name, line, timings)
    made = record_of(name, line, timings, cached_is_told=_whole_prompt(value) is not None)
    made.subject |= _subject(value)
    made.workload |= _asked(value)
    if (total := _whole_prompt(value)) is not None:
        made.workload.setdefault("prompt_tokens", total)
    made.findings += [
        Finding("counts-contradict", why, line) for why in _contradictions(value, made.workload)
    ]
    return made


def _without(source: Source, name: str, line: int, value: Any) -> Observation:
    """An answer that failed, or a stream without timings; anything else is no answer at all."""
    if value is None:
        made = Observation(name, line, subject={"engine": "llama.cpp"}, requests=Requests(asked=1))
        why = "no event of the stream has timings: ask for timings_per_token, or use /completion"
        made.findings = [Finding("no-timings", why, line)]
        return made
    error = value.get("error") if isinstance(value, dict) else None
    if error is None:
        raise source.refuse(
            "it has no timings: expected an answer of llama-server", "keep the answer as it came", line
        )
    said = error.get("message", error) if isinstance(error, dict) else error
    made = Observation(name, line, subject={"engine": "llama.cpp"}, requests=Requests(asked=1, failed=1))
    made.findings = [Finding("failed-request", f"the server refused: {str(said)[:120]}", line)]
    return made


def _subject(value: Mapping[str, Any]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    if isinstance(value.get("model"), str) and value["model"]:
        found["model"] = value["model"]
    if build := _BUILD.match(str(value.get("system_fingerprint", ""))):
        found["build"] = f"b{build[1]}-{build[2]}"
    settings = value.get("generation_settings")
    if isinstance(settings, dict) and isinstance(settings.get("speculative.types"), str):
        found["speculative.types"] = settings["speculative.types"]
    return found


def _asked(value: Mapping[str, Any]) -> dict[str, Fact]:
    settings = value.get("generation_settings")
    settings = settings if isinstance(settings, dict) else {}
    found: dict[str, Fact] = {
        key: settings[key] for key in _SAMPLING if isinstance(settings.get(key), str | bool | int | float)
    }
    if isinstance(settings.get("samplers"), list):
        found["samplers"] = " ".join(map(str, settings["samplers"]))
    for key in ("stop_type", "truncated"):
        if isinstance(value.get(key), str | bool):
            found[key] = value[key]
    reasons = [each.get("finish_reason") for each in _choices(value)]
    if reasons and isinstance(reasons[0], str):
        found["finish_reason"] = reasons[0]
    return found


def _choices(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    choices = value.get("choices")
    return [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []


def _whole_prompt(value: Mapping[str, Any]) -> int | None:
    """Prompt tokens, those of the cache included."""
    usage = value.get("usage")
    total = usage.get("prompt_tokens") if isinstance(usage, dict) else value.get("tokens_evaluated")
    return total if isinstance(total, int) and not isinstance(total, bool) else None


def _contradictions(value: Mapping[str, Any], workload: Mapping[str, Fact]) -> Iterator[str]:
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    for key, told in (
        ("prompt_tokens", _whole_prompt(value)),
        ("generated_tokens", usage.get("completion_tokens", value.get("tokens_predicted"))),
    ):
        if told is not None and key in workload and told != workload[key]:
            yield f"the answer says {told} {key.replace('_', ' ')}, its timings {workload[key]}"


def _generation(source: Source) -> str | None:
    found = re.search(r'"system_fingerprint"\s*:\s*"(b[1-9]\d*-\w+)"', source.head)
    return found[1] if found and not found[1].endswith("-unknown") else None


LLAMA_SERVER = Importer(
    format="llama-server-response",
    about="answers of llama-server with their timings",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "settings of the server: slots, context, batches, K/V types, flash attention, placement",
        "what other requests the server answered at the same time",
        "when it was asked, and what the client waited: the queue is not in the timings",
        "gaps between single tokens",
        "whether the answer is right",
        "which bytes the model and the program have",
        "what else ran on the host",
        "whether it was the first request after the start",
    ),
    content=True,
)
"""The importer."""
