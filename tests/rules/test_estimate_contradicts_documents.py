"""Estimates of another arithmetic than hio's: an older one is told and not judged, a newer one cannot be checked."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from hio_validate.diagnostic import Diagnostic, Severity
from hio_validate.engine import run
from hio_validate.estimating.bounds import arithmetic
from hio_validate.estimating.bounds.command import of_kept
from hio_validate.history import Folder
from hio_validate.repo import load
from tests.cli.console import hio
from tests.rules.cases import HERE

RULE, MEMORY = "estimate-contradicts-documents", "estimate-contradicts-memory"
CASES = HERE / RULE
KEPT = "manifests/services/lab/tiny/estimates/e1.yaml"


def _found(root: Path, rule: str = RULE) -> list[Diagnostic]:
    return [each for each in run(load(Folder(root))).diagnostics if each.rule == rule]


@pytest.mark.parametrize(
    ("case", "line"),
    [
        pytest.param("fail-left-out", 21, id="says-none"),
        pytest.param("fail-good-before-bad", 97, id="says-it"),
    ],
)
def test_an_estimate_of_an_older_arithmetic_gets_one_note(
    case: str, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {each.severity for each in _found(CASES / case)} == {Severity.ERROR}
    monkeypatch.setattr(arithmetic, "ARITHMETIC", 2)
    (note,) = _found(CASES / case)
    assert (note.severity, note.location.line) == (Severity.NOTE, line)
    assert "computed with arithmetic 1, today's is 2" in note.message
    assert note.help == (
        "hio estimate base --service lab/tiny --fixture short --metric decode_tps --ceilings box --shape tiny --write "
        "--name OTHER computes it anew; take this one away then"
    )


def test_what_has_to_be_held_is_not_judged_by_another_arithmetic_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = HERE / MEMORY / "fail-outcome"
    assert {each.severity for each in _found(root, MEMORY)} == {Severity.ERROR}
    monkeypatch.setattr(arithmetic, "ARITHMETIC", 2)
    assert _found(root, MEMORY) == []
    assert [each.severity for each in _found(root)] == [Severity.NOTE]


def test_what_the_note_says_to_type_computes_it_anew(tmp_path: Path) -> None:
    shutil.copytree(CASES / "pass-computed", tmp_path, dirs_exist_ok=True)
    estimate = load(Folder(tmp_path)).find("estimate/v1", "e1", "lab/tiny")
    assert estimate is not None
    words = shlex.split(f"{of_kept(estimate.model)} --write --name other --assume prompt-tokens=6")
    said = hio(tmp_path, *words[1:], "--assume", "generated-tokens=8")
    assert said.code == 0, said.all
    (other, first) = (
        load(Folder(tmp_path)).find("estimate/v1", name, "lab/tiny") for name in ("other", "e1")
    )
    assert other is not None and first is not None
    assert other.model.arithmetic == arithmetic.ARITHMETIC
    assert other.model.terms == first.model.terms and other.model.bound == first.model.bound
    assert _found(tmp_path) == []


def test_a_person_who_names_no_arithmetic_is_judged_by_todays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "ARITHMETIC", 2)
    assert [each.severity for each in _found(CASES / "fail-by-hand")] == [Severity.ERROR, Severity.ERROR]


def test_what_a_newer_hio_computed_could_not_be_checked_and_nothing_else_is_said() -> None:
    (gate,) = _found(CASES / "fail-newer-arithmetic")
    assert gate.severity is Severity.GATE
    assert "computed with arithmetic 999; this hio knows 1 and cannot compute it again" in gate.message
