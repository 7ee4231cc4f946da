"""What of a server's settings drafts tokens, and how many at once: speculative decoding, as each engine is told of it.

Sources: llama.cpp common/arg.cpp (--spec-*, --model-draft); vLLM vllm/config/speculative.py (num_speculative_tokens of
--speculative-config); SGLang python/sglang/srt/server_args.py (--speculative-algorithm; speculative_num_draft_tokens counts
the token that is verified anyway, speculative_num_steps does not).
"""

from __future__ import annotations

from hio_validate.settings.setting import Effective, Setting

_ASKS = ("speculative-config", "speculative-algorithm", "spec-method")
"""What asks vLLM and SGLang for it."""
_NOTHING = frozenset({"none", "null", "off", "0", "", "{}"})


def speculation(effective: Effective) -> str | None:
    """The setting by which somebody asked for speculative decoding, with its value."""
    found = (each for each in effective.settings.values() if each.set_by_a_person and _drafts(each))
    asked = next(found, None)
    return f"{asked.address} {asked.shown}" if asked is not None else None


def most_drafted(effective: Effective) -> int | None:
    """Tokens that vLLM or SGLang draft at once at most, where their settings say it; None where they choose by themselves."""
    for setting in effective.settings.values():
        said = _of_json(setting.value) if setting.factor == "speculative-config" else setting.value
        less = 1 if setting.factor == "speculative-num-draft-tokens" else 0
        if setting.factor in _LENGTHS and said.isdecimal() and int(said) - less > 0:
            return int(said) - less
    return None


_LENGTHS = ("speculative-config", "spec-tokens", "speculative-num-draft-tokens", "speculative-num-steps")


def _drafts(setting: Setting) -> bool:
    is_one = setting.factor in _ASKS or setting.factor.startswith("spec-") or "draft" in setting.factor
    return is_one and setting.value.lower() not in _NOTHING


def _of_json(text: str) -> str:
    """num_speculative_tokens of a JSON object, as text; empty where it says none."""
    from json import loads  # only where an arm of vLLM drafts: judging a file waits for nothing else

    try:
        said = loads(text)
    except (ValueError, RecursionError):
        return ""
    found = said.get("num_speculative_tokens") if isinstance(said, dict) else None
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else ""
