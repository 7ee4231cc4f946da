"""Values that a dialect may get wrong: what quoting is about, and what hypothesis thinks of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hio_validate.render.carrying import CannotCarry

AT_LEAST = 2000
"""How many values each dialect must have carried."""

PIECES = [
    " ", "  ", "\t", "\n", "\r\n", "'", '"', "`", "$", "$$", "${", "}", "${HOME}", "$HOME", "$(id)", "$(A)", "`id`", "%",
    "%%", "%n", "%h", "%i", "#", " #", ";", "\\", "\\\\", "\\n", "\\x41", "\\u0041", "=", "A=b", "[Service]",
    "ExecStart=/bin/false", "{{ 7 * 7 }}", "{% raw %}", "{#", "--", "-", "---", "...", ": ", "- ", "&a", "*a", "!!int",
    "|", ">", "@", ",", "[", "]", "{", "}", "?", "*", "~", "!", "(", ")", "<", "\u00e9", "\u20ac", "\U0001f642",
    "\u2028", "\x85", "\ufeff", "\x1b", "\x7f", "a", "Z", "0", "export ", "EOF", "#SBATCH --wrap=id",
]  # fmt: skip
WHOLE = [
    "", " ", "\n", "\t", "'", '"', "\\", "$", "%", "#", "=", "~", "no", "Yes", "on", "null", "1e3", "1_000", "012", "0x1f",
    "1:30", "2001-01-01", ".inf", "nan", "<<", "!", "*", "y", "N", "0b1", "+1", "-0", "1.", ".5", "'\\''", "\\'", "\\\"",
    '{"a": [1, "b c", {"$d": "%e\\n"}], "f": "it\'s"}', "a\nB=c", "a\n[Service]\nExecStart=/bin/false", "\n#x", "a\\\nb",
    "x" * 100_000, "\u20ac" * 30_000, "'" * 20_000, "$" * 30_000, " leading", "trailing ", "\ttab\t", "\nnl\n", "a # b",
]  # fmt: skip

_TEXTS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20), min_size=8, max_size=16
)


def _texts() -> list[str]:
    """What hypothesis thinks of."""
    found: list[str] = []

    @settings(max_examples=100, deadline=None, database=None, derandomize=True,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(_TEXTS)
    def collect(values: list[str]) -> None:
        found.extend(values)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hypothesis warns of a test that is called within another one
        collect()
    return found


def _values() -> Iterator[str]:
    """Whole values, what hypothesis thinks of, and without end what the pieces make together."""
    yield from WHOLE
    yield from _texts()
    chance = Random(12)
    while True:
        yield "".join(chance.choices(PIECES, k=chance.randint(1, 7)))


def carried(quote: Callable[[str], str]) -> list[tuple[str, str]]:
    """2,200 different values, each with how the dialect writes it; what it cannot carry is left out."""
    found: dict[str, str] = {}
    for value in islice(_values(), 20 * AT_LEAST):
        if len(found) == AT_LEAST + 200:
            return list(found.items())
        try:
            found[value] = quote(value)
        except CannotCarry:
            continue
    raise AssertionError(f"only {len(found)} values could be carried")
