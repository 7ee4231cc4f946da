"""ceilings/v1: how fast a machine can go at best: measured here by hio probe host, or published by whoever made it (contract 9.2).

A rate is achieved or promised, never a latency that "everybody knows": each one says where it is from.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from hio_validate.models.definitions.base import JudgedBy, Model, Name, Reference, Sha256, Text, Time

Positive = Annotated[FiniteFloat, Field(gt=0)]
Efficiency = Annotated[FiniteFloat, Field(gt=0, le=1)]

Unit = Literal[
    "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB",
    "FLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP",
    "s", "ms", "us", "ns",
    "1",
    "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s",
    "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s",
    "FLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s",
]  # fmt: skip
"""What a number may be counted in (costs/units.py has their sizes). Gb/s is written Gbit/s: it is no GB/s."""

Quantity = Literal[
    "memory-read",
    "memory-copy",
    "matmul",
    "matvec",
    "disk-read",
    "http-round-trip",
    "process-start",
    "link",
    "link-latency",
    "launch",
    "host-gap",
]
"""What a rate is a rate of; costs/units.py says in which dimension it is counted.

matmul: two matrices of `dtype`; matvec: bytes of weights of `dtype` that are read and multiplied by one vector (by `vectors`
where those are stated), by an engine's own kernel; link: bytes between devices; launch: one kernel; host-gap: the host between two passes.
"""

Confidence = Literal["high", "medium", "low"]


class Rate(Model):
    """One rate, or what one of something costs."""

    quantity: Quantity = Field(description="What it is a rate of.")
    value: Positive = Field(description="The rate; measured: the median of the samples.")
    unit: Unit = Field(description="Its unit.")
    low: Positive | None = Field(
        None, description="Its lower end; measured: the smallest sample. Absent: as the value."
    )
    high: Positive | None = Field(
        None, description="Its upper end; measured: the largest sample. Absent: as the value."
    )
    samples: list[Positive] = Field(
        default_factory=list, description="Every repetition, in this unit, in order."
    )
    threads: int | None = Field(
        None, ge=1, description="Threads that did it together; absent: does not apply."
    )
    dtype: Name | None = Field(
        None, description="Number format of the operands, e.g. f32, bf16, q4_K; absent: does not apply."
    )
    vectors: int | None = Field(
        None,
        ge=1,
        description="Vectors that a matrix was multiplied by at once; absent: does not apply, or is not known.",
    )
    working_set: int | None = Field(
        None,
        ge=1,
        description="Bytes that were read again and again; what is smaller may stay in a cache. Absent: not known.",
    )
    sparsity: Literal["dense", "structured"] | None = Field(
        None, description="Published arithmetic rates: dense, or counting zeros that are skipped."
    )
    efficiency: Efficiency | None = Field(
        None, description="Published: the part of it that is assumed to be reached."
    )
    method: Text | None = Field(None, description="Measured: how, with sizes.")
    source: Text | None = Field(None, description="Published: the document it is from.")
    confidence: Confidence = Field("medium", description="How far it is to be trusted.")


class Device(Model):
    """An accelerator, as its own tool describes it."""

    name: Text = Field(description="Its name.")
    count: int = Field(1, ge=1, description="How many there are.")
    memory: int | None = Field(None, ge=0, description="Bytes of its memory.")
    driver: Text | None = Field(None, description="Version of its driver.")
    tool: Text = Field(description="The tool that said so, with its version.")


class Ceilings(Model):
    """The ceilings of one machine, or of one device."""

    hio: Literal["ceilings/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    about: Text = Field(description="The machine or device, in a sentence.")
    how: Literal["measured", "published"] = Field(description="Measured by hio probe host, or published.")
    host: Sha256 | None = Field(None, description="Measured: the host, as captures name it.")
    at: Time | None = Field(None, description="Measured: when it began.")
    date: Text | None = Field(None, description="Published: the date of the source.")
    source: Text | None = Field(
        None, description="Published: where, for all rates that name no source of their own."
    )
    per: Literal["host", "device"] = Field(
        "host", description="What the rates belong to: one host, or one device."
    )
    load: FiniteFloat | None = Field(
        None, ge=0, description="Measured: load average of one minute before it began."
    )
    memory: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="Bytes that programs of the host can have: all of it, or the least limit of a control group.",
    )
    devices: list[Device] = Field(default_factory=list, description="Accelerators that were found.")
    rates: dict[Name, Rate] = Field(min_length=1, description="The rates, by name.")
    engine: Reference | None = Field(
        None, description="The engine build whose own kernels were measured, where it was one."
    )
    unknown: list[Text] = Field(default_factory=list, description="What could not be measured, and why.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
