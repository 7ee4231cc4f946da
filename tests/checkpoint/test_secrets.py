"""Secrets in what would be committed: found at their line, allowed where the line says so, never printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.checkpoint.secrets import refusals
from tests.small_repo import FILES, git

pytest.importorskip("detect_secrets")

HERE = Path(__file__).parents[2]
# In pieces, so that no scanner takes this file for a leak.
SECRETS = {
    "hf_" + "aB3" * 12: "Hugging Face token",
    "nvapi-" + "aB3_" * 12: "NVIDIA API key",
    "AKIA" + "IOSFODNN7EXAMPLE": "AWS Access Key",
    "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8": "GitHub Token",
    "-----BEGIN OPENSSH " + "PRIVATE KEY-----": "Private Key",
    "https://user:" + "s3cr3tpw@example.org/x": "Basic Auth Credentials",
}


@pytest.mark.parametrize("secret", SECRETS, ids=list(SECRETS.values()))
@pytest.mark.parametrize("name", ["stack.yaml", "notes", "a b.md", "server.log", "package-lock.json"])
def test_a_secret_is_found_at_its_line_in_any_file(name: str, secret: str) -> None:
    found = refusals([("fine.txt", b"nothing\n"), (name, f"first\n\xff\nabout {secret}\n".encode("latin-1"))])
    assert [each.path for each in found] == [f"{name}:3"]
    assert SECRETS[secret] in found[0].reason
    assert secret not in " ".join(found[0])


def test_a_password_in_a_mapping_is_found_and_a_line_may_say_that_it_is_none() -> None:
    said = 'password: "hunter2' + 'hunter2"'
    assert len(refusals([("x.yaml", f"{said}\n".encode())])) == 1
    assert refusals([("x.yaml", f"{said} # pragma: allowlist secret\n".encode())]) == []


@pytest.mark.parametrize("line", ['- ["--api-key", "abc"]', '- ["--hf-token", "abc"]', '- ["--api-key=abc"]'])
def test_a_flag_that_says_it_is_secret_must_not_have_a_value(line: str) -> None:
    found = refusals([("stack.yaml", f"argv:\n  - [-t, 1]\n  {line}\n".encode())])
    assert [each.path for each in found] == ["stack.yaml:3"]
    assert "abc" not in found[0].reason
    assert refusals([("stack.yaml", f"argv:\n  {line} # pragma: allowlist secret\n".encode())]) == []


def test_what_names_a_secret_without_holding_it_passes() -> None:
    text = (
        'argv:\n  - ["--api-key", "${key}"]\n  - ["--api-key", withheld]\n  - ["--api-key-file", /etc/key]\n'
    )
    assert refusals([("stack.yaml", text.encode())]) == []


def test_documents_full_of_digests_hold_no_secret() -> None:
    assert refusals([(path, content.encode()) for path, content in FILES.items()]) == []


def test_no_recorded_document_of_this_repository_holds_a_secret() -> None:
    listed = git(HERE, "ls-files", "manifests/services", "manifests/sites", "matrix", "ledger").splitlines()
    assert listed
    assert refusals([(path, (HERE / path).read_bytes()) for path in listed]) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_secret_is_found_in_what_an_editor_saved_wide(encoding: str) -> None:
    text = "a: 1\ntoken = hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH"
    assert [each.path for each in refusals([("u.txt", text.encode(encoding))])] == ["u.txt:2"]
