"""campaign-run/v1: what became of a campaign: which cells ran as which runs, and how each ended. Written once, at its end.

Written by hio_validate/compile.py from definitions/campaign_run.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import NAME, PIN, SERVICE, TEXT, TIME, JudgedBy
from hio_validate.models.record import Record, field


class CellRun(Record):
    """One cell, as it went."""

    outcome: Literal['completed', 'aborted', 'failed', 'stopped', 'refused', 'not-run'] = field({'type': 'literal', 'expected': ['completed', 'aborted', 'failed', 'stopped', 'refused', 'not-run']}, 'How its run ended; refused: it was not allowed to begin; not-run: nobody came to it.')
    run: str | None = field({'type': 'nullable', 'schema': PIN}, 'The run, where one was recorded.', default=None)
    why: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why it was not completed.', default=None)


class CampaignRun(Record):
    """One campaign as it happened."""

    hio: Literal['campaign-run/v1'] = field({'type': 'literal', 'expected': ['campaign-run/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "The run id of the campaign; equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service it belongs to.')
    campaign: str = field(PIN, 'The campaign, with the bytes that were run.')
    at: str = field(TIME, 'When it began.')
    ended: str = field(TIME, 'When it ended.')
    resumed: list[str] = field({'type': 'list', 'items_schema': TIME}, 'When it was taken up again.', default_factory=list)
    cells: dict[str, CellRun] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': CellRun.core, 'min_length': 1}, 'Every cell of the campaign.')
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = CampaignRun.core
