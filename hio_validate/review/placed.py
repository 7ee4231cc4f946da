"""A stack as it runs at its site: `${name}` stands for what the site says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hio_validate.models.capture import CapturedProcess
from hio_validate.repo import Item
from hio_validate.review.trees import Side
from hio_validate.settings.places import filled, place_of, values
from hio_validate.settings.setting import Effective, Origin, Setting


@dataclass
class Placed:
    """The settings in force of the stacks of one side, each at the site of its service."""

    side: Side
    _known: dict[tuple[str, str | None], Effective] = field(default_factory=dict, repr=False)

    def effective(self, stack: Item, capture: Item | None = None) -> Effective:
        key = (stack.file, capture.file if capture else None)
        if key not in self._known:
            place = place_of(stack.service, self.side.repo)
            placed = filled(stack.model, values(place)) if place else stack.model
            seen: Mapping[str, CapturedProcess] = capture.model.processes if capture else {}
            settings = self.side.view.settings
            self._known[key] = settings.resolve_processes(placed, seen)
        return self._known[key]


def written(stack: Item, setting: Setting | None) -> str | None:
    """The text at the place where a stack sets something; None where it does not."""
    if setting is None or not setting.path:
        return None
    found = stack.document.data
    for key in setting.path:
        try:
            found = found[key]
        except (KeyError, IndexError, TypeError):
            return None
    return str(found)


def origin(stack: Item, setting: Setting | None, effective: Effective) -> str:
    """Where a value comes from, as a person would look for it."""
    if setting is None:
        return ""
    match setting.origin:
        case Origin.ARGV | Origin.ENV | Origin.FACT | Origin.IMPLICIT:
            return _said(stack, setting)
        case Origin.DEFAULT:
            build = effective.settings.get(f"{setting.address.partition('.')[0]}.build")
            return f"default of {build.value}" if build else "build default"
        case Origin.FOLLOWS if setting.leader:
            return f"follows {setting.leader}"
        case Origin.IDENTITY:
            return _of_identity(stack, setting)
    return str(setting.origin)


def _said(stack: Item, setting: Setting) -> str:
    line = stack.document.locate(setting.path).line if setting.path else 0
    name = f" {setting.spelling}" if setting.origin is Origin.ENV and setting.spelling else ""
    return f"{setting.origin}{name}" + (f", line {line}" if line else "")


def _of_identity(stack: Item, setting: Setting) -> str:
    process = setting.address.partition(".")[0]
    named = stack.model.processes.get(process)
    if setting.factor == "build" and named and named.build:
        return f"line {stack.document.locate(('processes', process, 'build')).line}"
    return "build document" if setting.factor.startswith("build.") else "observed"
