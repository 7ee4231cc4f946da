"""What llama-server says of itself: /props, /slots, /v1/models, and its help text. Identity, no speed.

Source: the handlers of these endpoints in tools/server (examples/server before 2025).
Prompts that /slots shows are not read; of the chat template only its hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from hio_validate.evidence.observed import Fact, Finding, Observation
from hio_validate.importing.results.importer import Importer, foreign
from hio_validate.importing.results.source import Source

_PROPS = re.compile(r'\{\s*"(?:default_generation_settings|assistant_name|user_name|total_slots)"\s*:')
_SLOTS = re.compile(r'\[\s*\{\s*"(?:id|n_ctx|dynatemp_exponent)"\s*:')
_OF_SLOTS = re.compile(r'"(?:is_processing|next_token|state|id_task)"\s*:')
_MODELS = re.compile(r'"owned_by"\s*:\s*"llamacpp"')
_HELP = re.compile(r"^(?:-{2,} common params -{2,}|usage: \S*llama-server)", re.MULTILINE)
_BUILD = re.compile(r"b([1-9]\d*)-(?!unknown)(\w+)$")
_ONLY = "it says what runs, not how fast: no number of it is a speed"
_NOT_IN_PROPS = (
    "K/V types, flash attention, batches, threads and placement: they are in the arguments and in the log",
)


def _kind(head: str) -> str | None:
    if _HELP.search(head):
        return "help"
    if _PROPS.match(head.lstrip()):
        return "props"
    if _SLOTS.match(head.lstrip()) and _OF_SLOTS.search(head):
        return "slots"
    return "models" if _MODELS.search(head) and head.lstrip().startswith("{") else None


def _read(source: Source) -> Iterator[Observation]:
    kind = _kind(source.head)
    if kind == "help":
        raise source.refuse(
            "it is the help text of llama-server, and no result",
            "hio engine learn records which settings that build has",
        )
    value = source.json()
    try:
        records = list(
            _slots(value) if kind == "slots" else _models(value) if kind == "models" else _props(value)
        )
    except (AttributeError, KeyError, TypeError):
        raise source.refuse(f"it is no answer of /{kind}", "keep the answer as it came", 1) from None
    for record in records:
        record.line = record.line or 1
        record.findings.append(Finding("identity-only", _ONLY, record.line))
        yield record


def _fact(value: Any) -> bool:
    return isinstance(value, str | bool | int | float) and value != ""


def _props(value: Mapping[str, Any]) -> Iterator[Observation]:
    settings = value.get("default_generation_settings") or {}
    subject: dict[str, Fact] = {"engine": "llama.cpp"}
    if build := _BUILD.match(str(value.get("build_info", ""))):
        subject["build"] = f"b{build[1]}-{build[2]}"
    model = value.get("model_path") or settings.get("model")
    if model:
        subject["model"] = str(model)
    names = ("model_alias", "model_ftype", "total_slots", "bos_token", "eos_token", "is_sleeping", "role")
    subject |= {key: value[key] for key in names if _fact(value.get(key))}
    if _fact(settings.get("n_ctx")):
        subject["n_ctx_slot"] = settings["n_ctx"]
    sampling = settings.get("params", settings)
    if _fact(sampling.get("speculative.types")):
        subject["speculative.types"] = sampling["speculative.types"]
    if isinstance(value.get("chat_template"), str):
        subject["chat_template_sha256"] = sha256(value["chat_template"].encode()).hexdigest()
    told = (
        "default_generation_settings",
        "build_info",
        "model_path",
        "chat_template",
        "media_marker",
        *names,
    )
    unknown = _NOT_IN_PROPS if "build" in subject else ("which source was built", *_NOT_IN_PROPS)
    yield Observation("props", subject=subject, foreign=foreign(value, frozenset(told)), unknown=unknown)


def _slots(value: list[Mapping[str, Any]]) -> Iterator[Observation]:
    for slot in value:
        if not isinstance(slot["id"], int):
            raise TypeError
        name = f"slot-{slot['id']}"
        subject: dict[str, Fact] = {"engine": "llama.cpp", "slot": slot["id"]}
        subject |= {key: slot[key] for key in ("model", "speculative") if _fact(slot.get(key))}
        if _fact(slot.get("n_ctx")):
            subject["n_ctx_slot"] = slot["n_ctx"]
        busy = slot.get("is_processing", slot.get("state") not in (None, 0))
        made = Observation(name, subject=subject, workload={"is_processing": bool(busy)})
        made.unknown = (
            "which model and build",
            "whether the slots share one pool of K/V cells",
            *_NOT_IN_PROPS,
        )
        yield made


def _models(value: Mapping[str, Any]) -> Iterator[Observation]:
    for number, model in enumerate(value["data"], 1):
        meta = model.get("meta") or {}
        subject: dict[str, Fact] = {"engine": "llama.cpp", "model": str(model["id"])}
        subject |= {
            f"model_{key}": meta[key] for key in ("n_params", "size", "ftype") if _fact(meta.get(key))
        }
        subject |= {
            key: meta[key] for key in ("n_ctx", "n_ctx_train", "n_vocab", "n_embd") if _fact(meta.get(key))
        }
        unknown = ("which build", "which bytes the model has", *_NOT_IN_PROPS)
        yield Observation(f"model-{number}", subject=subject, unknown=unknown)


def _generation(source: Source) -> str | None:
    kind = _kind(source.head)
    found = re.search(r'"build_info"\s*:\s*"(b[1-9]\d*-\w+)"', source.head)
    build = f" of {found[1]}" if found and not found[1].endswith("-unknown") else ""
    return f"/{'v1/models' if kind == 'models' else kind}{build}"


LLAMA_SERVER_FACTS = Importer(
    format="llama-server-facts",
    about="what llama-server says of itself",
    recognises=lambda source: _kind(source.head) is not None,
    read=_read,
    generation=_generation,
    unknown=(
        "any speed, latency or throughput",
        "what was asked of the server",
        "which bytes the model and the program have",
        "on which host it ran",
    ),
    content=True,
)
"""The importer."""
