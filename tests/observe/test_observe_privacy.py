"""What may be kept of a command line and an environment; a planted secret is nowhere (contract 1.8)."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hio_validate.models import reader
from hio_validate.models.family import Family
from hio_validate.observe.privacy import grouped, keep, scrubbed
from hio_validate.settings.catalogue import Arity, Catalogue, Option
from hio_validate.settings.credentials import Grammar
from hio_validate.settings.secrets import WITHHELD, says_secret

FAMILY: Family = reader("family/v1").validate_python(
    {
        "hio": "family/v1",
        "name": "engine",
        "classes": {"secret": ["api-key", "hf-token", "mcp-config"]},
        "env-prefix": ["ENGINE_"],
    }
)
CATALOGUE = Catalogue(
    (
        Option("threads", ("-t", "--threads"), env=("ENGINE_THREADS",)),
        Option("temp", ("--temp",)),
        Option("mmap", ("--mmap",), ("--no-mmap",), arity=Arity.NONE),
        Option("cache", ("--cache",), ("--no-cache",)),
        Option("range", ("--range",), arity=Arity.TWO),
        Option("flash", ("-fa", "--flash"), arity=Arity.OPTIONAL),
        Option("override-kv", ("--override-kv",)),
        Option("max-num-batched-tokens", ("--max-num-batched-tokens",)),
        Option("long-prefill-token-threshold", ("--long-prefill-token-threshold",)),
        Option("template-kwargs", ("--template-kwargs",)),
        Option("model-url", ("-mu", "--model-url"), env=("ENGINE_MODEL_URL",)),
        Option("api-key", ("-k", "--api-key"), env=("ENGINE_KEY",)),
        Option("hf-token", ("-hft", "--hf-token"), env=("HF_ACCESS",)),
    )
)
GRAMMAR = Grammar(FAMILY, CATALOGUE)
NO_CATALOGUE = Grammar(FAMILY, None)
NOTHING = Grammar(None, None)


def argv(*words: str, grammar: Grammar = GRAMMAR) -> tuple[list[list[str]], list[str]]:
    kept = keep(["engine", *words], {}, grammar)
    return kept.argv[1:], kept.argv_withheld


def test_one_flag_with_its_values_a_line() -> None:
    words = [
        "engine",
        "serve",
        "-t",
        "2",
        "--temp",
        "-1",
        "--no-mmap",
        "--no-cache",
        "stray",
        "--range",
        "-1",
        "-2",
        "-fa",
        "--temp",
        "0",
    ]
    assert grouped(words, GRAMMAR) == [
        ["engine"],
        ["serve"],
        ["-t", "2"],
        ["--temp", "-1"],
        ["--no-mmap"],
        ["--no-cache"],
        ["stray"],
        ["--range", "-1", "-2"],
        ["-fa"],
        ["--temp", "0"],
    ]


WORDS = st.lists(
    st.sampled_from(
        ["-t", "--temp", "--range", "-fa", "--mmap", "--what", "--x=1", "-1", "-", "--", "", "a b"]
    )
    | st.text()
)


@given(WORDS, st.sampled_from([GRAMMAR, NO_CATALOGUE, NOTHING]))
def test_flattened_it_is_the_raw_command_line(words: list[str], grammar: Grammar) -> None:
    assert [word for line in grouped(words, grammar) for word in line] == words


@pytest.mark.parametrize("grammar", [GRAMMAR, NO_CATALOGUE])
@pytest.mark.parametrize("flag", ["--api-key", "--api_key", "--hf-token", "-hft"])
def test_a_secret_flag_by_every_spelling(flag: str, grammar: Grammar) -> None:
    assert argv(flag, "planted", "-t", "2", grammar=grammar) == ([[flag, WITHHELD], ["-t", "2"]], [flag])
    assert argv(flag, "-planted", "--temp", "1", grammar=grammar)[0] == [[flag, WITHHELD], ["--temp", "1"]]


def test_a_secret_after_an_equals_sign() -> None:
    assert argv("--api-key=planted") == ([[f"--api-key={WITHHELD}"]], ["--api-key"])
    assert argv("-Dpassword=planted") == ([[f"-Dpassword={WITHHELD}"]], ["-Dpassword"])
    assert argv("DB_PASSWORD=planted") == ([[f"DB_PASSWORD={WITHHELD}"]], ["DB_PASSWORD"])


def test_an_abbreviated_flag_is_read_as_argparse_reads_it() -> None:
    assert argv("--api-k", "planted") == ([["--api-k", WITHHELD]], ["--api-k"])


@pytest.mark.parametrize(
    "value",
    [
        '{"headers": {"Authorization": "planted-value"}}',
        '{"servers": [{"env": {"apiKey": "planted-value"}}]}',
        "https://user:planted-value@host/model.gguf",
        "https://host/model.gguf?access_token=planted-value",
        "Authorization: planted-value",
        "Bearer planted-value",
        "hf_plantedplantedplanted",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_secret_inside_a_value(value: str) -> None:
    assert argv("--template-kwargs", value) == ([["--template-kwargs", WITHHELD]], ["--template-kwargs"])
    kept = keep(["engine"], {"ENGINE_MODEL_URL": value}, GRAMMAR)
    assert (kept.values, kept.environ_withheld) == ({}, ["ENGINE_MODEL_URL"])


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--override-kv", "tokenizer.ggml.add_bos_token=bool:false"),
        ("--override-kv", "tokenizer.ggml.eos_token_id=int:1"),
        ("--max-num-batched-tokens", "8192"),
        ("--long-prefill-token-threshold", "512"),
        ("--template-kwargs", '{"enable_thinking": false, "bos_token": "<s>"}'),
        ("--model-url", "https://host:8080/model.gguf?download=true"),
        ("--tokenizer", "some/tokenizer"),
        ("--api-key-file", "/run/keys"),
    ],
)
def test_settings_about_tokens_are_no_secrets(flag: str, value: str) -> None:
    assert argv(flag, value) == ([[flag, value]], [])


def test_values_of_settings_only() -> None:
    environ = {
        "ENGINE_THREADS": "2",
        "ENGINE_KEY": "planted-1",
        "ENGINE_OTHER_TOKEN": "planted-2",
        "HF_ACCESS": "planted-3",
        "LD_PRELOAD": "/lib/x.so",
        "OMP_NUM_THREADS": "4",
        "HOME": "/home/someone",
        "TOKENIZERS_PARALLELISM": "true",
        "GITHUB_TOKEN": "planted-4",
        "PWD": "/home/someone",
        "X_API_KEY": "planted-5",
    }
    kept = keep(["engine"], environ, GRAMMAR)
    assert kept.names == sorted(environ)
    assert kept.values == {"ENGINE_THREADS": "2", "LD_PRELOAD": "/lib/x.so", "OMP_NUM_THREADS": "4"}
    assert kept.environ_withheld == [
        "ENGINE_KEY",
        "ENGINE_OTHER_TOKEN",
        "GITHUB_TOKEN",
        "HF_ACCESS",
        "X_API_KEY",
    ]
    assert {f"planted-{number}" for number in range(1, 6)} <= kept.secrets
    assert "planted" not in repr(kept)


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "apiKey", "db-password", "AWS_SECRET_ACCESS_KEY", "x-api-key", "CREDENTIALS"]
)
def test_names_that_say_so(name: str) -> None:
    assert says_secret(name)


@pytest.mark.parametrize(
    "name", ["threads", "TOKENIZERS_PARALLELISM", "bos_token", "keep", "CREDENTIALS_DIRECTORY", "PWD"]
)
def test_names_that_do_not(name: str) -> None:
    assert not says_secret(name)


SECRET = st.text(string.ascii_letters + string.digits + "!-_./+=,:{}\"' ", min_size=8, max_size=40).map(
    "%s§q".__mod__
)
CARRIERS = st.sampled_from(
    [
        lambda secret: (["--api-key", secret], {}),
        lambda secret: ([f"--api-key={secret}"], {}),
        lambda secret: (["--hf_token", secret], {}),
        lambda secret: (["--other-password", secret], {}),
        lambda secret: (["--template-kwargs", json.dumps({"a": [{"client_secret": secret}]})], {}),
        lambda secret: ([], {"ENGINE_KEY": secret}),
        lambda secret: ([], {"SOME_TOKEN": secret, "ENGINE_THREADS": f"see {secret}"}),
        lambda secret: (["--api-key", secret, "--alias", secret, "--path", f"/keys/{secret}"], {}),
    ]
)


@given(SECRET, CARRIERS, WORDS, st.sampled_from([GRAMMAR, NO_CATALOGUE, NOTHING]))
def test_a_planted_secret_is_nowhere(secret: str, carry: object, words: list[str], grammar: Grammar) -> None:
    # A word before the flag could take the flag itself as its value, as it would in the engine.
    assume(not words or not words[-1].startswith("-"))
    planted, environ = carry(secret)  # type: ignore[operator]
    kept = keep(["engine", *planted, "--temp", "1", *words], environ, grammar)
    shown = {"argv": kept.argv, "names": kept.names, "values": kept.values, "alias": f"model {secret}"}
    told = json.dumps(scrubbed(shown, kept.secrets), ensure_ascii=False)
    assert secret not in told
    assert json.dumps(secret, ensure_ascii=False)[1:-1] not in told


def test_scrubbing_leaves_digests_and_words_of_ours() -> None:
    data = {"how": "unknown", "sha256": "unknown1" * 8, "path": "/a/unknown", "list": ["unknown", 1, None]}
    assert scrubbed(data, ["unknown"]) == data | {"path": WITHHELD, "list": [WITHHELD, 1, None]}
    assert scrubbed(data, ["a"]) == data
