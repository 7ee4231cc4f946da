"""Writes models/<name>.py, what runs, from models/definitions/<name>.py, what is maintained; --check only compares.

A class becomes a Record with the same fields; its constraints become the core schema that pydantic derived.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pydantic
from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticUndefined

from hio_validate.models import module_of
from hio_validate.models.definitions import DEFINITIONS
from hio_validate.models.record import CONFIG

ROOM = Path(__file__).parent / "models"
NAMES = ("base", *(module_of(kind) for kind in DEFINITIONS))

_TAKES_NO_PART = {
    "metadata",
    "ref",
    "computed_fields",
    "custom_init",
    "root_model",
    "default_factory_takes_data",
}
"""What a core schema says to pydantic and not to the validator, or what the validator assumes anyway."""


_LINE = 110
"""Longest line of imports, as the linter has it."""


def compiled() -> dict[str, str]:
    """File name -> the source of one compiled module."""
    made: dict[str, _Module] = {}
    for name in NAMES:
        made[name] = _Module(import_module(f"hio_validate.models.definitions.{name}"), tuple(made.values()))
    return {f"{name}.py": module.source() for name, module in made.items()}


@dataclass
class _Module:
    """One module on its way; it may use what the modules before it define."""

    definition: ModuleType
    before: tuple[_Module, ...]
    schemas: list[tuple[str, Any]] = field(default_factory=list)
    """The schemas that have a name, with it."""
    used: dict[str, set[str]] = field(default_factory=dict)
    """Module -> the names to import from it."""

    def source(self) -> str:
        parts = [part for name, value in self._own() for part in self._part(name, value)]
        kind = next((kind for kind in DEFINITIONS if module_of(kind) == self.name), None)
        parts += [f"DOCUMENT = {self._literal(_core(DEFINITIONS[kind]))}"] if kind else []
        head = [
            f'"""{inspect.cleandoc(self.definition.__doc__ or "").splitlines()[0]}\n\n'
            f"Written by hio_validate/compile.py from definitions/{self.name}.py: change that one.\n"
            '"""\n\n# fmt: off\n\nfrom __future__ import annotations\n',
            *self._imports("\n".join(parts)),
        ]
        text = "\n".join(head) + "\n\n" + "\n\n".join(parts)
        return re.sub("\n{4,}", "\n\n\n", text).rstrip() + "\n"

    @property
    def name(self) -> str:
        return self.definition.__name__.rpartition(".")[2]

    def _own(self) -> Iterator[tuple[str, Any]]:
        """What this module defines, in its order: classes, and types with a name."""
        elsewhere = (pydantic, *(module.definition for module in self.before))
        known = [value for module in elsewhere for value in vars(module).values()]
        for name, value in vars(self.definition).items():
            is_model = isinstance(value, type) and issubclass(value, BaseModel) and name != "Model"
            if (is_model or _is_type(value)) and not any(value is each for each in known):
                yield name, value

    def _part(self, name: str, value: Any) -> Iterator[str]:
        if isinstance(value, type):
            yield "\n" + self._class(value)
            return
        if all(isinstance(each, type) and issubclass(each, BaseModel) for each in _variants(value)):
            yield f"{name} = {_written(value)}"
        constant = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
        schema = _core(value)
        yield f"{constant} = {self._literal(schema)}"
        self.schemas.append((constant, schema))

    def _class(self, model: type[BaseModel]) -> str:
        base = self._from(model.__bases__[0].__module__.rpartition(".")[2], model.__bases__[0].__name__)
        document = inspect.cleandoc(model.__dict__.get("__doc__") or "")
        lines = [f"class {model.__name__}({base}):"]
        lines += [f'    """{document}"""\n'] if document else []
        fields = _core(model)["schema"]["fields"]
        lines += [self._field(model, name, fields[name]) for name in inspect.get_annotations(model)]
        return "\n".join(lines) + "\n"

    def _field(self, model: type[BaseModel], name: str, core: Mapping[str, Any]) -> str:
        info = model.model_fields[name]
        schema = core["schema"] if info.is_required() else core["schema"]["schema"]
        said = [self._literal(schema), repr(info.description)]
        said += [f"alias={info.alias!r}"] if info.alias else []
        if info.default_factory is not None:
            said.append(f"default_factory={_factory(info.default_factory)}")
        elif info.default is not PydanticUndefined:
            said.append(f"default={info.default!r}")
        return f"    {name}: {_written(info.annotation)} = field({', '.join(said)})"

    def _is_taken(self, module: str, name: str) -> bool:
        """Whether a name already means what another module calls so."""
        return any(name in names for other, names in self.used.items() if other != module)

    def _literal(self, schema: Any) -> str:
        """The Python expression of a schema; what has a name is called by it."""
        for module in (*self.before, self):
            for name, named in module.schemas:
                if named == schema and not self._is_taken(module.name, name):
                    return self._from(module.name, name)
        match schema:
            case {"type": "model", "cls": cls}:
                return self._from(cls.__module__.rpartition(".")[2], cls.__name__) + ".core"
            case dict():
                return (
                    "{" + ", ".join(f"{key!r}: {self._literal(value)}" for key, value in schema.items()) + "}"
                )
            case list() | tuple():
                return "[" + ", ".join(map(self._literal, schema)) + "]"
            case _ if inspect.isfunction(schema):
                return self._from(schema.__module__.rpartition(".")[2], schema.__name__)
            case str() | int() | float() | None:
                return repr(schema)
        raise TypeError(f"{self.name}: no literal for {schema!r}")

    def _from(self, module: str, name: str) -> str:
        if name == "Model":
            return "Record"
        if module != self.name:
            self.used.setdefault(module, set()).add(name)
        return name

    def _imports(self, text: str) -> Iterator[str]:
        if "Literal[" in text:
            yield "from typing import Literal\n"
        bases = {"Record", "field"} if "class " in text else set()
        for module, names in sorted((self.used | ({"record": bases} if bases else {})).items()):
            ordered = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
            begin = f"from hio_validate.models.{module} import "
            line = begin + ", ".join(ordered)
            yield (
                line
                if len(line) <= _LINE
                else "\n    ".join([f"{begin}(", *(f"{each}," for each in ordered)]) + "\n)"
            )


def _is_type(value: Any) -> bool:
    return get_origin(value) in (Annotated, Literal, Union, UnionType)


def _variants(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Annotated:
        return _variants(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return tuple(variant for each in get_args(annotation) for variant in _variants(each))
    return (annotation,)


def _written(annotation: Any) -> str:
    """A type as it is annotated, without constraints."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _written(inner[0])
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(_written(each) for each in inner))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_written, inner))}]"
    return "None" if annotation is NoneType else str(annotation.__name__)


def _factory(factory: Callable[..., Any]) -> str:
    return factory.__name__ if isinstance(factory, type) else f"lambda: {factory()!r}"


def _core(type_: Any) -> Any:
    """The core schema that pydantic derives, reduced to what is validated, without references."""
    adapter = TypeAdapter(type_)
    adapter.rebuild(force=True)
    schema: Any = adapter.core_schema
    defined = {}
    if schema["type"] == "definitions":
        defined = {each["ref"]: each for each in schema["definitions"]}
        schema = schema["schema"]
    return _reduced(schema, defined)


def _reduced(schema: Any, defined: Mapping[str, Any]) -> Any:
    if isinstance(schema, list | tuple):
        return [_reduced(each, defined) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "definition-ref":
        return _reduced(defined[schema["schema_ref"]], defined)
    if schema.get("type") == "model":
        _check_config(schema["cls"], schema["config"])
    # A key of fields or of choices may be called like a part of a schema: only what has a type is a schema.
    leave = _TAKES_NO_PART if isinstance(schema.get("type"), str) else ()
    return {key: _reduced(value, defined) for key, value in schema.items() if key not in leave}


def _check_config(cls: type, config: Mapping[str, Any]) -> None:
    """A record knows one configuration; pydantic spells out two more keys, at the values validators assume."""
    assumed = {"title": cls.__name__, "frozen": True, "validate_by_alias": True, "validate_by_name": False}
    odd = {key for key, value in config.items() if ({**assumed, **CONFIG}).get(key) != value}
    if odd or not CONFIG.keys() <= config.keys():
        raise TypeError(f"{cls.__name__}: a record cannot be configured by {', '.join(odd) or 'less'}")


def main() -> None:
    """Write the modules; with --check, only say whether the written ones are up to date (exit 1 where not)."""
    sources = compiled()
    stale = [
        name
        for name, source in sources.items()
        if not (ROOM / name).is_file() or (ROOM / name).read_bytes() != source.encode()
    ]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"not up to date in {ROOM}: {', '.join(stale)}; run python -m hio_validate.compile")
        print(f"{ROOM.name}: {len(sources)} compiled modules, all up to date")
        return
    for name in stale:
        (ROOM / name).write_bytes(sources[name].encode())
    print(f"{ROOM.name}: {len(stale)} written, {len(sources) - len(stale)} unchanged")


if __name__ == "__main__":
    main()
