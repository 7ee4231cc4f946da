"""What a deployment stands on (contract 8.3): an approval, a complete matrix, a qualification, no violation of what is
known of the model, an entry that the rules would take.

Invariant: all reasons are found before any side effect, and the entry that will be appended is judged here with the
rules that will judge it then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from hio_validate import appending, engine
from hio_validate.diagnostic import Severity
from hio_validate.execute import approvals
from hio_validate.execute.arms import Host
from hio_validate.execute.interpreted import interpreter
from hio_validate.ledger import Ledger
from hio_validate.models.capture import Arguments, CapturedProcess, Environ, Mapped, Memory, Started, Threads
from hio_validate.models.qualification import Qualification
from hio_validate.moment import moment
from hio_validate.observe.capture import capture
from hio_validate.observe.hashing import default_cache, sha256_of
from hio_validate.recording import capture_file
from hio_validate.repo import Item, Repo, Tree, item_of
from hio_validate.rules.base import View
from hio_validate.source import read


@dataclass
class Gates:
    """What was found: pins of what the deployment stands on, and every reason against it."""

    pins: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """Which change is judged, when, and where."""

    service: str
    parent: Item
    candidate: Item
    host: Host
    program: str
    at: str
    by: str
    name: str


def judged(view: View, asked: Asked, known_good: Sequence[str]) -> Gates:
    """Every gate; `known_good` are the violations of what is known of the model, one sentence each."""
    found = Gates(
        {"parent": asked.parent.pin, "candidate": asked.candidate.pin, "rollback": asked.parent.pin}
    )
    matrix, receipt = _matrix(view, asked, found), _qualification(view.repo, asked, found)
    found.reasons += _errors(view.repo, [asked.candidate, asked.parent], matrix, receipt)
    _approval(view.ledger(asked.service), asked, matrix, found)
    found.reasons += known_good
    return found


def _errors(repo: Repo, stacks: Sequence[Item], matrix: Item | None, receipt: Item | None) -> Iterator[str]:
    """What the validator has against the documents, and what blocks a deployment in the matrix."""
    focus = frozenset(item.file for item in (*stacks, matrix, receipt) if item is not None)
    report = engine.run(repo, gates=("deploy",), focus=focus)
    found = list(report.of(Severity.ERROR))
    found += [each for each in report.of(Severity.GATE) if matrix and each.location.file == matrix.file]
    for each in found:
        help_ = f" ({each.help})" if each.help else ""
        yield f"{each.location.file}:{each.location.line}: {each.message}{help_} [{each.rule}]"


def _matrix(view: View, asked: Asked, found: Gates) -> Item | None:
    """The matrix of this parent and candidate; none is needed where nothing is replaced."""
    if asked.parent is asked.candidate:
        return None
    for item in view.repo.of("matrix/v1"):
        seen = view.inheritance(item) if item.service == asked.service else None
        if seen is not None and seen.parent is asked.parent and seen.candidate is asked.candidate:
            found.pins["matrix"] = item.pin
            return item
    found.reasons.append(
        f"no matrix accounts for the change from {asked.parent.name} to {asked.candidate.name}: "
        f"hio matrix new --service {asked.service} --parent {asked.parent.name} --candidate {asked.candidate.name} begins one"
    )
    return None


def _approval(ledger: Ledger, asked: Asked, matrix: Item | None, found: Gates) -> None:
    """An approval of kind deploy that is valid now (contract 5.1)."""
    given = approvals.for_stack("deploy", asked.candidate, ledger, asked.at, matrix)
    if isinstance(given, str):
        found.reasons.append(given)
    else:
        found.pins["approval"] = given.entry


def _qualification(repo: Repo, asked: Asked, found: Gates) -> Item | None:
    """The newest receipt that exactly this stack and these bytes do what serving needs (contract 8.2)."""
    pin = asked.candidate.pin
    process = next(iter(asked.candidate.model.processes.values()))
    about = [item for item in repo.of("qualification/v1") if item.service == asked.service]
    fitting = [item for item in about if item.model.stack == pin and item.model.build == process.build]
    if not fitting:
        others = [item.name for item in about if item.model.stack.partition("@")[0] == asked.candidate.name]
        known = f" ({', '.join(others)} is about other bytes of it)" if others else ""
        found.reasons.append(
            f"nothing says that {asked.candidate.name} does what serving needs{known}: "
            f"hio qualify {asked.candidate.name} probes it and writes the receipt"
        )
        return None
    newest = max(fitting, key=lambda item: (moment(item.model.at), item.name))
    bad = [
        f"{name}: {probe.because or probe.verdict}"
        for name, probe in newest.model.probes.items()
        if probe.verdict != "passed"
    ]
    if bad:
        found.reasons.append(f"the qualification {newest.name} did not pass: {'; '.join(bad)}")
    replaced = _replaced(newest.model, asked.program)
    if replaced:
        found.reasons.append(f"the qualification {newest.name} is about other bytes: {replaced}")
    found.pins["qualification"] = newest.pin
    return newest


def _replaced(receipt: Qualification, program: str) -> str | None:
    """A program or a library beside it that is not what was probed; of a script, its interpreter."""
    script = interpreter(program)
    if script:
        program = script[0]
    known = {**receipt.process.libraries, Path(program).name: receipt.process.executable}
    cache = default_cache()
    for path in sorted(Path(program).resolve().parent.iterdir()):
        wanted = known.get(path.name)
        if wanted in (None, "unknown") or not path.is_file():
            continue
        try:
            with path.open("rb") as file:
                if sha256_of(file, cache) != wanted:
                    return f"{path} is not the {path.name} that was probed"
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
    return None


@dataclass(frozen=True)
class Grown:
    """A tree with some files more."""

    tree: Tree
    files: dict[str, bytes]

    def paths(self) -> Sequence[str]:
        return [*self.tree.paths(), *(path for path in self.files if path not in set(self.tree.paths()))]

    def read(self, path: str) -> bytes:
        return self.files[path] if path in self.files else self.tree.read(path)


def grown(repo: Repo, files: dict[str, bytes]) -> Repo:
    """The repository with some documents more."""
    more = [item_of(read(content, file)) for file, content in files.items()]
    return Repo(Grown(repo.tree, files), (*repo.items, *more), repo.unreadable)


def against_entry(view: View, asked: Asked, pins: dict[str, str], plan: tuple[str, bytes]) -> Iterator[str]:
    """What the rules have against the entry that this deployment will append, with a capture that knows nothing yet;
    `plan` is the file of its way back."""
    file = f"manifests/services/{asked.service}/captures/{asked.name}.yaml"
    role = next(iter(asked.candidate.model.processes))
    claimed = capture(
        asked.name,
        {role: _nothing_known()},
        service=asked.service,
        stack=asked.candidate.name,
        at=datetime.fromisoformat(asked.at),
    )
    repo = grown(view.repo, {file: capture_file(claimed, file), plan[0]: plan[1]})
    names = {role: pin.partition("@")[0] for role, pin in pins.items()}
    names |= {"capture": asked.name, "rollback_plan": asked.name}
    try:
        appending.entry(
            repo, view.ledger(asked.service), "deployment", asked.name, asked.at, asked.by,
            {"site": asked.service.partition("/")[0]}, names,
        )  # fmt: skip
    except appending.CannotAppend as error:
        yield f"the ledger would not take the entry of this deployment: {error}"


def _nothing_known() -> CapturedProcess:
    return CapturedProcess(
        pid=1, family="unknown", started=Started(how="unknown"), executable=Mapped(how="unknown"),
        argv=Arguments(how="unknown"), environ=Environ(how="unknown"), threads=Threads(how="unknown"),
        memory=Memory(how="unknown"),
    )  # fmt: skip
