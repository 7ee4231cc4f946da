"""Why something is not done on this host: a paragraph a reason, with the command that mends it."""

from __future__ import annotations

from collections.abc import Sequence

from hio_validate.execute.approvals import ASK
from hio_validate.report.paragraph import paragraph
from hio_validate.report.visible import visible


def refusals(reasons: Sequence[str], width: int = 80) -> str:
    """Every reason; a command that gives a missing approval stands on a line of its own, unbroken."""
    return "".join(_refusal(each, width) for each in reasons)


def _refusal(reason: str, width: int) -> str:
    sentence, mends, command = reason.partition(ASK)
    said = paragraph(f"refused: {sentence}{ASK.rstrip() if mends else ''}", width)
    return said + (f"  {visible(command)}\n" if command else "")
