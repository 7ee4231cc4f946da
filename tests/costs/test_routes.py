"""The table of routes: one row for each route of an estimate, with a command that exists."""

from __future__ import annotations

import re
from typing import get_args

import pytest

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
