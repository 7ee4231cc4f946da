"""hio diff: what it tells beside the settings that differ, and when two sides are not the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.console import hio, one_sentence
from tests.small_repo import EXECUTABLE, FILES, HELP, LIBRARY, ROOM, capture, sha, stack, write

REMOVED = "-d,    --defrag-thold N                the argument has been removed. use --new instead\n"
HELP_WITH_A_REMOVED_FLAG = HELP + REMOVED


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository of which hio finds nothing wrong, its build with one removed flag."""
    engine = "manifests/engines/llama-server/b1/"
    files = dict(FILES)
    files[engine + "help.txt"] = HELP_WITH_A_REMOVED_FLAG
    files[engine + "engine.yaml"] = files[engine + "engine.yaml"].replace(
        sha(HELP), sha(HELP_WITH_A_REMOVED_FLAG)
    )
    return write(tmp_path / "repo", files)


def add_stack(repo: Path, name: str, more: str) -> None:
    write(repo, {f"{ROOM}/stacks/{name}.yaml": stack(name, more=more)})


# --- what is not understood ----------------------------------------------------------------------------------


def test_a_misspelt_flag_is_told_on_its_side_with_the_nearest(repo: Path) -> None:
    add_stack(repo, "typo", '      - ["--batch-sise", "64"]\n    env: {LLAMA_ARG_THREDS: "1"}\n')
    said = hio(repo, "diff", "base", "typo", "--exit-code")
    assert said.code == 1
    assert said.out.splitlines()[1].endswith("0 operational, 2 not understood")
    unwrapped = " ".join(said.out.split())
    for word, nearest in (("--batch-sise", "--batch-size"), ("LLAMA_ARG_THREDS", "LLAMA_ARG_THREADS")):
        assert f"typo: {word} is no setting of this build (did you mean {nearest}?)" in unwrapped
    shape = json.loads(hio(repo, "diff", "typo", "base", "--format", "json").out)
    assert shape["counts"]["not understood"] == 2
    assert [(each["side"], each["rule"]) for each in shape["not_understood"]] == [
        ("parent", "unknown-setting")
    ] * 2


def test_a_removed_flag_is_told(repo: Path) -> None:
    add_stack(repo, "old", '      - ["--defrag-thold", "1"]\n')
    said = hio(repo, "diff", "old", "base", "--exit-code")
    assert said.code == 1
    assert "old: --defrag-thold was removed from this build" in said.out


def test_what_neither_side_understands_is_not_equal(repo: Path) -> None:
    add_stack(repo, "typo", '      - ["--batch-sise", "64"]\n')
    said = hio(repo, "diff", "typo", "typo", "--exit-code")
    assert said.code == 1
    assert said.out.count("--batch-sise") == 2


def test_a_setting_given_twice_is_understood(repo: Path) -> None:
    add_stack(repo, "twice", '      - ["--threads", "1"]\n    env: {LLAMA_ARG_THREADS: "3"}\n')
    said = hio(repo, "diff", "base", "twice", "--exit-code")
    assert (said.code, "not understood" in said.out) == (0, False)


# --- the check for drift -----------------------------------------------------------------------------------------

SITE = """\
hio: site/v1
name: lab
services:
  tiny:
    port: 8080
    paths: {model: /srv/m.gguf}
    secrets: {api-key: /etc/keys/tiny}
"""
PLACED = "- [--model, /srv/m.gguf]"
MEASURED = "    log: {how: log, facts: {n_threads: 6}}\n"


@pytest.fixture
def drifting(repo: Path) -> Path:
    """A stack `open` with place-holders that leaves its threads to run time."""
    open_ = stack("open", -1).replace('"8080"', '"${port}"') + '      - ["--model", "${model}"]\n'
    return write(repo, {"manifests/sites/lab.yaml": SITE, f"{ROOM}/stacks/open.yaml": open_})


def drift(repo: Path, *captured: str, stack_: str = "open") -> tuple[int, list[str]]:
    """Exit code and differences between a stack and a capture, whichever stands first."""
    write(repo, {f"{ROOM}/captures/seen.yaml": capture("seen", *captured)})
    said = [
        hio(repo, "diff", *sides, "--exit-code", "--format", "json")
        for sides in ((stack_, "seen"), ("seen", stack_))
    ]
    shapes = [json.loads(each.out) for each in said]
    told = [
        sorted(
            f"{each['setting']}: {each['group']}"
            for each in shape["differences"]
            if each["group"] != "observed on one side only"
        )
        for shape in shapes
    ]
    assert (said[0].code, told[0]) == (said[1].code, told[1])
    return said[0].code, told[0]


def test_a_process_started_from_a_stack_differs_in_nothing(drifting: Path) -> None:
    assert drift(drifting, "-1", f"        {PLACED}\n", MEASURED) == (0, [])


def test_what_was_started_otherwise_is_told(drifting: Path) -> None:
    code, told = drift(drifting, "6", f"        {PLACED}\n", MEASURED)
    assert (code, told[-1]) == (1, "server.threads: cannot be compared")
    elsewhere = f"        {PLACED}\n".replace("/srv/m", "/srv/other")
    assert drift(drifting, "-1", elsewhere, MEASURED) == (1, ["server.model: cannot be compared"])
    assert drift(drifting, "-1", "", MEASURED) == (1, ["server.model: changed by you"])


def test_a_place_holder_that_no_site_defines_is_compared_as_written(drifting: Path) -> None:
    write(drifting, {"manifests/sites/lab.yaml": SITE.replace("model:", "modell:")})
    said = hio(drifting, "diff", "open", "base")
    write(drifting, {f"{ROOM}/captures/seen.yaml": capture("seen", "-1", f"        {PLACED}\n")})
    said = hio(drifting, "diff", "open", "seen")
    assert "${model} is nothing that a site defines" in " ".join(said.out.split())


def identity(executable: str, library: str) -> str:
    return f'identity: {{kind: native, executable: "{executable}", libraries: {{libggml.so: "{library}"}}}}\n'


@pytest.mark.parametrize(("executable", "library", "told"), [
    (EXECUTABLE, LIBRARY, []),
    (sha("x"), LIBRARY, ["server.build: identity", "server.executable: part of the build"]),
    (EXECUTABLE, sha("x"), ["server.build: identity", "server.lib.libggml: part of the build"]),
])  # fmt: skip
def test_the_bytes_that_run_are_compared_with_those_of_the_build_that_the_stack_names(
    drifting: Path, executable: str, library: str, told: list[str]
) -> None:
    engine = drifting / "manifests/engines/llama-server/b1/engine.yaml"
    engine.write_text(engine.read_text() + identity(executable, library))
    nameless = capture("seen", "-1", f"        {PLACED}\n", MEASURED).replace("    build: b1\n", "")
    write(drifting, {f"{ROOM}/captures/seen.yaml": nameless})
    said = hio(drifting, "diff", "open", "seen", "--exit-code", "--format", "json")
    shape = json.loads(said.out)
    groups = [
        f"{each['setting']}: {each['group']}"
        for each in shape["differences"]
        if not each["group"].startswith("observed")
        and each["setting"].split(".")[1] in ("build", "executable", "lib")
    ]
    assert (said.code, sorted(groups)) == (int(bool(told)), told)


def test_one_process_of_several_is_compared_alone(drifting: Path) -> None:
    two = (
        stack("pair").replace("  server:\n", "  front:\n    engine: nginx\n  main:\n")
        + '      - ["--model", "${model}"]\n'
    )
    write(
        drifting,
        {
            f"{ROOM}/stacks/pair.yaml": two,
            f"{ROOM}/captures/seen.yaml": capture("seen", more=f"        {PLACED}\n"),
        },
    )
    said = hio(drifting, "diff", "pair", "seen", "--exit-code")
    assert said.code == 0, said.out
    assert "its process front is not among those observed" in " ".join(said.out.split())


# --- names that mean several ----------------------------------------------------------------------------------------


def test_a_name_of_two_services_is_no_answer(repo: Path) -> None:
    other = "manifests/services/lab/other/stacks/base.yaml"
    write(repo, {other: stack("base", 7)})
    for words in (
        ("settings", "base"), ("diff", "base", "two"), ("matrix", "new", "--parent", "base", "--candidate", "two"),
    ):  # fmt: skip
        said = hio(repo, *words)
        assert said.code == 2
        assert "lab/other/base or lab/tiny/base" in one_sentence(said)
    assert "threads  7" in hio(repo, "settings", "lab/other/base").out
    assert "threads  7" in hio(repo, "settings", "base", "--service", "lab/other").out
    assert "7 -> 2" in hio(repo, "diff", "lab/other/base", "two").out
    assert hio(repo, "settings", "two", "--service", "lab/other").code == 2


# --- what only one side shows ----------------------------------------------------------------------------------


def test_what_was_observed_on_one_side_only_is_listed(repo: Path) -> None:
    write(repo, {f"{ROOM}/captures/seen.yaml": capture("seen")})
    said = hio(repo, "diff", "base", "seen")
    assert "2 observed on one side only" in said.out
    assert "observed on one side only\n  server.executable, server.lib.libggml\n" in said.out


# --- what is asked once ---------------------------------------------------------------------------------------------


def test_one_program_is_asked_for_its_help_once(tmp_path: Path) -> None:
    program, asked = tmp_path / "llama-server", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\necho asked >> {asked}\ncat <<'END'\n{HELP}END\n")
    program.chmod(0o755)
    said = hio(tmp_path, "diff", f"{program} -t 1", f"{program} -t 2")
    assert said.out.splitlines()[1].startswith("1 changed by you, 1 followed")
    assert asked.read_text() == "asked\n"


@pytest.mark.parametrize("wrapper", ["numactl --membind 0", "taskset -c 0-3", "nice -n 5", "/usr/bin/env",
                                     "env -u X nice -5"])  # fmt: skip
def test_what_starts_an_engine_is_no_engine(tmp_path: Path, wrapper: str) -> None:
    engine = "/opt/llama-server --threads"
    said = hio(tmp_path, "diff", f"{wrapper} {engine} 1", f"{engine} 2")
    assert said.out.splitlines()[1].startswith("1 changed by you, 3 followed")
    (tmp_path / "a.service").write_text(f"[Service]\nExecStart={wrapper} {engine} 1\n")
    (tmp_path / "b.service").write_text(f"[Service]\nExecStart={engine} 2\n")
    unit = hio(tmp_path, "diff", "a.service", "b.service")
    assert unit.out.splitlines()[1] == said.out.splitlines()[1]
    for each in (said, unit):
        assert ("started through" in each.out) == (wrapper != "/usr/bin/env")


def test_variables_given_to_env_count(tmp_path: Path) -> None:
    said = hio(
        tmp_path, "diff", "env LLAMA_ARG_THREADS=3 llama-server -c 1", "llama-server -c 1", "--format", "json"
    )
    assert [each["setting"] for each in json.loads(said.out)["differences"]] == ["server.threads"]
