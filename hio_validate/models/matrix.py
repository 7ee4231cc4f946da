"""matrix/v1: the inheritance matrix: parent stack -> candidate stack, row by row (contract section 3).

Written by hio_validate/compile.py from definitions/matrix.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import ADDRESS, NAME, REFERENCE, SCALAR, SERVICE, TEXT
from hio_validate.models.record import Record, field
from hio_validate.models.rows import row_kind

DISPOSITION = {'type': 'literal', 'expected': ['preserved', 'changed', 'retest', 'excluded', 'undecided']}


class Preserved(Record):
    """Settings whose values are equal; the values are computed, nobody types them."""

    preserved: list[str] = field({'type': 'list', 'items_schema': ADDRESS, 'min_length': 1}, 'Settings that are equal on both sides.')
    through: Literal['implicit', 'default'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['implicit', 'default']}}, 'How they are in force where no flag sets them on one side.', default=None)
    because: str | None = field({'type': 'nullable', 'schema': TEXT}, 'What should be remembered about them.', default=None)


class FactorRow(Record):
    """One setting and its disposition."""

    factor: str = field(ADDRESS, 'The setting.')
    from_: str | bool | int | float = field(SCALAR, 'Value at the parent; absent and unknown are words.', alias='from')
    to: str | bool | int | float = field(SCALAR, 'Value at the candidate; absent and unknown are words.')
    disposition: Literal['preserved', 'changed', 'retest', 'excluded', 'undecided'] = field(DISPOSITION, 'preserved, changed, retest, excluded; undecided is an error.')
    evidence: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Ledger entry that isolates this setting.', default=None)
    requires: str | None = field({'type': 'nullable', 'schema': ADDRESS}, 'A setting that was itself excluded (conditional, not run).', default=None)
    depends: list[str] = field({'type': 'list', 'items_schema': ADDRESS}, 'Settings whose change calls for a retest of this row.', default_factory=list)
    because: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why; for a retest, what is missing.', default=None)


class Bundle(Record):
    """Settings that only make sense together; its members stay unresolved in isolation (contract 3.6)."""

    bundle: str = field(NAME, 'Name of the bundle.')
    disposition: Literal['preserved', 'changed', 'retest', 'excluded', 'undecided'] = field(DISPOSITION, 'changed, retest or excluded, for the whole.')
    members: list[str] = field({'type': 'list', 'items_schema': ADDRESS, 'min_length': 1}, 'The settings.')
    question: str | None = field({'type': 'nullable', 'schema': TEXT}, 'The declared question that the whole answers.', default=None)
    evidence: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Ledger entry about the whole.', default=None)
    because: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why.', default=None)


Row = Preserved | FactorRow | Bundle

ROW = {'type': 'tagged-union', 'choices': {'preserved row': Preserved.core, 'factor row': FactorRow.core, 'bundle row': Bundle.core}, 'discriminator': row_kind}


class Captures(Record):
    """What the two sides were observed to be."""

    parent: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Capture of the parent.', default=None)
    candidate: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Capture of the candidate.', default=None)


class Defaults(Record):
    """One line for all defaults of a build whose --help nobody kept."""

    parent: Literal['known', 'unknown'] = field({'type': 'literal', 'expected': ['known', 'unknown']}, "Whether the parent's defaults are known.")
    candidate: Literal['known', 'unknown'] = field({'type': 'literal', 'expected': ['known', 'unknown']}, "Whether the candidate's defaults are known.")
    disposition: Literal['preserved', 'changed', 'retest', 'excluded', 'undecided'] = field(DISPOSITION, 'retest, normally.')
    because: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Why they are unknown.', default=None)


class Workload(Record):
    """What the replacement is for; evidence measured on another workload is out of scope (contract 3.7)."""

    fixture: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Name of the fixture.', default=None)
    regime: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Cache regime and load, in the words of the runs.', default=None)


class Matrix(Record):
    """One replacement of a serving path, setting by setting."""

    hio: Literal['matrix/v1'] = field({'type': 'literal', 'expected': ['matrix/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service whose serving path is replaced.')
    parent: str = field(REFERENCE, 'Stack that serves now.')
    candidate: str = field(REFERENCE, 'Stack that shall replace it.')
    captures: Captures | None = field({'type': 'nullable', 'schema': Captures.core}, 'Observations of both sides.', default=None)
    workload: Workload | None = field({'type': 'nullable', 'schema': Workload.core}, 'The workload the candidate is for.', default=None)
    as_of: list[str] = field({'type': 'list', 'items_schema': REFERENCE}, 'Ledger tips whose decisions this covers; what was decided later needs no row here.', default_factory=list)
    pairs: dict[str, list[str]] = field({'type': 'dict', 'keys_schema': ADDRESS, 'values_schema': {'type': 'list', 'items_schema': TEXT}}, 'Two vocabularies: name -> [process setting, ..., process setting].', default_factory=dict)
    rows: list[Preserved | FactorRow | Bundle] = field({'type': 'list', 'items_schema': ROW}, 'What is preserved, changed, to be retested or excluded.')
    defaults: Defaults | None = field({'type': 'nullable', 'schema': Defaults.core}, "Only where a side's defaults are unknown.", default=None)


DOCUMENT = Matrix.core
