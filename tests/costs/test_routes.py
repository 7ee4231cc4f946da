"""The table of routes: one row for each route of an estimate, with a command that exists."""

from __future__ import annotations

import re
from typing import get_args

import click
import pytest

from hio_validate.cli import cli
from hio_validate.costs.routes import ROUTES
from hio_validate.models.definitions.estimate import Route


def test_that_every_route_has_one_row() -> None:
    assert list(ROUTES) == list(get_args(Route))


@pytest.mark.parametrize("route", list(ROUTES))
def test_that_a_row_says_everything(route: str) -> None:
    row = ROUTES[route]
    assert row.suspicion and row.measure and row.commands
    assert re.match(r"(the estimate|[a-z-]+/v\d)", row.artifact), "an artifact is a document"


def test_that_what_slows_the_process_says_so() -> None:
    assert all(
        row.instrumented
        for row in ROUTES.values()
        if any(each.startswith(("perf", "nsys")) for each in row.commands)
    )


@pytest.mark.parametrize(
    "typed", sorted({each for row in ROUTES.values() for each in row.commands if each.startswith("hio ")})
)
def test_that_hio_has_the_verb(typed: str) -> None:
    words = typed.split()[1:]
    context = click.Context(cli)
    command: click.Command | None = cli
    while isinstance(command, click.Group) and words:
        command = command.get_command(context, words.pop(0))
    assert command is not None, f"{typed}: no such verb"
    options = {option for each in command.params for option in each.opts}
    assert {word for word in words if word.startswith("--")} <= options
