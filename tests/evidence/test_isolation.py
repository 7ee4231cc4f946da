"""Whether two arms differ in one setting only, computed from stacks, deltas and captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.evidence.isolation import Isolation, isolate
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.settings.knowledge import Settings
from tests.small_repo import BASE, FILES, ROOM, SERVICE, TWO, pin, stack, write

THREADS = frozenset({"server.threads"})


def _capture(name: str, of: str = "base", library: str = "a") -> str:
    return f"""\
hio: capture/v1
name: {name}
service: {SERVICE}
stack: {of}
at: "2026-01-01T00:00:00Z"
by: hio 0.1.0
host: {{how: unknown}}
processes:
  server:
    pid: 7
    family: llama-server
    started: {{how: unknown}}
    executable: {{how: hash, path: /opt/e/llama-server, sha256: "{"e" * 64}"}}
    libraries:
      libggml.so: {{how: hash, path: /opt/e/libggml.so, sha256: "{library * 64}"}}
    argv: {{how: unknown}}
    environ: {{how: unknown}}
    threads: {{how: unknown}}
    memory: {{how: unknown}}
    listening: {{how: unknown}}
    health: {{how: unknown}}
    props: {{how: unknown}}
    slots: {{how: unknown}}
    models: {{how: unknown}}
"""


def _isolated(root: Path, arms: str, factors: frozenset[str] = THREADS, **files: str) -> Isolation | None:
    run = (
        f"hio: run/v1\nname: r1\nservice: {SERVICE}\narms:\n{arms}"
        f'raw: {{file: rows.tsv, sha256: "{"0" * 64}", format: tsv, rows: 4, arm: arm}}\n'
        "columns: {arm: {unit: text}, speed: {unit: token/s, better: higher}}\n"
    )
    captures = {f"{ROOM}/captures/{name}.yaml": content for name, content in files.items()}
    repo = load(Folder(write(root, {**FILES, **captures, f"{ROOM}/runs/r1/run.yaml": run})))
    invalid = [(item.file, item.refused, item.document.faults) for item in repo.items if item.model is None]
    assert not invalid
    found = repo.find("run/v1", "r1", SERVICE)
    assert found is not None
    return isolate(found, factors, repo, Settings(repo))


def _arm(name: str, of: str = "base", more: str = "", captures: tuple[str, ...] = ()) -> str:
    pins = ", ".join(f'"{pin(capture, "x")}"' for capture in captures)
    return f'  {name}: {{stack: "{pin(of, "x")}", captures: [{pins}]{more}}}\n'


SET_2 = ", set: {server.threads: 2}"


def _addresses(found: Isolation | None) -> list[str]:
    assert found is not None
    return [each.address for each in found.further]


def test_one_factor_is_isolated_by_a_delta_on_one_stack(tmp_path: Path) -> None:
    arms = _arm("one", captures=("c1",)) + _arm("two", more=SET_2, captures=("c2",))
    found = _isolated(tmp_path, arms, c1=_capture("c1"), c2=_capture("c2"))
    assert found is not None
    assert (found.differs, found.further, found.unobserved, found.arms) == (True, (), (), ("one", "two"))


def test_one_factor_is_isolated_by_two_stacks(tmp_path: Path) -> None:
    arms = _arm("one", captures=("c1",)) + _arm("two", of="two", captures=("c2",))
    found = _isolated(tmp_path, arms, c1=_capture("c1"), c2=_capture("c2", "two"))
    assert found is not None
    assert (found.differs, found.further, found.unobserved) == (True, (), ())


def test_a_follower_is_no_further_factor(tmp_path: Path) -> None:
    found = _isolated(tmp_path, _arm("one") + _arm("two", more=SET_2))
    assert found is not None
    assert [each.address for each in found.difference if each.from_ != each.to] == [
        "server.threads",
        "server.threads-batch",
    ]
    assert _addresses(found) == []


def test_a_further_factor_is_told(tmp_path: Path) -> None:
    more = ", set: {server.threads: 2, server.batch-size: 512}"
    assert _addresses(_isolated(tmp_path, _arm("one") + _arm("two", more=more))) == ["server.batch-size"]


def test_a_further_factor_of_another_stack_is_told(tmp_path: Path) -> None:
    write(tmp_path, {TWO: stack("two", 2, more='      - ["--batch-size", "512"]\n')})
    files = {**FILES, TWO: (tmp_path / TWO).read_text()}
    assert BASE in files
    arms = _arm("one") + _arm("two", of="other")
    other = stack("other", 2, more='      - ["--batch-size", "512"]\n')
    write(tmp_path, {f"{ROOM}/stacks/other.yaml": other})
    assert _addresses(_isolated(tmp_path, arms)) == ["server.batch-size"]


def test_another_library_in_a_capture_is_a_further_factor(tmp_path: Path) -> None:
    arms = _arm("one", captures=("c1",)) + _arm("two", more=SET_2, captures=("c2",))
    found = _isolated(tmp_path, arms, c1=_capture("c1"), c2=_capture("c2", library="b"))
    assert _addresses(found) == ["server.lib.libggml"]


def test_a_later_leg_that_ran_something_else_is_a_further_factor(tmp_path: Path) -> None:
    arms = _arm("one", captures=("c1", "c3")) + _arm("two", more=SET_2, captures=("c2",))
    found = _isolated(tmp_path, arms, c1=_capture("c1"), c2=_capture("c2"), c3=_capture("c3", library="b"))
    assert _addresses(found) == ["server.lib.libggml"]


def test_what_a_later_leg_does_not_show_is_unobserved(tmp_path: Path) -> None:
    arms = _arm("one", captures=("c1", "c3")) + _arm("two", more=SET_2, captures=("c2",))
    unseen = _capture("c3").replace(
        f'{{how: hash, path: /opt/e/libggml.so, sha256: "{"a" * 64}"}}', "{how: unknown}"
    )
    found = _isolated(tmp_path, arms, c1=_capture("c1"), c2=_capture("c2"), c3=unseen)
    assert found is not None
    assert found.unobserved == ("server.lib.libggml is unknown in a later leg of the arm one",)
    assert found.further == ()


def test_an_asked_setting_that_a_later_leg_does_not_show_is_unobserved(tmp_path: Path) -> None:
    arms = _arm("one", of="auto", captures=("c1", "c3")) + _arm("two", more=SET_2, captures=("c2",))
    write(tmp_path, {f"{ROOM}/stacks/auto.yaml": stack("auto").replace('"1"', '"-1"')})
    asked = 'argv: {how: proc, value: [[llama-server], [--threads, "-1"]]}'
    auto = _capture("c1", "auto").replace("argv: {how: unknown}", asked)
    seen = auto + "    log: {how: log, facts: {n_threads: 1}}\n"
    found = _isolated(tmp_path, arms, c1=seen, c2=_capture("c2"), c3=auto.replace("name: c1", "name: c3"))
    assert found is not None
    assert found.unobserved == ("server.threads is unknown in a later leg of the arm one",)


def test_a_later_leg_of_an_unrecognised_build_leaves_the_defaults_unknown_in_one_reason(
    tmp_path: Path,
) -> None:
    write(tmp_path, {f"{ROOM}/stacks/any.yaml": stack("any").replace("    build: b1\n", "")})
    arms = _arm("one", of="any", captures=("c1", "c3")) + _arm("two", of="any", more=SET_2, captures=("c2",))
    c1, c2 = (
        _capture(name, "any").replace(
            "    family: llama-server\n", "    family: llama-server\n    build: b1\n"
        )
        for name in ("c1", "c2")
    )
    found = _isolated(tmp_path, arms, c1=c1, c2=c2, c3=_capture("c3", "any"))
    assert found is not None
    assert found.unobserved == ("the defaults of the arm one are unknown",)


def test_an_arm_without_capture_is_unobserved_and_never_equal(tmp_path: Path) -> None:
    found = _isolated(tmp_path, _arm("one", captures=("c1",)) + _arm("two", more=SET_2), c1=_capture("c1"))
    assert found is not None
    assert found.unobserved == ("the arm two has no capture",)
    assert found.further == ()


def test_a_factor_that_was_not_varied_is_told(tmp_path: Path) -> None:
    found = _isolated(tmp_path, _arm("one") + _arm("two", more=", set: {server.batch-size: 512}"))
    assert found is not None
    assert not found.differs
    assert _addresses(found) == ["server.batch-size"]


def test_a_bundle_asks_about_all_its_members(tmp_path: Path) -> None:
    more = ", set: {server.threads: 2, server.batch-size: 512}"
    members = frozenset({"server.threads", "server.batch-size"})
    found = _isolated(tmp_path, _arm("one") + _arm("two", more=more), members)
    assert found is not None
    assert found.differs and found.further == ()


@pytest.mark.parametrize("name", ["server.threads", "threads", "t", "LLAMA_ARG_THREADS"])
def test_a_factor_may_be_named_in_any_way(tmp_path: Path, name: str) -> None:
    found = _isolated(tmp_path, _arm("one") + _arm("two", more=", set: {threads: 2}"), frozenset({name}))
    assert found is not None
    assert found.differs and found.further == ()


def test_of_more_than_two_arms_the_pair_that_differs_least_decides(tmp_path: Path) -> None:
    arms = (
        _arm("one")
        + _arm("both", more=", set: {server.threads: 2, server.batch-size: 512}")
        + _arm("two", more=SET_2)
        + _arm("wide", more=", set: {server.batch-size: 512}")
    )
    found = _isolated(tmp_path, arms)
    assert found is not None
    assert found.arms == ("one", "two")
    assert found.differs and found.further == ()


@pytest.mark.parametrize("arms", [_arm("one"), _arm("one") + _arm("two", of="nope")])
def test_fewer_than_two_arms_isolate_nothing(tmp_path: Path, arms: str) -> None:
    assert _isolated(tmp_path, arms) is None
