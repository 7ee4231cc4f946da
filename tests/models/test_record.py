"""A record gives back what its definition would, keeps it, and is built without pydantic."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter
from pydantic_core import ValidationError

from hio_validate.compile import ROOM, compiled
from hio_validate.models import KINDS, reader
from hio_validate.models.capture import Arguments, Artifact, CapturedProcess, Mapped
from hio_validate.models.definitions import DEFINITIONS
from hio_validate.models.entry import Result
from hio_validate.models.matrix import FactorRow
from tests.models.documents import documents

EXAMPLES = settings(
    deadline=None,
    max_examples=50,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
RESULT = {"metric": "m", "from": "a", "to": "b", "statistic": "mean", "change_percent": 1.5}


@cache
def definition(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(DEFINITIONS[kind])


COMPILED = compiled()


@pytest.mark.parametrize("name", COMPILED)
def test_what_runs_is_what_the_definitions_say(name: str) -> None:
    assert (ROOM / name).read_text(encoding="utf-8") == COMPILED[name]


def test_every_kind_is_defined() -> None:
    assert tuple(DEFINITIONS) == KINDS


OPTIONS = [
    dict(zip(("by_alias", "exclude_none", "exclude_defaults", "exclude_unset"), each, strict=True))
    for each in product((False, True), repeat=4)
]


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(st.data(), st.sampled_from(OPTIONS))
def test_a_record_shows_what_its_definition_shows(
    kind: str, data: st.DataObject, options: dict[str, bool]
) -> None:
    document = data.draw(documents(kind))
    defined: BaseModel = definition(kind).validate_python(document)
    record = reader(kind).validate_python(document)
    shown = record.model_dump(**options)
    assert shown == defined.model_dump(**options)
    assert list(shown) == list(defined.model_dump(**options))
    assert repr(record) == repr(defined)
    assert record.model_fields_set == defined.model_fields_set


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(st.data())
def test_a_record_is_equal_to_what_its_own_data_say(kind: str, data: st.DataObject) -> None:
    record = reader(kind).validate_python(data.draw(documents(kind)))
    again = type(record)(**record.model_dump(by_alias=True))
    assert again == record == type(record).model_validate(record.model_dump(by_alias=True))
    assert record != record.model_copy(update={"hio": "another/v1"})


def test_construction_is_judged_as_a_document_is() -> None:
    with pytest.raises(ValidationError) as refused:
        Arguments(how="guess", withheld=[""], extra=1)  # type: ignore[call-arg, arg-type]
    assert [(each["type"], each["loc"]) for each in refused.value.errors()] == [
        ("literal_error", ("how",)),
        ("string_too_short", ("withheld", 0)),
        ("extra_forbidden", ("extra",)),
    ]


def test_a_key_that_is_no_python_name_is_given_as_it_is_written() -> None:
    assert Result(**RESULT).from_arm == "a"
    with pytest.raises(ValidationError):
        Result(**{**RESULT, "from_arm": "a"})
    with pytest.raises(ValidationError):
        FactorRow(factor="x", from_=1, to=2, disposition="retest")  # type: ignore[call-arg]


def test_a_record_may_contain_records_of_its_classes_only() -> None:
    program = Artifact(how="hash", gguf={"a": 1})
    assert isinstance(program, Mapped)
    process = {"pid": 1, "family": "x", "started": {"how": "proc"}, "executable": program,
               "argv": Arguments(how="proc"), "environ": {"how": "proc"}, "threads": {"how": "proc"},
               "memory": {"how": "proc"}}  # fmt: skip
    assert CapturedProcess(**process).executable is program
    with pytest.raises(ValidationError):
        CapturedProcess(**{**process, "artifacts": {"model": Mapped(how="hash")}})
    with pytest.raises(ValidationError):
        CapturedProcess(**{**process, "executable": Arguments(how="proc")})


def test_a_record_stays_what_it_is() -> None:
    mapped = Mapped(how="hash")
    with pytest.raises(AttributeError, match="frozen"):
        mapped.how = "proc"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del mapped.how
    assert mapped == Mapped(how="hash")
    assert hash(mapped) == hash(Mapped(how="hash"))
    assert mapped != Artifact(how="hash")


def test_a_copy_leaves_the_original_and_remembers_what_was_said() -> None:
    mapped = Mapped(how="hash")
    copy = mapped.model_copy(update={"note": "moved"})
    assert (mapped.note, copy.note, copy.how) == (None, "moved", "hash")
    assert copy.model_dump(exclude_unset=True) == {"how": "hash", "note": "moved"}
    assert mapped.model_dump(exclude_unset=True) == {"how": "hash"}


def test_what_a_default_makes_is_shared_by_no_two_records() -> None:
    first, second = Arguments(how="proc"), Arguments(how="proc")
    first.withheld.append("x")
    assert second.withheld == []


@pytest.mark.parametrize("verb", ["validate", "diff", "matrix", "ledger", "capture", "engine", "settings"])
def test_no_verb_waits_for_pydantic(verb: str) -> None:
    script = f"import sys, hio_validate.cli.{verb}; sys.exit(any(n.split('.')[0] == 'pydantic' for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
