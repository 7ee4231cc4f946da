"""Who signed the commits that add decisions, approvals and deployments: real ssh keys, real signatures."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hio_validate.diagnostic import Diagnostic
from hio_validate.history.audit import Asked, audit
from tests.cli.console import hio, one_sentence
from tests.history.past import B0, BEGIN, D1, D2, at, entry
from tests.small_repo import git, write

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen makes the keys")
A1 = entry("a1", ("d1", D1), kind="approval", more="approves: deploy\n")


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Two keys; the signers file knows the first."""
    folder = tmp_path / "keys"
    folder.mkdir()
    for name in ("ada", "eve"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name], check=True
        )
    kind, key, _ = (folder / "ada.pub").read_text().split()
    (folder / "signers").write_text(f"ada@example.org {kind} {key}\n")
    return folder


@pytest.fixture
def repo(tmp_path: Path, keys: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "gpg.format", "ssh")
    commit(root, {path: raw for path, raw in BEGIN.items() if isinstance(raw, str)})
    return root


def commit(root: Path, files: dict[str, str], key: Path | None = None) -> str:
    """Commit files, signed where a key is given; the commit's id."""
    write(root, files)
    git(root, "add", "-A")
    signed = ("-c", f"user.signingKey={key}") if key else ()
    git(root, *signed, "commit", "-q", "-m", "x", *(("-S",) if key else ()))
    return git(root, "rev-parse", "HEAD").strip()


def found(root: Path, keys: Path) -> tuple[Diagnostic, ...]:
    return audit(root, Asked(signers=keys / "signers")).found


def test_signed_decisions_pass_and_are_counted(repo: Path, keys: Path) -> None:
    commit(repo, {at("d1"): D1}, keys / "ada")
    commit(repo, {at("a1"): A1}, keys / "ada")
    said = hio(repo, "audit", "--signers", keys / "signers")
    assert said.code == 0, said.all
    assert "2 of 2 decisions signed: no error" in said.out


@pytest.mark.parametrize("who", ["nobody", "eve"])
def test_a_decision_that_no_allowed_signer_committed_is_named(repo: Path, keys: Path, who: str) -> None:
    commit(repo, {at("d1"): D1}, keys / "ada")
    bad = commit(repo, {at("a1"): A1}, None if who == "nobody" else keys / who)
    commit(repo, {"README.md": "x\n"}, keys / "ada")
    (finding,) = found(repo, keys)
    assert (finding.rule, finding.location.file) == ("unsigned-decision", at("a1"))
    assert f"entry a1 was added in commit {bad[:10]}" in finding.message
    assert ("is not signed" if who == "nobody" else "does not list") in finding.message
    assert hio(repo, "audit").code == 0
    assert "1 of 2 decisions signed: 1 error" in hio(repo, "audit", "--signers", keys / "signers").out


def test_a_signature_over_another_commit_is_none(repo: Path, keys: Path) -> None:
    commit(repo, {at("d1"): D1}, keys / "ada")
    raw = git(repo, "cat-file", "commit", "HEAD").replace("\nx\n", "\nx, changed\n")
    forged = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=repo,
        input=raw,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    git(repo, "reset", "-q", "--hard", forged)
    (finding,) = found(repo, keys)
    assert forged[:10] in finding.message and "has a bad signature" in finding.message


def test_a_decision_that_a_merge_brings_must_be_signed_by_the_merge(repo: Path, keys: Path) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {at("d1"): D1}, keys / "ada")
    git(repo, "checkout", "-q", "main")
    commit(repo, {at("d2"): D2}, keys / "ada")
    git(repo, "merge", "-q", "--no-commit", "side")
    git(repo, "commit", "-q", "-m", "merge")
    assert found(repo, keys) == ()
    git(repo, "reset", "-q", "--hard", "HEAD^")
    git(repo, "merge", "-q", "--no-commit", "side")
    bad = commit(repo, {at("a1"): A1})
    (finding,) = found(repo, keys)
    assert finding.location.file == at("a1") and bad[:10] in finding.message


def test_what_a_repository_sets_does_not_decide(repo: Path, keys: Path) -> None:
    commit(repo, {at("d1"): D1}, keys / "eve")
    (keys / "all").write_text((keys / "signers").read_text() + "* " + (keys / "eve.pub").read_text())
    (keys / "yes").write_text(
        "#!/bin/sh\necho 'Good \"git\" signature for ada@example.org with ED25519 key SHA256:x'\n"
    )
    (keys / "yes").chmod(0o755)
    for name, value in {"allowedSignersFile": keys / "all", "program": keys / "yes"}.items():
        git(repo, "config", f"gpg.ssh.{name}", str(value))
    assert [each.rule for each in found(repo, keys)] == ["unsigned-decision"]


def test_since_asks_for_later_signatures_only(repo: Path, keys: Path) -> None:
    last = commit(repo, {at("d1"): D1})
    commit(repo, {at("d2"): D2}, keys / "ada")
    done = audit(repo, Asked(since=last, signers=keys / "signers"))
    assert (done.found, done.audited.decisions, done.audited.signed) == ((), 1, 1)


def test_baselines_and_increments_need_no_signature(repo: Path, keys: Path) -> None:
    commit(repo, {at("i1"): entry("i1", ("b0", B0), kind="increment", more="factor: server.threads\n")})
    assert audit(repo, Asked(signers=keys / "signers")).audited.decisions == 0


def test_without_ssh_keygen_nothing_is_verified(repo: Path, keys: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(shutil.which("git") or "")
    said = hio(repo, "audit", "--signers", keys / "signers", env={"PATH": str(tmp_path / "bin")})
    assert said.code == 3
    assert one_sentence(said) == "hio: signatures not verifiable: ssh-keygen is not installed"
