"""Options that several verbs share, beside what the console offers all of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from hio_validate.console import color, root_of, show, stop, user, width

__all__ = [
    "FiniteRange",
    "as_json",
    "color",
    "format_option",
    "repo_option",
    "root_of",
    "show",
    "stop",
    "user",
    "width",
]


class FiniteRange(click.FloatRange):
    """A number within a range; neither nan, which is within every range, nor inf."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


repo_option = click.option(
    "--repo",
    "repo",
    type=click.Path(path_type=Path),
    help="Repository (default: around the working directory).",
)
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output.",
)


def as_json(shape: dict[str, Any]) -> str:
    """A versioned JSON answer, with hidden characters escaped."""
    from hio_validate.report.json_ import dump  # only where JSON was asked for

    return dump(shape)
