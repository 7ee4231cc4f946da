"""compose YAML: a scalar in which compose fills in `$`, so that every `$` is doubled."""

from __future__ import annotations

from hio_validate.render.carrying import CannotCarry
from hio_validate.render.dialects import yaml11


def quote(value: str) -> str:
    """The value as one scalar of a compose file. Raises CannotCarry."""
    refuse_next_line(value)
    return yaml11.quote(value.replace("$", "$$"))


def refuse_next_line(value: str) -> None:
    """Raises CannotCarry for what docker-compose cannot show as it read it, so that nobody could check it."""
    if "\x85" in value:
        raise CannotCarry(
            "docker-compose config shows U+0085 (next line) as a blank: put the value into a file"
        )
