"""A verification for a person, a cron job and a program: what differs first, what could not be seen apart from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from hio_validate.execute.verified import Check, Verdict, Verification
from hio_validate.report.paragraph import paragraph
from hio_validate.report.visible import columns, visible, wrapped

_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
_LONGEST_NAME, _NARROWEST = 28, 16
_WORDS: dict[Verdict, str] = {"differs": "DIFFERS", "not observable": "NOT OBSERVABLE", "equal": "EQUAL"}


def summary(found: Verification, service: str) -> str:
    """One line that says it all, e.g. for a cron job's mail."""
    who = f"process {found.pid}" if found.pid else "no process"
    name = found.stack.partition("@")[0]
    return f"{name} on {service}, {who}: {_word(found)}"


def render(found: Verification, service: str, width: int = 80, all_: bool = False) -> str:
    """The summary, then a table for each verdict; what is equal only where `all_` is asked for."""
    parts = [paragraph(summary(found, service), width)]
    for verdict, word in _WORDS.items():
        checks = [each for each in found.checks if each.verdict == verdict]
        if checks and (verdict != "equal" or all_):
            parts.append(f"{word}\n{_table(checks, width)}")
    if not all_ and _count(found, "equal"):
        parts.append("--all shows what is equal, too\n")
    return "\n".join(parts)


def changes(before: Verification, now: Verification) -> Iterator[str]:
    """What became of each check since the last look; an equal one that only shows another number did not change."""
    if before.pid != now.pid:
        yield f"process {now.pid or 'none'} in the place of {before.pid or 'none'}"
    known = {each.name: each for each in before.checks}
    seen = {each.name for each in now.checks}
    for each in now.checks:
        old = known.get(each.name)
        if _tells(each) != (_tells(old) if old else ("equal", "")):
            yield f"{each.name}: {each.verdict}" + ("" if each.verdict == "equal" else _seen(each))
    for name in known.keys() - seen:
        if known[name].verdict != "equal":
            yield f"{name}: no longer told apart"


def as_shape(found: Verification, service: str) -> dict[str, Any]:
    """The verification as versioned data."""
    return {
        "version": 1,
        "stack": found.stack,
        "service": service,
        "pid": found.pid or None,
        "proven": found.is_proven,
        "counts": {verdict: _count(found, verdict) for verdict in _WORDS},
        "checks": [
            {"name": each.name, "declared": each.declared, "observed": each.observed, "verdict": each.verdict}
            for each in found.checks
        ],
    }


def _word(found: Verification) -> str:
    total = f"of {len(found.checks)} points"
    unseen = f"{len(found.not_observable)} not observable"
    if found.differing:
        return f"DRIFT, {len(found.differing)} {total} differ" + (
            f", {unseen}" if found.not_observable else ""
        )
    if found.is_proven:
        return f"proven, all {len(found.checks)} points equal"
    return f"not proven, {unseen} {total}, none differs"


def _count(found: Verification, verdict: Verdict) -> int:
    return sum(each.verdict == verdict for each in found.checks)


def _seen(each: Check) -> str:
    declared = f", declared {_short(each.declared)}" if each.declared else ""
    return f": {_short(each.observed)}{declared}"


def _tells(each: Check) -> tuple[str, str]:
    return each.verdict, "" if each.verdict == "equal" else each.observed


def _short(text: str) -> str:
    return _DIGEST.sub(r"\1…", text)


def _table(checks: Sequence[Check], width: int) -> str:
    """Name, declared, observed; both of these wrap. Checks that failed for one reason are told once."""
    reasons = {each.observed for each in checks}
    if len(checks) > 1 and len(reasons) == 1 and not any(each.declared for each in checks):
        names = ", ".join(each.name for each in checks)
        told = visible(f"{names}: {reasons.pop()}")
        return "".join(f"  {line}\n" for line in wrapped(told, width - 2, "  "))
    widest = max(columns(visible(each.name)) for each in checks)
    first = min(max(widest, 2), _LONGEST_NAME, width - 2 * _NARROWEST - 6)
    cell = max(_NARROWEST, (width - first - 6) // 2)
    rows = [("", "declared", "observed"), *((each.name, each.declared, each.observed) for each in checks)]
    return "".join(_row(row, (first, cell, cell)) for row in rows)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    pieces = [wrapped(visible(_short(cell)), size) or [""] for cell, size in zip(cells, widths, strict=True)]
    lines = []
    for parts in zip_longest(*pieces, fillvalue=""):
        padded = (part + " " * (size - columns(part)) for part, size in zip(parts, widths, strict=True))
        lines.append(("  " + "  ".join(padded)).rstrip())
    return "\n".join(lines) + "\n"
