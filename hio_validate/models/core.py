"""pydantic-core's validator, and none of the type definitions of its schemas.

`import pydantic_core` also loads `pydantic_core.core_schema` and typing_extensions: they check types and build no
validator, and take 10 ms of every start. The extension itself is complete without them.

Invariant: whoever imports pydantic_core later, or did before, has these same classes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from types import ModuleType


@contextmanager
def _a_bare_package(name: str) -> Iterator[None]:
    """While it stands in for a package that nobody imported yet, its modules load without its __init__."""
    spec = None if name in sys.modules else PathFinder.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        yield  # imported already, or by a finder that only a whole import asks
        return
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = spec.submodule_search_locations
    try:
        yield
    finally:
        del sys.modules[name]


with _a_bare_package("pydantic_core"):
    from pydantic_core._pydantic_core import SchemaValidator, ValidationError

__all__ = ["SchemaValidator", "ValidationError"]
