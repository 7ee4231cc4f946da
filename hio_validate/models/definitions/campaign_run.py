"""campaign-run/v1: what became of a campaign: which cells ran as which runs, and how each ended. Written once, at its end.

Which numbers follow is not said here: everything is computed from the runs that it pins (hio champion).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import JudgedBy, Model, Name, Pin, Service, Text, Time


class CellRun(Model):
    """One cell, as it went."""

    outcome: Literal["completed", "aborted", "failed", "stopped", "refused", "not-run"] = Field(
        description="How its run ended; refused: it was not allowed to begin; not-run: nobody came to it."
    )
    run: Pin | None = Field(None, description="The run, where one was recorded.")
    why: Text | None = Field(None, description="Why it was not completed.")


class CampaignRun(Model):
    """One campaign as it happened."""

    hio: Literal["campaign-run/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="The run id of the campaign; equals the file's name without .yaml.")
    service: Service = Field(description="The service it belongs to.")
    campaign: Pin = Field(description="The campaign, with the bytes that were run.")
    at: Time = Field(description="When it began.")
    ended: Time = Field(description="When it ended.")
    resumed: list[Time] = Field(default_factory=list, description="When it was taken up again.")
    cells: dict[Name, CellRun] = Field(min_length=1, description="Every cell of the campaign.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
