"""Every test runs with a home of its own and without the variables that a git hook exports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HOME and the caches lead to an empty folder, and git knows neither a hook nor anybody's settings."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(_GIT_CONFIG, encoding="utf-8")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home
