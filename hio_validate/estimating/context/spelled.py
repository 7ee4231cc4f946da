"""What each engine calls the settings that decide a workload: one table for whoever reads them or proposes another value.

Sources, looked at in 2026: llama.cpp common/arg.cpp; vLLM vllm/engine/arg_utils.py and vllm/config/*.py; SGLang
python/sglang/srt/server_args.py. The newest spelling stands first; a build is asked for each (Seen.lever, _Asked.setting).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SPELLED: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "threads": {"llama-server": ("threads",)},
        "prefill-threads": {"llama-server": ("threads-batch", "threads")},
        # tokens of one pass: vLLM's scheduler counts those of all requests, SGLang cuts each prompt
        "microbatch": {
            "llama-server": ("ubatch-size",),
            "vllm": ("max-num-batched-tokens",),
            "sglang": ("chunked-prefill-size",),
        },
        # a microbatch is never larger (llama.cpp include/llama.h, llama_context_params.n_ubatch)
        "batch": {"llama-server": ("batch-size",)},
        "key-type": {
            "llama-server": ("cache-type-k",),
            "vllm": ("kv-cache-dtype",),
            "sglang": ("kv-cache-dtype",),
        },
        "value-type": {
            "llama-server": ("cache-type-v",),
            "vllm": ("kv-cache-dtype",),
            "sglang": ("kv-cache-dtype",),
        },
        "slots": {
            "llama-server": ("parallel",),
            "vllm": ("max-num-seqs",),
            "sglang": ("max-running-requests",),
        },
        "shards": {
            "vllm": ("tensor-parallel-size",),
            "sglang": ("tp-size", "tensor-parallel-size"),
        },
        "stages": {
            "vllm": ("pipeline-parallel-size",),
            "sglang": ("pp-size", "pipeline-parallel-size"),
        },
        "replicas": {
            "vllm": ("data-parallel-size",),
            "sglang": ("dp-size", "data-parallel-size"),
        },
        # K/V by position, beside its heads (vllm/config/parallel.py, decode_context_parallel_size)
        "contexts": {"vllm": ("decode-context-parallel-size",)},
        "prompt-contexts": {"vllm": ("prefill-context-parallel-size",)},
        # experts of a layer on the devices of all replicas (vLLM); SGLang divides its own tp-size devices
        "spread-experts": {"vllm": ("enable-expert-parallel",)},
        "drafting": {
            "llama-server": ("spec-type", "spec-draft-model"),
            "vllm": ("speculative-config",),
            "sglang": ("speculative-algorithm",),
        },
        "draft-tokens": {"sglang": ("speculative-num-draft-tokens",)},
        # quantises a checkpoint of wide numbers while it is loaded, for some of its values
        "quantises": {"vllm": ("quantization",), "sglang": ("quantization",)},
        # states of fixed size (vllm/config/cache.py, mamba_ssm_cache_dtype; SGLang server_args.py, mamba_ssm_dtype)
        "state-type": {
            "vllm": ("mamba-ssm-cache-dtype", "mamba-cache-dtype"),
            "sglang": ("mamba-ssm-dtype",),
        },
        # where weights and K/V lie
        "device-layers": {"llama-server": ("gpu-layers",)},
        "elsewhere": {"llama-server": ("rpc",)},
        "device": {"vllm": ("device",), "sglang": ("device",)},
        "offload": {"vllm": ("cpu-offload-gb",), "sglang": ("cpu-offload-gb",)},
        "weights-file": {
            "llama-server": ("model",),
            "vllm": ("model",),
            "sglang": ("model-path",),
        },
    }
)
"""Meaning -> engine family -> settings, without their process."""


def spelled(meaning: str, engine: str) -> tuple[str, ...]:
    """What an engine calls it; nothing where it has no such setting. An engine of no table may use any of the names."""
    names = SPELLED[meaning]
    known = {family for each in SPELLED.values() for family in each}
    if engine in known:
        return names.get(engine, ())
    return tuple(dict.fromkeys(name for each in names.values() for name in each))
