"""The pages of ceilings, shapes and profiles: every rate with its spread and source, every role with its bytes, every
part with its share.

`HIO_WRITE_PAGES=1 python -m pytest tests/report/test_machine_and_model_pages.py` writes the pages anew; read the
difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hio_validate.models.ceilings import Ceilings
from hio_validate.models.profile import Profile
from hio_validate.models.shape import Shape
from hio_validate.report import ceilings, profile, shape
from hio_validate.report.ceilings import amount_of

PAGES = Path(__file__).parent / "pages"

MEASURED: dict[str, Any] = {
    "hio": "ceilings/v1",
    "name": "host-a",
    "about": "A machine under a desk.",
    "how": "measured",
    "host": "ab" * 32,
    "at": "2026-11-30T09:00:00Z",
    "load": 0.31,
    "devices": [{"name": "Chip 9", "memory": 17179869184, "driver": "9.1", "tool": "chip-smi 9.1"}],
    "rates": {
        "memory-read-8": {
            "quantity": "memory-read", "value": 61.2, "unit": "GB/s", "low": 55.4, "high": 63.9, "threads": 8,
            "samples": [55.4, 61.2, 63.9], "method": "sum of 1 GiB a thread", "confidence": "high",
        },
        "http": {"quantity": "http-round-trip", "value": 140, "unit": "us", "samples": [140]},
        "matmul-of-a-format-with-a-long-name": {
            "quantity": "matmul", "value": 1.2, "unit": "TFLOP/s", "low": 1.19, "high": 1.3, "dtype": "bf16",
            "samples": [1.19, 1.2, 1.2, 1.3], "method": "4096 x 4096", "confidence": "low",
        },
    },
    "unknown": ["disk-read: the page cache could not be emptied"],
}  # fmt: skip

PUBLISHED: dict[str, Any] = {
    "hio": "ceilings/v1",
    "name": "chip-9",
    "about": "Chip 9, as its maker describes it.",
    "how": "published",
    "date": "2025-03",
    "source": "data sheet of Chip 9, table 2",
    "per": "device",
    "rates": {
        "memory": {"quantity": "memory-read", "value": 1.0, "unit": "TB/s", "efficiency": 0.8},
        "matmul": {
            "quantity": "matmul", "value": 300, "unit": "TFLOP/s", "dtype": "bf16", "sparsity": "dense",
            "source": "white paper of Chip 9, page 7",
        },
    },
}  # fmt: skip

READ: dict[str, Any] = {
    "hio": "shape/v1",
    "name": "tiny",
    "service": "lab/tiny",
    "about": "A model that looks back a little in most layers.",
    "source": {"format": "gguf", "sha256": "cd" * 32},
    "architecture": "tiny3",
    "layers": 26,
    "embedding": 1152,
    "heads": 4,
    "vocabulary": 262144,
    "context": 32768,
    "tied": True,
    "attention": [
        {"layers": 22, "kv_heads": 1, "key_size": 256, "value_size": 256, "window": 512},
        {"layers": 4, "kv_heads": 1, "key_size": 256, "value_size": 256},
        {"layers": 1, "kv_heads": 0, "key_size": 0, "value_size": 0},
    ],
    "experts": {"count": 64, "active": 4, "shared": 1},
    "weights": [
        {"role": "norm", "type": "F32", "elements": 119808, "bytes": 479232, "tensors": 105},
        {"role": "embedding", "type": "Q8_0", "elements": 301989888, "bytes": 320864256},
        {"role": "experts", "type": "Q4_K", "elements": 697761792, "bytes": 392491008, "tensors": 78},
    ],
    "draft_layers": 1,
    "unknown": ["whether the output is scaled"],
}

STATED: dict[str, Any] = {
    "hio": "shape/v1",
    "name": "guess",
    "service": "lab/tiny",
    "source": {"format": "stated"},
    "weights": [{"role": "other", "type": "Q4_0", "elements": 4_000_000_000, "bytes": 2_250_000_000}],
}

PROFILED: dict[str, Any] = {
    "hio": "profile/v1",
    "name": "perf-1",
    "service": "lab/tiny",
    "stack": "base@sha256:" + "ef" * 32,
    "path": "decode-token",
    "threads": 2,
    "tool": "perf 6.1: perf record -e cpu-clock",
    "at": "2026-11-30T09:00:00Z",
    "parts": [
        {"name": "barrier", "samples": 0, "what": "waiting"},
        {"name": "ggml_vec_dot_q6_K_q8_K", "term": "weights", "samples": 6000, "what": "arithmetic"},
        {"name": "ggml_vec_dot_q8_0_q8_0", "term": "weights", "samples": 2500, "what": "arithmetic"},
        {
            "name": "ggml_compute_forward_flash_attn_ext_of_f16",
            "term": "kv-read", "samples": 1430, "what": "data-movement",
        },
        {"name": "memcpy", "samples": 70, "what": "data-movement"},
    ],
}  # fmt: skip

SAMPLES: dict[str, Callable[[int], str]] = {
    "ceilings-measured": lambda width: ceilings.text(Ceilings.model_validate(MEASURED), width),
    "ceilings-published": lambda width: ceilings.text(Ceilings.model_validate(PUBLISHED), width),
    "shape-read": lambda width: shape.text(Shape.model_validate(READ), width),
    "shape-stated": lambda width: shape.text(Shape.model_validate(STATED), width),
    "profile": lambda width: profile.text(Profile.model_validate(PROFILED), width),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_page_is_the_committed_one(name: str) -> None:
    page = PAGES / f"{name}.txt"
    said = SAMPLES[name](80)
    if os.environ.get("HIO_WRITE_PAGES"):
        page.write_text(said, encoding="utf-8")
    assert said == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [50, 80])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert max(map(len, SAMPLES[name](width).splitlines())) <= width


def test_a_rate_without_ends_has_no_spread_and_one_without_samples_no_number() -> None:
    page = SAMPLES["ceilings-published"](80)
    assert "1 TB/s       -        -  -      medium" in page
    rate = Ceilings.model_validate(PUBLISHED).rates["memory"]
    assert (amount_of(rate).low, amount_of(rate).high) == (1.0, 1.0)


def test_what_nobody_said_is_unknown_and_no_zero() -> None:
    page = SAMPLES["shape-stated"](80)
    assert page.count("unknown") == 8
    assert "experts       none" in page
    assert " 0 " not in page


def test_a_profile_without_samples_has_no_shares() -> None:
    empty = PROFILED | {"parts": [PROFILED["parts"][0]]}
    page = profile.text(Profile.model_validate(empty))
    assert page.startswith("decode-token of lab/tiny, base: no samples, nothing is known\n")
    assert "%" not in page
    assert "%" not in page


def test_a_control_character_of_a_document_is_shown() -> None:
    bad = {"about": "a\x1b[31m b", "unknown": ["c\x07"]}
    assert "\x1b" not in ceilings.text(Ceilings.model_validate(MEASURED | bad))
    assert "\x07" not in shape.text(Shape.model_validate(READ | bad))
