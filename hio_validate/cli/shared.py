"""Options that several verbs share, beside what the console offers all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hio_validate.console import color, root_of, show, stop, user, width

__all__ = [
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
