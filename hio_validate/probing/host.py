"""The ceilings of this machine, measured one after the other until the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from hio_validate.models.base import JudgedBy
from hio_validate.models.capture import Host
from hio_validate.models.ceilings import Ceilings, Rate
from hio_validate.observe.host import observe_host
from hio_validate.observe.readings import available
from hio_validate.probing import caches, devices, disk, dispatch, memory, products, threads
from hio_validate.probing.blas import Blas, blas
from hio_validate.probing.extent import Extent
from hio_validate.probing.refusal import CannotProbe, NotMeasured
from hio_validate.probing.sampling import Step
from hio_validate.probing.sane import implausible

HIGHEST_LOAD = 0.5
"""Load average of one minute above which something else runs."""
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

    @property
    def is_busy(self) -> bool:
        return self.load > HIGHEST_LOAD


def machine() -> Machine:
    """This machine now."""
    load = float(Path("/proc/loadavg").read_text().split()[0])
    return Machine(observe_host(), load, threads.usable(), caches.last_level_bytes(), available())


def counts(found: Machine, extent: Extent) -> list[int]:
    """Numbers of threads at which memory is measured."""
    return threads.counts(found.usable.count, extent.all_counts)


def ceilings(
    found: Machine, name: str, extent: Extent, folder: Path, progress: Progress, judged_by: JudgedBy
) -> Ceilings:
    """Measure. Raises CannotProbe where a library is missing, or nothing at all could be measured."""
    library = blas()
    at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    rates, unknown = _measured(found, library, extent, folder, progress)
    if not rates:
        raise CannotProbe(f"nothing could be measured: {unknown[0]}")
    kept = _doubted(rates, unknown)
    seen, silent = devices.devices()
    return Ceilings(
        hio="ceilings/v1",
        name=name,
        about=f"{found.host.cpu or 'processor of unknown name'}, {found.usable.count} threads ({found.usable.sentence})",
        how="measured",
        host=found.host.id,
        at=at,
        load=found.load,
        devices=seen,
        rates=kept,
        unknown=[products.NOT_MEASURED, *unknown, *silent],
        judged_by=judged_by,
    )


def _measured(
    found: Machine, library: Blas, extent: Extent, folder: Path, progress: Progress
) -> tuple[dict[str, Rate], list[str]]:
    began = time.monotonic()
    rates: dict[str, Rate] = {}
    unknown: list[str] = []
    for what, begin in _parts(found, library, extent, folder).items():
        progress(what, time.monotonic() - began)
        if time.monotonic() - began > extent.budget_s:
            unknown.append(f"{what}: not begun, the {extent.budget_s:g} s were over")
            continue
        try:
            for step in begin():
                if time.monotonic() - began > extent.budget_s:
                    unknown.append(
                        f"{what}: not all of it, the {extent.budget_s:g} s were over after {[*rates][-1]}"
                    )
                    break
                name, rate = step()
                rates[name] = rate
                progress(name, time.monotonic() - began)
        except NotMeasured as error:
            unknown.append(str(error))
        except MemoryError:
            unknown.append(f"{what}: there was no memory for it")
    return rates, unknown


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


def _doubted(rates: Mapping[str, Rate], unknown: list[str]) -> dict[str, Rate]:
    """The rates, those with low confidence that contradict each other; why is added to `unknown`."""
    doubted: set[str] = set()
    for names, sentence in implausible(rates):
        doubted |= set(names)
        unknown.append(sentence)
    return {
        name: rate.model_copy(update={"confidence": "low"}) if name in doubted else rate
        for name, rate in rates.items()
    }
