"""A profile on one page: where the time went, as shares. A profiled process is slowed, so none of it is a speed."""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.models.profile import Part, Profile
from hio_validate.quantity import counted
from hio_validate.report.columns_of_numbers import aligned
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table
from hio_validate.report.visible import columns as wide

_NAME_ROOM = 34
"""Columns of a part's name beside its numbers; a longer one stands alone above them."""
_UNNAMED = 0.01
"""Share of all samples below which parts are only added up."""


def text(profile: Profile, width: int = 80) -> str:
    """The whole page."""
    samples = sum(part.samples for part in profile.parts)
    parts = [
        paragraph(_headline(profile, samples), width)
        + paragraph("shares of the time, never speeds: the tool slowed what it watched", width)
        + (paragraph(profile.about, width) if profile.about else ""),
        table(list(_facts(profile)), width),
        "by term\n" + _terms(profile, samples) if samples else "",
        "by what was done\n" + _kinds(profile, samples) if samples else "",
        "by part\n" + _by_part(profile, samples, width) if samples else "",
    ]
    return "\n".join(part for part in parts if part)


def _headline(profile: Profile, samples: int) -> str:
    """Where most of the time went."""
    subject = f"{profile.path} of {profile.service}, {profile.stack.partition('@')[0]}"
    if not samples:
        return f"{subject}: no samples, nothing is known"
    (most, count), *others = _ordered(profile)
    then = f", then {others[0][0]} ({_share(others[0][1], samples)})" if others else ""
    return f"{subject}: most of the time goes to {most} ({_share(count, samples)}){then}"


def _ordered(profile: Profile) -> list[tuple[str, int]]:
    """Samples by the term of a ledger, the largest first."""
    found: dict[str, int] = {}
    for part in profile.parts:
        found[part.term or "no term"] = found.get(part.term or "no term", 0) + part.samples
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))


def _facts(profile: Profile) -> Iterator[tuple[str, str]]:
    name, _, digest = profile.stack.partition("@sha256:")
    yield "stack", f"{name} ({digest[:12]})"
    yield "fixture", profile.fixture or "unknown"
    yield "threads", "unknown" if profile.threads is None else str(profile.threads)
    yield "tool", profile.tool
    yield "at", profile.at
    yield (
        "samples",
        f"{sum(part.samples for part in profile.parts)} (or nanoseconds, where the tool counts those)",
    )
    yield "slowed by", "unknown" if profile.slowed_percent is None else f"{profile.slowed_percent:.3g} %"
    yield "raw", f"{profile.raw.file} ({profile.raw.sha256[:12]})" if profile.raw else "not kept"


def _terms(profile: Profile, samples: int) -> str:
    """Shares by the term of a ledger, the largest first."""
    rows = [(term, _share(count, samples)) for term, count in _ordered(profile)]
    return aligned([("term", "share"), *rows], 1, _NAME_ROOM)


def _kinds(profile: Profile, samples: int) -> str:
    """Shares by what was done meanwhile, the largest first."""
    found: dict[str, int] = {}
    for part in profile.parts:
        found[part.what] = found.get(part.what, 0) + part.samples
    ordered = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    return aligned(
        [("done", "share"), *((what, _share(count, samples)) for what, count in ordered)], 1, _NAME_ROOM
    )


def _by_part(profile: Profile, samples: int, width: int) -> str:
    """A row a part, the largest first; what is below one percent is added up and counted."""
    ordered = sorted(profile.parts, key=lambda part: (-part.samples, part.name))
    named = [part for part in ordered if part.samples >= _UNNAMED * samples]
    rows = [_row(part, samples) for part in named]
    small = ordered[len(named) :]
    if small:
        rest = sum(part.samples for part in small)
        rows.append((f"{counted(len(small), 'smaller part')}", "", "", _share(rest, samples)))
    lines = aligned([("part", "term", "done", "share"), *rows], 3, _NAME_ROOM)
    if max(map(wide, lines.splitlines())) <= width:
        return lines
    return "".join(paragraph(f"  {row[3]} {', '.join(filter(None, row[:3]))}", width) for row in rows)


def _row(part: Part, samples: int) -> tuple[str, ...]:
    return part.name, part.term or "none", part.what, _share(part.samples, samples)


def _share(count: int, samples: int) -> str:
    """What is not nothing is never shown as nothing."""
    share = 100 * count / samples
    return f"{share:.1f} %" if share >= 0.05 or not count else "< 0.1 %"
