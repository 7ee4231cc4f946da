"""The comparison that a command line asks for: a stack against itself with some settings changed.

Invariant: what changes nothing, or no setting that the build has, is refused before a plan is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hio_validate.evidence.design import between
from hio_validate.plans.compared import Compared, named_or_parent, scalar
from hio_validate.plans.refusal import CannotPlan
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.source.dump import Row
from hio_validate.spelling import nearest


def delta_of(words: Sequence[str]) -> dict[str, str]:
    """`server.threads=2` as setting and value. Raises CannotPlan."""
    found: dict[str, str] = {}
    for word in words:
        setting, equals, value = (part.strip() for part in word.partition("="))
        if not (setting and equals and value):
            raise CannotPlan(f"{word} changes nothing; write SETTING=VALUE, e.g. server.threads=2")
        if setting in found:
            raise CannotPlan(f"{setting} is given twice; a plan compares one value of it")
        found[setting] = value
    return found


def of_delta(view: View, service: str, stack: str | None, delta: Mapping[str, str]) -> Compared:
    """A stack against itself with some settings changed; without a stack the current parent. Raises CannotPlan."""
    item = named_or_parent(view, service, stack)
    name = item.name
    base = view.settings.effective(item)
    mine = view.settings.effective(item, None, delta)
    factors = tuple(each.address for each in between(base, mine, view.settings)[1])
    for setting, value in delta.items():
        _refuse_what_is_unknown(view, item, setting)
        _refuse_what_changes_nothing(view, item, setting, value)
    short = "-".join(_short_of(setting, value) for setting, value in delta.items())[:60].rstrip("-.")
    said = Row({setting: scalar(value) for setting, value in delta.items()})
    return Compared(
        short,
        {name: Row(stack=name), short: Row({"stack": name, "set": said})},
        factors,
        f"What does {' and '.join(f'{key} = {value}' for key, value in delta.items())} change on {name}?",
        "the command line",
    )


def _refuse_what_is_unknown(view: View, stack: Item, setting: str) -> None:
    """Refuse a setting that neither the stack nor its build has, where the build was learned. Raises CannotPlan."""
    base = view.settings.effective(stack)
    process, dot, factor = setting.partition(".")
    owners = [process] if dot and process in base.processes else sorted(base.processes)
    factor = factor if owners == [process] else setting
    catalogues = [base.catalogues.get(each) for each in owners]
    if any(each is None or each.find(factor) for each in catalogues) or setting in base.settings:
        return
    known = [f"{each}.{option.factor}" for each in owners for option in base.catalogues[each] or ()]
    near = nearest(f"{owners[0]}.{factor}", known)
    advice = f"did you mean {near}?" if near else f"hio settings {stack.name} lists what there is"
    raise CannotPlan(f"the build of {stack.name} has no setting {setting}; {advice}")


def _refuse_what_changes_nothing(view: View, stack: Item, setting: str, value: str) -> None:
    """Refuse a change of no setting, or to the value that is in force. Raises CannotPlan."""
    base = view.settings.effective(stack)
    alone = view.settings.effective(stack, None, {setting: value})
    if not between(base, alone, view.settings)[1]:
        raise CannotPlan(
            f"{setting} = {value} changes nothing that is to be measured on {stack.name}; hio settings {stack.name} "
            "lists what is in force"
        )


def _short_of(setting: str, value: str) -> str:
    """`threads-2` for server.threads = 2."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", f"{setting.rpartition('.')[2]}-{value}").strip("-.")
