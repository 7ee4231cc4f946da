"""A profile on one page: the share of each term and of what was done, and the largest parts. Shares, never speeds."""

from __future__ import annotations

from typing import Any

from hio_validate.models.profile import Profile
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table

_MOST_PARTS = 12


def text(profile: Profile, width: int = 80) -> str:
    """The whole page."""
    whole = samples(profile)
    threads = f", {profile.threads} threads sampled" if profile.threads else ""
    head = paragraph(
        f"{profile.name}: {whole} counts in samples of {profile.path}{threads}, by {profile.tool}", width
    )
    terms = [(term, _percent(part, whole)) for term, part in by_term(profile).items()]
    what: dict[str, int] = {}
    for part in profile.parts:
        what[part.what] = what.get(part.what, 0) + part.samples
    done = [(name, _percent(count, whole)) for name, count in sorted(what.items(), key=lambda each: -each[1])]
    rows = [
        (_percent(part.samples, whole), part.term or "-", part.what, part.name)
        for part in profile.parts[:_MOST_PARTS]
    ]
    more = len(profile.parts) - _MOST_PARTS
    parts = table(rows, width - 2, head=("share", "term", "what", "symbol"))
    told = f"  and {more} more parts\n" if more > 0 else ""
    return (
        f"{head}\nterms\n{_indented(table(terms, width - 2))}\nwhat was done\n{_indented(table(done, width - 2))}"
        f"\nparts\n{_indented(parts)}{told}\n"
    )


def samples(profile: Profile) -> int:
    """All of them."""
    return sum(part.samples for part in profile.parts)


def by_term(profile: Profile) -> dict[str, int]:
    """Samples of each term, the largest first; `no term` is what belongs to none."""
    found: dict[str, int] = {}
    for part in profile.parts:
        name = part.term or "no term"
        found[name] = found.get(name, 0) + part.samples
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def as_shape(profile: Profile, wrote: list[str]) -> dict[str, Any]:
    """The outcome as versioned data."""
    whole = samples(profile)
    document = profile.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    return {
        "version": 1,
        "profile": {"hio": "profile/v1", **document},
        "samples": whole,
        "share_percent": {term: 100 * count / whole for term, count in by_term(profile).items()},
        "wrote": wrote,
    }


def _percent(count: int, whole: int) -> str:
    return f"{100 * count / whole:.1f} %"


def _indented(rows: str) -> str:
    return "".join(f"  {line}\n" for line in rows.splitlines())
