"""entry/v1: one decision in the append-only ledger of a service (contract 8.1). Frozen from its first commit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import (
    Address,
    CommitId,
    Digest,
    JudgedBy,
    Model,
    Name,
    Pin,
    Reference,
    Scalar,
    Service,
    Text,
    Time,
)

Hazard = Literal[
    "contention",
    "incorrect-ownership",
    "malformed-state",
    "non-finite-values",
    "resource-limit",
    "crash",
    "other",
]
"""What ends a trial (contract 8.2)."""

Noun = Literal[
    "mechanism",
    "benefit",
    "cost",
    "task-correctness",
    "resource-bounds",
    "lifecycle-bounds",
    "trade-offs",
    "owner-approval",
    "serving-integration",
    "rollback",
    "cancellation",
    "crash",
    "respawn",
    "admission",
    "capacity",
]
"""What a decision stands on (contract 8.2)."""


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
    run: Pin | None = Field(None, description="The run that its dimensions are computed from.")
    observation: Pin | None = Field(None, description="The observation that its dimensions are taken from.")


class Dimension(Model):
    """One number of a baseline, as the raw rows give it (contract 10.2)."""

    metric: Text = Field(description="Column of the run, or what the source calls it.")
    definition: Name = Field(description="How it was counted; unknown where the record does not say.")
    statistic: Name = Field(description="What it is of its observations, e.g. median.")
    better: Literal["higher", "lower"] = Field(description="Which direction is a gain.")
    value: FiniteFloat | int = Field(description="The number, in its unit.")
    unit: Text = Field(description="Unit, e.g. token/s.")
    n: int | None = Field(None, ge=1, description="Observations behind it; absent = unknown.")
    tolerance_percent: FiniteFloat = Field(ge=0, description="Change of the value that is still within it.")
    floor: FiniteFloat = Field(
        0.0, ge=0, description="Difference in its unit that is within it whatever the percentage."
    )


class Conditions(Model):
    """What a baseline was measured with; another workload, source, delivery or method is another baseline."""

    arm: Name | None = Field(None, description="Arm of the run.")
    record: Text | None = Field(None, description="Record of the observation.")
    shapes: dict[Name, Scalar] = Field(min_length=1, description="What a request was, e.g. prompt_tokens.")
    concurrency: Scalar = Field(description="Requests at once, or the rate that they came with.")
    cache: Text = Field(description="State of the prompt cache, e.g. cold.")
    graph_mode: Text = Field(description="Graphs of the engine, e.g. off or full-decode-only.")
    devices: int = Field(ge=0, description="Accelerators that were used; 0 = none.")
    source: Text = Field(description="Exact source revision or image digest.")
    delivery: Text = Field(description="How the source came to run, e.g. native or image.")
    method: Text = Field(description="How it was measured.")
    trials: int = Field(ge=1, description="Independent trials behind it.")


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
    plan: Pin | None = Field(None, description="A plan.")


class DeploymentPins(Model):
    """What a deployment relies on; only imported history may leave something out."""

    matrix: Pin | None = Field(None, description="The matrix that was complete.")
    parent: Pin | None = Field(None, description="The stack that served before.")
    candidate: Pin = Field(description="The stack that serves from now on.")
    capture: Pin | None = Field(None, description="The live process that proves it.")
    rollback: Pin | None = Field(None, description="The stack to go back to.")
    approval: Pin | None = Field(None, description="The approval of kind deploy it stands on.")
    qualification: Pin | None = Field(
        None, description="The receipt that this stack and build serve (contract 8.2)."
    )
    rollback_plan: Pin | None = Field(
        None, description="The way back, bound to what was found (contract 12.2)."
    )


class RollbackPins(Model):
    """What a rollback relies on."""

    stack: Pin | None = Field(
        None, description="The stack that serves again; absent: nothing does, as before the deployment."
    )
    capture: Pin | None = Field(None, description="The live process that proves it.")
    rollback_plan: Pin | None = Field(None, description="The plan that was carried out.")


class Baseline(_Entry):
    """The stack that serves and that others are compared with."""

    kind: Literal["baseline"] = Field(description="What this entry is.")
    pins: StackPins = Field(description="What it relies on.")
    conditions: Conditions | None = Field(None, description="What its dimensions were measured with.")
    dimensions: list[Dimension] = Field(default_factory=list, description="What later runs are held against.")


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


class FailedRun(_Entry):
    """A trial that was stopped or broke; it stays on record."""

    kind: Literal["failed-run"] = Field(description="What this entry is.")
    hazard: Hazard = Field(description="What ended it.")
    factor: Address | None = Field(None, description="The setting that was tried, if one.")
    pins: RunPins | None = Field(None, description="The run, where one was kept.")


class Correction(_Entry):
    """Puts an earlier entry or document right; the earlier one stays."""

    kind: Literal["correction"] = Field(description="What this entry is.")
    corrects: Reference = Field(description="The entry it puts right.")
    pins: AnyPins | None = Field(None, description="What it relies on.")


class Decision(_Entry):
    """One of the four decisions, with its evidence noun by noun (contract 8.2)."""

    kind: Literal["decision"] = Field(description="What this entry is.")
    decision: Literal["stop-trial", "keep-research", "experimental-default", "deploy"] = Field(
        description="Which of the four."
    )
    factor: Address | None = Field(None, description="The setting it is about, if one.")
    hazard: Hazard | None = Field(None, description="What made a stopped trial unsafe.")
    evidence: dict[Noun, Text] = Field(
        default_factory=dict,
        description="What the decision stands on: noun -> receipt, as a sentence or the name of a document.",
    )
    pins: AnyPins | None = Field(None, description="What it relies on.")
    result: Result | None = Field(None, description="The published number.")
    next: Text | None = Field(None, description="The next discriminating test.")


class Approval(_Entry):
    """An owner's word, typed and bounded; one kind never stands for another (contract 5.1)."""

    kind: Literal["approval"] = Field(description="What this entry is.")
    approves: Literal["build", "load-test", "stop-production", "deploy", "publish", "upstream"] = Field(
        description="What may be done, and nothing else."
    )
    services: list[Service] = Field(min_length=1, description="The services that are affected.")
    owners: list[Text] = Field(min_length=1, description="Who owns them and gave the word.")
    scope: Text = Field(description="What exactly: which work, on which hosts, when.")
    until: Time = Field(description="When it expires.")
    factors: list[Address] = Field(
        default_factory=list, description="Endpoints whose wider exposure it covers."
    )
    pins: AnyPins | None = Field(None, description="The documents it is about; it covers no others.")


class Deployment(_Entry):
    """A stack that was switched to and proven live (contract 8.3)."""

    kind: Literal["deployment"] = Field(description="What this entry is.")
    site: Name = Field(description="The site.")
    pins: DeploymentPins = Field(description="What it relies on.")
    checks: dict[Text, Text] = Field(
        default_factory=dict, description="Every check of the live process -> passed, or what was found."
    )
    overridden: list[Text] = Field(
        default_factory=list, description="Imported history only: what the owner went past."
    )


class Rollback(_Entry):
    """A deployment that was taken back, or that failed and was taken back before it stood."""

    kind: Literal["rollback"] = Field(description="What this entry is.")
    undoes: Reference | None = Field(
        None, description="The deployment that was taken back; absent where it never stood."
    )
    attempted: Pin | None = Field(None, description="The stack that was switched to and could not be proven.")
    failed: dict[Text, Text] = Field(
        default_factory=dict, description="What failed of the attempt: step or check -> what was found."
    )
    checks: dict[Text, Text] = Field(
        default_factory=dict, description="Every check of what serves again -> passed, or what was found."
    )
    pins: RollbackPins = Field(description="What it relies on.")


class Opportunity(_Entry):
    """What lost one benchmark and may serve elsewhere (contract 8.4)."""

    kind: Literal["opportunity"] = Field(description="What this entry is.")
    factor: Address | None = Field(None, description="The setting it is about, if one.")
    result_kind: Literal["speed", "numerical", "capacity", "transfer-bytes"] = Field(
        description="Which kind of result; kinds are judged apart."
    )
    benefit: Text = Field(description="What it may bring.")
    regression: Text = Field(description="What it costs or cost.")
    uncertainty: Text = Field(description="What is not known.")
    workloads: list[Text] = Field(min_length=1, description="Workloads and regimes it applies to.")
    next: Text = Field(description="The next useful test.")
    pins: RunPins | None = Field(None, description="The run that showed it, where there is one.")


class Anchor(_Entry):
    """A commit that every later history must contain; `after` pins the ledger's tips at that commit."""

    kind: Literal["anchor"] = Field(description="What this entry is.")
    commit: CommitId = Field(description="Full id of the commit.")


class Merge(_Entry):
    """Closes two tips after two branches were merged."""

    kind: Literal["merge"] = Field(description="What this entry is.")
    keeps: list[Reference] = Field(
        default_factory=list,
        description="Entries that stand where the tips decided the same thing differently.",
    )


class Redacted(Model):
    """Bytes that had to go."""

    file: Text = Field(description="Path in the repository.")
    digest: Digest = Field(description="sha256: digest of the bytes that no longer exist.")


class Redaction(_Entry):
    """Names bytes that had to be taken out, such as a leaked secret, so that the audit knows why."""

    kind: Literal["redaction"] = Field(description="What this entry is.")
    redacts: list[Redacted] = Field(min_length=1, description="What was taken out.")


Entry = Annotated[
    Baseline
    | Increment
    | NegativeControl
    | FailedRun
    | Correction
    | Decision
    | Approval
    | Deployment
    | Rollback
    | Opportunity
    | Anchor
    | Merge
    | Redaction,
    Field(discriminator="kind"),
]
