"""Documents of every kind, generated from the definitions, and ways to spoil them."""

from __future__ import annotations

import copy
import re
import types
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from pydantic import BaseModel, StringConstraints
from pydantic.fields import FieldInfo

from hio_validate.diagnostic import Path
from hio_validate.models.definitions import DEFINITIONS


@cache
def documents(kind: str) -> SearchStrategy[dict[str, Any]]:
    """Documents that the kind's definition accepts. Built once: that takes longer than to draw one."""
    return _of(DEFINITIONS[kind], ())


def _of(annotation: Any, metadata: tuple[Any, ...]) -> SearchStrategy[Any]:
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _of(inner, (*metadata, *_flat(more)))
    if get_origin(annotation) is Literal:
        return st.sampled_from(get_args(annotation))
    if get_origin(annotation) in (Union, types.UnionType):
        return st.one_of([_of(each, metadata) for each in get_args(annotation)])
    if get_origin(annotation) is list:
        return st.lists(
            _of(get_args(annotation)[0], ()), min_size=_limit(metadata, MinLen, "min_length", 0), max_size=2
        )
    if get_origin(annotation) is dict:
        key, value = get_args(annotation)
        least = _limit(metadata, MinLen, "min_length", 0)
        return st.dictionaries(_of(key, ()), _of(value, ()), min_size=least, max_size=2)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model(annotation)
    return _single(annotation, metadata)


def _flat(metadata: Any) -> list[Any]:
    return [part for each in metadata for part in (each.metadata if isinstance(each, FieldInfo) else [each])]


def _limit(metadata: tuple[Any, ...], kind: type, name: str, otherwise: Any) -> Any:
    found = [
        getattr(each, name)
        for each in metadata
        if isinstance(each, kind | StringConstraints) and hasattr(each, name)
    ]
    return next((each for each in found if each is not None), otherwise)


def _single(annotation: Any, metadata: tuple[Any, ...]) -> SearchStrategy[Any]:
    if annotation is type(None):
        return st.none()
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return st.integers(_limit(metadata, Ge, "ge", -(2**53)), _limit(metadata, Le, "le", 2**53))
    if annotation is float:
        return _float(metadata)
    if annotation is str:
        return _text(metadata)
    raise TypeError(f"no documents can be generated for {annotation!r}")


def _float(metadata: tuple[Any, ...]) -> SearchStrategy[float]:
    """Numbers with a fraction: whole ones are told from floats by no YAML reader."""
    least = _limit(metadata, Ge, "ge", _limit(metadata, Gt, "gt", None))
    most = _limit(metadata, Le, "le", _limit(metadata, Lt, "lt", None))
    exclusive = {"exclude_min": _limit(metadata, Gt, "gt", None) is not None,
                 "exclude_max": _limit(metadata, Lt, "lt", None) is not None}  # fmt: skip
    within = st.floats(least, most, allow_nan=False, allow_infinity=False, **exclusive)
    return within.map(lambda number: number if number % 1 else 0.25)


def _text(metadata: tuple[Any, ...]) -> SearchStrategy[str]:
    longest = _limit(metadata, MaxLen, "max_length", None)
    pattern = _limit(metadata, StringConstraints, "pattern", None)
    if pattern is None:
        return st.text(min_size=_limit(metadata, MinLen, "min_length", 0), max_size=min(longest or 20, 20))
    return st.sampled_from(
        [text for text in WORDS if re.search(pattern, text) and len(text) <= (longest or 400)]
    )


def _model(model: type[BaseModel]) -> SearchStrategy[dict[str, Any]]:
    required, optional = {}, {}
    for name, info in model.model_fields.items():
        values = _of(info.annotation, tuple(info.metadata))
        (required if info.is_required() else optional)[info.alias or name] = values
    return st.fixed_dictionaries(required, optional=optional)


_DIGEST = "0123456789abcdef" * 4
WORDS = (
    "a", "B9", "9", "llama-server", "b11434", "x.y_z+1", "server.threads", "LLAMA_ARG_THREADS", "_x", "n" * 100,
    "lab/gemma-270m", "a/b", "lab/gemma-270m/base", "a/b/c", f"base@sha256:{_DIGEST}", f"a/b/c@sha256:{_DIGEST}",
    _DIGEST, f"sha256:{_DIGEST}", "0123456789" * 4, "unknown", "2026-09-16T23:58:00Z", "2026-09-16T23:58:00.123456789Z", "libggml.so.0", "GGML_NATIVE",
)  # fmt: skip
"""Texts of which some fit every pattern of the models."""

MISFITS: tuple[Any, ...] = (
    *WORDS, None, True, False, 0, 1, -1, 65536, 2**53 + 1, 1.5, -0.5, "", " ", "x", "unknown", "known", "a/b", "a/b/c",
    "a@sha256:" + "0" * 64, "0" * 64, "A" * 64, "sha256:" + "0" * 64, "x\n", "1", "true", "2026-09-16T23:58:00Z",
    "2026-09-16", "x" * 101, "x" * 400, [], {}, [[]], ["x"], [None], {"x": "y"}, {"x": None}, {"": 1}, {"a\n": "x"},
)  # fmt: skip
"""Values that are wrong in most places and right in some."""


def places(data: Any, at: Path = ()) -> list[Path]:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(deeper for key, value in entries for deeper in places(value, (*at, key)))]


def value_at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


@st.composite
def spoilt(draw: DrawFn, kind: str) -> dict[str, Any]:
    """A document of the kind after up to two mistakes; some of them are none."""
    document = copy.deepcopy(draw(documents(kind)))
    for _ in range(draw(st.integers(0, 2))):
        mistake, kinds = draw(st.sampled_from(_MISTAKES))
        there = [path for path in places(document)[1:] if isinstance(value_at(document, path), kinds)]
        if there:
            path = draw(st.sampled_from(there))
            mistake(draw, value_at(document, path[:-1]), path[-1])
    return document


def _misfit(draw: DrawFn, parent: Any, key: Any) -> None:
    parent[key] = copy.deepcopy(draw(st.sampled_from(MISFITS)))


def _drop(draw: DrawFn, parent: Any, key: Any) -> None:
    del parent[key]


def _empty(draw: DrawFn, parent: Any, key: Any) -> None:
    parent[key] = type(parent[key])()


def _line_feed(draw: DrawFn, parent: Any, key: Any) -> None:
    parent[key] += "\n"


def _cut(draw: DrawFn, parent: Any, key: Any) -> None:
    parent[key] = parent[key][1:]


def _as_text(draw: DrawFn, parent: Any, key: Any) -> None:
    parent[key] = str(parent[key])


def _as_number(draw: DrawFn, parent: Any, key: Any) -> None:
    parent[key] = draw(st.sampled_from((0, 1, 8080, 1.5)))


def _misspell(draw: DrawFn, parent: Any, key: Any) -> None:
    if isinstance(key, str):
        wrong = draw(
            st.sampled_from((key[:-1], key + "s", key.upper(), key + "\n", key.replace("_", "-"), "x" * 250))
        )
        parent[wrong] = parent.pop(key)


def _add(draw: DrawFn, parent: Any, key: Any) -> None:
    if isinstance(parent, dict):
        extra = draw(
            st.sampled_from(("extra", "hio", "kind", "preserved", "bundle", "factor", "because", "x y", ""))
        )
        parent[extra] = copy.deepcopy(draw(st.sampled_from(MISFITS)))
    else:
        parent.append(copy.deepcopy(draw(st.sampled_from(MISFITS))))


_MISTAKES: tuple[tuple[Callable[[DrawFn, Any, Any], None], Any], ...] = (
    (_misfit, object), (_drop, object), (_misspell, object), (_add, object), (_empty, list | dict | str),
    (_line_feed, str), (_cut, str), (_as_text, bool | int), (_as_number, str | bool),
)  # fmt: skip
"""Each with the values that it is made with."""
