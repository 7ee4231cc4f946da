"""What an arm was measured on: as captures show it, else as the run declares it, never a mixture of two."""

from __future__ import annotations

import pytest

from hio_validate.evidence.workload import told


@pytest.mark.parametrize(
    ("seen", "declared", "expected"),
    [
        (["a", "a"], None, "a"),
        (["a", "a"], "b", "a"),  # seen goes before declared
        (["a", "b"], None, None),
        (["a", "b"], "a", None),
        (["a", None], None, None),  # one that does not know is not the same
        (["a", None], "a", "a"),
        (["a", None], "b", None),
        ([None], "a", "a"),
        ([], "a", "a"),
        ([], None, None),
    ],
)
def test_what_captures_show_goes_before_what_is_declared(
    seen: list[str | None], declared: str | None, expected: str | None
) -> None:
    assert told(seen, declared) == expected
