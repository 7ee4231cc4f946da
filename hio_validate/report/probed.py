"""What hio probe tells before it measures, and its outcome as data; report/ceilings.py has the page of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hio_validate.models.ceilings import Ceilings
from hio_validate.models.profile import Profile
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table


def before(verb: str, facts: Mapping[str, str], warnings: Sequence[str], width: int = 80) -> str:
    """What a verb would do, and what speaks against doing it now."""
    body = table([*facts.items()], width - 2)
    rows = "".join(f"  {line}\n" for line in body.splitlines())
    warned = "".join(paragraph(f"warning: {each}", width) for each in warnings)
    head = paragraph(f"{verb} measures what this machine reaches; nothing else should run meanwhile", width)
    return f"{head}\n{rows}\n{warned}"


def as_shape(
    ceilings: Ceilings | None, facts: Mapping[str, str], warnings: Sequence[str], wrote: str | None
) -> dict[str, Any]:
    """The outcome as versioned data; `ceilings` is the document, null where nothing was measured."""
    document = (
        {"hio": "ceilings/v1"} | ceilings.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        if ceilings
        else None
    )
    return {
        "version": 1,
        "measured": ceilings is not None,
        "before": dict(facts),
        "warnings": list(warnings),
        "ceilings": document,
        "wrote": wrote,
    }


def profile_shape(profile: Profile, wrote: Sequence[str]) -> dict[str, Any]:
    """A profile that was read, as versioned data; `no term` is the share of what belongs to none."""
    counts: dict[str, int] = {}
    for part in profile.parts:
        counts[part.term or "no term"] = counts.get(part.term or "no term", 0) + part.samples
    whole = sum(counts.values())
    largest_first = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    document = profile.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    return {
        "version": 1,
        "profile": {"hio": "profile/v1"} | document,
        "samples": whole,
        "share_percent": {term: 100 * count / whole for term, count in largest_first},
        "wrote": list(wrote),
    }
