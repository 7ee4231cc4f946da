"""Family 4, nothing on the hot path that need not be there: copies, allocations, logging.

No document but a profile says that they are there: without one nothing is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hio_validate.estimating.candidates.mechanism import Found, Mechanism, Seen
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
    lever = seen.lever("verbosity")
    for each in named_parts(seen, 4, _LOGGING, "less-logging", "write no log line for each token or request"):
        if lever is not None and lever.number:
            yield replace(
                each, lever=lever, to=str(lever.number - 1), change=None, rollback=None, route="tune-sweep"
            )
        else:
            yield each
