"""What llama-bench says of a test, whatever form it says it in: its fields, their types, and their names in tables.

Source: test::get_fields, get_field_type and markdown_printer of examples/llama-bench/llama-bench.cpp (2023 to 2025) and
tools/llama-bench/llama-bench.cpp (since), and of the fork ik_llama.cpp.
Invariant: the same test gives the same values from JSON, where a field has a type, and from CSV, SQL and tables, where
all is text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from hio_validate.evidence.observed import Fact

BOOLS = frozenset({
    "cuda", "opencl", "vulkan", "kompute", "metal", "sycl", "rpc", "gpu_blas", "blas", "f16_kv",
    "low_vram", "mul_mat_q", "no_kv_offload", "use_mmap", "use_direct_io", "cpu_strict", "embeddings",
    "no_host", "repack", "mqkv", "muge", "defer_experts", "fused_moe", "grouped_er", "no_fused_up_gate",
    "use_thp", "no_ooae", "rcache", "sas",
})  # fmt: skip
INTS = frozenset({
    "build_number", "model_size", "model_n_params", "n_batch", "n_ubatch", "n_threads", "poll",
    "n_gpu_layers", "n_cpu_moe", "main_gpu", "no_op_offload", "fit_target", "fit_min_ctx", "n_prompt",
    "n_gen", "n_depth", "avg_ns", "stddev_ns", "mla_attn", "attn_max_batch", "reuse", "max_gpu",
})  # fmt: skip
FLOATS = frozenset({"avg_ts", "stddev_ts", "defrag_thold"})
TEXTS = frozenset({
    "build_commit", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "cpu_mask",
    "type_k", "type_v", "split_mode", "flash_attn", "devices", "tensor_split", "tensor_buft_overrides",
    "load_mode", "lazy_mode", "test_time", "rpc_servers", "override_tensor", "cuda_params", "ser",
    "model_size_shown", "model_n_params_shown",
})  # fmt: skip
SAMPLES = frozenset({"samples_ns", "samples_ts"})
_SINGLE = BOOLS | INTS | FLOATS | TEXTS
KNOWN = BOOLS | INTS | FLOATS | TEXTS | SAMPLES
WORK = frozenset({"n_prompt", "n_gen", "n_depth"})
RESULTS = frozenset({"avg_ns", "stddev_ns", "avg_ts", "stddev_ts", *SAMPLES})

IN_TABLES = {
    "ngl": "n_gpu_layers", "sm": "split_mode", "threads": "n_threads", "mmq": "mul_mat_q", "nkvo": "no_kv_offload",
    "fa": "flash_attn", "mmap": "use_mmap", "dio": "use_direct_io", "lm": "load_mode", "embd": "embeddings",
    "nopo": "no_op_offload", "noh": "no_host", "dev": "devices", "ts": "tensor_split", "ot": "tensor_buft_overrides",
    "fitt": "fit_target", "fitc": "fit_min_ctx", "mla": "mla_attn", "amb": "attn_max_batch", "gr": "reuse",
    "rtr": "repack", "defer": "defer_experts", "thp": "use_thp", "fmoe": "fused_moe", "ger": "grouped_er",
    "no-fug": "no_fused_up_gate", "no-ooae": "no_ooae", "cuda": "cuda_params", "model": "model_type",
    "backend": "backends",
}  # fmt: skip
"""Head of a column of its tables -> field; the others are headed by the field itself."""

_FLASH = {"-1": "auto", "0": "off", "false": "off", "1": "on", "true": "on"}
"""flash_attn was false or true until it learnt to choose; since then -1, 0 and 1."""


_MOST = 2**64
"""llama-bench keeps whole numbers in 64 bits."""


class Row(NamedTuple):
    """One test as one of the forms says it."""

    line: int
    values: dict[str, Any]
    """Field -> value: str, bool, int, float, and tuples of numbers for samples. What is not told is left out."""
    foreign: dict[str, Fact]
    rounded: bool = False
    """It is from a table, where rates have two decimals."""


class Unreadable(ValueError):
    """A value that its field cannot have."""


def row_of(line: int, told: Mapping[str, Any], rounded: bool = False) -> Row:
    """The test that keys and values tell, as JSON values or as text. Raises Unreadable."""
    values: dict[str, Any] = {}
    foreign: dict[str, Fact] = {}
    for key, value in told.items():
        if value is None or value == "":
            continue
        kind = type(value)
        if kind is str and key in _SINGLE:
            values[key] = _of_text(key, value)
        elif (
            (kind is int and key in INTS and -_MOST < value < _MOST)
            or (kind is float and key in FLOATS)
            or (kind is bool and key in BOOLS)
        ):
            values[key] = value
        elif key in KNOWN:
            values[key] = _typed(key, value)
        else:
            foreign[key] = _as_text(value)
    if values.get("build_commit") == "unknown":
        del values["build_commit"]
    if values.get("build_number") == 0:
        del values["build_number"]
    return Row(line, values, foreign, rounded)


def _typed(key: str, value: Any) -> Any:
    if key in SAMPLES:
        if isinstance(value, list) and all(type(each) is float or _is_number(each) for each in value):
            return tuple(value)
        raise Unreadable(f"{key} is no list of numbers")
    if isinstance(value, list | dict):
        raise Unreadable(f"{key} is a list or an object, expected one value")
    return _of_text(key, str(value))


@lru_cache(maxsize=4096)
def _of_text(key: str, text: str) -> Any:
    """A value of a field by its text; settings are the same in many rows."""
    text = text.strip()
    if key in BOOLS:
        return _flag(key, text)
    if key in INTS:
        return _whole(key, text)
    if key in FLOATS:
        return _number(key, text)
    return _FLASH.get(text.lower(), text) if key == "flash_attn" else text


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (
        isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST
    )


def _flag(key: str, text: str) -> bool | str:
    return {"0": False, "false": False, "1": True, "true": True}.get(text.lower(), text)


def _whole(key: str, text: str) -> int:
    if re.fullmatch(r"[-+]?\d{1,19}", text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if {"true": 1, "false": 0}.get(text.lower()) is not None and key == "no_op_offload":
        return int(text.lower() == "true")
    if not number.is_integer() or abs(number) >= _MOST:
        raise Unreadable(f"{key} is {text[:40]!r}, expected a whole number")
    return int(number)


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        hint = ": a decimal comma is not read" if "," in text else ""
        raise Unreadable(f"{key} is {text[:40]!r}, expected a number{hint}") from None


def _as_text(value: Any) -> str:
    import json  # only where something is foreign

    if isinstance(value, bool):
        return "1" if value else "0"
    return (value if isinstance(value, str) else json.dumps(value))[:200]
