"""Family 4, nothing on the hot path that need not be there: copies, allocations, logging.

No document but a profile says that they are there: without one nothing is proposed. A level of logging is no tuning, so that
no plan may call it its factor: the profile is taken again in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hio_validate.estimating.candidates.mechanism import Found, Lever, Mechanism, Seen
from hio_validate.estimating.candidates.profiled import named_parts

_LOGGING = r"(^|_)log_(?!soft|sum|prob|add_?exp)|(^|[^a-z])log(ging|ger)|v?s?n?printf|(^|[^a-z])fmt::|spdlog"
"""Names of code that writes log lines, and not of the logarithm."""
_COPIES = r"memcpy|memmove|memset|_cpy|\bcopy|malloc|calloc|free\b|operator new|realloc|page_fault|clear_page"


def find(seen: Seen, found: Found) -> None:
    """Logging, where a level can be set; copies and allocations."""
    found.mechanisms += _logging(seen)
    found.mechanisms += named_parts(
        seen, 4, _COPIES, "fewer-copies", "copy and allocate nothing on the hot path that could be kept"
    )


def _logging(seen: Seen) -> Iterator[Mechanism]:
    quieter = next(_quieter(seen), None)
    for each in named_parts(seen, 4, _LOGGING, "less-logging", "write no log line for each token or request"):
        if quieter is None:
            yield each
            continue
        lever, to = quieter
        yield replace(
            each, change=f"{lever.address} {lever.has} -> {lever.address} {to}",
            rollback=f"serve {seen.inputs.stack.name} with {lever.address} {lever.has}",
            stop_if=f"a profile of the same stack with {lever.address} {to} shows as much of it",
        )  # fmt: skip


def _quieter(seen: Seen) -> Iterator[tuple[Lever, str]]:
    for lever, way in seen.ways("less-logging"):
        if way.to:
            yield lever, way.to[0]
        elif lever.number:
            yield lever, str(lever.number - 1)
