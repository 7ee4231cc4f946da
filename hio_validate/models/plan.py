"""plan/v1: a prespecified, bounded experiment (contract section 4). Editable until a run or an approval pins it.

Written by hio_validate/compile.py from definitions/plan.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import ADDRESS, AT_LEAST_ONE, COUNT, NAME, REFERENCE, SCALAR, SERVICE, TEXT
from hio_validate.models.record import Record, field

METRIC = {'type': 'literal', 'expected': ['decode_tps', 'prefill_tps', 'ttft_ms', 'itl_ms', 'tpot_ms', 'wall_s', 'bench_prefill_tps', 'bench_decode_tps']}

BETTER = {'type': 'literal', 'expected': ['higher', 'lower']}


class Hypothesis(Record):
    """What is expected, and why it should be so (contract 4.1)."""

    claim: str = field(TEXT, 'What is expected, with a number.')
    operation: str = field(TEXT, 'The expensive operation.')
    mechanism: str = field(TEXT, 'What the change does to that operation.')


class PlannedArm(Record):
    """One side of the comparison: a stack plus a delta, so that no second stack document is needed."""

    stack: str = field(REFERENCE, 'The stack it starts from.')
    set: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': ADDRESS, 'values_schema': SCALAR}, 'The delta: setting -> value.', default_factory=dict)


class Requests(Record):
    """Requests of a leg."""

    warm_up: int = field(COUNT, 'Requests before the measured ones; they never count.', default=1)
    measured: int = field(AT_LEAST_ONE, 'Measured requests; a leg stays one trial, however many there are.')


class Bench(Record):
    """What llama-bench is asked for, where it is the measuring method."""

    prompt_tokens: int = field(COUNT, 'Tokens of the prompt test; 0 = none.')
    generated_tokens: int = field(COUNT, 'Tokens of the generation test; 0 = none.')
    repetitions: int = field(AT_LEAST_ONE, 'Repetitions within one process.', default=1)


class QualityGate(Record):
    """Questions with known answers: how many have to be right on every arm, and how much worse a candidate may be."""

    tasks: str = field(REFERENCE, 'The task set that is asked after the measured requests of a leg.')
    floor: float = field({'type': 'float', 'ge': 0, 'le': 1, 'allow_inf_nan': False}, 'Least share of right answers on every arm.')
    margin: float = field({'type': 'float', 'ge': 0, 'le': 1, 'allow_inf_nan': False}, "How much lower a candidate's share may be: the interval's end has to be above.")
    alpha: float = field({'type': 'float', 'gt': 0, 'lt': 0.5, 'allow_inf_nan': False}, 'One-sided level of the comparison.', default=0.05)
    legs: Literal['first', 'every'] = field({'type': 'literal', 'expected': ['first', 'every']}, 'first: in the first leg of each arm; every: in each leg.', default='first')


class SameWork(Record):
    """How much the work of two arms may differ before their speeds are not compared (contract 6.3)."""

    content: Literal['equal', 'any'] = field({'type': 'literal', 'expected': ['equal', 'any']}, "Whether the answers' texts have to be equal.", default='equal')
    generated_percent: float = field({'type': 'float', 'ge': 0, 'allow_inf_nan': False}, 'Difference in generated tokens.', default=0.0)
    accepted_percent: float = field({'type': 'float', 'ge': 0, 'allow_inf_nan': False}, 'Difference in drafted and in accepted tokens.', default=0.0)


class Bound(Record):
    """A metric that may not become worse while another one gains (contract 6.4)."""

    metric: Literal['decode_tps', 'prefill_tps', 'ttft_ms', 'itl_ms', 'tpot_ms', 'wall_s', 'bench_prefill_tps', 'bench_decode_tps'] = field(METRIC, 'The metric.')
    worse_by_percent: float = field({'type': 'float', 'ge': 0, 'allow_inf_nan': False}, 'Loss of the median that is still accepted.')


class Criteria(Record):
    """What decides, written before the first result; all of it numeric (contract 4.4)."""

    metric: Literal['decode_tps', 'prefill_tps', 'ttft_ms', 'itl_ms', 'tpot_ms', 'wall_s', 'bench_prefill_tps', 'bench_decode_tps'] = field(METRIC, 'The metric that decides.')
    better: Literal['higher', 'lower'] = field(BETTER, 'Which direction is a gain.')
    at_least_percent: float = field({'type': 'float', 'ge': 0, 'allow_inf_nan': False}, 'Smallest effect that counts: change of the medians.')
    test: Literal['permutation', 'sign-flip'] = field({'type': 'literal', 'expected': ['permutation', 'sign-flip']}, "Exact test: of the labels over all trials, or of the signs of the rounds' differences.")
    alpha: float = field({'type': 'float', 'gt': 0, 'lt': 0.5, 'allow_inf_nan': False}, 'Two-sided level.')
    power: float = field({'type': 'float', 'gt': 0, 'lt': 1, 'allow_inf_nan': False}, 'Power for which the detectable effect is stated.', default=0.8)
    noise: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Run that compared the baseline with itself on this host (A-A); absent = unknown noise.', default=None)
    bounds: list[Bound] = field({'type': 'list', 'items_schema': Bound.core}, 'What may not become worse meanwhile.', default_factory=list)
    stop: Literal['all-legs'] = field({'type': 'literal', 'expected': ['all-legs']}, 'When it ends: after all legs, or when a limit aborts it; never on a result.', default='all-legs')


class Limits(Record):
    """Ceilings that end the trial, and only the trial (contract 4.3, 5.2). Sizes are bytes or like 4GiB."""

    memory: str | bool | int | float = field(SCALAR, "Most memory the trial's processes may hold: anonymous and shared.")
    available: str | bool | int | float = field(SCALAR, 'Memory the host must still have available.')
    swap: str | bool | int | float = field(SCALAR, 'Most swap that any trial process may use.', default=0)
    others_cpu: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'ge': 0}}, 'Most processors that others may use, averaged over five samples.', default=None)
    device_memory: str | bool | int | float | None = field({'type': 'nullable', 'schema': SCALAR}, 'Most device memory in use by all.', default=None)
    temperature_c: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False}}, 'Temperature that ends the trial; absent = no such end.', default=None)
    start_s: float = field({'type': 'float', 'gt': 0, 'allow_inf_nan': False}, 'Seconds until a server must be ready.')
    leg_s: float = field({'type': 'float', 'gt': 0, 'allow_inf_nan': False}, 'Seconds of one leg, start included.')
    total_s: float = field({'type': 'float', 'gt': 0, 'allow_inf_nan': False}, 'Seconds of the whole trial, restoration aside.')
    sample_s: float = field({'type': 'float', 'gt': 0, 'le': 60, 'allow_inf_nan': False}, 'Seconds between two samples.', default=0.5)
    gap_s: float = field({'type': 'float', 'gt': 0, 'allow_inf_nan': False}, 'Longest gap between two samples that is no hole.', default=5.0)


class Serving(Record):
    """The service that serves now: during the trial and afterwards (contract 4.3)."""

    during: Literal['stop', 'leave', 'none'] = field({'type': 'literal', 'expected': ['stop', 'leave', 'none']}, 'stop: it is stopped and restored; leave: it keeps serving; none: nothing serves here.')
    restore: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Stack that serves again afterwards; with stop only.', default=None)
    then: Literal['restore-parent', 'keep-winner'] = field({'type': 'literal', 'expected': ['restore-parent', 'keep-winner']}, 'End state; keeping the winner needs an approval of kind deploy.', default='restore-parent')


class Again(Record):
    """Why a completed experiment is run again (contract 4.8)."""

    run: str = field(REFERENCE, 'The completed run of the same comparison.')
    question: str = field(TEXT, 'What the first one left open.')


class Plan(Record):
    """One experiment, complete before its first result."""

    hio: Literal['plan/v1'] = field({'type': 'literal', 'expected': ['plan/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service it is about.')
    question: str = field(TEXT, 'The question that the verdict answers.')
    stage: Literal['screening', 'confirmation', 'a-a'] = field({'type': 'literal', 'expected': ['screening', 'confirmation', 'a-a']}, 'screening: looks; confirmation: decides; a-a: the baseline against itself.')
    hypothesis: Hypothesis = field(Hypothesis.core, 'What is expected, and why.')
    baseline: str = field(NAME, 'Arm that is the reference: what serves in practice.')
    arms: dict[str, PlannedArm] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': PlannedArm.core, 'min_length': 2}, 'The arms, by name.')
    factors: list[str] = field({'type': 'list', 'items_schema': ADDRESS}, 'Settings in which the arms differ; none for A-A.')
    combined: bool = field({'type': 'bool'}, 'Whether several settings are changed together; their parts then stay unresolved.', default=False)
    constant: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What else is held constant.', default_factory=list)
    order: list[str] = field({'type': 'list', 'items_schema': NAME, 'min_length': 2}, 'Arm of each leg, in order: ABBA, BAAB or rounds.')
    restart: Literal['every-leg', 'never'] = field({'type': 'literal', 'expected': ['every-leg', 'never']}, 'When the server is started anew.', default='every-leg')
    method: Literal['http', 'llama-bench'] = field({'type': 'literal', 'expected': ['http', 'llama-bench']}, 'How it is measured.', default='http')
    bench: Bench | None = field({'type': 'nullable', 'schema': Bench.core}, 'With llama-bench only.', default=None)
    fixture: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The request that is measured; with http.', default=None)
    requests: Requests | None = field({'type': 'nullable', 'schema': Requests.core}, 'Requests of a leg; with http.', default=None)
    cache: Literal['cold', 'warm'] = field({'type': 'literal', 'expected': ['cold', 'warm']}, 'cold: no prompt token comes from a cache; warm: the prefix is meant to be cached.', default='cold')
    checks: list[str] = field({'type': 'list', 'items_schema': REFERENCE}, 'Fixtures with expected results, asked in each leg before the measured requests: the quality gate.', default_factory=list)
    quality: QualityGate | None = field({'type': 'nullable', 'schema': QualityGate.core}, 'Task set whose answers may not become worse; with http.', default=None)
    same_work: SameWork = field(SameWork.core, 'When the arms did the same work.')
    decide: Criteria = field(Criteria.core, 'What decides.')
    limits: Limits = field(Limits.core, 'Ceilings and time limits.')
    abort_owner: str = field(TEXT, 'Who may end it and is told.')
    serving: Serving = field(Serving.core, 'What happens to the service that serves now.')
    port: int | None = field({'type': 'nullable', 'schema': {'type': 'int', 'ge': 1, 'le': 65535}}, "Port of the trial; absent = the service's own.", default=None)
    respect: list[str] = field({'type': 'list', 'items_schema': SERVICE}, 'Services of others whose activity is watched and which stay.', default_factory=list)
    reproduces: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Run of the parent whose answer is reproduced first; absent = the series is new.', default=None)
    again: Again | None = field({'type': 'nullable', 'schema': Again.core}, 'Where the same comparison has been run before.', default=None)
    known_failures: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What is known to fail.', default_factory=list)
    untested: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What remains untested.', default_factory=list)


DOCUMENT = Plan.core
