"""A service whose build has the settings that hint families ask for, with a shape and ceilings, for tests of candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.candidates import LookedAt, looked_at
from hio_validate.estimating.context.gather import inputs_of
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.estimate import Amount, Candidate, MeasuredBaseline
from tests.estimating.tiny import CEILINGS, SHAPE, changed, put, view_of
from tests.small_repo import FILES, HELP, ROOM, SERVICE, baseline, committed, pin, sha

MORE = """\
-ub,   --ubatch-size N                  physical maximum batch size (default: 512)
-np,   --parallel N                     number of parallel sequences to decode (default: 1)
-ctk,  --cache-type-k TYPE              KV cache data type for K (default: f16)
-ctv,  --cache-type-v TYPE              KV cache data type for V (default: f16)
-fa,   --flash-attn on|off|auto         set Flash Attention use (default: off)
-lv,   --verbosity N                    verbosity threshold (default: 3)
--cache-prompt, --no-cache-prompt       whether to enable prompt caching (default: enabled)
--spec-type none,ngram-simple,ngram-mod
                                        type of speculative decoding to use when no draft model is provided
                                        (default: none)
--spec-draft-n-max N                    number of tokens to draft for speculative decoding (default: 3)
"""
HELP_HERE = HELP.replace("\n-m,    --model", f"\n{MORE}-m,    --model")
ENGINE_HERE = (
    "hio: engine/v1\nname: b1\nfamily: llama-server\n"
    f'help: {{file: help.txt, sha256: "{sha(HELP_HERE)}"}}\nsource: {{revision: b1}}\n'
)
STACK = """\
hio: stack/v1
name: base
processes:
  server:
    engine: llama-server
    build: b1
    argv:
      - ["--model", "/models/tiny.gguf"]
      - ["--threads", "1"]
      - ["--batch-size", "512"]
      - ["--ubatch-size", "64"]
      - ["--port", "8080"]
"""
FIXTURE: dict[str, Any] = {
    "hio": "fixture/v1", "name": "tides", "endpoint": "/completion", "prompt": "Tell of the tides.", "max_tokens": 64,
    "ignore_eos": True, "seed": 1,
    "sampling": {"temperature": 0, "top_k": 1, "repeat_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0,
                 "dry_multiplier": 0},
}  # fmt: skip
LENGTHS = {"prompt-tokens": 300.0, "generated-tokens": 64.0}


def bench(root: Path, *documents: Mapping[str, Any], threads: Mapping[int, float] | None = None) -> Path:
    """A git repository with them; `threads`: MB/s of memory by threads."""
    ceilings = changed(CEILINGS)
    for count, value in (threads or {1: 50.0, 2: 80.0}).items():
        ceilings["rates"][f"memory-read-{count}"] = {
            "quantity": "memory-read", "value": value, "unit": "MB/s", "threads": count, "method": "streams",
        }  # fmt: skip
    files = {
        **FILES,
        "manifests/engines/llama-server/b1/engine.yaml": ENGINE_HERE,
        "manifests/engines/llama-server/b1/help.txt": HELP_HERE,
        f"{ROOM}/stacks/base.yaml": STACK,
        f"ledger/{SERVICE}/2026/b0.yaml": baseline(pinned=pin("base", STACK)),
    }
    for gone in (
        f"{ROOM}/runs/r1/run.yaml",
        f"{ROOM}/runs/r1/rows.tsv",
        f"matrix/{SERVICE}/base-to-two.yaml",
    ):
        del files[gone]
    committed(root, files)
    put(root, SHAPE, ceilings, FIXTURE, *documents)
    return root


def asked(
    root: Path, metric: str = "decode_tps", *, measured: float | None = None, stated: Mapping[str, float] | None = None,
    **options: Any,
) -> Inputs:  # fmt: skip
    """The inputs of the stack `base`; `measured`: what its baseline is said to have reached."""
    amounts = {
        name: value if isinstance(value, Amount) else Amount(value=value, low=value, high=value, unit="1")
        for name, value in {**LENGTHS, **(stated or {})}.items()
    }
    found = inputs_of(
        view_of(root), SERVICE, "base", fixture="tides", metric=metric, stated=amounts, **options
    )
    if measured is None:
        return found
    unit = "token/s" if metric.endswith("_tps") else metric.rpartition("_")[2]
    at = MeasuredBaseline(
        run=pin("r", "r"), arm="base", value=measured, low=measured, high=measured, unit=unit
    )
    return replace(found, baseline=at)


def looked(inputs: Inputs) -> LookedAt:
    """What the families found."""
    ledger = terms_of(inputs)
    return looked_at(inputs, ledger, bound_of(ledger, inputs))


def named(found: LookedAt, name: str) -> Candidate:
    """One candidate."""
    return next(each for each in found.candidates if each.name == name)


def names(found: LookedAt) -> list[str]:
    return [each.name for each in found.candidates]


def profile(*parts: tuple[str, int, str, str | None], path: str = "decode-token") -> dict[str, Any]:
    """A profile of the stack; each part is (name, samples, what, term)."""
    return {
        "hio": "profile/v1", "name": "perf-1", "service": SERVICE, "stack": pin("base", STACK), "path": path,
        "fixture": "tides", "tool": "perf 6.1: perf record -g", "at": "2026-01-04T00:00:00Z",
        "parts": [
            {"name": name, "samples": samples, "what": what, **({"term": term} if term else {})}
            for name, samples, what, term in parts
        ],
    }  # fmt: skip
