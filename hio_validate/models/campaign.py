"""campaign/v1: several plans around one question, with everything that is decided before the first of them runs.

Written by hio_validate/compile.py from definitions/campaign.py: change that one.
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
    REFERENCE,
    SERVICE,
    SHA256,
    TEXT,
    TIME,
)
from hio_validate.models.plan import BETTER, METRIC
from hio_validate.models.record import Record, field

ACT = {'type': 'literal', 'expected': ['stop-service', 'keep-winner', 'mutate-cluster', 'publish']}


class Served(Record):
    """The model that is served."""

    name: str = field(TEXT, 'The model, as its known-good registry is called.')
    sha256: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of its file, or of its first shard.', default=None)


class CampaignEngine(Record):
    """One engine, by its exact source revision or image digest: never by a tag or a version."""

    family: str = field(NAME, 'What it is, e.g. llama-server.')
    build: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'Its engine document.', default=None)
    revision: str | None = field({'type': 'nullable', 'schema': COMMIT_ID}, 'Full id of the source commit.', default=None)
    image: str | None = field({'type': 'nullable', 'schema': DIGEST}, 'Digest of the image it is delivered as.', default=None)


class Target(Record):
    """Where it is measured."""

    hardware: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Class of the machine: processor, device, memory.', default=None)
    devices: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Accelerators that it may use; 0 = none.', default=None)
    scheduler: Literal['host', 'slurm', 'kubernetes', 'other'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['host', 'slurm', 'kubernetes', 'other']}}, 'Who gives the machine: host = hio runs here; else a cluster does.', default=None)
    place: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Partition, namespace or allocation, on a cluster.', default=None)


class Operator(Record):
    """How the operator deploys: a file with its digest, or a stack of this repository."""

    file: str | None = field({'type': 'nullable', 'schema': TEXT}, "The operator's deployment or campaign file, kept in this repository: its path from here.", default=None)
    sha256: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of that file.', default=None)
    stack: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The stack that says the same.', default=None)


class Load(Record):
    """How requests arrive."""

    concurrency: int = field(AT_LEAST_ONE, 'Requests at the same time.')
    rate: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'gt': 0}}, 'Requests each second; absent = closed loop.', default=None)


class CampaignWorkload(Record):
    """What is asked: shapes, loads, warm-up, trials. The plans of the cells have to agree."""

    shapes: dict[str, str] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': REFERENCE}, 'Shape -> the fixture that asks it; llama-bench: its name alone.', default_factory=dict)
    loads: dict[str, Load] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Load.core}, 'Loads, by name.', default_factory=dict)
    warm_up: int | None = field({'type': 'nullable', 'schema': COUNT}, 'Requests before the measured ones.', default=None)
    trials: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Legs of each arm: restarts of the server.', default=None)


class Accuracy(Record):
    """What answers have to be worth, on the baseline and on each kept candidate (contract 10.4)."""

    tasks: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The task set.', default=None)
    checks: list[str] = field({'type': 'list', 'items_schema': REFERENCE}, 'Fixtures with expected results; all of them have to pass.', default_factory=list)
    floor: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'ge': 0, 'le': 1}}, 'Share of the tasks that has to be right; with a task set.', default=None)
    margin: float | None = field({'type': 'nullable', 'schema': {'type': 'float', 'allow_inf_nan': False, 'ge': 0, 'le': 1}}, 'Share by which a candidate may be worse than the baseline; with a task set.', default=None)


class Focus(Record):
    """What decides, and what may not be paid for it."""

    metric: Literal['decode_tps', 'prefill_tps', 'ttft_ms', 'itl_ms', 'tpot_ms', 'wall_s', 'bench_prefill_tps', 'bench_decode_tps'] = field(METRIC, 'The metric that decides.')
    better: Literal['higher', 'lower'] = field(BETTER, 'Which direction is a gain.')
    accuracy: Accuracy | None = field({'type': 'nullable', 'schema': Accuracy.core}, 'The accuracy floor.', default=None)


class CampaignBaseline(Record):
    """What serves in production: recorded, or what is needed to record it."""

    stack: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The stack that serves.', default=None)
    entry: str | None = field({'type': 'nullable', 'schema': REFERENCE}, 'The ledger entry that names it the parent.', default=None)
    needed: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What is needed to capture one, where none is recorded yet.', default_factory=list)


class Protocol(Record):
    """How every cell is measured, whatever the engine."""

    method: Literal['http', 'llama-bench'] = field({'type': 'literal', 'expected': ['http', 'llama-bench']}, 'How it is measured.', default='http')
    cache: Literal['cold', 'warm'] = field({'type': 'literal', 'expected': ['cold', 'warm']}, 'The cache regime.', default='cold')
    restart: Literal['every-leg', 'never'] = field({'type': 'literal', 'expected': ['every-leg', 'never']}, 'When the server is restarted.', default='every-leg')


class CampaignScope(Record):
    """What the campaign may change beyond tuning; what is absent is not touched (contract 10.5)."""

    quantisation: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Quantisations of weights or K/V that it may compare.', default_factory=list)
    speculation: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Ways of speculative decoding that it may compare.', default_factory=list)
    factors: list[str] = field({'type': 'list', 'items_schema': ADDRESS}, 'The declared space: settings that are varied.', default_factory=list)


class Cell(Record):
    """One point of the campaign: exactly one plan."""

    plan: str = field(REFERENCE, 'The plan that measures it, with the baseline among its arms.')
    engine: str = field(NAME, 'The engine of its candidates.')
    regime: str = field(TEXT, 'The workload regime it speaks for: cells of one regime compete.')
    shape: str | None = field({'type': 'nullable', 'schema': NAME}, 'Shape of the workload; absent where there is only one.', default=None)
    load: str | None = field({'type': 'nullable', 'schema': NAME}, 'Load of the workload; absent where there is only one.', default=None)


class Acknowledgement(Record):
    """Somebody's yes to acts beyond measuring: for one run, once (contract 10.3)."""

    run_id: str = field(NAME, 'The run it is for; hio campaign check says which.')
    acts: list[Literal['stop-service', 'keep-winner', 'mutate-cluster', 'publish']] = field({'type': 'list', 'items_schema': ACT, 'min_length': 1}, 'What it allows.')
    by: str = field(TEXT, 'Who.')
    at: str = field(TIME, 'When.')
    until: str = field(TIME, 'When it ends.')


class Campaign(Record):
    """Cells that answer one question together, and what makes one of them the champion."""

    hio: Literal['campaign/v1'] = field({'type': 'literal', 'expected': ['campaign/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service it is about.')
    question: str = field(TEXT, 'What it is to find out.')
    model: Served | None = field({'type': 'nullable', 'schema': Served.core}, 'Input 1: the model.', default=None)
    engines: dict[str, CampaignEngine] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': CampaignEngine.core}, 'Inputs 1 and 2: the engines, each by revision or image digest.', default_factory=dict)
    target: Target | None = field({'type': 'nullable', 'schema': Target.core}, 'Input 3: hardware and scheduler.', default=None)
    deployment: Operator | None = field({'type': 'nullable', 'schema': Operator.core}, "Input 4: the operator's file, or a stack.", default=None)
    workload: CampaignWorkload | None = field({'type': 'nullable', 'schema': CampaignWorkload.core}, 'Input 5: shapes, loads, warm-up, trials.', default=None)
    focus: Focus | None = field({'type': 'nullable', 'schema': Focus.core}, 'Input 6: metric, direction, accuracy floor.', default=None)
    baseline: CampaignBaseline | None = field({'type': 'nullable', 'schema': CampaignBaseline.core}, 'Input 7: what serves in production.', default=None)
    protocol: Protocol = field(Protocol.core, 'How every cell is measured.', default_factory=Protocol)
    scope: CampaignScope = field(CampaignScope.core, 'What may be changed beyond tuning, and the declared space.', default_factory=CampaignScope)
    cells: dict[str, Cell] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Cell.core, 'min_length': 1}, 'The cells, by name.')
    coverage: list[str] = field({'type': 'list', 'items_schema': NAME}, 'Cells that have to be complete for a champion; none = all.', default_factory=list)
    publish: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Where results are published outside; an act of its own.', default_factory=list)
    acknowledgements: list[Acknowledgement] = field({'type': 'list', 'items_schema': Acknowledgement.core}, 'What somebody allowed beyond measuring.', default_factory=list)


DOCUMENT = Campaign.core
