"""The templates and how they are filled: a sandbox in which nothing is undefined, nothing escaped, nothing by chance.

Invariants: a value is text, whatever it looks like, and no template tag in it is ever followed; a name that is not
there ends the rendering wherever it stands, also in a condition or as the argument of a filter; a template of the
repository, `templates/<name>`, stands in for the packaged one of the same name, and is filled in by a process with limits
of its own (filling.py), so that none takes the host's time or memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from jinja2 import (
    BaseLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    Undefined,
    UndefinedError,
    meta,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hio_validate.render.bundle import CannotRender
from hio_validate.render.carrying import CannotCarry

_BY_CHANCE = ("random",)
"""Filters whose answer is another one each time."""


class Held(Protocol):
    """Whoever has files, a repository above all."""

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises OSError; FileNotFoundError or NotADirectoryError where there is none."""


Fill = Callable[[str, Mapping[str, bytes], Mapping[str, Any]], str]
"""Fills in a template of a repository: its name, the repository's templates by name, the values. Raises CannotRender."""


class Templates:
    """The templates of one repository: its own, and the packaged ones; `apart` fills in what its own have a part in."""

    def __init__(
        self, held: Held | None, filters: Mapping[str, Callable[..., str]], apart: Fill | None = None
    ) -> None:
        self._held = held
        self._apart = apart
        self._environment = _environment(_Loader(self), filters)

    def own(self, names: Iterable[str]) -> dict[str, bytes]:
        """The templates of the repository itself among these and those that they include. Raises CannotRender."""
        found = {name: self._own(name) for name in sorted(self._closure(tuple(names)))}
        return {name: source for name, source in found.items() if source is not None}

    def _own(self, name: str) -> bytes | None:
        """A template of the repository; one that is there and cannot be read is never stood in for in silence."""
        if self._held is None or not _stays_below(name):
            return None
        try:
            return self._held.read(f"templates/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise CannotRender(
                f"templates/{name} of this repository cannot be read: {error.strerror}; make it a file, or remove it to "
                "use hio's"
            ) from None

    def source(self, name: str) -> bytes:
        """The bytes of a template. Raises CannotRender."""
        own = self._own(name)
        found = own if own is not None else _packaged(name)
        if found is None:
            raise CannotRender(f"there is no template {name}, neither in templates/ nor packaged with hio")
        return found

    def digest(self, names: tuple[str, ...]) -> str:
        """The digest of templates with all that they include: SHA-256 over the lines that sha256sum prints for them."""
        lines = [
            f"{sha256(self.source(name)).hexdigest()}  {name}\n" for name in sorted(self._closure(names))
        ]
        return f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"

    def _closure(self, names: tuple[str, ...]) -> set[str]:
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            for other in meta.find_referenced_templates(self._parsed(name)):
                if other is None:
                    raise CannotRender(
                        f"the template {name} includes a template whose name it computes: name it"
                    )
                waiting.append(other)
        return found

    def _parsed(self, name: str) -> Any:
        try:
            return self._environment.parse(_decoded(self.source(name), name))
        except TemplateError as error:
            raise CannotRender(f"the template {name} cannot be read: {_told(error)}") from None
        except (RecursionError, MemoryError):
            raise CannotRender(f"the template {name} cannot be read: it is nested too deeply") from None

    def fill(self, name: str, context: Mapping[str, Any]) -> str:
        """A template with its values. Raises CannotRender."""
        own = self.own([name]) if self._apart else {}
        if own and self._apart:
            return self._apart(name, own, context)
        self._parsed(name)
        try:
            return self._environment.get_template(name).render(context)
        except CannotCarry as error:
            raise CannotRender(f"{name}: {_whose(error.value, context)}{error}") from None
        except UndefinedError as error:
            raise CannotRender(f"the template {name} asks for what is not there: {error}") from None
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, SyntaxError) as error:
            raise CannotRender(f"the template {name} cannot be filled: {_told(error)}") from None
        except RecursionError:
            raise CannotRender(
                f"the template {name} cannot be filled: it includes or calls itself without end, or is nested too deeply"
            ) from None


class _Loader(BaseLoader):
    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def get_source(self, environment: Any, template: str) -> tuple[str, str | None, Callable[[], bool]]:
        try:
            return _decoded(self._templates.source(template), template), None, lambda: True
        except CannotRender as error:
            raise TemplateNotFound(template, str(error)) from None


def _environment(
    loader: BaseLoader, filters: Mapping[str, Callable[..., str]]
) -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(
        loader=loader, undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True,
        finalize=_defined,
        trim_blocks=True, lstrip_blocks=True, cache_size=0,
    )  # fmt: skip
    made.filters.update(filters)
    made.filters["tojson"] = tojson
    made.filters = {name: _strict(each) for name, each in made.filters.items() if name not in _BY_CHANCE}
    tests: dict[str, Any] = made.tests
    made.tests = {name: _strict(each) for name, each in tests.items()}
    del made.globals["lipsum"]
    return made


def tojson(value: Any, indent: int | None = None) -> str:
    """A value as JSON, its keys in their order; whatever is not ASCII is escaped."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, indent=indent)


def _defined(value: Any) -> Any:
    """The value; an inline `if` without `else` is nothing in Jinja, whatever its environment says, and here refused."""
    if isinstance(value, Undefined):
        raise UndefinedError(value._undefined_message)
    return value


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter or test, which refuses what is undefined instead of taking it for empty."""

    @wraps(function)
    def refusing(*arguments: Any, **named: Any) -> Any:
        for each in (*arguments, *named.values()):
            _defined(each)
        try:
            return function(*arguments, **named)
        except CannotCarry as error:
            error.value = arguments[0]
            raise

    return refusing


def _stays_below(name: str) -> bool:
    """Whether a name leads nowhere but into a folder of templates."""
    return "\0" not in name and not any(part in ("", ".", "..") for part in name.split("/"))


def _packaged(name: str) -> bytes | None:
    """A template that came with hio: in the wheel, else in the checkout that hio runs from."""
    if not _stays_below(name):
        return None
    wheel = files("hio_validate") / "templates"
    root = wheel if wheel.is_dir() else Path(__file__).parents[2] / "templates"
    found = root.joinpath(*name.split("/"))
    return found.read_bytes() if found.is_file() else None


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CannotRender(f"the template {name} is not UTF-8 at byte {error.start}") from None


def _whose(value: str | None, context: Mapping[str, Any]) -> str:
    """Which variable or argument has a value, to be put before the reason."""
    names = [name for name, each in context.get("environment", {}).items() if each == value]
    flags = [before for before, each in pairwise(context.get("argv", ())) if each == value]
    found = [*names, *(f"the argument after {flag}" for flag in flags)]
    return f"{', '.join(found)}: " if found else ""


def _told(error: Exception) -> str:
    line = getattr(error, "lineno", None)
    return f"line {line}: {error}" if line else str(error) or type(error).__name__
