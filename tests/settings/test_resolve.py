"""Where a value comes from: defaults, metadata, environment, argv, followers, presets, observation."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.models import reader
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.stack import Stack
from hio_validate.settings.resolve import resolve
from hio_validate.settings.setting import Class, Effective, Knowledge, Origin, class_of
from hio_validate.settings.value import ABSENT, UNKNOWN
from tests.settings.stacks import SHA, captured, effective, known, setting, stack, table


def values(found: Effective, *factors: str) -> dict[str, str]:
    return {factor: setting(found, factor).value for factor in factors}


def model(**metadata: object) -> Mapping[str, object]:
    return {"model": {"path": "/m.gguf", "sha256": SHA, "how": "hash", "gguf": metadata}}


# --- order of authority -----------------------------------------------------------------------------------


def test_metadata_stands_between_default_and_environment() -> None:
    seen = captured(
        artifacts=model(**{"general.sampling.temp": 0.6000000238418579, "general.sampling.top_k": 7})
    )
    found = setting(effective("next", observed=seen), "temp")
    assert (found.value, found.origin) == ("0.6", Origin.METADATA)
    assert (
        setting(effective("next", env={"LLAMA_ARG_TEMPERATURE": "0.7"}, observed=seen), "temp").value == "0.7"
    )
    assert setting(effective("next", [["--temp", "0.9"]], observed=seen), "temp").origin is Origin.ARGV
    assert setting(effective("next", observed=captured()), "temp").value == "0.8"


def test_the_sampling_sequence_of_a_model_is_the_samplers() -> None:
    seen = captured(artifacts=model(**{"general.sampling.sequence": "top_k;temperature"}))
    found = setting(effective("llama", observed=seen), "samplers")
    assert (found.value, found.origin) == ("top_k;temperature", Origin.METADATA)


def test_without_a_catalogue_only_what_is_given_is_a_setting() -> None:
    found = resolve(stack([["--threads", "4"]]), {})
    assert list(found.settings) == ["server.threads"] and found.catalogues == {}


def test_an_arm_changes_what_its_delta_names() -> None:
    base = stack([["-t", "4"], ["--ui"]], {"LLAMA_ARG_BATCH": "64"})
    found = resolve(
        base, {"server": known("llama")}, {"server.threads": "2", "batch-size": ABSENT, "-fa": "on"}
    )
    assert values(found, "threads", "batch-size", "flash-attn", "ui") == {
        "threads": "2", "batch-size": "2048", "flash-attn": "on", "ui": "on",
    }  # fmt: skip
    assert setting(found, "threads-batch").value == "2"


options_given = st.lists(
    st.sampled_from(
        [("-t", "4"), ("--ctx-size", "512"), ("-fa", "on"), ("--no-perf",), ("--temp", "0.5"), ("-np", "2"),
         ("--no-kv-unified",), ("--host", "h"), ("-ctk", "q8_0")]
    ),
    unique=True,
)  # fmt: skip


@given(options_given.flatmap(lambda given_: st.tuples(st.just(given_), st.permutations(given_))))
def test_the_order_of_different_settings_changes_no_value(orders: tuple[list[tuple[str, ...]], ...]) -> None:
    one, other = (effective("llama", [list(line) for line in order]) for order in orders)
    assert {each.address: (each.value, each.origin, each.leader) for each in one.settings.values()} == {
        each.address: (each.value, each.origin, each.leader) for each in other.settings.values()
    }


@given(
    st.dictionaries(
        st.sampled_from(["LLAMA_ARG_THREADS", "LLAMA_ARG_NO_UI", "LLAMA_ARG_UI", "GGML_X"]),
        st.sampled_from("01"),
    )
)
def test_the_order_of_variables_changes_no_value(env: dict[str, str]) -> None:
    one = effective("llama", env=env)
    other = effective("llama", env=dict(reversed(env.items())))
    assert {key: each.value for key, each in one.settings.items()} == {
        key: each.value for key, each in other.settings.items()
    }


def test_two_processes_do_not_mix() -> None:
    both: Stack = reader("stack/v1").validate_python({
        "hio": "stack/v1", "name": "two",
        "processes": {"a": {"engine": "x", "argv": [["-t", "2"]]}, "b": {"engine": "x", "argv": [["-t", "3"]]}},
        "implicit": {"b.threads": {"value": 9, "because": "compiled in"}},
    })  # fmt: skip
    found = resolve(both, {"a": known("llama"), "b": known("llama")}, {"a.ctx-size": "64"})
    shown = {key: each.value for key, each in found.settings.items()}
    assert (shown["a.threads"], shown["b.threads"], shown["a.threads-batch"]) == ("2", "3", "2")
    assert (shown["a.ctx-size"], shown["b.ctx-size"]) == ("64", UNKNOWN)


# --- followers --------------------------------------------------------------------------------------------


def test_followers_take_the_value_of_their_leader_through_a_chain() -> None:
    found = effective("llama", [["-t", "6"]])
    for follower, leader in (("threads-batch", "threads"), ("spec-draft-threads", "threads"),
                             ("spec-draft-threads-batch", "threads-batch")):  # fmt: skip
        each = setting(found, follower)
        assert (each.value, each.origin, each.leader) == ("6", Origin.FOLLOWS, f"server.{leader}")
    stopped = effective("llama", [["-t", "6"], ["-tb", "8"]])
    assert values(stopped, "threads-batch", "spec-draft-threads", "spec-draft-threads-batch") == {
        "threads-batch": "8", "spec-draft-threads": "6", "spec-draft-threads-batch": "8",
    }  # fmt: skip
    assert setting(stopped, "threads-batch").origin is Origin.ARGV


def test_a_follower_of_an_unknown_leader_is_unknown() -> None:
    found = effective("llama")
    assert values(found, "threads", "threads-batch", "spec-draft-threads-batch") == dict.fromkeys(
        ("threads", "threads-batch", "spec-draft-threads-batch"), UNKNOWN
    )
    assert setting(found, "threads-batch").shown == "unknown (-1)"


def test_a_follower_of_an_absent_leader_is_absent() -> None:
    assert setting(effective("llama"), "spec-draft-device").value == ABSENT


@pytest.mark.parametrize(("argv", "unified", "leader"), [
    ([], "on", "server.parallel"), ([["-np", "-1"]], "on", "server.parallel"), ([["-np", "2"]], "off", "server.parallel"),
    ([["-np", "2"], ["-kvu"]], "on", None), ([["--no-kv-unified"]], "off", None),
])  # fmt: skip
def test_one_buffer_for_all_slots_hangs_on_the_number_of_slots(
    argv: list[list[str]], unified: str, leader: str | None
) -> None:
    found = setting(effective("llama", argv), "kv-unified")
    assert (found.value, found.leader) == (unified, leader)


def test_vllm_followers() -> None:
    found = effective("vllm", [["example/m"], ["-tp", "2"]])
    assert setting(found, "served-model-name").value == "example/m"
    assert setting(found, "served-model-name").class_ is Class.LOCATOR
    assert (
        setting(
            effective("vllm", [["example/m"], ["--served-model-name", "a", "b"]]), "served-model-name"
        ).value
        == "a b"
    )


# --- run time ---------------------------------------------------------------------------------------------

LOG = {
    "n_threads": 6, "n_threads_batch": 12, "n_slots": 4, "n_ctx_slot": 1024, "n_ctx": 4096, "kv_unified": True,
    "flash_attn": "enabled", "cache_type_k": "f16", "n_batch": 512, "load_mode": "mmap",
}  # fmt: skip


def test_what_is_decided_at_run_time_is_unknown_until_it_is_observed() -> None:
    factors = ("threads", "flash-attn", "parallel", "ctx-size")
    assert values(effective("next"), *factors, "load-mode") == dict.fromkeys((*factors, "load-mode"), UNKNOWN)
    found = effective("next", observed=captured(log=LOG))
    assert values(found, *factors, "load-mode") == {
        "threads": "6", "flash-attn": "on", "parallel": "4", "ctx-size": "4096", "load-mode": "mmap",
    }  # fmt: skip
    assert {setting(found, factor).origin for factor in factors} == {Origin.OBSERVED}
    assert setting(found, "threads").declared == "-1"


def test_the_context_of_a_slot_is_not_the_context() -> None:
    log = {"n_ctx_slot": 1024, "n_ctx_seq": 1024, "n_slots": 4}
    props = {"default_generation_settings.n_ctx": 1024, "total_slots": 4}
    found = effective("llama", observed=captured(props=props, log=log))
    assert values(found, "ctx-size", "parallel") == {"ctx-size": UNKNOWN, "parallel": "4"}


def test_what_somebody_asked_for_and_the_engine_decided_stays_theirs() -> None:
    found = setting(
        effective("llama", [["-t", "-1"], ["-fa", "auto"]], observed=captured(log=LOG)), "threads"
    )
    assert (found.value, found.origin, found.declared) == ("6", Origin.ARGV, "-1")


def test_a_report_that_decides_nothing_leaves_it_unknown() -> None:
    found = effective("llama", observed=captured(log={"flash_attn": "auto", "cache_type_k": "f16;q8_0"}))
    assert values(found, "flash-attn", "cache-type-k") == {"flash-attn": UNKNOWN, "cache-type-k": "f16"}


def test_a_follower_is_what_the_log_says_where_its_leader_is_unknown() -> None:
    found = effective("llama", observed=captured(log={"n_threads_batch": 12}))
    assert values(found, "threads", "threads-batch") == {"threads": UNKNOWN, "threads-batch": "12"}


@pytest.mark.parametrize("seen", [
    captured([["-fa", "on"]], log=LOG), captured(None, log=LOG), captured(log=LOG, environ={"how": "unknown"}),
    captured(log=LOG, environ={"how": "proc", "values": {"LLAMA_ARG_FLASH_ATTN": "on"}}),
], ids=["argv", "unread argv", "unread environment", "environment"])  # fmt: skip
@pytest.mark.parametrize("argv", [[], [["-fa", "auto"]]])
def test_a_process_that_was_asked_for_something_else_answers_nothing(
    seen: CapturedProcess, argv: list[list[str]]
) -> None:
    assert setting(effective("llama", argv, observed=seen), "flash-attn").value == UNKNOWN


def test_a_follower_is_not_answered_by_a_process_whose_leader_was_set() -> None:
    found = effective("llama", [["-t", "-1"]], observed=captured([["-t", "6"]], log=LOG))
    assert values(found, "threads", "threads-batch") == {"threads": UNKNOWN, "threads-batch": UNKNOWN}


def test_another_preset_answers_nothing() -> None:
    seen = captured(props={"default_generation_settings.params.temperature": 1.0})
    assert setting(effective("llama", [["--spec-default"]], observed=seen), "temp").value == UNKNOWN


def test_a_fact_is_answered_by_a_process_that_was_asked_for_nothing() -> None:
    for argv, value in (([], "6"), ([["-t", "6"]], UNKNOWN)):
        found = effective("llama", observed=captured(argv, log=LOG), facts={"threads": "0"})
        assert setting(found, "threads").value == value


@pytest.mark.parametrize("value", ["withheld", "x=withheld", "${secret:name}", "hf_abcdefghijklmnopqrstuvw"])
def test_a_credential_is_unknown_whatever_it_sets(value: str) -> None:
    found = setting(effective("llama", [["--model", value]]), "model")
    assert (found.value, found.declared, found.set_by_a_person) == (UNKNOWN, "withheld", True)


# --- presets ----------------------------------------------------------------------------------------------


def test_a_preset_makes_unknown_what_nobody_set() -> None:
    found = effective("llama", [["--spec-default"], ["-b", "64"]])
    for factor in ("spec-draft-n-max", "temp", "port", "model", "threads-batch", "kv-unified", "parallel"):
        each = setting(found, factor)
        assert (each.value, each.leader, each.set_by_a_person) == (UNKNOWN, "server.spec-default", False)
        assert each.shown.startswith("unknown (") and each.shown.endswith("preset spec-default)")
    assert values(found, "batch-size", "spec-default", "help") == {
        "batch-size": "64",
        "spec-default": "on",
        "help": "off",
    }
    assert setting(found, "api-key").value == "none"


def test_what_stands_before_a_preset_may_be_overwritten_by_it() -> None:
    found = effective("llama", [["-b", "64"], ["--spec-default"]], {"LLAMA_ARG_CTX_SIZE": "512"})
    for factor, shown in (("batch-size", "64"), ("ctx-size", "512")):
        each = setting(found, factor)
        assert (each.value, each.set_by_a_person) == (UNKNOWN, True)
        assert each.shown == f"unknown ({shown} or preset spec-default)"


def test_an_observation_says_what_a_preset_did() -> None:
    argv = [["-np", "3"], ["--spec-default"]]
    seen = captured(argv, props={"default_generation_settings.params.temperature": 1.0, "total_slots": 2})
    found = effective("llama", argv, observed=seen)
    assert values(found, "temp", "parallel", "min-p") == {"temp": "1", "parallel": "2", "min-p": UNKNOWN}
    assert (
        setting(found, "temp").origin is Origin.OBSERVED
        and setting(found, "temp").leader == "server.spec-default"
    )


def test_a_preset_of_argparse_leaves_what_somebody_set() -> None:
    found = effective("vllm", [["m"], ["--port", "9"], ["--config", "c.yaml"]])
    assert values(found, "port", "model", "tensor-parallel-size", "dtype") == {
        "port": "9", "model": "m", "tensor-parallel-size": UNKNOWN, "dtype": UNKNOWN,
    }  # fmt: skip


def test_a_preset_that_is_off_or_not_given_changes_nothing() -> None:
    assert setting(effective("llama"), "temp").value == "0.8"
    found = resolve(stack([["--spec-default"]]), {"server": known("llama")}, {"server.spec-default": "off"})
    assert setting(found, "temp").value == "0.8"


# --- classes and secrets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "class_"), [
    ("threads", Class.TUNING), ("model", Class.ARTIFACT), ("alias", Class.LOCATOR), ("port", Class.ENDPOINT), ("metrics", Class.OBSERVABILITY),
    ("api-key", Class.SECRET), ("hft", Class.SECRET), ("VLLM_API_KEY", Class.SECRET), ("MY_TOKEN", Class.SECRET),
    ("image-max-tokens", Class.TUNING), ("api-key-file", Class.LOCATOR), ("GGML_X", Class.TUNING),
])  # fmt: skip
def test_the_class_of_a_factor(factor: str, class_: Class) -> None:
    assert class_of(factor, table("llama")) is class_


SECRET = "s3cr3t-value"


@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize(("argv", "env", "more"), [
    ([["--api-key", SECRET]], {}, {}), ([["--api-key", SECRET], ["--api-key", "x" + SECRET]], {}, {}),
    ([["-hft", SECRET]], {}, {}), ([["--hf_token", SECRET]], {}, {}), ([], {"LLAMA_API_KEY": SECRET}, {}),
    ([["--api-key", "y" + SECRET]], {"LLAMA_API_KEY": SECRET}, {}), ([], {"HF_TOKEN": SECRET}, {}),
    ([], {}, {"facts": {"api-key": SECRET}}), ([["--api-key=" + SECRET]], {}, {}), ([], {"VLLM_API_KEY": SECRET}, {}),
])  # fmt: skip
def test_a_secret_is_unknown_and_shown_nowhere(
    learned: bool, argv: list[list[str]], env: dict[str, str], more: dict[str, object]
) -> None:
    knowledge = {"server": known("llama") if learned else Knowledge(table("llama"))}
    found = resolve(stack(argv, env, **more), knowledge)
    assert SECRET not in repr(found.settings) and SECRET not in repr(found.misread)
    assert any(
        each.class_ is Class.SECRET and each.value == UNKNOWN and each.set_by_a_person
        for each in found.settings.values()
    )


# --- facts and implicit settings --------------------------------------------------------------------------


def test_facts_and_implicit_settings_take_the_place_of_defaults() -> None:
    made: Stack = reader("stack/v1").validate_python({
        "hio": "stack/v1", "name": "made",
        "processes": {"server": {"engine": "x", "facts": {"threads": 8}}},
        "implicit": {"flash-attn": {"value": True, "because": "compiled in"}},
    })  # fmt: skip
    found = resolve(made, {"server": known("llama")})
    assert values(found, "threads", "threads-batch", "flash-attn") == {
        "threads": "8", "threads-batch": "8", "flash-attn": "on",
    }  # fmt: skip
    assert setting(found, "threads").origin is Origin.FACT
    assert setting(found, "flash-attn").origin is Origin.IMPLICIT
    assert setting(found, "flash-attn").path == ("implicit", "flash-attn", "value")


# --- identity ---------------------------------------------------------------------------------------------


def test_identity_is_what_was_mapped() -> None:
    lib = {"path": "/opt/engine/libx.so.0.1", "sha256": SHA, "how": "hash"}
    gone = {"path": "/lib/libc.so.6", "how": "unknown"}
    found = effective(
        "llama", observed=captured(libraries={"libx.so.0.1": lib, "libc.so.6": gone}, artifacts=model())
    )
    shown = {each.factor: each.value for each in found.settings.values() if each.origin is Origin.IDENTITY}
    assert shown == {
        "build": "llama",
        "executable": SHA,
        "lib.libx": SHA,
        "system-libraries": UNKNOWN,
        "artifact.model": SHA,
    }
