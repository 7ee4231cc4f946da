"""The documented CI jobs: valid by the platforms' published schemas, their shell steps run as they are written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from hio_validate.cli import _VERBS
from tests.small_repo import ENTRY, MATRIX, TWO, baseline, committed, git, matrix, stack, write

JOBS = Path(__file__).parents[1] / "docs/guide/ci"
GITHUB = yaml.safe_load((JOBS / "github.yml").read_text(encoding="utf-8"))["jobs"]["hio"]
GITLAB = yaml.safe_load((JOBS / "gitlab-ci.yml").read_text(encoding="utf-8"))

pytestmark = [
    pytest.mark.usefixtures("hio_on_path"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are written for bash"),
]


@pytest.mark.skipif(find_spec("check_jsonschema") is None, reason="check-jsonschema is not installed")
@pytest.mark.parametrize(
    ("schema", "file"), [("github-workflows", "github.yml"), ("gitlab-ci", "gitlab-ci.yml")]
)
def test_the_job_is_valid_by_the_platforms_schema(schema: str, file: str, tmp_path: Path) -> None:
    def judged(path: Path) -> int:
        words = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
        return subprocess.run([sys.executable, *words], check=False, capture_output=True).returncode

    assert judged(JOBS / file) == 0
    broken = (JOBS / file).read_text().replace("runs-on:", "run-on:").replace("script:", "scripts:")
    (tmp_path / file).write_text(broken)
    assert judged(tmp_path / file) == 1


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone as a runner makes it, on a branch that starts from main."""
    origin = committed(tmp_path / "origin")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    git(tmp_path / "clone", "checkout", "-q", "-b", "topic")
    return tmp_path / "clone"


def _change(clone: Path, files: dict[str, str]) -> str:
    """Commit some files; the id that the request starts from."""
    base = git(clone, "rev-parse", "HEAD").strip()
    write(clone, files)
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "a change")
    return base


def _run(clone: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A step as both platforms run it: bash that stops at the first failure."""
    assert set(re.findall(r"^\s*hio ([a-z]+)", script, re.MULTILINE)) <= _VERBS.keys()
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script], cwd=clone, env={**os.environ, **environment}, text=True,
        check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert "Traceback" not in done.stdout
    return done


def _github(name: str) -> str:
    script: str = next(step["run"] for step in GITHUB["steps"] if step.get("name") == name)
    return script


def _gitlab(job: str) -> str:
    return "\n".join(GITLAB[job]["script"])


STEPS = {
    "github": (_github("Validate"), "BASE"),
    "gitlab": (_gitlab("hio-validate"), "CI_MERGE_REQUEST_DIFF_BASE_SHA"),
}


@pytest.mark.parametrize("platform", STEPS)
def test_a_request_without_contradiction_passes(clone: Path, platform: str) -> None:
    script, base = STEPS[platform]
    done = _run(clone, script, **{base: _change(clone, {MATRIX: matrix(more="# a comment\n")})})
    assert done.returncode == 0, done.stdout
    assert "no error" in done.stdout
    assert json.loads((clone / "hio.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.parametrize("platform", STEPS)
@pytest.mark.parametrize("rule", ["value-mismatch", "frozen-document-changed"])
def test_a_request_with_an_error_fails_and_the_platform_is_told(
    clone: Path, platform: str, rule: str
) -> None:
    script, base = STEPS[platform]
    files = (
        {MATRIX: matrix(to="3")}
        if rule == "value-mismatch"
        else {ENTRY: baseline().replace("someone", "another")}
    )
    done = _run(clone, script, **{base: _change(clone, files)})
    assert done.returncode == 1, done.stdout
    assert rule in done.stdout
    results = json.loads((clone / "hio.sarif").read_text())["runs"][0]["results"]
    assert rule in {result["ruleId"] for result in results}
    if platform == "gitlab":
        assert rule in {issue["check_name"] for issue in json.loads((clone / "hio-quality.json").read_text())}


@pytest.mark.parametrize("platform", STEPS)
def test_the_main_branch_has_no_base_and_is_judged(clone: Path, platform: str) -> None:
    script, base = STEPS[platform]
    assert _run(clone, script, **{base: ""}).returncode == 0
    _change(clone, {MATRIX: matrix(to="3")})
    assert _run(clone, script, **{base: ""}).returncode == 1


@pytest.mark.parametrize("script", [_github("Audit"), _gitlab("hio-audit")], ids=["github", "gitlab"])
def test_the_whole_history_is_audited(clone: Path, tmp_path: Path, script: str) -> None:
    assert _run(clone, script).returncode == 0
    _change(clone, {ENTRY: baseline().replace("someone", "another")})
    assert _run(clone, script).returncode == 1
    git(tmp_path, "clone", "-q", "--depth", "1", clone.as_uri(), "shallow")
    assert _run(tmp_path / "shallow", script).returncode == 3


def test_github_gets_the_review_in_the_summary_and_as_a_comment(clone: Path, hio_on_path: Path) -> None:
    base = _change(clone, {TWO: stack("two", 3), MATRIX: matrix(to="3")})
    summary = clone.parent / "summary.md"
    done = _run(clone, _github("Review"), BASE=base, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 0, done.stdout
    assert "threads" in summary.read_text()
    # GitHub's own command is on its runners only; what it is given is what counts here.
    (hio_on_path / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > ../said\ncat review.md >> ../said\n')
    (hio_on_path / "gh").chmod(0o755)
    assert _run(clone, _github("Comment"), GH_TOKEN="x", NUMBER="7", REPOSITORY="a/b").returncode == 0
    said = (clone.parent / "said").read_text()
    assert said.startswith("pr\ncomment\n7\n--repo\na/b\n") and summary.read_text() in said


@pytest.fixture
def gitlab() -> Iterator[tuple[str, list[tuple[str, str | None, dict[str, list[str]]]]]]:
    """A server that takes notes: its address, and (path, token, form) of each."""
    notes: list[tuple[str, str | None, dict[str, list[str]]]] = []

    class Notes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            notes.append((self.path, self.headers["PRIVATE-TOKEN"], parse_qs(form)))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Notes) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/api/v4", notes
        server.shutdown()


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl, as the job does")
def test_gitlab_gets_the_review_as_a_note_where_there_is_a_token(
    clone: Path, gitlab: tuple[str, list[tuple[str, str | None, dict[str, list[str]]]]]
) -> None:
    url, notes = gitlab
    more = {"CI_API_V4_URL": url, "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "7"}
    more["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = _change(clone, {TWO: stack("two", 3), MATRIX: matrix(to="3")})
    script = _gitlab("hio-review")
    assert _run(clone, script, **more).returncode == 0
    assert notes == []
    done = _run(clone, script, **more, HIO_TOKEN="t")
    assert done.returncode == 0, done.stdout
    [(path, token, form)] = notes
    assert (path, token) == ("/api/v4/projects/5/merge_requests/7/notes", "t")
    assert form["body"] == [(clone / "review.md").read_text()]
