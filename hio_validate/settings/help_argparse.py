"""Reads the options of an engine from a help text in the layout of Python's argparse.

Written for `vllm serve --help=all`. Sources: CPython's Lib/argparse.py (BooleanOptionalAction) and vLLM's
vllm/utils/argparse_utils.py (FlexibleArgumentParser, SortedHelpFormatter, EnableDisableAction). How the text is cut
into options says argparse_layout.py, how a default ends one argparse_default.py.

Invariant: a text that may not be whole is refused. Flags stay as printed: where a family takes underscores for
dashes it is argv that is turned into dashes, never the catalogue.
"""

from __future__ import annotations

import re

from hio_validate.settings.argparse_default import default_of
from hio_validate.settings.argparse_layout import Entry, Layout, Scan, layout_of
from hio_validate.settings.catalogue import Arity, Catalogue, Option, UnreadableHelp

POSITIONALS = {"model_tag": "model"}
"""What `vllm serve` calls its positional -> the setting it is."""

INVERSES = {"--enable-": "--disable-", "--disable-": "--enable-"}

ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
FLAG = r"--?[A-Za-z0-9][^\s,=\[\]{}]*"
PART = re.compile(rf"({FLAG})(?: (\S.*))?")
NEXT_FLAG = re.compile(r", (?=--?[A-Za-z0-9])")
USAGE_FLAG = re.compile(rf"(?<=[\s\[(|])({FLAG})")

CLOSED = r"\{[^{}]+\}"
ONE_VALUE = rf"(?:{CLOSED}(?: or [^\[\]{{}}]+)?|\['[^\[\]]*'\]|[^\s\[\]{{}}]+)"
SHAPES = (
    (Arity.ONE, re.compile(rf"({ONE_VALUE})")),
    (Arity.OPTIONAL, re.compile(rf"\[({ONE_VALUE})\]")),
    (Arity.MANY, re.compile(rf"\[({ONE_VALUE}) \.\.\.\]")),
    (Arity.MANY, re.compile(rf"({ONE_VALUE}) \[\1 \.\.\.\]")),
    (Arity.MANY, re.compile(rf"\[({ONE_VALUE}) \[\1 \.\.\.\]\]")),
    (Arity.TWO, re.compile(rf"({ONE_VALUE}) \1")),
)
"""How argparse prints `nargs`, as a pattern whose group 1 is the name or the choices of one value."""


def learn(text: str) -> Catalogue:
    """All options of a help text; raises UnreadableHelp where it is not argparse's or not complete."""
    lines = [ANSI.sub("", line).rstrip() for line in text.split("\n")]
    start, usage = _usage(lines)
    scan = Scan(lines, start)
    entries = scan.entries()
    options = [entry for entry in entries if not entry.positional]
    if not options:
        raise UnreadableHelp(len(lines), _why_no_options(lines))
    layout = layout_of(entries)
    learned = [_option(entry, layout) for entry in options]
    complete = _check_against_usage(learned, usage, start)
    if not scan.closed and not (complete and text.endswith("\n")):
        raise UnreadableHelp(
            len(lines), "the list of options is cut off: expected the notes that close the help"
        )
    positional = _positional([entry for entry in entries if entry.positional])
    if positional and all(option.factor != positional for option in learned):
        learned.append(_unlisted(positional, entries))
    return Catalogue(tuple(learned), positional)


def _usage(lines: list[str]) -> tuple[int, str]:
    """The index of the line after the usage, and the usage; what is logged before it does not count."""
    first = next((i for i, line in enumerate(lines) if re.match(r"usage: \S", line, re.IGNORECASE)), None)
    if first is None:
        raise UnreadableHelp(
            len(lines), 'no "usage:" line: expected the whole text of `--help=all`, not a part of it'
        )
    end = first + 1
    while end < len(lines) and lines[end]:
        end += 1
    return end, " ".join(line.strip() for line in lines[first:end])


def _why_no_options(lines: list[str]) -> str:
    if any(line == "Config Groups:" or "--help=all" in line for line in lines):
        return "this help only lists groups: expected the output of `--help=all`"
    return "no option found: expected the help of an argparse program"


def _option(entry: Entry, layout: Layout) -> Option:
    header = re.split(r" {2,}", entry.first.strip(), maxsplit=1)[0]
    flags, value = _header(header, entry.line)
    arity, choices = _value(value, entry.line)
    negations = _negations(flags) if arity is Arity.NONE else ()
    positive = tuple(flag for flag in flags if flag not in negations)
    factor = next((flag[2:] for flag in positive if flag.startswith("--")), None)
    if factor is None:
        raise UnreadableHelp(entry.line, f"no long flag to name the setting by: {header!r}")
    default = default_of(entry, layout)
    if negations and default not in (None, "True", "False", "None"):
        raise UnreadableHelp(
            entry.line, f"--{factor} is on or off, yet its default is {default!r}: is a line missing?"
        )
    return Option(factor, positive, negations, (), arity, choices, default, line=entry.line)


def _header(header: str, line: int) -> tuple[tuple[str, ...], str]:
    """The flags and the value; Python 3.13 prints the value after the last flag, older ones after each."""
    parts = [PART.fullmatch(part) for part in NEXT_FLAG.split(header)]
    found = [(match[1], match[2] or "") for match in parts if match]
    values = [value for _, value in found]
    value = values[-1] if values else ""
    once = not any(values[:-1])
    if len(found) != len(parts) or not (once or all(other == value for other in values)):
        raise UnreadableHelp(line, f"expected flags and their value, got {header!r}")
    return tuple(flag for flag, _ in found), value


def _value(value: str, line: int) -> tuple[Arity, tuple[str, ...]]:
    """The arity of a value, and its choices where no other is accepted.

    `['auto', 'hf']` and `{a,b} or name registered in --…` are what vLLM prints for names that a plugin may
    add to: no closed set, so no choices.
    """
    if not value:
        return Arity.NONE, ()
    for arity, shape in SHAPES:
        if match := shape.fullmatch(value):
            closed = re.fullmatch(CLOSED, match[1])
            return arity, tuple(match[1][1:-1].split(",")) if closed else ()
    raise UnreadableHelp(line, f"expected one value, several or choices, got {value!r}")


def _negations(flags: tuple[str, ...]) -> tuple[str, ...]:
    """The flags of an on/off option that switch it off.

    `--no-x` beside `--x` (BooleanOptionalAction). vLLM 0.33 pairs `--enable-x` with `--disable-x`, in either
    order, and still accepts the hidden `--no-enable-x` (EnableDisableAction).
    """
    plain = tuple(flag for flag in flags if "--no-" + flag[2:] in flags)
    if plain:
        return tuple("--no-" + flag[2:] for flag in plain)
    first = next((flag for flag in flags if flag.startswith("--")), "")
    for prefix, inverse in INVERSES.items():
        opposite = inverse + first.removeprefix(prefix)
        if first.startswith(prefix) and opposite in flags:
            return (opposite, "--no-" + first[2:])
    return ()


def _check_against_usage(options: list[Option], usage: str, line: int) -> bool:
    """True where the usage names every option, so that the list is known to be whole."""
    named = set(USAGE_FLAG.findall(re.sub(r"\{[^{}]*\}|'[^']*'", "", usage)))
    if not named or re.search(r"\[options\]", usage, re.IGNORECASE):
        return False
    known = {flag for option in options for flag in (*option.flags, *option.negations)}
    if lost := sorted(named - known):
        raise UnreadableHelp(line, f"the usage names {lost[0]}, which no line describes")
    for option in options:
        if named.isdisjoint((*option.flags, *option.negations)):
            raise UnreadableHelp(option.line, f"{option.flags[0]} is missing from the usage")
    return True


def _positional(entries: list[Entry]) -> str | None:
    names = [re.split(r" {2,}", entry.first.strip(), maxsplit=1)[0] for entry in entries]
    for entry, name in zip(entries, names, strict=True):
        if name not in POSITIONALS:
            raise UnreadableHelp(entry.line, f"a positional argument this reader does not know: {name!r}")
    if len(names) > 1:
        raise UnreadableHelp(entries[1].line, "expected one positional argument, got several")
    return POSITIONALS[names[0]] if names else None


def _unlisted(factor: str, entries: list[Entry]) -> Option:
    """The option that a positional sets where help does not list its flag, which `vllm serve` accepts."""
    line = next(entry.line for entry in entries if entry.positional)
    return Option(factor, ("--" + factor,), line=line)
