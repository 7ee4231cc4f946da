"""entry/v1: one decision in the append-only ledger of a service (contract 8.1). Frozen from its first commit.

Written by hio_validate/compile.py from definitions/entry.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import ADDRESS, NAME, PIN, REFERENCE, SERVICE, TEXT, TIME, JudgedBy
from hio_validate.models.record import Record, field


class _Entry(Record):
    hio: Literal['entry/v1'] = field({'type': 'literal', 'expected': ['entry/v1']}, 'Kind and version of this document.')
    id: str = field(NAME, "Equals the file's name without .yaml; what others cite.")
    service: str = field(SERVICE, 'The service whose ledger this belongs to.')
    after: list[str] = field({'type': 'list', 'items_schema': PIN}, 'The tips this follows, pinned; empty only for the first entry.')
    by: str = field(TEXT, 'Who decided.')
    at: str = field(TIME, 'When.')
    imported: bool = field({'type': 'bool'}, 'History from before hio: never rises above DRAFT.', default=False)
    because: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why, in a sentence that helps in a year.', default=None)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


class Result(Record):
    """A number derived from raw rows; hio computes it again (contract 7.3)."""

    metric: str = field(NAME, 'Column of the run.')
    from_arm: str = field(NAME, 'Arm that is the reference.', alias='from')
    to_arm: str = field(NAME, 'Arm that is compared with it.', alias='to')
    statistic: Literal['mean', 'median'] = field({'type': 'literal', 'expected': ['mean', 'median']}, "Statistic over each arm's rows.")
    change_percent: float | int = field({'type': 'union', 'choices': [{'type': 'float', 'allow_inf_nan': False}, {'type': 'int'}]}, '100 * (to / from - 1), as published.')


class StackPins(Record):
    """What a baseline relies on."""

    stack: str = field(PIN, 'The stack.')
    capture: str | None = field({'type': 'nullable', 'schema': PIN}, 'What ran.', default=None)


class RunPins(Record):
    """What a measured decision relies on."""

    run: str | None = field({'type': 'nullable', 'schema': PIN}, 'The run that measured it.', default=None)
    stack: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack that results.', default=None)


class AnyPins(Record):
    """Whatever a decision relies on."""

    run: str | None = field({'type': 'nullable', 'schema': PIN}, 'A run.', default=None)
    stack: str | None = field({'type': 'nullable', 'schema': PIN}, 'A stack.', default=None)
    capture: str | None = field({'type': 'nullable', 'schema': PIN}, 'A capture.', default=None)
    matrix: str | None = field({'type': 'nullable', 'schema': PIN}, 'A matrix.', default=None)


class Baseline(_Entry):
    """The stack that serves and that others are compared with."""

    kind: Literal['baseline'] = field({'type': 'literal', 'expected': ['baseline']}, 'What this entry is.')
    pins: StackPins = field(StackPins.core, 'What it relies on.')


class Increment(_Entry):
    """An accepted change of one setting."""

    kind: Literal['increment'] = field({'type': 'literal', 'expected': ['increment']}, 'What this entry is.')
    factor: str = field(ADDRESS, 'The setting.')
    pins: RunPins | None = field({'type': 'nullable', 'schema': RunPins.core}, 'What it relies on; without a run nothing is isolated.', default=None)
    result: Result | None = field({'type': 'nullable', 'schema': Result.core}, 'The published number.', default=None)


class NegativeControl(_Entry):
    """A change that was measured and lost: excluded."""

    kind: Literal['negative-control'] = field({'type': 'literal', 'expected': ['negative-control']}, 'What this entry is.')
    factor: str = field(ADDRESS, 'The setting.')
    pins: RunPins | None = field({'type': 'nullable', 'schema': RunPins.core}, 'What it relies on; without a run nothing was measured.', default=None)
    result: Result | None = field({'type': 'nullable', 'schema': Result.core}, 'The published number.', default=None)
    blocks: list[str] = field({'type': 'list', 'items_schema': ADDRESS}, 'Settings that make no sense without this one.', default_factory=list)


class Correction(_Entry):
    """Puts an earlier entry or document right; the earlier one stays."""

    kind: Literal['correction'] = field({'type': 'literal', 'expected': ['correction']}, 'What this entry is.')
    corrects: str = field(REFERENCE, 'The entry it puts right.')
    pins: AnyPins | None = field({'type': 'nullable', 'schema': AnyPins.core}, 'What it relies on.', default=None)


class Decision(_Entry):
    """One of the four decisions (contract 8.2)."""

    kind: Literal['decision'] = field({'type': 'literal', 'expected': ['decision']}, 'What this entry is.')
    decision: Literal['stop-trial', 'keep-research', 'experimental-default', 'deploy'] = field({'type': 'literal', 'expected': ['stop-trial', 'keep-research', 'experimental-default', 'deploy']}, 'Which of the four.')
    factor: str | None = field({'type': 'nullable', 'schema': ADDRESS}, 'The setting it is about, if one.', default=None)
    pins: AnyPins | None = field({'type': 'nullable', 'schema': AnyPins.core}, 'What it relies on.', default=None)
    result: Result | None = field({'type': 'nullable', 'schema': Result.core}, 'The published number.', default=None)
    next: str | None = field({'type': 'nullable', 'schema': TEXT}, 'The next discriminating test.', default=None)


class Merge(_Entry):
    """Closes two tips after two branches were merged."""

    kind: Literal['merge'] = field({'type': 'literal', 'expected': ['merge']}, 'What this entry is.')


Entry = Baseline | Increment | NegativeControl | Correction | Decision | Merge

ENTRY = {'type': 'tagged-union', 'choices': {'baseline': Baseline.core, 'increment': Increment.core, 'negative-control': NegativeControl.core, 'correction': Correction.core, 'decision': Decision.core, 'merge': Merge.core}, 'discriminator': 'kind', 'strict': False, 'from_attributes': True}

DOCUMENT = ENTRY
