"""What llama-server says of itself has no speed."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.llama_server_facts import LLAMA_SERVER_FACTS
from tests.importing.results.reading import findings, read, source_of

PROPS = {
    "default_generation_settings": {"n_ctx": 4096, "params": {"speculative.types": "draft"}},
    "total_slots": 2, "model_path": "/models/tiny.gguf", "chat_template": "{{ x }}", "build_info": "b4567-abc1234",
    "bos_token": "", "new_key": 5,
}  # fmt: skip


def test_props(tmp_path: Path) -> None:
    (record,) = read(source_of(tmp_path, json.dumps(PROPS)), "llama-server-facts")
    assert record.subject == {
        "engine": "llama.cpp", "build": "b4567-abc1234", "model": "/models/tiny.gguf", "total_slots": 2,
        "n_ctx_slot": 4096, "speculative.types": "draft",
        "chat_template_sha256": sha256(b"{{ x }}").hexdigest(),
    }  # fmt: skip
    assert record.metrics == [] and record.tier is Tier.NEEDS_CONTEXT
    assert findings([record]) == [("identity-only", 1)]
    assert any("K/V types, flash attention" in each for each in record.unknown)
    assert record.foreign == {"new_key": 5}
    assert LLAMA_SERVER_FACTS.generation(source_of(tmp_path, json.dumps(PROPS))) == "/props of b4567-abc1234"


def test_props_of_2024_and_of_an_unknown_build(tmp_path: Path) -> None:
    old = {"default_generation_settings": {"n_ctx": 512, "model": "old.gguf"}, "total_slots": 1}
    for props in (old, PROPS | {"build_info": "b0-unknown"}):
        (record,) = read(source_of(tmp_path, json.dumps(props)), "llama-server-facts")
        assert "build" not in record.subject and "which source was built" in record.unknown
        assert str(record.subject["model"]).endswith(".gguf")


def test_slots_do_not_show_prompts(tmp_path: Path) -> None:
    slots = [
        {"id": 0, "n_ctx": 1024, "is_processing": False, "prompt": "a secret"},
        {"id": 1, "n_ctx": 1024, "is_processing": True, "params": {"seed": 1}},
    ]
    records = read(source_of(tmp_path, json.dumps(slots)), "llama-server-facts")
    assert [(each.name, each.subject["n_ctx_slot"]) for each in records] == [
        ("slot-0", 1024),
        ("slot-1", 1024),
    ]
    assert [each.workload["is_processing"] for each in records] == [False, True]
    assert "secret" not in repr(records)
    assert all("whether the slots share one pool of K/V cells" in each.unknown for each in records)


def test_models(tmp_path: Path) -> None:
    meta = {"n_params": 5, "size": 7, "ftype": "Q8_0", "n_ctx_train": 32768}
    models = {
        "object": "list",
        "data": [{"id": "a", "owned_by": "llamacpp", "meta": meta}, {"id": "b", "meta": None}],
    }
    first, second = read(source_of(tmp_path, json.dumps(models, indent=1)), "llama-server-facts")
    assert first.subject["model"] == "a" and first.subject["model_size"] == 7
    assert second.subject == {"engine": "llama.cpp", "model": "b"}


def test_what_looks_like_it_and_is_none(tmp_path: Path) -> None:
    with pytest.raises(CannotImport, match="given:1: it is no answer of /props"):
        read(source_of(tmp_path, '{"default_generation_settings": [1]}'), "llama-server-facts")
    with pytest.raises(CannotImport, match="given:1: no JSON from here on"):
        read(source_of(tmp_path, json.dumps(PROPS)[:-9]), "llama-server-facts")


def test_help_is_no_result(tmp_path: Path) -> None:
    text = "----- common params -----\n\n-h,    --help, --usage    print usage and exit\n"
    with pytest.raises(CannotImport, match=r"help text of llama-server.*hio engine learn"):
        read(source_of(tmp_path, text), "llama-server-facts")
