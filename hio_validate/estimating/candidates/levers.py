"""What each engine sets for a mechanism: the setting, the values in force for which it is proposed, and the value it gets.

Invariant: data alone. Whether a build has the setting and the value, and what is in force, asks candidates/mechanism.py; how
much it could gain, the families. A new row is tried by tests/estimating/candidates/test_levers.py without being named there.

Sources, looked at in 2026: llama.cpp common/arg.cpp; vLLM vllm/engine/arg_utils.py, vllm/config/{cache,compilation,parallel,
scheduler,speculative}.py, docs/features/{quantization/fp8,speculative_decoding/n_gram,speculative_decoding/mtp}.md; SGLang
python/sglang/srt/server_args.py, docs/advanced_features/{server_arguments,hyperparameter_tuning}.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from hio_validate.estimating.context.spelled import SPELLED
from hio_validate.settings.value import ABSENT

NOTHING: Final = (ABSENT, "", "{}", "none", "None", "null", "unused")
"""Values with which a mechanism is not used."""

OFF, ON = ("off",), ("on",)
_UNSET = (ABSENT, "None")


class Way(NamedTuple):
    """One engine's way to a mechanism: a setting of its."""

    mechanism: str
    engine: str
    factor: str
    now: tuple[str, ...] = ()
    """Values in force, or asked for where what runs is not known, for which it is proposed; none: a number, or any other one."""
    to: tuple[str, ...] = ()
    """Values that it may get, the first that the build offers; none: a number that follows from the workload. `{n}`: drafted tokens."""
    needs: tuple[str, ...] = ()
    """What has to be there before."""
    drafts: int | None = None
    """Tokens a pass that are proposed where nobody states a number."""


def _numbers(mechanism: str, meaning: str) -> tuple[Way, ...]:
    """A number of the workload, under each engine's name of it."""
    return tuple(
        Way(mechanism, engine, factor) for engine, factors in SPELLED[meaning].items() for factor in factors
    )


_LOOKED_UP = '{"method":"ngram","num_speculative_tokens":{n},"prompt_lookup_max":4}'
_OWN = '{"method":"mtp","num_speculative_tokens":{n}}'
_ON_CUDA = "a CUDA device: SGLang looks drafts up only there, and without overlapping its scheduler"
_SCALES = "scales of K and V in the checkpoint: without them they are 1"

WAYS: Final[tuple[Way, ...]] = (
    # 1, less work
    Way("draft-from-text", "llama-server", "spec-type", NOTHING, ("ngram-mod", "ngram-simple", "ngram-cache")),
    Way("draft-from-text", "vllm", "speculative-config", NOTHING, (_LOOKED_UP,), drafts=5),
    Way("draft-from-text", "sglang", "speculative-algorithm", NOTHING, ("NGRAM",), (_ON_CUDA,)),
    Way("draft-own-layers", "llama-server", "spec-type", NOTHING, ("draft-mtp",)),
    Way("draft-own-layers", "vllm", "speculative-config", NOTHING, (_OWN,)),
    Way("draft-own-layers", "sglang", "speculative-algorithm", NOTHING, ("NEXTN", "EAGLE")),
    # 2, in bulk, fused
    *_numbers("microbatch", "microbatch"),
    *_numbers("slots", "slots"),
    Way("several-passes", "vllm", "num-scheduler-steps", ("1",), ("8",)),
    Way("several-passes", "sglang", "num-continuous-decode-steps", ("1", ABSENT), ("4",)),
    Way("fused-attention", "llama-server", "flash-attn", OFF, ON),
    Way("fused-attention", "vllm", "attention-backend", (), ("FLASHINFER", "FLASH_ATTN")),
    Way("fused-attention", "sglang", "attention-backend", (), ("flashinfer", "fa3")),
    # 3, another representation
    Way("key-format", "llama-server", "cache-type-k", ("f16", "bf16"), ("q8_0",)),
    Way("key-format", "llama-server", "cache-type-k", ("f32",), ("f16",)),
    Way("value-format", "llama-server", "cache-type-v", ("f16", "bf16"), ("q8_0",)),
    Way("value-format", "llama-server", "cache-type-v", ("f32",), ("f16",)),
    Way("kv-format", "vllm", "kv-cache-dtype", ("auto", "bfloat16", "float16"), ("fp8",), (_SCALES,)),
    Way("kv-format", "sglang", "kv-cache-dtype", ("auto", ABSENT, "bf16", "bfloat16"), ("fp8_e4m3", "fp8_e5m2"), (_SCALES,)),
    Way("online-weights", "vllm", "quantization", _UNSET, ("fp8",)),
    Way("online-weights", "sglang", "quantization", _UNSET, ("fp8",)),
    *_numbers("weights-file", "weights-file"),
    # 4, less on the hot path
    Way("less-logging", "llama-server", "verbosity"),
    Way("less-logging", "vllm", "enable-log-requests", ON, OFF),
    Way("less-logging", "vllm", "disable-log-requests", OFF, ON),
    Way("less-logging", "vllm", "disable-log-stats", OFF, ON),
    Way("less-logging", "sglang", "log-requests", ON, OFF),
    # 5, reuse
    Way("prefix-cache", "llama-server", "cache-prompt", OFF, ON),
    Way("prefix-cache", "vllm", "enable-prefix-caching", OFF, ON),
    Way("prefix-cache", "sglang", "disable-radix-cache", ON, OFF),
    Way("graphs", "vllm", "enforce-eager", ON, OFF),
    Way("graphs", "sglang", "disable-cuda-graph", ON, OFF),
    Way("graphs", "sglang", "disable-decode-cuda-graph", ON, OFF),
    Way("graph-sizes", "vllm", "max-cudagraph-capture-size"),
    Way("graph-sizes", "sglang", "cuda-graph-max-bs-decode"),
    Way("graph-sizes", "sglang", "cuda-graph-max-bs"),
    Way("compiled", "vllm", "optimization-level", ("0",), ("2",)),
    Way("compiled", "sglang", "enable-torch-compile", OFF, ON),
    # 6, overlap, wait less
    *_numbers("threads", "threads"),
    *_numbers("prefill-threads", "prefill-threads"),
    Way("overlap-host", "vllm", "async-scheduling", OFF, ON),
    Way("overlap-host", "sglang", "disable-overlap-schedule", ON, OFF),
    Way("mixed-passes", "llama-server", "cont-batching", OFF, ON),
    Way("mixed-passes", "vllm", "enable-chunked-prefill", OFF, ON),
    Way("mixed-passes", "sglang", "enable-mixed-chunk", OFF, ON),
    *_numbers("shards", "shards"),
)  # fmt: skip
"""In the order of the hint families; of one mechanism and engine, the newest spelling first."""

_GGML: Final = {
    "f32": "f16", "f16": "q8_0", "bf16": "q8_0", "q8_0": "q4_k", "q6_k": "q4_k", "q5_k": "q4_k", "q5_0": "q4_0", "q5_1": "q4_1",
}  # fmt: skip
_CHECKPOINTS: Final = {
    "f32": "bf16",
    "f16": "int4",
    "bf16": "int4",
    "fp8": "int4",
    "f8_e4m3": "int4",
    "int8": "int4",
}

SMALLER: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {"llama-server": _GGML, "vllm": _CHECKPOINTS, "sglang": _CHECKPOINTS}
)
"""Engine -> format of most weights -> the next smaller one of a file: ggml's (ggml/include/ggml.h, enum ggml_type), and what
AWQ, GPTQ and compressed-tensors write."""

MADE_BY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "llama-server": "llama-quantize writes one",
        "vllm": "llm-compressor, AutoAWQ or GPTQModel writes one",
        "sglang": "llm-compressor, AutoAWQ or GPTQModel writes one",
    }
)
"""Engine -> what makes such a file."""
