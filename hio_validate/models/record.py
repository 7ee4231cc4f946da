"""What the compiled models are: plain classes that pydantic-core fills and that offer what pydantic's offer.

Invariant: a record accepts, refuses and gives back exactly what its definition does (tests/models/test_record.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

from hio_validate.models.core import SchemaValidator

CONFIG = {"strict": True, "extra_fields_behavior": "forbid", "allow_inf_nan": False}
"""Strict and closed: no key beyond the named ones, no value of another type."""

_REQUIRED: Any = object()


def field(
    schema: Mapping[str, Any],
    about: str,
    *,
    alias: str | None = None,
    default: Any = _REQUIRED,
    default_factory: Callable[[], Any] | None = None,
) -> Any:
    """One key of a record: the core schema of its values, and what a person should know about it."""
    if default_factory is not None:
        schema = {"type": "default", "schema": schema, "default_factory": default_factory}
    elif default is not _REQUIRED:
        schema = {"type": "default", "schema": schema, "default": default}
    made = {"type": "model-field", "schema": schema, "metadata": {"about": about}}
    return made if alias is None else made | {"validation_alias": alias, "serialization_alias": alias}


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Record:
    """A part of a document, validated when constructed, compared by value, never changed."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
    # What pydantic-core sets on the objects that it fills.

    core: ClassVar[dict[str, Any]]
    """The core schema of this class (pydantic_core.core_schema.ModelSchema)."""
    _built: ClassVar[SchemaValidator]
    """Its validator, once a record of this very class was asked for."""

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if _is_field(value)}
        for name in own:
            delattr(cls, name)  # else what is missing in an object would be found in its class
        inherited = cls.core["schema"]["fields"] if hasattr(cls, "core") else {}
        shape = {"type": "model-fields", "model_name": cls.__name__, "fields": inherited | own}
        cls.core = {"type": "model", "cls": cls, "schema": shape, "config": CONFIG}

    def __init__(self, /, **values: Any) -> None:
        """Takes the keys as a document writes them. Raises pydantic_core.ValidationError."""
        self._validator().validate_python(values, self_instance=self)

    @classmethod
    def model_validate(cls, data: Any) -> Self:
        """The record that the data says. Raises pydantic_core.ValidationError."""
        made: Self = cls._validator().validate_python(data)
        return made

    @classmethod
    def _validator(cls) -> SchemaValidator:
        if "_built" not in vars(cls):  # a parent's would build the parent
            cls._built = SchemaValidator(cls.core)
        return cls._built

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The same with other values, which are not validated."""
        new = object.__new__(type(self))
        object.__setattr__(new, "__dict__", {**vars(self), **update})
        object.__setattr__(new, "__pydantic_fields_set__", self.model_fields_set | update.keys())
        return new

    @property
    def model_fields_set(self) -> set[str]:
        """The names of what was said, not added by default."""
        said: set[str] = self.__pydantic_fields_set__  # type: ignore[attr-defined]  # a slot
        return said

    def model_dump(
        self,
        *,
        by_alias: bool = False,
        exclude_none: bool = False,
        exclude_defaults: bool = False,
        exclude_unset: bool = False,
    ) -> dict[str, Any]:
        """The data of this record, all the way down."""

        def plain(value: Any) -> Any:
            match value:
                case Record():
                    kept = (name for name in vars(value) if not is_left_out(value, name))
                    return {key_of(value, name): plain(vars(value)[name]) for name in kept}
                case list():
                    return [plain(each) for each in value]
                case dict():
                    return {key: plain(each) for key, each in value.items()}
            return value

        def is_left_out(record: Record, name: str) -> bool:
            value = vars(record)[name]
            return (
                (exclude_none and value is None)
                or (exclude_unset and name not in record.model_fields_set)
                or (exclude_defaults and _is_default(record, name))
            )

        def key_of(record: Record, name: str) -> str:
            key: str = _fields(record)[name].get("serialization_alias", name) if by_alias else name
            return key

        shown: dict[str, Any] = plain(self)
        return shown

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} stays what it is")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} stays what it is")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
        )


def _is_field(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == "model-field"


def _fields(record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = record.core["schema"]["fields"]
    return fields


def _is_default(record: Record, name: str) -> bool:
    schema = _fields(record)[name]["schema"]
    if schema["type"] != "default":
        return False
    default = schema["default_factory"]() if "default_factory" in schema else schema["default"]
    return bool(vars(record)[name] == default)
