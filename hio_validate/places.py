"""Where documents stand, and what a path alone says about a file: its name, its service, whether it is frozen.

Imports nothing of ours, so that who asks git alone need not wait for the documents' reader.
"""

from __future__ import annotations

import re
from functools import cache

ROOMS = ("matrix", "ledger", "manifests")
ENDINGS = (".yaml", ".yml")

_FROZEN = re.compile(
    r"(?P<entry>ledger/.+\.ya?ml)|manifests/services/[^/]+/[^/]+/(?:(?P<capture>captures/.+\.ya?ml)|(?P<run>runs/.+)"
    r"|(?P<receipt>receipts/.+)|(?P<qualification>qualifications/.+)|(?P<observation>observations/.+)|(?P<rollback>rollbacks/.+\.ya?ml)"
    r"|(?P<campaign_run>campaign-runs/.+\.ya?ml)|(?P<profile>profiles/.+))",
    re.DOTALL,
)


def frozen(path: str) -> str | None:
    """What is frozen from its first commit (contract 1.4, 8.1): an entry, a capture, a run, a file of a run,
    a receipt with its files, a qualification with its rows, an observation with what it was read from, a rollback plan, the run
    of a campaign, a profile with what its tool wrote."""
    match = _FROZEN.fullmatch(path)
    if match is None:
        return None
    inside_a_run = match.lastgroup == "run" and not path.endswith("/run.yaml")
    group = match.lastgroup or ""
    return "file of a run" if inside_a_run else group.replace("_", " ")


def service_of(path: str) -> str | None:
    """The service in whose folder a file stands; None for sites and engines."""
    return place_of(path)[1]


@cache
def place_of(file: str) -> tuple[str, str | None]:
    """A document's name (the stem; the folder of an engine, family, run or observation.yaml) and its service."""
    parts = file.split("/")
    stem = parts[-1].rpartition(".")[0]
    name = parts[-2] if stem in ("engine", "family", "run", "observation") and len(parts) > 1 else stem
    match parts:
        case ["manifests", "services", site, model, _, *_] | ["matrix" | "ledger", site, model, *_] if (
            model != parts[-1]
        ):
            return name, f"{site}/{model}"
    return name, None
