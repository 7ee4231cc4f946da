"""The pages of three prepared pull requests, as they are committed beside this test in pages/.

`HIO_WRITE_PAGES=1 python -m pytest tests/review/test_pages.py` writes them anew; read the difference before you
commit it: these pages are what a reviewer gets.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest

from hio_validate import engine
from hio_validate.history import WorkTree
from hio_validate.repo import load
from tests.cli.console import hio
from tests.review.prepared import PULL_REQUESTS, PullRequest, git, prepared

PAGES = Path(__file__).parent / "pages"
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/review-v1.schema.json").read_text("utf-8"))


@pytest.fixture(params=PULL_REQUESTS, ids=lambda each: each.name)
def pull_request(request: pytest.FixtureRequest) -> PullRequest:
    found: PullRequest = request.param
    return found


@pytest.fixture
def repo(pull_request: PullRequest, tmp_path: Path) -> Path:
    return prepared(tmp_path / "repo", pull_request.change())


@pytest.mark.parametrize(("format_", "ending"), [("markdown", "md"), ("text", "txt")])
def test_the_page_is_the_committed_one(
    repo: Path, pull_request: PullRequest, format_: str, ending: str
) -> None:
    said = hio(repo, "review", "main..change", "--format", format_)
    page = PAGES / f"{pull_request.name}.{ending}"
    if os.environ.get("HIO_WRITE_PAGES"):
        page.write_text(said.out, encoding="utf-8")
    assert said.out == page.read_text(encoding="utf-8")
    assert said.code == pull_request.exit_code
    assert said.err == ""


def test_the_json_answer_has_its_shape_and_the_same_verdict(repo: Path, pull_request: PullRequest) -> None:
    said = hio(repo, "review", "main..change", "--format", "json")
    shape = json.loads(said.out)
    jsonschema.Draft202012Validator(SCHEMA).validate(shape)
    assert said.code == shape["verdict"]["exit_code"] == pull_request.exit_code
    merging = "blocked" if any(each["blocks"] == "merging" for each in shape["blocks"]) else "open"
    assert shape["verdict"]["merging"] == merging


def test_main_is_without_an_error(repo: Path) -> None:
    git(repo, "switch", "-q", "main")
    assert engine.run(load(WorkTree(repo))).exit_code == 0


def test_nothing_of_a_page_is_wider_than_the_terminal(repo: Path) -> None:
    from hio_validate.report.review import as_page_of_text
    from tests.review.test_review import reviewed

    for width in (60, 80):
        for line in as_page_of_text(reviewed(repo), width).splitlines():
            assert len(line) <= width or " " not in line.strip(), line


def test_what_the_readme_shows_stands_on_a_page() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    shown = readme.partition("$ hio review main..change\n")[2].partition("```")[0].splitlines()
    page = (PAGES / "hidden-default.txt").read_text("utf-8").splitlines()
    assert len(shown) > 5
    assert [line for line in shown if line.strip() != "..." and line not in page] == []
