"""What is found in the bytes of a file stands in nothing that is written of it, and is told by its address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hio_validate.importing.results.keeping import Asked, write
from hio_validate.importing.results.reading import reading
from hio_validate.importing.results.source import Source
from tests.importing.results.reading import SAMPLES

BODY = "MIIEvQIBADANBgkq"
GIVEN: dict[str, tuple[str, object]] = {
    "private key": ("tls_pem", f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----"),
    "semicolon": ("launch", f"x --password=abc;{BODY} --model m"),
    "comma": ("launch", f"x --api-key abc,{BODY}"),
    "words in quotes": ("launch", f"x --api-key 'my secret {BODY}'"),
    "quote inside": ("config", {"password": f"abc'{BODY}"}),
    "escaped quote": ("password", f'abc"{BODY}'),
    "escaped backslash": ("config", {"password": f"abc\\{BODY}"}),
    "escaped in JSON in JSON": ("config", json.dumps({"password": f'abc"\\{BODY}'})),
    "pairs": ("headers", [["x-api-key", BODY]]),
    "pairs as Python prints them": ("headers", f"(('x-api-key', '{BODY}'),)"),
}


@pytest.mark.parametrize("given", GIVEN)
def test_no_part_of_a_credential_is_written_wherever_it_is_repeated(tmp_path: Path, given: str) -> None:
    name, value = GIVEN[given]
    first, *_ = (SAMPLES / "sglang-bench/runs.jsonl").read_text(encoding="utf-8").splitlines()
    plain = {key: each for key, each in json.loads(first).items() if key != "server_info"}
    line = {**plain, name: value}
    if given in ("escaped quote", "escaped backslash"):
        line["note"] = f"it was {value['password'] if isinstance(value, dict) else value} then"
    file = tmp_path / "s.jsonl"
    file.write_text(f"{json.dumps(plain)}\n{json.dumps(line)}\n", encoding="utf-8")
    found = reading(Source(file))
    assert found is not None
    root = tmp_path / "repository"
    root.mkdir()
    folder = (
        root / write(found, Asked("kept", "lab/tiny", None, False, {"hio": "0.1.0", "rules": 5}), root)
    ).parent
    assert all(BODY not in each.read_text(encoding="utf-8") for each in folder.iterdir())
    finding, _ = found.findings["secret-withheld"]
    assert finding.line == 2 and f"({name}" in finding.message and BODY not in finding.message
