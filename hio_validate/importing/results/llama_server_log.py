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

_OURS = re.compile(
    r"^(?:\S+ [IWED] )?(?:slot +[\w:]+:? +id +\d+ \||srv +\w+: |llama_server: |print_timings?: |llama_context: "
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
_CUT = re.compile(r"(?:eval time|draft acceptance)[^)]*$")


class _Requests:
    """The requests of a log, in the order in which they ended."""

    def __init__(self) -> None:
        self.pending: dict[str, Any] | None = None
        self.prompts: dict[str, dict[str, int]] = {}
        self.starts = 0
        self.process_line = 0
        self._quiet = True

    def read(self, number: int, text: str) -> dict[str, Any] | None:
        """A request that is complete, once a line shows that no more of it comes."""
        text = PREFIX.sub("", text, count=1)
        if START.match(text):
            return self._start()
        task = found[1] if (found := _TASK.search(text)) else ""
        if _PROCESS.match(text):
            self.process_line = self.process_line or number
        elif found := _EVAL.search(text):
            return self._eval(found, number, task)
        elif (found := _ACCEPTED.search(text)) and self.pending:
            self.pending |= {
                "draft_n_accepted": int(found[1]),
                "draft_n": int(found[2]),
                "mean_len": found[3],
            }
        elif task and (found := _WHOLE.search(text)):
            self.prompts.setdefault(task, {}).setdefault("whole", int(found[1]))
        elif task and (found := _CACHED.search(text)):
            self.prompts.setdefault(task, {}).setdefault("cached", int(found[1]))
        self._quiet = False
        return None

    def _start(self) -> dict[str, Any] | None:
        """Another start; the several lines that one start prints count as one."""
        if not self._quiet or not self.starts:
            self.starts += 1
        self._quiet = True
        self.prompts.clear()
        return self.done()

    def _eval(self, found: re.Match[str], number: int, task: str) -> dict[str, Any] | None:
        kind = "prompt" if found[1] == "prompt " else "predicted"
        ended = self.done() if kind == "prompt" or self.pending is None else None
        if self.pending is None:
            self.pending = {"line": number, "task": task, "start": self.starts}
        names = (f"{kind}_ms", f"{kind}_n", f"{kind}_per_token_ms", f"{kind}_per_second")
        told = (float(found[2]), int(found[3]), float(found[4]), float(found[5]))
        self.pending |= dict(zip(names, told, strict=True))
        return ended

    def done(self) -> dict[str, Any] | None:
        """What is pending, with the prompt that its task began with."""
        ended, self.pending = self.pending, None
        if ended is not None:
            ended |= self.prompts.pop(ended["task"], {})
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
    for number, text in source.lines(replaced=True):
        cut = number if _CUT.search(text) else 0
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


def _last_start(source: Source) -> _Start:
    requests = _Requests()
    named: dict[str, Fact] = {}

    def passing() -> Iterator[str]:
        for number, text in source.lines(replaced=True):
            requests.read(number, text)
            if found := _MODEL.search(text):
                named["model"] = found[1]
            elif found := _BUILD.search(text):
                named["build"] = f"b{found[1]}-{found[2]}"
            yield text

    try:
        facts = log_facts(passing())
    except ValueError:
        raise source.refuse(
            "a number of its start is longer than any can be", "import the log as it was"
        ) from None
    return _Start({"engine": "llama.cpp"} | facts | named, requests.starts)


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
    for kind in ("prompt", "predicted"):
        timings.setdefault(f"{kind}_n", 0)
    made = record_of(f"request-{count}", line, timings)
    if told.get("mean_len") and not any(each.id == "impossible-value" for each in made.findings):
        made.metrics.append(Measured("mean len", "draft-length", "mean", float(told["mean_len"]), "1"))
    if task:
        made.workload["task"] = int(task)
    if "whole" in told and told["whole"] != made.workload.get("prompt_tokens", told["whole"]):
        why = f"the prompt has {told['whole']} tokens, cached and evaluated ones are {made.workload['prompt_tokens']}"
        made.findings.append(Finding("counts-contradict", why, line))
    if told["start"] == start.number:
        made.subject = dict(start.subject)
    else:
        made.findings.append(
            Finding("earlier-start", "it ran under an earlier start, whose settings are not read", line)
        )
    return made


def _start_only(start: _Start, process_line: int) -> Observation:
    made = Observation("start", 1, subject=dict(start.subject))
    why = "the log shows no request with its timings: it says what runs, not how fast"
    made.findings.append(Finding("identity-only", why))
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
