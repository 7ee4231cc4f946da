"""receipt/v1: what a harness, an operator test, a person or a monitor said, with what it takes to believe it. Written once.

Written by hio_validate/compile.py from definitions/receipt.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    AT_LEAST_ONE,
    COUNT,
    KNOWN_SHA256,
    NAME,
    PIN,
    REFERENCE,
    SCALAR,
    SERVICE,
    SHA256,
    TEXT,
    TIME,
    FileHash,
    JudgedBy,
)
from hio_validate.models.plan import BETTER
from hio_validate.models.record import Record, field

UNKNOWN_WORD = {'type': 'literal', 'expected': ['unknown']}


class Source(FileHash):
    """The file as it was given, kept as bytes beside this document."""

    format: str = field(NAME, 'What it is, e.g. lm-eval or test-backend-ops.')
    line: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Line where it begins in the source, where that can be told.', default=None)


class Lines(FileHash):
    """Rows beside this document, one JSON object a line."""

    count: int = field(COUNT, 'Number of rows.')


class _Receipt(Record):
    hio: Literal['receipt/v1'] = field({'type': 'literal', 'expected': ['receipt/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service it is about, as whoever recorded it says.')
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence for whoever reads this in a year.', default=None)
    at: str | None = field({'type': 'nullable', 'schema': TIME}, 'When it was measured; absent: the source does not say.', default=None)
    stack: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack that whoever recorded it says was measured.', default=None)
    unknown: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What the source does not say.', default_factory=list)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


class Harness(Record):
    """The program that asked and scored."""

    name: str = field(NAME, 'Its name, e.g. lm-evaluation-harness.')
    version: str = field(TEXT, 'Its version or commit; unknown is a word.')


class Dataset(Record):
    """A set of questions, as far as the source tells of it."""

    name: str = field(TEXT, 'Its name; unknown is a word.')
    sha256: str = field(KNOWN_SHA256, "SHA-256 of its bytes, or of the task's items as the harness has them.")


class Quality(_Receipt):
    """One metric of one task of a harness (contract 10.4)."""

    kind: Literal['quality'] = field({'type': 'literal', 'expected': ['quality']}, 'What this receipt is.')
    source: Source = field(Source.core, 'The file it was read from.')
    harness: Harness = field(Harness.core, 'What asked and scored.')
    task: str = field(TEXT, 'The task, e.g. gsm8k.')
    task_version: str = field(TEXT, 'Version of the task as the harness counts it; unknown is a word.')
    filter: str = field(TEXT, 'How answers were taken out of texts; none where the harness has no filters.')
    metric: str = field(TEXT, 'The metric, e.g. acc.')
    better: Literal['higher', 'lower', 'unknown'] = field({'type': 'literal', 'expected': ['higher', 'lower', 'unknown']}, 'Which direction is a gain.')
    value: float = field({'type': 'float', 'allow_inf_nan': False}, 'The number, as the source has it; a share is 0 to 1.')
    stderr: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'ge': 0}}, 'Its standard error, as the source has it.', default=None)
    n: int | Literal['unknown'] = field({'type': 'union', 'choices': [COUNT, UNKNOWN_WORD]}, 'Items behind the number.')
    whole: int | Literal['unknown'] = field({'type': 'union', 'choices': [COUNT, UNKNOWN_WORD]}, 'Items of the whole set.')
    group: bool = field({'type': 'bool'}, "Whether the number is put together of those of a group's tasks, as the harness weighs them.", default=False)
    limit: float | Literal['none', 'unknown'] = field({'type': 'union', 'choices': [{'type': 'float', 'allow_inf_nan': False}, {'type': 'literal', 'expected': ['none', 'unknown']}]}, 'Limit on the items, a count or a share below 1; none: the whole set was asked.')
    few_shot: int | Literal['unknown'] = field({'type': 'union', 'choices': [COUNT, UNKNOWN_WORD]}, 'Examples in front of each question.')
    seed: str = field(TEXT, 'The seeds as the harness has them; unknown is a word.')
    dataset: Dataset = field(Dataset.core, 'What was asked.')
    model: str | None = field({'type': 'nullable', 'schema': TEXT}, 'What was measured, as the source says it.', default=None)
    conditions: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': SCALAR}, "What else has to be equal for two receipts to be compared, e.g. the chat template's hash.", default_factory=dict)
    rows: Lines | None = field({'type': 'nullable', 'schema': Lines.core}, 'The items one by one: item and score, no texts.', default=None)


class OperatorCounts(Record):
    """What became of the cases of one operator."""

    ok: int = field(COUNT, 'Cases within the tolerance.')
    failed: int = field(COUNT, 'Cases beyond it, or that could not be computed.')
    not_supported: int = field(COUNT, 'Cases that the backend does not do: neither passed nor failed.')
    worst_nmse: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'ge': 0}}, 'Largest normalised mean squared error that the source tells; absent: it tells none.', default=None)
    tolerance: float | Literal['unknown'] = field({'type': 'union', 'choices': [{'type': 'float', 'allow_inf_nan': False, 'gt': 0}, UNKNOWN_WORD]}, 'Largest error that passes; unknown is a word.')
    planned: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'gt': 0}}, 'The tolerance that was planned beforehand.', default=None)


class OperatorTest(_Receipt):
    """One operator test of one device with one precision (contract 6.9, 7.8)."""

    kind: Literal['operator-test'] = field({'type': 'literal', 'expected': ['operator-test']}, 'What this receipt is.')
    source: Source = field(Source.core, 'The file it was read from.')
    backend: str = field(TEXT, 'The backend that was tested, e.g. Vulkan0.')
    device: str = field(TEXT, 'The device, as the source says it; unknown is a word.')
    reference: str = field(TEXT, 'The backend that is right by definition; unknown is a word.')
    accumulation: Literal['default', 'higher', 'unknown'] = field({'type': 'literal', 'expected': ['default', 'higher', 'unknown']}, 'Precision that sums are kept in: two precisions are two arms and two receipts.')
    against: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The receipt of the other arm.', default=None)
    operators: dict[str, OperatorCounts] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': OperatorCounts.core, 'min_length': 1}, 'Operator -> what became of its cases.')
    cases: Lines = field(Lines.core, 'Every case: operator, parameters with shapes and types, and what became of it.')


class Scale(Record):
    """The ends of a scale of scores."""

    lowest: float = field({'type': 'float', 'allow_inf_nan': False}, 'The lowest score.')
    highest: float = field({'type': 'float', 'allow_inf_nan': False}, 'The highest score.')
    better: Literal['higher', 'lower'] = field(BETTER, 'Which direction is a gain.')


class HumanScore(_Receipt):
    """Scores that people gave (contract 10.7)."""

    kind: Literal['human-score'] = field({'type': 'literal', 'expected': ['human-score']}, 'What this receipt is.')
    scorer: str = field(TEXT, 'Who scored; a role or a pseudonym is enough.')
    blinding: Literal['blind', 'open'] = field({'type': 'literal', 'expected': ['blind', 'open']}, 'Whether the scorer knew which arm an answer is from.')
    key_sha256: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of the key that says which answer is from which arm, made before scoring.', default=None)
    items: int = field(AT_LEAST_ONE, 'Number of scored items.')
    scale: Scale = field(Scale.core, 'What a score may be.')
    scores: FileHash = field(FileHash.core, 'The scores, one JSON object a line: item and score.')


class Clock(Record):
    """How far the producer's clock is from that of the host."""

    offset_s: float | Literal['unknown'] = field({'type': 'union', 'choices': [{'type': 'float', 'allow_inf_nan': False}, UNKNOWN_WORD]}, "Producer's clock minus the host's, in seconds; unknown is a word.")
    how: str = field(TEXT, 'How that is known, e.g. same host, or ntp at the start and the end.')


class Telemetry(_Receipt):
    """Readings of another monitor or of a profiler (contract 6.10)."""

    kind: Literal['telemetry'] = field({'type': 'literal', 'expected': ['telemetry']}, 'What this receipt is.')
    producer: str = field(TEXT, 'What took the readings, with its version.')
    run: str = field(PIN, 'The run that it is about.')
    clock: Clock = field(Clock.core, 'Its clock.')
    from_: str = field(TIME, 'First reading, by its own clock.', alias='from')
    to: str = field(TIME, 'Last reading, by its own clock.')
    period_s: float = field({'type': 'float', 'allow_inf_nan': False, 'gt': 0}, 'Seconds between two readings.')
    instruments: bool = field({'type': 'bool'}, 'It slows down what it watches, as a profiler does: its legs are no benchmark.', default=False)
    columns: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': TEXT, 'min_length': 1}, 'Column -> unit.')
    file: FileHash = field(FileHash.core, 'The readings.')
    limits: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What it cannot see.', default_factory=list)


Receipt = Quality | OperatorTest | HumanScore | Telemetry

RECEIPT = {'type': 'tagged-union', 'choices': {'quality': Quality.core, 'operator-test': OperatorTest.core, 'human-score': HumanScore.core, 'telemetry': Telemetry.core}, 'discriminator': 'kind', 'strict': False, 'from_attributes': True}

DOCUMENT = RECEIPT
