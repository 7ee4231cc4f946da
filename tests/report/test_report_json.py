"""JSON: the versioned shape, against the schema that is published with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator, ValidationError
from report_samples import AUDITED, ERROR, MIXED, NOTHING, QUIET, relaxed, reports

from hio_validate import __version__
from hio_validate.diagnostic import Report
from hio_validate.report.json_ import render

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "report-v1.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def objects_with_schema(
    value: Any, schema: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each object of the output with the part of the schema that describes it."""
    schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if isinstance(value, list):
        for item in value:
            yield from objects_with_schema(item, schema["items"])
    if isinstance(value, dict):
        yield value, schema
        for key, item in value.items():
            yield from objects_with_schema(item, schema["properties"][key])


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@given(report=reports)
@relaxed
def test_any_report_is_valid(report: Report) -> None:
    VALIDATOR.validate(json.loads(render(report)))


def test_the_schema_tells_every_key_and_promises_it() -> None:
    output = json.loads(render(MIXED._replace(audited=AUDITED.audited)))
    pairs = list(objects_with_schema(output, SCHEMA))
    assert len(pairs) > 11
    for value, schema in pairs:
        assert list(value) == list(schema["properties"])
        assert schema["required"] == [key for key in value if key != "audited"]


@pytest.mark.parametrize("key", ["version", "tool", "summary", "diagnostics", "suppressed", "unreadable"])
def test_the_schema_misses_a_missing_key(key: str) -> None:
    output = json.loads(render(MIXED))
    del output[key]
    with pytest.raises(ValidationError, match=f"'{key}' is a required property"):
        VALIDATOR.validate(output)


def test_the_schema_refuses_an_unknown_severity() -> None:
    output = json.loads(render(MIXED))
    output["diagnostics"][0]["severity"] = "warning"
    with pytest.raises(ValidationError, match="'warning' is not one of"):
        VALIDATOR.validate(output)


def test_what_a_report_says_is_all_there() -> None:
    output = json.loads(render(MIXED))
    assert output["version"] == 1
    assert output["tool"] == {"name": "hio", "version": __version__}
    assert output["summary"] == {
        "documents": 12,
        "rules": 34,
        "errors": 1,
        "gates": 1,
        "notes": 1,
        "suppressed": 1,
        "unreadable": 0,
        "gates_asked_for": [],
        "exit_code": 1,
    }
    found = next(one for one in output["diagnostics"] if one["rule"] == ERROR.rule)
    assert found["location"] == {"file": ERROR.location.file, "line": 12, "column": 5}
    assert (found["message"], found["help"], found["source_line"]) == (
        ERROR.message,
        ERROR.help,
        ERROR.source_line,
    )
    assert found["related"][0]["location"]["line"] == 8
    assert output["suppressed"][0]["reason"] == QUIET.reason
    assert output["suppressed"][0]["diagnostic"]["rule"] == QUIET.diagnostic.rule


def test_nothing_matched_is_exit_3() -> None:
    assert json.loads(render(NOTHING))["summary"]["exit_code"] == 3


@given(report=reports)
@relaxed
def test_text_survives_unchanged(report: Report) -> None:
    output = json.loads(render(report))
    # A consumer joins two lone surrogates that stand side by side, as JSON has no other way to say it.
    texts = {one["message"].encode("utf-16", "surrogatepass") for one in output["diagnostics"]}
    assert texts == {one.message.encode("utf-16", "surrogatepass") for one in report.diagnostics}


def test_other_scripts_stay_readable() -> None:
    assert "世界" in render(Report((), documents=1, rules=1, unreadable=("世界.yaml: Permission denied",)))
