"""Command lines by the grammar of a family; see test_every_option.py for what holds of every option."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hio_validate.settings.argv import read_argv
from hio_validate.settings.catalogue import Arity, Catalogue
from tests.settings.stacks import catalogue, effective, setting, table


def read(build: str, *words: str, learned: bool = True) -> tuple[dict[str, str], list[str]]:
    """Factor -> value, and what was not understood."""
    given_, misread = read_argv([words], table(build), catalogue(build) if learned else None)
    return {each.factor: each.value for each in given_}, [each.message for each in misread]


# --- vllm serve -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        "",
        "serve",
        "vllm serve",
        "/venv/bin/vllm serve",
        "-m vllm.entrypoints.cli.main serve",
        "-m vllm.entrypoints.openai.api_server",
    ],
)
def test_the_program_and_its_interpreter_are_no_settings(before: str) -> None:
    assert read("vllm", *before.split(), "example/m-1B", "--port", "1") == (
        {"model": "example/m-1B", "port": "1"},
        [],
    )


def test_the_model_may_stand_after_the_options_or_have_a_flag() -> None:
    assert read("vllm", "serve", "--port", "1", "example/m") == ({"port": "1", "model": "example/m"}, [])
    assert read("vllm", "serve", "--model", "example/m") == ({"model": "example/m"}, [])
    given_, misread = read("vllm", "serve", "one", "two")
    assert given_ == {"model": "one"} and misread == ["'two' belongs to no flag"]


def test_underscores_are_dashes_up_to_the_first_dot() -> None:
    assert read("vllm", "--max_model_len", "8") == read("vllm", "--max-model-len=8")
    given_, _ = read("vllm", "--eplb_config.window_size", "7")
    assert given_ == {"eplb-config": '{"window_size": 7}'}


def test_keys_of_a_json_setting_are_one_setting() -> None:
    given_, misread = read(
        "vllm", "--compilation-config.level", "3", "--port", "1", "--compilation-config.pass_config.fuse=true",
        "--compilation-config.capture_sizes+", "1,2", "--compilation-config.capture_sizes+=4",
        "--compilation-config.budget", "80g", "-cc.mode", "full",
    )  # fmt: skip
    assert misread == [] and given_["port"] == "1"
    assert json.loads(given_["compilation-config"]) == {
        "level": 3,
        "pass_config": {"fuse": True},
        "capture_sizes": ["1", "2", "4"],
        "budget": 80 * 10**9,
        "mode": "full",
    }


def test_keys_of_a_json_setting_equal_the_whole_and_stand_in_any_order() -> None:
    whole = effective("vllm", [["--eplb-config", '{"b": {"c": 2}, "a": 1}']])
    for argv in (
        [["--eplb-config.a", "1"], ["--eplb-config.b.c", "2"]],
        [["--eplb-config.b.c=2"], ["--eplb-config.a=1"]],
    ):
        found = effective("vllm", argv)
        assert (
            setting(found, "eplb-config").value
            == setting(whole, "eplb-config").value
            == '{"a":1,"b":{"c":2}}'
        )
        assert setting(found, "eplb-config").path == ("processes", "server", "argv", 0, len(argv[0]) - 1)
        assert found.misread == ()


def test_keys_win_over_the_whole_and_that_is_told() -> None:
    found = effective("vllm", [["--eplb-config.a", "1"], ["--eplb-config", '{"b":2}']])
    assert setting(found, "eplb-config").value == '{"a":1}'
    assert [each.rule for each in found.misread] == ["env-argv-conflict"]


def test_a_key_of_an_unknown_setting_and_a_key_without_value_are_told() -> None:
    assert read("vllm", "--eplb-confg.a", "1")[1] == ["--eplb-confg is no setting of this build"]
    assert read("vllm", "--eplb-config.a")[1] == ["--eplb-config.a needs a value"]


def test_several_values_end_at_the_next_flag() -> None:
    given_, misread = read("vllm", "m", "--served-model-name", "a", "b", "--port", "1")
    assert given_ == {"model": "m", "served-model-name": "a b", "port": "1"} and misread == []


def test_an_optional_value_may_be_missing() -> None:
    found = effective("vllm", [["m"], ["--hf-token"], ["--port", "1"]])
    assert found.misread == () and setting(found, "port").value == "1"


@pytest.mark.parametrize("words", ["-O3", "-O=3", "-O 3"])
def test_a_glued_optimization_level(words: str) -> None:
    option = catalogue("vllm").find("optimization-level")
    if option is None:
        given_, misread = read("vllm", "m", *words.split())
        assert misread == ["--optimization-level is no setting of this build"]
    given_, misread = read("vllm", "m", *words.split(), learned=False)
    assert (given_, misread) == ({"model": "m", "optimization-level": "3"}, [])


def test_the_optimization_level_of_older_builds_is_a_compilation_config() -> None:
    older = catalogue("vllm")
    with_o = Catalogue(
        tuple(
            type(each)(each.factor, (*each.flags, "-O"), arity=Arity.ONE)
            if each.factor == "compilation-config"
            else each
            for each in older
        ),
        older.positional,
    )
    given_, misread = read_argv([["-O3"]], table("vllm"), with_o)
    assert [(each.factor, each.value) for each in given_] == [("compilation-config", "3")] and not misread


def test_argparse_reads_glued_short_flags_and_abbreviations() -> None:
    assert read("vllm", "m", "-qawq")[0]["quantization"] == "awq"
    assert read("vllm", "m", "-tp=2") == ({"model": "m", "tensor-parallel-size": "2"}, [])
    assert read("vllm", "m", "--max-model", "9") == ({"model": "m", "max-model-len": "9"}, [])
    assert read("vllm", "m", "--tool", "9")[1] == ["--tool is no setting of this build"], (
        "two begin like this"
    )


@pytest.mark.parametrize(("text", "value"), [
    ("1k", "1000"), ("1K", "1024"), ("25.6k", "25600"), ("2M", str(2 * 1024**2)), ("1.001k", "1000"),
    ("1.5K", "1.5K"), ("12", "12"), ("1kk", "1kk"),
])  # fmt: skip
def test_integers_with_a_suffix_where_the_engine_reads_them(text: str, value: str) -> None:
    assert setting(effective("vllm", [["m"], ["--max-model-len", text]]), "max-model-len").value == value
    assert (
        setting(effective("vllm", [["m"], ["--served-model-name", text]]), "served-model-name").value == text
    )
    assert (
        setting(effective("vllm", [["m"], ["--tensor-parallel-size", text]]), "tensor-parallel-size").value
        == text
    )


def test_a_word_that_argparse_takes_for_a_flag_is_no_value() -> None:
    found = effective("vllm", [["m"], ["--tool-parser-plugin", "-x"]])
    assert [each.message for each in found.misread] == [
        "--tool-parser-plugin needs a value",
        "-x is no setting of this build",
    ]
    assert read("vllm", "m", "--tool-parser-plugin", "-x y") == (
        {"model": "m", "tool-parser-plugin": "-x y"},
        [],
    )


# --- llama-server -----------------------------------------------------------------------------------------


def test_arg_cpp_takes_what_follows_for_a_value_unless_it_is_a_flag_of_the_build() -> None:
    given_, misread = read("llama", "--api-prefix", "-odd", "--chat-template", "--- {{x}}", "--port", "1")
    assert given_ == {"api-prefix": "-odd", "chat-template": "--- {{x}}", "port": "1"} and misread == []
    given_, misread = read("llama", "--api-prefix", "--cache_type_k", "q8_0")
    assert given_ == {"cache-type-k": "q8_0"} and misread == ["--api-prefix needs a value"]


def test_two_values() -> None:
    assert read("llama", "--control-vector-layer-range", "1", "-2")[0] == {
        "control-vector-layer-range": "1 -2"
    }
    assert read("llama", "--control-vector-layer-range", "1")[1] == [
        "--control-vector-layer-range needs two values"
    ]


def test_what_follows_a_secret_is_not_shown() -> None:
    found = effective(
        "llama", [["--api-key", "k1-secret", "k2-secret"], ["--hf-token=k3-secret"], ["-xkey=k4-secret"]]
    )
    assert len(found.misread) == 3
    assert "secret" not in "".join(each.message + each.help for each in found.misread)
    assert "-secret" not in repr(found.settings)


# --- without a catalogue ----------------------------------------------------------------------------------


def test_without_a_catalogue_words_are_taken_as_they_look() -> None:
    given_, misread = read("llama", "--a_b", "1", "2", "--no-mmap", "--no-host", "-x", "-5", learned=False)
    assert given_ == {"a-b": "1 2", "mmap": "off", "no-host": "on", "x": "-5"} and misread == []


def test_without_a_family_every_flag_is_a_setting() -> None:
    given_, misread = read_argv([["--port", "1"], ["--flag=x=y"], ["word"]], None, None)
    assert [(each.factor, each.value) for each in given_] == [("port", "1"), ("flag", "x=y")]
    assert [each.message for each in misread] == ["'word' belongs to no flag"]


# --- every word is accounted for --------------------------------------------------------------------------

tokens = st.one_of(
    st.sampled_from(
        [
            "--port",
            "-t",
            "-1",
            "--no-perf",
            "--nope",
            "a b",
            "--x=1",
            "-",
            "--",
            "-O3",
            "serve",
            "--eplb-config.a",
            "",
        ]
    ),
    st.text(max_size=6),
)


def _outcome(words: list[str], build: str, learned: bool) -> tuple[list[tuple[object, ...]], list[str]]:
    given_, misread = read_argv([words], table(build), catalogue(build) if learned else None)
    return [(each.factor, each.value, each.negated) for each in given_], [each.message for each in misread]


@given(st.sampled_from(["llama", "vllm"]), st.booleans(), st.lists(tokens, max_size=6))
def test_any_words_are_read_and_nothing_is_lost_in_silence(
    build: str, learned: bool, words: list[str]
) -> None:
    """Every word is where a setting or a finding stands, or its value: without it something else is read.

    The values of a flag that was refused are part of that finding; `serve` before all others is the program.
    """
    assume(words.count("--eplb-config.a") < 2)  # of one key of a JSON setting the last one wins
    given_, misread = read_argv([words], table(build), catalogue(build) if learned else None)
    refused = {int(each.path[1]) for each in misread if words[int(each.path[1])].startswith("-")}
    told = {int(each.path[1]) for each in given_} | {int(each.path[1]) for each in misread}
    assert told <= set(range(len(words)))
    for at, word in enumerate(words):
        last = max((index for index in told if index <= at), default=-1)
        value_of_a_refused_flag = last in refused and not any(
            each.startswith("--") for each in words[last + 1 : at + 1]
        )
        program = (build, at, word) == ("vllm", 0, "serve")
        if at not in told and not value_of_a_refused_flag and not program:
            assert _outcome(words[:at] + words[at + 1 :], build, learned) != _outcome(words, build, learned)


@given(st.lists(st.sampled_from(["--port 1", "-t 2", "--no-perf", "--temp 0.5", "--nope", "x"]), max_size=6))
def test_how_words_are_put_on_lines_changes_nothing(parts: list[str]) -> None:
    words = [word for part in parts for word in part.split()]
    one = read_argv([words], table("llama"), catalogue("llama"))
    many = read_argv([[word] for word in words], table("llama"), catalogue("llama"))
    assert [(each.factor, each.value) for each in one[0]] == [(each.factor, each.value) for each in many[0]]
    assert [each.message for each in one[1]] == [each.message for each in many[1]]
    flags = [part for part in parts if part not in ("--nope", "x")]
    assert len(one[0]) == len(flags) and len(one[1]) <= len(parts) - len(flags)
