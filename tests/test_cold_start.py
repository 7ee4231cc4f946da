"""What a hook waits for: the modules that judging plain documents loads (docs/performance.md).

Counted, not timed: a time depends on the machine, what is imported does not.
"""

from __future__ import annotations

import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from tests.small_repo import BASE, FILES, MATRIX, TWO, committed, write

WAITS_FOR_NONE_OF = {
    "yaml": "plain documents and their places are read line by line",
    "pydantic": "the models are compiled",
    "pydantic_core.core_schema": "types of schemas, which no validator needs",
    "typing_extensions": "what Python 3.11 has no need of",
    "click": "the calls of hooks are understood without it",
    "dataclasses": "each compiles its methods at every start, and inspect comes with them",
    "inspect": "nothing looks at code",
    "difflib": "for a misspelt word",
    "json": "for documents and reports that are JSON",
    "pickle": "for a repository that several processes judge",
    "shutil": "for the width of a terminal",
    "statistics": "two sums",
    "hio_validate.shards": "for a repository that several processes judge",
    "hio_validate.source.construct": "for a document that is not plain",
    "hio_validate.settings.help_argparse": "for an engine whose help argparse prints",
}
"""Module -> why nothing here needs it, or for what it would be needed."""
NEVER = {"argparse", "asyncio", "concurrent", "email", "http", "importlib.metadata", "importlib.resources", "jsonschema",
         "logging", "multiprocessing", "socket", "ssl", "tempfile", "xml", "zipfile", "hio_validate.cli",
         "hio_validate.compile", "hio_validate.models.definitions", "hio_validate.observe", "hio_validate.json_schema"}  # fmt: skip

LOADED = """
import sys
known = set(sys.modules)
from hio_validate.__main__ import main
try:
    main()
except SystemExit as end:
    print(repr((end.code, sorted(set(sys.modules) - known))), file=sys.stderr)
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


def loaded(repo: Path, *words: str) -> set[str]:
    """The modules that a call of hio imports; it finds no error."""
    command = [sys.executable, "-c", LOADED, "validate", *words]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=True)
    code, modules = literal_eval(done.stderr)
    assert code == 0, done.stdout
    assert "retest-open" in done.stdout
    return set(modules)


@pytest.mark.parametrize("words", [(BASE,), (BASE, MATRIX)], ids=["one stack", "two files"])
def test_one_plain_file_waits_for_nothing_that_it_does_not_need(repo: Path, words: tuple[str, ...]) -> None:
    modules = loaded(repo, *words)
    assert "hio_validate.rules.retest_open" in modules
    assert modules & {*WAITS_FOR_NONE_OF, *NEVER} == set()


def test_what_is_staged_waits_for_no_more(repo: Path) -> None:
    write(repo, {TWO: f"{FILES[TWO]}# a comment\n"})
    subprocess.run(["git", "add", "."], cwd=repo, check=True)
    assert loaded(repo, "--staged") & {*WAITS_FOR_NONE_OF, *NEVER} == set()
