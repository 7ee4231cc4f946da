"""The reuse of a prefix, asked of a live server: a common first token is no cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hio_validate.command import Command
from hio_validate.execute.proof import prefix_reuse
from hio_validate.execute.work import Service
from hio_validate.observe.sockets import listening
from tests.execute.conftest import wait_for
from tests.ports import free_port

ENGINE = Path(__file__).with_name("engine.py")


@pytest.mark.parametrize(
    ("mode", "said"), [("", None), ("forgets", "took no token"), ("scant", "took 1 of 19 tokens")]
)
def test_most_of_an_equal_prompt_must_come_from_the_cache(mode: str, said: str | None) -> None:
    port = free_port()
    command = Command(sys.executable, (str(ENGINE), str(port), *mode.split()), {})
    with subprocess.Popen(command.argv, env={}, stdin=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: bool(listening(port)))
            found = prefix_reuse(Service("here/small", "127.0.0.1", port, None, command), command)
        finally:
            process.kill()
    assert found is None if said is None else said in (found or "")
