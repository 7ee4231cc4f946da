"""The fixture of a plan whose arm drafts tokens: the same request, with the lengths that may be drafted.

Invariant: an arm that speculates is measured with a fixture that says its lengths (rule missing-sampling-chain); both arms
ask the same one. A fixture that stands is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hio_validate.recording import modeline
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.settings.drafting import speculation
from hio_validate.settings.setting import Effective
from hio_validate.settings.value import text_of
from hio_validate.source.dump import Row, dump


class Measured(NamedTuple):
    """The fixture to be measured, and the file of it where it is a new one."""

    fixture: str
    file: tuple[str, bytes] | None = None
    said: str = ""
    """What a person should look at."""


def measured_by(view: View, service: str, arms: Mapping[str, Mapping[str, Any]], fixture: str) -> Measured:
    """The fixture, or one of the same request with draft lengths where an arm drafts and it says none."""
    item = view.repo.find("fixture/v1", fixture, service)
    drafts = next((each for arm in arms.values() if (each := _drafting(view, service, arm))), None)
    if item is None or item.model is None or item.model.draft is not None or drafts is None:
        return Measured(fixture)
    alike = next((each for each in view.repo.of("fixture/v1") if _asks_the_same(each, item)), None)
    if alike is not None:
        return Measured(alike.name)
    lengths = _lengths(drafts)
    if lengths is None:
        return Measured(fixture)
    name = f"{item.name}-drafted"
    file = f"manifests/services/{service}/fixtures/{name}.yaml"
    if view.repo.find("fixture/v1", name, service) is not None:
        return Measured(fixture)
    said = {key: value for key, value in item.document.data.items() if key not in ("name", "about")}
    said["sampling"] = Row(said["sampling"])
    data = {"hio": said.pop("hio"), "name": name, **said, "draft": Row(min=lengths[0], max=lengths[1])}
    told = f"{name} is {item.name} with the build's draft lengths, {lengths[0]} to {lengths[1]}: write others where you mean others"
    return Measured(name, (file, dump(data, head=modeline("fixture", file))), told)


def drafting_of(view: View, service: str, arms: Mapping[str, Mapping[str, Any]]) -> list[str | None]:
    """What drafts tokens in each arm, in the order of the arms; None where nothing does."""
    found = (_drafting(view, service, arm) for arm in arms.values())
    return [speculation(effective) if effective is not None else None for effective in found]


def _drafting(view: View, service: str, arm: Mapping[str, Any]) -> Effective | None:
    """The settings of an arm that speculates."""
    stack = view.repo.find("stack/v1", str(arm["stack"]), service)
    if stack is None or stack.model is None:
        return None
    delta = {name: text_of(value) for name, value in arm.get("set", {}).items()}
    effective = view.settings.effective(stack, None, delta)
    return effective if speculation(effective) else None


def _asks_the_same(other: Item, item: Item) -> bool:
    """Whether it is the same request, and says draft lengths."""
    if other.service != item.service or other.model is None or other.model.draft is None:
        return False
    theirs, mine = vars(other.model), vars(item.model)
    return all(theirs[key] == mine[key] for key in mine.keys() - {"name", "about", "draft"})


def _lengths(drafts: Effective) -> tuple[int, int] | None:
    """Fewest and most tokens that the build drafts at once: those of the kind that drafts, else those of a draft model.

    Source: llama.cpp common/arg.cpp, --spec-ngram-mod-n-max, --spec-ngram-simple-size-m, --spec-draft-n-max.
    """
    for setting in drafts.settings.values():
        if setting.factor == "spec-type" and setting.set_by_a_person:
            process, kind = setting.address.partition(".")[0], setting.value
            for name in (f"spec-{kind}-n-max", f"spec-{kind}-size-m", "spec-draft-n-max"):
                most = drafts.settings.get(f"{process}.{name}")
                if most is not None and most.value.isdecimal():
                    return 0, int(most.value)
    return None
