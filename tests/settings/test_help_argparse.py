"""Learning options from help texts in argparse's layout.

No vLLM runs here. `fixtures/vllm-help.txt` is a text of our own in the shapes of the published
`vllm serve --help=all` of vLLM 0.10 to 0.33 (log lines above, groups, values per flag, pairs, lists, open
choices, wrapped defaults, closing notes). The producer of the layout, argparse, runs in the property tests.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hio_validate.settings.catalogue import Arity, Catalogue, Option, UnreadableHelp
from hio_validate.settings.help_argparse import learn

TEXT = (Path(__file__).parent / "fixtures" / "vllm-help.txt").read_text(encoding="utf-8")
LINES = TEXT.split("\n")
NOTES = TEXT.index("--json-arg '")
"""By then the first closing note cannot be a group's title any more."""
CLOSING = "\nSee the manual.\n"


@pytest.fixture(scope="module")
def fixture() -> Catalogue:
    return learn(TEXT)


def option(catalogue: Catalogue, factor: str) -> Option:
    found = catalogue.find(factor)
    assert found is not None, factor
    return found


def help_with(*lines: str) -> str:
    return "\n".join(["usage: vllm serve [model_tag] [options]", "", "options:", *lines, CLOSING])


def refusal(text: str) -> UnreadableHelp:
    with pytest.raises(UnreadableHelp) as caught:
        learn(text)
    return caught.value


# --- the fixture ------------------------------------------------------------------------------------------


def test_every_option_of_the_fixture_is_learned(fixture: Catalogue) -> None:
    headers = [line for line in LINES if re.match(r"  --?[a-z]", line)]
    assert len(fixture.options) == len(headers) == 31
    assert fixture.positional == "model"


def test_an_option_knows_its_line(fixture: Catalogue) -> None:
    for known in fixture:
        assert known.flags[0] in LINES[known.line - 1]


@pytest.mark.parametrize(
    ("factor", "flags", "negations"),
    [
        ("api-server-count", ("--api-server-count", "-asc"), ()),
        ("gpu-memory-utilization", ("--gpu-memory-utilization", "--device-memory-utilization"), ()),
        ("help", ("-h", "--help"), ()),
        ("allow-credentials", ("--allow-credentials",), ("--no-allow-credentials",)),
        ("hybrid-lb", ("--hybrid-lb", "-dph"), ("--no-hybrid-lb",)),
        (
            "enable-expert-parallel",
            ("--enable-expert-parallel", "-ep"),
            ("--disable-expert-parallel", "--no-enable-expert-parallel"),
        ),
        (
            "disable-custom-all-reduce",
            ("--disable-custom-all-reduce",),
            ("--enable-custom-all-reduce", "--no-disable-custom-all-reduce"),
        ),
    ],
)
def test_flags(fixture: Catalogue, factor: str, flags: tuple[str, ...], negations: tuple[str, ...]) -> None:
    assert (option(fixture, factor).flags, option(fixture, factor).negations) == (flags, negations)


@pytest.mark.parametrize(
    ("factor", "arity", "choices"),
    [
        ("headless", Arity.NONE, ()),
        ("port", Arity.ONE, ()),
        ("hf-token", Arity.OPTIONAL, ()),
        ("served-model-name", Arity.MANY, ()),
        ("collect-traces", Arity.MANY, ("all", "model", "None")),
        ("dtype", Arity.ONE, ("auto", "bfloat16", "float16")),
        ("config-format", Arity.ONE, ()),
        ("tool-call-parser", Arity.ONE, ()),
    ],
)
def test_values(fixture: Catalogue, factor: str, arity: Arity, choices: tuple[str, ...]) -> None:
    assert (option(fixture, factor).arity, option(fixture, factor).choices) == (arity, choices)


@pytest.mark.parametrize(
    ("factor", "default"),
    [
        ("port", "8000"),
        ("config", "None"),
        ("help", None),
        ("allow-credentials", None),
        ("allowed-origins", "['*']"),
        ("tool-parser-plugin", ""),
        ("log-deltas", "True"),
        ("gpu-memory-utilization", "0.92"),
        ("prefix-hash", "sha256"),
        ("task", "auto"),
        (
            "eplb-config",
            "EPLBConfig(window_size=1000, step_interval=3000, log_balancedness=False, policy='default (x)')",
        ),
        (
            "compilation-config",
            '{"level":null,"debug_dump_path":"","custom_ops":[],"pass_config":{},"capture_sizes":[1,2,4]}',
        ),
    ],
)
def test_defaults(fixture: Catalogue, factor: str, default: str | None) -> None:
    assert option(fixture, factor).default == default


def test_ansi_colours_and_windows_line_ends_change_nothing(fixture: Catalogue) -> None:
    coloured = re.sub(r"(--[a-z-]+)", "\x1b[1;36m\\1\x1b[0m", TEXT)
    assert vars(learn(coloured)) == vars(fixture) == vars(learn(TEXT.replace("\n", "\r\n")))


# --- single shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "arity"),
    [
        ("--pair LEFT LEFT", Arity.TWO),
        ("--any [ANY ...]", Arity.MANY),
        ("--any [ANY [ANY ...]]", Arity.MANY),
        ("--maybe [{a,b}]", Arity.OPTIONAL),
        ("--new, -n NEW", Arity.ONE),
        ("--old OLD, -o OLD", Arity.ONE),
    ],
)
def test_arity_by_shape(header: str, arity: Arity) -> None:
    (known,) = learn(help_with(f"  {header}"))
    assert known.arity is arity


@pytest.mark.parametrize(
    ("about", "default"),
    [
        ('Weights. (default: {"a": (1)})', '{"a": (1)}'),
        ("Weights (default: 5) of layers.", "5"),
        ("Weights. Default: None", "None"),
        ("Weights. Default: 0.9.", "0.9"),
        ("The default: what the model says.", None),
        ("Weights. (default: it's)", "it's"),
        ("Weights. (default: [':)'])", "[':)']"),
    ],
)
def test_default_by_wording(about: str, default: str | None) -> None:
    (known,) = learn(help_with("  --weights-of-layers WEIGHTS", f"                        {about}"))
    assert known.default == default


def test_a_word_broken_at_its_hyphen_is_whole_again() -> None:
    column = " " * 24
    (known,) = learn(
        help_with(
            "  --guided-backend BACKEND", f"{column}Which one. (default: lm-format-", f"{column}enforcer)"
        )
    )
    assert known.default == "lm-format-enforcer"


def test_the_positional_is_a_setting_even_where_its_flag_is_not_listed() -> None:
    text = TEXT.replace("  --model MODEL         Name or path. (default: example/tiny-0.6B)\n", "")
    learned = learn(text)
    assert option(learned, "model").flags == ("--model",)
    assert option(learned, "model").default is None


def test_flags_stay_as_printed() -> None:
    (known,) = learn(help_with("  --max_model_len MAX_MODEL_LEN, --max-model-len MAX_MODEL_LEN"))
    assert (known.factor, known.flags) == ("max_model_len", ("--max_model_len", "--max-model-len"))


# --- refusals ---------------------------------------------------------------------------------------------

COLUMN = " " * 24


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        (["  --good GOOD", "  garbage"], 5, "expected an option"),
        (["  garbage", "  --good GOOD"], 4, "expected an option"),
        (["  --good GOOD", "  -"], 5, "expected flags"),
        (["  --good GOOD", "  --bad x y z"], 5, "several or choices"),
        (["  --good GOOD", "  --bad {a,b"], 5, "several or choices"),
        (["  --good GOOD", "  --bad BAD, -b"], 5, "expected flags"),
        (["  --good GOOD", "  -b BAD"], 5, "no long flag"),
        (["  --good GOOD", "  --good GOOD"], 5, "already an option on line 4"),
        (["  --good GOOD", "", f"{COLUMN}lost"], 6, "belongs to no option"),
        (["  --good GOOD", "lost"], 5, "expected an option"),
        (["  --good GOOD", "\t--bad"], 5, "tab"),
        (["  --good-enough GOOD_ENOUGH", f"{COLUMN}Text. (default: [1"], 4, "where the default ends"),
        (["  --good-enough GOOD_ENOUGH", f"{COLUMN}Text. (default: a) (b)"], 4, "where the default ends"),
        (
            ["  --good-enough GOOD_ENOUGH", f"{COLUMN}A. (default: 1)", f"{COLUMN}Of another. (default: 2)"],
            4,
            "line missing",
        ),
        (
            ["  --good-enough, --no-good-enough", f"{COLUMN}Port to listen on. (default: 8000)"],
            4,
            "line missing",
        ),
        (["  --good-enough GOOD_ENOUGH", f"{COLUMN}Text.", "  --bad BAD    Text."], 6, "does not line up"),
        (
            ["  --good-enough GOOD_ENOUGH", f"{COLUMN}Text.", "  --bad", f"{COLUMN}Text."],
            6,
            "does not line up",
        ),
    ],
)
def test_refused_with_line_and_reason(lines: list[str], line: int, reason: str) -> None:
    found = refusal(help_with(*lines))
    assert found.line == line
    assert reason in found.reason


@pytest.mark.parametrize("text", ["", "\n", "  --port PORT\n", "ModelConfig:\n  --model MODEL\n"])
def test_a_text_without_usage_is_refused(text: str) -> None:
    assert "--help=all" in refusal(text).reason


def test_the_list_of_groups_is_not_the_help() -> None:
    usage = "usage: vllm serve [model_tag] [options]\n\n"
    listed = (
        usage + "Config Groups:\n  positional arguments\n  options\n  Frontend   Arguments of the server.\n"
    )
    searched = usage + "  Use `--help=all` to show all available flags at once.\n"
    for text in (listed, searched):
        assert "expected the output of `--help=all`" in refusal(text).reason


def test_an_unknown_positional_is_refused() -> None:
    positionals = "positional arguments:\n  {chat,serve}\n\n"
    text = f"usage: vllm [-h] {{chat,serve}} ...\n\n{positionals}options:\n  -h, --help  Help.\n"
    assert "positional" in refusal(text).reason


def test_an_ambiguous_break_names_the_remedy() -> None:
    path, column = "/a" * 27, " " * 24
    text = help_with("  --path-of-plugin PATH_OF_PLUGIN", f"{column}(default:", column + path, f"{column}/z)")
    assert "COLUMNS" in refusal(text).reason


def test_an_option_that_only_the_usage_names_is_missed() -> None:
    text = "usage: engine [-h] [--port PORT]\n\noptions:\n  -h, --help  Help.\n"
    assert "--port" in refusal(text).reason


def test_an_option_that_the_usage_does_not_name_is_refused() -> None:
    text = "usage: engine [-h]\n\noptions:\n  -h, --help   Help.\n  --port PORT  Port.\n"
    assert "missing from the usage" in refusal(text).reason


# --- mutations --------------------------------------------------------------------------------------------


def learned_or_refused(text: str) -> Catalogue | None:
    try:
        return learn(text)
    except UnreadableHelp as error:
        assert 0 <= error.line <= text.count("\n") + 1
        assert error.reason
        return None


def test_a_cut_text_is_refused_until_the_closing_notes_begin(fixture: Catalogue) -> None:
    for end in range(0, len(TEXT), 3):
        if end <= NOTES:
            refusal(TEXT[:end])
        else:
            assert vars(learn(TEXT[:end])) == vars(fixture)


def test_a_dropped_line_never_adds_or_renames_an_option(fixture: Catalogue) -> None:
    known = {spelled.flags for spelled in fixture}
    for number in range(len(LINES)):
        found = learned_or_refused("\n".join(LINES[:number] + LINES[number + 1 :]))
        assert found is None or {spelled.flags for spelled in found} - {("--model",)} <= known


def test_garbage_at_option_indentation_is_refused_among_options(fixture: Catalogue) -> None:
    flags = {number for number, line in enumerate(LINES, 1) if re.match(r"  --?[a-z]", line)}
    for number in range(len(LINES)):
        found = learned_or_refused("\n".join([*LINES[:number], "  garbage of some kind", *LINES[number:]]))
        if number in flags:
            assert found is None, LINES[number - 1]
        else:
            assert found is None or [spelled.flags for spelled in found] == [
                spelled.flags for spelled in fixture
            ]


@given(st.integers(0, len(TEXT)), st.text(max_size=12), st.integers(0, 40))
@settings(deadline=None)
def test_an_edited_text_is_learned_or_refused(at: int, inserted: str, removed: int) -> None:
    learned_or_refused(TEXT[:at] + inserted + TEXT[at + removed :])


@given(st.text())
@settings(deadline=None)
def test_any_text_is_learned_or_refused(text: str) -> None:
    learned_or_refused(text)
    learned_or_refused("usage: vllm serve [model_tag] [options]\n\noptions:\n  --a\n" + text)


# --- the real producer ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spec:
    """One `add_argument` and what must be learned from its help."""

    flags: tuple[str, ...]
    arity: Arity
    choices: tuple[str, ...] = ()
    default: object = None
    about: str | None = None
    negatable: bool = False


NARGS: dict[Arity, list[str | int | None]] = {
    Arity.ONE: [None],
    Arity.TWO: [2],
    Arity.OPTIONAL: ["?"],
    Arity.MANY: ["*", "+"],
}
names = st.from_regex(r"[a-z]{2,9}(-[a-z]{2,9}){0,3}", fullmatch=True).filter(lambda name: name != "help")
words = st.from_regex(r"[A-Za-z0-9_./]{1,12}", fullmatch=True)
plain = st.one_of(
    st.none(), st.integers(), words, st.lists(words, max_size=6), st.dictionaries(words, words, max_size=4)
)
abouts = st.one_of(
    st.none(), st.lists(st.from_regex(r"[a-z(]?[a-z-]{1,14}[.,)]?", fullmatch=True), min_size=1).map(" ".join)
)


@st.composite
def specs(draw: st.DrawFn, defaults: st.SearchStrategy[Any]) -> list[Spec]:
    found = []
    for number, name in enumerate(draw(st.lists(names, min_size=1, max_size=8, unique=True))):
        arity = draw(st.sampled_from(Arity))
        short = (f"-{chr(97 + number)}x",) if draw(st.booleans()) else ()
        about = draw(abouts)
        if arity is Arity.NONE:
            negatable = draw(st.booleans()) and not name.startswith("no-")
            default = draw(st.sampled_from([None, True, False])) if negatable else False
            found.append(Spec((f"--{name}", *short), arity, (), default, about, negatable))
            continue
        choices = tuple(draw(st.lists(words, max_size=4, unique=True)))
        found.append(Spec((*short, f"--{name}"), arity, choices, draw(defaults), about))
    return found


def render(options: list[Spec], width: int) -> str:
    formatter: Callable[[str], argparse.HelpFormatter] = lambda prog: argparse.ArgumentDefaultsHelpFormatter(  # noqa: E731
        prog, width=width
    )
    parser = argparse.ArgumentParser(prog="engine", description="Serves.", formatter_class=formatter)  # type: ignore[arg-type]
    for spec in options:
        if spec.negatable:
            parser.add_argument(
                *spec.flags, action=argparse.BooleanOptionalAction, default=spec.default, help=spec.about
            )
        elif spec.arity is Arity.NONE:
            parser.add_argument(*spec.flags, action="store_true", help=spec.about)
        else:
            nargs = NARGS[spec.arity][len(spec.flags) % len(NARGS[spec.arity])]
            choices = spec.choices or None
            parser.add_argument(
                *spec.flags, nargs=nargs, choices=choices, default=spec.default, help=spec.about
            )
    return parser.format_help()


def check(catalogue: Catalogue, options: list[Spec]) -> None:
    assert len(catalogue.options) == len(options) + 1
    for spec in options:
        known = catalogue.find(spec.flags[0])
        assert known is not None
        assert known.flags == spec.flags
        long = next(flag for flag in spec.flags if flag.startswith("--"))
        assert known.negations == ((f"--no-{long[2:]}",) if spec.negatable else ())
        assert (known.arity, known.choices) == (spec.arity, spec.choices)
        assert known.default == (None if spec.about is None else " ".join(str(spec.default).split()))


@given(specs(plain))
@settings(max_examples=50, deadline=None)
def test_what_argparse_prints_on_long_lines_is_learned_back(options: list[Spec]) -> None:
    check(learn(render(options, 100_000)), options)


@given(specs(plain), st.sampled_from([24, 40, 60, 80, 100, 120, 200]))
@settings(max_examples=80, deadline=None)
def test_what_argparse_wraps_is_learned_back_or_its_default_refused(options: list[Spec], width: int) -> None:
    """Only a default broken inside a word may be refused, and only because of its break."""
    try:
        found = learn(render(options, width))
    except UnreadableHelp as error:
        assert "COLUMNS" in error.reason
        return
    check(found, options)


wild = st.text("ab1-_./:{}[]()'\", =", max_size=70).filter(lambda text: not re.search(r"-\s", text))


@given(specs(wild), st.sampled_from([60, 80, 120, 100_000]))
@settings(max_examples=80, deadline=None)
def test_a_default_of_any_text_is_never_learned_wrong(options: list[Spec], width: int) -> None:
    """Texts with a blank after a hyphen are left out: those are read as one word (see `_joints`)."""
    found = learned_or_refused(render(options, width))
    if found is not None:
        check(found, options)


@given(specs(plain), st.data())
@settings(max_examples=50, deadline=None)
def test_a_line_dropped_from_argparse_never_loses_an_option(options: list[Spec], data: st.DataObject) -> None:
    """The usage that argparse writes names every option, so that a lost one is noticed."""
    lines = render(options, 80).split("\n")
    number = data.draw(st.integers(0, len(lines) - 1))
    found = learned_or_refused("\n".join(lines[:number] + lines[number + 1 :]))
    if found is not None:
        assert {spec.flags[0] for spec in options} <= {flag for known in found for flag in known.flags}
