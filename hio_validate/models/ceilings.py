"""ceilings/v1: how fast a machine can go at best: measured here by hio probe host, or published by whoever made it (contract 9.2).

Written by hio_validate/compile.py from definitions/ceilings.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import AT_LEAST_ONE, COUNT, NAME, REFERENCE, SHA256, TEXT, TIME, JudgedBy
from hio_validate.models.record import Record, field

POSITIVE = {'type': 'float', 'allow_inf_nan': False, 'gt': 0}

EFFICIENCY = {'type': 'float', 'allow_inf_nan': False, 'gt': 0, 'le': 1}

UNIT = {'type': 'literal', 'expected': ['B', 'kB', 'MB', 'GB', 'TB', 'KiB', 'MiB', 'GiB', 'TiB', 'FLOP', 'MFLOP', 'GFLOP', 'TFLOP', 'PFLOP', 's', 'ms', 'us', 'ns', '1', 'B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'KiB/s', 'MiB/s', 'GiB/s', 'TiB/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s', 'FLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s']}

QUANTITY = {'type': 'literal', 'expected': ['memory-read', 'memory-copy', 'matmul', 'matvec', 'disk-read', 'http-round-trip', 'process-start', 'link', 'link-latency', 'launch', 'host-gap']}

CONFIDENCE = {'type': 'literal', 'expected': ['high', 'medium', 'low']}


class Rate(Record):
    """One rate, or what one of something costs."""

    quantity: Literal['memory-read', 'memory-copy', 'matmul', 'matvec', 'disk-read', 'http-round-trip', 'process-start', 'link', 'link-latency', 'launch', 'host-gap'] = field(QUANTITY, 'What it is a rate of.')
    value: float = field(POSITIVE, 'The rate; measured: the median of the samples.')
    unit: Literal['B', 'kB', 'MB', 'GB', 'TB', 'KiB', 'MiB', 'GiB', 'TiB', 'FLOP', 'MFLOP', 'GFLOP', 'TFLOP', 'PFLOP', 's', 'ms', 'us', 'ns', '1', 'B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'KiB/s', 'MiB/s', 'GiB/s', 'TiB/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s', 'FLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s'] = field(UNIT, 'Its unit.')
    low: float | None = field({'type': 'nullable', 'schema': POSITIVE}, 'Its lower end; measured: the smallest sample. Absent: as the value.', default=None)
    high: float | None = field({'type': 'nullable', 'schema': POSITIVE}, 'Its upper end; measured: the largest sample. Absent: as the value.', default=None)
    samples: list[float] = field({'type': 'list', 'items_schema': POSITIVE}, 'Every repetition, in this unit, in order.', default_factory=list)
    threads: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Threads that did it together; absent: does not apply.', default=None)
    dtype: str | None = field({'type': 'nullable', 'schema': NAME}, 'Number format of the operands, e.g. f32, bf16, q4_K; absent: does not apply.', default=None)
    vectors: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Vectors that a matrix was multiplied by at once; absent: does not apply, or is not known.', default=None)
    working_set: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Bytes that were read again and again; what is smaller may stay in a cache. Absent: not known.', default=None)
    sparsity: Literal['dense', 'structured'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['dense', 'structured']}}, 'Published arithmetic rates: dense, or counting zeros that are skipped.', default=None)
    efficiency: float | None = field({'type': 'nullable', 'schema': EFFICIENCY}, 'Published: the part of it that is assumed to be reached.', default=None)
    method: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Measured: how, with sizes.', default=None)
    source: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Published: the document it is from.', default=None)
    confidence: Literal['high', 'medium', 'low'] = field(CONFIDENCE, 'How far it is to be trusted.', default='medium')


class Device(Record):
    """An accelerator, as its own tool describes it."""

    name: str = field(TEXT, 'Its name.')
    count: int = field(AT_LEAST_ONE, 'How many there are.', default=1)
    memory: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Bytes of its memory.', default=None)
    driver: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Version of its driver.', default=None)
    tool: str = field(TEXT, 'The tool that said so, with its version.')


class Ceilings(Record):
    """The ceilings of one machine, or of one device."""

    hio: Literal['ceilings/v1'] = field({'type': 'literal', 'expected': ['ceilings/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    about: str = field(TEXT, 'The machine or device, in a sentence.')
    how: Literal['measured', 'published'] = field({'type': 'literal', 'expected': ['measured', 'published']}, 'Measured by hio probe host, or published.')
    host: str | None = field({'type': 'nullable', 'schema': SHA256}, 'Measured: the host, as captures name it.', default=None)
    at: str | None = field({'type': 'nullable', 'schema': TIME}, 'Measured: when it began.', default=None)
    date: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Published: the date of the source.', default=None)
    source: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Published: where, for all rates that name no source of their own.', default=None)
    per: Literal['host', 'device'] = field({'type': 'literal', 'expected': ['host', 'device']}, 'What the rates belong to: one host, or one device.', default='host')
    load: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'ge': 0}}, 'Measured: load average of one minute before it began.', default=None)
    memory: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Bytes that programs of the host can have: all of it, or the least limit of a control group.', default=None)
    devices: list[Device] = field({'type': 'list', 'items_schema': Device.core}, 'Accelerators that were found.', default_factory=list)
    rates: dict[str, Rate] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Rate.core, 'min_length': 1}, 'The rates, by name.')
    engine: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The engine build whose own kernels were measured, where it was one.', default=None)
    unknown: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What could not be measured, and why.', default_factory=list)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Ceilings.core
