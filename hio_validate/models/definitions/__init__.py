"""What every kind of document may say, as pydantic models: the source of what runs and of the JSON Schemas.

Invariant: nothing but the compiler, `hio schema` and tests enters here (tests/test_layers.py): importing pydantic
and building these classes takes longer than judging a document (docs/adr/0009-compiled-models.md).
"""

from __future__ import annotations

from typing import Any

from hio_validate.models.definitions.campaign import Campaign
from hio_validate.models.definitions.campaign_run import CampaignRun
from hio_validate.models.definitions.capture import Capture
from hio_validate.models.definitions.ceilings import Ceilings
from hio_validate.models.definitions.engine import Engine
from hio_validate.models.definitions.entry import Entry
from hio_validate.models.definitions.estimate import Estimate
from hio_validate.models.definitions.family import Family
from hio_validate.models.definitions.fixture import Fixture
from hio_validate.models.definitions.known_good import KnownGood
from hio_validate.models.definitions.matrix import Matrix
from hio_validate.models.definitions.observation import Observation
from hio_validate.models.definitions.plan import Plan
from hio_validate.models.definitions.profile import Profile
from hio_validate.models.definitions.qualification import Qualification
from hio_validate.models.definitions.receipt import Receipt
from hio_validate.models.definitions.rollback import Rollback
from hio_validate.models.definitions.run import Run
from hio_validate.models.definitions.shape import Shape
from hio_validate.models.definitions.site import Site
from hio_validate.models.definitions.stack import Stack
from hio_validate.models.definitions.tasks import Tasks

DEFINITIONS: dict[str, Any] = {
    "stack/v1": Stack,
    "site/v1": Site,
    "engine/v1": Engine,
    "family/v1": Family,
    "capture/v1": Capture,
    "matrix/v1": Matrix,
    "fixture/v1": Fixture,
    "tasks/v1": Tasks,
    "plan/v1": Plan,
    "run/v1": Run,
    "observation/v1": Observation,
    "campaign/v1": Campaign,
    "campaign-run/v1": CampaignRun,
    "receipt/v1": Receipt,
    "ceilings/v1": Ceilings,
    "shape/v1": Shape,
    "estimate/v1": Estimate,
    "profile/v1": Profile,
    "qualification/v1": Qualification,
    "rollback/v1": Rollback,
    "known-good/v1": KnownGood,
    "entry/v1": Entry,
}
"""What a document's `hio:` line may say -> the type that defines it."""
