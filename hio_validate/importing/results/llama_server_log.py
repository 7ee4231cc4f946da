"""The log of llama-server: what each request took, and the facts of the start it ran under (observe/log_facts.py).

Source: print_timings of examples/server/server.cpp (2023: `eval time ... runs`; 2024: `generation eval time`), of
tools/server since. Times and rates have two decimals. Prompts that a verbose log shows are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hio_validate.evidence.observed import Fact, Finding, Measured, Observation
from hio_validate.importing.results.importer import Importer
from hio_validate.importing.results.llama_server_timings import record_of
from hio_validate.importing.results.source import Source
from hio_validate.observe.log_facts import PREFIX, START, log_facts

_KEEPER = (
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s\[]+\[\d+\]: "
    r"|\d{4}-\d\d-\d\dT\S+ (?:\S+ [^\s\[]+\[\d+\]: )?|[\w.-]+ +\| )"
)
"""What journald, docker and compose put before a line that they keep."""
_KEPT = re.compile(_KEEPER)
_OURS = re.compile(
    rf"^{_KEEPER}?(?:\S+ [IWED] )?"
    r"(?:slot +[\w:]+:? +id +\d+ \||srv +\w+: |llama_server: |print_timings?: |llama_context: "
    r"|llama_new_context_with_model: |llama_model_loader: |system_info: n_threads|build: \d+ \(\w+\) with "
    r"|llama_kv_cache\w*: |main: server is listening|INFO \[ +\w+\] |\{[^\n]*\"function\":\"\w+\"[^\n]*\"msg\":)",
    re.MULTILINE,
)
_NUMBER = r"(\d+(?:\.\d+)?|-?nan|inf)"
_COUNT = r"(\d{1,12})"
_EVAL = re.compile(
    rf"(prompt |generation |\b)eval time += +{_NUMBER} ms / +{_COUNT} (?:tokens|runs) +\( *{_NUMBER} ms per token, +{_NUMBER} tokens per second\)"
)
_ACCEPTED = re.compile(
    r"draft acceptance(?: rate)? = *[\d.]+ \( *(\d{1,12}) accepted / *(\d{1,12}) generated\)(?:, mean len = +(\d+(?:\.\d+)?))?"
)
_TASK = re.compile(r"\b(?:task |\"?(?:id_task|task_id)\"?[=:] ?)(\d{1,12})\b")
_WHOLE = re.compile(r"\b(?:task\.n_tokens|n_prompt_tokens) = (\d{1,12})")
_CACHED = re.compile(r"\bcached n_tokens = (\d{1,12})")
_PROCESS = re.compile(r"^(?:llama_print_timings|llama_perf\w*|common_perf_print)\b.*eval time")
_MODEL = re.compile(r"load_model: loading model '([^']+)'")
_BUILD = re.compile(r"\bbuild:? ([1-9]\d*) \((?!unknown)([0-9a-f]+)\)")
_TIMED = ("eval time", "total time", "graphs reused", "draft acceptance")
_HALVES = {
    "prompt": ("evaluated_tokens", "how many prompt tokens were evaluated, and in which time"),
    "predicted": ("generated_tokens", "how many tokens were generated, and in which time"),
}
_OPEN = 10_000
"""Most tasks whose prompts are remembered."""
_CUT = re.compile(r"(?:eval time|draft acceptance)[^)]*$")


class _Starts:
    """How often the server was started; the several lines that one start prints count as one."""

    def __init__(self) -> None:
        self.count = 0
        self._within = False

    def begins(self, text: str) -> bool:
        """Whether a line is of a start."""
        found = ("initializing" in text or "build" in text) and START.match(PREFIX.sub("", text, count=1))
        self.count += bool(found) and not self._within
        self._within = bool(found)
        return self._within


class _Requests:
    """The requests of a log, in the order in which they ended.

    Only lines of print_timing are read, and those that follow it without a name of their own: others may be a prompt.
    """

    def __init__(self) -> None:
        self.starts = _Starts()
        self.process_line = 0
        self._pending: dict[str, Any] | None = None
        self._prompts: dict[str, dict[str, int]] = {}
        self._within, self._task = False, ""

    def read(self, number: int, text: str) -> dict[str, Any] | None:
        """A request that is complete, once a line shows that no more of it comes."""
        if self.starts.begins(text):
            self._prompts.clear()
            return self.done()
        if "eval time" in text and _PROCESS.match(PREFIX.sub("", text, count=1)):
            self.process_line = self.process_line or number
            return None
        heads = "print_timing" in text
        self._within = heads or (self._within and any(word in text for word in _TIMED))
        if self._within:
            return self._timing(number, text, heads)
        if "n_tokens" in text or "n_prompt_tokens" in text:
            self._prompt(text)
        return None

    def _timing(self, number: int, text: str, heads: bool) -> dict[str, Any] | None:
        if heads:
            self._task = found[1] if (found := _TASK.search(text)) else ""
        if found := _EVAL.search(text):
            return self._eval(found, number)
        if (found := _ACCEPTED.search(text)) and self._pending:
            names = ("draft_n_accepted", "draft_n")
            self._pending |= dict(zip(names, (int(found[1]), int(found[2])), strict=True))
            self._pending["mean_len"] = found[3]
        return None

    def _prompt(self, text: str) -> None:
        """What a line says of the prompt that a task begins with; of a task that never ends it is forgotten."""
        task = _TASK.search(text)
        for name, pattern in (("whole", _WHOLE), ("cached", _CACHED)):
            if task and (found := pattern.search(text)):
                self._prompts.setdefault(task[1], {}).setdefault(name, int(found[1]))
        if len(self._prompts) > _OPEN:
            del self._prompts[next(iter(self._prompts))]

    def _eval(self, found: re.Match[str], number: int) -> dict[str, Any] | None:
        kind = "prompt" if found[1] == "prompt " else "predicted"
        ended = self.done() if kind == "prompt" or self._pending is None else None
        if self._pending is None:
            self._pending = {"line": number, "task": self._task, "start": self.starts.count}
        names = (f"{kind}_ms", f"{kind}_n", f"{kind}_per_token_ms", f"{kind}_per_second")
        told = (float(found[2]), int(found[3]), float(found[4]), float(found[5]))
        self._pending |= dict(zip(names, told, strict=True))
        return ended

    def done(self) -> dict[str, Any] | None:
        """What is pending, with the prompt that its task began with."""
        ended, self._pending = self._pending, None
        if ended is not None:
            ended |= self._prompts.pop(ended["task"], {})
        return ended


class _Start(NamedTuple):
    """What the log says of its last start."""

    subject: dict[str, Fact]
    number: int
    """How many starts there were up to it."""


def _read(source: Source) -> Iterator[Observation]:
    """A record for each request; where there is none, one for what the log says of its start."""
    start = _last_start(source)
    requests, count, cut = _Requests(), 0, 0
    for number, text in _lines(source):
        cut = number if ("eval time" in text or "draft acc" in text) and _CUT.search(text) else 0
        if (ended := requests.read(number, text)) is not None:
            count += 1
            yield _record(count, ended, start)
    if cut:
        raise source.refuse("the last line is cut off within the timings of a request", "remove it", cut)
    if (ended := requests.done()) is not None:
        count += 1
        yield _record(count, ended, start)
    if not count:
        yield _start_only(start, requests.process_line)


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines as the server wrote them."""
    for number, text in source.lines(replaced=True):
        yield number, _KEPT.sub("", text, count=1) if _KEPT.match(text) else text


def _last_start(source: Source) -> _Start:
    starts = _Starts()
    named: dict[str, Fact] = {}

    def passing() -> Iterator[str]:
        for _, text in _lines(source):
            if starts.begins(text) and (found := _BUILD.search(text)):
                named["build"] = f"b{found[1]}-{found[2]}"
            elif "loading model '" in text and (found := _MODEL.search(text)):
                named["model"] = found[1]
            yield text

    try:
        facts = log_facts(passing())
    except ValueError:
        why = "a number of its start is longer than any can be"
        raise source.refuse(why, "import the log as it was") from None
    return _Start({"engine": "llama.cpp"} | facts | named, starts.count)


def _record(count: int, told: dict[str, Any], start: _Start) -> Observation:
    line, task = told["line"], told["task"]
    timings = {
        key: value for key, value in told.items() if key.endswith(("_n", "_ms", "_second", "accepted"))
    }
    cached = told.get("cached")
    if cached is None and "whole" in told:
        cached = told["whole"] - told.get("prompt_n", 0)
    if cached is not None and cached >= 0:
        timings["cache_n"] = cached
    missing = [kind for kind in _HALVES if f"{kind}_n" not in timings]
    made = record_of(f"request-{count}", line, dict.fromkeys((f"{kind}_n" for kind in missing), 0) | timings)
    for kind in missing:
        _take_out(made, kind)
    if "cached" not in told:
        made.metrics = [
            each._replace(derived=each.derived or each.name == "cache_n") for each in made.metrics
        ]
    if told.get("mean_len") and not any(each.id == "impossible-value" for each in made.findings):
        made.metrics.append(Measured("mean len", "draft-length", "mean", float(told["mean_len"]), "1"))
    if task:
        made.foreign["task"] = int(task)
    if "whole" in told and told["whole"] != made.workload.get("prompt_tokens", told["whole"]):
        why = f"the prompt has {told['whole']} tokens, cached and evaluated ones are {made.workload['prompt_tokens']}"
        made.findings.append(Finding("counts-contradict", why, line))
    if told["start"] == start.number:
        made.subject = dict(start.subject)
        made.findings += _disabled(start, line) if count == 1 else []
    else:
        made.findings.append(
            Finding("earlier-start", "it ran under an earlier start, whose settings are not read", line)
        )
    return made


def _take_out(made: Observation, kind: str) -> None:
    """Takes out of a record the half of a request whose line the log does not have: absent is not 0."""
    made.metrics = [each for each in made.metrics if not each.name.startswith(f"{kind}_")]
    counted, what = _HALVES[kind]
    made.workload.pop(counted, None)
    if kind == "prompt":
        made.workload.pop("prompt_tokens", None)
    else:
        made.requests = made.requests._replace(completed=None)
    made.unknown = (*made.unknown, f"{what}: the log has no line of it")


def _disabled(start: _Start, line: int) -> list[Finding]:
    """What the server switched off by itself, whatever its arguments say."""
    told = [(name, value) for name, value in start.subject.items() if name.startswith("disabled.")]
    return [
        Finding("disabled-feature", f"{name.partition('.')[2]} is not in force: {value}", line)
        for name, value in told
    ]


def _start_only(start: _Start, process_line: int) -> Observation:
    made = Observation("start", 1, subject=dict(start.subject))
    why = "the log shows no request with its timings: it says what runs, not how fast"
    made.findings.append(Finding("identity-only", why))
    made.findings += _disabled(start, 0)
    if process_line:
        why = "timings of a whole process, which mix all it did, are not read"
        made.findings.append(Finding("process-sums", why, process_line))
    unknown = []
    if not any(name.startswith(("buffer.", "draft.buffer.")) for name in start.subject):
        unknown.append("where tensors lie: the log shows no buffer sizes at its verbosity")
    if start.subject.get("n_slots", 1) != 1 and not {"kv_unified", "kv_cells"} & start.subject.keys():
        unknown.append(
            "whether the slots share one pool of K/V cells: n_ctx_slot may be the same cells for all"
        )
    made.unknown = tuple(unknown)
    return made


def _generation(source: Source) -> str | None:
    found = _BUILD.search(source.head)
    return f"b{found[1]}-{found[2]}" if found else None


LLAMA_SERVER_LOG = Importer(
    format="llama-server-log",
    about="the log of llama-server",
    recognises=lambda source: _OURS.search(source.head) is not None,
    read=_read,
    generation=_generation,
    unknown=(
        "exact values: times and rates are rounded to 0.01",
        "what was asked: prompts, sampling and answers",
        "what the client waited: the queue and the network are not in the timings",
        "gaps between single tokens",
        "requests that the log's verbosity does not show",
        "which bytes the model and the program have",
        "what else ran on the host",
    ),
    content=True,
)
"""The importer."""
