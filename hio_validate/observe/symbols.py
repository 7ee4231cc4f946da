"""Which symbols of an engine belong to which term of a ledger, as data: the first pattern that is found in a symbol counts.

llama.cpp: ggml/src/ggml-cpu/{ggml-cpu.c,ops.cpp,quants.c,repack.cpp,llamafile/sgemm.cpp} and src/llama-*.cpp name them.
An OpenMP runtime without symbols is waiting: ggml gives it one parallel region a graph and its barriers, no work
(`GGML_USE_OPENMP` in ggml-cpu.c).
Invariant: a symbol that no pattern knows is `other` and of no term; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

What = Literal["arithmetic", "data-movement", "set-up", "waiting", "dispatch", "other"]


class Belongs(NamedTuple):
    """What was done in a symbol, and the term it is measured by; None: no term of a ledger."""

    term: str | None
    what: What


class _Row(NamedTuple):
    pattern: str
    decode: Belongs
    prefill: Belongs


def _same(pattern: str, term: str | None, what: What) -> _Row:
    return _Row(pattern, Belongs(term, what), Belongs(term, what))


_WEIGHTS = (Belongs("weights", "data-movement"), Belongs("compute", "arithmetic"))
_KV = (Belongs("kv-read", "data-movement"), Belongs("compute", "arithmetic"))
"""Decoding reads all of it for one token; prefill multiplies it by many."""

_LLAMA = (
    _same(r"barrier|futex|sched_yield|pthread_cond_wait|^do_wait|gomp_.*(?:wait|spin)|"
          r"^lib(?:g|i)?omp5?\b.*\(no symbols\)$", None, "waiting"),
    _same(r"llama_vocab|load_vocab|llama_model_load|load_tensors|load_all_data|gguf_|repack_\w+_bl\b|unicode_", "loading", "set-up"),
    _Row(r"flash_attn|soft_max", *_KV),
    _Row(r"ggml_vec_(?:dot|mad)_(?:f16|bf16)\b|ggml_(?:cpu_)?fp16_to_fp32", *_KV),
    _same(r"set_rows", "kv-write", "data-movement"),
    _Row(r"ggml_vec_dot_|ggml_gemv_|ggml_gemm_|tinyBLAS|llamafile_sgemm|compute_forward_mul_mat|repack::tensor_traits", *_WEIGHTS),
    _same(r"quantize_(?:row|mat)|ggml_compute_forward_(?:glu|rms_norm|norm|rope|add|sub|mul|div|scale|unary|silu|gelu)|"
          r"ggml_vec_(?:silu|gelu|swiglu|geglu|scale|add|mul)", "compute", "arithmetic"),
    _same(r"ggml_backend_sched|ggml_gallocr|ggml_graph_|ggml_build_|llm_(?:graph|build)|llama_(?:context|kv_cache|batch|memory|decode|output)",
          "dispatch", "dispatch"),
    _same(r"llama_sampler|common_sampler|llama_token_to_piece|server_|nlohmann|httplib", "host-gaps", "dispatch"),
    _same(r"^(?:__)?mem(?:move|cpy|set)", None, "data-movement"),
)  # fmt: skip

TABLES = {"llama-server": _LLAMA}
"""Engine family -> its table."""

_HALF = re.compile(r"ggml_vec_(?:dot|mad)_(?:f16|bf16)\b")
OTHER = Belongs(None, "other")


def belongs(family: str, symbol: str, path: str, dtypes: Collection[str] = ()) -> Belongs:
    """Where a symbol of an engine belongs while `path` ran. `dtypes`: number formats of the model's weights.

    Products of f16 and bf16 are of K/V, unless weights are kept so, too: then nobody can tell, and they are of no term.
    """
    if _HALF.search(symbol) and {"F16", "BF16"} & {dtype.upper() for dtype in dtypes}:
        return Belongs(None, "data-movement" if path == "decode-token" else "arithmetic")
    for row in TABLES.get(family, ()):
        if re.search(row.pattern, symbol):
            return row.prefill if path == "prefill-token" else row.decode
    return OTHER
