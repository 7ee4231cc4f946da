"""GuideLLM's CSV in both forms, made into the shape of its JSON report: one row a benchmark.

Sources: src/guidellm/benchmark/output.py (0.2, 0.3: one row of names such as "Successful Request latency mean") and
src/guidellm/benchmark/outputs/csv.py (since 0.4: three rows of names, group, metric with status, statistic).
"""

from __future__ import annotations

from typing import Any

from hio_validate.importing.results.delimited import rows
from hio_validate.importing.results.source import Source

_LIST = ("min", "p001", "p01", "p05", "p10", "p25", "p75", "p90", "p95", "p99", "max")
"""What a cell of percentiles holds, in its order."""
_STATISTICS = {"mean": "mean", "median": "median", "std dev": "std_dev"}
_GROUPS = {
    ("Request Latency", "Sec"): "request_latency",
    ("Time to First Token", "ms"): "time_to_first_token_ms",
    ("Time to First Output Token", "ms"): "time_to_first_output_token_ms",
    ("Time per Output Token", "ms"): "time_per_output_token_ms",
    ("Inter Token Latency", "ms"): "inter_token_latency_ms",
    ("Server Throughput", "Requests/Sec"): "requests_per_second",
    ("Server Throughput", "Concurrency"): "request_concurrency",
    ("Token Metrics", "Input Tokens"): "prompt_token_count",
    ("Token Metrics", "Output Tokens"): "output_token_count",
    ("Token Throughput", "Input Tokens/Sec"): "prompt_tokens_per_second",
    ("Token Throughput", "Output Tokens/Sec"): "output_tokens_per_second",
    ("Token Throughput", "Total Tokens/Sec"): "tokens_per_second",
}
_COUNTS = {"Successful": "successful", "Errored": "errored", "Incomplete": "incomplete", "Total": "total"}


def is_one(head: str) -> bool:
    names = head.split("\n", 1)[0]
    three = names.startswith("Run Info,") and "Request Latency" in names
    return three or ("Successful Requests" in names and "Successful Request latency mean" in names)


def report(source: Source) -> dict[str, Any]:
    """The report as JSON would hold it, with the line of each benchmark. Raises CannotImport."""
    table = rows(source)
    _, names = next(table)
    three = names[0] == "Run Info"
    heads = [names]
    for _ in range(2 if three else 0):
        heads.append(next(table, (0, []))[1])
    width = len(names)
    if any(len(head) != width for head in heads):
        raise source.refuse(
            f"expected three rows of {width} names", "import the file as guidellm wrote it", 1
        )
    benchmarks: list[dict[str, Any]] = []
    metadata: dict[str, Any] = {}
    for line, cells in table:
        if cells in heads:  # files that were put one after the other
            continue
        if len(cells) != width:
            raise source.refuse(
                f"expected {width} cells, got {len(cells)}",
                "benchmarks of one file have the same columns; import the JSON report instead",
                line,
            )
        benchmark: dict[str, Any] = {"line": line, "metrics": {}, "request_totals": {}}
        for index, cell in enumerate(cells):
            if three:
                _three(benchmark, metadata, tuple(head[index] for head in heads), cell, source, line)
            else:
                _one(benchmark, names[index], cell, source, line)
        benchmarks.append(benchmark)
    return {"benchmarks": benchmarks, **metadata}


def _three(
    benchmark: dict[str, Any],
    report: dict[str, Any],
    name: tuple[str, ...],
    cell: str,
    source: Source,
    line: int,
) -> None:
    group, what, statistic = name
    status, _, unit = what.partition(" ")
    if status == "Successful" and (metric := _GROUPS.get((group, unit))):
        _put(benchmark, metric, statistic.lower(), cell)
    elif group == "Request Counts" and what in _COUNTS:
        benchmark["request_totals"][_COUNTS[what]] = _number(cell)
    elif (group, what) == ("Timings", "Duration"):
        benchmark["duration"] = _number(cell)
    elif (group, what) == ("Timings", "Start Time"):
        benchmark["start_time"] = cell or None
    elif (group, what) == ("Benchmark", "Strategy"):
        benchmark.setdefault("config", {})["strategy"] = {"type_": cell}
    elif (group, what) == ("Run Info", "Backend"):
        benchmark.setdefault("config", {})["backend"] = _json(cell, source, line)
    elif (group, what) == ("Runtime Info", "Metadata"):
        report["metadata"] = _json(cell, source, line)
    elif (group, what) == ("Runtime Info", "Arguments"):
        report["args"] = _json(cell, source, line)


def _one(benchmark: dict[str, Any], name: str, cell: str, source: Source, line: int) -> None:
    status, _, what = name.partition(" ")
    if what == "Requests" and status in _COUNTS:
        benchmark["request_totals"][_COUNTS[status]] = _number(cell)
    elif status == "Successful":
        for statistic in (*_STATISTICS, "[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]"):
            if what.endswith(f" {statistic}"):
                metric = what.removesuffix(f" {statistic}").lower().replace(" ", "_")
                _put(benchmark, metric, "percentiles" if statistic[0] == "[" else statistic, cell)
    elif name == "Duration":
        benchmark["duration"] = _number(cell)
    elif name == "Start Time":
        benchmark["start_time"] = cell or None
    elif name == "Name":
        benchmark.setdefault("config", {})["strategy"] = _named(cell)
    elif name == "Worker":
        benchmark["worker"] = _json(cell, source, line)
    elif name == "Request Loader":
        benchmark["request_loader"] = _json(cell, source, line)
    elif name == "Backend":
        benchmark.setdefault("config", {})["backend"] = _json(cell, source, line)
    elif name == "Args":
        benchmark.setdefault("worker", {})  # 0.2 alone has this column


def _named(text: str) -> dict[str, Any]:
    """A strategy as its own text says it: `constant@2.00`, `concurrent@4`, `synchronous`."""
    kind, _, level = text.partition("@")
    number = _number(level)
    if number is None:
        return {"type_": text}
    return {"type_": kind, "streams" if kind == "concurrent" else "rate": number}


def _put(benchmark: dict[str, Any], metric: str, statistic: str, cell: str) -> None:
    said = benchmark["metrics"].setdefault(metric, {"successful": {}})["successful"]
    if statistic == "percentiles":
        values = [_number(each) for each in cell.strip("[] ").split(",")]
        if len(values) == len(_LIST):
            told = dict(zip(_LIST, values, strict=True))
            said["min"], said["max"] = told.pop("min"), told.pop("max")
            said["percentiles"] = told
    else:
        said[_STATISTICS.get(statistic, statistic)] = _number(cell)


def _number(text: str) -> Any:
    """A number as Python writes it; a text that is none stays, so that it is told; blank is absent."""
    text = text.strip()
    if text in ("", "None"):
        return None
    try:
        return int(text) if text.isdecimal() and len(text) < 19 else float(text)
    except ValueError:
        return text


def _json(cell: str, source: Source, line: int) -> Any:
    return source.value_of(cell, line) if cell.strip().startswith(("{", "[")) else cell
