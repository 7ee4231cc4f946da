"""No report shows the value of a secret that a document states, whatever is found on its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.report import FORMATS
from tests.cli.console import hio
from tests.small_repo import write

SECRET = "open-sesame-77"
TOKEN = "hf_abcdefghijklmnopqrstuvwxyz"
STACK = "manifests/services/lab/tiny/stacks/base.yaml"
HEAD = "hio: stack/v1\nname: base\nprocesses:\n  server:\n    engine: llama-server\n    argv:\n"
DOCUMENTS = {
    "flag": f'{HEAD}      - ["--api-key", {SECRET}]\n',
    "inline": f'{HEAD}      - ["--api-key={SECRET}"]\n',
    "escaped": f'{HEAD}      - ["--api-key", "open-sesame\\u002d77"]\n',
    "own line": f"{HEAD}      - - --api-key\n        - {SECRET}\n",
    "variable": f"{HEAD}      - [-t, '1']\n    env: {{HF_TOKEN: {SECRET}, LLAMA_ARG_THREADS: '2'}}\n",
    "looks": f"{HEAD}      - [--alias, x, {TOKEN}]\n",
    "no text": f"{HEAD}      - [--api-key, {SECRET}, 5]\n",
    "not valid": f"{HEAD}      - [--api-key, {SECRET}]\n    env: {{HF_TOKEN: [{SECRET}]}}\n",
    "syntax": f'{HEAD}      - ["--api-key", {SECRET}\n    env: {{}}\n',
    "syntax on its own line": f"{HEAD}      - - --api-key\n        - {SECRET}: [\n",
    "twice": f"{HEAD}      - [--api-key, {SECRET}]\n    env: {{HF_TOKEN: a-b-c-d, HF_TOKEN: {SECRET}}}\n",
    "ambiguous": f"{HEAD}      - [--api-key, 1_000_{SECRET}]\n    env: {{API_KEY: 0x11_{SECRET}, THREADS: 1_0}}\n",
}


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=list(DOCUMENTS))
def test_no_format_shows_a_secret(tmp_path: Path, text: str, format_: str) -> None:
    write(tmp_path, {STACK: text})
    said = hio(tmp_path, "validate", "--format", format_)
    assert said.code == 1
    assert "base.yaml" in said.out
    for secret in ("sesame", TOKEN):
        assert secret not in said.all
