"""The ceilings of this machine, measured one after the other until the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from hio_validate.models.base import JudgedBy
from hio_validate.models.capture import Host
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.observe.host import observe_host
from hio_validate.observe.readings import available, busy_now, capacity, others_cpu
from hio_validate.probing import caches, devices, disk, dispatch, memory, products, threads
from hio_validate.probing.blas import Blas, blas
from hio_validate.probing.extent import GIB, Extent
from hio_validate.probing.refusal import CannotProbe, NotMeasured
from hio_validate.probing.sampling import Step
from hio_validate.probing.sane import trusted

HIGHEST_LOAD = 0.5
"""Load average of one minute above which something else runs."""
_TICKS_S = 0.2
"""Below, the kernel's ticks of 10 ms are too coarse to say who used the processors."""
Progress = Callable[[str, float], None]
Steps = Iterable[Step]


@dataclass(frozen=True)
class Machine:
    """What is known before anything is measured."""

    host: Host
    load: float
    usable: threads.Usable
    cache: int | None
    available: int | None
    memory: int | None = None
    """Bytes that programs started here can have."""
    limited: str | None = None
    """Why that is less than what the host has."""

    @property
    def is_busy(self) -> bool:
        return self.load > HIGHEST_LOAD


def machine() -> Machine:
    """This machine now."""
    load = float(Path("/proc/loadavg").read_text().split()[0])
    whole, limit = capacity()
    said = f"memory: a control group around us limits it to {limit / GIB:.1f} GiB" if limit else None
    if limit and whole:
        said = f"{said} of the host's {whole / GIB:.1f} GiB; what runs outside of it may have more"
    return Machine(
        observe_host(), load, threads.usable(), caches.last_level_bytes(), available(), limit or whole, said
    )


def counts(found: Machine, extent: Extent) -> list[int]:
    """Numbers of threads at which memory is measured."""
    return threads.counts(found.usable.count, extent.all_counts)


def ceilings(
    found: Machine, name: str, extent: Extent, folder: Path, progress: Progress, judged_by: JudgedBy
) -> Ceilings:
    """Measure. Raises CannotProbe where a library is missing, or nothing at all could be measured."""
    library = blas()
    at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    sheet = _Sheet(extent.budget_s, progress)
    for what, begin in _parts(found, library, extent, folder).items():
        sheet.take(what, begin)
    if not sheet.rates:
        raise CannotProbe(f"nothing could be measured: {sheet.unknown[0]}")
    kept = trusted(sheet.rates, sheet.others, found.usable.count)
    seen, silent = devices.devices()
    return Ceilings(
        hio="ceilings/v1",
        name=name,
        about=f"{found.host.cpu or 'processor of unknown name'}, {found.usable.count} threads ({found.usable.sentence})",
        how="measured",
        host=found.host.id,
        at=at,
        load=found.load,
        memory=found.memory,
        devices=seen,
        rates=kept.rates,
        unknown=[
            products.NOT_MEASURED,
            *([found.limited] if found.limited else []),
            *sheet.unknown,
            *kept.why,
            *silent,
        ],
        judged_by=judged_by,
    )


class _Sheet:
    """What was measured so far, what was not, and how many processors everybody else used meanwhile."""

    def __init__(self, budget_s: float, progress: Progress) -> None:
        self.rates: dict[str, Rate] = {}
        self.others: dict[str, float] = {}
        self.unknown: list[str] = []
        self._began = time.monotonic()
        self._budget_s = budget_s
        self._progress = progress

    def take(self, what: str, begin: Callable[[], Steps]) -> None:
        """Measure one part, as far as there is time."""
        self._progress(what, self._passed_s)
        if self._is_over:
            self.unknown.append(f"{what}: not begun, the {self._budget_s:g} s were over")
            return
        try:
            for step in begin():
                if self._is_over:
                    self.unknown.append(
                        f"{what}: not all of it, the {self._budget_s:g} s were over{self._after}"
                    )
                    break
                self._note(step)
        except NotMeasured as error:
            self.unknown.append(str(error))
        except MemoryError:
            self.unknown.append(f"{what}: there was no memory for it")

    def _note(self, step: Step) -> None:
        before = busy_now(())
        name, rate = step()
        self.rates[name] = rate
        now = busy_now(())
        others = others_cpu(before, now)
        if others is not None and now.at - before.at >= _TICKS_S:
            self.others[name] = others
        self._progress(name, self._passed_s)

    @property
    def _after(self) -> str:
        return f" after {[*self.rates][-1]}" if self.rates else ""

    @property
    def _passed_s(self) -> float:
        return time.monotonic() - self._began

    @property
    def _is_over(self) -> bool:
        return self._passed_s > self._budget_s


def _parts(found: Machine, library: Blas, extent: Extent, folder: Path) -> dict[str, Callable[[], Steps]]:
    """What is measured, in order: what costs little first, so that the time is over for what costs most."""
    most = found.usable.count
    at = sorted({1, most})
    return {
        "process-start": lambda: dispatch.starts(extent),
        "http-round-trip": lambda: [partial(dispatch.round_trip, extent)],
        "disk-read": lambda: [partial(disk.measured, folder, extent)],
        "memory": lambda: memory.measured(
            library, memory.stream(extent, found.cache, found.available), counts(found, extent), extent
        ),
        "matmul": lambda: products.measured(library, at, extent),
    }
