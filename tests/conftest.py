"""Every test runs with a home of its own and without the variables that a git hook exports."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test is timed: a deadline, also for making up data, would fail on a busy machine and say nothing of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A shell ignores interrupts in what it starts in the background, and so would every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_GIT_CONFIG = """\
[user]
    name = A Tester
    email = tester@example.org
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[protocol "file"]
    allow = always
"""


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder for each test: mktemp would list those of all tests before it, thousands of times."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """HOME and the caches lead to an empty folder, and git knows neither a hook nor anybody's settings."""
    home = next(homes)
    home.mkdir()
    (home / ".gitconfig").write_text(_GIT_CONFIG, encoding="utf-8")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def hio_on_path(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, first on PATH, that holds `hio` as an installation would put it there."""
    script = tmp_path_factory.mktemp("bin") / "hio"
    script.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m hio_validate "$@"\n', encoding="utf-8"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return script.parent
