"""run/v1: what happened: arms with their captures, raw rows kept as bytes, columns with units."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import (
    Address,
    FileHash,
    JudgedBy,
    Model,
    Name,
    Pin,
    Scalar,
    Service,
    Sha256,
    Text,
    Time,
)


class Arm(Model):
    """One side of the comparison: a pinned stack plus a delta, and what was observed."""

    stack: Pin = Field(description="The stack it starts from.")
    set: dict[Address, Scalar] = Field(default_factory=dict, description="The delta: setting -> value.")
    captures: list[Pin] = Field(default_factory=list, description="Captures of its legs; none = unobserved.")


class Raw(Model):
    """The raw rows, one per leg, kept as bytes and never edited."""

    file: Text = Field(description="File beside this document.")
    sha256: Sha256 = Field(description="SHA-256 of its bytes.")
    format: Literal["tsv", "jsonl"] = Field(description="Tab-separated with one header line, or JSON lines.")
    rows: int = Field(ge=0, description="Number of rows without the header.")
    arm: Name = Field(description="Column that names the arm.")
    leg: Name | None = Field(
        None, description="Column that numbers the leg: its rows are one trial. Absent = every row is one."
    )
    phase: Name | None = Field(
        None, description="Column that says warm-up, check or measured; only measured rows count."
    )
    status: Name | None = Field(
        None, description="Column that says ok, or what went wrong; a row that failed has no metrics."
    )


class Column(Model):
    """What a column of the raw rows means."""

    unit: Text = Field(description="Unit, e.g. token/s; `1` for a count, `text` for a label.")
    better: Literal["higher", "lower"] | None = Field(None, description="Direction, for a metric.")
    about: Text | None = Field(None, description="Definition, where the name does not say it.")


class Scope(Model):
    """Where the result holds (contract 3.7); what is absent is unknown."""

    host: Sha256 | None = Field(None, description="Identity of the host, as its captures give it.")
    model: Sha256 | None = Field(None, description="SHA-256 of the model file.")
    fixture: Text | None = Field(None, description="Name of the fixture.")
    regime: Text | None = Field(None, description="Cache regime and load.")


class Leg(Model):
    """One leg: a process of its own, started, measured and ended. A leg that is invalid stays on record."""

    leg: int = Field(ge=1, description="Number in the order in which they ran, 1 first.")
    place: int = Field(
        ge=1, description="Place in the plan's order; a leg that is run again has the same one."
    )
    arm: Name = Field(description="The arm it measured.")
    started: Time = Field(description="Start of its process.")
    ended: Time = Field(description="End of its last request, or when it was given up.")
    capture: Pin | None = Field(None, description="What its process was; none = unobserved.")
    invalid: list[Text] = Field(
        default_factory=list, description="Why it does not count, one reason each; empty = it counts."
    )
    instrumented: bool = Field(False, description="A profiler ran beside it: no benchmark (contract 5.6).")
    startup_s: FiniteFloat | None = Field(None, ge=0, description="Seconds from exec to ready.")
    exit: Text | None = Field(None, description="How its process ended.")


class Samples(FileHash):
    """Readings of host and processes during the legs, kept as bytes."""

    period_s: FiniteFloat = Field(gt=0, description="Seconds between two samples, as planned.")
    count: int = Field(ge=0, description="Number of samples.")
    longest_gap_s: FiniteFloat = Field(ge=0, description="Longest time without a sample in a leg.")


class QualityRows(FileHash):
    """Answers to a task set, one JSON object a line: leg, arm, item, status, expected, generated, answer."""

    rows: int = Field(ge=0, description="Number of rows.")
    tasks: Pin = Field(description="The task set that was asked.")


class Executed(Model):
    """A command behind a claim (contract 5.7)."""

    argv: list[str] = Field(description="Program and arguments; what is secret stands as ${secret:name}.")
    exit: Text = Field(description="Exit code or signal.")
    stdout: FileHash | None = Field(None, description="What it wrote to stdout.")
    stderr: FileHash | None = Field(None, description="What it wrote to stderr.")


class Preflight(Model):
    """What was known before the start (contract 4.9)."""

    at: Time = Field(description="When.")
    active: list[Text] = Field(default_factory=list, description="Trials that ran then.")
    last: list[Text] = Field(default_factory=list, description="Last runs, with what failed in them.")
    pending: list[Text] = Field(default_factory=list, description="Jobs that are not closed.")
    live: Pin | None = Field(None, description="What served then.")
    host: dict[Name, Scalar] = Field(
        default_factory=dict, description="Readings: memory, load, swap, in bytes."
    )


class Restored(Model):
    """The service that served before, proven to serve again (contract 5.4)."""

    stack: Pin = Field(description="The stack that serves.")
    capture: Pin | None = Field(None, description="What serves, as observed.")
    checks: dict[Name, Text] = Field(
        description="Check -> passed, or what was found instead; what could not be checked is unknown."
    )
    proven: bool = Field(description="Whether every check passed.")


class OfCampaign(Model):
    """The campaign that it belongs to (contract 10.2)."""

    campaign: Pin = Field(description="The campaign, with the bytes that were run.")
    id: Name = Field(description="Run id of the campaign; the trial's processes carry it as HIO_CAMPAIGN.")
    cell: Name = Field(description="The cell that this run is.")


class Run(Model):
    """One experiment as it happened."""

    hio: Literal["run/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the name of the folder this file stands in.")
    service: Service = Field(description="The service it belongs to.")
    imported: bool = Field(False, description="Measured outside hio: never rises above DRAFT.")
    plan: Pin | None = Field(None, description="The prespecified plan.")
    campaign: OfCampaign | None = Field(None, description="The campaign that it is a cell of.")
    question: Text | None = Field(
        None, description="The declared question, where it is about several settings."
    )
    at: Time | None = Field(None, description="When it began.")
    scope: Scope | None = Field(None, description="Where the result holds.")
    arms: dict[Name, Arm] = Field(min_length=1, description="The arms, by name.")
    stage: Literal["screening", "confirmation", "a-a"] | None = Field(None, description="As planned.")
    outcome: Literal["completed", "aborted", "failed", "stopped"] | None = Field(
        None, description="How it ended; absent = the record does not say."
    )
    why: Text | None = Field(None, description="Why it ended that way, where it was not completed.")
    ended: Time | None = Field(None, description="When it ended.")
    resumed: list[Time] = Field(
        default_factory=list, description="When it was taken up again after an interruption."
    )
    fixtures: list[Pin] = Field(default_factory=list, description="The fixtures that were asked.")
    approvals: list[Pin] = Field(
        default_factory=list, description="The entries that allowed it, rechecked before work."
    )
    preflight: Preflight | None = Field(None, description="What was known before the start.")
    legs: list[Leg] = Field(default_factory=list, description="The legs, in the order in which they ran.")
    raw: Raw = Field(description="The raw rows.")
    columns: dict[Name, Column] = Field(description="Every column of the raw rows.")
    events: FileHash | None = Field(
        None, description="Arrival time of every piece of every answer, compressed."
    )
    quality: QualityRows | None = Field(None, description="Answers to the planned task set.")
    samples: Samples | None = Field(None, description="Readings of host and processes.")
    stages: dict[Name, Text] = Field(
        default_factory=dict,
        description="Stage of a request -> column that measures it, or unknown (contract 6.1).",
    )
    commands: list[Executed] = Field(default_factory=list, description="The commands behind it.")
    restored: Restored | None = Field(None, description="The service afterwards, where the plan stopped one.")
    logs: list[FileHash] = Field(default_factory=list, description="Server logs and outputs kept beside it.")
    series: Literal["new"] | None = Field(
        None,
        description="new: the baseline's answer is another one than the plan's reproduces; its numbers start anew.",
    )
    unknown: list[Text] = Field(default_factory=list, description="What the record does not say.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
