"""Products are those of the BLAS, in the formats that it has."""

from __future__ import annotations

import sys

import pytest

from hio_validate.probing import sampling
from hio_validate.probing.blas import blas
from hio_validate.probing.extent import Extent
from hio_validate.probing.products import _product, measured
from hio_validate.probing.refusal import CannotProbe
from hio_validate.probing.sampling import seconds

pytest.importorskip("numpy")


def test_small_and_large_are_measured_in_each_format(tiny: Extent) -> None:
    found = dict(step() for step in measured(blas(), [1], tiny))
    assert {(each.dtype, each.threads, each.unit, len(each.samples)) for each in found.values()} == {
        ("f32", 1, "GFLOP/s", 7),
        ("f64", 1, "GFLOP/s", 7),
    }
    assert {"matmul-f32-16-1", "matmul-f64-16-1"} <= found.keys() and len(found) == 4
    for rate in found.values():
        assert ((rate.method or "").startswith("numpy ") and "openblas" in (rate.method or "").lower()) or "mkl" in (rate.method or "")  # fmt: skip


def test_a_product_takes_as_long_as_its_operations_need(tiny: Extent) -> None:
    """What was optimised away would take no longer for 64 times the work."""
    library = blas()
    with library.threads(1):
        small, large = _product(library, "f64", 128), _product(library, "f64", 512)
        small(), large()
        assert min(seconds(large) for _ in range(5)) > 8 * min(seconds(small) for _ in range(5))


def test_the_number_of_threads_is_what_the_library_takes() -> None:
    library = blas()
    assert ", " in library.name, "no BLAS was found"
    with library.threads(1) as count:
        assert count == 1


@pytest.mark.parametrize("name", ["numpy", "threadpoolctl"])
def test_a_missing_library_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(CannotProbe, match=rf"^{name} is not installed.*hio-validate\[estimate\]"):
        blas()


def test_a_product_counts_a_multiplication_and_an_addition(
    tiny: Extent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "seconds", lambda work: (work() and None) or 1.0)
    found = dict(step() for step in measured(blas(), [1], tiny))
    assert found["matmul-f32-16-1"].value == pytest.approx(2 * 16**3 / 1e9, rel=1e-4)
