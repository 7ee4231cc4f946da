"""A capture read as a stack, and what a process reports against what it was given."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.models import reader
from hio_validate.models.capture import Arguments, Capture, CapturedProcess
from hio_validate.settings.captured import stack_of
from hio_validate.settings.difference import Group, difference
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.observed import Contradiction, contradictions
from hio_validate.settings.value import UNKNOWN
from tests.settings.documents import repository
from tests.settings.stacks import captured

SAMPLING = "default_generation_settings.params."


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings(repository(builds={"b1": "llama", "b2": "next"}))


def told(settings: Settings, process: CapturedProcess) -> dict[str, tuple[str, str, str]]:
    found = list(contradictions("server", process, settings))
    assert all(isinstance(each, Contradiction) for each in found)
    return {each.factor: (each.where, each.reported, each.expected) for each in found}


def seen(*argv: list[str], **more: Any) -> CapturedProcess:
    return captured(argv, build="b1", **more)


def test_a_report_that_agrees_says_nothing(settings: Settings) -> None:
    props = {
        f"{SAMPLING}temperature": 0.800000011920929,
        f"{SAMPLING}min_p": 0.05000000074505806,
        "total_slots": 4,
    }
    log = {"n_threads": 2, "n_threads_batch": 2, "n_slots": 4, "kv_unified": True, "n_ctx": 32768, "flash_attn": "enabled",
           "cache_type_k": "f16", "n_ctx_checkpoints": 32, "prompt_cache_mib": 8192, "n_batch": 512}  # fmt: skip
    assert told(settings, seen(["--threads", "2"], props=props, log=log)) == {}


@pytest.mark.parametrize(("argv", "more", "factor", "found"), [
    ([["--temp", "0.7"]], {"props": {f"{SAMPLING}temperature": 0.800000011920929}}, "temp", ("props", "0.8", "0.7")),
    ([], {"props": {f"{SAMPLING}min_p": 0.1}}, "min-p", ("props", "0.1", "0.05")),
    ([["-np", "4"]], {"props": {"total_slots": 2}}, "parallel", ("props", "2", "4")),
    ([["-t", "16"]], {"log": {"n_threads": 8}}, "threads", ("log", "8", "16")),
    ([["-t", "16"]], {"log": {"n_threads_batch": 8}}, "threads-batch", ("log", "8", "16")),
    ([["-fa", "on"]], {"log": {"flash_attn": "disabled"}}, "flash-attn", ("log", "off", "on")),
    ([["-ctk", "Q8_0"]], {"log": {"cache_type_k": "f16"}}, "cache-type-k", ("log", "f16", "q8_0")),
    ([["--no-kv-unified"]], {"log": {"kv_unified": True}}, "kv-unified", ("log", "on", "off")),
    ([["--cache-reuse", "256"]], {"log": {"disabled.cache_reuse": "not supported"}}, "cache-reuse", ("log", "0", "256")),
    ([["--swa-full"]], {"log": {"disabled.swa_full": "not supported"}}, "swa-full", ("log", "off", "on")),
    ([["-c", "4096"]], {"log": {"n_ctx": 2048}}, "ctx-size", ("log", "2048", "4096")),
    ([["-c", "1048577"]], {"log": {"n_ctx": 1048576}}, "ctx-size", ("log", "1048576", "1048577")),
    ([["--cache-ram", "16777217"]], {"log": {"prompt_cache_mib": 16777216}}, "cache-ram", ("log", "16777216", "16777217")),
    ([], {"props": {"endpoint_metrics": True}}, "metrics", ("props", "on", "off")),
])  # fmt: skip
def test_a_report_that_contradicts_is_told(
    settings: Settings, argv: list[list[str]], more: dict[str, Any], factor: str, found: tuple[str, str, str]
) -> None:
    assert told(settings, seen(*argv, **more)) == {factor: found}


@pytest.mark.parametrize(("argv", "more"), [
    ([], {"log": {"n_threads": 8, "n_slots": 4}}),
    ([["-t", "-1"], ["-fa", "auto"]], {"log": {"n_threads": 8, "flash_attn": "enabled"}}),
    ([["-c", "1000"]], {"log": {"n_ctx": 1024}}),
    ([["-c", "4096"]], {"log": {"n_ctx_slot": 1024}, "props": {"default_generation_settings.n_ctx": 1024}}),
    ([["-ctk", "q8_0"]], {"log": {"cache_type_k": "q8_0;f32"}}),
    ([["-fa", "on"]], {"log": {"flash_attn": "auto"}}),
    ([["--spec-default"]], {"props": {f"{SAMPLING}temperature": 0.1}}),
    ([["--api-key", "withheld"]], {}),
])  # fmt: skip
def test_what_was_open_or_speaks_of_something_else_contradicts_nothing(
    settings: Settings, argv: list[list[str]], more: dict[str, Any]
) -> None:
    assert told(settings, seen(*argv, **more)) == {}


def test_metadata_of_the_model_is_what_a_report_is_compared_with(settings: Settings) -> None:
    artifact = {"model": {"how": "hash", "gguf": {"general.sampling.temp": 0.6000000238418579}}}
    props = {f"{SAMPLING}temperature": 0.6000000238418579}
    assert told(settings, seen(props=props, artifacts=artifact)) == {}
    assert told(settings, seen(props=props)) == {"temp": ("props", "0.6", "0.8")}


def test_nothing_contradicts_what_nobody_could_read(settings: Settings) -> None:
    log = {"n_threads": 8, "cache_type_k": "q8_0"}
    assert told(settings, captured(None, log=log, build="b1")) == {}
    without_environment = seen(["-t", "4"], log=log, environ={"how": "unknown"})
    assert told(settings, without_environment) == {"threads": ("log", "8", "4")}


def test_props_and_log_that_disagree_are_told(settings: Settings) -> None:
    process = seen(["-np", "-1"], props={"total_slots": 2}, log={"n_slots": 4})
    assert told(settings, process) == {"parallel": ("props", "2", "4")}


SHARED = Settings(repository(builds={"b1": "llama"}))
numbers = st.decimals(0, 100, places=4)


@given(numbers, numbers)
def test_a_number_agrees_with_its_own_single_precision_and_with_no_other(
    asked: Decimal, other: Decimal
) -> None:
    reported = struct.unpack("<f", struct.pack("<f", float(other)))[0]
    process = seen(["--temp", str(asked)], props={f"{SAMPLING}temperature": reported})
    assert bool(told(SHARED, process)) is (asked != other)


# --- a capture as a stack ---------------------------------------------------------------------------------


def capture(**processes: CapturedProcess) -> Capture:
    made: Capture = reader("capture/v1").validate_python({
        "hio": "capture/v1", "name": "c", "at": "2026-01-02T03:04:05Z", "by": "hio", "host": {"how": "unknown"},
        "processes": {name: each.model_dump(exclude_none=True) for name, each in processes.items()},
    })  # fmt: skip
    return made


word = st.text("ab-=0 ", min_size=1, max_size=5)
argvs = st.lists(st.lists(word, min_size=1, max_size=3), max_size=4)


@given(argvs, st.dictionaries(st.sampled_from(["LLAMA_ARG_UI", "GGML_X"]), st.text(max_size=3)))
def test_the_stack_of_a_capture_has_its_arguments_and_variables(
    argv: list[list[str]], env: dict[str, str]
) -> None:
    shown = stack_of(capture(server=captured(argv, build="b1", environ={"how": "proc", "values": env})))
    process = shown.processes["server"]
    assert (process.argv, process.env, process.build, process.engine) == (argv, env, "b1", "llama-server")
    assert shown.name == "c" and stack_of(capture(server=captured(argv)), "mine").name == "mine"


def test_words_on_the_line_of_the_program_are_arguments() -> None:
    lines = [["python3", "/venv/bin/vllm", "serve", "m"], ["--port", "1"]]
    process = captured().model_copy(update={"argv": Arguments(how="proc", value=lines)})
    assert stack_of(capture(server=process)).processes["server"].argv == [
        ["/venv/bin/vllm", "serve", "m"],
        ["--port", "1"],
    ]


def test_a_variable_no_stack_can_set_is_left_out() -> None:
    process = captured(environ={"how": "proc", "values": {"GGML_X": "1", "GGML.Y%%": "2"}})
    assert stack_of(capture(server=process)).processes["server"].env == {"GGML_X": "1"}


def test_a_capture_whose_arguments_nobody_could_read_has_no_known_defaults(settings: Settings) -> None:
    blind = capture(server=captured(None, build="b1"))
    plain = capture(server=captured((), build="b1"))
    effective = settings.resolve_capture(stack_of(blind), blind)
    assert effective.catalogues == {"server": None}
    compared = difference(settings.resolve_capture(stack_of(plain), plain), effective).find("server.temp")
    assert compared is not None and compared.to == UNKNOWN and compared.group is not Group.CHANGED


def test_a_secret_of_the_environment_was_set_and_is_unknown(settings: Settings) -> None:
    withheld = seen(environ={"how": "proc", "names": ["LLAMA_API_KEY"], "withheld": ["LLAMA_API_KEY"]})
    found = settings.resolve_processes(stack_of(capture(server=withheld)), {"server": withheld})
    secret = next(each for each in found.settings.values() if each.factor == "api-key")
    assert (secret.value, secret.set_by_a_person) == (UNKNOWN, True)
