"""The engine: crashes, suppressions, frozen documents, focus, exit codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hio_validate import engine
from hio_validate.diagnostic import Diagnostic, Location, Report, Severity
from hio_validate.history import Folder
from hio_validate.repo import Repo, load
from hio_validate.rules import RULES
from hio_validate.rules.base import Problem, Rule, Scope, at
from tests.small_repo import ENTRY, FILES, MATRIX, TWO, baseline, matrix, pin, stack, write

SITE = "manifests/sites/lab.yaml"
GATES = ["unknown-relied-on", "retest-open"]
"""What is honest and open in the small repository, in reading order."""


def _repo(root: Path, changed: Mapping[str, str | bytes] | None = None) -> Repo:
    return load(Folder(write(root, {**FILES, **(changed or {})})))


def _ids(report: Report) -> list[str]:
    return [found.rule for found in report.diagnostics]


def _with(rule: Rule) -> list[Rule]:
    """All rules, one of them replaced by this."""
    return [rule if each.id == rule.id else each for each in RULES]


def _rule(id_: str) -> Rule:
    return next(rule for rule in RULES if rule.id == id_)


def _raises(*_: object) -> Iterator[Problem]:
    raise ZeroDivisionError("a fault of ours")
    yield


def _raises_late(item: object, *_: object) -> Iterator[Problem]:
    yield Problem(at(item), "found before the fault")  # type: ignore[arg-type]
    raise KeyError("late")


@pytest.mark.parametrize(
    "broken", [rule for rule in RULES if rule.scope is not Scope.CRASH], ids=lambda rule: rule.id
)
def test_a_rule_that_raises_is_3_and_all_others_report(tmp_path: Path, broken: Rule) -> None:
    repo = _repo(tmp_path, {MATRIX: matrix(to="3"), SITE: "hio: site/v1\nname: other\nnope: 1\n"})
    report = engine.run(repo, rules=_with(broken._replace(check=_raises)))
    crashes = [found for found in report.diagnostics if found.rule == "internal-error"]
    applies = broken.scope is not Scope.DOCUMENT or not broken.kinds or any(
        item.kind in broken.kinds and item.model is not None for item in repo.items
    )  # fmt: skip
    assert bool(crashes) == applies
    assert all(
        f"the rule {broken.id} failed here: ZeroDivisionError: a fault of ours" in each.message
        for each in crashes
    )
    assert report.exit_code == (3 if applies else 1)
    expected = {id_ for id_ in _ids(engine.run(repo)) if id_ != broken.id}
    assert expected <= set(_ids(report))


def test_a_crash_names_the_document_it_happened_on(tmp_path: Path) -> None:
    report = engine.run(_repo(tmp_path), rules=_with(_rule("retest-open")._replace(check=_raises)))
    assert [found.location.file for found in report.diagnostics if found.rule == "internal-error"] == [MATRIX]


def test_a_rule_that_fails_half_way_gives_the_crash_only(tmp_path: Path) -> None:
    report = engine.run(_repo(tmp_path), rules=_with(_rule("retest-open")._replace(check=_raises_late)))
    assert sorted(_ids(report)) == ["internal-error", "unknown-relied-on"]
    assert report.exit_code == 3


def test_a_crash_cannot_be_suppressed(tmp_path: Path) -> None:
    document = "# hio: allow internal-error — no\n" + matrix()
    report = engine.run(
        _repo(tmp_path, {MATRIX: document}), rules=_with(_rule("retest-open")._replace(check=_raises))
    )
    assert sorted(_ids(report)) == ["internal-error", "unknown-relied-on", "unused-suppression"]


WRONG = '  - {factor: server.threads, from: "1", to: "3", disposition: retest}'


def _suppressing(comment: str) -> dict[str, str | bytes]:
    return {MATRIX: matrix(to="3").replace(WRONG, f"{WRONG}  {comment}")}


def test_a_suppression_keeps_its_rule_quiet_on_its_line_and_is_counted(tmp_path: Path) -> None:
    report = engine.run(_repo(tmp_path, _suppressing("# hio: allow value-mismatch — agreed in review")))
    assert _ids(report) == GATES
    assert [(each.diagnostic.rule, each.reason) for each in report.suppressed] == [
        ("value-mismatch", "agreed in review")
    ]
    assert report.exit_code == 0


@pytest.mark.parametrize("dash", ["—", "–", "-", "--"])
def test_any_dash_may_stand_before_the_reason(tmp_path: Path, dash: str) -> None:
    report = engine.run(_repo(tmp_path, _suppressing(f"# hio: allow value-mismatch {dash} agreed")))
    assert [each.reason for each in report.suppressed] == ["agreed"]


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# hio: allow value-mismatch", "give the reason after a dash"),
        ("# hio: allow value-mismatch —", "give the reason after a dash"),
        ("# hio: allow undecided-row — agreed", "keeps nothing quiet on this line"),
        ("# hio: allow value-mismach — agreed", "names no rule"),
    ],
)
def test_a_suppression_without_effect_is_an_error_and_hides_nothing(
    tmp_path: Path, comment: str, said: str
) -> None:
    report = engine.run(_repo(tmp_path, _suppressing(comment)))
    assert sorted(_ids(report)) == sorted([*GATES, "unused-suppression", "value-mismatch"])
    unused = next(found for found in report.diagnostics if found.rule == "unused-suppression")
    assert said in unused.message
    assert unused.location.line == 7
    assert not report.suppressed
    assert report.exit_code == 1


def test_a_suppression_on_another_line_hides_nothing(tmp_path: Path) -> None:
    report = engine.run(_repo(tmp_path, {MATRIX: "# hio: allow value-mismatch — agreed\n" + matrix(to="3")}))
    assert sorted(_ids(report)) == sorted([*GATES, "unused-suppression", "value-mismatch"])


def test_what_pins_say_cannot_be_suppressed(tmp_path: Path) -> None:
    comment = "  # hio: allow pin-mismatch — no  # hio: allow broken-lineage — no"
    wrong = baseline(pinned=pin("base", "other bytes")).replace("pins: ", "pins:  ")
    entry = "\n".join(each + (comment if each.startswith("pins") else "") for each in wrong.split("\n"))
    report = engine.run(_repo(tmp_path, {ENTRY: entry}))
    assert "pin-mismatch" in _ids(report)
    assert "unused-suppression" in _ids(report)
    assert not report.suppressed


def test_one_suppression_covers_every_finding_of_its_rule_on_the_line(tmp_path: Path) -> None:
    both = _suppressing("# hio: allow value-mismatch — agreed")[MATRIX]
    assert isinstance(both, str)
    report = engine.run(_repo(tmp_path, {MATRIX: both.replace('from: "1"', 'from: "9"')}))
    assert _ids(report) == GATES
    assert len(report.suppressed) == 2


STAMP = "judged_by: {hio: 0.1.0, rules: %d}\n"


def _newer(id_: str, since: int) -> list[Rule]:
    return _with(_rule(id_)._replace(since=since))


def _nosy(**more: object) -> Rule:
    """A suppressible rule about entries that always finds something."""

    def check(item: object, *_: object) -> Iterator[Problem]:
        yield Problem(at(item), "noticed")  # type: ignore[arg-type]

    return Rule("nosy", Scope.DOCUMENT, Severity.ERROR, "noticed", check, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("since", "weight"), [(1, Severity.ERROR), (2, Severity.ERROR), (3, Severity.NOTE)])
def test_a_stamped_document_gets_notes_from_newer_rules(tmp_path: Path, since: int, weight: Severity) -> None:
    repo = _repo(tmp_path, {ENTRY: baseline() + STAMP % 2})
    report = engine.run(repo, rules=[*RULES, _nosy(since=since, kinds=("entry/v1",))])
    assert [found.severity for found in report.diagnostics if found.rule == "nosy"] == [weight]


@pytest.mark.parametrize(("since", "weight"), [(2, Severity.ERROR), (3, Severity.NOTE)])
def test_what_an_entry_pins_is_judged_by_the_rules_of_its_first_pin(
    tmp_path: Path, since: int, weight: Severity
) -> None:
    first = baseline() + STAMP % 2
    second = baseline("b1").replace("after: []", f'after: ["{pin("b0", first)}"]') + STAMP % 9
    repo = _repo(tmp_path, {ENTRY: first, ENTRY.replace("b0", "b1"): second})
    report = engine.run(repo, rules=[*RULES, _nosy(since=since, kinds=("stack/v1",))])
    found = {each.location.file: each.severity for each in report.diagnostics if each.rule == "nosy"}
    assert found[f"{TWO.replace('two', 'base')}"] is weight
    assert found[TWO] is Severity.ERROR, "nobody pins it"


def test_rules_about_pins_stay_errors_on_stamped_documents(tmp_path: Path) -> None:
    repo = _repo(tmp_path, {ENTRY: baseline(pinned=pin("base", "other bytes")) + STAMP % 1})
    report = engine.run(repo, rules=_newer("pin-mismatch", 9))
    assert [found.severity for found in report.diagnostics if found.rule == "pin-mismatch"] == [
        Severity.ERROR
    ]


def test_with_a_focus_only_its_files_are_told(tmp_path: Path) -> None:
    repo = _repo(tmp_path, {MATRIX: matrix(to="3"), SITE: "hio: site/v1\nname: other\n"})
    report = engine.run(repo, focus=frozenset({SITE}))
    assert {found.location.file for found in report.diagnostics} == {SITE}
    assert report.documents == 1
    assert engine.run(repo, focus=frozenset()).exit_code == 3


def test_a_crash_is_told_whatever_the_focus(tmp_path: Path) -> None:
    rules = _with(_rule("retest-open")._replace(check=_raises))
    assert engine.run(_repo(tmp_path), rules=rules, focus=frozenset({SITE})).exit_code == 3


@pytest.mark.parametrize(
    "bad", [b"a: [", b"a: 1\na: 2\n", b"\xff\xfe", b"", b"- 1\n", b"hio: nope\n", b"hio: stack/v1\n"]
)
def test_one_bad_file_stops_no_other(tmp_path: Path, bad: bytes) -> None:
    repo = _repo(tmp_path, {SITE: bad, MATRIX: matrix(to="3")})
    report = engine.run(repo)
    assert {found.rule for found in report.diagnostics if found.location.file == MATRIX} == {
        *GATES,
        "value-mismatch",
    }
    assert {found.location.file for found in report.diagnostics} == {MATRIX, SITE}
    assert report.exit_code == 1


def test_findings_come_in_reading_order_and_once(tmp_path: Path) -> None:
    report = engine.run(
        _repo(tmp_path, {MATRIX: matrix(to="3"), SITE: "hio: site/v1\nname: other\nnope: 1\n"})
    )
    places = [found.location for found in report.diagnostics]
    assert places == sorted(places)
    twice = engine.run(_repo(tmp_path), rules=[*RULES, _nosy(), _nosy()])
    assert len(twice.diagnostics) == len(set(twice.diagnostics))


def _found(severity: Severity, rule: str = "some-rule") -> Diagnostic:
    return Diagnostic(rule, severity, "said", Location("x.yaml", 1, 1))


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (Report((), documents=1), 0),
        (Report(()), 3),
        (Report((_found(Severity.NOTE),), documents=1), 0),
        (Report((_found(Severity.GATE),), documents=1), 0),
        (Report((_found(Severity.GATE),), documents=1, gates=("deploy",)), 1),
        (Report((_found(Severity.NOTE),), documents=1, gates=("deploy",)), 0),
        (Report((_found(Severity.ERROR),), documents=1), 1),
        (Report((_found(Severity.ERROR),), documents=1, unreadable=("x: no",)), 3),
        (Report((_found(Severity.ERROR, "internal-error"),), documents=1), 3),
        (Report((), documents=1, unreadable=("x: no",)), 3),
        (Report((_found(Severity.ERROR),)), 3),
    ],
)
def test_could_not_check_goes_before_found_something(report: Report, code: int) -> None:
    assert report.exit_code == code


def test_an_unreadable_file_is_told_and_the_others_are_judged(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "manifests/sites/gone.yaml").symlink_to("nowhere.yaml")
    report = engine.run(load(Folder(tmp_path)))
    assert report.unreadable == ("manifests/sites/gone.yaml: a symbolic link; put the file itself here",)
    assert _ids(report) == GATES
    assert report.exit_code == 3


def test_a_stack_that_two_matrices_use_is_resolved_alike(tmp_path: Path) -> None:
    other = matrix().replace("base-to-two", "again")
    report = engine.run(
        _repo(tmp_path, {MATRIX.replace("base-to-two", "again"): other, TWO: stack("two", 4)})
    )
    assert [found.rule for found in report.diagnostics].count("value-mismatch") == 2
