"""plan/v1: a prespecified, bounded experiment (contract section 4). Editable until a run or an approval pins it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import Address, Model, Name, Reference, Scalar, Service, Text

Metric = Literal[
    "decode_tps",
    "prefill_tps",
    "ttft_ms",
    "itl_ms",
    "tpot_ms",
    "wall_s",
    "bench_prefill_tps",
    "bench_decode_tps",
]
"""What the measuring methods measure; unit, direction and definition are in evidence/metrics.py."""

Better = Literal["higher", "lower"]


class Hypothesis(Model):
    """What is expected, and why it should be so (contract 4.1)."""

    claim: Text = Field(description="What is expected, with a number.")
    operation: Text = Field(description="The expensive operation.")
    mechanism: Text = Field(description="What the change does to that operation.")


class PlannedArm(Model):
    """One side of the comparison: a stack plus a delta, so that no second stack document is needed."""

    stack: Reference = Field(description="The stack it starts from.")
    set: dict[Address, Scalar] = Field(default_factory=dict, description="The delta: setting -> value.")


class Requests(Model):
    """Requests of a leg."""

    warm_up: int = Field(1, ge=0, description="Requests before the measured ones; they never count.")
    measured: int = Field(
        ge=1, description="Measured requests; a leg stays one trial, however many there are."
    )


class Bench(Model):
    """What llama-bench is asked for, where it is the measuring method."""

    prompt_tokens: int = Field(ge=0, description="Tokens of the prompt test; 0 = none.")
    generated_tokens: int = Field(ge=0, description="Tokens of the generation test; 0 = none.")
    repetitions: int = Field(1, ge=1, description="Repetitions within one process.")


class QualityGate(Model):
    """Questions with known answers: how many have to be right on every arm, and how much worse a candidate may be."""

    tasks: Reference = Field(description="The task set that is asked after the measured requests of a leg.")
    floor: FiniteFloat = Field(ge=0, le=1, description="Least share of right answers on every arm.")
    margin: FiniteFloat = Field(
        ge=0,
        le=1,
        description="How much lower a candidate's share may be: the interval's end has to be above.",
    )
    alpha: FiniteFloat = Field(0.05, gt=0, lt=0.5, description="One-sided level of the comparison.")
    legs: Literal["first", "every"] = Field(
        "first", description="first: in the first leg of each arm; every: in each leg."
    )


class SameWork(Model):
    """How much the work of two arms may differ before their speeds are not compared (contract 6.3)."""

    content: Literal["equal", "any"] = Field(
        "equal", description="Whether the answers' texts have to be equal."
    )
    generated_percent: FiniteFloat = Field(0.0, ge=0, description="Difference in generated tokens.")
    accepted_percent: FiniteFloat = Field(
        0.0, ge=0, description="Difference in drafted and in accepted tokens."
    )


class Bound(Model):
    """A metric that may not become worse while another one gains (contract 6.4)."""

    metric: Metric = Field(description="The metric.")
    worse_by_percent: FiniteFloat = Field(ge=0, description="Loss of the median that is still accepted.")


class Criteria(Model):
    """What decides, written before the first result; all of it numeric (contract 4.4)."""

    metric: Metric = Field(description="The metric that decides.")
    better: Better = Field(description="Which direction is a gain.")
    at_least_percent: FiniteFloat = Field(
        ge=0, description="Smallest effect that counts: change of the medians."
    )
    test: Literal["permutation", "sign-flip"] = Field(
        description="Exact test: of the labels over all trials, or of the signs of the rounds' differences."
    )
    alpha: FiniteFloat = Field(gt=0, lt=0.5, description="Two-sided level.")
    power: FiniteFloat = Field(
        0.8, gt=0, lt=1, description="Power for which the detectable effect is stated."
    )
    noise: Reference | None = Field(
        None,
        description="Run that compared the baseline with itself on this host (A-A); absent = unknown noise.",
    )
    bounds: list[Bound] = Field(default_factory=list, description="What may not become worse meanwhile.")
    stop: Literal["all-legs"] = Field(
        "all-legs", description="When it ends: after all legs, or when a limit aborts it; never on a result."
    )


class Limits(Model):
    """Ceilings that end the trial, and only the trial (contract 4.3, 5.2). Sizes are bytes or like 4GiB."""

    memory: Scalar = Field(description="Most memory the trial's processes may hold: anonymous and shared.")
    available: Scalar = Field(description="Memory the host must still have available.")
    swap: Scalar = Field(0, description="Most swap that any trial process may use.")
    others_cpu: FiniteFloat | None = Field(
        None, ge=0, description="Most processors that others may use, averaged over five samples."
    )
    device_memory: Scalar | None = Field(None, description="Most device memory in use by all.")
    temperature_c: FiniteFloat | None = Field(
        None, description="Temperature that ends the trial; absent = no such end."
    )
    start_s: FiniteFloat = Field(gt=0, description="Seconds until a server must be ready.")
    leg_s: FiniteFloat = Field(gt=0, description="Seconds of one leg, start included.")
    total_s: FiniteFloat = Field(gt=0, description="Seconds of the whole trial, restoration aside.")
    sample_s: FiniteFloat = Field(0.5, gt=0, le=60, description="Seconds between two samples.")
    gap_s: FiniteFloat = Field(5.0, gt=0, description="Longest gap between two samples that is no hole.")


class Serving(Model):
    """The service that serves now: during the trial and afterwards (contract 4.3)."""

    during: Literal["stop", "leave", "none"] = Field(
        description="stop: it is stopped and restored; leave: it keeps serving; none: nothing serves here."
    )
    restore: Reference | None = Field(None, description="Stack that serves again afterwards; with stop only.")
    then: Literal["restore-parent", "keep-winner"] = Field(
        "restore-parent", description="End state; keeping the winner needs an approval of kind deploy."
    )


class Again(Model):
    """Why a completed experiment is run again (contract 4.8)."""

    run: Reference = Field(description="The completed run of the same comparison.")
    question: Text = Field(description="What the first one left open.")


class Plan(Model):
    """One experiment, complete before its first result."""

    hio: Literal["plan/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service it is about.")
    question: Text = Field(description="The question that the verdict answers.")
    stage: Literal["screening", "confirmation", "a-a"] = Field(
        description="screening: looks; confirmation: decides; a-a: the baseline against itself."
    )
    hypothesis: Hypothesis = Field(description="What is expected, and why.")
    baseline: Name = Field(description="Arm that is the reference: what serves in practice.")
    arms: dict[Name, PlannedArm] = Field(min_length=2, description="The arms, by name.")
    factors: list[Address] = Field(description="Settings in which the arms differ; none for A-A.")
    combined: bool = Field(
        False, description="Whether several settings are changed together; their parts then stay unresolved."
    )
    constant: list[Text] = Field(default_factory=list, description="What else is held constant.")
    order: list[Name] = Field(min_length=2, description="Arm of each leg, in order: ABBA, BAAB or rounds.")
    restart: Literal["every-leg", "never"] = Field(
        "every-leg", description="When the server is started anew."
    )
    method: Literal["http", "llama-bench"] = Field("http", description="How it is measured.")
    bench: Bench | None = Field(None, description="With llama-bench only.")
    fixture: Reference | None = Field(None, description="The request that is measured; with http.")
    requests: Requests | None = Field(None, description="Requests of a leg; with http.")
    cache: Literal["cold", "warm"] = Field(
        "cold",
        description="cold: no prompt token comes from a cache; warm: the prefix is meant to be cached.",
    )
    checks: list[Reference] = Field(
        default_factory=list,
        description="Fixtures with expected results, asked in each leg before the measured requests: the quality gate.",
    )
    quality: QualityGate | None = Field(
        None, description="Task set whose answers may not become worse; with http."
    )
    same_work: SameWork = Field(description="When the arms did the same work.")
    decide: Criteria = Field(description="What decides.")
    limits: Limits = Field(description="Ceilings and time limits.")
    abort_owner: Text = Field(description="Who may end it and is told.")
    serving: Serving = Field(description="What happens to the service that serves now.")
    port: int | None = Field(
        None, ge=1, le=65535, description="Port of the trial; absent = the service's own."
    )
    respect: list[Service] = Field(
        default_factory=list, description="Services of others whose activity is watched and which stay."
    )
    reproduces: Reference | None = Field(
        None, description="Run of the parent whose answer is reproduced first; absent = the series is new."
    )
    again: Again | None = Field(None, description="Where the same comparison has been run before.")
    known_failures: list[Text] = Field(default_factory=list, description="What is known to fail.")
    untested: list[Text] = Field(default_factory=list, description="What remains untested.")
