"""Fills in a template of a repository in a process of its own, with limits: `python -m hio_validate.render.filling`.

Invariant: a template has so much processor time and memory and no more; what needs more is refused, and no host suffers.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import sys
from collections.abc import Mapping
from typing import Any

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import programs
from hio_validate.render.dialects import FILTERS
from hio_validate.render.templating import Templates

LONGEST_S = 10
"""Seconds of the processor; hio's own templates need a hundredth."""
MOST_BYTES = 1 << 30


def apart(name: str, own: Mapping[str, bytes], context: Mapping[str, Any]) -> str:
    """A template with its values, filled in by a process with limits. Raises CannotRender."""
    templates = {each: base64.b64encode(source).decode() for each, source in own.items()}
    asked = json.dumps({"name": name, "templates": templates, "context": context, "longest_s": LONGEST_S})
    said = programs.run(
        [sys.executable, "-P", "-m", "hio_validate.render.filling"],
        given=asked.encode(),
        environment={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    if said.returncode:
        raise CannotRender(
            f"the template {name} cannot be filled within {LONGEST_S} s and {MOST_BYTES >> 20} MiB: look for a loop or a "
            "repetition without end"
        )
    answer = json.loads(said.stdout)
    if answer["refused"]:
        raise CannotRender(*answer["refused"])
    return str(answer["text"])


class _Given:
    """The templates that were handed over."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        self._templates = templates

    def read(self, path: str) -> bytes:
        found = self._templates.get(path.removeprefix("templates/"))
        if found is None:
            raise FileNotFoundError
        return base64.b64decode(found)


def _limit_oneself(longest_s: int) -> None:
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, longest_s),
        (resource.RLIMIT_AS, MOST_BYTES),
    ):
        resource.setrlimit(limit, (most, most))


def _answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = Templates(_Given(asked["templates"]), FILTERS).fill(asked["name"], asked["context"])
    except CannotRender as error:
        return {"text": None, "refused": error.reasons}
    return {"text": text, "refused": ()}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    _limit_oneself(given["longest_s"])
    sys.stdout.write(json.dumps(_answer(given)))
