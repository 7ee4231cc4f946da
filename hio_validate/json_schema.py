"""The JSON Schemas of all kinds, generated from the definitions, for editors and other tools.

Invariant: a schema accepts exactly the documents its model accepts (tests/models/test_schema.py). Two things
no schema can say: JSON Schema calls 1.0 an integer, and knows neither NaN nor the infinities.
"""

from __future__ import annotations

import json

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from hio_validate.models.definitions import DEFINITIONS


def schemas() -> dict[str, bytes]:
    """File name -> the bytes of the JSON Schema of one kind."""
    return {f"{kind.partition('/')[0]}.schema.json": _schema(kind) for kind in DEFINITIONS}


def _schema(kind: str) -> bytes:
    shape = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **TypeAdapter(DEFINITIONS[kind]).json_schema(schema_generator=_Exact),
        "title": kind,
    }
    return (json.dumps(shape, indent=2, ensure_ascii=False) + "\n").encode()


class _Exact(GenerateJsonSchema):
    """Closes the two gaps between a model and the schema that pydantic writes for it."""

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """In many regular expression dialects `$` also matches before a last line feed; in the models' it does not."""
        shape = super().str_schema(schema)
        if "pattern" in shape:
            shape["not"] = {"pattern": "\\n"}
        return shape

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Keys that the pattern refuses are refused, not ignored."""
        shape = super().dict_schema(schema)
        if "patternProperties" in shape:
            shape["additionalProperties"] = False
        return shape
