"""Credentials are found wherever they stand, and what only looks like a name of one is not taken for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.observed import Measured, Observation
from hio_validate.importing.results.credentials_seen import secret_in, secrets_in, without_credentials
from hio_validate.importing.results.private import withheld
from hio_validate.settings.credentials import SECRET_VALUE
from hio_validate.settings.secrets import WITHHELD
from tests.importing.results.reading import SAMPLES

SECRET = "qwertyuiop12"


@pytest.mark.parametrize(
    "line",
    [
        f'{{"api_key": "{SECRET}"}}',
        f'  "OPENAI_API_KEY" : "{SECRET}",',
        f'{{"cmd": "{{\\"hf-token\\": \\"{SECRET}\\"}}"}}',
        f"aiperf profile --api-key {SECRET} -m tiny",
        f"vllm bench serve --api-key={SECRET}",
        f"HF_TOKEN={SECRET} python x.py",
        f'"headers": "Authorization: Bearer {SECRET}"',
        f'{{"key": "API_KEY", "value": "{SECRET}"}}',
        f'{{"key": "{SECRET}", "time_ms": 1.5}}',
        "https://me:hunter22@example.org/v1",
        "x hf_abcdefghijklmnopqrst",
        f'{{"argv": ["vllm", "bench", "serve", "--api-key", "{SECRET}"]}}',
        f'{{"argv": ["curl", "-H", "X-API-Key: {SECRET}"]}}',
        f'{{"header": ["Authorization=Token {SECRET}"]}}',
        f'{{"hdr": "Authorization: Token {SECRET}"}}',
        f'{{"env": [{{"name": "HF_TOKEN", "value": "{SECRET}"}}]}}',
        f"Namespace(api_key='{SECRET}', model='m')",
        f"{{'api_key': '{SECRET}'}}",
        f'{{"config": "api_key: {SECRET}\\nmodel: m"}}',
        f"- --api-key - {SECRET}",
        "İ" * 3 + f' "password": "{SECRET}"',
    ],
)
def test_a_credential_is_found_and_not_shown(line: str) -> None:
    found = secret_in(line)
    assert found is not None and SECRET not in found and "hunter22" not in found


@pytest.mark.parametrize(
    "line",
    [
        '{"prompt_tokens": 512, "total_output_tokens": 1000000}',
        '{"token": "Hello,", "logprob": -0.5}',
        '{"eos_token": "</sss>", "pad_token_id": 151643}',
        '{"api_key": null, "token": ""}',
        '{"api_key": "EMPTY", "hf_token": "<redacted>"}',
        "--tokenizer meta-llama/Llama-3.1-8B --max-tokens 128000",
        '{"tokenizer_id": "org/model-name", "keys": 123456}',
        "https://example.org/v1?x=1@2",
        "OPENAI_API_KEY=EMPTY vllm serve",
        '{"output_tokens": "synthetic"}',
        ':::MLLOG {"key": "loadgen_version", "value": "6.0.17 @ d6147c7eb7", "time_ms": 0.007}',
        ':::MLLOG {"key": "result_token_throughput", "value": 2.5e-06, "time_ms": 0.007}',
        '{"prompt": "The key: understanding what matters"}',
        '{"argv": ["--api-key", "--model", "m"]}',
        '{"key": "mean ttft", "value": 3}',
        '["token", "the", "secret", "treasure"]',
        '{"prompt": "let key = understanding of it"}',
    ],
)
def test_other_lines_hold_none(line: str) -> None:
    assert secret_in(line) is None


LOOKS = st.sampled_from(
    [
        "hf_",
        "sk-",
        "ghp_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "AKIA",
        "xoxb-",
        "eyJ",
        "Bearer ",
        "bearer ",
        "Basic ",
    ]
)


@given(LOOKS, st.text("ABCDEFGH0123", min_size=20, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_whatever_looks_like_one_is_found_in_any_line(
    looks: str, secret: str, before: str, after: str
) -> None:
    line = f"{before} {looks}{secret} {after}"
    assert (secret_in(line) is not None) or not SECRET_VALUE.search(line)


def test_facts_are_withheld() -> None:
    record = Observation(
        "a",
        line=3,
        subject={"api_key": SECRET, "model": "tiny"},
        foreign={"headers.authorization": f"Bearer {SECRET}", "last_prompt": "word " * 30, "note": "short"},
    )
    told = list(withheld(record))
    assert record.subject == {"api_key": WITHHELD, "model": "tiny"}
    assert record.foreign == {
        "headers.authorization": WITHHELD, "last_prompt": WITHHELD, "note": "short",
    }  # fmt: skip
    assert [each.line for each in told] == [3, 3] and SECRET not in str(told)


@pytest.mark.parametrize(
    "format",
    ["mlperf", "nsys-kernels", "ncu-details", "lm-eval", "lm-eval-samples", "inferencex", "inference-perf"],
)
def test_results_as_tools_write_them_hold_no_credential(format: str) -> None:
    for file in sorted((SAMPLES / format).iterdir()):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert secret_in(line) is None, (file.name, line[:80])


def test_the_value_alone_is_withheld_and_its_address_is_told() -> None:
    record = Observation(
        "one",
        7,
        foreign={"argv": f'["bench", "--api-key", "{SECRET}", "--model", "m"]', "config.api_key": "abc"},
    )
    found = list(withheld(record))
    assert record.foreign["argv"] == f'["bench", "--api-key", "{WITHHELD}", "--model", "m"]'
    assert record.foreign["config.api_key"] == WITHHELD
    assert [(each.id, each.line) for each in found] == [("secret-withheld", 7)] * 2
    assert [each.message.partition(" ")[0] for each in found] == ["foreign.argv", "foreign.config.api_key"]


@pytest.mark.parametrize("text", [f"x {SECRET} y", f"cut at its end: {SECRET[:7]}"], ids=["whole", "cut"])
def test_what_stands_elsewhere_in_the_file_is_repeated_nowhere(text: str) -> None:
    record = Observation(
        text,
        3,
        at=text,
        subject={"tag": text},
        workload={text: 1},
        unknown=(text, "the device"),
        foreign={"a": text},
    )
    list(withheld(record, {SECRET}))
    assert SECRET[:7] not in repr(record)
    assert record.name == "record-3" and record.unknown == ("the device",)


@given(st.text("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=12, max_size=30), st.sampled_from(
    ['"api_key": "{}"', "'api_key': '{}'", "--api-key {}", "--api-key={}", '"--api-key", "{}"', "X-Api-Key: {}",
     "HF_TOKEN={}", "?api_key={}&x=1", "Authorization: Bearer {}"]))  # fmt: skip
def test_what_is_found_is_the_value_itself(secret: str, spelt: str) -> None:
    secret = f"K{secret}"  # digits alone are a number
    text = "a " + spelt.format(secret) + " b"
    assert any(secret in each.value for each in secrets_in(text))
    assert secret not in without_credentials(text)


BODY = "MIIEvQIBADANBgkq"
LOOKING_LIKE_ONE = {
    "key": f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END PRIVATE KEY-----",
    "key of a kind": f"-----BEGIN RSA PRIVATE KEY-----\\n{BODY}",
    "jwt": f"eyJhbGciOiJI.eyJzdWIiOiIx.{BODY}",
    "url": f"https://me:word@{BODY}@host/v1",
    "hf": f"hf_abcdefghijklmnopqrst+{BODY}",
}


@pytest.mark.parametrize("value", LOOKING_LIKE_ONE.values(), ids=LOOKING_LIKE_ONE)
def test_nothing_of_what_looks_like_one_is_kept_or_said(value: str) -> None:
    record = Observation("one", 7, foreign={"model": "tiny", "tls_pem": f"x {value}"})
    assert [each.message.partition(" ")[0] for each in withheld(record)] == ["foreign.tls_pem"]
    assert record.foreign == {"model": "tiny", "tls_pem": WITHHELD}
    assert without_credentials(f"it says {value!r}") == f"it says {value!r}"[:9] + WITHHELD


def test_a_private_key_is_found_with_its_body_and_a_jwt_with_its_signature() -> None:
    line = (
        '{"tls_pem": "' + LOOKING_LIKE_ONE["key of a kind"] + '", "jwt": "' + LOOKING_LIKE_ONE["jwt"] + '"}'
    )
    assert [each.value for each in secrets_in(line)] == [
        LOOKING_LIKE_ONE["key of a kind"], LOOKING_LIKE_ONE["jwt"],
    ]  # fmt: skip


TAILS = {
    "semicolon": ("argv", "x --password=abc;defgh123 --model m", "x --password=withheld --model m"),
    "comma": ("argv", "x --api-key abc,defgh123", "x --api-key withheld"),
    "words in quotes": ("argv", "x --api-key 'my secret pass phrase' -m m", "x --api-key 'withheld' -m m"),
    "quote inside": ("config", '{"password": "abc\'defgh12345", "n": 1}', '{"password": "withheld", "n": 1}'),
    "quote first": ("config", "{\"password\": \"'abcdefgh'\"}", '{"password": "withheld"}'),
    "quote of JSON in JSON": ("config", r'{"a": "{\"password\": \"abc\\\"defgh123\"}"}', r'{"a": "{\"password\": \"withheld\"}"}'),
    "two quoted pieces": ("argv", "x --password='abcdef'defgh123", WITHHELD),
    "a quoted piece": ("argv", "x --password=abcdef'defg h123'", WITHHELD),
    "a comma in the second piece": ("argv", "x --password=abcdef', defgh123'", WITHHELD),
    "a blank that is escaped": ("argv", "x --password=abcdef\\ defgh123", WITHHELD),
    "slash": ("argv", "password:abc/defgh123", "password:withheld"),
    "cookies": ("argv", 'curl -H "Cookie: a=b; session=defgh123" x', 'curl -H "Cookie: withheld" x'),
    "pairs": ("headers", '[["x-api-key", "ab12c"]]', '[["x-api-key", "withheld"]]'),
    "pair of bytes": ("headers", "[(b'x-api-key', b'abcdef12gh')]", "[(b'x-api-key', b'withheld')]"),
    "short one of a flag": ("argv", "x --api-key ab12c", "x --api-key withheld"),
    "header": ("extra_headers.x-api-key", "ab12c", WITHHELD),
    "YAML": ("config", 'api_key: "ab12c"', 'api_key: "withheld"'),
    "TOML": ("config", 'api_key = "ab12c"', 'api_key = "withheld"'),
    "query": ("url", "http://h/v1?api_key=abcdef12gh&n=1", "http://h/v1?api_key=withheld"),
}  # fmt: skip


@pytest.mark.parametrize(("key", "value", "kept"), TAILS.values(), ids=TAILS)
def test_no_part_of_a_credential_is_left(key: str, value: str, kept: str) -> None:
    record = Observation("one", 7, foreign={"model": "m", key: value})
    assert [each.id for each in withheld(record)] == ["secret-withheld"]
    assert record.foreign == {"model": "m", key: kept}
    said = without_credentials(
        f"got {value}" if key in ("argv", "config", "headers", "url") else f"{key}: {value}"
    )
    assert not any(part in said for part in ("defg", "ab12c", "pass phrase", "abcdef12")) and WITHHELD in said


@pytest.mark.parametrize(
    ("name", "value"),
    [("sort_key", "latency"), ("keys", "mean_latency"), ("pass", "strict"), ("api_key", "vllm"), ("api_key", "llama.cpp")],
)  # fmt: skip
def test_an_ordinary_word_under_a_name_that_may_mean_something_else_is_none(name: str, value: str) -> None:
    assert secret_in(f'{{"password": null, "{name}": "{value}"}}') is None
    record = Observation("one", 7, foreign={f"config.{name}": value})
    assert not list(withheld(record)) and record.foreign == {f"config.{name}": value}
    assert secret_in('{"signing_key": "correcthorse", "sort_key": "correct horse battery 1"}')
    assert secret_in('{"sort_key": "qwertyuiopasdfghjkl"}'), "no word has as many letters"


def test_a_word_that_is_a_credential_is_taken_out_as_a_whole_token_and_leaves_what_the_importer_says() -> (
    None
):
    record = Observation(
        "one",
        7,
        subject={"latency": 1, "model": "latencymodel", "sort": "by latency first"},
        unknown=("latency of the network",),
        foreign={"about": "it came late", "note": "too late for the word", "by latency": 1},
        metrics=[
            Measured("mean_latency", "latency-request", "mean", 2.0, "s"),
            Measured("latency", "latency-request", "value", 2.0, "s"),
            Measured("latency", "unknown", "value", 2.0, "s"),
            Measured(f"x{SECRET}", "latency-request", "value", 2.0, "s"),
        ],
    )
    list(withheld(record, {"latency", SECRET}))
    assert record.subject == {"latency": 1, "model": "latencymodel", "sort": "by withheld first"}
    assert record.unknown == ("latency of the network",)
    assert record.foreign == {"about": "it came late", "note": "too late for the word", WITHHELD: 1}
    assert [each.name for each in record.metrics] == ["mean_latency", "latency", "metric-2", "metric-3"]


def test_a_long_text_that_ends_in_the_beginning_of_a_word_that_is_one_may_have_been_cut() -> None:
    record = Observation("one", 7, foreign={"a": "x " * 20 + "translate", "b": "x " * 20 + "late"})
    list(withheld(record, {"latency"}))
    assert record.foreign == {"a": "x " * 20 + "translate", "b": WITHHELD}
