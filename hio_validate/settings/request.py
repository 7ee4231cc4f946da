"""How an engine is asked over HTTP: its endpoints, the request fields that can change a token, and what it counts.

Invariant: a field stands here only where the engine's own source reads it. What an engine does not read it ignores
without a word (vLLM logs it, SGLang and llama-server say nothing), so a request in another engine's words asks for
something else than it says.

Sources: llama.cpp tools/server/README.md; vLLM vllm/entrypoints/openai/{completion,chat_completion}/protocol.py and
vllm/sampling_params.py; SGLang python/sglang/srt/entrypoints/openai/{protocol,serving_completions,usage_processor}.py and
python/sglang/srt/sampling/sampling_params.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

COMPLETION, COMPLETIONS, CHAT = "/completion", "/v1/completions", "/v1/chat/completions"

_LLAMA_FIELDS = frozenset({
    "temperature", "top_k", "top_p", "min_p", "typical_p", "top_n_sigma", "xtc_probability", "xtc_threshold",
    "dynatemp_range", "dynatemp_exponent", "repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty",
    "dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers", "mirostat",
    "mirostat_tau", "mirostat_eta", "samplers",
})  # fmt: skip
_OPENAI_FIELDS = frozenset(
    {
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "repetition_penalty",
        "presence_penalty",
        "frequency_penalty",
    }
)
_UNDOING = ("typical_p", "xtc_probability", "dynatemp_range", "mirostat")
_EVERY_FIELD = _LLAMA_FIELDS | _OPENAI_FIELDS

OFF: Mapping[str, int] = MappingProxyType({"repeat_penalty": 1, "repetition_penalty": 1})
"""What a field is where it does nothing; 0 for all others."""


class Dialect(NamedTuple):
    """What one family reads in a request, and what its answers count."""

    family: str
    endpoints: tuple[str, ...]
    """Where it is asked; the first one is what a new fixture asks."""
    fields: frozenset[str]
    """Request fields that can change a token."""
    penalties: tuple[str, ...]
    """Those that change the order of the candidates even where the likeliest one is taken."""
    times_itself: bool
    """Whether an answer says how long its prompt and its tokens took (`timings`)."""
    counts_cached_where: str | None
    """Switch without which it does not say how many prompt tokens came from a cache; None = it always says so."""
    leaves_none_out: bool
    """Whether with that switch it counts cached tokens only where there were some."""
    drafts_by_request: bool
    """Whether a request says how many tokens may be drafted; else the settings of the server alone do."""
    salts_cache: bool
    """Whether only a salt keeps a request from what a cache has; else a switch of the request does (`cache_prompt`)."""
    start_s: int
    """Seconds that a plan gives a server to be ready: llama-server loads; vLLM and SGLang also compile and capture graphs."""

    @property
    def greedy(self) -> dict[str, int]:
        """The complete chain that takes the likeliest token."""
        return {"temperature": 0, "top_k": 1, **{name: OFF.get(name, 0) for name in self.penalties}}

    @property
    def takes_likeliest_by_either(self) -> bool:
        """Whether `temperature: 0` or `top_k: 1` alone takes the likeliest token: it reads nothing that undoes one of them."""
        return self.fields.isdisjoint(_UNDOING)

    def unread(self, sampling: Iterable[str]) -> list[str]:
        """The fields of another engine that this one ignores; a field that nobody is known to read is not judged."""
        return [name for name in sampling if name in _EVERY_FIELD - self.fields]

    def means_none(self, arguments: Iterable[str]) -> bool:
        """Whether a server with these arguments that says nothing of cached tokens took none from a cache."""
        said = {word.removeprefix("--").replace("_", "-") for word in arguments}
        return self.leaves_none_out and self.counts_cached_where in said

    def budget(self, endpoint: str, tokens: int) -> dict[str, int]:
        """The output budget, in tokens."""
        return {"n_predict" if endpoint == COMPLETION else "max_tokens": tokens}

    def streamed(self, endpoint: str, warm: bool, salt: str) -> dict[str, Any]:
        """How the answer is to come, and whether it may use a cache.

        An OpenAI stream counts its tokens where it is asked to, in a last event without choices. vLLM and SGLang have no
        switch for one request: `cache_salt` keeps its prompt apart from every other one's. Timings for each token would
        cost time where time is measured.
        """
        said: dict[str, Any] = {"stream": True}
        if endpoint != COMPLETION:
            said["stream_options"] = {"include_usage": True}
        if self.times_itself:
            said["timings_per_token"] = False
        if not self.salts_cache:
            return {"cache_prompt": warm, **said}
        return said if warm else {"cache_salt": salt, **said}


LLAMA = "llama-server"

DIALECTS: Mapping[str, Dialect] = MappingProxyType({
    each.family: each
    for each in (
        Dialect(
            LLAMA, (COMPLETION, COMPLETIONS, CHAT), _LLAMA_FIELDS,
            ("repeat_penalty", "presence_penalty", "frequency_penalty", "dry_multiplier"),
            times_itself=True, counts_cached_where=None, leaves_none_out=False, drafts_by_request=True,
            salts_cache=False, start_s=120,
        ),
        Dialect(
            "vllm", (COMPLETIONS, CHAT), _OPENAI_FIELDS,
            ("repetition_penalty", "presence_penalty", "frequency_penalty"),
            times_itself=False, counts_cached_where="enable-prompt-tokens-details",
            leaves_none_out=False, drafts_by_request=False,
            salts_cache=True, start_s=600,
        ),
        Dialect(
            "sglang", (COMPLETIONS, CHAT), _OPENAI_FIELDS,
            ("repetition_penalty", "presence_penalty", "frequency_penalty"),
            times_itself=False, counts_cached_where="enable-cache-report",
            leaves_none_out=True, drafts_by_request=False,
            salts_cache=True, start_s=600,
        ),
    )
})  # fmt: skip
"""Family -> how it is asked; another one is asked as llama-server is."""


def dialect_of(family: str) -> Dialect:
    """How a family is asked."""
    return DIALECTS.get(family, DIALECTS[LLAMA])
