"""numpy, and the BLAS that multiplies for it.

Only the BLAS is measured: for f16, bf16 and int8 numpy has loops of its own, whose rate no engine is bound by.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hio_validate.probing.refusal import CannotProbe

DTYPES = {"f32": "float32", "f64": "float64"}
"""Number format -> numpy's name of it, where the BLAS has the matrix product (sgemm, dgemm)."""


@dataclass(frozen=True)
class Blas:
    """The libraries that measure."""

    numpy: Any
    threadpoolctl: Any

    @property
    def name(self) -> str:
        """`numpy 2.4.1, openblas 0.3.31 (SkylakeX, pthreads)`."""
        said = [
            f"{each['internal_api']} {each['version'] or 'of unknown version'}"
            + f" ({', '.join(filter(None, (each.get('architecture'), each.get('threading_layer'))))})"
            for each in self._pools()
        ]
        return ", ".join([f"numpy {self.numpy.__version__}", *dict.fromkeys(said)])

    @contextmanager
    def threads(self, count: int) -> Iterator[int]:
        """At most `count` threads inside; how many it really takes, since a build has a limit of its own."""
        with self.threadpoolctl.threadpool_limits(count, user_api="blas"):
            yield max((each["num_threads"] for each in self._pools()), default=1)

    def _pools(self) -> list[dict[str, Any]]:
        return [each for each in self.threadpoolctl.threadpool_info() if each["user_api"] == "blas"]


def blas() -> Blas:
    """numpy and threadpoolctl. Raises CannotProbe where one is not installed."""
    try:
        import numpy  # a tenth of a second and 30 MB, for this verb alone
        import threadpoolctl  # as numpy: an extra
    except ImportError as error:
        name = (error.name or "numpy").partition(".")[0]
        raise CannotProbe(
            f"{name} is not installed, and measuring needs it: pip install 'hio-validate[estimate]'"
        ) from None
    return Blas(numpy, threadpoolctl)
