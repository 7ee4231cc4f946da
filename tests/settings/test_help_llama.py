"""Learning options from what `llama-server --help` prints.

`fixtures/llama-help.txt` and `llama-help-next.txt` are texts of our own in the layout of llama.cpp's
common_arg::to_string; the programs themselves are asked in the tests marked lab.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hio_validate.settings.catalogue import Arity, Catalogue, Option, UnreadableHelp
from hio_validate.settings.help_llama import learn
from tests.settings.stacks import FIXTURES, catalogue, help_text

TEXT = help_text("llama")
LINES = TEXT.split("\n")
COLUMN = 40


def expected() -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for line in (FIXTURES / "llama-catalogue.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            cells = [cell.strip() for cell in line.split(" | ")]
            rows.append(tuple(cells + [""] * (9 - len(cells))))
    return rows


def row(option: Option) -> tuple[object, ...]:
    return (
        option.factor,
        " ".join(option.flags),
        " ".join(option.negations),
        " ".join(name.replace("LLAMA_ARG_", "~") for name in option.env),
        str(option.arity),
        ",".join(option.choices),
        "-" if option.default is None else repr(option.default),
        option.follows or "",
        option.removed or "",
    )


def test_the_fixture_gives_exactly_the_catalogue_read_by_hand() -> None:
    assert [row(option) for option in learn(TEXT)] == expected()


def test_an_option_knows_its_line() -> None:
    for option in learn(TEXT):
        assert LINES[option.line - 1].startswith(option.flags[0])


def test_what_is_logged_before_the_first_section_does_not_count() -> None:
    assert LINES[0].startswith("ggml_probe_init")
    from_section = TEXT[TEXT.index("-----") :]
    assert [row(option) for option in learn(from_section)] == [row(option) for option in learn(TEXT)]


def test_between_two_builds_defaults_move_and_options_come_and_go() -> None:
    old, new = catalogue("llama"), catalogue("next")

    def default(build: Catalogue, factor: str) -> str | None:
        found = build.find(factor)
        assert found is not None
        return found.default

    assert (default(old, "batch-size"), default(new, "batch-size")) == ("2048", "4096")
    assert (default(old, "spec-draft-n-max"), default(new, "spec-draft-n-max")) == ("3", "8")
    gone = new.find("--spec-ngram-min-hits")
    assert gone is not None and gone.removed == "use the respective --spec-ngram-*-min-hits"
    assert new.find("--mlock") is None and old.find("--load-mode") is None and new.find("--load-mode")


def test_colours_and_carriage_returns_are_layout() -> None:
    coloured = TEXT.replace("-t,    --threads", "\x1b[33m-t,    --threads\x1b[0m").replace("\n", "\r\n")
    assert [row(option) for option in learn(coloured)] == expected()


# --- mutated texts are learned or refused with a line -----------------------------------------------------


def learned_or_refused(text: str) -> Catalogue | UnreadableHelp:
    """Whatever else is raised fails the test."""
    try:
        return learn(text)
    except UnreadableHelp as error:
        assert 1 <= error.line <= max(1, len(text.split("\n")))
        assert str(error).startswith(f"line {error.line}: ") and error.reason
        return error


ORIGINAL = {option.factor: row(option) for option in learn(TEXT)}


@pytest.mark.parametrize("number", range(len(LINES)))
def test_a_missing_line_changes_no_other_option(number: int) -> None:
    found = learned_or_refused("\n".join(LINES[:number] + LINES[number + 1 :]))
    if isinstance(found, Catalogue):
        changed = [option.factor for option in found if ORIGINAL.get(option.factor) != row(option)]
        assert len(changed) <= 1
        assert len(found.options) >= len(ORIGINAL) - 1


@pytest.mark.parametrize("number", range(1, len(TEXT), 13))
def test_a_text_that_was_cut_off_gives_whole_options_or_none(number: int) -> None:
    found = learned_or_refused(TEXT[:number])
    if isinstance(found, Catalogue):
        assert TEXT[number - 1] == "\n"
        assert all(set(row(option)[1].split()) == set(ORIGINAL[option.factor][1].split()) for option in found)  # type: ignore[attr-defined]


def test_a_cut_within_a_line_is_refused() -> None:
    for number in range(TEXT.index("--api-key"), len(TEXT)):
        if TEXT[number - 1] != "\n":
            assert isinstance(learned_or_refused(TEXT[:number]), UnreadableHelp)


@pytest.mark.parametrize(
    "number", [i for i, line in enumerate(LINES) if line.startswith(" " * COLUMN) and line.strip()]
)
def test_a_dedented_description_is_refused_with_its_line(number: int) -> None:
    """Where the line then reads as a flag, the option that lost it is refused."""
    found = learned_or_refused(
        "\n".join([*LINES[:number], LINES[number][COLUMN:].strip(), *LINES[number + 1 :]])
    )
    assert isinstance(found, UnreadableHelp)
    loser = max(option.line for option in learn(TEXT) if option.line <= number + 1)
    assert found.line in ({loser, number + 1} if LINES[number].strip().startswith("--") else {number + 1})


@pytest.mark.parametrize("flag", ["--port", "-t", "--no-mmproj", "-nkvo", "--draft-max"])
def test_a_flag_that_is_there_twice_is_refused_with_both_lines(flag: str) -> None:
    found = learned_or_refused(TEXT + f"{flag} N".ljust(COLUMN) + "another option\n")
    assert isinstance(found, UnreadableHelp)
    first = next(i for i, line in enumerate(LINES, 1) if re.search(rf"^(\S+, +)*{flag}\b", line))
    assert found.line == len(LINES) and f"line {first}" in found.reason


@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        ("Segmentation fault", "expected an option"),
        ("  error: something", "expected an option"),
        ("- a list", "expected an option"),
        ("-x, --no-x", "no description"),
        ("--no-x, --no-y", "no description"),
        ("-t, -t2,", "expected flags"),
        ("--lonely", "no description"),
        ("--x N".ljust(COLUMN) + "open (default: (1)", "no closing parenthesis"),
        ("--x N".ljust(COLUMN) + "a thing (env: lower)", "no name of a variable"),
        ("--x N".ljust(COLUMN) + "a thing (env: LLAMA_ARG_X) and more", "text after"),
        ("--x N".ljust(COLUMN) + "a thing (env: LLAMA_ARG_THREADS)", "already an option"),
    ],
)
def test_garbage_is_refused_with_its_line(garbage: str, reason: str) -> None:
    at = LINES.index("----- sampling params -----") - 2
    found = learned_or_refused("\n".join([*LINES[:at], garbage, *LINES[at:]]))
    assert isinstance(found, UnreadableHelp)
    assert (found.line, reason in found.reason) == (at + 1, True), found


@pytest.mark.parametrize("text", ["", "\n", "hello\n", "----- common params -----\n", "usage: vllm serve\n"])
def test_what_is_no_help_is_refused(text: str) -> None:
    assert isinstance(learned_or_refused(text), UnreadableHelp)


def test_an_option_before_the_first_section_is_refused() -> None:
    found = learned_or_refused("-t,    --threads N".ljust(COLUMN) + "threads\n" + TEXT)
    assert isinstance(found, UnreadableHelp) and found.line == 1


@given(
    st.integers(0, len(LINES)),
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=90),
)
@example(5, "-x, --no-x" + " " * 30 + "a pair without a long flag")
@example(5, "-1 for everything")
@example(5, " " * 40 + "(default: )")
def test_any_line_anywhere_is_learned_or_refused(number: int, line: str) -> None:
    learned_or_refused("\n".join([*LINES[:number], line, *LINES[number:]]))


@given(st.text(max_size=200))
def test_any_text_is_learned_or_refused(text: str) -> None:
    learned_or_refused(text)
    learned_or_refused("----- common params -----\n" + text)


def test_a_pair_of_short_flags_only_is_learned() -> None:
    only = learn("----- p -----\n" + "-x, --no-x".ljust(COLUMN) + "a pair\n")
    assert [(each.factor, each.negations, each.arity) for each in only] == [("x", ("--no-x",), Arity.NONE)]


# --- the layout's own producer ----------------------------------------------------------------------------


def printed(flags: list[str], hint: str, text: str) -> str:
    """common_arg::to_string: the first of several flags padded to 7, the description in column 40."""
    first, *rest = flags
    head = (f"{first}, ".ljust(7) + ", ".join(rest) if rest else first) + (f" {hint}" if hint else "")
    head = head + "\n" + " " * COLUMN if len(head) > COLUMN - 3 else head.ljust(COLUMN)
    return head + ("\n" + " " * COLUMN).join(wrapped(text)) + "\n"


def wrapped(text: str) -> list[str]:
    lines: list[str] = []
    for given_line in text.split("\n"):
        current = ""
        for word in given_line.split() if len(given_line) > 70 else []:
            if current and len(current) + 1 + len(word) > 70:
                lines.append(current)
                current = word
            else:
                current = f"{current} {word}".strip()
        lines.append(current if len(given_line) > 70 else given_line)
    return lines


words = st.text("abcdefghijklmnop", min_size=1, max_size=12)
names = st.lists(words, min_size=1, max_size=4).map("-".join).filter(lambda name: not name.startswith("no-"))
prose = st.lists(words, min_size=1, max_size=30).map(" ".join)
defaults = st.one_of(st.integers(-9, 99999).map(str), st.just("f16"), st.decimals(0, 9, places=2).map(str))


@given(
    st.lists(st.tuples(names, prose, defaults, st.booleans(), st.booleans()), min_size=1, max_size=6,
             unique_by=lambda each: each[0])
)  # fmt: skip
def test_what_upstream_would_print_is_learned_back(
    made: list[tuple[str, str, str, bool, bool]],
) -> None:
    text = "----- made -----\n\n"
    for name, about, default, pair, env in made:
        flags = [f"--{name}", f"--no-{name}"] if pair else [f"--{name}"]
        help_ = f"{about} (default: {'enabled' if pair else default})"
        variable = f"\n(env: X_{name.upper().replace('-', '_')})" if env else ""
        text += printed(flags, "" if pair else "N", help_ + variable)
    try:
        found = learn(text)
    except UnreadableHelp as error:
        assert any(f"--no-{a[0]}" == f"--{b[0]}" for a in made for b in made), error
        return
    for option, (name, _, default, pair, env) in zip(found, made, strict=True):
        assert option.factor == name
        assert option.negations == ((f"--no-{name}",) if pair else ())
        assert option.default == ("enabled" if pair else default)
        assert bool(option.env) is env


# --- the programs themselves ------------------------------------------------------------------------------

LAB = Path(os.environ.get("HIO_LAB", "/opt/hio-lab"))


def lab_help() -> dict[str, str]:
    found = {}
    for program in sorted(LAB.glob("llama-*/bin/llama-server")):
        done = subprocess.run([program, "--help"], capture_output=True, text=True, env={}, check=True)
        found[program.parent.parent.name] = done.stdout
    return found


@pytest.mark.lab
def test_every_line_of_a_real_help_that_begins_with_a_dash_is_an_option() -> None:
    texts = lab_help()
    assert len(texts) >= 2, f"no engines under {LAB}"
    for build, text in texts.items():
        heads = [line for line in text.split("\n") if re.match(r"--?[a-zA-Z]", line)]
        found = learn(text)
        assert len(found.options) == len(heads) > 200, build
        spelt = [flag for each in found for flag in (*each.flags, *each.negations)]
        assert sorted(spelt) == sorted(flag for head in heads for flag in flags_of(head)), build
        assert len([name for each in found for name in each.env]) == text.count("(env: "), build


def flags_of(head: str) -> list[str]:
    flags = []
    for part in head.split(", "):
        flags.append(part.split()[0])
        if len(part.split()) > 1:
            break
    return flags


@pytest.mark.lab
def test_every_default_that_a_real_help_states_is_learned() -> None:
    for build, text in lab_help().items():
        flat = re.sub(r"\n {40}", " ", text)
        stated = [line for line in flat.split("\n") if re.search(r"[(,] ?default: ", line)]
        found = learn(text)
        assert len([each for each in found if each.default is not None]) >= len(stated), build
        for factor, default in (("threads-batch", "same as --threads"), ("cache-ram", "8192"),
                                ("flash-attn", "auto"), ("fit-target", "1024"), ("split-mode", "layer"),
                                ("samplers", "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature")):  # fmt: skip
            option = found.find(factor)
            assert option is not None and option.default == default, (build, factor)
