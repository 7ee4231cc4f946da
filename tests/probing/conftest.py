"""What tests measure: as little as shows that something was measured."""

from __future__ import annotations

import pytest

from hio_validate.probing.extent import MIB, Extent

TINY = Extent("tiny", 0.002, 6000.0, 60.0, 8 * MIB, (16, 64, 128), MIB * 4, True)


@pytest.fixture
def tiny() -> Extent:
    return TINY
