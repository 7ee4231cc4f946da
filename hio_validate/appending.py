"""A new entry of a ledger: its tips pinned, its pins computed from the bytes that are there now.

Invariant: an entry is created, never replaced, and pins only files whose bytes are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hio_validate import __version__
from hio_validate.evidence.raw import UnreadableRows, change_percent, read_rows
from hio_validate.ledger import Ledger
from hio_validate.models import reader
from hio_validate.models.core import ValidationError
from hio_validate.models.entry import Result
from hio_validate.models.errors import refusals
from hio_validate.recording import modeline
from hio_validate.repo import Item, Repo
from hio_validate.rules import NEWEST
from hio_validate.source.dump import dump

PINNED = {"stack": "stack/v1", "capture": "capture/v1", "run": "run/v1", "matrix": "matrix/v1"}


class CannotAppend(Exception):
    """The entry would not be one; says why."""


class AlreadyThere(CannotAppend):
    """The ledger has an entry of that name."""


def entry(
    repo: Repo,
    ledger: Ledger,
    kind: str,
    id_: str,
    at: str,
    by: str,
    fields: Mapping[str, Any],
    pins: Mapping[str, str],
) -> tuple[str, bytes]:
    """File and bytes of a new entry after the ledger's tips. Raises CannotAppend."""
    if id_ in ledger.entries:
        raise AlreadyThere(f"the ledger has an entry {id_} already; a ledger only grows")
    _refuse_what_no_model_sees(ledger, kind, fields, repo)
    data: dict[str, Any] = {
        "hio": "entry/v1",
        "id": id_,
        "service": ledger.service,
        "after": [f"{tip}@{ledger.entries[tip].document.digest}" for tip in sorted(ledger.tips)],
        "kind": kind,
        "by": by,
        "at": at,
        **fields,
    }
    if pins:
        data["pins"] = {role: _pin(repo, ledger.service, role, name) for role, name in pins.items()}
    data["judged_by"] = {"hio": __version__, "rules": NEWEST}
    _check(data)
    if kind in ("increment", "negative-control") and "run" not in pins and not fields.get("imported"):
        raise CannotAppend(f"{kind}: give --run, the run that measured it; nobody could check it otherwise")
    file = f"ledger/{ledger.service}/{at[:4]}/{id_}.yaml"
    return file, dump(data, head=modeline("entry", file))


def result(
    repo: Repo, service: str, run: str | None, metric: str, arms: tuple[str, str], statistic: str
) -> dict[str, Any]:
    """The number an entry publishes, computed from the raw rows of its run. Raises CannotAppend."""
    item = repo.find("run/v1", run, service) if run else None
    raw = repo.beside(item, item.model.raw.file) if item and item.model else None
    if item is None or raw is None:
        raise CannotAppend("a result is computed from a run; give --run with its rows beside it")
    column = item.model.columns.get(metric)
    if column is None or column.better is None or not {*arms} <= item.model.arms.keys():
        metrics = [name for name, each in item.model.columns.items() if each.better]
        raise CannotAppend(
            f"{item.name} has the metrics {', '.join(metrics)} and the arms {', '.join(item.model.arms)}"
        )
    said = {"metric": metric, "from": arms[0], "to": arms[1], "statistic": statistic, "change_percent": 0.0}
    try:
        computed = change_percent(Result.model_validate(said), item.model, read_rows(item.model, raw))
    except UnreadableRows as error:
        raise CannotAppend(f"{item.model.raw.file}:{error.line}: {error.message}") from None
    if computed is None:
        raise CannotAppend(f"{item.name} measured nothing for one of the arms")
    return {**said, "change_percent": round(computed, 4)}


def _refuse_what_no_model_sees(ledger: Ledger, kind: str, fields: Mapping[str, Any], repo: Repo) -> None:
    """An entry is frozen from its first commit, so what the rules would find must be found before it is written."""
    unread = next((item for item in repo.items if item.model is None and _is_of(item, ledger)), None)
    if unread is not None:
        raise CannotAppend(
            f"{unread.file} cannot be read, so the ledger's tips are not known; hio validate says why"
        )
    if not ledger.entries and kind != "baseline":
        raise CannotAppend(f"the ledger of {ledger.service} is empty; it begins with a baseline")
    if kind == "merge" and len(ledger.tips) < 2:
        raise CannotAppend(f"a merge closes at least two tips; the ledger has one: {', '.join(ledger.tips)}")
    corrected = fields.get("corrects")
    if corrected is not None and repo.find("entry/v1", corrected, ledger.service) is None:
        raise CannotAppend(f"no entry is called {corrected}; a correction names what it puts right")


def _is_of(item: Item, ledger: Ledger) -> bool:
    return item.service == ledger.service and item.file.startswith("ledger/")


def _pin(repo: Repo, service: str, role: str, name: str) -> str:
    item = repo.find(PINNED[role], name, service)
    if item is None:
        raise CannotAppend(f"no {role} is called {name}; what an entry relies on must exist")
    return f"{name}@{item.document.digest}"


def _check(data: Mapping[str, Any]) -> None:
    try:
        reader("entry/v1").validate_python(dict(data))
    except ValidationError as error:
        refused = refusals(error, "entry/v1", dict(data))
        raise CannotAppend(
            f"{data['kind']}: " + "; ".join(_as_option(each.message) for each in refused)
        ) from None


def _as_option(message: str) -> str:
    """A refusal in the words of the command line, where the key has an option of its own."""
    for key, option in _OPTION.items():
        if message.startswith(f'the key "{key}" is missing'):
            return f"give {option}"
        if message.startswith(f'unknown key "{key}"'):
            return f"{option} has no meaning here"
    return message


_OPTION = {"pins": "--stack", "stack": "--stack", "capture": "--capture", "run": "--run", "factor": "--factor",
           "corrects": "--corrects", "decision": "--decision", "next": "--next", "blocks": "--blocks"}  # fmt: skip
