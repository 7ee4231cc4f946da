"""A definition, what is compiled from it and its JSON Schema accept and refuse the same: editor and hio agree."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from pydantic_core import ValidationError

from hio_validate.json_schema import schemas
from hio_validate.models import KINDS, reader
from hio_validate.models.definitions import DEFINITIONS
from tests.models.documents import documents, spoilt

EXAMPLES = settings(
    deadline=None,
    max_examples=100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


generated = cache(schemas)
"""What this version makes of its definitions, made once for all kinds."""


@cache
def schema(kind: str) -> Draft202012Validator:
    shape = json.loads(generated()[f"{kind.partition('/')[0]}.schema.json"])
    Draft202012Validator.check_schema(shape)
    return Draft202012Validator(shape)


@cache
def definition(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(DEFINITIONS[kind])


def model_accepts(kind: str, document: Any) -> bool:
    """Whether both the definition and what is compiled from it accept; where not, for the same reasons."""
    defined = problems(definition(kind), document)
    assert problems(reader(kind), document) == defined
    return not defined


def problems(validator: Any, document: Any) -> list[dict[str, Any]]:
    try:
        validator.validate_python(document)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(st.data())
def test_all_accept_what_is_generated_from_the_definition(kind: str, data: st.DataObject) -> None:
    document = data.draw(documents(kind))
    assert model_accepts(kind, document)
    schema(kind).validate(document)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(st.data())
def test_all_refuse_the_same_spoilt_documents(kind: str, data: st.DataObject) -> None:
    document = data.draw(spoilt(kind))
    assert schema(kind).is_valid(document) is model_accepts(kind, document)


def properties(shape: Any, at: str = "") -> list[tuple[str, Any]]:
    """Every key that a schema names, with what the schema says about it."""
    if isinstance(shape, list):
        return [each for part in shape for each in properties(part, at)]
    if not isinstance(shape, dict):
        return []
    named = shape.get("properties", {})
    own = [(f"{at}/{name}", about) for name, about in named.items()] if isinstance(named, dict) else []
    return own + [each for key, part in shape.items() for each in properties(part, f"{at}/{key}")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_says_what_it_is_for(kind: str) -> None:
    fields = properties(schema(kind).schema)
    assert len(fields) > 5
    for at, about in fields:
        assert about.get("description", "").endswith((".", "`.")), at


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_titled_with_its_kind_and_says_its_dialect(kind: str) -> None:
    assert schema(kind).schema["title"] == kind
    assert schema(kind).schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("kind", KINDS)
def test_the_written_schema_is_the_one_of_this_version(kind: str) -> None:
    name = f"{kind.partition('/')[0]}.schema.json"
    assert (Path(__file__).parents[2] / "schemas" / name).read_bytes() == generated()[name]


SITE = {"hio": "site/v1", "name": "lab"}


@pytest.mark.parametrize("port", [1.0, 8080.0])
def test_exception_json_schema_calls_a_whole_float_an_integer(port: float) -> None:
    document = {**SITE, "services": {"x": {"port": port}}}
    assert schema("site/v1").is_valid(document)
    assert not model_accepts("site/v1", document)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_exception_json_schema_knows_no_nan_and_a_model_takes_none(number: float) -> None:
    document = {**SITE, "services": {"x": {"limits": {"memory": number}}}}
    assert schema("site/v1").is_valid(document)
    assert not model_accepts("site/v1", document)


ENTRY = {
    "hio": "entry/v1", "id": "e", "service": "lab/x", "after": [], "by": "someone", "at": "2026-09-16T23:58:00Z",
    "kind": "increment", "factor": "threads",
}  # fmt: skip


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_measured_value_is_a_finite_number(number: float) -> None:
    result = {"metric": "m", "from": "a", "to": "b", "statistic": "mean", "change_percent": 1.5}
    assert model_accepts("entry/v1", {**ENTRY, "result": result})
    assert not model_accepts("entry/v1", {**ENTRY, "result": {**result, "change_percent": number}})


MATRIX = {"hio": "matrix/v1", "name": "m", "service": "lab/x", "parent": "a", "candidate": "b"}
STACK = {"hio": "stack/v1", "name": "s", "processes": {"server": {"engine": "llama-server"}}}


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        *(("matrix/v1", {**MATRIX, "rows": [row]}) for row in ("x", [], {}, None, 1, True, {"preserved": []})),
        *(("matrix/v1", {**MATRIX, "rows": rows}) for rows in (None, {}, "x")),
        *(("entry/v1", {**ENTRY, "kind": kind}) for kind in ("baselin", None, 1, True, [], {})),
        *(("stack/v1", {**STACK, "name": name}) for name in ("s\n", "", "a b", "-s", "n" * 101, None, 1, True)),
        *(("stack/v1", {**STACK, "processes": each}) for each in ({}, [], None, {"a b": {"engine": "x"}}, {"s\n": {}})),
        *(("stack/v1", {**STACK, "processes": {"s": {"engine": "x", "env": env}}})
          for env in ({"A B": "x"}, {"A\n": "x"}, {"": "x"}, {"1A": "x"}, {"A" * 201: "x"}, {"A": 1}, [], None)),
        ("entry/v1", {**ENTRY, "after": ["e@sha256:" + "0" * 63]}),
        ("entry/v1", {**ENTRY, "after": ["e@sha256:" + "0" * 64 + "\n"]}),
        ("entry/v1", {**ENTRY, "after": ["e@sha256:" + "A" * 64]}),
        ("entry/v1", {**ENTRY, "at": "2026-09-16T23:58:00Z\n"}),
        ("entry/v1", {**ENTRY, "at": "2026-09-16"}),
        ("site/v1", {**SITE, "services": {"x": {"port": 0}}}),
        ("site/v1", {**SITE, "services": {"x": {"port": 65536}}}),
        ("site/v1", {**SITE, "services": {"x": {"port": True}}}),
        ("site/v1", {**SITE, "extra": 1}),
        ("site/v1", []),
        ("site/v1", None),
    ],
)  # fmt: skip
def test_all_refuse(kind: str, document: Any) -> None:
    assert not schema(kind).is_valid(document)
    assert not model_accepts(kind, document)
