"""Whatever is given: a draft that is a valid stack, or one sentence. Never a traceback, never a hang, never a secret."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.configurations.words import split
from tests.importing.configurations.imported import imported, words
from tests.importing.configurations.test_formats import COMPOSE, MANIFEST, RECIPE, SWAP, VALUES

UNIT = "[Service]\nEnvironment='A=b c' B=%h\nExecStart=/usr/bin/env X=1 /bin/sh -c 'exec llama-server -m \"$A\" -t 4'\n"
SCRIPT = "#!/bin/sh\nM=/a.gguf\nexec docker run --rm -e A=1 vllm/vllm-openai:x --model $M --y '{\"a\": [1]}' > log 2>&1\n"
JSON = '["llama-server", "-m", "/a.gguf", "--port", "1"]'
ENV = "LLAMA_ARG_MODEL=/a.gguf\nexport X='a b' \nTOKEN=\"abcdef\\\ngh\"\n"
SEEDS = {"compose": COMPOSE, "manifest": MANIFEST, "recipe": RECIPE, "swap": SWAP, "values": VALUES, "unit": UNIT,
         "script": SCRIPT, "json": JSON, "env": ENV}  # fmt: skip
PIECES = st.sampled_from(
    [b"\n", b"\0", b"'", b'"', b"{", b"}", b"[", b"]", b":", b"- ", b"&a ", b"*a", b"<<: ", b"$(", b"${", b"`", b"\\", b"\\\n",
     b"#", b"!!python/object:x ", b"\xff", b"\xe2\x80\xae", b"\r\n", b"---\n", b"%h", b"{{", b"=", b"|\n", b">-\n", b"\t", b";",
     b"docker run ", b"sh -c ", b"env -i ", b"llama-server ", b"vllm serve ", b"--api-key ", b"1e9", b"~", b"" ]
)  # fmt: skip
CHANGES = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 30), PIECES), min_size=1, max_size=6)
anything = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=60,
)


def _tried(folder: Path, raw: bytes) -> None:
    try:
        imported(folder, raw)
    except CannotImport as error:
        assert str(error) and "\n" not in str(error)
        assert error.code in (1, 3)


@pytest.mark.parametrize("seed", SEEDS)
@anything
@given(changes=CHANGES)
def test_a_damaged_configuration(tmp_path: Path, seed: str, changes: list[tuple[int, int, bytes]]) -> None:
    raw = SEEDS[seed].encode()
    for at, length, piece in changes:
        at = at % (len(raw) + 1)
        raw = raw[:at] + piece + raw[at + length :]
    _tried(tmp_path, raw)


@anything
@given(
    raw=st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes(tmp_path: Path, raw: bytes) -> None:
    _tried(tmp_path, raw)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("llama-server " + "$(" * 20_000, id="substitutions"),
        pytest.param("llama-server " + "${" * 50_000, id="braces"),
        pytest.param("sh -c " * 5_000 + "llama-server", id="shells"),
        pytest.param("a: " + "[" * 5_000, id="brackets"),
        pytest.param("a:\n" + "".join(f"{' ' * n}b:\n" for n in range(300)), id="levels"),
        pytest.param("a: &a [x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)), id="bomb"),
        pytest.param("llama-server " + "\\\n" * 100_000, id="continuations"),
        pytest.param("models:\n" + "".join(f"  m{n}: {{cmd: llama-server -t {n}}}\n" for n in range(2_000)), id="models"),
        pytest.param("[Service]\nExecStart=/bin/sh -c 'exec llama-server \"x'\n", id="open-quote-in-a-unit"),
        pytest.param("models:\n  a: {cmd: 'sh -c \"llama-server \\\\\"x\"'}\n", id="open-quote-in-a-model"),
    ],
)  # fmt: skip
def test_what_grows_ends(tmp_path: Path, text: str) -> None:
    _tried(tmp_path, text.encode())


@anything
@given(secret=st.text("abcdefghij0123456789", min_size=12, max_size=30))
def test_no_secret_leaves(tmp_path: Path, secret: str) -> None:
    key = f"sk-{secret}0123456789"
    texts = [
        f"llama-server --api-key {key} -t 4",
        f"[Service]\nEnvironment=HF_TOKEN={key}\nExecStart=/x/llama-server --api-key {key}$MORE\n",
        f"models:\n  a: {{cmd: 'llama-server --api-key {key} ${{x}}', env: ['A_TOKEN={key}', '{key}']}}\n",
        f"services:\n  a: {{image: vllm/vllm-openai, command: [--api-key, '{key}'], environment: ['T_TOKEN={key}']}}\n",
        f"prefill:\n  api-key: {key}\n  args: [--api-key, {key}]\n  env: {{MY_TOKEN: {key}}}\n",
        VALUES.replace("very-secret-key-of-mine", key),
        f'["vllm", "serve", "m", "--api-key", "{key}"]',
    ]
    for text in texts:
        for draft in imported(tmp_path, text):
            assert secret not in draft.content("x").decode() and secret not in str(draft)


# --- words ------------------------------------------------------------------------------------------------


@anything
@given(
    given_=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=20), max_size=6)
)
def test_what_a_shell_would_read_comes_back(given_: list[str]) -> None:
    """shlex.join quotes for POSIX: reading it gives the words again, and none of them is open."""
    text = shlex.join(given_)
    for shell in (True, False):
        found = split(text, shell=shell)
        assert [word.text for word in found if not word.is_operator] == given_
        assert not any(word.expands or word.is_operator for word in found)


@anything
@given(text=st.text("ab '\"\\\n:,-", max_size=30).filter(lambda text: "\\\n" not in text))
def test_without_operators_words_are_those_of_shlex(text: str) -> None:
    """The standard library is the other reader; it keeps a line end behind a backslash, which no shell does."""
    try:
        theirs = shlex.split(text)
    except ValueError:
        return
    assert [word.text for word in split(text, shell=False)] == theirs


@anything
@given(
    data=st.dictionaries(
        st.text("ab_", min_size=1), st.booleans() | st.integers() | st.text("xyz", min_size=1), min_size=1
    )
)
def test_json_survives_every_way_of_writing_it(tmp_path: Path, data: dict[str, object]) -> None:
    import json

    text = json.dumps(data, separators=(",", ":"))
    escaped = text.replace('"', '\\"')
    for given_ in (
        f"vllm serve m --compilation-config '{text}'",
        f"vllm serve m --compilation-config {text}",
        f'vllm serve m --compilation-config "{escaped}"',
        json.dumps(["vllm", "serve", "m", "--compilation-config", text]),
        f"prefill:\n  extra-args: >-\n    serve m\n    --compilation-config {text}\n",
        f"models:\n  a:\n    cmd: |\n      vllm serve m --compilation-config {text}\n",
        f"services:\n  a:\n    image: vllm/vllm-openai\n    command: [--compilation-config, '{text}']\n",
    ):
        (draft,) = imported(tmp_path, given_)
        assert words(draft, next(iter(draft.data["processes"])))[-1] == text
