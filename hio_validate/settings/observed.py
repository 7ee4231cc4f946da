"""What a process reports of itself against what its arguments give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.models.capture import CapturedProcess
from hio_validate.models.family import Family
from hio_validate.settings.captured import as_stack
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.reported import reports
from hio_validate.settings.setting import Origin, Setting
from hio_validate.settings.value import ABSENT, UNKNOWN, normal, single


class Contradiction(NamedTuple):
    """One setting that a process reports otherwise than its arguments and defaults give it."""

    factor: str
    where: str
    """Field of the captured process: props or log."""
    key: str
    reported: str
    expected: str
    origin: str

    @property
    def shown_where(self) -> str:
        return f"/{self.where}" if self.where == "props" else f"the {self.where}"


def contradictions(role: str, process: CapturedProcess, settings: Settings) -> Iterator[Contradiction]:
    """Every reported value that arguments, environment, metadata and defaults do not give.

    Nothing contradicts arguments that nobody could read; without the environment only arguments are settled.
    """
    family = settings.family(process.family)
    if process.argv.value is None:
        return
    effective = settings.resolve_processes(as_stack({role: process}, "captured"), {role: process})
    for said in reports(process, family):
        setting = effective.settings.get(f"{role}.{said.factor}")
        if setting is None or not _is_settled(setting, process):
            continue
        value = normal(said.text, said.factor, setting.option, family)
        rounded = family is not None and said.factor in family.rounded_up
        if value not in _open_values(said.factor, family) and not _agree(value, setting.value, rounded):
            yield Contradiction(said.factor, said.where, said.key, value, setting.value, str(setting.origin))


def _open_values(factor: str, family: Family | None) -> list[str]:
    """Values that are not what runs, such as `auto`: a report of one says nothing."""
    return family.resolved_at_run_time.get(factor, []) if family else []


def _is_settled(setting: Setting, process: CapturedProcess) -> bool:
    """Whether the value was fixed before the process started, so that a report can contradict it."""
    if process.environ.how == "unknown" and setting.origin is not Origin.ARGV:
        return False
    return setting.value not in (UNKNOWN, ABSENT) and setting.origin is not Origin.OBSERVED


def _agree(reported: str, expected: str, rounded_up: bool) -> bool:
    """Equal text, or one number in single precision: /props prints 0.800000011920929 for 0.8.

    Integers are compared exactly; where the engine rounds up, a report may be more.
    """
    if reported == expected:
        return True
    try:
        one, other = float(reported), float(expected)
    except ValueError:
        return False
    if rounded_up:
        return one >= other
    if "." not in reported + expected:
        return False
    return single(one) is not None and single(one) == single(other)
