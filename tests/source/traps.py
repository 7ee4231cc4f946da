"""The traps of reading YAML, each with what must be said about it, wherever the file is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BOM = b"\xef\xbb\xbf"

Said = tuple[str, int, int]
"""Rule id, line, column."""


@dataclass(frozen=True)
class Trap:
    """A document that must be refused, where, and a part of each sentence."""

    name: str
    raw: bytes
    said: tuple[Said, ...]
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def _syntax(name: str, raw: bytes, line: int, column: int, words: str) -> Trap:
    return Trap(name, raw, (("syntax-error", line, column),), (words,))


def _twice(name: str, raw: bytes, *places: tuple[int, int]) -> Trap:
    return Trap(
        name, raw, tuple(("duplicate-key", *place) for place in places), ("stands twice",) * len(places)
    )


def _ambiguous(name: str, raw: bytes, *words: str, line: int = 1, column: int = 4) -> Trap:
    said = tuple(("ambiguous-scalar", line + at, column) for at in range(len(words)))
    return Trap(name, raw, said, words)


def _bomb(kind: str) -> bytes:
    """Nine levels of nine aliases: 9^9 values, or as many merged keys."""
    lines = ["a0: &a0 {x: 1}"]
    for level in range(1, 10):
        nine = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(
            f"a{level}: &a{level} " + (f"[{nine}]" if kind == "list" else f"{{<<: [{nine}], x{level}: 1}}")
        )
    return ("\n".join(lines) + "\n").encode()


_DEEP_BLOCK = b"".join(b" " * level + b"a:\n" for level in range(500))
_DEEP_ALIASES = b"a0: &a0 {x: 1}\n" + b"".join(
    b"a%d: &a%d {x: *a%d}\n" % (n, n, n - 1) for n in range(1, 500)
)

CHARACTERS = (
    _syntax("bom-twice", BOM + BOM + b"a: 1\n", 1, 1, "U+FEFF"),
    _syntax("bom-inside", b'a: 1\nb: "x' + BOM + b'"\n', 2, 6, "U+FEFF"),
    _syntax("crlf", b"a: 1\nb: 2\r\n", 2, 5, "CRLF"),
    _syntax("lone-cr", b"a: 1\rb: 2\n", 1, 5, "U+000D without a line feed"),
    _syntax("nul", b"a: 1\nb: x\0y\n", 2, 5, "NUL character U+0000"),
    _syntax("latin-1", "a: 1\nb: née\n".encode("latin-1"), 2, 5, "byte 0xe9 is not UTF-8"),
    _syntax("latin-1-behind-two-byte-letters", b"\xc3\xa9\xc3\xa9: \xe9\n", 1, 5, "byte 0xe9 is not UTF-8"),
    _syntax("surrogate-bytes", b'a: "\xed\xa0\x80"\n', 1, 5, "is not UTF-8"),
    _syntax("utf-16", "a: 1\n".encode("utf-16"), 1, 1, "UTF-16"),
    _syntax("utf-16-big-endian", b"\xfe\xff" + "a: 1\n".encode("utf-16-be"), 1, 1, "UTF-16"),
    _syntax("utf-16-without-mark", "a: 1\n".encode("utf-16-be"), 1, 1, "NUL character U+0000"),
    _syntax("escape-character", b'a: 1\nb: "x\x1b[0m"\n', 2, 6, r"U+001B"),
    _syntax("vertical-tab", b"a: x\x0by\n", 1, 5, "U+000B"),
    _syntax("form-feed", b"\x0ca: x\n", 1, 1, "U+000C"),
    _syntax("delete", b"a: x\x7f\n", 1, 5, "U+007F"),
    _syntax("c1-control", 'a: "\x90"\n'.encode(), 1, 5, "U+0090"),
    _syntax("next-line", 'a: "\x85"\n'.encode(), 1, 5, "U+0085 (NEL)"),
    _syntax("line-separator", 'a: "\u2028"\n'.encode(), 1, 5, "U+2028"),
    _syntax("bidirectional-override", 'a: "\u202e"\n'.encode(), 1, 5, "bidirectional control U+202E"),
    _syntax("bidirectional-isolate", 'a: "\u2067"\n'.encode(), 1, 5, "bidirectional control U+2067"),
    _syntax("no-character", 'a: "\ufffe"\n'.encode(), 1, 5, "U+FFFE"),
    _syntax("control-in-a-comment", b"a: 1 # \x07\n", 1, 8, "U+0007"),
)

STRUCTURE = (
    _syntax("empty", b"", 1, 1, "the file is empty"),
    _syntax("blank", b"\n\n \n", 1, 1, "the file is empty"),
    _syntax("bom-only", BOM, 1, 1, "the file is empty"),
    _syntax("comments-only", b"# nothing yet\n# at all\n", 1, 1, "nothing but comments"),
    _syntax("marker-only", b"---\n", 1, 1, "the document is empty"),
    _syntax("null", b"~\n", 1, 1, "the document is empty"),
    _syntax("list-at-the-top", b"- a: 1\n", 1, 1, "the document is a list"),
    _syntax("one-value", b"hello\n", 1, 1, "the document is a single value"),
    _syntax("two-documents", b"a: 1\n---\nb: 2\n", 2, 1, "a second document"),
    _syntax("two-documents-dots", b"a: 1\n...\nb: 2\n", 3, 1, "a second document"),
    _syntax("marker-twice", b"---\n---\na: 1\n", 2, 1, "a second document"),
    _syntax("marker-at-the-end", b"a: 1\n---\n", 2, 1, "a second document"),
    _syntax("text-behind-the-end", b"{a: 1} b\n", 1, 8, "text after the end of the document"),
    _syntax("yaml-directive", b"%YAML 1.2\n---\na: 1\n", 1, 1, "%YAML"),
    _syntax("yaml-1.1-directive", b"%YAML 1.1\n---\na: 1\n", 1, 1, "%YAML"),
    _syntax("yaml-2-directive", b"# x\n%YAML 2.0\n---\na: 1\n", 2, 1, "%YAML"),
    _syntax("tag-directive", b"%TAG ! tag:x,2000:\n---\na: !b 1\n", 1, 1, "%TAG"),
    _syntax("other-directive", b"%NO such\n---\na: 1\n", 1, 1, "directive"),
    _syntax("tag", b"a: 1\nb: !!str 1\n", 2, 4, "the tag !!str"),
    _syntax("tag-of-ones-own", b"a: !mine x\n", 1, 4, "the tag !mine"),
    _syntax("tag-non-specific", b"a: ! x\n", 1, 4, "the tag !"),
    _syntax("tag-binary", b"a: !!binary aGk=\n", 1, 4, "the tag !!binary"),
    _syntax("tag-verbatim", b"a: !<tag:yaml.org,2002:int> 1\n", 1, 4, "the tag !!int"),
    _syntax("tag-on-a-mapping", b"a: !!map\n  b: 1\n", 1, 4, "the tag !!map"),
    _syntax("tag-on-a-list", b"a: !!seq [1]\n", 1, 4, "the tag !!seq"),
    _syntax("tag-python", b"a: !!python/object/apply:os.system [x]\n", 1, 4, "the tag !!python/object"),
    _syntax("tag-on-a-key", b"!!str a: 1\n", 1, 1, "a tag or an anchor on a key"),
    _syntax("tag-undefined", b"a: !x!y 1\n", 1, 4, "a tag that nothing defines"),
    _syntax("key-list", b"? [a, b]\n: 1\n", 1, 3, "a key that is not plain text"),
    _syntax("key-mapping-in-flow", b"x: {{a: 1}: 2}\n", 1, 5, "a key that is not plain text"),
    _syntax("key-alias", b"a: &a x\n*a : 1\n", 2, 1, "a key that is not plain text"),
    _syntax("key-anchor", b"&a a: 1\n", 1, 1, "a tag or an anchor on a key"),
    _syntax("key-null", b"a: 1\nnull: 1\n", 2, 1, "the key null is no text"),
    _syntax("key-tilde", b"x:\n  ~: 1\n", 2, 3, "the key ~ is no text"),
    _syntax("key-nothing", b"? \n: 1\n", 1, 2, "the key (empty) is no text"),
    _syntax("key-number", b"x: {a: 1, 1: 2}\n", 1, 11, "the key 1 is no text"),
    _syntax("key-float", b"1.5: a\n", 1, 1, "the key 1.5 is no text"),
    _syntax("key-boolean", b"x:\n  true: 1\n", 2, 3, "the key true is no text"),
    _syntax("key-too-long", b"x" * 1200 + b": 1\n", 1, 1201, "mapping values are not allowed"),
    _syntax("alias-without-anchor", b"a: *b\n", 1, 4, "the alias *b has no anchor"),
    _syntax("alias-before-its-anchor", b"a: *b\nb: &b 1\n", 1, 4, "the alias *b has no anchor"),
    _syntax("alias-inside-itself", b"a: &a [x, *a]\n", 1, 11, "the alias *a stands inside itself"),
    _syntax("merge-of-text", b"a:\n  <<: x\n", 2, 3, "<< merges something that is no mapping"),
    _syntax("merge-of-nothing", b"a:\n  <<:\n", 2, 3, "<< merges something that is no mapping"),
    _syntax("merge-of-an-empty-list", b"a: {<<: []}\n", 1, 5, "<< merges something that is no mapping"),
    _syntax("merge-of-a-list-of-text", b"a: &a {x: 1}\nb:\n  <<: [*a, x]\n", 3, 3, "<< merges something"),
)

INDENTATION = (
    _syntax("tab-indents", b"a:\n\tb: 1\n", 2, 1, "a tab where YAML wants spaces"),
    _syntax("tab-behind-spaces", b"a:\n  \tb: 1\n", 2, 3, "a tab where YAML wants spaces"),
    _syntax("tab-behind-a-dash", b"x:\n  -\ta: 1\n", 2, 4, "a tab where YAML wants spaces"),
    _syntax("tab-under-a-value", b"a: 1\n\tb: 2\n", 2, 1, "a tab where YAML wants spaces"),
    _syntax("tab-in-a-literal", b"a: |\n  x\n\ty\n", 3, 1, "a tab where YAML wants spaces"),
    _syntax("tab-alone", b"a: 1\n\t\nb: 2\n", 2, 1, "a tab where YAML wants spaces"),
    _syntax("deeper-than-its-value", b"a: 1\n b: 2\n", 2, 3, "mapping values are not allowed"),
    _syntax("between-two-levels", b"a:\n   b: 1\n  c: 2\n", 3, 3, "did not find expected key"),
    _syntax("list-beside-keys", b"a: 1\n- b\n", 2, 1, "did not find expected key"),
    _syntax("colon-in-a-value", b"a: b: c\n", 1, 5, "mapping values are not allowed"),
    _syntax("colon-forgotten", b"a: 1\nfoo\nb: 2\n", 2, 1, "could not find expected ':'"),
    _syntax("double-quote-open", b'a: 1\nb: "x\nc: 2\n', 2, 4, "never closed"),
    _syntax("single-quote-open", b"a: 1\nb: 'x\nc: 2\n", 2, 4, "never closed"),
    _syntax("quote-open-before-another", b'a: 1\nb: "x\nc: "y"\nd: 1\n', 2, 4, "closed only on line 3"),
    _syntax(
        "quote-open-in-a-list", b'v:\n  - ["--t", "2]\n  - ["--x", "y"]\n', 2, 13, "closed only on line 3"
    ),
    _syntax("quote-open-key", b'a: 1\n"b: 2\nc: 3\n', 2, 1, "never closed"),
    _syntax("text-behind-a-quote", b"a: 'it's'\n", 1, 8, "did not find expected key"),
    _syntax("bracket-open", b"a: 1\nb: [x, y\nc: 2\n", 2, 4, "the [ that opens here is never closed"),
    _syntax("brace-open", b"a: 1\nb: {x: 1\nc: 2\n", 2, 4, "the { that opens here is never closed"),
    _syntax("bracket-open-in-a-list", b"a:\n  - [x, y\n  - [z]\nb: 1\n", 2, 5, "the [ that opens here"),
    _syntax("bracket-open-at-the-end", b"a: 1\nb: [x\n", 2, 4, "the [ that opens here is never closed"),
    _syntax(
        "bracket-behind-a-comment", b"a: [x, # y]\nb: 1\n", 1, 4, "the [ that opens here is never closed"
    ),
    _syntax("bracket-closed-by-a-brace", b"a: [x}\n", 1, 6, "did not find expected ',' or ']'"),
    _syntax("bracket-never-opened", b"a: 1\nb: ]\n", 2, 4, "did not find expected node content"),
    _syntax("comma-forgotten", b"a: {\n  b: 1\n  c: 2\n}\n", 3, 4, "did not find expected ',' or '}'"),
    _syntax("comma-twice", b"a: [b,, c]\n", 1, 7, "did not find expected node content"),
    _syntax("escape-unknown", b'a: "\\q"\n', 1, 5, "unknown escape character"),
    _syntax("escape-surrogate", b'a: "\\ud83d\\ude00"\n', 1, 7, "invalid Unicode character escape"),
    _syntax("percent-first", b"a: %x\n", 1, 4, "cannot start any token"),
    _syntax("backquote-first", b"a: `x`\n", 1, 4, "cannot start any token"),
    _syntax("at-first", b"a: @x\n", 1, 4, "cannot start any token"),
    _syntax("column-in-characters", '"é": 日本 😀: x\n'.encode(), 1, 10, "mapping values are not allowed"),
    _syntax("last-line-without-newline", b"a: 1\nb: x: y", 2, 5, "mapping values are not allowed"),
    _syntax("last-line-open-bracket", b"a: 1\nb: [x", 2, 4, "never closed"),
    _syntax("last-line-open-quote", b'a: 1\nb: "x', 2, 4, "never closed"),
    _syntax("last-line-without-colon", b"a: 1\nfoo", 2, 1, "could not find expected ':'"),
)

LIMITS = (
    _syntax("bomb-of-lists", _bomb("list"), 6, 40, "more than 200,000 values"),
    _syntax("bomb-of-merges", _bomb("merge"), 6, 30, "more than 200,000 values"),
    _syntax(
        "deep-flow-lists", b"a: " + b"[" * 200 + b"]" * 200 + b"\n", 1, 67, "nested deeper than 64 levels"
    ),
    _syntax(
        "deep-flow-mappings",
        b"a: " + b"{a: " * 200 + b"}" * 200 + b"\n",
        1,
        256,
        "nested deeper than 64 levels",
    ),
    _syntax("deep-block", _DEEP_BLOCK, 65, 65, "nested deeper than 64 levels"),
    _syntax("deep-dashes", b"- " * 500 + b"a\n", 1, 129, "nested deeper than 64 levels"),
    _syntax("deep-aliases", _DEEP_ALIASES, 64, 15, "nested deeper than 64 levels"),
    _syntax("many-values", b"a: [" + b"1, " * 200_001 + b"]\n", 1, 599_996, "more than 200,000 values"),
)

DUPLICATES = (
    _twice("twice", b"a: 1\nb: 2\na: 3\n", (3, 1)),
    _twice("thrice", b"a: 1\na: 2\na: 3\n", (2, 1), (3, 1)),
    _twice("the-first-one-is-wrong", b"threads: 3\nb: 1\nthreads: 2\n", (3, 1)),
    _twice("nested", b"a:\n  x: 1\n  y: 2\n  x: 3\nx: 4\n", (4, 3)),
    _twice("in-flow", b"a: {x: 1, y: 2, x: 3}\n", (1, 17)),
    _twice("in-a-list", b"a:\n  - x: 1\n    x: 2\n  - x: 3\n", (3, 5)),
    _twice("spelt-differently", b"a: 1\n\"a\": 2\n'a': 3\n", (2, 1), (3, 1)),
    _twice("by-an-escape", b'a: 1\n"\\x61": 2\n', (2, 1)),
    _twice("beside-a-merge", b"b: &b {x: 1}\na:\n  <<: *b\n  x: 2\n  x: 3\n", (5, 3)),
    _twice("around-a-merge", b"b: &b {x: 1}\na:\n  x: 2\n  <<: *b\n  x: 3\n", (5, 3)),
    _twice("the-merge-itself", b"b: &b {x: 1}\na:\n  <<: *b\n  <<: *b\n", (4, 3)),
    _twice("in-two-mappings", b"a: {x: 1, x: 2}\nb:\n  y: 1\n  y: 2\n", (1, 11), (4, 3)),
    _twice("inside-the-second", b"a: 1\na: {x: 1, x: 2}\n", (2, 1), (2, 11)),
)

AMBIGUOUS = (
    _ambiguous("hash-prefix", b"a: 5319E7\nb: 5319e7\n", 'write "5319E7" or 5319.0e+7', '"5319e7"'),
    _ambiguous("hash-prefix-of-zeros", b"a: 0e0\nb: 00e12\n", '"0e0"', '"00e12"'),
    _ambiguous("signed", b"a: -5319E7\nb: +1e5\n", '"-5319E7"', '"+1e5"'),
    _ambiguous("hash-prefix-in-flow", b"a: [x, 5319E7]\n", '"5319E7"', column=8),
    _ambiguous("hash-prefix-as-a-key", b"x:\n  5319E7: 1\n", '"5319E7"', line=2, column=3),
    _ambiguous(
        "leading-zeros", b"a: 012\nb: 00\nc: -01\nd: 08\n", '"012" or 12', '"00" or 0', "or -1", "or 8"
    ),
    _ambiguous("beyond-2^53", b"a: 9007199254740993\nb: -9007199254740993\n", "beyond 2^53", "beyond 2^53"),
    _ambiguous("beyond-2^53-in-hexadecimal", b"a: 0x20000000000001\n", "beyond 2^53"),
    _ambiguous("thousands-of-digits", b"a: " + b"9" * 5000 + b"\nb: 0" + b"9" * 5000 + b"\n", "2^53", "zero"),
    _ambiguous(
        "thousands-of-digits-of-a-hash", b"a: " + b"9" * 5000 + b"e" + b"9" * 5000 + b"\n", "elsewhere"
    ),
)

TRAPS = (*CHARACTERS, *STRUCTURE, *INDENTATION, *LIMITS, *DUPLICATES, *AMBIGUOUS)

FIRST_PLACES: dict[str, tuple[tuple[int, int], ...]] = {
    "twice": ((1, 1),),
    "thrice": ((1, 1), (1, 1)),
    "the-first-one-is-wrong": ((1, 1),),
    "nested": ((2, 3),),
    "in-flow": ((1, 5),),
    "in-a-list": ((2, 5),),
    "spelt-differently": ((1, 1), (1, 1)),
    "by-an-escape": ((1, 1),),
    "beside-a-merge": ((4, 3),),
    "around-a-merge": ((3, 3),),
    "the-merge-itself": ((3, 3),),
    "in-two-mappings": ((1, 5), (3, 3)),
    "inside-the-second": ((1, 1), (2, 5)),
}
"""Where the first of two equal keys stands, by the trap's name."""


@dataclass(frozen=True)
class Fine:
    """A document that looks like trouble and is read."""

    name: str
    raw: bytes
    data: Any

    def __str__(self) -> str:
        return self.name


def _text(*words: str) -> Fine:
    lines = "".join(f"k{at}: {word}\n" for at, word in enumerate(words))
    return Fine(f"text-{words[0]}", lines.encode(), {f"k{at}": word for at, word in enumerate(words)})


_BASE = b"base: &base {x: 1, y: 2}\nmore: &more {y: 3, z: 4}\n"
_BASE_DATA = {"base": {"x": 1, "y": 2}, "more": {"y": 3, "z": 4}}

FINE = (
    _text("no", "No", "NO", "off", "Off", "on", "yes", "YES", "y", "Y", "n", "N"),
    _text("2026-09-16", "2026-09-16T23:58:00Z", "2026-09-16 23:58:00", "12:30:45", "1:30", "190:20:30"),
    _text("1_000", "1_0.5", "0b11", "0X1F", "+0x1f", "-0x1f", "0o8", "1.2.3", "1.5e", "+", ".", "...x", "e5"),
    _text("=", "<<", "a:b", "x#y", "sha256:ab", "f16", "nan", "inf", ".e3", "1e", "0x"),
    Fine("constants", b"a: true\nb: False\nc: NULL\nd: ~\ne:\n", {"a": True, "b": False, "c": None, "d": None, "e": None}),
    Fine("integers", b"a: +1\nb: -0\nc: 0x1F\nd: 0o17\ne: 9007199254740992\n",
         {"a": 1, "b": 0, "c": 31, "d": 15, "e": 2**53}),
    Fine("floats", b"a: 1.\nb: .5\nc: 1e+3\nd: 1E-3\ne: -.5e3\nf: 1.5E7\n",
         {"a": 1.0, "b": 0.5, "c": 1000.0, "d": 0.001, "e": -500.0, "f": 1.5e7}),
    Fine("infinities", b"a: .inf\nb: -.INF\n", {"a": float("inf"), "b": float("-inf")}),
    Fine("quoted", b"a: '1'\nb: \"true\"\nc: \"5319E7\"\nd: '012'\n", {"a": "1", "b": "true", "c": "5319E7", "d": "012"}),
    Fine("bom-once", BOM + b"a: 1\n", {"a": 1}),
    Fine("marker-first", b"---\na: 1\n", {"a": 1}),
    Fine("marker-behind-comments", b"# x\n---\n# y\na: 1\n", {"a": 1}),
    Fine("marker-and-flow", b"--- {a: 1}\n", {"a": 1}),
    Fine("dots-last", b"a: 1\n...\n", {"a": 1}),
    Fine("no-newline-at-the-end", b"a: 1", {"a": 1}),
    Fine("merge", _BASE + b"m:\n  <<: *base\n  z: 3\n", {**_BASE_DATA, "m": {"x": 1, "y": 2, "z": 3}}),
    Fine("merge-overridden-below", _BASE + b"m:\n  <<: *base\n  x: 9\n", {**_BASE_DATA, "m": {"x": 9, "y": 2}}),
    Fine("merge-overridden-above", _BASE + b"m:\n  x: 9\n  <<: *base\n", {**_BASE_DATA, "m": {"x": 9, "y": 2}}),
    Fine("merge-list-first-wins", _BASE + b"m:\n  <<: [*base, *more]\n",
         {**_BASE_DATA, "m": {"x": 1, "y": 2, "z": 4}}),
    Fine("merge-list-other-order", _BASE + b"m:\n  <<: [*more, *base]\n",
         {**_BASE_DATA, "m": {"x": 1, "y": 3, "z": 4}}),
    Fine("merge-written-out", b"m: {<<: {x: 1}, y: 2}\n", {"m": {"x": 1, "y": 2}}),
    Fine("merge-of-a-merge", b"a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, x: 3}\n",
         {"a": {"x": 1}, "b": {"x": 1, "y": 2}, "c": {"x": 3, "y": 2}}),
    Fine("merge-quoted-is-a-key", b'm: {"<<": 1}\n', {"m": {"<<": 1}}),
    Fine("anchor-of-a-value", b"a: &n 5\nb: *n\nc: [*n, *n]\n", {"a": 5, "b": 5, "c": [5, 5]}),
    Fine("anchor-given-again", b"a: &n 1\nb: &n 2\nc: *n\n", {"a": 1, "b": 2, "c": 2}),
    Fine("sixty-four-levels", b"a: " + b"[" * 63 + b"]" * 63 + b"\n", {"a": eval("[" * 63 + "]" * 63)}),
    Fine("very-long-line", b"a: " + b"x" * 1_000_000 + b"\n", {"a": "x" * 1_000_000}),
    Fine("long-key-marked", b"? " + b"x" * 2000 + b"\n: 1\n", {"x" * 2000: 1}),
    Fine("tab-in-quotes", b'a: "\tx"\nb: \'\ty\'\n', {"a": "\tx", "b": "\ty"}),
    Fine("tab-between", b"a:\tx\nb: 1\t# y\n", {"a": "x", "b": 1}),
    Fine("escapes", b'a: "\\0\\x1b\\u2028\\U0001F600\\N"\n', {"a": "\0\x1b\u2028\U0001f600\x85"}),
    Fine("keys-that-are-text", b"no: 1\n2026-09-16: 2\n'1': 3\n\"\": 4\n1_000: 5\n",
         {"no": 1, "2026-09-16": 2, "1": 3, "": 4, "1_000": 5}),
    Fine("literal-and-folded", b"a: |\n  x\n   y\nb: >-\n  x\n  y\n", {"a": "x\n y\n", "b": "x y"}),
)  # fmt: skip
