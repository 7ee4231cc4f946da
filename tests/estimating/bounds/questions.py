"""Small questions to hio's arithmetic, whose answers test_arithmetic.py pins: each path, and each way to a rate.

They are fixed: one may be added, and none is changed or taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hio_validate.estimating.context.inputs import Inputs
from tests.estimating.workloads import ceilings, inputs, rate, said, shape

SMALL = shape(
    ("embedding", "f16", 3200, 6400), ("output", "f16", 3200, 6400), ("attention", "Q4_K", 2560, 1440),
    ("feed-forward", "Q4_K", 5120, 2880), ("norm", "f32", 64, 256),
    embedding=32, heads=4, vocabulary=100, tied=False,
    attention=[
        {"layers": 1, "kv_heads": 2, "key_size": 8, "value_size": 8},
        {"layers": 1, "kv_heads": 2, "key_size": 8, "value_size": 8, "window": 10},
    ],
)  # fmt: skip
LARGE = shape(("feed-forward", "int8", 70_000_000_000, 70_000_000_000))
MIXTURE = shape(
    ("embedding", "bf16", 6400, 12800), ("output", "bf16", 6400, 12800), ("attention", "bf16", 8192, 16384),
    ("experts", "int4", 65536, 36864), ("draft", "bf16", 4096, 8192),
    embedding=64, heads=4, vocabulary=100, tied=False, experts={"count": 8, "active": 2},
    attention=[{"layers": 2, "kv_heads": 2, "key_size": 16, "value_size": 16}],
)  # fmt: skip
HERE = ceilings(
    "box",
    {
        "memory": rate("memory-read", 1000.0, "B/s", threads=1),
        "f32": rate("matmul", 1.0, "MFLOP/s", threads=1, dtype="f32"),
        "q4-k": rate("matmul", 4.0, "MFLOP/s", threads=1, dtype="q4_K"),
        "f16": rate("matmul", 2.0, "MFLOP/s", threads=1, dtype="f16"),
        "http": rate("http-round-trip", 3.0, "ms"),
        "disk": rate("disk-read", 100.0, "B/s"),
        "start": rate("process-start", 7.0, "ms"),
    },
)
PUBLISHED = ceilings(
    "accelerator",
    {
        "memory": rate("memory-read", 2.0, "TB/s", efficiency=0.8),
        "fabric": rate("link", 200.0, "GB/s", efficiency=1.0),
    },
    how="published",
    per="device",
    date="2026-01",
    source="a data sheet",
    host=None,
)
STATES = shape(
    ("embedding", "bf16", 6400, 12800), ("output", "bf16", 6400, 12800), ("attention", "bf16", 8192, 16384),
    ("feed-forward", "bf16", 24576, 49152),
    embedding=64, heads=4, vocabulary=100, tied=False,
    attention=[
        {"layers": 1, "kv_heads": 4, "key_size": 16, "value_size": 16},
        {"layers": 3, "kv_heads": 0, "key_size": 0, "value_size": 0, "state": 2048},
    ],
)  # fmt: skip
DIVIDED = {"stages": 2, "weights": 2, "attention": 2, "experts": 2}
KERNELS = ceilings(
    "kernels",
    {
        "memory": rate("memory-read", 12.0, "kB/s", threads=1, low=11.0, high=13.0),
        "one": rate("matvec", 4.0, "kB/s", threads=1, dtype="q4_K", vectors=1, working_set=1 << 30),
        "four": rate("matvec", 3.0, "kB/s", threads=2, dtype="q4_K", vectors=4, working_set=1 << 30),
        "many": rate("matmul", 90.0, "MFLOP/s", threads=2, dtype="q4_K", vectors=512),
        "f16": rate("matvec", 8.0, "kB/s", threads=1, dtype="f16", vectors=1, working_set=1 << 30),
        "f32": rate("matmul", 1.0, "MFLOP/s", threads=1, dtype="f32"),
        "http": rate("http-round-trip", 3.0, "ms", low=2.5, high=4.0),
        "disk": rate("disk-read", 100.0, "kB/s"),
    },
)
USUAL: dict[str, Any] = {
    "ceilings": (HERE,), "threads": 1, "prompt_tokens": 100, "generated_tokens": 8, "microbatch": 64, "key_type": "f16",
    "value_type": "f16",
}  # fmt: skip
OWN = {**USUAL, "ceilings": (KERNELS,), "batch_threads": 2}
STATED = said(
    launches=450, launch=4, collective_bytes=32e6, collectives=64, link_latency=20, host_gap=(150, 100, 300)
)
QUESTIONS: Final[Mapping[str, Inputs]] = {
    "a token": inputs("decode-token", "decode_tps", shape=SMALL, **USUAL),
    "a token by kernels": inputs("decode-token", "decode_tps", shape=SMALL, **OWN),
    "a token, drafts verified": inputs(
        "decode-token", "decode_tps", shape=SMALL, drafting="ngram", stated=said(draft_tokens=3, acceptance=(0.6, 0.4, 0.8)), **OWN
    ),
    "a token of a mixture, several at once": inputs("decode-token", "tpot_ms", shape=MIXTURE, concurrency=4, **USUAL),
    "a token, own layers draft": inputs(
        "decode-token", "tpot_ms", shape=MIXTURE, drafting="mtp", stated=said(draft_tokens=2), **USUAL
    ),
    "a token, what nobody says": inputs(
        "decode-token", "itl_ms", shape=SMALL, ceilings=(HERE,), threads=2, prompt_tokens=100, generated_tokens=8
    ),
    "a token on eight devices": inputs(shape=LARGE, ceilings=(PUBLISHED,), devices=8, stated=STATED),
    "a prompt": inputs("prefill-token", "prefill_tps", shape=SMALL, **USUAL),
    "a prompt of unknown passes": inputs("prefill-token", "prefill_tps", shape=SMALL, **{**USUAL, "microbatch": None}),
    "the first token by kernels": inputs("request", "ttft_ms", shape=SMALL, **OWN),
    "an answer": inputs("request", "wall_s", shape=MIXTURE, stated=said(queue_wait=(50, 10, 200)), **USUAL),
    "an answer of stated lengths": inputs(
        "request", "wall_s", shape=SMALL, stated=said(prompt_tokens=(150, 100, 200), generated_tokens=(12, 8, 16)), **USUAL
    ),
    "a token of layers with states": inputs("decode-token", "tpot_ms", shape=STATES, held_in="host", **USUAL),
    "a prompt over stages": inputs(
        "prefill-token", "prefill_tps", shape=STATES, devices=4, sharding=DIVIDED, state_type="f32", held_in="device",
        stated=said(matmul=1e12), **{**USUAL, "ceilings": (PUBLISHED,)},
    ),
    "a token of weights quantised while loading": inputs(
        "decode-token", "tpot_ms", shape=STATES, loaded_as="fp8", held_in="device", concurrency=2, **USUAL
    ),
    "a loading": inputs("load", "wall_s", shape=SMALL, **USUAL),
    "a start": inputs("setup", "wall_s", **USUAL),
}  # fmt: skip
