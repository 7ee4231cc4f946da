"""What the readers of a repository tell of qualifications, rollback plans and attempts that never stood."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.console import hio
from tests.review.prepared import git

CASES = Path(__file__).parents[1] / "rules"
SERVICE = "lab/gemma-270m"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    git(tmp_path / "repo", "init", "-q", "-b", "main")
    return tmp_path / "repo"


def _with(repo: Path, case: str) -> None:
    shutil.copytree(CASES / case, repo, dirs_exist_ok=True)
    (repo / "expect.txt").unlink()
    git(repo, "add", "-A")


def test_the_ledger_tells_what_was_tried_and_never_stood(repo: Path) -> None:
    _with(repo, "incomplete-deployment/pass-an-attempt-taken-back")
    page = hio(repo, "ledger", "show", SERVICE)
    assert (
        "attempts that never stood\n  next\n    2026-09-06-undone, by ana\n    readiness: it ended\n"
        in page.out
    )
    shape = json.loads(hio(repo, "ledger", "show", SERVICE, "--format", "json").out)
    (attempt,) = shape["ledgers"][0]["attempts"]
    assert (attempt["stack"], attempt["failed"]) == ("next", {"readiness": "it ended"})


def test_a_review_tells_the_receipt_and_the_way_back(repo: Path) -> None:
    (repo / "README").write_text("x")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "first")
    git(repo, "switch", "-q", "-c", "change")
    _with(repo, "unqualified-deployment/fail-failed-probes-is-an-error")
    shutil.copytree(
        CASES / "misdirected-rollback-plan/pass-smallest/manifests", repo / "manifests", dirs_exist_ok=True
    )
    _with(repo, "unqualified-deployment/fail-failed-probes-is-an-error")
    git(repo, "commit", "-q", "-m", "deployed")
    page = hio(repo, "review", "main..change").out
    told = " ".join(page.split())
    assert "qualification next-probed" in told and "append-reuse failed: 0 of 60 tokens" in told
    assert "takes next away at lab; then serves: base" in told


def test_status_asks_for_a_receipt_until_one_passed(repo: Path) -> None:
    _with(repo, "unqualified-deployment/pass-smallest")
    (repo / "ledger/lab/gemma-270m/2026/2026-09-05-deployed.yaml").unlink()
    wanted = "a qualification of exactly its bytes in which every probe passed: hio qualify base"
    status = json.loads(hio(repo, "status", "--format", "json").out)["services"][SERVICE]
    assert wanted in next(each for each in status if each["stack"] == "base")["missing"]
    receipt = repo / "manifests/services/lab/gemma-270m/qualifications/next-probed.yaml"
    base = (repo / "manifests/services/lab/gemma-270m/stacks/base.yaml").read_bytes()
    text = receipt.read_text()
    pin = next(line for line in text.splitlines() if line.startswith("stack:"))
    receipt.write_text(text.replace(pin, f'stack: "base@sha256:{sha256(base).hexdigest()}"'))
    status = json.loads(hio(repo, "status", "--format", "json").out)["services"][SERVICE]
    assert wanted not in next(each for each in status if each["stack"] == "base")["missing"]


@pytest.mark.parametrize(
    "case", ["qualification-contradicts-rows/fail-smallest", "misdirected-rollback-plan/fail-smallest"]
)
def test_one_file_alone_is_judged_as_in_the_whole_repository(repo: Path, case: str) -> None:
    _with(repo, case)
    rule = case.partition("/")[0]
    room = "qualifications" if rule.startswith("qualification") else "rollbacks"
    (file,) = (repo / "manifests/services/lab/gemma-270m" / room).glob("*.yaml")
    alone = hio(repo, "validate", str(file.relative_to(repo)))
    assert alone.code == 1 and rule in alone.out
