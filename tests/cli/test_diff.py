"""hio diff: what it tells beside the settings that differ, and when two sides are not the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.console import hio
from tests.small_repo import FILES, HELP, ROOM, SERVICE, sha, stack, write

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


EXECUTABLE, LIBRARY = sha("executable"), sha("library")


def capture(name: str, threads: str = "1", more: str = "") -> str:
    """What a process of the stack `base` was."""
    return f"""\
hio: capture/v1
name: {name}
service: {SERVICE}
at: "2026-01-02T03:04:05Z"
by: hio
host: {{how: unknown}}
processes:
  server:
    pid: 7
    family: llama-server
    build: b1
    started: {{how: proc}}
    executable: {{path: /opt/engine/llama-server, sha256: "{EXECUTABLE}", how: hash}}
    libraries:
      libggml.so: {{path: /opt/engine/libggml.so, sha256: "{LIBRARY}", how: hash}}
    argv:
      how: proc
      value:
        - [/opt/engine/llama-server]
        - ["--threads", "{threads}"]
        - ["--port", "8080"]
{more}\
    environ: {{how: proc}}
    threads: {{how: unknown}}
    memory: {{how: unknown}}
"""


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


# --- what only one side shows ----------------------------------------------------------------------------------


def test_what_was_observed_on_one_side_only_is_listed(repo: Path) -> None:
    write(repo, {f"{ROOM}/captures/seen.yaml": capture("seen")})
    said = hio(repo, "diff", "base", "seen")
    assert "2 observed on one side only" in said.out
    assert "observed on one side only\n  server.executable, server.lib.libggml\n" in said.out
