"""Mechanisms that one setting switches on and that take a stated cost away: rows of a table, each of the same kind.

Invariant: data alone decides; which setting does it, and whether it is on, say candidates/levers.py and the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from hio_validate.estimating.candidates.mechanism import Confidence, Mechanism, Seen, without


class Switched(NamedTuple):
    """One of them; its name is that of its ways (levers.WAYS)."""

    family: int
    does: str
    term: str
    """The term whose cost goes."""
    cost: str
    """That cost, as a person states it (estimating.bounds.asked.STATED)."""
    stop_if: str
    needs: tuple[str, ...] = ()
    route: str = "device-timeline"
    confidence: Confidence = "medium"


BUILT: Final = "cold and warm numbers apart: building them takes its time once"
SWITCHED: Final = {
    "graphs": Switched(
        5, "launch a recorded graph of a pass, not each kernel", "launches", "launches",
        "a timeline shows no gaps between kernels, or graphs are built again for each request", (BUILT,),
    ),
    "compiled": Switched(
        5, "compile the passes, so that chains of operators become one kernel each", "launches", "launches",
        "a timeline shows as many launches, or shapes are compiled again while requests wait", (BUILT,), confidence="low",
    ),
    "overlap-host": Switched(
        6, "prepare the next pass on the host while the device works on this one", "host-gaps", "host-gap",
        "a timeline shows no gaps between passes",
    ),
    "mixed-passes": Switched(
        6, "evaluate parts of prompts in the passes that decode, so that no request waits for a whole prompt", "queueing",
        "queue-wait", "gaps between tokens become longer than the plan's bounds allow",
        ("a bound on the gaps between the tokens of requests that decode",), "tune-sweep", "low",
    ),
}  # fmt: skip


def switched(seen: Seen, name: str) -> Iterator[Mechanism]:
    """The mechanism by each setting that switches it on; nothing where the ledger has no such term."""
    row = SWITCHED[name]
    if row.term not in seen.times:
        return
    for lever, way, to in seen.switches(name):
        if "decode" in lever.address.partition(".")[2] and seen.inputs.path != "decode-token":
            continue  # disable-decode-cuda-graph says nothing of passes over prompts
        yield Mechanism(
            name, row.family, row.does, term=row.term, lever=lever, to=to, then=without(seen.inputs, row.cost),
            confidence=row.confidence, stop_if=row.stop_if, needs=(*way.needs, *row.needs), route=row.route,
        )  # fmt: skip
