"""The parts of a profile: the largest symbols alone, the others together by what they belong to.

Invariant: the samples of the parts are the samples of the report, each once.
"""

from __future__ import annotations

from collections.abc import Collection

from hio_validate.models.profile import Part
from hio_validate.observe.perf_report import Sampled
from hio_validate.observe.symbols import Belongs, belongs

_ALONE = 0.01
"""Share from which a symbol stands alone."""
_LONGEST_NAME = 120


def parts_of(sampled: Sampled, family: str, path: str, dtypes: Collection[str] = ()) -> list[Part]:
    """The parts, the largest first."""
    whole = sum(sampled.counts.values()) + sampled.rest
    found: list[Part] = []
    together: dict[Belongs, tuple[int, int]] = {}
    for symbol, count in sampled.counts.items():
        where = belongs(family, symbol, path, dtypes)
        if count >= _ALONE * whole:
            found.append(_part(_short(symbol), where, count))
        elif count:
            symbols, samples = together.get(where, (0, 0))
            together[where] = symbols + 1, samples + count
    for where, (symbols, samples) in together.items():
        found.append(_part(f"{symbols} symbol{'s' * (symbols > 1)} below {_ALONE:.0%} each", where, samples))
    if sampled.rest:
        found.append(_part("what the report does not tell", Belongs(None, "other"), sampled.rest))
    return sorted(found, key=lambda part: (-part.samples, part.name, part.what))


def _part(name: str, where: Belongs, samples: int) -> Part:
    return Part.model_validate(
        {"name": name, "samples": samples, "what": where.what} | ({"term": where.term} if where.term else {})
    )


def _short(symbol: str) -> str:
    return symbol if len(symbol) <= _LONGEST_NAME else f"{symbol[: _LONGEST_NAME - 1]}…"
