"""The lock of this host, for a verb that measures: no trial runs, and none begins meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hio_validate.cli.shared import stop
from hio_validate.execute import jobs, lock, preflight


@contextmanager
def alone() -> Iterator[None]:
    """Holds it; ends with a sentence where a trial runs, or has not been put back."""
    reason = preflight.refused(jobs.state_folder())
    if reason:
        stop(reason, 1)
    try:
        held = lock.take()
    except lock.Taken as error:
        stop(str(error), 1)
    try:
        yield
    finally:
        held.close()
