"""estimate/v1: what bounds a workload, before anybody measures: terms, bound, candidates, one next experiment (contract 9).

An estimate is never a result: its status is DRAFT, or NEEDS_CONTEXT where the workload's shape is missing.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import (
    Address,
    AtLeastOne,
    Count,
    JudgedBy,
    Model,
    Name,
    Pin,
    Reference,
    Service,
    Text,
    Time,
)
from hio_validate.models.definitions.ceilings import Confidence, Efficiency, Unit
from hio_validate.models.definitions.plan import Better, Metric

Number = FiniteFloat
NotNegative = Annotated[FiniteFloat, Field(ge=0)]
TermName = Literal[
    "weights",
    "kv-read",
    "kv-write",
    "state",
    "compute",
    "output",
    "collectives",
    "launches",
    "host-gaps",
    "loading",
    "queueing",
    "draft",
    "dispatch",
]
"""The kinds of cost (contract 9.2); output: the output layer for one token, after a pass over several."""

Resource = Literal["memory", "compute", "interconnect", "launch", "host", "storage", "network", "queue"]

Path = Literal["setup", "load", "request", "prefill-token", "decode-token"]
"""How often it is paid (contract 9.1)."""

Route = Literal[
    "measure-baseline",
    "attribute-cpu-and-device",
    "decode-step-budget",
    "device-timeline",
    "kernel-counters",
    "tune-sweep",
    "quantise-and-evaluate",
    "size-capacity",
]
"""Which measurement or profile answers which suspicion (costs/routes.py says how)."""


class Amount(Model):
    """A number with its unit, and the interval it lies in."""

    value: NotNegative = Field(description="The best guess.")
    low: NotNegative = Field(description="The least it may be.")
    high: NotNegative = Field(description="The most it may be.")
    unit: Unit = Field(description="Its unit.")


class UnitCost(Model):
    """What one unit of work costs: a rate that divides the work, or a time that multiplies it."""

    amount: Amount = Field(description="The rate or the time, efficiency included.")
    ceiling: Reference | None = Field(None, description="The ceilings document it is from.")
    rate: Name | None = Field(None, description="The rate in that document.")
    efficiency: Efficiency | None = Field(
        None, description="The assumed part of a published ceiling; absent: achieved locally, all of it."
    )
    assumed: Text | None = Field(None, description="Where no ceiling says it: who assumes it and why.")


class Term(Model):
    """One cost of the ledger."""

    name: TermName = Field(description="Which cost.")
    about: Text = Field(description="What is done, in words.")
    resource: Resource = Field(description="What it uses.")
    work: Amount = Field(description="How much of it, for one unit of the path.")
    cost: UnitCost = Field(description="What one unit of it costs.")
    fixed: Amount | None = Field(None, description="Time that is paid once, whatever the work: a latency.")
    time: Amount = Field(description="Work by its cost, and what is fixed.")
    source: Text = Field(description="Where the work is from.")
    confidence: Confidence = Field(description="How far it is to be trusted.")
    refuted_by: Route = Field(description="What can show that it is wrong.")


class BoundTime(Model):
    """The lower bound: groups one after the other, within a group all at the same time."""

    groups: list[list[TermName]] = Field(
        min_length=1,
        description="Terms that overlap stand in one group (the longest counts); groups are added.",
    )
    time: Amount = Field(description="The sum over the groups of the longest term of each.")
    metric: Amount | None = Field(None, description="The same as the target's metric; a rate is 1 by it.")


class EstimateTarget(Model):
    """A metric and the direction that is a gain."""

    metric: Metric = Field(description="The metric.")
    better: Better = Field(description="Which direction is a gain.")
    goal: Number | None = Field(None, description="What would be enough, in the metric's unit.")


class Sharding(Model):
    """Over how many devices an engine divides each part of a model."""

    stages: AtLeastOne = Field(1, description="Stages of a pipeline; each holds a part of the layers.")
    weights: AtLeastOne = Field(
        1, description="Devices that divide a layer's weights, where nothing else is said."
    )
    attention: AtLeastOne = Field(
        1,
        description="Devices that divide a layer's attention: its weights, the heads of K and V, its state.",
    )
    experts: AtLeastOne = Field(1, description="Devices that divide a layer's experts.")
    positions: AtLeastOne = Field(
        1, description="Devices that divide K and V of one sequence by position, beside its heads."
    )
    groups: AtLeastOne = Field(
        1,
        description="Groups of devices among which the requests of one pass are divided; each attends to its own.",
    )
    replicas: AtLeastOne = Field(1, description="Whole models beside each other, each with its own requests.")


class Workload(Model):
    """What is asked of what, complete enough that work can be counted. What is absent is not known."""

    stack: Pin = Field(description="The stack.")
    fixture: Pin | None = Field(None, description="The fixture.")
    shape: Pin | None = Field(None, description="The model's shape.")
    prompt_tokens: Count | None = Field(None, description="Tokens of the prompt that are evaluated.")
    generated_tokens: Count | None = Field(None, description="Tokens that are generated.")
    concurrency: AtLeastOne = Field(1, description="Requests at the same time.")
    slots: AtLeastOne | None = Field(
        None, description="Requests that are decoded together at most; absent: not known."
    )
    cache: Literal["cold", "warm"] = Field(
        "cold", description="Whether a cache may answer a part of the prompt."
    )
    threads: AtLeastOne | None = Field(None, description="Threads of passes of one token, on a processor.")
    batch_threads: AtLeastOne | None = Field(
        None, description="Threads of passes of several tokens: prompts, requests together, drafted tokens."
    )
    devices: AtLeastOne = Field(1, description="Devices that each hold a part of the weights.")
    sharding: Sharding | None = Field(
        None,
        description="How the model is divided, where the engine's settings say it; absent: evenly over devices.",
    )
    held_in: Literal["host", "device", "host-and-devices"] | None = Field(
        None, description="The memory that has to hold weights and K/V; absent: not known."
    )
    kv_cache: Literal["at-start", "paged"] | None = Field(
        None,
        description="at-start: the engine takes room for all its slots when it starts; paged: requests wait where there is "
        "no room for their K/V; absent: not known.",
    )
    microbatch: AtLeastOne | None = Field(None, description="Tokens of one pass of prefill, at most.")
    key_type: Name | None = Field(None, description="Number format of K.")
    value_type: Name | None = Field(None, description="Number format of V.")
    state_type: Name | None = Field(
        None, description="Number format of states of fixed size; absent: not known."
    )
    loaded_as: Name | None = Field(
        None,
        description="What the engine quantises wider weights to while it loads them; absent: it does not.",
    )
    drafting: Text | None = Field(None, description="How tokens are drafted; absent: they are not.")
    target_host: Text | None = Field(
        None, description="The host the ceilings belong to, as captures name it."
    )


class HeldPart(Model):
    """What is held in memory as long as the workload runs."""

    name: Literal["weights", "kv", "state", "stated"] = Field(description="What it is.")
    about: Text = Field(description="The same in words: of how many requests and tokens.")
    amount: Amount = Field(description="Its bytes.")


class HeldMemory(Model):
    """What has to be held at once, and what there is to hold it."""

    per: Literal["host", "device", "host-and-devices"] = Field(
        description="Whose memory: the host's, one device's, or that of the host and its devices together."
    )
    parts: list[HeldPart] = Field(min_length=1, description="What is held, as far as it is known.")
    needed: Amount = Field(description="The sum of the parts; what an engine needs beside them is not in it.")
    capacity: Amount | None = Field(None, description="What there is; absent: not known.")
    ceiling: Reference | None = Field(None, description="The ceilings document that tells the capacity.")
    outcome: Literal["cannot-fit", "open", "within"] = Field(
        description="cannot-fit: the least that is needed is more than there is; within: the most is not; open: neither is known."
    )


class MeasuredBaseline(Model):
    """What was measured of exactly this workload."""

    run: Pin = Field(description="The run.")
    arm: Name = Field(description="Its arm.")
    value: Number = Field(description="Median over the arm's measured rows.")
    low: Number = Field(description="Smallest leg.")
    high: Number = Field(description="Largest leg.")
    unit: Text = Field(description="Unit of the metric.")
    efficiency_percent: Amount | None = Field(None, description="Bound by measured, in percent; unit 1.")


class Assumption(Model):
    """An input whose interval is wide enough to matter."""

    name: Name = Field(description="What is assumed.")
    amount: Amount = Field(description="Its interval.")
    source: Text = Field(description="Why this interval.")
    changes: Text | None = Field(
        None,
        description="What becomes of the first candidate within it; absent: it stays the first (contract 9.7).",
    )


class Candidate(Model):
    """One mechanism that could pay."""

    name: Name = Field(description="Short name.")
    family: Annotated[int, Field(ge=1, le=7)] = Field(description="The hint family, 1 to 7.")
    mechanism: Text = Field(description="What it would do.")
    term: TermName | None = Field(
        None, description="The term it makes smaller; absent: what no term explains."
    )
    factor: Address | None = Field(None, description="The setting that does it, where one does.")
    change: Text | None = Field(None, description="From what to what.")
    share_percent: Amount = Field(
        description="The term's share of the measured time, or of the bound; unit 1."
    )
    share_of: Literal["profile", "measured", "bound"] = Field(description="What the share is a share of.")
    gain_percent: Amount = Field(description="The most it can gain end to end; unit 1.")
    confidence: Confidence = Field(description="How far that is to be trusted.")
    minutes: NotNegative | None = Field(None, description="What the experiment costs.")
    rollback: Text = Field(description="How it is undone.")
    stop_if: Text = Field(description="What refutes it.")
    needs: list[Text] = Field(
        default_factory=list, description="What has to be there before, e.g. a quality gate."
    )
    route: Route = Field(description="What produces the evidence.")
    caching: bool = Field(False, description="Whether it reuses what an earlier request computed.")
    cold: Pin | None = Field(None, description="Caching: the run measured cold.")
    warm: Pin | None = Field(None, description="Caching: the run measured warm.")


class NextExperiment(Model):
    """One measurement or one controlled comparison."""

    candidate: Name | None = Field(
        None, description="Whose; absent: a profile or a baseline comes before any candidate."
    )
    experiment: Text = Field(description="One controlled comparison, or one measurement.")
    proves: Text = Field(description="What it shows, by which metric and artifact.")
    stop_if: Text = Field(description="What ends it.")
    route: Route = Field(description="What produces the evidence.")
    command: Text | None = Field(None, description="What to type, one command a line.")


class Cause(Model):
    """What the gap is said to come from; only a profile can say so (contract 9.7)."""

    claim: Text = Field(description="The cause.")
    profile: Pin | None = Field(None, description="The profile that shows it.")


class Estimate(Model):
    """One estimate. It launches nothing and decides nothing."""

    hio: Literal["estimate/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service it is about.")
    at: Time | None = Field(None, description="When it was computed.")
    status: Literal["DRAFT", "NEEDS_CONTEXT", "VERDICT"] = Field(
        description="DRAFT, or NEEDS_CONTEXT; an estimate is never a VERDICT."
    )
    target: EstimateTarget = Field(description="What is to become better.")
    path: Path = Field(description="How often it is paid.")
    workload: Workload = Field(description="The workload.")
    ceilings: list[Pin] = Field(
        default_factory=list, description="The ceilings that it was computed with, the first ones preferred."
    )
    terms: list[Term] = Field(default_factory=list, description="The ledger.")
    bound: BoundTime | None = Field(
        None, description="The lower bound; absent: the workload's shape is missing."
    )
    memory: HeldMemory | None = Field(
        None, description="Whether the model fits where it is to run; absent: what is held is not known."
    )
    baseline: MeasuredBaseline | None = Field(None, description="What was measured.")
    missing: list[Text] = Field(
        default_factory=list, description="What is not there: baseline, profile, quality gate, shape."
    )
    findings: list[Text] = Field(
        default_factory=list, description="What cannot be so, and what to look at first."
    )
    profile: Pin | None = Field(None, description="The profile that the shares are from.")
    causes: list[Cause] = Field(default_factory=list, description="Causes that a profile shows.")
    assumptions: list[Assumption] = Field(default_factory=list, description="What was assumed.")
    candidates: list[Candidate] = Field(
        default_factory=list, description="What could pay, the first one first."
    )
    next: NextExperiment | None = Field(None, description="The one next experiment.")
    blocked_by: list[Pin] = Field(
        default_factory=list, description="Open correctness failures of the stack: nothing is proposed."
    )
    arithmetic: AtLeastOne | None = Field(
        None,
        description="Version of hio's arithmetic that gave terms and bound; absent: 1 where hio wrote it, none by hand.",
    )
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
