"""YAML as people write it: hypothesis strategies for texts with comments, odd quotes, widths, blank lines,
literal blocks, anchors, and for the data in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from hio_validate.source.dump import flow, quoted, scalar

NASTY = (
    "", " ", "a b", "no", "off", "yes", "y", "n", "~", "null", "true", "1", "1.0", "1_000", "12:30:45", "5319E7",
    "012", "0x1F", "0b11", ".nan", "-.inf", "2026-09-16", "2026-09-16T23:58:00Z", "a: b", "a #b", "#a", "- a", "-",
    "?", "? a", ":", "a:", "<<", "=", "*a", "&a", "!a", "%a", "@a", "`a`", "[a", "{a}", "a,b", "'", '"', "it's",
    'say "x"', "back\\slash", "line\nline", "line\n", "\n", "\n\n x", "tab\tx", "\t", " lead", "trail ", "é",
    "日本", "😀", "\x00", "\x07", "\x1b[0m", "\x7f", "\x85", "\xa0", "\u200b", "\u2028", "\u202e", "\u2066",
    "\ufeff", "\ufffe", "\uffff", "---", "...", "--- a", "--threads", "-t", "${port}", "sha256:" + "a" * 64, "|", ">",
)  # fmt: skip
"""Strings that some writer or reader gets wrong."""

texts = st.sampled_from(NASTY) | st.text(
    st.characters(codec="utf-8") | st.sampled_from("\n \t:#'\"-,[]{}&*!|>%@`\\"), max_size=30
)
keys = st.sampled_from(("a", "b", "name", "argv", "LLAMA_ARG_THREADS", "n-gpu-layers")) | texts
singles = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    singles,
    lambda deeper: st.lists(deeper, max_size=4) | st.dictionaries(keys, deeper, max_size=4),
    max_leaves=12,
)
"""Whatever JSON can say, within the integers that every reader keeps."""


def same(left: Any, right: Any) -> bool:
    """Equal, where 1, 1.0 and true are three values and the order of keys says nothing."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


documents = st.dictionaries(keys, values, max_size=5)


@st.composite
def written_by_hand(draw: DrawFn) -> str:
    """The text of one document in the habits of some person; most of them are well-formed."""
    data = draw(st.dictionaries(keys, values, min_size=1, max_size=5))
    lines = [*draw(st.sampled_from(([], ["---"], ["# head", ""])))]
    lines += _Hand(draw).mapping(data, 0)
    lines += draw(st.sampled_from(([], ["# foot"], [""], ["", "# foot", ""])))
    return "\n".join(lines) + draw(st.sampled_from(("\n", "\n", "")))


class _Hand:
    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.anchors: list[str] = []

    def one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def mapping(self, data: dict[str, Any], indent: int) -> list[str]:
        lines: list[str] = []
        for key, value in data.items():
            lines += self.between(indent)
            lines += self.value(f"{' ' * indent}{self.key(key)}{self.one_of('', '', ' ')}:", value, indent)
        return lines

    def sequence(self, items: list[Any], indent: int) -> list[str]:
        lines: list[str] = []
        for item in items:
            lines += self.between(indent)
            dash = f"{' ' * indent}-"
            if isinstance(item, dict | list) and item and self.one_of(True, False):
                gap = self.one_of(1, 1, 3)
                nested = self.block(item, indent + 1 + gap)
                if nested[0].strip() and not nested[0].lstrip().startswith("#"):
                    lines += [dash + " " * gap + nested[0].lstrip(), *nested[1:]]
                    continue
            lines += self.value(dash, item, indent)
        return lines

    def block(self, value: Any, indent: int) -> list[str]:
        return self.mapping(value, indent) if isinstance(value, dict) else self.sequence(value, indent)

    def value(self, head: str, value: Any, indent: int) -> list[str]:
        if isinstance(value, dict | list) and value and self.one_of(True, True, False):
            deeper = indent + self.one_of(2, 2, 4)
            if isinstance(value, list) and not head.endswith("-"):
                deeper = self.one_of(deeper, indent)
            return [head + self.anchor() + self.tail(), *self.block(value, deeper)]
        if isinstance(value, str) and value.strip() and self.one_of(True, False):
            return self.literal(head, value, indent)
        if isinstance(value, dict | list) and value and self.one_of(True, False):
            return list(self.wide_flow(head, value, indent))
        if self.anchors and self.one_of(False, False, False, True):
            return [f"{head} *{self.one_of(*self.anchors)}{self.tail()}"]
        return [head + self.anchor() + self.one_of(" ", " ", "   ") + self.inline(value) + self.tail()]

    def anchor(self) -> str:
        if not self.one_of(*[False] * 9, True):
            return ""
        self.anchors.append(f"x{len(self.anchors)}")
        return f" &{self.anchors[-1]}"

    def literal(self, head: str, value: str, indent: int) -> list[str]:
        mark = self.one_of("|", "|-", "|+", ">", ">-")
        return [f"{head} {mark}{self.tail()}", *(" " * (indent + 2) + line for line in value.split("\n"))]

    def wide_flow(self, head: str, value: Any, indent: int) -> Iterator[str]:
        """One entry a line, with a comma after the last one or not."""
        opened, closed = "{}" if isinstance(value, dict) else "[]"
        yield f"{head} {opened}{self.tail()}"
        entries = [self.inline(each) for each in value] if isinstance(value, list) else [
            f"{self.key(key)}: {self.inline(each)}" for key, each in value.items()
        ]  # fmt: skip
        for entry in entries[:-1]:
            yield f"{' ' * (indent + 2)}{entry},{self.tail()}"
        yield f"{' ' * (indent + 2)}{entries[-1]}{self.one_of('', ',')}{self.tail()}"
        yield f"{' ' * indent}{closed}{self.tail()}"

    def inline(self, value: Any) -> str:
        if value is None:
            return str(self.one_of("null", "~", "Null", ""))
        if isinstance(value, list):
            return self.one_of("[{}]", "[ {} ]").format(",".join(f" {self.inline(each)}" for each in value))
        if isinstance(value, dict):
            inner = ", ".join(f"{self.key(key)}: {self.inline(each)}" for key, each in value.items())
            return "{" + inner + "}"
        return self.text(value) if isinstance(value, str) else flow(value)

    def key(self, key: str) -> str:
        return self.text(key)

    def text(self, text: str) -> str:
        single = "'" + text.replace("'", "''") + "'" if text.isprintable() else quoted(text)
        return str(self.one_of(scalar(text), quoted(text), single))

    def tail(self) -> str:
        return str(self.one_of("", "", "", "", "  # why", " # hio: allow x — y, z", "  "))

    def between(self, indent: int) -> list[str]:
        return list(
            self.one_of([], [], [], [], [""], [" " * indent + "# a note, with [brackets"], ["", "# zero"])
        )
