"""A new entry of a ledger: its tips pinned, its pins computed from the bytes that are there now.

Invariant: an entry is created, never replaced, and pins only files whose bytes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from hio_validate import __version__, engine
from hio_validate.diagnostic import Severity
from hio_validate.evidence.raw import UnreadableRows, read_rows
from hio_validate.evidence.trials import change_percent, plan_of
from hio_validate.ledger import Ledger
from hio_validate.models import document, reader
from hio_validate.models.core import ValidationError
from hio_validate.models.entry import Deployment, Result
from hio_validate.models.errors import refusals
from hio_validate.recording import modeline
from hio_validate.repo import PINNED, Item, Repo, Tree, item_of, name_of, references
from hio_validate.rules import NEWEST
from hio_validate.source import read
from hio_validate.source.dump import dump

KINDS = ("baseline", "increment", "negative-control", "failed-run", "correction", "decision", "approval",
         "deployment", "rollback", "opportunity", "merge", "redaction")  # fmt: skip
"""What a person appends, in the order in which they come to be."""


class CannotAppend(Exception):
    """The entry would not be one; says why."""


class AlreadyThere(CannotAppend):
    """The ledger has an entry of that name."""


class Unsound(CannotAppend):
    """What the entry would pin, and freeze, has errors."""


@dataclass(frozen=True)
class Draft:
    """An entry before it has a place in the ledger: `given` are its keys as the command line named them, the names
    of what it pins among them; what was not given is None or empty."""

    kind: str
    service: str
    by: str
    given: Mapping[str, Any]

    @property
    def pins(self) -> dict[str, str]:
        """Role -> name of what is pinned."""
        return {role: self.given[role] for role in PINNED if self.given.get(role)}

    @property
    def fields(self) -> dict[str, Any]:
        """The keys of the kind, in the order of its model's."""
        said = {key: value for key, value in self.given.items() if value and key not in PINNED}
        for key, shape in _SHAPES.items():
            if key in said:
                said[key] = shape(said[key])
        if self.kind == "approval":
            said = {"owners": [self.by], **said}
            said["services"] = list(dict.fromkeys([self.service, *said.get("services", [])]))
        if self.kind == "deployment":
            said["site"] = self.service.partition("/")[0]
        return said

    def named(self, day: str, taken: Container[str]) -> str:
        """What the entry is called where nobody named it: day, kind, the setting without its process, a number."""
        factor = (self.given.get("factor") or "").rpartition(".")[2]
        name = "-".join(part for part in (day, self.kind, factor) if part)
        return next(each for each in _numbered(name) if each not in taken)

    def saying(self, **more: Any) -> Draft:
        """The same with more said; what a person gave stays."""
        return replace(self, given={**more, **{key: value for key, value in self.given.items() if value}})


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in count(2))


_SHAPES: Mapping[str, Callable[[Any], Any]] = {
    "evidence": dict,
    "redacts": lambda pairs: [{"file": file, "digest": digest} for file, digest in pairs],
    **dict.fromkeys(("blocks", "services", "owners", "factors", "workloads", "keeps"), list),
}
"""Key -> what the pairs and repeated words of a command line become."""


def with_result(draft: Draft, repo: Repo, said: tuple[str, str, str], statistic: str) -> Draft:
    """The draft with the change of a metric between two arms of its run. Raises CannotAppend."""
    metric, *arms = said
    computed = result(repo, draft.service, draft.given.get("run"), metric, (arms[0], arms[1]), statistic)
    return draft.saying(result=computed)


def entry(
    repo: Repo,
    ledger: Ledger,
    kind: str,
    id_: str,
    at: str,
    by: str,
    fields: Mapping[str, Any],
    pins: Mapping[str, str],
    *,
    checked: bool = True,
) -> tuple[str, bytes]:
    """File and bytes of a new entry after the ledger's tips; `checked` where nobody completes it first.

    Raises CannotAppend.
    """
    if id_ in ledger.entries:
        raise AlreadyThere(f"the ledger has an entry {id_} already; a ledger only grows")
    namesake = next((each for each in ledger.entries if each.lower() == id_.lower()), None)
    if namesake is not None:
        raise AlreadyThere(f"the ledger has an entry {namesake}; on some disks {id_} would be the same file")
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
    file = f"ledger/{ledger.service}/{at[:4]}/{id_}.yaml"
    content = dump(data, head=modeline("entry", file))
    if checked:
        check(data)
        refuse_what_rules_find(repo, file, content)
    return file, content


def check(data: Mapping[str, Any]) -> None:
    """Refuse what is no entry, in the words of the command line. Raises CannotAppend."""
    _check_shape(data)
    kind, pins = data["kind"], data.get("pins", {})
    if kind in ("increment", "negative-control") and "run" not in pins and not data.get("imported"):
        raise CannotAppend(f"{kind}: give --run, the run that measured it; nobody could check it otherwise")


def refuse_what_rules_find(repo: Repo, file: str, content: bytes) -> None:
    """An entry is frozen from its first commit: what would be an error then is refused now. Raises CannotAppend."""
    item = item_of(read(content, file))
    if item.model is None:
        said = [f"{item.document.locate(each.path).line}: {each.message}" for each in item.refused]
        said += [f"{fault.line}: {fault.message}" for fault in item.document.faults]
        raise CannotAppend(f"line {'; line '.join(said)}")
    grown = Repo(_Grown(repo.tree, file, content), (*repo.items, item), repo.unreadable)
    matrix = _deployed_matrix(item, repo)
    report = engine.run(grown, None, gates=("deploy",), focus=frozenset({file, matrix}))
    found = [each for each in report.of(Severity.ERROR) if each.location.file == file]
    found += [each for each in report.of(Severity.GATE) if each.location.file == matrix]
    if found:
        said = [f"{each.message}" + (f" ({each.help})" if each.help else "") for each in found]
        raise CannotAppend("; ".join(said))


def refuse_an_unsound_plan(draft: Draft, repo: Repo) -> None:
    """An approval pins its plan, which freezes it: one with errors could neither run nor be put right. Raises Unsound."""
    plan = repo.find("plan/v1", draft.given.get("plan") or "", draft.service)
    if draft.kind != "approval" or plan is None:
        return
    cited = (repo.find(each.kind, each.name, plan.service) for each in references(plan)) if plan.model else ()
    report = engine.run(repo, focus=frozenset({plan.file, *(item.file for item in cited if item)}))
    errors = sorted(report.of(Severity.ERROR), key=lambda found: found.location.file != plan.file)
    if errors:
        first, more = errors[0], f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        raise Unsound(
            f"the plan {plan.name} has errors, and an approval would freeze it as it is: "
            f"{first.location.file}:{first.location.line}: {first.message} [{first.rule}]{more}; "
            f"hio plan check {plan.name} lists them: put them right, then approve"
        )


def _deployed_matrix(item: Item, repo: Repo) -> str:
    """File of the matrix that a deployment rests on: what blocks deployment there refuses the entry, too."""
    if not isinstance(item.model, Deployment) or item.model.imported or item.model.pins.matrix is None:
        return ""
    matrix = repo.find("matrix/v1", name_of(item.model.pins.matrix), item.service)
    return matrix.file if matrix is not None else ""


@dataclass(frozen=True)
class _Grown:
    """A tree with one file more."""

    tree: Tree
    file: str
    content: bytes

    def paths(self) -> Sequence[str]:
        return [*self.tree.paths(), self.file]

    def read(self, path: str) -> bytes:
        return self.content if path == self.file else self.tree.read(path)


_NOT_KEPT = "# What else this entry may say; nothing from this line on is kept."


def hints(kind: str, begun: bytes) -> bytes:
    """What stands below an entry that is opened in an editor: every key it does not say yet, with its meaning."""
    said = read(begun, "entry.yaml").data or {}
    known = document("entry/v1")["choices"][kind]["schema"]["fields"].items()
    missing = [(key, each["metadata"]["about"]) for key, each in known if key not in said]
    return "\n".join([_NOT_KEPT, *(f"#   {key}: {about}" for key, about in missing), ""]).encode()


def completed(repo: Repo, said: bytes, file: str) -> bytes:
    """The entry that a person completed in an editor, without the hints. Raises CannotAppend."""
    content = said.partition(_NOT_KEPT.encode())[0].rstrip() + b"\n"
    refuse_what_rules_find(repo, file, content)
    return content


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
        rows = read_rows(item.model, raw)
        computed = change_percent(Result.model_validate(said), item.model, rows, plan_of(item, repo))
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
    known = {item.service for item in repo.items} | {ledger.service}
    stranger = next((each for each in fields.get("services", ()) if each not in known), None)
    if stranger is not None:
        raise CannotAppend(f"no service is called {stranger}; an approval names services that exist")
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


def _check_shape(data: Mapping[str, Any]) -> None:
    try:
        reader("entry/v1").validate_python(dict(data))
    except ValidationError as error:
        refused = refusals(error, "entry/v1", dict(data))
        raise CannotAppend(
            f"{data['kind']}: " + "; ".join(_as_option(each.message, data["kind"]) for each in refused)
        ) from None


def _as_option(message: str, kind: str) -> str:
    """A refusal in the words of the command line, where the key has an option of its own."""
    for key, option in _OPTION.items():
        if message.startswith(f'the key "{key}" is missing'):
            return f"give {'--candidate' if (kind, key) == ('deployment', 'pins') else option}"
        if message.startswith(f'unknown key "{key}"'):
            return f"{option} has no meaning here"
    return message


_OPTION = {
    **{key: f"--{key}" for key in (*PINNED, "factor", "corrects", "decision", "next", "blocks", "hazard", "approves",
                                   "scope", "until", "undoes", "benefit", "regression", "uncertainty", "redacts",
                                   "evidence")},
    "keeps": "--keep", "because": "--because",
    "pins": "--stack", "result_kind": "--result-kind", "services": "--affects", "owners": "--owner",
    "factors": "--covers", "workloads": "--workload",
}  # fmt: skip
"""Key of an entry -> the option that gives it."""
