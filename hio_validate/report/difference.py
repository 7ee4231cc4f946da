"""A difference between two stacks, for a person: the sentence first, then what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table
from hio_validate.settings.difference import Compared, Difference, Group
from hio_validate.settings.setting import Setting

_ALWAYS = (Group.CHANGED, Group.FOLLOWED, Group.MOVED, Group.OPERATIONAL)
_WHERE_THERE_ARE_ANY = (Group.IDENTITY, Group.BUILD_PART, Group.UNKNOWN, Group.ONE_SIDE, Group.ONE_BUILD)
LISTED = (*_ALWAYS[:3], Group.IDENTITY, Group.BUILD_PART, Group.OPERATIONAL, Group.UNKNOWN)

NOT_UNDERSTOOD = "not understood"


def sentence(difference: Difference) -> str:
    """`1 changed by you, 3 followed, 0 moved by the build, 2 operational`."""
    counts = {group: len(difference.of(group)) for group in Group}
    groups = [*_ALWAYS, *(group for group in _WHERE_THERE_ARE_ANY if counts[group])]
    told = [f"{counts[group]} {group}" for group in groups]
    misread = sum(map(len, difference.not_understood))
    return ", ".join([*told, f"{misread} {NOT_UNDERSTOOD}"] if misread else told)


def render(
    difference: Difference, labels: tuple[str, str], notes: Sequence[str] = (), width: int = 80
) -> str:
    """The comparison as text."""
    parts = [f"{labels[0]} -> {labels[1]}\n{sentence(difference)}\n"]
    for group in LISTED:
        rows = [_row(each) for each in difference.of(group)]
        if rows:
            parts.append(f"{group}\n" + _indented(table(rows, width - 2)))
    unseen = [each.address for each in difference.of(Group.ONE_SIDE)]
    if unseen:
        parts.append(f"{Group.ONE_SIDE}\n" + paragraph(f"  {', '.join(unseen)}", width))
    misread = [
        f"  {label}: {each.message} ({each.help})"
        for label, side in zip(labels, difference.not_understood, strict=True)
        for each in side
    ]
    if misread:
        parts.append(f"{NOT_UNDERSTOOD}\n" + "".join(paragraph(each, width) for each in misread))
    if notes:
        parts.append("".join(paragraph(f"note: {note}", width) for note in notes))
    return "\n".join(parts)


def as_shape(difference: Difference, labels: tuple[str, str], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The comparison as versioned data."""
    return {
        "version": 1,
        "parent": labels[0],
        "candidate": labels[1],
        "counts": {str(group): len(difference.of(group)) for group in Group}
        | {NOT_UNDERSTOOD: sum(map(len, difference.not_understood))},
        "differences": [
            {
                "setting": each.address,
                "group": str(each.group),
                "from": each.from_,
                "to": each.to,
                "from_origin": str(each.parent.origin) if each.parent else None,
                "to_origin": str(each.candidate.origin) if each.candidate else None,
            }
            for each in difference
            if each.group not in (Group.EQUAL, Group.ONE_BUILD)
        ],
        "not_understood": [
            {"side": side, "rule": each.rule, "message": each.message, "help": each.help}
            for side, misread in zip(("parent", "candidate"), difference.not_understood, strict=True)
            for each in misread
        ],
        "notes": list(notes),
    }


def _row(each: Compared) -> tuple[str, str]:
    origins = dict.fromkeys(_origin(side) for side in (each.parent, each.candidate) if side)
    return (
        each.address,
        f"{_short(each, each.parent, each.from_)} -> {_short(each, each.candidate, each.to)}  ({', '.join(origins)})",
    )


def _origin(setting: Setting) -> str:
    return f"{setting.origin} {setting.leader}" if setting.leader else str(setting.origin)


def _short(each: Compared, setting: Setting | None, value: str) -> str:
    if each.group is Group.IDENTITY or len(value) == 64:
        return value[:12] if len(value) == 64 else value
    return setting.shown if setting and not setting.known else value


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
