"""campaign/v1: several plans around one question, with everything that is decided before the first of them runs.

Editable until it has run: then its run pins it. What is asked for and missing is a finding of its own (contract 10.1),
so that it can be written down piece by piece; hence the inputs may be absent here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import (
    Address,
    AtLeastOne,
    CommitId,
    Count,
    Digest,
    Model,
    Name,
    Reference,
    Service,
    Sha256,
    Text,
    Time,
)
from hio_validate.models.definitions.plan import Better, Metric

Act = Literal["stop-service", "keep-winner", "mutate-cluster", "publish"]
"""What a campaign may do beyond measuring, and what somebody has to acknowledge before (contract 10.3)."""


class Served(Model):
    """The model that is served."""

    name: Text = Field(description="The model, as its known-good registry is called.")
    sha256: Sha256 | None = Field(None, description="SHA-256 of its file, or of its first shard.")


class CampaignEngine(Model):
    """One engine, by its exact source revision or image digest: never by a tag or a version."""

    family: Name = Field(description="What it is, e.g. llama-server.")
    build: Reference | None = Field(None, description="Its engine document.")
    revision: CommitId | None = Field(None, description="Full id of the source commit.")
    image: Digest | None = Field(None, description="Digest of the image it is delivered as.")


class Target(Model):
    """Where it is measured."""

    hardware: Text | None = Field(None, description="Class of the machine: processor, device, memory.")
    devices: Count | None = Field(None, description="Accelerators that it may use; 0 = none.")
    scheduler: Literal["host", "slurm", "kubernetes", "other"] | None = Field(
        None, description="Who gives the machine: host = hio runs here; else a cluster does."
    )
    place: Text | None = Field(None, description="Partition, namespace or allocation, on a cluster.")


class Operator(Model):
    """How the operator deploys: a file with its digest, or a stack of this repository."""

    file: Text | None = Field(
        None,
        description="The operator's deployment or campaign file, kept in this repository: its path from here.",
    )
    sha256: Sha256 | None = Field(None, description="SHA-256 of that file.")
    stack: Reference | None = Field(None, description="The stack that says the same.")


class Load(Model):
    """How requests arrive."""

    concurrency: AtLeastOne = Field(description="Requests at the same time.")
    rate: Annotated[FiniteFloat, Field(gt=0)] | None = Field(
        None, description="Requests each second; absent = closed loop."
    )


class CampaignWorkload(Model):
    """What is asked: shapes, loads, warm-up, trials. The plans of the cells have to agree."""

    shapes: dict[Name, Reference] = Field(
        default_factory=dict, description="Shape -> the fixture that asks it; llama-bench: its name alone."
    )
    loads: dict[Name, Load] = Field(default_factory=dict, description="Loads, by name.")
    warm_up: Count | None = Field(None, description="Requests before the measured ones.")
    trials: AtLeastOne | None = Field(None, description="Legs of each arm: restarts of the server.")


class Accuracy(Model):
    """What answers have to be worth, on the baseline and on each kept candidate (contract 10.4)."""

    tasks: Reference | None = Field(None, description="The task set.")
    checks: list[Reference] = Field(
        default_factory=list, description="Fixtures with expected results; all of them have to pass."
    )
    floor: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = Field(
        None, description="Share of the tasks that has to be right; with a task set."
    )
    margin: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = Field(
        None, description="Share by which a candidate may be worse than the baseline; with a task set."
    )


class Focus(Model):
    """What decides, and what may not be paid for it."""

    metric: Metric = Field(description="The metric that decides.")
    better: Better = Field(description="Which direction is a gain.")
    accuracy: Accuracy | None = Field(None, description="The accuracy floor.")


class CampaignBaseline(Model):
    """What serves in production: recorded, or what is needed to record it."""

    stack: Reference | None = Field(None, description="The stack that serves.")
    entry: Reference | None = Field(None, description="The ledger entry that names it the parent.")
    needed: list[Text] = Field(
        default_factory=list, description="What is needed to capture one, where none is recorded yet."
    )


class Protocol(Model):
    """How every cell is measured, whatever the engine."""

    method: Literal["http", "llama-bench"] = Field("http", description="How it is measured.")
    cache: Literal["cold", "warm"] = Field("cold", description="The cache regime.")
    restart: Literal["every-leg", "never"] = Field("every-leg", description="When the server is restarted.")


class CampaignScope(Model):
    """What the campaign may change beyond tuning; what is absent is not touched (contract 10.5)."""

    quantisation: list[Text] = Field(
        default_factory=list, description="Quantisations of weights or K/V that it may compare."
    )
    speculation: list[Text] = Field(
        default_factory=list, description="Ways of speculative decoding that it may compare."
    )
    factors: list[Address] = Field(
        default_factory=list, description="The declared space: settings that are varied."
    )


class Cell(Model):
    """One point of the campaign: exactly one plan."""

    plan: Reference = Field(description="The plan that measures it, with the baseline among its arms.")
    engine: Name = Field(description="The engine of its candidates.")
    regime: Text = Field(description="The workload regime it speaks for: cells of one regime compete.")
    shape: Name | None = Field(None, description="Shape of the workload; absent where there is only one.")
    load: Name | None = Field(None, description="Load of the workload; absent where there is only one.")


class Acknowledgement(Model):
    """Somebody's yes to acts beyond measuring: for one run, once (contract 10.3)."""

    run_id: Name = Field(description="The run it is for; hio campaign check says which.")
    acts: list[Act] = Field(min_length=1, description="What it allows.")
    by: Text = Field(description="Who.")
    at: Time = Field(description="When.")
    until: Time = Field(description="When it ends.")


class Campaign(Model):
    """Cells that answer one question together, and what makes one of them the champion."""

    hio: Literal["campaign/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service it is about.")
    question: Text = Field(description="What it is to find out.")
    model: Served | None = Field(None, description="Input 1: the model.")
    engines: dict[Name, CampaignEngine] = Field(
        default_factory=dict, description="Inputs 1 and 2: the engines, each by revision or image digest."
    )
    target: Target | None = Field(None, description="Input 3: hardware and scheduler.")
    deployment: Operator | None = Field(None, description="Input 4: the operator's file, or a stack.")
    workload: CampaignWorkload | None = Field(None, description="Input 5: shapes, loads, warm-up, trials.")
    focus: Focus | None = Field(None, description="Input 6: metric, direction, accuracy floor.")
    baseline: CampaignBaseline | None = Field(None, description="Input 7: what serves in production.")
    protocol: Protocol = Field(default_factory=Protocol, description="How every cell is measured.")
    scope: CampaignScope = Field(
        default_factory=CampaignScope,
        description="What may be changed beyond tuning, and the declared space.",
    )
    cells: dict[Name, Cell] = Field(min_length=1, description="The cells, by name.")
    coverage: list[Name] = Field(
        default_factory=list, description="Cells that have to be complete for a champion; none = all."
    )
    publish: list[Text] = Field(
        default_factory=list, description="Where results are published outside; an act of its own."
    )
    acknowledgements: list[Acknowledgement] = Field(
        default_factory=list, description="What somebody allowed beyond measuring."
    )
