"""One definition per way of counting: units, directions, and what is never compared."""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path

import pytest

import hio_validate
from hio_validate.evidence.definitions import (
    DEFINITIONS,
    STATISTICS,
    UNITS,
    UNKNOWN,
    in_first_unit,
    why_not_comparable,
)
from hio_validate.evidence.metrics import METRICS
from hio_validate.evidence.sides import DONE


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition_has_units_and_a_sentence_of_its_own(name: str) -> None:
    definition = DEFINITIONS[name]
    assert definition.dimension in {*UNITS, "any"}
    assert definition.better in ("higher", "lower", None)
    assert [each.about for each in DEFINITIONS.values()].count(definition.about) == 1


def test_definitions_of_one_quantity_stand_together() -> None:
    told = [quantity for quantity, _ in groupby(each.quantity for each in DEFINITIONS.values())]
    assert sorted(told) == sorted(set(told))


def test_each_definition_is_how_some_importer_or_metric_counts_or_work_that_is_compared() -> None:
    home = Path(hio_validate.__file__).parent
    sources = [*(home / "importing/results").glob("*.py"), home / "evidence/metrics.py"]
    named = {
        node.value
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    }
    assert DEFINITIONS.keys() - {UNKNOWN} <= named | DONE.keys()
    used = {DEFINITIONS[name].dimension for name in DEFINITIONS if name != UNKNOWN}
    assert UNITS.keys() <= used | {"any"}


@pytest.mark.parametrize("dimension", UNITS)
def test_a_dimension_begins_with_the_unit_that_all_are_told_in(dimension: str) -> None:
    assert next(iter(UNITS[dimension].values())) == 1


@pytest.mark.parametrize("metric", METRICS)
def test_what_hio_measures_has_a_definition_in_its_unit_and_direction(metric: str) -> None:
    mine = METRICS[metric]
    definition = DEFINITIONS[mine.definition]
    assert mine.unit in UNITS[definition.dimension]
    assert mine.better == definition.better


def test_the_same_name_is_not_the_same_metric() -> None:
    said = why_not_comparable("itl-per-gap", "itl-request-mean")
    assert said is not None and "counted in two ways" in said
    assert DEFINITIONS["itl-per-gap"].about in said and DEFINITIONS["itl-request-mean"].about in said


@pytest.mark.parametrize("name", DEFINITIONS)
def test_unknown_is_compared_with_nothing_and_each_other_one_with_itself(name: str) -> None:
    assert why_not_comparable(name, UNKNOWN) and why_not_comparable(UNKNOWN, name)
    assert (why_not_comparable(name, name) is None) == (name != UNKNOWN)


def test_two_quantities_are_told_apart() -> None:
    assert why_not_comparable("decode-rate-n", "latency-request") == "one is decode rate, the other latency"


def test_a_value_in_another_unit() -> None:
    assert in_first_unit(250.0, "ms", "ttft-client") == 0.25
    assert in_first_unit(1.0, "token/s", "ttft-client") is None
    assert in_first_unit(1.0, "ms", UNKNOWN) is None


def test_statistics_have_one_name_each() -> None:
    assert len(set(STATISTICS)) == len(STATISTICS)
    assert "p50" not in STATISTICS, "it is the median"
