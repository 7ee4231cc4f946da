"""entry/v1: one decision in the append-only ledger of a service (contract 8.1). Frozen from its first commit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import (
    Address,
    JudgedBy,
    Model,
    Name,
    Pin,
    Reference,
    Service,
    Text,
    Time,
)


class _Entry(Model):
    hio: Literal["entry/v1"] = Field(description="Kind and version of this document.")
    id: Name = Field(description="Equals the file's name without .yaml; what others cite.")
    service: Service = Field(description="The service whose ledger this belongs to.")
    after: list[Pin] = Field(description="The tips this follows, pinned; empty only for the first entry.")
    by: Text = Field(description="Who decided.")
    at: Time = Field(description="When.")
    imported: bool = Field(False, description="History from before hio: never rises above DRAFT.")
    because: Text | None = Field(None, description="Why, in a sentence that helps in a year.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")


class Result(Model):
    """A number derived from raw rows; hio computes it again (contract 7.3)."""

    metric: Name = Field(description="Column of the run.")
    from_arm: Name = Field(alias="from", description="Arm that is the reference.")
    to_arm: Name = Field(alias="to", description="Arm that is compared with it.")
    statistic: Literal["mean", "median"] = Field(description="Statistic over each arm's rows.")
    change_percent: FiniteFloat | int = Field(description="100 * (to / from - 1), as published.")


class StackPins(Model):
    """What a baseline relies on."""

    stack: Pin = Field(description="The stack.")
    capture: Pin | None = Field(None, description="What ran.")


class RunPins(Model):
    """What a measured decision relies on."""

    run: Pin | None = Field(None, description="The run that measured it.")
    stack: Pin | None = Field(None, description="The stack that results.")


class AnyPins(Model):
    """Whatever a decision relies on."""

    run: Pin | None = Field(None, description="A run.")
    stack: Pin | None = Field(None, description="A stack.")
    capture: Pin | None = Field(None, description="A capture.")
    matrix: Pin | None = Field(None, description="A matrix.")


class Baseline(_Entry):
    """The stack that serves and that others are compared with."""

    kind: Literal["baseline"] = Field(description="What this entry is.")
    pins: StackPins = Field(description="What it relies on.")


class Increment(_Entry):
    """An accepted change of one setting."""

    kind: Literal["increment"] = Field(description="What this entry is.")
    factor: Address = Field(description="The setting.")
    pins: RunPins | None = Field(None, description="What it relies on; without a run nothing is isolated.")
    result: Result | None = Field(None, description="The published number.")


class NegativeControl(_Entry):
    """A change that was measured and lost: excluded."""

    kind: Literal["negative-control"] = Field(description="What this entry is.")
    factor: Address = Field(description="The setting.")
    pins: RunPins | None = Field(None, description="What it relies on; without a run nothing was measured.")
    result: Result | None = Field(None, description="The published number.")
    blocks: list[Address] = Field(
        default_factory=list, description="Settings that make no sense without this one."
    )


class Correction(_Entry):
    """Puts an earlier entry or document right; the earlier one stays."""

    kind: Literal["correction"] = Field(description="What this entry is.")
    corrects: Reference = Field(description="The entry it puts right.")
    pins: AnyPins | None = Field(None, description="What it relies on.")


class Decision(_Entry):
    """One of the four decisions (contract 8.2)."""

    kind: Literal["decision"] = Field(description="What this entry is.")
    decision: Literal["stop-trial", "keep-research", "experimental-default", "deploy"] = Field(
        description="Which of the four."
    )
    factor: Address | None = Field(None, description="The setting it is about, if one.")
    pins: AnyPins | None = Field(None, description="What it relies on.")
    result: Result | None = Field(None, description="The published number.")
    next: Text | None = Field(None, description="The next discriminating test.")


class Merge(_Entry):
    """Closes two tips after two branches were merged."""

    kind: Literal["merge"] = Field(description="What this entry is.")


Entry = Annotated[
    Baseline | Increment | NegativeControl | Correction | Decision | Merge, Field(discriminator="kind")
]
