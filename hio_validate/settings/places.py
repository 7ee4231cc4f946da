"""The ${place-holders} of a stack: what stands there at a site, and which name a secret.

`${model}` is a path of the service's site, `${host}` and `${port}` are where it listens there, and
`${secret:api-key}` is a secret of which the site says where it is kept. Invariant: a secret's value is in no
document; what a site does not say stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hio_validate.diagnostic import Path
from hio_validate.models.site import Place
from hio_validate.models.stack import Process, Stack
from hio_validate.repo import Repo

PLACE_HOLDER = re.compile(r"\$\{([^${}]*)\}")
SECRET = "secret:"
"""What the name of a secret begins with in a place-holder."""
START_S = 120.0
"""Seconds that a start may take where the site has no `limits: {start_s: ...}`."""


def place_of(service: str | None, repo: Repo) -> Place | None:
    """Where a service runs, by its site; None where no site says so."""
    site, slash, model = (service or "").partition("/")
    item = repo.find("site/v1", site) if slash else None
    return item.model.services.get(model) if item and item.model else None


def start_s(place: Place) -> float:
    """Seconds that a start may take at a place. Raises ValueError for what is no time."""
    said = place.limits.get("start_s", START_S)
    if isinstance(said, bool) or not isinstance(said, int | float) or said <= 0:
        raise ValueError(f"limits: start_s: {said} is no time: expected seconds, e.g. start_s: 120")
    return float(said)


def values(place: Place) -> dict[str, str]:
    """What each place-holder stands for at a place; a secret for itself."""
    own = {"host": place.host, "port": None if place.port is None else str(place.port)}
    secrets = {f"{SECRET}{name}": f"${{{SECRET}{name}}}" for name in place.secrets}
    return {**{name: value for name, value in own.items() if value}, **place.paths, **secrets}


def place_holders(process: Process) -> Iterator[tuple[Path, str]]:
    """Every place-holder of a process: the symbolic path of the text it stands in, and its name."""
    texts: list[tuple[Path, str]] = [
        (("argv", row, column), word)
        for row, line in enumerate(process.argv)
        for column, word in enumerate(line)
    ]
    texts += [(("env", name), value) for name, value in process.env.items()]
    for path, text in texts:
        for match in PLACE_HOLDER.finditer(text):
            yield path, match[1]


def filled_in(text: str, known: Mapping[str, str]) -> str:
    """A text with the known place-holders replaced by what they stand for."""
    return PLACE_HOLDER.sub(lambda match: known.get(match[1], match[0]), text)


def filled(stack: Stack, known: Mapping[str, str]) -> Stack:
    """The stack with the known place-holders replaced by what they stand for."""
    processes = {
        name: process.model_copy(
            update={
                "argv": [[filled_in(word, known) for word in line] for line in process.argv],
                "env": {variable: filled_in(value, known) for variable, value in process.env.items()},
            }
        )
        for name, process in stack.processes.items()
    }
    return stack.model_copy(update={"processes": processes})
