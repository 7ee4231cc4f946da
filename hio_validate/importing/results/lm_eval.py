"""What the language model evaluation harness saves: results*.json, one record a task and filter.

Source of keys: lm_eval/evaluator.py and lm_eval/loggers/evaluation_tracker.py of EleutherAI/lm-evaluation-harness. To v0.3
a task has `acc` and `acc_stderr`, and the file says neither items nor its own version; from v0.4 on a metric carries its
filter (`acc,none`, `acc_stderr,none`), `n-samples` counts items, `task_hashes` is there where samples were logged. The
standard error of a mean is that of n - 1 (lm_eval/api/metrics.py, `mean_stderr`); others are bootstrapped. A group's number
is pooled from its tasks, weighted by their items or not; its error follows from theirs, and says nothing of its items: in
v0.4.0 it was the spread of the tasks. Since v0.4.13 a group counts the items of each metric (`sample_count`), and a model
without a name is given eight letters and digits at random.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hio_validate.evidence.observed import Fact, Finding, Measured, Observation
from hio_validate.importing.results.importer import Importer, foreign, is_number
from hio_validate.importing.results.objects import Skipped, objects
from hio_validate.importing.results.source import Source

UNKNOWN = "unknown"
HARNESS = "lm-evaluation-harness"
NO_FILTER = "none"
_TASKS = re.compile(r'"results"\s*:\s*\{\s*"[^"]+"\s*:\s*\{')
_METRIC = re.compile(r'"(?:[\w-]+_stderr(?:,[\w-]+)?|[\w@-]+,[\w-]+)"\s*:')
_SHARES = {
    "acc": "accuracy", "exact_match": "accuracy", "em": "accuracy", "acc_norm": "accuracy-normalised",
}  # fmt: skip
_AT_RANDOM = re.compile(r"[a-z0-9]{8}")
_NO_METRICS = {"alias", "sample_len", "sample_count", "samples", "name", "task", "version"}
_SEEDS = {"random_seed": "random", "numpy_seed": "numpy", "torch_seed": "torch", "fewshot_seed": "fewshot"}
_KNOWN = {
    "results", "groups", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples", "config",
    "git_hash", "date", "pretty_env_info", "task_hashes", "lm_eval_version", "model_name", "model_source",
    "model_name_sanitized", "chat_template", "chat_template_sha", "system_instruction", "system_instruction_sha",
    "fewshot_as_multiturn", "samples", "start_time", "end_time",
}  # fmt: skip
_MODEL = re.compile(r"(?:^|,)(?:pretrained|model|path|engine)=([^,]+)")


def _recognises(source: Source) -> bool:
    return bool(_TASKS.search(source.head) and _METRIC.search(source.head))


def _generation(source: Source) -> str | None:
    if re.search(r'"[\w@-]+,[\w-]+"\s*:', source.head):
        return "v0.4 or later"
    return "v0.3 or earlier"


def _read(source: Source) -> Iterator[Observation]:
    skipped = Skipped(source)
    held: Observation | None = None
    for line, values in objects(source, skipped):
        results = _map(values, "results")
        if not results:
            raise source.refuse("no task has a result", "run the harness again", line, code=3)
        for task, metrics in results.items():
            if not isinstance(metrics, Mapping):
                raise source.refuse(
                    f"the result of {task} is no object", "import the file as it was written", line
                )
            for each in _of_task(values, str(task), metrics, line):
                if held:
                    yield held
                held = each
    if held is None:
        raise source.refuse("no task has a result", "run the harness again", code=3)
    if skipped.count:
        held.findings.append(skipped.finding())
    yield held


def _of_task(
    values: Mapping[str, Any], task: str, metrics: Mapping[str, Any], line: int
) -> Iterator[Observation]:
    """A record for each filter of a task."""
    name = task.lstrip("-")  # v0.4.0 indents tasks of a group
    filters = dict.fromkeys(_filter(key) for key in metrics if key not in _NO_METRICS)
    for filter_ in filters or {NO_FILTER: None}:
        mine = {key.partition(",")[0]: value for key, value in metrics.items()
                if key not in _NO_METRICS and _filter(key) == filter_}  # fmt: skip
        counts = {key.partition(",")[0]: count for key, count in _map(metrics, "sample_count").items()
                  if _filter(key) == filter_}  # fmt: skip
        workload, unknown = _workload(values, name, filter_, metrics)
        record = Observation(
            name=name if filter_ == NO_FILTER else f"{name} {filter_}",
            line=line,
            at=_time(values.get("date")),
            subject=_subject(values),
            workload=workload,
            foreign=foreign(values, _KNOWN),
            unknown=tuple(unknown),
        )
        _take(record, mine, counts, name, values)
        yield record


def _filter(key: str) -> str:
    return key.partition(",")[2] or NO_FILTER


def _take(
    record: Observation,
    metrics: Mapping[str, Any],
    counts: Mapping[str, Any],
    task: str,
    values: Mapping[str, Any],
) -> None:
    """The numbers of one filter; what is no number, or can be none, is told. counts: items of a metric, where it has its own."""
    directions = _map(_map(values, "higher_is_better"), task)
    for name, value in metrics.items():
        if name.endswith("_stderr"):
            continue
        if not is_number(value):
            record.foreign[f"results.{name}"] = str(value)[:200]
            if name in _SHARES and value not in (None, "", "N/A"):
                said = f"{name} of {task} is {str(value)[:40]!r}: expected a number"
                record.findings.append(Finding("no-number", said, record.line))
            continue
        definition = _SHARES.get(name, UNKNOWN)
        n = _count(counts.get(name, record.workload.get("items")))
        span = "" if definition == UNKNOWN else ": expected a share between 0 and 1, not percent"
        if not math.isfinite(value) or (definition != UNKNOWN and not 0 <= value <= 1):
            record.findings.append(
                Finding("impossible-value", f"{name} of {task} is {value:g}{span}", record.line)
            )
            continue
        record.metrics.append(
            Measured(name, definition, "mean" if definition != UNKNOWN else "value", value, "1", n)
        )
        if isinstance(directions.get(name), bool):
            record.workload[f"better.{name}"] = "higher" if directions[name] else "lower"
        error = metrics.get(f"{name}_stderr")
        if is_number(error) and math.isfinite(error) and error >= 0:
            record.metrics.append(Measured(f"{name}_stderr", "standard-error", "value", error, "1", n))
            if not _is_group(values, task):
                _hold_error_against_items(record, name, value, error, n, definition)


def _is_group(values: Mapping[str, Any], task: str) -> bool:
    return bool(_map(values, "group_subtasks").get(task)) or task in _map(values, "groups")


def _hold_error_against_items(
    record: Observation, name: str, value: float, error: float, n: int | None, definition: str
) -> None:
    """Of numbers from 0 to 1 with mean p the error is at most sqrt(p (1 - p) / (n - 1)), whatever they are."""
    if definition == UNKNOWN or not error:
        return
    spread = value * (1 - value)
    if n is None:
        implied = f"if each item is right or wrong, the error of {name} is that of {round(spread / error**2) + 1} items"
        record.findings.append(Finding("items-untold", implied, record.line))
    elif n > 1 and error > 1.1 * math.sqrt(spread / (n - 1)):
        said = f"{name} is {value:.4g} over {n} items: its error is at most {math.sqrt(spread / (n - 1)):.4g}, not {error:.4g}"
        record.findings.append(Finding("error-contradicts-items", said, record.line))


def _subject(values: Mapping[str, Any]) -> dict[str, Fact]:
    config = _map(values, "config")
    arguments = config.get("model_args")
    text = (
        ",".join(f"{key}={each}" for key, each in arguments.items())
        if isinstance(arguments, Mapping)
        else arguments
    )
    found = _MODEL.search(text) if isinstance(text, str) else None
    named = values.get("model_name")
    if isinstance(named, str) and _AT_RANDOM.fullmatch(named) and named not in str(text):
        named = None
    told = {
        "harness": HARNESS,
        "harness_version": _version(values),
        "model": named or (found[1] if found else None),
        "model_type": values.get("model_source") or config.get("model"),
        "model_args": text[:200] if isinstance(text, str) else None,
        "model_sha": config.get("model_sha"),
        "dtype": config.get("model_dtype"),
        "device": config.get("device"),
    }
    return {key: value for key, value in told.items() if isinstance(value, str | int | float) and value != ""}


def _version(values: Mapping[str, Any]) -> str:
    """The package's version with the commit, where the file says them."""
    told = [values.get("lm_eval_version"), values.get("git_hash")]
    return " ".join(str(each) for each in told if each) or UNKNOWN


def _workload(
    values: Mapping[str, Any], task: str, filter_: str, metrics: Mapping[str, Any]
) -> tuple[dict[str, Fact], list[str]]:
    """What was asked, and what the file does not say of it."""
    config, own = _map(values, "config"), _map(_map(values, "configs"), task)
    items, whole = _items(values, task)
    items = _count(metrics.get("sample_len")) if items is None else items
    told: dict[str, Any] = {
        "task": task,
        "task_version": _map(values, "versions").get(task),
        "filter": filter_,
        "items": items,
        "whole": whole,
        "few_shot": _few_shot(values, task, config, own),
        "limit": _limit(config),
        "seed": ", ".join(f"{word} {config[key]}" for key, word in _SEEDS.items() if config.get(key) is not None) or None,
        "dataset": "/".join(str(own[key]) for key in ("dataset_path", "dataset_name") if own.get(key)) or None,
        "dataset_sha256": _map(values, "task_hashes").get(task),
        "batch_size": config.get("batch_size"),
        "gen_kwargs": config.get("gen_kwargs"),
        "chat_template_sha": values.get("chat_template_sha"),
        "system_instruction_sha": values.get("system_instruction_sha"),
        "fewshot_as_multiturn": values.get("fewshot_as_multiturn"),
        "group": True if _is_group(values, task) else None,
    }  # fmt: skip
    words = {"items": "how many items were asked", "few_shot": "how many examples stood in front",
             "limit": "whether the items were limited", "seed": "the seeds", "dataset_sha256": "which bytes the dataset has",
             "task_version": "which version of the task it is"}  # fmt: skip
    unknown = [said for key, said in words.items() if told[key] is None]
    return {key: _fact(value) for key, value in told.items() if value is not None}, unknown


def _fact(value: Any) -> Fact:
    if isinstance(value, str | bool | int | float):
        return value[:200] if isinstance(value, str) else value
    import json  # only where a fact is a list or an object

    return json.dumps(value)[:200]


def _items(values: Mapping[str, Any], task: str) -> tuple[int | None, int | None]:
    """(asked, in the whole set) of a task; of a group, of all its tasks. None: unknown."""
    samples, groups = _map(values, "n-samples"), _map(values, "group_subtasks")
    asked = whole = 0
    for each in dict.fromkeys(_members(groups, task, 8)):
        told = _map(samples, each)
        effective, original = _count(told.get("effective")), _count(told.get("original"))
        if effective is None:
            return None, None
        asked += effective
        whole = whole + original if original is not None and whole is not None else None  # type: ignore[assignment]
    return asked, whole


def _members(groups: Mapping[str, Any], task: str, depth: int) -> Iterator[str]:
    """The tasks of a group, of its groups too."""
    parts = groups.get(task)
    if not isinstance(parts, list) or not parts or not depth:
        yield task
        return
    for part in parts:
        yield from _members(groups, str(part), depth - 1)


def _few_shot(values: Mapping[str, Any], task: str, config: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
    told = (_map(values, "n-shot").get(task), own.get("num_fewshot"), config.get("num_fewshot"))
    return next((each for each in told if _count(each) is not None), None)


def _limit(config: Mapping[str, Any]) -> Any:
    """The limit; none where the file says that there is none."""
    if "limit" not in config:
        return None
    return config["limit"] if is_number(config["limit"]) else "none" if config["limit"] is None else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _map(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}


def _time(value: Any) -> str | None:
    """Seconds since 1970 as a moment; a text as it is."""
    if isinstance(value, str):
        return value or None
    if not is_number(value) or not 0 < value < 1e11:
        return None
    from datetime import UTC, datetime  # only where such a file is read

    return datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


LM_EVAL = Importer(
    format="lm-eval",
    about="lm-evaluation-harness: results of tasks, to v0.3 and from v0.4 on",
    recognises=_recognises,
    read=_read,
    generation=_generation,
    unknown=(
        "which bytes the model and the engine have",
        "the answers themselves: they are in the samples_*.jsonl beside it",
        "which items were right, so that two files are compared as if their items were others",
        "speed",
    ),
    content=True,
)
"""The importer."""
