"""Digests of bytes, and the comments that allow a finding."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hio_validate.source import Allowance, digest_of, read


@settings(deadline=None, max_examples=25, database=None)
@given(raw=st.binary(max_size=2000))
@pytest.mark.skipif(not shutil.which("sha256sum"), reason="needs sha256sum")
def test_a_digest_is_what_sha256sum_says(raw: bytes) -> None:
    said = subprocess.run(["sha256sum"], input=raw, capture_output=True, check=True).stdout.decode()
    assert digest_of(raw) == f"sha256:{said.split()[0]}"
    assert read(raw, "x.yaml").digest == digest_of(raw)


def test_a_digest_is_of_the_bytes_as_they_are(tmp_path: Path) -> None:
    digests = {
        read(raw, "x.yaml").digest
        for raw in (b"a: 1\n", b"a: 1", b"a:  1\n", b"\xef\xbb\xbfa: 1\n", b"a: 1\r\n")
    }
    assert len(digests) == 5


@pytest.mark.parametrize(
    ("line", "rule", "reason"),
    [
        ("a: 1  # hio: allow value-mismatch — measured by hand", "value-mismatch", "measured by hand"),
        ("a: 1  # hio: allow value-mismatch - measured by hand  ", "value-mismatch", "measured by hand"),
        ("a: 1  #hio:allow value-mismatch -- because", "value-mismatch", "because"),
        ("a: 1  # hio: allow value-mismatch", "value-mismatch", ""),
        ("# hio: allow duplicate-row – x — y", "duplicate-row", "x — y"),
    ],
)
def test_an_allowance_names_rule_reason_and_place(line: str, rule: str, reason: str) -> None:
    document = read(f"hio: x\n{line}\n".encode(), "x.yaml")
    assert document.allowances == (Allowance(rule, reason, 2, line.index("#") + 1),)


@pytest.mark.parametrize(
    "line", ["a: 1  # hio: allows x", "a: 1  # allow x — y", "a: 1 # hio: allow", "a: 1 # hio: allow X — y"]
)
def test_other_comments_allow_nothing(line: str) -> None:
    assert read(f"{line}\n".encode(), "x.yaml").allowances == ()
