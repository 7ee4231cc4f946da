"""site/v1: WHERE something runs. Changing it never needs evidence; a review lists it as operational.

Written by hio_validate/compile.py from definitions/site.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import NAME, SCALAR, TEXT
from hio_validate.models.record import Record, field


class Place(Record):
    """Where one service listens and finds its files."""

    host: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Address it listens on.', default=None)
    port: int | None = field({'type': 'nullable', 'schema': {'type': 'int', 'ge': 1, 'le': 65535}}, 'TCP port.', default=None)
    unit: str | None = field({'type': 'nullable', 'schema': TEXT}, 'systemd unit, if one runs it.', default=None)
    backend: Literal['local', 'systemd', 'systemd-user'] | None = field({'type': 'nullable', 'schema': {'type': 'literal', 'expected': ['local', 'systemd', 'systemd-user']}}, 'What starts and stops it; absent: systemd where a unit is named, else local.', default=None)
    paths: dict[str, str] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': TEXT}, "What ${name} in a stack's argv or env stands for at this site.", default_factory=dict)
    limits: dict[str, str | bool | int | float] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': SCALAR}, 'Resource limits, e.g. memory_max: 16GiB.', default_factory=dict)
    secrets: dict[str, str] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': TEXT}, 'Name of a secret -> where it is kept. Never a value.', default_factory=dict)
    targets: dict[str, dict[str, str | bool | int | float]] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': {'type': 'dict', 'keys_schema': NAME, 'values_schema': SCALAR}}, 'What a render target must know that no stack says, e.g. kubernetes: {image: name@sha256:...}.', default_factory=dict)


class Site(Record):
    """A host or cluster and the services it carries."""

    hio: Literal['site/v1'] = field({'type': 'literal', 'expected': ['site/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence about the machine.', default=None)
    services: dict[str, Place] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': Place.core}, 'Service (without the site) -> its place.', default_factory=dict)
    programs: dict[str, str] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': TEXT}, 'Build (or engine family, where a stack names no build) -> path of the program on this host.', default_factory=dict)
    guarded: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Services of others that a trial must respect.', default_factory=list)


DOCUMENT = Site.core
