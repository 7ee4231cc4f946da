"""An arm had a stack by what was resolved, never by what it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.evidence.same_stack import other_stack
from hio_validate.history import Folder
from hio_validate.models.run import Arm
from hio_validate.repo import Item, load
from hio_validate.settings.knowledge import Settings
from tests.small_repo import FILES, ROOM, SERVICE, pin, stack, write

AGAIN = stack("again", 2).replace(
    '      - ["--port", "8080"]\n', '      - ["--port", "8080"]\n      - ["-b", "2048"]\n'
)
BUILT = stack("built", 2).replace("build: b1", "build: b2")


def _other(root: Path, pinned: str, delta: dict[str, Any]) -> str | None:
    """What an arm has otherwise than the stack two."""
    write(root, {**FILES, f"{ROOM}/stacks/again.yaml": AGAIN, f"{ROOM}/stacks/built.yaml": BUILT,
                 f"{ROOM}/stacks/odd.yaml": stack("odd", 2, '      - ["--polls", "1"]\n')})  # fmt: skip
    repo = load(Folder(root))
    two = repo.find("stack/v1", "two", SERVICE)
    assert isinstance(two, Item)
    return other_stack(Arm(stack=pinned, set=delta), two, SERVICE, repo, Settings(repo))


@pytest.mark.parametrize(
    ("pinned", "delta"),
    [
        (pin("two", stack("two", 2)), {}),
        (pin("base", stack("base")), {"server.threads": 2}),
        (pin("base", stack("base")), {"threads": "2"}),
        (pin("two", stack("two", 2)), {"server.threads": "2"}),
    ],
)
def test_the_same_settings_are_the_same_stack(tmp_path: Path, pinned: str, delta: dict[str, Any]) -> None:
    assert _other(tmp_path, pinned, delta) is None


@pytest.mark.parametrize(
    ("pinned", "delta", "said"),
    [
        (pin("base", stack("base")), {}, "its stack differs: server.threads 1"),
        (pin("base", stack("base")), {"server.threads": 2, "server.batch-size": 64}, "server.batch-size 64"),
        (pin("two", stack("two", 3)), {}, "its stack two has other bytes now than it pinned"),
        (pin("built", BUILT), {}, "it had another build (built)"),
        (pin("odd", stack("odd", 2, '      - ["--polls", "1"]\n')), {}, "is not understood"),
    ],
)
def test_other_settings_bytes_or_builds_are_another_stack(
    tmp_path: Path, pinned: str, delta: dict[str, Any], said: str
) -> None:
    assert said in str(_other(tmp_path, pinned, delta))


def test_a_default_that_is_written_out_is_the_same(tmp_path: Path) -> None:
    assert _other(tmp_path, pin("again", AGAIN), {}) is None
