"""receipt/v1: what a harness, an operator test, a person or a monitor said, with what it takes to believe it. Written once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import (
    AtLeastOne,
    Count,
    FileHash,
    JudgedBy,
    KnownSha256,
    Model,
    Name,
    Pin,
    Reference,
    Scalar,
    Service,
    Sha256,
    Text,
    Time,
)

UnknownWord = Literal["unknown"]


class Source(FileHash):
    """The file as it was given, kept as bytes beside this document."""

    format: Name = Field(description="What it is, e.g. lm-eval or test-backend-ops.")
    line: AtLeastOne | None = Field(
        None, description="Line where it begins in the source, where that can be told."
    )


class Lines(FileHash):
    """Rows beside this document, one JSON object a line."""

    count: Count = Field(description="Number of rows.")


class _Receipt(Model):
    hio: Literal["receipt/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service it is about, as whoever recorded it says.")
    about: Text | None = Field(None, description="One sentence for whoever reads this in a year.")
    at: Time | None = Field(None, description="When it was measured; absent: the source does not say.")
    stack: Pin | None = Field(None, description="The stack that whoever recorded it says was measured.")
    unknown: list[Text] = Field(default_factory=list, description="What the source does not say.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")


class Harness(Model):
    """The program that asked and scored."""

    name: Name = Field(description="Its name, e.g. lm-evaluation-harness.")
    version: Text = Field(description="Its version or commit; unknown is a word.")


class Dataset(Model):
    """A set of questions, as far as the source tells of it."""

    name: Text = Field(description="Its name; unknown is a word.")
    sha256: KnownSha256 = Field(
        description="SHA-256 of its bytes, or of the task's items as the harness has them."
    )


class Quality(_Receipt):
    """One metric of one task of a harness (contract 10.4)."""

    kind: Literal["quality"] = Field(description="What this receipt is.")
    source: Source = Field(description="The file it was read from.")
    harness: Harness = Field(description="What asked and scored.")
    task: Text = Field(description="The task, e.g. gsm8k.")
    task_version: Text = Field(description="Version of the task as the harness counts it; unknown is a word.")
    filter: Text = Field(
        description="How answers were taken out of texts; none where the harness has no filters."
    )
    metric: Text = Field(description="The metric, e.g. acc.")
    better: Literal["higher", "lower", "unknown"] = Field(description="Which direction is a gain.")
    value: FiniteFloat = Field(description="The number, as the source has it; a share is 0 to 1.")
    stderr: Annotated[FiniteFloat, Field(ge=0)] | None = Field(
        None, description="Its standard error, as the source has it."
    )
    n: Count | UnknownWord = Field(description="Items behind the number.")
    whole: Count | UnknownWord = Field(description="Items of the whole set.")
    group: bool = Field(
        False,
        description="Whether the number is put together of those of a group's tasks, as the harness weighs them.",
    )
    limit: FiniteFloat | Literal["none", "unknown"] = Field(
        description="Limit on the items, a count or a share below 1; none: the whole set was asked."
    )
    few_shot: Count | UnknownWord = Field(description="Examples in front of each question.")
    seed: Text = Field(description="The seeds as the harness has them; unknown is a word.")
    dataset: Dataset = Field(description="What was asked.")
    model: Text | None = Field(None, description="What was measured, as the source says it.")
    conditions: dict[Text, Scalar] = Field(
        default_factory=dict,
        description="What else has to be equal for two receipts to be compared, e.g. the chat template's hash.",
    )
    rows: Lines | None = Field(None, description="The items one by one: item and score, no texts.")


class OperatorCounts(Model):
    """What became of the cases of one operator."""

    ok: Count = Field(description="Cases within the tolerance.")
    failed: Count = Field(description="Cases beyond it, or that could not be computed.")
    not_supported: Count = Field(description="Cases that the backend does not do: neither passed nor failed.")
    worst_nmse: Annotated[FiniteFloat, Field(ge=0)] | None = Field(
        None,
        description="Largest normalised mean squared error that the source tells; absent: it tells none.",
    )
    tolerance: Annotated[FiniteFloat, Field(gt=0)] | UnknownWord = Field(
        description="Largest error that passes; unknown is a word."
    )
    planned: Annotated[FiniteFloat, Field(gt=0)] | None = Field(
        None, description="The tolerance that was planned beforehand."
    )


class OperatorTest(_Receipt):
    """One operator test of one device with one precision (contract 6.9, 7.8)."""

    kind: Literal["operator-test"] = Field(description="What this receipt is.")
    source: Source = Field(description="The file it was read from.")
    backend: Text = Field(description="The backend that was tested, e.g. Vulkan0.")
    device: Text = Field(description="The device, as the source says it; unknown is a word.")
    reference: Text = Field(description="The backend that is right by definition; unknown is a word.")
    accumulation: Literal["default", "higher", "unknown"] = Field(
        description="Precision that sums are kept in: two precisions are two arms and two receipts."
    )
    against: Reference | None = Field(None, description="The receipt of the other arm.")
    operators: dict[Text, OperatorCounts] = Field(
        min_length=1, description="Operator -> what became of its cases."
    )
    cases: Lines = Field(
        description="Every case: operator, parameters with shapes and types, and what became of it."
    )


class Scale(Model):
    """The ends of a scale of scores."""

    lowest: FiniteFloat = Field(description="The lowest score.")
    highest: FiniteFloat = Field(description="The highest score.")
    better: Literal["higher", "lower"] = Field(description="Which direction is a gain.")


class HumanScore(_Receipt):
    """Scores that people gave (contract 10.7)."""

    kind: Literal["human-score"] = Field(description="What this receipt is.")
    scorer: Text = Field(description="Who scored; a role or a pseudonym is enough.")
    blinding: Literal["blind", "open"] = Field(
        description="Whether the scorer knew which arm an answer is from."
    )
    key_sha256: Sha256 | None = Field(
        None, description="SHA-256 of the key that says which answer is from which arm, made before scoring."
    )
    items: AtLeastOne = Field(description="Number of scored items.")
    scale: Scale = Field(description="What a score may be.")
    scores: FileHash = Field(description="The scores, one JSON object a line: item and score.")


class Clock(Model):
    """How far the producer's clock is from that of the host."""

    offset_s: FiniteFloat | UnknownWord = Field(
        description="Producer's clock minus the host's, in seconds; unknown is a word."
    )
    how: Text = Field(description="How that is known, e.g. same host, or ntp at the start and the end.")


class Telemetry(_Receipt):
    """Readings of another monitor or of a profiler (contract 6.10)."""

    kind: Literal["telemetry"] = Field(description="What this receipt is.")
    producer: Text = Field(description="What took the readings, with its version.")
    run: Pin = Field(description="The run that it is about.")
    clock: Clock = Field(description="Its clock.")
    from_: Time = Field(alias="from", description="First reading, by its own clock.")
    to: Time = Field(description="Last reading, by its own clock.")
    period_s: Annotated[FiniteFloat, Field(gt=0)] = Field(description="Seconds between two readings.")
    instruments: bool = Field(
        False, description="It slows down what it watches, as a profiler does: its legs are no benchmark."
    )
    columns: dict[Text, Text] = Field(min_length=1, description="Column -> unit.")
    file: FileHash = Field(description="The readings.")
    limits: list[Text] = Field(default_factory=list, description="What it cannot see.")


Receipt = Annotated[
    Quality | OperatorTest | HumanScore | Telemetry,
    Field(discriminator="kind"),
]
