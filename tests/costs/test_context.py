"""Which lengths a path needs before its work is counted."""

from __future__ import annotations

import pytest

from hio_validate.costs.context import WORDS, unknown_of

ALL = ("shape", "prompt-tokens", "generated-tokens")


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("decode-token", ALL),
        ("prefill-token", ALL[:2]),
        ("request", ALL[:2]),
        ("load", ALL[:1]),
        ("setup", ALL[:1]),
    ],
)
def test_a_path_needs_only_what_its_work_follows_from(path: str, needed: tuple[str, ...]) -> None:
    assert unknown_of(path, has_shape=False, prompt_tokens=None, generated_tokens=None) == needed
    assert unknown_of(path, has_shape=True, prompt_tokens=0, generated_tokens=0) == ()
    assert set(ALL) == set(WORDS)
