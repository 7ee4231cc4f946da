"""Every option of a learned catalogue, driven through argv, environment and negation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hio_validate.settings.catalogue import Arity, Option
from hio_validate.settings.setting import Class, Origin, Setting, class_of
from hio_validate.settings.value import ABSENT, UNKNOWN, normal
from tests.settings.stacks import catalogue, effective, setting, table

BUILDS = ("llama", "next", "vllm")
ON, OFF = ("on", "enabled", "true", "1"), ("off", "disabled", "false", "0")


def options(build: str, *arities: Arity, removed: bool = False) -> Iterator[Option]:
    for option in catalogue(build):
        if (option.removed is not None) is removed and (not arities or option.arity in arities):
            yield option


def all_of(*arities: Arity, removed: bool = False) -> list[object]:
    return [
        pytest.param(build, option, id=f"{build}-{option.factor}")
        for build in BUILDS
        for option in options(build, *arities, removed=removed)
    ]


def sample(option: Option, number: int = 0) -> str:
    """A value that is not the default."""
    values = [each for each in option.choices if each not in (option.default, "auto")]
    if values:
        return values[number % len(values)]
    return str(7001 + number)


def expect(found: Setting, build: str, option: Option, value: str, origin: Origin) -> None:
    if class_of(option.factor, table(build)) is Class.SECRET:
        assert (found.value, found.declared) == (UNKNOWN, "")
        assert value not in repr(found)
    else:
        assert found.value == normal(value, option.factor, option, table(build))
    assert found.origin is origin and found.option is option


VALUED = (Arity.ONE, Arity.OPTIONAL, Arity.MANY)


@pytest.mark.parametrize(("build", "option"), all_of(*VALUED))
def test_every_spelling_sets_the_value(build: str, option: Option) -> None:
    for flag in option.flags:
        for spelling in {flag, flag[:2] + flag[2:].replace("-", "_") if flag.startswith("--") else flag}:
            found = effective(build, [[spelling, sample(option)]])
            expect(setting(found, option.factor), build, option, sample(option), Origin.ARGV)
            assert setting(found, option.factor).path == ("processes", "server", "argv", 0, 1)
            assert found.misread == ()


@pytest.mark.parametrize(("build", "option"), all_of(*VALUED))
def test_flag_and_value_in_one_word_as_the_family_takes_it(build: str, option: Option) -> None:
    for flag in option.flags:
        found = effective(build, [[f"{flag}={sample(option)}"]])
        expect(setting(found, option.factor), build, option, sample(option), Origin.ARGV)
        assert [each.rule for each in found.misread] == ([] if table(build).equals else ["unknown-setting"])
        assert all(f"={sample(option)}" not in each.message for each in found.misread)


@pytest.mark.parametrize(("build", "option"), all_of(Arity.ONE, Arity.MANY, Arity.TWO))
def test_a_missing_value_is_told_and_sets_nothing(build: str, option: Option) -> None:
    default = setting(effective(build), option.factor)
    for argv in ([[option.flags[0]]], [[option.flags[0], "--help"]], [[option.flags[0]], ["--help"]]):
        found = effective(build, argv)
        assert [each.rule for each in found.misread] == ["unknown-setting"]
        assert "needs" in found.misread[0].message
        assert setting(found, option.factor) == default
        assert len(argv[0]) == 1 or setting(found, "help").value == "on"


@pytest.mark.parametrize(("build", "option"), all_of(Arity.NONE))
def test_a_switch_is_switched_by_its_flags(build: str, option: Option) -> None:
    for flag in option.flags:
        expect(setting(effective(build, [[flag]]), option.factor), build, option, "on", Origin.ARGV)
    for flag in option.negations:
        found = effective(build, [[flag]])
        expect(setting(found, option.factor), build, option, "off", Origin.ARGV)
        assert found.misread == ()


@pytest.mark.parametrize(("build", "option"), all_of(Arity.NONE))
def test_a_switch_leaves_the_next_word_alone(build: str, option: Option) -> None:
    found = effective(build, [["MODEL"], [option.flags[-1], "stray"]])
    assert "'stray' belongs to no flag" in [each.message for each in found.misread]
    assert setting(found, option.factor).value == "on"


@pytest.mark.parametrize(("build", "option"), all_of(Arity.NONE))
def test_a_value_glued_to_a_switch_is_told_and_keeps_its_polarity(build: str, option: Option) -> None:
    for flag in (*option.flags, *option.negations):
        found = effective(build, [[f"{flag}=1"]])
        assert [each.rule for each in found.misread] == ["unknown-setting"]
        assert setting(found, option.factor).value == ("off" if flag in option.negations else "on")


@pytest.mark.parametrize(("build", "option"), [each for each in all_of() if each.values[1].env])  # type: ignore[attr-defined]
def test_every_variable_sets_the_value_and_argv_wins(build: str, option: Option) -> None:
    value, other = ("on", "off") if option.boolean else (sample(option), sample(option, 1))
    for name in option.env:
        found = effective(build, env={name: value})
        expect(setting(found, option.factor), build, option, value, Origin.ENV)
        assert setting(found, option.factor).path == ("processes", "server", "env", name)
        if option.boolean and not option.negations:
            continue
        argv = [[option.negations[0]]] if option.boolean else [[option.flags[0], other]]
        both = effective(build, argv, {name: value})
        if option.factor in table(build).repeatable:
            assert setting(both, option.factor).value == f"{value},{other}"
            continue
        expect(setting(both, option.factor), build, option, other, Origin.ARGV)
        told = [each for each in both.misread if each.rule == "env-argv-conflict"]
        assert len(told) == (other != value)
        if told and class_of(option.factor, table(build)) is Class.SECRET:
            assert value not in told[0].message and other not in told[0].message


@pytest.mark.parametrize(("build", "option"), [
    each for each in all_of(Arity.NONE) if each.values[1].env  # type: ignore[attr-defined]
])  # fmt: skip
def test_a_switch_reads_the_words_of_the_engine_in_the_environment(build: str, option: Option) -> None:
    name = option.env[0]
    for words, value in ((ON, "on"), (OFF, "off")):
        for word in words:
            assert setting(effective(build, env={name: word}), option.factor).value == value
    unread = setting(effective(build, env={name: "yes"}), option.factor).value
    assert unread == ("yes" if option.negations else "off")
    negated = name.replace("LLAMA_ARG_", "LLAMA_ARG_NO_")
    for env in ({negated: "1"}, {negated: "0", name: "1"}, {name: "1", negated: ""}):
        found = effective(build, env=env)
        if option.negations:
            assert (setting(found, option.factor).value, setting(found, option.factor).spelling) == (
                "off",
                negated,
            )
        else:
            assert [each.rule for each in found.misread] == ["unknown-setting"]


@pytest.mark.parametrize(("build", "option"), [
    each for each in all_of(Arity.ONE) if {"on", "off"} <= set(each.values[1].choices)  # type: ignore[attr-defined]
])  # fmt: skip
def test_a_value_that_is_a_switch_folds_the_words_of_the_engine(build: str, option: Option) -> None:
    for words, value in ((ON, "on"), (OFF, "off"), (("auto", "-1"), "auto")):
        for word in words:
            found = setting(effective(build, [[option.flags[0], word]]), option.factor)
            asked = found.value if found.known else normal(found.declared, option.factor, option)
            assert asked == value
    assert setting(effective(build, [[option.flags[0], "ON"]]), option.factor).value == "ON"


@pytest.mark.parametrize(("build", "option"), all_of(*VALUED, Arity.TWO))
def test_of_repeated_flags_the_last_counts_unless_they_add_up(build: str, option: Option) -> None:
    pair = ["1", "2"] if option.arity is Arity.TWO else None
    first, second = pair or [sample(option)], ["3", "4"] if pair else [sample(option, 1)]
    found = effective(build, [[option.flags[0], *first], [option.flags[-1], *second]])
    conflicts = [each for each in found.misread if each.rule == "env-argv-conflict"]
    if option.factor in table(build).repeatable:
        assert setting(found, option.factor).value == f"{first[0]},{second[0]}" and not conflicts
        return
    expect(setting(found, option.factor), build, option, " ".join(second), Origin.ARGV)
    assert len(conflicts) == (first != second)


@pytest.mark.parametrize(("build", "option"), all_of(Arity.ONE, Arity.MANY))
def test_negative_numbers_are_values(build: str, option: Option) -> None:
    for value in ("-1", "-0.5", "-1e-3"):
        found = effective(build, [[option.flags[0], value]])
        assert found.misread == ()
        if class_of(option.factor, table(build)) is not Class.SECRET:
            asked = setting(found, option.factor)
            assert value in (asked.value, asked.declared)


@pytest.mark.parametrize(("build", "option"), all_of(removed=True))
def test_a_removed_option_names_its_successor_and_sets_nothing(build: str, option: Option) -> None:
    for flag in option.flags:
        found = effective(build, [[flag, "5"], ["--port", "9"]])
        assert [(each.rule, each.help) for each in found.misread] == [("removed-setting", option.removed)]
        assert f"server.{option.factor}" not in found.settings
        assert setting(found, "port").value == "9"
    for name in option.env:
        found = effective(build, env={name: "5"})
        assert [(each.rule, each.help) for each in found.misread] == [("removed-setting", option.removed)]


@pytest.mark.parametrize(("build", "option"), all_of())
def test_what_nobody_sets_has_its_default(build: str, option: Option) -> None:
    found = setting(effective(build), option.factor)
    if option.default is None and option.negations:
        assert found.value == ABSENT
    elif option.default is None and option.boolean:
        assert found.value == "off"
    assert not found.set_by_a_person and found.class_ is class_of(option.factor, table(build))


@pytest.mark.parametrize("build", BUILDS)
def test_an_unknown_flag_is_told_with_the_nearest_name(build: str) -> None:
    found = effective(
        build, [["MODEL"] if build == "vllm" else ["--port", "1"], ["--prt", "9"], ["--port", "1"]]
    )
    assert [(each.rule, each.help) for each in found.misread] == [("unknown-setting", "did you mean --port?")]
    assert found.misread[0].path == ("processes", "server", "argv", 1, 0)
    assert setting(found, "port").value == "1"


def test_an_unknown_variable_of_the_engine_is_told_and_others_are_settings() -> None:
    found = effective("llama", env={"LLAMA_ARG_THREAD": "2", "GGML_CPU_X": "1", "LLAMA_ARG_NO_HOST": "1"})
    assert [(each.rule, each.help) for each in found.misread] == [
        ("unknown-setting", "did you mean LLAMA_ARG_THREADS?")
    ]
    assert setting(found, "GGML_CPU_X").value == "1" and setting(found, "GGML_CPU_X").option is None
    assert setting(found, "no-host").value == "on"
