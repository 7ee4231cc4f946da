"""What differs between two stacks, and why."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hio_validate.settings.difference import Compared, Group, difference
from hio_validate.settings.resolve import resolve
from hio_validate.settings.setting import Effective, Knowledge, Origin
from hio_validate.settings.value import ABSENT, UNKNOWN
from tests.settings.stacks import SHA, captured, effective, exhaustive, known, processes, table, told

OTHER_SHA = SHA[::-1]


# --- one change -------------------------------------------------------------------------------------------


def test_a_changed_leader_is_one_change_and_its_followers_follow() -> None:
    found = difference(effective("llama", [["-t", "1"]]), effective("llama", [["-t", "2"]]))
    assert told(found) == {
        "server.threads": (Group.CHANGED, "1", "2"),
        "server.threads-batch": (Group.FOLLOWED, "1", "2"),
        "server.spec-draft-threads": (Group.FOLLOWED, "1", "2"),
        "server.spec-draft-threads-batch": (Group.FOLLOWED, "1", "2"),
    }


def test_a_leader_that_was_decided_at_run_time_is_one_unknown_and_its_followers_follow() -> None:
    groups = Counter(each.group for each in difference(effective("llama"), effective("llama", [["-t", "2"]])))
    assert (groups[Group.UNKNOWN], groups[Group.FOLLOWED], groups[Group.CHANGED]) == (1, 3, 0)


def test_a_follower_that_stops_following_stands_on_its_own() -> None:
    found = difference(effective("llama", [["-t", "4"]]), effective("llama", [["-t", "4"], ["-tb", "8"]]))
    assert told(found)["server.threads-batch"] == (Group.CHANGED, "4", "8")
    same_value = difference(
        effective("llama", [["-t", "4"]]), effective("llama", [["-t", "4"], ["-tb", "4"]])
    )
    assert told(same_value) == {}


def test_a_conditional_follower_lives_in_its_condition() -> None:
    found = told(difference(effective("llama", [["-np", "1"]]), effective("llama", [["-np", "-1"]])))
    assert found["server.kv-unified"] == (Group.FOLLOWED, "off", "on")
    assert found["server.parallel"] == (Group.UNKNOWN, "1", UNKNOWN)


def test_a_preset_is_one_change_and_what_it_may_write_follows() -> None:
    groups = Counter(
        each.group for each in difference(effective("llama"), effective("llama", [["--spec-default"]]))
    )
    assert (groups[Group.CHANGED], groups[Group.UNKNOWN], groups[Group.MOVED]) == (1, 0, 0)
    assert groups[Group.FOLLOWED] > 20


def test_a_default_that_two_builds_moved_shows_through_a_preset_of_both() -> None:
    preset = [["--spec-default"]]
    found = told(difference(effective("llama", preset), effective("next", preset)))
    assert found["server.batch-size"] == (Group.UNKNOWN, UNKNOWN, UNKNOWN)
    assert "server.ubatch-size" not in found


def test_what_somebody_sets_against_a_preset_cannot_be_compared() -> None:
    found = told(
        difference(
            effective("llama", [["--spec-default"]]), effective("llama", [["--spec-default"], ["-b", "64"]])
        )
    )
    assert found == {"server.batch-size": (Group.UNKNOWN, UNKNOWN, "64")}


def test_another_file_is_a_change_where_one_side_names_none_and_unknown_where_nobody_saw_them() -> None:
    gained = told(difference(effective("llama"), effective("llama", [["-m", "a"]])))
    assert gained == {"server.model": (Group.CHANGED, ABSENT, "a")}
    moved = told(difference(effective("llama", [["-m", "a"]]), effective("llama", [["-m", "b"]])))
    assert moved == {"server.model": (Group.UNKNOWN, "a", "b")}


def test_a_build_moves_defaults_and_what_only_one_has_is_silent() -> None:
    found = told(difference(effective("llama"), effective("next")))
    assert found == {
        "server.batch-size": (Group.MOVED, "2048", "4096"),
        "server.spec-draft-n-max": (Group.MOVED, "3", "8"),
        "server.build": (Group.IDENTITY, "llama", "next"),
    }
    only_there = difference(effective("llama"), effective("next")).find("sse-ping-interval")
    assert only_there is not None and only_there.group is Group.ONE_BUILD


def test_an_option_that_a_build_lost_is_changed_where_somebody_set_it() -> None:
    found = told(difference(effective("llama", [["--mlock"]]), effective("next")))
    assert found["server.mlock"] == (Group.CHANGED, "on", ABSENT)


@pytest.mark.parametrize(("argv", "other"), [
    ([["--port", "1"]], [["--port", "2"]]), ([["--metrics"]], []),
    ([["--api-key", "a"]], []), ([["--api-key", "a"]], [["--api-key", "a"]]),
])  # fmt: skip
def test_places_and_secrets_are_operational(argv: list[list[str]], other: list[list[str]]) -> None:
    assert {
        each[0] for each in told(difference(effective("llama", argv), effective("llama", other))).values()
    } == {Group.OPERATIONAL}


# --- unknown ----------------------------------------------------------------------------------------------


def test_unknown_does_not_equal_itself_where_somebody_asked_for_it() -> None:
    found = told(difference(effective("llama", [["-fa", "auto"]]), effective("llama", [["-fa", "auto"]])))
    assert found == {"server.flash-attn": (Group.UNKNOWN, UNKNOWN, UNKNOWN)}


def test_a_side_without_defaults_is_unknown_where_the_other_sets_something() -> None:
    unlearned = resolve(processes(server={"argv": [["-t", "2"]]}), {"server": Knowledge(table("llama"))})
    found = told(difference(unlearned, effective("llama", [["--threads", "2"], ["-b", "64"]])))
    assert found == {"server.batch-size": (Group.UNKNOWN, UNKNOWN, "64")}


def test_the_defaults_of_another_process_are_not_taken_for_a_side_without() -> None:
    known_one = {"a": known("llama"), "b": Knowledge(table("llama"))}
    parent = resolve(processes(a={}, b={}), known_one)
    candidate = resolve(
        processes(a={}, b={"argv": [["-b", "64"]]}), {"a": known("llama"), "b": known("llama")}
    )
    compared = difference(parent, candidate).find("b.batch-size")
    assert compared is not None and (compared.group, compared.from_) == (Group.UNKNOWN, UNKNOWN)


def test_a_variable_that_is_no_option_is_absent_where_it_is_not_set() -> None:
    found = told(difference(effective("llama"), effective("llama", env={"GGML_X": "1"})))
    assert found == {"server.GGML_X": (Group.CHANGED, ABSENT, "1")}


# --- identity ---------------------------------------------------------------------------------------------


def lib(sha: str | None) -> dict[str, Any]:
    path = {"path": "/opt/engine/libx.so.0"}
    return {**path, "sha256": sha, "how": "hash"} if sha else {**path, "how": "unknown"}


def test_libraries_are_compared_by_their_bytes() -> None:
    def side(*shas: str | None) -> Effective:
        return effective(
            "llama", observed=captured(libraries={f"lib{i}.so.0": lib(sha) for i, sha in enumerate(shas)})
        )

    assert told(difference(side(SHA), side(SHA))) == {}
    assert told(difference(side(SHA), side(OTHER_SHA))) == {
        "server.lib.lib0": (Group.IDENTITY, SHA, OTHER_SHA)
    }
    assert told(difference(side(None), side(None))) == {"server.lib.lib0": (Group.UNKNOWN, UNKNOWN, UNKNOWN)}
    assert told(difference(side(SHA), side(SHA, SHA))) == {"server.lib.lib1": (Group.IDENTITY, ABSENT, SHA)}


def test_a_library_that_nobody_could_hash_is_no_mere_part_of_another_build() -> None:
    def side(build: str, sha: str | None) -> Effective:
        return effective(build, observed=captured(libraries={"libx.so.0": lib(sha)}))

    known_ = told(difference(side("llama", SHA), side("next", OTHER_SHA)))
    assert known_["server.lib.libx"] == (Group.BUILD_PART, SHA, OTHER_SHA)
    unknown = told(difference(side("llama", SHA), side("next", None)))
    assert unknown["server.lib.libx"] == (Group.UNKNOWN, SHA, UNKNOWN)


def test_a_setting_is_found_by_any_unambiguous_name() -> None:
    found = difference(effective("llama", [["-t", "1"]]), effective("llama"))
    for name in ("server.threads", "threads", "--threads", "-t", "LLAMA_ARG_THREADS"):
        compared = found.find(name)
        assert compared is not None and compared.address == "server.threads"
    assert found.find("nothing") is None


# --- properties -------------------------------------------------------------------------------------------


lines = st.lists(
    st.sampled_from([
        ("-t", "4"), ("-t", "-1"), ("-tb", "8"), ("--ctx-size", "512"), ("-c", "0"), ("-fa", "on"), ("-fa", "auto"),
        ("--no-perf",), ("--temp", "0.5"), ("-np", "2"), ("--no-kv-unified",), ("--host", "h"), ("-ctk", "q8_0"),
        ("--spec-default",), ("--api-key", "k"), ("--mlock",), ("--nonsense", "1"), ("-m", "a"), ("-m", "b"),
    ]),
    max_size=6,
)  # fmt: skip
envs = st.dictionaries(
    st.sampled_from(["LLAMA_ARG_THREADS", "LLAMA_ARG_NO_UI", "GGML_X", "LLAMA_API_KEY", "LLAMA_ARG_BATCH"]),
    st.sampled_from(["1", "2", "64"]),
    max_size=3,
)
observations = st.sampled_from([
    None, captured(), captured(log={"n_threads": 6, "flash_attn": "enabled", "n_ctx": 512}),
    captured(libraries={"libx.so.0": lib(SHA)}), captured(libraries={"libx.so.0": lib(None)}),
])  # fmt: skip
sides = st.builds(
    lambda build, argv, env, observed: effective(build, [list(line) for line in argv], env, observed),
    st.sampled_from(["llama", "next"]), lines, envs, observations,
)  # fmt: skip


@given(sides)
@settings(max_examples=60)
def test_a_stack_does_not_differ_from_itself(side: Effective) -> None:
    """But for what is unknown though somebody set it or it was looked for: that equals nothing."""
    for each in difference(side, side):
        assert each.from_ == each.to
        if each.group is not Group.EQUAL:
            assert each.from_ == UNKNOWN and (each.set_by_a_person or each.parent.origin is Origin.IDENTITY)  # type: ignore[union-attr]


@given(sides, sides)
@settings(max_examples=60)
def test_the_groups_are_exhaustive_and_disjoint_and_never_call_unknown_equal(
    parent: Effective, candidate: Effective
) -> None:
    found = difference(parent, candidate)
    assert exhaustive(found, parent, candidate)
    for each in found:
        if each.set_by_a_person and UNKNOWN in (each.from_, each.to):
            assert each.group is not Group.EQUAL
        if each.group is Group.EQUAL and UNKNOWN not in (each.from_, each.to):
            assert each.from_ == each.to
        if each.group is Group.FOLLOWED:
            assert any(side and side.leader for side in (each.parent, each.candidate))
        if each.group is Group.MOVED:
            assert not each.set_by_a_person


def mirrored(each: Compared) -> tuple[object, ...]:
    names = (each.parent.address if each.parent else None, each.candidate.address if each.candidate else None)
    return (*names, each.group, each.from_, each.to)


@given(sides, sides)
@settings(max_examples=60)
def test_swapping_the_sides_swaps_from_and_to(parent: Effective, candidate: Effective) -> None:
    there = {mirrored(each) for each in difference(parent, candidate)}
    back = {
        (b, a, group, to, from_) for a, b, group, from_, to in map(mirrored, difference(candidate, parent))
    }
    assert there == back
