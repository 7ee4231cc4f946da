"""What counts as the same work in a plan that is begun: equal answers, unless the arms hold their numbers differently.

Invariant: a tolerance is wider than nothing only for a reason, which stands in the plan as a comment (contract 6.3). Arms
whose weights or K/V have another format round differently, so their likeliest tokens may differ and both be right; whether
they still answer rightly is then for checks and a task set to say (contract 7.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hio_validate.source.dump import Row

_FORMATS = frozenset({
    "cache-type-k", "cache-type-v", "model", "model-path", "artifact.model", "dtype", "quantization", "kv-cache-dtype",
    "calculate-kv-scales", "quantization-param-path", "torchao-config", "load-format", "override-kv", "lora",
    "lora-scaled", "revision", "hf-repo", "hf-file", "model-url",
})  # fmt: skip
"""Settings that choose the weights, or how weights, K and V are held as numbers: of llama-server, vLLM and SGLang."""

_KEY = b"\nsame_work:"


class SameWorkAsked(NamedTuple):
    """`same_work` of a plan, why it is no stricter, and what a person should know of it."""

    data: Row
    reasons: tuple[str, ...] = ()
    said: str = ""


def same_work_of(factors: Sequence[str], drafting: Sequence[str | None]) -> SameWorkAsked:
    """How much the work of arms may differ that differ in these settings; `drafting`: what drafts tokens in each arm."""
    data: dict[str, Any] = {"content": "equal"}
    reasons, said = [], ""
    changed = [each for each in factors if each.partition(".")[2] in _FORMATS or each in _FORMATS]
    if changed:
        data["content"] = "any"
        what = ", ".join(changed)
        reasons.append(
            f"{what}: numbers of another format round differently, and right answers may differ in their words"
        )
        said = (
            f"same_work lets the answers differ, because {what} changes how numbers are held: what shows that they "
            "are still right is a check with an expected answer, better a task set (quality:)"
        )
    if len(set(drafting)) > 1:
        data["accepted_percent"] = 100
        reasons.append(
            "one arm drafts tokens and another does not, or otherwise: only what is generated is compared"
        )
    return SameWorkAsked(Row(data), tuple(reasons), said)


def with_reasons(plan: bytes, reasons: Sequence[str]) -> bytes:
    """The plan's text with the reasons as comments before `same_work`."""
    if not reasons or plan.count(_KEY) != 1:
        return plan
    comments = b"".join(f"\n# {each}".encode() for each in reasons)
    return plan.replace(_KEY, comments + _KEY)
