"""A verification as a person, a cron job and a watcher get it."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hio_validate.execute.verified import Check, Verdict, Verification, judged, unseen
from hio_validate.report.verification import as_shape, changes, render, summary
from hio_validate.report.visible import columns

PIN = f"base@sha256:{'a' * 64}"
VERDICTS: tuple[Verdict, ...] = ("equal", "differs", "not observable")


def seen(*checks: Check, pid: int = 7) -> Verification:
    return Verification(PIN, pid, checks)


checks = st.builds(
    Check,
    name=st.text(min_size=1, max_size=60),
    declared=st.text(max_size=120),
    observed=st.text(max_size=120),
    verdict=st.sampled_from(VERDICTS),
)


@given(st.lists(checks, max_size=6), st.integers(60, 160), st.booleans())
@example([Check("0" * 7 + "\x1f" * 5, "", "\x1f" * 3, "differs")], 60, False)
@example([Check("\x1f" * 60, "", "", "differs"), Check("\x08" * 60, "", "", "differs")], 60, False)
@example([Check("\u0941", "\u0941" * 9, "0" * 60, "differs")], 60, False)
@example([Check("\u5bbd" * 60, "\u5bbd" * 90, "\u5bbd a" * 40, "differs")], 60, False)
@example([Check("\u5bbd", "", "\u5bbd" * 90, "differs"), Check("b", "", "\u5bbd" * 90, "differs")], 60, False)
def test_no_line_is_wider_than_the_terminal_and_each_verdict_has_its_place(
    each: list[Check], width: int, all_: bool
) -> None:
    found = seen(*each)
    page = render(found, "here/tiny", width, all_)
    assert all(columns(line) <= width for line in page.split("\n"))
    assert ("DIFFERS\n" in page) == bool(found.differing)
    assert ("NOT OBSERVABLE\n" in page) == bool(found.not_observable)
    counts = as_shape(found, "here/tiny")["counts"]
    assert sum(counts.values()) == len(each)


def test_nothing_checked_and_anything_unseen_is_not_proven() -> None:
    assert not seen().is_proven
    assert "not proven, 1 not observable of 2 points, none differs" in summary(
        seen(judged("a", "1", "1", True), unseen("b", "1", "why")), "s/m"
    )
    assert "DRIFT, 1 of 2 points differ, 1 not observable" in summary(
        seen(judged("a", "1", "2", False), unseen("b", "1", "why")), "s/m"
    )
    assert "proven, all 1 points equal" in summary(seen(judged("a", "1", "1", True)), "s/m")


def test_a_digest_is_shortened_and_one_reason_is_told_once() -> None:
    page = render(seen(judged("executable", "b" * 64, "c" * 64, False)), "s/m")
    assert "bbbbbbbbbbbb…" in page and "b" * 13 not in page
    page = render(seen(*(unseen(name, "", "no process") for name in ("argv", "swap"))), "s/m")
    assert "  argv, swap: no process\n" in page


def test_only_what_became_of_a_check_is_a_change() -> None:
    before = seen(
        judged("threads", "1", "9 threads", True), judged("swap", "0", "0", True), unseen("a", "1", "x")
    )
    now = seen(judged("threads", "1", "10 threads", True), judged("swap", "0", "4096 bytes", False))
    assert list(changes(before, before)) == []
    assert list(changes(before, now)) == ["swap: differs: 4096 bytes, declared 0", "a: no longer told apart"]
    assert list(changes(now, before)) == ["swap: equal", "a: not observable: x, declared 1"]
    assert next(changes(now, seen(pid=8))) == "process 8 in the place of 7"
