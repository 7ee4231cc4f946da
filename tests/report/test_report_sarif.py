"""SARIF: valid against the 2.1.0 schema, and the parts that code scanning relies on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from jsonschema import Draft4Validator, ValidationError
from report_samples import (
    CLEAN,
    ERROR,
    GATE,
    MIXED,
    NOTE,
    NOTHING,
    QUIET,
    RULES,
    STACK,
    UNREADABLE,
    relaxed,
    reports,
)

from hio_validate.diagnostic import Diagnostic, Location, Report
from hio_validate.report.sarif import render

SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text("utf-8"))
VALIDATOR = Draft4Validator(SCHEMA)
RELATIVE_URI = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*")


def run_of(report: Report) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(render(report, rules=RULES))["runs"][0]
    return run


def result_of(found: Diagnostic) -> dict[str, Any]:
    result: dict[str, Any] = run_of(Report((found,), documents=1, rules=1))["results"][0]
    return result


@given(report=reports)
@relaxed
def test_any_report_is_valid(report: Report) -> None:
    VALIDATOR.validate(json.loads(render(report, rules=RULES)))


def test_the_schema_is_the_one_of_sarif_and_refuses() -> None:
    log = json.loads(render(MIXED, rules=RULES))
    assert "SARIF" in SCHEMA["title"] and log["version"] == "2.1.0"
    log["runs"][0]["results"][0]["level"] = "gate"
    with pytest.raises(ValidationError, match="'gate' is not one of"):
        VALIDATOR.validate(log)


def test_levels() -> None:
    levels = {
        one["ruleId"]: one["level"] for one in run_of(Report((ERROR, GATE, NOTE), documents=1))["results"]
    }
    assert levels == {ERROR.rule: "error", GATE.rule: "warning", NOTE.rule: "note"}


def test_rules_are_listed_with_summary_level_and_help() -> None:
    listed = run_of(CLEAN)["tool"]["driver"]["rules"]
    assert listed[1] == {
        "id": "undecided-retest",
        "shortDescription": {"text": "A row still waits for its measurement."},
        "help": {"text": "hio explain undecided-retest"},
        "defaultConfiguration": {"level": "warning"},
    }
    assert [rule["id"] for rule in listed] == [rule.id for rule in RULES]


@given(report=reports)
@relaxed
def test_each_result_points_at_its_rule(report: Report) -> None:
    run = run_of(report)
    listed = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(run["results"]) == len(report.diagnostics) + len(report.suppressed)
    for result in run["results"]:
        assert listed[result["ruleIndex"]] == result["ruleId"]


def test_columns_count_code_points() -> None:
    assert run_of(MIXED)["columnKind"] == "unicodeCodePoints"
    assert result_of(ERROR)["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 12,
        "startColumn": 5,
    }


def test_a_file_as_a_whole_has_no_region_and_an_unknown_column_is_left_out() -> None:
    assert "region" not in result_of(NOTE)["locations"][0]["physicalLocation"]
    no_column = result_of(ERROR._replace(location=Location(STACK, 3)))
    assert no_column["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}


def test_help_and_related_places_are_kept() -> None:
    result = result_of(ERROR)
    assert result["message"]["text"] == f"{ERROR.message}\nhelp: {ERROR.help}"
    related = result["relatedLocations"][0]
    assert related["message"]["text"] == "server.threads is set here"
    assert related["physicalLocation"]["artifactLocation"]["uri"] == STACK
    assert related["physicalLocation"]["region"] == {"startLine": 8, "startColumn": 7}
    assert "relatedLocations" not in result_of(GATE)


def test_uris_are_percent_encoded() -> None:
    place = result_of(ERROR._replace(location=Location("matrix/a b%c#d/é:1.yaml", 1, 1)))["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "matrix/a%20b%25c%23d/%C3%A9%3A1.yaml"


def test_a_file_name_that_is_not_utf8_still_gets_a_uri() -> None:
    place = result_of(ERROR._replace(location=Location("a\udcff.yaml", 1, 1)))["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a%ED%B3%BF.yaml"


@given(report=reports)
@relaxed
def test_uris_lead_back_to_the_files(report: Report) -> None:
    results = run_of(report)["results"]
    uris = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results]
    assert all(RELATIVE_URI.fullmatch(uri) for uri in uris)
    found = [*report.diagnostics, *(one.diagnostic for one in report.suppressed)]
    files = {one.location.file for one in found}
    assert {unquote(uri, errors="surrogatepass") for uri in uris} == files


def test_suppressions_are_told_of_every_result_once_there_is_one() -> None:
    results = run_of(MIXED)["results"]
    told = {one["ruleId"]: one["suppressions"] for one in results}
    assert told.pop(QUIET.diagnostic.rule) == [{"kind": "inSource", "justification": QUIET.reason}]
    assert list(told.values()) == [[], [], []]
    assert "suppressions" not in result_of(ERROR)


def fingerprint(found: Diagnostic) -> str:
    return str(result_of(found)["partialFingerprints"]["hioFinding/v1"])


def test_a_finding_that_moves_stays_the_same_finding() -> None:
    moved = ERROR._replace(location=Location(ERROR.location.file, 99, 1), help="other", source_line="x")
    assert fingerprint(moved) == fingerprint(ERROR)


def test_the_fingerprint_is_the_same_in_every_release() -> None:
    # Changing it makes every known finding of every repository look new.
    assert fingerprint(ERROR) == "b1e7e59b79761400631abfdc6acea1fd9157ff09dad890a3b42da91d73058dba"


@pytest.mark.parametrize(
    "other",
    [
        ERROR._replace(rule="other"),
        ERROR._replace(message="other"),
        ERROR._replace(location=Location("other.yaml", 12, 5)),
    ],
)
def test_another_rule_message_or_file_is_another_finding(other: Diagnostic) -> None:
    assert fingerprint(other) != fingerprint(ERROR)


def test_a_check_that_was_not_complete_does_not_look_clean() -> None:
    for report, texts in (
        (NOTHING, ["nothing matched"]),
        (UNREADABLE, ["1 file unreadable", *UNREADABLE.unreadable]),
    ):
        invocation = run_of(report)["invocations"][0]
        assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 3)
        assert [one["message"]["text"] for one in invocation["toolExecutionNotifications"]] == texts
    assert run_of(CLEAN)["invocations"][0] == {
        "executionSuccessful": True,
        "exitCode": 0,
        "toolExecutionNotifications": [],
    }
