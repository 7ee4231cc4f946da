"""What a model refuses, in the words of whoever wrote the document.

Invariant: one problem gives one sentence at the real key, also where the model is a union of variants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from hio_validate.diagnostic import Path
from hio_validate.models import document
from hio_validate.models.core import ValidationError
from hio_validate.spelling import nearest


class Refusal(NamedTuple):
    """One thing that a document says and its kind does not allow."""

    path: Path
    message: str
    help: str = ""
    at_key: bool = False
    missing: bool = False
    meant: str = ""
    """The key that a misspelt one was meant to be."""


def refusals(error: ValidationError, kind: str, data: Any) -> list[Refusal]:
    """Every refusal of a document, in the order of the model, one per place."""
    by_place: dict[Path, list[Any]] = {}
    for each in error.errors(include_url=False, include_context=True, include_input=True):
        by_place.setdefault(_real_path(each, data, kind), []).append(each)
    found = [_refusal(path, errors, kind, data) for path, errors in by_place.items()]
    meant = {(*each.path[:-1], each.meant) for each in found if each.meant}
    return [each for each in found if not (each.missing and each.path in meant)]


def _real_path(error: Any, data: Any, kind: str) -> Path:
    """The part of pydantic's location that exists in the data, without the names of union variants."""
    loc, path, here = error["loc"], [], [data]
    # An entry's variant is called as its kind, which may also be a key: a decision has the key `decision`.
    variant = 1 if kind == "entry/v1" else 0
    for index, part in enumerate(loc):
        if index < variant:
            continue
        if _has(here[-1], part):
            path.append(part)
            here.append(here[-1][part])
        elif index == len(loc) - 1 and error["type"] == "missing":
            path.append(part)
    if len(here) > 1 and error["type"] in _ABOUT_A_VALUE and here[-2] is error["input"]:
        path.pop()  # the name of a variant that the value happens to have as a key
    return tuple(path)


_ABOUT_A_VALUE = (
    "string_type",
    "bool_type",
    "int_type",
    "float_type",
    "list_type",
    "dict_type",
    "none_required",
)


def _has(data: Any, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, dict) and part in data


def _refusal(path: Path, errors: list[Any], kind: str, data: Any) -> Refusal:
    first = errors[0]
    if first["loc"] and first["loc"][-1] == "[key]":
        return _refused_key(path, first)
    match first["type"]:
        case "extra_forbidden":
            return _unknown_key(path, first["loc"], kind)
        case "missing":
            return _missing_key(path, first["loc"], kind)
        case "union_tag_not_found":
            return _missing_key((*path, first["ctx"]["discriminator"].strip("'")), first["loc"], kind)
        case "union_tag_invalid":
            key = first["ctx"]["discriminator"].strip("'")
            words, tag = _WORD.findall(first["ctx"]["expected_tags"]), first["input"].get(key)
            return Refusal(
                (*path, key), f"{key}: expected {_or(words)}, got {_got(tag)}", _nearest(str(tag), words)
            )
    expected = list(dict.fromkeys(_expected(each) for each in errors))
    message = f"{_name(path)}: expected {_or(expected)}, got {_got(first['input'])}"
    return Refusal(path, message, _advice(errors))


_WORD = re.compile("'([^']*)'")


def _name(path: Path) -> str:
    return next((_short(part) for part in reversed(path) if isinstance(part, str)), "the document")


def _refused_key(path: Path, error: Any) -> Refusal:
    if error["type"] == "literal_error":
        words = _WORD.findall(error["ctx"]["expected"])
        return Refusal(
            path,
            f'the key "{_short(str(path[-1]))}" is not {_or(words)}',
            _nearest(str(path[-1]), words),
            True,
        )
    if error["type"] == "string_too_long":
        return Refusal(
            path,
            f'the key "{_short(str(path[-1]))}" is longer than {error["ctx"]["max_length"]} characters',
            "",
            True,
        )
    wanted = _PATTERNS.get(str(error.get("ctx", {}).get("pattern")), "allowed here")
    return Refusal(path, f'the key "{_short(str(path[-1]))}" is not {wanted}', "", True)


def _unknown_key(path: Path, loc: Sequence[str | int], kind: str) -> Refusal:
    name = str(path[-1])
    allowed = list(dict.fromkeys(key for shape in _shapes_at(loc[:-1], kind) for key in shape))
    near = nearest(name, allowed)
    help = (
        f"did you mean {near}?" if near else f"allowed here: {', '.join(allowed)}" if allowed else "remove it"
    )
    return Refusal(
        path,
        f'unknown key "{_short(name)}"{_in_variant(loc, kind)}',
        help,
        True,
        meant=near,
    )


def _missing_key(path: Path, loc: Sequence[str | int], kind: str) -> Refusal:
    return Refusal(
        path,
        f'the key "{path[-1]}" is missing{_in_variant(loc, kind)}',
        _described(path, loc, kind),
        missing=True,
    )


def _in_variant(loc: Sequence[str | int], kind: str) -> str:
    """Which of several shapes was judged, where the key stands directly in one."""
    tag = str(loc[-2]) if len(loc) > 1 else ""
    if tag.endswith(" row"):
        return f" in a {tag}"
    return f" in an entry of kind {tag}" if kind == "entry/v1" and len(loc) == 2 else ""


def _advice(errors: list[Any]) -> str:
    value = errors[0]["input"]
    if errors[0]["type"] == "literal_error":
        return _nearest(str(value), _WORD.findall(errors[0]["ctx"]["expected"]))
    wants_text = any(each["type"].startswith("string") for each in errors)
    if wants_text and isinstance(value, int | float) and isfinite(value):
        return f'quote it: "{_got(value).split()[-1]}"'
    return ""


def _expected(error: Any) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "string_type":
            return "text"
        case "int_type" | "int_from_float":
            return "a whole number"
        case "float_type":
            return "a number"
        case "bool_type":
            return "true or false"
        case "list_type":
            return "a list"
        case "dict_type" | "model_type" | "model_attributes_type" | "mapping_type":
            return "keys and values"
        case "none_required":
            return "nothing"
        case "finite_number":
            return "a finite number"
        case "literal_error":
            return str(context["expected"]).replace("'", "")
        case "string_pattern_mismatch":
            return _PATTERNS.get(context["pattern"], f"text like {context['pattern']}")
        case "string_too_short":
            return "some text"
        case "too_short":
            return "at least one entry"
        case "string_too_long":
            return f"at most {context['max_length']} characters"
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal":
            return f"at most {context['le']}"
    return str(error["msg"])


_N = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
_PATTERNS = {
    rf"^{_N}$": "a name of letters, digits and . _ + - that begins with a letter or digit",
    rf"^{_N}/{_N}$": "a service: site/model",
    rf"^({_N}/{_N}/)?{_N}$": "a name, or site/model/name for another service",
    rf"^{_N}/{_N}/{_N}$": "a document of a service: site/model/name",
    rf"^({_N}/{_N}/)?{_N}@sha256:[0-9a-f]{{64}}$": "a pin: name@sha256:<64 hexadecimal digits>",
    r"^[0-9a-f]{64}$": "a SHA-256 of 64 lower-case hexadecimal digits",
    r"^sha256:[0-9a-f]{64}$": "a digest: sha256:<64 hexadecimal digits>",
    r"^([0-9a-f]{40}|[0-9a-f]{64})$": "the full id of a git commit: 40 (or 64) lower-case hexadecimal digits",
    r"^([0-9a-f]{64}|unknown)$": "a SHA-256 of 64 lower-case hexadecimal digits, or unknown",
    r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]{1,9})?Z$": (
        "a moment in UTC such as 2026-09-16T23:58:00Z"
    ),
    r"^[A-Za-z0-9_.-]+$": "a name of letters, digits and . _ -",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "a variable's name of letters, digits and _",
}


def unknown_kind(said: Any, kinds: Sequence[str]) -> Refusal:
    """A `hio:` line that names no kind of document this version knows."""
    near = _nearest(str(said), kinds)
    return Refusal(("hio",), f"hio: expected {_or(kinds)}, got {_got(said)}", near)


def _got(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f'"{_short(value)}"' if value else "an empty text"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "keys and values" if value else "no keys"


def _short(text: str) -> str:
    text = text.replace("\n", "\\n")
    return text if len(text) <= 60 else text[:57] + "..."


def _or(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _nearest(word: str, words: Sequence[str]) -> str:
    near = nearest(word, words)
    return f"did you mean {near}?" if near else ""


def _described(path: Path, loc: Sequence[str | int], kind: str) -> str:
    name = str(path[-1])
    for shape in _shapes_at(loc[:-1] if loc and loc[-1] == name else loc, kind):
        if name in shape:
            return str(shape[name]["metadata"]["about"])
    return ""


def _shapes_at(loc: Sequence[str | int], kind: str) -> list[dict[str, Any]]:
    """What keys the place may have, by key, once for every variant of a union that is not narrowed by its tag."""
    here = list(_variants(document(kind)))
    for part in loc:
        tagged = [schema for schema in here if _is_variant(schema, str(part))]
        here = tagged or [deeper for schema in here for deeper in _inside(schema, part)] or here
    return [_keys(schema) for schema in here]


def _keys(schema: Any) -> dict[str, Any]:
    """The keys that a core schema names, as a document writes them."""
    if schema["type"] != "model":
        return {}
    return {each.get("validation_alias", name): each for name, each in schema["schema"]["fields"].items()}


def _is_variant(schema: Any, tag: str) -> bool:
    """Whether a union calls this variant by that tag: an entry's kind, or the key that marks a matrix row."""
    keys = _keys(schema)
    said = keys["kind"]["schema"].get("expected") if "kind" in keys else None
    return said == [tag] or (tag.endswith(" row") and tag[:-4] in keys)


def _inside(schema: Any, part: str | int) -> Iterator[Any]:
    if isinstance(part, int):
        yield from _variants(schema.get("items_schema"))
    elif part in (keys := _keys(schema)):
        yield from _variants(keys[part]["schema"])
    else:
        yield from _variants(schema.get("values_schema"))


def _variants(schema: Any) -> Iterator[Any]:
    """The core schemas that one stands for: what may be absent or has a default, and every part of a union."""
    match schema:
        case None:
            return
        case {"type": "default" | "nullable", "schema": inner}:
            yield from _variants(inner)
        case {"type": "union", "choices": choices}:
            yield from (variant for each in choices for variant in _variants(each))
        case {"type": "tagged-union", "choices": choices}:
            yield from (variant for each in choices.values() for variant in _variants(each))
        case _:
            yield schema
