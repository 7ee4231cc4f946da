"""What the known-good registries say of stacks: for a person, or as versioned data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hio_validate.known_good import Judgement, Violation
from hio_validate.models.known_good import Requirement
from hio_validate.report.paragraph import paragraph
from hio_validate.report.visible import visible
from hio_validate.settings.value import text_of

_WIDTH = 80


def render(judgements: Sequence[Judgement]) -> str:
    """A block for each stack: its verdict, then every violation with what happens otherwise, the worst first."""
    return "\n".join(_block(each) for each in judgements)


def _block(judged: Judgement) -> str:
    parts = [f"{visible(judged.stack)}: {_verdict(judged)}\n", *map(_violation, judged.violations)]
    return "".join([*parts, *(paragraph(f"  note: {note}", _WIDTH) for note in judged.notes)])


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


def _violation(each: Violation) -> str:
    head = f"{each.severity}: {each.process}.{each.factor}" if each.requirement else f"{each.process}"
    if each.requirement is None or each.registry is None:
        return paragraph(f"  unknown: {head}: {each.found}", _WIDTH)
    told = [
        ("is", each.found),
        ("wanted", each.wanted),
        ("because", each.requirement.because),
        ("seen", each.requirement.scope),
        ("says", each.registry.file),
    ]
    below = [paragraph(f"    {word:<7} {said}", _WIDTH, 8) for word, said in told if said]
    return "".join([paragraph(f"  {each.verdict}: {head}", _WIDTH), *below])


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
