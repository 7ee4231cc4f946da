"""The settings of a stack in force, for a person: what somebody set first, then what holds by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.report.table import table
from hio_validate.settings.argv import Misread
from hio_validate.settings.observed import Contradiction
from hio_validate.settings.setting import Class, Effective, Origin, Setting
from hio_validate.settings.value import ABSENT


def render(
    effective: Effective, contradictions: Sequence[Contradiction], everything: bool = False, width: int = 80
) -> str:
    """A table of address, value and origin; defaults only where `everything` is asked for."""
    shown = [setting for setting in effective.settings.values() if everything or _is_telling(setting)]
    rows = [
        (setting.address, _short(setting.shown), _origin(setting)) for setting in sorted(shown, key=_order)
    ]
    parts = [table(rows, width, ("setting", "value", "origin"))]
    hidden = len(effective.settings) - len(shown)
    if hidden:
        parts.append(f"{hidden} more by default (--all shows them)\n")
    parts += [
        f"{process}: defaults unknown, no help text was learned\n"
        for process, known in effective.catalogues.items()
        if known is None
    ]
    wrong = [f"{each.rule}: {each.message} ({each.help})\n" for each in effective.misread]
    wrong += [
        f"props-contradiction: {each.factor} is {each.reported} by {each.shown_where}, {each.expected} by {each.origin}\n"
        for each in contradictions
    ]
    return "\n".join([*parts, *wrong])


def as_shape(effective: Effective, contradictions: Sequence[Contradiction]) -> dict[str, Any]:
    """The settings as versioned data."""
    return {
        "version": 1,
        "settings": [
            {
                "setting": setting.address,
                "value": setting.value,
                "origin": str(setting.origin),
                "class": str(setting.class_),
                "declared": setting.declared or None,
                "leader": setting.leader,
            }
            for setting in effective.settings.values()
        ],
        "problems": [_problem(each) for each in effective.misread],
        "contradictions": [
            {
                "setting": each.factor,
                "reported": each.reported,
                "expected": each.expected,
                "where": each.where,
            }
            for each in contradictions
        ],
    }


def _problem(each: Misread) -> dict[str, Any]:
    return {"rule": each.rule, "message": each.message, "help": each.help}


def _is_telling(setting: Setting) -> bool:
    return setting.origin not in (Origin.DEFAULT, Origin.FOLLOWS) and not (
        setting.class_ is not Class.TUNING and setting.value == ABSENT
    )


def _order(setting: Setting) -> tuple[bool, bool, str]:
    return (not setting.set_by_a_person, setting.origin is Origin.IDENTITY, setting.address)


def _short(value: str) -> str:
    return value[:12] if len(value) == 64 else value


def _origin(setting: Setting) -> str:
    said = f"follows {setting.leader}" if setting.leader else str(setting.origin)
    asked = (
        f", asked for {setting.declared}"
        if setting.declared and setting.known and setting.origin is Origin.OBSERVED
        else ""
    )
    return said + asked
