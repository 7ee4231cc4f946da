"""YAML as a reader of version 1.1 takes it: PyYAML, by which compose 1 reads as well."""

from __future__ import annotations

from typing import Any

import yaml

from hio_validate.render.bundle import CannotRender

NAME = f"PyYAML {yaml.__version__} (YAML 1.1)"


class _Strict(yaml.SafeLoader):
    """SafeLoader that takes no key twice: the last one would win in silence."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len({str(key) for key in keys}) < len(keys):
            raise yaml.constructor.ConstructorError(None, None, "a key stands twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)


def read(text: str, file: str) -> Any:
    """The data of one YAML document. Raises CannotRender."""
    return read_all(text, file, 1)[0]


def read_all(text: str, file: str, count: int) -> list[Any]:
    """The data of so many YAML documents. Raises CannotRender."""
    try:
        found = list(yaml.load_all(text, _Strict))  # a SafeLoader
    except (yaml.YAMLError, ValueError) as error:
        raise CannotRender(f"{file} is no YAML: {' '.join(str(error).split())}") from None
    if len(found) != count:
        raise CannotRender(f"{file} holds {len(found)} documents: expected {count}")
    return found
