"""llama-bench's five printers for tests of its importer: the same run in JSON, JSON lines, CSV, SQL and a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Run = Sequence[Mapping[str, Any]]
"""Tests as dicts in the order of the fields; samples_ns last."""

BOOL = {"no_kv_offload", "embeddings", "use_mmap", "cpu_strict", "cuda", "blas", "new_switch"}
FLOAT = {"avg_ts", "stddev_ts"}


def test_row(n_prompt: int, n_gen: int, samples_ns: Sequence[int], **settings: Any) -> dict[str, Any]:
    """A test with the numbers that llama-bench computes of its samples."""
    rates = [1e9 * (n_prompt + n_gen) / each for each in samples_ns]
    fields: dict[str, Any] = {
        "build_commit": "abc1234", "build_number": 4567, "cpu_info": "A processor", "gpu_info": "A card, another",
        "backends": "CUDA", "model_filename": "models/tiny.gguf", "model_type": "llama 1B Q8_0",
        "model_size": 1321079808, "model_n_params": 1235814432, "n_batch": 2048, "n_ubatch": 512, "n_threads": 8,
        "type_k": "f16", "type_v": "q8_0", "n_gpu_layers": 99, "no_kv_offload": False, "flash_attn": 1,
        "use_mmap": True, "new_setting": 7, "new_switch": True,
    } | settings  # fmt: skip
    fields |= {"n_prompt": n_prompt, "n_gen": n_gen, "n_depth": fields.pop("n_depth", 0)}
    fields["test_time"] = "2025-06-01T10:00:00Z"
    fields["avg_ns"] = sum(samples_ns) // len(samples_ns)
    fields["stddev_ns"] = int(_spread([float(each) for each in samples_ns]))
    fields["avg_ts"], fields["stddev_ts"] = f"{sum(rates) / len(rates):f}", f"{_spread(rates):f}"
    return fields | {"samples_ns": list(samples_ns), "samples_ts": [f"{each:.6g}" for each in rates]}


def _spread(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    return math.sqrt(sum((each - mean) ** 2 for each in values) / (len(values) - 1))


def _json_value(key: str, value: Any) -> str:
    if key in BOOL:
        return "true" if value else "false"
    if isinstance(value, int) or key in FLOAT:
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _fields(test: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in test.items() if not key.startswith("samples")}


def _samples(test: Mapping[str, Any], key: str) -> str:
    return f'"{key}": [ {", ".join(map(str, test[key]))} ]'


def as_json(run: Run) -> str:
    texts = []
    for test in run:
        lines = [f'    "{key}": {_json_value(key, value)},\n' for key, value in _fields(test).items()]
        lines += [f"    {_samples(test, 'samples_ns')},\n", f"    {_samples(test, 'samples_ts')}\n"]
        texts.append("  {\n" + "".join(lines) + "  }")
    return "[\n" + ",\n".join(texts) + "\n]\n"


def as_jsonl(run: Run) -> str:
    lines = []
    for test in run:
        fields = "".join(f'"{key}": {_json_value(key, value)}, ' for key, value in _fields(test).items())
        lines.append(f"{{{fields}{_samples(test, 'samples_ns')},{_samples(test, 'samples_ts')}}}\n")
    return "".join(lines)


def as_csv(run: Run) -> str:
    lines = [",".join(_fields(run[0]))]
    for test in run:
        lines.append(
            ",".join('"' + _text(value).replace('"', '""') + '"' for value in _fields(test).values())
        )
    return "\n".join(lines) + "\n"


def as_sql(run: Run, table: str = "llama_bench") -> str:
    names = list(_fields(run[0]))
    columns = ",\n".join(f"  {name} TEXT" for name in names)
    text = f"CREATE TABLE IF NOT EXISTS {table} (\n{columns}\n);\n\n"
    for test in run:
        values = ", ".join(f"'{_text(value)}'" for value in _fields(test).values())
        text += f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values});\n"
    return text


def as_table(run: Run, shown: Mapping[str, str] | None = None) -> str:
    """`shown`: field -> head of its column."""
    columns = {"n_gpu_layers": "ngl", **(shown or {})}
    heads = ["model", "size", "params", "backend", *columns.values(), "test", "t/s"]
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---:" for _ in heads) + " |"]
    for test in run:
        size, params = test["model_size"] / 2**30, test["model_n_params"] / 1e9
        cells = [test["model_type"], f"{size:.2f} GiB", f"{params:.2f} B", test.get("backends", "CPU")]
        cells += [_text(test[field]) for field in columns]
        cells += [_named(test), f"{float(test['avg_ts']):.2f} ± {float(test['stddev_ts']):.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + f"\n\nbuild: {run[0]['build_commit']} ({run[0]['build_number']})\n"


def _named(test: Mapping[str, Any]) -> str:
    prompt, generated = test["n_prompt"], test["n_gen"]
    name = f"pp{prompt}" if not generated else f"tg{generated}" if not prompt else f"pp{prompt}+tg{generated}"
    return name + (f" @ d{test['n_depth']}" if test.get("n_depth") else "")


FORMS: dict[str, Callable[[Run], str]] = {"json": as_json, "jsonl": as_jsonl, "csv": as_csv, "sql": as_sql}
"""The forms that have every field."""
