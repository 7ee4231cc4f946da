"""entry/v1: one decision in the append-only ledger of a service (contract 8.1). Frozen from its first commit.

Written by hio_validate/compile.py from definitions/entry.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    ADDRESS,
    AT_LEAST_ONE,
    COMMIT_ID,
    COUNT,
    DIGEST,
    NAME,
    PIN,
    REFERENCE,
    SCALAR,
    SERVICE,
    TEXT,
    TIME,
    JudgedBy,
)
from hio_validate.models.estimate import NOT_NEGATIVE
from hio_validate.models.plan import BETTER
from hio_validate.models.record import Record, field

HAZARD = {'type': 'literal', 'expected': ['contention', 'incorrect-ownership', 'malformed-state', 'non-finite-values', 'resource-limit', 'crash', 'other']}

NOUN = {'type': 'literal', 'expected': ['mechanism', 'benefit', 'cost', 'task-correctness', 'resource-bounds', 'lifecycle-bounds', 'trade-offs', 'owner-approval', 'serving-integration', 'rollback', 'cancellation', 'crash', 'respawn', 'admission', 'capacity']}


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
    run: str | None = field({'type': 'nullable', 'schema': PIN}, 'The run that its dimensions are computed from.', default=None)
    observation: str | None = field({'type': 'nullable', 'schema': PIN}, 'The observation that its dimensions are taken from.', default=None)


class Dimension(Record):
    """One number of a baseline, as the raw rows give it (contract 10.2)."""

    metric: str = field(TEXT, 'Column of the run, or what the source calls it.')
    definition: str = field(NAME, 'How it was counted; unknown where the record does not say.')
    statistic: str = field(NAME, 'What it is of its observations, e.g. median.')
    better: Literal['higher', 'lower'] = field(BETTER, 'Which direction is a gain.')
    value: float | int = field({'type': 'union', 'choices': [{'type': 'float', 'allow_inf_nan': False}, {'type': 'int'}]}, 'The number, in its unit.')
    unit: str = field(TEXT, 'Unit, e.g. token/s.')
    n: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Observations behind it; absent = unknown.', default=None)
    tolerance_percent: float = field(NOT_NEGATIVE, 'Change of the value that is still within it.')
    floor: float = field(NOT_NEGATIVE, 'Difference in its unit that is within it whatever the percentage.', default=0.0)


class Conditions(Record):
    """What a baseline was measured with; another workload, source, delivery or method is another baseline."""

    arm: str | None = field({'type': 'nullable', 'schema': NAME}, 'Arm of the run.', default=None)
    record: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Record of the observation.', default=None)
    shapes: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': SCALAR, 'min_length': 1}, 'What a request was, e.g. prompt_tokens.')
    concurrency: str | bool | int | float = field(SCALAR, 'Requests at once, or the rate that they came with.')
    cache: str = field(TEXT, 'State of the prompt cache, e.g. cold.')
    graph_mode: str = field(TEXT, 'Graphs of the engine, e.g. off or full-decode-only.')
    devices: int = field(COUNT, 'Accelerators that were used; 0 = none.')
    source: str = field(TEXT, 'Exact source revision or image digest.')
    delivery: str = field(TEXT, 'How the source came to run, e.g. native or image.')
    method: str = field(TEXT, 'How it was measured.')
    trials: int = field(AT_LEAST_ONE, 'Independent trials behind it.')


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
    plan: str | None = field({'type': 'nullable', 'schema': PIN}, 'A plan.', default=None)


class DeploymentPins(Record):
    """What a deployment relies on; only imported history may leave something out."""

    matrix: str | None = field({'type': 'nullable', 'schema': PIN}, 'The matrix that was complete.', default=None)
    parent: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack that served before.', default=None)
    candidate: str = field(PIN, 'The stack that serves from now on.')
    capture: str | None = field({'type': 'nullable', 'schema': PIN}, 'The live process that proves it.', default=None)
    rollback: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack to go back to.', default=None)
    approval: str | None = field({'type': 'nullable', 'schema': PIN}, 'The approval of kind deploy it stands on.', default=None)
    qualification: str | None = field({'type': 'nullable', 'schema': PIN}, 'The receipt that this stack and build serve (contract 8.2).', default=None)
    rollback_plan: str | None = field({'type': 'nullable', 'schema': PIN}, 'The way back, bound to what was found (contract 12.2).', default=None)


class RollbackPins(Record):
    """What a rollback relies on."""

    stack: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack that serves again; absent: nothing does, as before the deployment.', default=None)
    capture: str | None = field({'type': 'nullable', 'schema': PIN}, 'The live process that proves it.', default=None)
    rollback_plan: str | None = field({'type': 'nullable', 'schema': PIN}, 'The plan that was carried out.', default=None)


class Baseline(_Entry):
    """The stack that serves and that others are compared with."""

    kind: Literal['baseline'] = field({'type': 'literal', 'expected': ['baseline']}, 'What this entry is.')
    pins: StackPins = field(StackPins.core, 'What it relies on.')
    conditions: Conditions | None = field({'type': 'nullable', 'schema': Conditions.core}, 'What its dimensions were measured with.', default=None)
    dimensions: list[Dimension] = field({'type': 'list', 'items_schema': Dimension.core}, 'What later runs are held against.', default_factory=list)


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


class FailedRun(_Entry):
    """A trial that was stopped or broke; it stays on record."""

    kind: Literal['failed-run'] = field({'type': 'literal', 'expected': ['failed-run']}, 'What this entry is.')
    hazard: Literal['contention', 'incorrect-ownership', 'malformed-state', 'non-finite-values', 'resource-limit', 'crash', 'other'] = field(HAZARD, 'What ended it.')
    factor: str | None = field({'type': 'nullable', 'schema': ADDRESS}, 'The setting that was tried, if one.', default=None)
    pins: RunPins | None = field({'type': 'nullable', 'schema': RunPins.core}, 'The run, where one was kept.', default=None)


class Correction(_Entry):
    """Puts an earlier entry or document right; the earlier one stays."""

    kind: Literal['correction'] = field({'type': 'literal', 'expected': ['correction']}, 'What this entry is.')
    corrects: str = field(REFERENCE, 'The entry it puts right.')
    pins: AnyPins | None = field({'type': 'nullable', 'schema': AnyPins.core}, 'What it relies on.', default=None)


class Decision(_Entry):
    """One of the four decisions, with its evidence noun by noun (contract 8.2)."""

    kind: Literal['decision'] = field({'type': 'literal', 'expected': ['decision']}, 'What this entry is.')
    decision: Literal['stop-trial', 'keep-research', 'experimental-default', 'deploy'] = field({'type': 'literal', 'expected': ['stop-trial', 'keep-research', 'experimental-default', 'deploy']}, 'Which of the four.')
    factor: str | None = field({'type': 'nullable', 'schema': ADDRESS}, 'The setting it is about, if one.', default=None)
    hazard: Literal['contention', 'incorrect-ownership', 'malformed-state', 'non-finite-values', 'resource-limit', 'crash', 'other'] | None = field({'type': 'nullable', 'schema': HAZARD}, 'What made a stopped trial unsafe.', default=None)
    evidence: dict[Literal['mechanism', 'benefit', 'cost', 'task-correctness', 'resource-bounds', 'lifecycle-bounds', 'trade-offs', 'owner-approval', 'serving-integration', 'rollback', 'cancellation', 'crash', 'respawn', 'admission', 'capacity'], str] = field({'type': 'dict', 'keys_schema': NOUN, 'values_schema': TEXT}, 'What the decision stands on: noun -> receipt, as a sentence or the name of a document.', default_factory=dict)
    pins: AnyPins | None = field({'type': 'nullable', 'schema': AnyPins.core}, 'What it relies on.', default=None)
    result: Result | None = field({'type': 'nullable', 'schema': Result.core}, 'The published number.', default=None)
    next: str | None = field({'type': 'nullable', 'schema': TEXT}, 'The next discriminating test.', default=None)


class Approval(_Entry):
    """An owner's word, typed and bounded; one kind never stands for another (contract 5.1)."""

    kind: Literal['approval'] = field({'type': 'literal', 'expected': ['approval']}, 'What this entry is.')
    approves: Literal['build', 'load-test', 'stop-production', 'deploy', 'publish', 'upstream'] = field({'type': 'literal', 'expected': ['build', 'load-test', 'stop-production', 'deploy', 'publish', 'upstream']}, 'What may be done, and nothing else.')
    services: list[str] = field({'type': 'list', 'items_schema': SERVICE, 'min_length': 1}, 'The services that are affected.')
    owners: list[str] = field({'type': 'list', 'items_schema': TEXT, 'min_length': 1}, 'Who owns them and gave the word.')
    scope: str = field(TEXT, 'What exactly: which work, on which hosts, when.')
    until: str = field(TIME, 'When it expires.')
    factors: list[str] = field({'type': 'list', 'items_schema': ADDRESS}, 'Endpoints whose wider exposure it covers.', default_factory=list)
    pins: AnyPins | None = field({'type': 'nullable', 'schema': AnyPins.core}, 'The documents it is about; it covers no others.', default=None)


class Deployment(_Entry):
    """A stack that was switched to and proven live (contract 8.3)."""

    kind: Literal['deployment'] = field({'type': 'literal', 'expected': ['deployment']}, 'What this entry is.')
    site: str = field(NAME, 'The site.')
    pins: DeploymentPins = field(DeploymentPins.core, 'What it relies on.')
    checks: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': TEXT}, 'Every check of the live process -> passed, or what was found.', default_factory=dict)
    overridden: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Imported history only: what the owner went past.', default_factory=list)


class Rollback(_Entry):
    """A deployment that was taken back, or that failed and was taken back before it stood."""

    kind: Literal['rollback'] = field({'type': 'literal', 'expected': ['rollback']}, 'What this entry is.')
    undoes: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The deployment that was taken back; absent where it never stood.', default=None)
    attempted: str | None = field({'type': 'nullable', 'schema': PIN}, 'The stack that was switched to and could not be proven.', default=None)
    failed: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': TEXT}, 'What failed of the attempt: step or check -> what was found.', default_factory=dict)
    checks: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': TEXT}, 'Every check of what serves again -> passed, or what was found.', default_factory=dict)
    pins: RollbackPins = field(RollbackPins.core, 'What it relies on.')


class Opportunity(_Entry):
    """What lost one benchmark and may serve elsewhere (contract 8.4)."""

    kind: Literal['opportunity'] = field({'type': 'literal', 'expected': ['opportunity']}, 'What this entry is.')
    factor: str | None = field({'type': 'nullable', 'schema': ADDRESS}, 'The setting it is about, if one.', default=None)
    result_kind: Literal['speed', 'numerical', 'capacity', 'transfer-bytes'] = field({'type': 'literal', 'expected': ['speed', 'numerical', 'capacity', 'transfer-bytes']}, 'Which kind of result; kinds are judged apart.')
    benefit: str = field(TEXT, 'What it may bring.')
    regression: str = field(TEXT, 'What it costs or cost.')
    uncertainty: str = field(TEXT, 'What is not known.')
    workloads: list[str] = field({'type': 'list', 'items_schema': TEXT, 'min_length': 1}, 'Workloads and regimes it applies to.')
    next: str = field(TEXT, 'The next useful test.')
    pins: RunPins | None = field({'type': 'nullable', 'schema': RunPins.core}, 'The run that showed it, where there is one.', default=None)


class Anchor(_Entry):
    """A commit that every later history must contain; `after` pins the ledger's tips at that commit."""

    kind: Literal['anchor'] = field({'type': 'literal', 'expected': ['anchor']}, 'What this entry is.')
    commit: str = field(COMMIT_ID, 'Full id of the commit.')


class Merge(_Entry):
    """Closes two tips after two branches were merged."""

    kind: Literal['merge'] = field({'type': 'literal', 'expected': ['merge']}, 'What this entry is.')
    keeps: list[str] = field({'type': 'list', 'items_schema': REFERENCE}, 'Entries that stand where the tips decided the same thing differently.', default_factory=list)


class Redacted(Record):
    """Bytes that had to go."""

    file: str = field(TEXT, 'Path in the repository.')
    digest: str = field(DIGEST, 'sha256: digest of the bytes that no longer exist.')


class Redaction(_Entry):
    """Names bytes that had to be taken out, such as a leaked secret, so that the audit knows why."""

    kind: Literal['redaction'] = field({'type': 'literal', 'expected': ['redaction']}, 'What this entry is.')
    redacts: list[Redacted] = field({'type': 'list', 'items_schema': Redacted.core, 'min_length': 1}, 'What was taken out.')


Entry = Baseline | Increment | NegativeControl | FailedRun | Correction | Decision | Approval | Deployment | Rollback | Opportunity | Anchor | Merge | Redaction

ENTRY = {'type': 'tagged-union', 'choices': {'baseline': Baseline.core, 'increment': Increment.core, 'negative-control': NegativeControl.core, 'failed-run': FailedRun.core, 'correction': Correction.core, 'decision': Decision.core, 'approval': Approval.core, 'deployment': Deployment.core, 'rollback': Rollback.core, 'opportunity': Opportunity.core, 'anchor': Anchor.core, 'merge': Merge.core, 'redaction': Redaction.core}, 'discriminator': 'kind', 'strict': False, 'from_attributes': True}

DOCUMENT = ENTRY
