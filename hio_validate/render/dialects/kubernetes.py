"""Kubernetes: `$(NAME)` is filled in within args and the value of a variable, and `$$` is a `$`.

Source: third_party/forked/golang/expansion of Kubernetes. A ConfigMap's data is not expanded: there plain YAML serves.
"""

from __future__ import annotations

from hio_validate.render.dialects import yaml11


def quote(value: str) -> str:
    """The value as one scalar of `command`, `args` or `env`. Raises CannotCarry."""
    return yaml11.quote(value.replace("$", "$$"))
