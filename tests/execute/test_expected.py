"""What a process is against what its arm asks for; the lab test does it with live ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.command import Command
from hio_validate.execute import expected
from hio_validate.execute.work import ArmWork, Work
from hio_validate.history import Folder
from hio_validate.repo import item_of, load
from hio_validate.settings.knowledge import Settings
from hio_validate.source import read
from tests.execute.experiment import ROOM, SERVICE, documents, prepared, stack, yaml
from tests.small_repo import capture


def leg(number: int, arm: str = "one", program: str = "/bin/server", **made_of: str) -> dict[str, Any]:
    return {"leg": number, "arm": arm, "program": program, "made_of": made_of}


def test_the_same_bytes_are_no_change() -> None:
    assert list(expected.changed_bytes(leg(2, executable="a" * 64), [leg(1, executable="a" * 64)])) == []
    assert list(expected.changed_bytes(leg(1, executable="a" * 64), [])) == []


def test_an_executable_that_was_replaced_is_found_across_arms_of_one_program() -> None:
    found = list(expected.changed_bytes(leg(2, "two", executable="b" * 64), [leg(1, executable="a" * 64)]))
    assert found == [f"replaced: executable is {'b' * 12}, but was {'a' * 12} in leg 1"]
    other = leg(2, "two", "/bin/other", executable="b" * 64)
    assert list(expected.changed_bytes(other, [leg(1, executable="a" * 64)])) == []


def test_arms_may_differ_in_model_and_loaded_libraries_and_legs_of_one_arm_may_not() -> None:
    first = leg(1, **{"artifact.model": "a" * 64, "libgpu.so": "c" * 64})
    assert list(expected.changed_bytes(leg(2, "two", **{"artifact.model": "b" * 64}), [first])) == []
    assert list(expected.changed_bytes(leg(2, **{"artifact.model": "b" * 64}), [first])) == [
        f"replaced: artifact.model is {'b' * 12}, but was {'a' * 12} in leg 1",
        "replaced: libgpu.so of leg 1 is not there",
    ]


def test_a_leg_that_nobody_observed_says_nothing_of_later_ones() -> None:
    assert (
        list(expected.changed_bytes(leg(3, executable="b" * 64), [leg(1), leg(2, executable="b" * 64)])) == []
    )


def observed(threads: str) -> Any:
    """A capture of a process of the build b1 with so many threads."""
    return item_of(read(capture("c1", threads).encode(), f"{ROOM}/captures/c1.yaml")).model


def arm(threads: str) -> ArmWork:
    words = ("--threads", threads, "--port", "8080")
    return ArmWork(
        "base@sha256:0", {}, Command("/opt/engine/llama-server", words, {"LANG": "C.UTF-8"}), build="b1"
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    work = prepared(tmp_path)
    assert isinstance(work, Work)
    return Settings(load(Folder(tmp_path)))


def test_a_process_that_runs_what_its_arm_asks_for_has_not_drifted(settings: Settings) -> None:
    asked = expected.as_started(_stack(), arm("1"))
    assert list(expected.drift(observed("1"), asked, arm("1"), settings)) == []


def test_another_setting_is_told_with_both_values(settings: Settings) -> None:
    asked = expected.as_started(_stack(), arm("2"))
    told = list(expected.drift(observed("1"), asked, arm("2"), settings))
    assert told[0].startswith("drifted: the process runs with other arguments than it was started with: ")
    assert "drifted: server.threads is 1, expected 2" in told


def _stack() -> Any:
    return item_of(read(yaml(stack()).encode(), f"{ROOM}/stacks/base.yaml")).model


def test_a_secret_word_is_not_compared() -> None:
    process = observed("withheld").processes["server"]
    secret = Command("/opt/engine/llama-server", ("--threads", "${secret:x}", "--port", "8080"), {})
    assert list(expected.arguments(process, ArmWork("base@sha256:0", {}, secret))) == []
    longer = Command("/opt/engine/llama-server", ("--threads", "${secret:x}"), {})
    assert list(expected.arguments(process, ArmWork("base@sha256:0", {}, longer)))


def test_a_stack_that_was_edited_meanwhile_is_not_what_was_prepared(tmp_path: Path) -> None:
    work = prepared(tmp_path)
    assert isinstance(work, Work)
    assert expected.pinned_stack(work.arms["two"], load(Folder(tmp_path)), SERVICE).processes["server"].argv[
        -1
    ] == ["2"]
    (tmp_path / f"{ROOM}/stacks/base.yaml").write_text(documents()[f"{ROOM}/stacks/base.yaml"] + "\n")
    with pytest.raises(expected.Repinned, match="the stack base is no longer the one"):
        expected.pinned_stack(work.arms["two"], load(Folder(tmp_path)), SERVICE)


def test_what_a_process_says_of_itself_otherwise_is_told(settings: Settings) -> None:
    said = capture("c1", "1", seen="    log: {how: log, facts: {n_threads: 4}}\n").encode()
    seen = item_of(read(said, f"{ROOM}/captures/c1.yaml")).model
    assert list(expected.contradicted(observed("1"), arm("1"), settings)) == []
    assert list(expected.contradicted(seen, arm("1"), settings)) == [
        "drifted: server.threads is 4 by the log, but 1 by argv"
    ]
