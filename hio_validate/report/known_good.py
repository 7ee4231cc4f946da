"""What the known-good registries say of stacks: for a person, or as versioned data."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from hio_validate.known_good import Judgement, Violation
from hio_validate.models.known_good import Requirement
from hio_validate.report.visible import visible
from hio_validate.settings.value import text_of

_WIDTH = 80


def render(judgements: Sequence[Judgement]) -> str:
    """A block for each stack: its verdict, then every violation with what happens otherwise, the worst first."""
    return "\n".join(_block(each) for each in judgements)


def _block(judged: Judgement) -> str:
    lines = [f"{visible(judged.stack)}: {_verdict(judged)}"]
    for violation in judged.violations:
        lines += _violation(violation)
    for note in judged.notes:
        lines += _wrapped(f"note: {note}", "  ")
    return "\n".join(lines) + "\n"


def _verdict(judged: Judgement) -> str:
    counted = [
        f"{len(which)} {word}"
        for which, word in ((judged.violated, "violated"), (judged.unknown, "unknown"))
        if which
    ]
    if counted:
        return ", ".join(counted)
    about = f" ({', '.join(judged.registries)})" if judged.registries else ""
    return f"nothing known speaks against it{about}" if about else "nothing is known of its model"


def _violation(each: Violation) -> list[str]:
    head = f"{each.severity}: {each.process}.{each.factor}" if each.requirement else f"{each.process}"
    if each.requirement is None or each.registry is None:
        return _wrapped(f"unknown: {head}: {each.found}", "  ")
    lines = _wrapped(f"{each.verdict}: {head}", "  ")
    lines += _wrapped(f"is      {each.found}", "    ", "            ")
    lines += _wrapped(f"wanted  {each.wanted}", "    ", "            ")
    lines += _wrapped(f"because {each.requirement.because}", "    ", "            ")
    if each.requirement.scope:
        lines += _wrapped(f"seen    {each.requirement.scope}", "    ", "            ")
    return [*lines, *_wrapped(f"says    {each.registry.file}", "    ", "            ")]


def _wrapped(text: str, indent: str, then: str = "") -> list[str]:
    return wrap(
        visible(text), _WIDTH, initial_indent=indent, subsequent_indent=then or indent + "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def as_shape(judgements: Sequence[Judgement], exit_code: int) -> dict[str, Any]:
    """The judgements as versioned data."""
    return {
        "version": 1,
        "stacks": [
            {
                "stack": judged.stack,
                "registries": list(judged.registries),
                "violations": [_shape(each) for each in judged.violations],
                "notes": list(judged.notes),
            }
            for judged in judgements
        ],
        "exit_code": exit_code,
    }


def _shape(each: Violation) -> dict[str, Any]:
    asked: Requirement | None = each.requirement
    return {
        "verdict": each.verdict,
        "severity": each.severity,
        "process": each.process,
        "factor": each.factor,
        "found": each.found,
        "wanted": each.wanted,
        "registry": each.registry.name if each.registry else None,
        "must": asked.must if asked else None,
        "values": [text_of(value) for value in asked.values] if asked else [],
        "because": asked.because if asked else None,
        "builds": list(asked.builds) if asked else [],
        "evidence": [*asked.entries, *asked.runs, *asked.written] if asked else [],
    }
