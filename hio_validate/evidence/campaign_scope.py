"""Which settings change what is computed rather than how fast: quantisation and speculation (contract 10.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.evidence.design import contrasts
from hio_validate.ledger import one_setting
from hio_validate.models.campaign import CampaignScope
from hio_validate.repo import Item, Repo
from hio_validate.settings.difference import Compared
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.setting import Class
from hio_validate.settings.value import ABSENT

QUANTISATION, SPECULATION = "quantisation", "speculation"

_SPECULATION = re.compile(
    r"(spec|draft|speculative|lookup|num-speculative|num-assistant|mtp|eagle|medusa)([-_].*)?|model-draft|.*[-_](draft|mtp|nextn)"
)
"""llama.cpp, common/arg.cpp (--spec-*, --draft-*, --lookup-*); vllm, engine/arg_utils.py (--speculative-config)."""
_QUANTISATION = re.compile(
    r"cache-type-[kv]|ct[kv]|kv-cache-dtype|quantization|quant|dtype|torch-dtype|load-in-\d+bit"
)
"""llama.cpp, common/arg.cpp (--cache-type-k); vllm, engine/arg_utils.py (--quantization, --kv-cache-dtype, --dtype)."""


_MODEL = re.compile(r"model([-_].*)?|hf-(repo|file)|docker-repo|repo|gguf")
"""Names of the file that is served: another one is another quantisation, or another model."""


class OutOfScope(NamedTuple):
    """A setting that a plan changes and its campaign does not declare."""

    arm: str
    what: str
    """quantisation, speculation, or the declared space."""
    changed: Compared


def kind_of(changed: Compared) -> str | None:
    """quantisation or speculation, where a setting is about one of them."""
    name = changed.address.rpartition(".")[2]
    if _SPECULATION.fullmatch(name):
        return SPECULATION
    if _QUANTISATION.fullmatch(name) or changes_weights(changed):
        return QUANTISATION
    return None


def changes_weights(changed: Compared) -> bool:
    """Whether a setting names the file that is served; a draft's file is speculation."""
    name = changed.address.rpartition(".")[2]
    is_a_model = _MODEL.fullmatch(name) is not None and _SPECULATION.fullmatch(name) is None
    return changed.class_ is Class.ARTIFACT and is_a_model


def out_of_scope(plan: Item, scope: CampaignScope, repo: Repo, settings: Settings) -> Iterator[OutOfScope]:
    """What the arms of a plan change against its baseline and the scope does not allow."""
    for contrast in contrasts(plan, repo, settings):
        for each in contrast.factors:
            kind = kind_of(each)
            if kind is not None and not _declared(each, kind, getattr(scope, kind)):
                yield OutOfScope(contrast.arm, kind, each)
            elif scope.factors and not any(one_setting(name, each.address) for name in scope.factors):
                yield OutOfScope(contrast.arm, "the declared space", each)


def to_declare(found: OutOfScope, scope: CampaignScope) -> str:
    """What the campaign has to say of a setting so that it is in scope, as it is written: `scope: {quantisation: [q8_0]}`."""
    if found.what not in (QUANTISATION, SPECULATION):
        return f"scope: {{factors: [{', '.join([*scope.factors, found.changed.address])}]}}"
    return f"scope: {{{found.what}: [{', '.join([*getattr(scope, found.what), word_of(found.changed)])}]}}"


def word_of(changed: Compared) -> str:
    """The word by which a scope declares a change of quantisation or speculation: its value, else its setting."""
    return changed.to if _says_which(changed) else changed.address.rpartition(".")[2]


def _declared(each: Compared, kind: str, allowed: list[str]) -> bool:
    """Whether a value is declared. Of a draft's lengths and of a model's file the kind has to be declared, no value."""
    if not _says_which(each):
        return bool(allowed)
    return each.to.lower() in {word.lower() for word in allowed}


def _says_which(each: Compared) -> bool:
    """Whether the value of a setting is the word by which a scope declares it."""
    name = each.address.rpartition(".")[2]
    return each.to != ABSENT and (
        name.startswith("cache-type") or name in ("spec-type", "kv-cache-dtype", "quantization", "dtype")
    )
