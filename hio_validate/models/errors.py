"""What a model refuses, in the words of whoever wrote the document.

Invariant: one problem gives one sentence at the real key, also where the model is a union of variants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from hio_validate.diagnostic import Path
from hio_validate.models import reader


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that a document says and its kind does not allow."""

    path: Path
    message: str
    help: str = ""
    at_key: bool = False


def refusals(error: ValidationError, kind: str, data: Any) -> list[Refusal]:
    """Every refusal of a document, in its order, one per place."""
    by_place: dict[Path, list[Any]] = {}
    for each in error.errors(include_url=False, include_context=True, include_input=True):
        by_place.setdefault(_real_path(each["loc"], data, each["type"]), []).append(each)
    return [_refusal(path, errors, kind, data) for path, errors in by_place.items()]


def _real_path(loc: Sequence[str | int], data: Any, type_: str) -> Path:
    """The part of pydantic's location that exists in the data, without the names of union variants."""
    path: list[str | int] = []
    here = data
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        if _has(here, part):
            path.append(part)
            here = here[part]
        elif last and type_ == "missing":
            path.append(part)
    return tuple(path)


def _has(data: Any, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, dict) and part in data


def _refusal(path: Path, errors: list[Any], kind: str, data: Any) -> Refusal:
    first = errors[0]
    name = next((part for part in reversed(path) if isinstance(part, str)), "the document")
    match first["type"]:
        case "extra_forbidden":
            return Refusal(
                path, f'unknown key "{name}"', _did_you_mean(name, path, first["loc"], kind, data), True
            )
        case "missing":
            return Refusal(path, f'the key "{name}" is missing', _described(path, first["loc"], kind))
        case "union_tag_not_found":
            key = first["ctx"]["discriminator"].strip("'")
            return Refusal(
                (*path, key), f'the key "{key}" is missing', _described((*path, key), first["loc"], kind)
            )
        case "union_tag_invalid":
            key, tag = first["ctx"]["discriminator"].strip("'"), first["ctx"]["tag"]
            words = [word.strip(" '") for word in first["ctx"]["expected_tags"].split(",")]
            return Refusal((*path, key), f"{key} is {tag}: expected {_or(words)}", _nearest(str(tag), words))
        case "invalid_key" | "string_pattern_mismatch" if str(first["loc"][-1]) == "[key]":
            return Refusal(
                path, f'the key "{name}" is not {_PATTERNS.get(_pattern(first), "allowed here")}', "", True
            )
    expected = list(dict.fromkeys(_expected(each) for each in errors))
    got = _got(first["input"])
    advice = (
        f'quote it: "{_got(first["input"]).split()[-1]}"'
        if _wants_text(errors) and _is_number(first["input"])
        else ""
    )
    if first["type"] == "literal_error":
        advice = _nearest(
            str(first["input"]), [word.strip("'") for word in first["ctx"]["expected"].split(" or ")]
        )
    return Refusal(path, f"{name}: expected {_or(expected)}, got {got}", advice)


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
        case "string_too_short" | "too_short":
            return f"at least {context['min_length']} {'items' if error['type'] == 'too_short' else 'characters'}"
        case "string_too_long" | "too_long":
            return (
                f"at most {context['max_length']} {'items' if error['type'] == 'too_long' else 'characters'}"
            )
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
    rf"^({_N}/{_N}/)?{_N}@sha256:[0-9a-f]{{64}}$": "a pin: name@sha256:<64 hexadecimal digits>",
    r"^[0-9a-f]{64}$": "a SHA-256 of 64 lower-case hexadecimal digits",
    r"^([0-9a-f]{64}|unknown)$": "a SHA-256 of 64 lower-case hexadecimal digits, or unknown",
    r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]{1,9})?Z$": (
        "a moment in UTC such as 2026-09-16T23:58:00Z"
    ),
    r"^[A-Za-z_][A-Za-z0-9_]*$": "a variable's name of letters, digits and _",
}


def _pattern(error: Any) -> str:
    return str(error.get("ctx", {}).get("pattern", ""))


def _got(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f'"{value if len(value) <= 60 else value[:57] + "..."}"'
    return "a list" if isinstance(value, list) else "keys and values"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _wants_text(errors: list[Any]) -> bool:
    return any(each["type"].startswith("string") for each in errors)


def _or(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _nearest(word: str, words: Sequence[str]) -> str:
    near = get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else ""


def _did_you_mean(name: str, path: Path, loc: Sequence[str | int], kind: str, data: Any) -> str:
    allowed = list(
        dict.fromkeys(key for schema in _schemas_at(loc[:-1], kind) for key in schema.get("properties", {}))
    )
    return _nearest(name, allowed) or (f"allowed here: {', '.join(allowed)}" if allowed else "remove it")


def _described(path: Path, loc: Sequence[str | int], kind: str) -> str:
    for schema in _schemas_at(loc[:-1] if loc and loc[-1] == path[-1] else loc, kind):
        described = schema.get("properties", {}).get(str(path[-1]), {}).get("description")
        if described:
            return str(described)
    return ""


def _schemas_at(loc: Sequence[str | int], kind: str) -> list[Any]:
    """The JSON Schemas that may describe the place; a union's variants are narrowed by its tag where named."""
    root = reader(kind).json_schema()
    here = list(_variants(root, root))
    for part in loc:
        tagged = [schema for schema in here if _is_variant(schema, str(part))]
        here = tagged or [deeper for schema in here for deeper in _inside(schema, part, root)] or here
    return here


def _is_variant(schema: Any, tag: str) -> bool:
    """Whether a union calls this variant by that tag: an entry's kind, or the key that marks a matrix row."""
    properties = schema.get("properties", {})
    return properties.get("kind", {}).get("const") == tag or (tag.endswith(" row") and tag[:-4] in properties)


def _inside(schema: Any, part: str | int, root: Any) -> Iterator[Any]:
    if isinstance(part, int):
        yield from _variants(schema.get("items", {}), root)
    elif part in schema.get("properties", {}):
        yield from _variants(schema["properties"][part], root)
    else:
        open_ended = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
        for each in open_ended:
            if isinstance(each, dict):
                yield from _variants(each, root)


def _variants(schema: Any, root: Any) -> Iterator[Any]:
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield from _variants(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    elif "anyOf" in schema or "oneOf" in schema:
        for each in schema.get("anyOf") or schema.get("oneOf") or []:
            yield from _variants(each, root)
    else:
        yield schema
