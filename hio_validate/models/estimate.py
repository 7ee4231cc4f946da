"""estimate/v1: what bounds a workload, before anybody measures: terms, bound, candidates, one next experiment (contract 9).

Written by hio_validate/compile.py from definitions/estimate.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import (
    ADDRESS,
    AT_LEAST_ONE,
    COUNT,
    NAME,
    PIN,
    REFERENCE,
    SERVICE,
    TEXT,
    TIME,
    JudgedBy,
)
from hio_validate.models.ceilings import CONFIDENCE, EFFICIENCY, UNIT
from hio_validate.models.plan import BETTER, METRIC
from hio_validate.models.record import Record, field

NOT_NEGATIVE = {'type': 'float', 'allow_inf_nan': False, 'ge': 0}

TERM_NAME = {'type': 'literal', 'expected': ['weights', 'kv-read', 'kv-write', 'state', 'compute', 'output', 'collectives', 'launches', 'host-gaps', 'loading', 'queueing', 'draft', 'dispatch']}

RESOURCE = {'type': 'literal', 'expected': ['memory', 'compute', 'interconnect', 'launch', 'host', 'storage', 'network', 'queue']}

PATH = {'type': 'literal', 'expected': ['setup', 'load', 'request', 'prefill-token', 'decode-token']}

ROUTE = {'type': 'literal', 'expected': ['measure-baseline', 'attribute-cpu-and-device', 'decode-step-budget', 'device-timeline', 'kernel-counters', 'tune-sweep', 'quantise-and-evaluate', 'size-capacity']}


class Amount(Record):
    """A number with its unit, and the interval it lies in."""

    value: float = field(NOT_NEGATIVE, 'The best guess.')
    low: float = field(NOT_NEGATIVE, 'The least it may be.')
    high: float = field(NOT_NEGATIVE, 'The most it may be.')
    unit: Literal['B', 'kB', 'MB', 'GB', 'TB', 'KiB', 'MiB', 'GiB', 'TiB', 'FLOP', 'MFLOP', 'GFLOP', 'TFLOP', 'PFLOP', 's', 'ms', 'us', 'ns', '1', 'B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'KiB/s', 'MiB/s', 'GiB/s', 'TiB/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s', 'FLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s'] = field(UNIT, 'Its unit.')


class UnitCost(Record):
    """What one unit of work costs: a rate that divides the work, or a time that multiplies it."""

    amount: Amount = field(Amount.core, 'The rate or the time, efficiency included.')
    ceiling: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The ceilings document it is from.', default=None)
    rate: str | None = field({'type': 'nullable', 'schema': NAME}, 'The rate in that document.', default=None)
    efficiency: float | None = field({'type': 'nullable', 'schema': EFFICIENCY}, 'The assumed part of a published ceiling; absent: achieved locally, all of it.', default=None)
    assumed: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Where no ceiling says it: who assumes it and why.', default=None)


class Term(Record):
    """One cost of the ledger."""

    name: Literal['weights', 'kv-read', 'kv-write', 'state', 'compute', 'output', 'collectives', 'launches', 'host-gaps', 'loading', 'queueing', 'draft', 'dispatch'] = field(TERM_NAME, 'Which cost.')
    about: str = field(TEXT, 'What is done, in words.')
    resource: Literal['memory', 'compute', 'interconnect', 'launch', 'host', 'storage', 'network', 'queue'] = field(RESOURCE, 'What it uses.')
    work: Amount = field(Amount.core, 'How much of it, for one unit of the path.')
    cost: UnitCost = field(UnitCost.core, 'What one unit of it costs.')
    fixed: Amount | None = field({'type': 'nullable', 'schema': Amount.core}, 'Time that is paid once, whatever the work: a latency.', default=None)
    time: Amount = field(Amount.core, 'Work by its cost, and what is fixed.')
    source: str = field(TEXT, 'Where the work is from.')
    confidence: Literal['high', 'medium', 'low'] = field(CONFIDENCE, 'How far it is to be trusted.')
    refuted_by: Literal['measure-baseline', 'attribute-cpu-and-device', 'decode-step-budget', 'device-timeline', 'kernel-counters', 'tune-sweep', 'quantise-and-evaluate', 'size-capacity'] = field(ROUTE, 'What can show that it is wrong.')


class BoundTime(Record):
    """The lower bound: groups one after the other, within a group all at the same time."""

    groups: list[list[Literal['weights', 'kv-read', 'kv-write', 'state', 'compute', 'output', 'collectives', 'launches', 'host-gaps', 'loading', 'queueing', 'draft', 'dispatch']]] = field({'type': 'list', 'items_schema': {'type': 'list', 'items_schema': TERM_NAME}, 'min_length': 1}, 'Terms that overlap stand in one group (the longest counts); groups are added.')
    time: Amount = field(Amount.core, 'The sum over the groups of the longest term of each.')
    metric: Amount | None = field({'type': 'nullable', 'schema': Amount.core}, "The same as the target's metric; a rate is 1 by it.", default=None)


class EstimateTarget(Record):
    """A metric and the direction that is a gain."""

    metric: Literal['decode_tps', 'prefill_tps', 'ttft_ms', 'itl_ms', 'tpot_ms', 'wall_s', 'bench_prefill_tps', 'bench_decode_tps'] = field(METRIC, 'The metric.')
    better: Literal['higher', 'lower'] = field(BETTER, 'Which direction is a gain.')
    goal: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False}}, "What would be enough, in the metric's unit.", default=None)


class Sharding(Record):
    """Over how many devices an engine divides each part of a model."""

    stages: int = field(AT_LEAST_ONE, 'Stages of a pipeline; each holds a part of the layers.', default=1)
    weights: int = field(AT_LEAST_ONE, "Devices that divide a layer's weights, where nothing else is said.", default=1)
    attention: int = field(AT_LEAST_ONE, "Devices that divide a layer's attention: its weights, the heads of K and V, its state.", default=1)
    experts: int = field(AT_LEAST_ONE, "Devices that divide a layer's experts.", default=1)
    positions: int = field(AT_LEAST_ONE, 'Devices that divide K and V of one sequence by position, beside its heads.', default=1)
    groups: int = field(AT_LEAST_ONE, 'Groups of devices among which the requests of one pass are divided; each attends to its own.', default=1)
    replicas: int = field(AT_LEAST_ONE, 'Whole models beside each other, each with its own requests.', default=1)


class Workload(Record):
    """What is asked of what, complete enough that work can be counted. What is absent is not known."""

    stack: str = field(PIN, 'The stack.')
    fixture: str | None = field({'type': 'nullable', 'schema': PIN}, 'The fixture.', default=None)
    shape: str | None = field({'type': 'nullable', 'schema': PIN}, "The model's shape.", default=None)
    prompt_tokens: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Tokens of the prompt that are evaluated.', default=None)
    generated_tokens: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Tokens that are generated.', default=None)
    concurrency: int = field(AT_LEAST_ONE, 'Requests at the same time.', default=1)
    slots: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Requests that are decoded together at most; absent: not known.', default=None)
    cache: Literal['cold', 'warm'] = field({'type': 'literal', 'expected': ['cold', 'warm']}, 'Whether a cache may answer a part of the prompt.', default='cold')
    threads: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Threads of passes of one token, on a processor.', default=None)
    batch_threads: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Threads of passes of several tokens: prompts, requests together, drafted tokens.', default=None)
    devices: int = field(AT_LEAST_ONE, 'Devices that each hold a part of the weights.', default=1)
    sharding: Sharding | None = field({'type': 'nullable', 'schema': Sharding.core}, "How the model is divided, where the engine's settings say it; absent: evenly over devices.", default=None)
    held_in: Literal['host', 'device', 'host-and-devices'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['host', 'device', 'host-and-devices']}}, 'The memory that has to hold weights and K/V; absent: not known.', default=None)
    kv_cache: Literal['at-start', 'paged'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['at-start', 'paged']}}, 'at-start: the engine takes room for all its slots when it starts; paged: requests wait where there is no room for their K/V; absent: not known.', default=None)
    microbatch: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Tokens of one pass of prefill, at most.', default=None)
    key_type: str | None = field({'type': 'nullable', 'schema': NAME}, 'Number format of K.', default=None)
    value_type: str | None = field({'type': 'nullable', 'schema': NAME}, 'Number format of V.', default=None)
    state_type: str | None = field({'type': 'nullable', 'schema': NAME}, 'Number format of states of fixed size; absent: not known.', default=None)
    loaded_as: str | None = field({'type': 'nullable', 'schema': NAME}, 'What the engine quantises wider weights to while it loads them; absent: it does not.', default=None)
    drafting: str | None = field({'type': 'nullable', 'schema': TEXT}, 'How tokens are drafted; absent: they are not.', default=None)
    target_host: str | None = field({'type': 'nullable', 'schema': TEXT}, 'The host the ceilings belong to, as captures name it.', default=None)


class HeldPart(Record):
    """What is held in memory as long as the workload runs."""

    name: Literal['weights', 'kv', 'state', 'stated'] = field({'type': 'literal', 'expected': ['weights', 'kv', 'state', 'stated']}, 'What it is.')
    about: str = field(TEXT, 'The same in words: of how many requests and tokens.')
    amount: Amount = field(Amount.core, 'Its bytes.')


class HeldMemory(Record):
    """What has to be held at once, and what there is to hold it."""

    per: Literal['host', 'device', 'host-and-devices'] = field({'type': 'literal', 'expected': ['host', 'device', 'host-and-devices']}, "Whose memory: the host's, one device's, or that of the host and its devices together.")
    parts: list[HeldPart] = field({'type': 'list', 'items_schema': HeldPart.core, 'min_length': 1}, 'What is held, as far as it is known.')
    needed: Amount = field(Amount.core, 'The sum of the parts; what an engine needs beside them is not in it.')
    capacity: Amount | None = field({'type': 'nullable', 'schema': Amount.core}, 'What there is; absent: not known.', default=None)
    ceiling: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The ceilings document that tells the capacity.', default=None)
    outcome: Literal['cannot-fit', 'open', 'within'] = field({'type': 'literal', 'expected': ['cannot-fit', 'open', 'within']}, 'cannot-fit: the least that is needed is more than there is; within: the most is not; open: neither is known.')


class MeasuredBaseline(Record):
    """What was measured of exactly this workload."""

    run: str = field(PIN, 'The run.')
    arm: str = field(NAME, 'Its arm.')
    value: float = field({'type': 'float', 'allow_inf_nan': False}, "Median over the arm's measured rows.")
    low: float = field({'type': 'float', 'allow_inf_nan': False}, 'Smallest leg.')
    high: float = field({'type': 'float', 'allow_inf_nan': False}, 'Largest leg.')
    unit: str = field(TEXT, 'Unit of the metric.')
    efficiency_percent: Amount | None = field({'type': 'nullable', 'schema': Amount.core}, 'Bound by measured, in percent; unit 1.', default=None)


class Assumption(Record):
    """An input whose interval is wide enough to matter."""

    name: str = field(NAME, 'What is assumed.')
    amount: Amount = field(Amount.core, 'Its interval.')
    source: str = field(TEXT, 'Why this interval.')
    changes: str | None = field({'type': 'nullable', 'schema': TEXT}, 'What becomes of the first candidate within it; absent: it stays the first (contract 9.7).', default=None)


class Candidate(Record):
    """One mechanism that could pay."""

    name: str = field(NAME, 'Short name.')
    family: int = field({'type': 'int', 'ge': 1, 'le': 7}, 'The hint family, 1 to 7.')
    mechanism: str = field(TEXT, 'What it would do.')
    term: Literal['weights', 'kv-read', 'kv-write', 'state', 'compute', 'output', 'collectives', 'launches', 'host-gaps', 'loading', 'queueing', 'draft', 'dispatch'] | None = field({'type': 'nullable', 'schema': TERM_NAME}, 'The term it makes smaller; absent: what no term explains.', default=None)
    factor: str | None = field({'type': 'nullable', 'schema': ADDRESS}, 'The setting that does it, where one does.', default=None)
    change: str | None = field({'type': 'nullable', 'schema': TEXT}, 'From what to what.', default=None)
    share_percent: Amount = field(Amount.core, "The term's share of the measured time, or of the bound; unit 1.")
    share_of: Literal['profile', 'measured', 'bound'] = field({'type': 'literal', 'expected': ['profile', 'measured', 'bound']}, 'What the share is a share of.')
    gain_percent: Amount = field(Amount.core, 'The most it can gain end to end; unit 1.')
    confidence: Literal['high', 'medium', 'low'] = field(CONFIDENCE, 'How far that is to be trusted.')
    minutes: float | None = field({'type': 'nullable', 'schema': NOT_NEGATIVE}, 'What the experiment costs.', default=None)
    rollback: str = field(TEXT, 'How it is undone.')
    stop_if: str = field(TEXT, 'What refutes it.')
    needs: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What has to be there before, e.g. a quality gate.', default_factory=list)
    route: Literal['measure-baseline', 'attribute-cpu-and-device', 'decode-step-budget', 'device-timeline', 'kernel-counters', 'tune-sweep', 'quantise-and-evaluate', 'size-capacity'] = field(ROUTE, 'What produces the evidence.')
    caching: bool = field({'type': 'bool'}, 'Whether it reuses what an earlier request computed.', default=False)
    cold: str | None = field({'type': 'nullable', 'schema': PIN}, 'Caching: the run measured cold.', default=None)
    warm: str | None = field({'type': 'nullable', 'schema': PIN}, 'Caching: the run measured warm.', default=None)


class NextExperiment(Record):
    """One measurement or one controlled comparison."""

    candidate: str | None = field({'type': 'nullable', 'schema': NAME}, 'Whose; absent: a profile or a baseline comes before any candidate.', default=None)
    experiment: str = field(TEXT, 'One controlled comparison, or one measurement.')
    proves: str = field(TEXT, 'What it shows, by which metric and artifact.')
    stop_if: str = field(TEXT, 'What ends it.')
    route: Literal['measure-baseline', 'attribute-cpu-and-device', 'decode-step-budget', 'device-timeline', 'kernel-counters', 'tune-sweep', 'quantise-and-evaluate', 'size-capacity'] = field(ROUTE, 'What produces the evidence.')
    command: str | None = field({'type': 'nullable', 'schema': TEXT}, 'What to type, one command a line.', default=None)


class Cause(Record):
    """What the gap is said to come from; only a profile can say so (contract 9.7)."""

    claim: str = field(TEXT, 'The cause.')
    profile: str | None = field({'type': 'nullable', 'schema': PIN}, 'The profile that shows it.', default=None)


class Estimate(Record):
    """One estimate. It launches nothing and decides nothing."""

    hio: Literal['estimate/v1'] = field({'type': 'literal', 'expected': ['estimate/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service it is about.')
    at: str | None = field({'type': 'nullable', 'schema': TIME}, 'When it was computed.', default=None)
    status: Literal['DRAFT', 'NEEDS_CONTEXT', 'VERDICT'] = field({'type': 'literal', 'expected': ['DRAFT', 'NEEDS_CONTEXT', 'VERDICT']}, 'DRAFT, or NEEDS_CONTEXT; an estimate is never a VERDICT.')
    target: EstimateTarget = field(EstimateTarget.core, 'What is to become better.')
    path: Literal['setup', 'load', 'request', 'prefill-token', 'decode-token'] = field(PATH, 'How often it is paid.')
    workload: Workload = field(Workload.core, 'The workload.')
    ceilings: list[str] = field({'type': 'list', 'items_schema': PIN}, 'The ceilings that it was computed with, the first ones preferred.', default_factory=list)
    terms: list[Term] = field({'type': 'list', 'items_schema': Term.core}, 'The ledger.', default_factory=list)
    bound: BoundTime | None = field({'type': 'nullable', 'schema': BoundTime.core}, "The lower bound; absent: the workload's shape is missing.", default=None)
    memory: HeldMemory | None = field({'type': 'nullable', 'schema': HeldMemory.core}, 'Whether the model fits where it is to run; absent: what is held is not known.', default=None)
    baseline: MeasuredBaseline | None = field({'type': 'nullable', 'schema': MeasuredBaseline.core}, 'What was measured.', default=None)
    missing: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What is not there: baseline, profile, quality gate, shape.', default_factory=list)
    findings: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What cannot be so, and what to look at first.', default_factory=list)
    profile: str | None = field({'type': 'nullable', 'schema': PIN}, 'The profile that the shares are from.', default=None)
    causes: list[Cause] = field({'type': 'list', 'items_schema': Cause.core}, 'Causes that a profile shows.', default_factory=list)
    assumptions: list[Assumption] = field({'type': 'list', 'items_schema': Assumption.core}, 'What was assumed.', default_factory=list)
    candidates: list[Candidate] = field({'type': 'list', 'items_schema': Candidate.core}, 'What could pay, the first one first.', default_factory=list)
    next: NextExperiment | None = field({'type': 'nullable', 'schema': NextExperiment.core}, 'The one next experiment.', default=None)
    blocked_by: list[str] = field({'type': 'list', 'items_schema': PIN}, 'Open correctness failures of the stack: nothing is proposed.', default_factory=list)
    arithmetic: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, "Version of hio's arithmetic that gave terms and bound; absent: 1 where hio wrote it, none by hand.", default=None)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Estimate.core
