"""A deployment as a person reads it: what will change, what happens, the way back; and as JSON (version 1)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hio_validate.execute.deploy import way_back
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.work import FileChange, Work
from hio_validate.execute.journal import Event
from hio_validate.quantity import counted
from hio_validate.report.difference import as_shape as difference_shape
from hio_validate.report.difference import render
from hio_validate.report.paragraph import paragraph
from hio_validate.report.table import table
from hio_validate.report.visible import visible
from hio_validate.settings.difference import Difference
from hio_validate.settings.withholding import difference_without_secrets

Bytes = Mapping[str, bytes | None]
"""Path -> what is there now."""
_LONGEST_DIFF = 60
_QUIET = frozenset({"prepared", "guarded", "started", "saved", "installing", "stopping", "begun", "going-back",
                    "recording", "entered"})  # fmt: skip


def page(
    work: Work,
    serving: str,
    difference: Difference | None,
    notes: Sequence[str],
    there: Bytes,
    new: Bytes,
    width: int,
) -> str:
    """What a deployment will change on this host, against what runs now."""
    where = f"{work.address}:{work.port}, {work.backend}" + (f" {work.unit}" if work.unit else "")
    parts = [f"deploy {_name(work.to.stack)} as {work.service} ({where})\n"]
    parts.append(paragraph(f"serves now: {serving}", width))
    if difference is not None:
        parts.append("\n" + render(difference, _sides(work), notes, width))
    parts.append("\nfiles\n" + "".join(_file(each, there, new, width) for each in work.files))
    parts.append("\nstands on\n" + _indented(table(list(_pins(work)), width - 2)))
    back = f"{_name(work.away.stack)} serves again" if work.away.stack else "nothing serves, as now"
    parts.append(
        "\n" + paragraph(f"then: stop, prove the port free, start, wait until it is ready, prove it; should any proof fail, it is "
                     f"taken back, and {back}, which is proven, too", width)
    )  # fmt: skip
    return "".join(parts)


def way_back_page(work: Work, folder: str, serving: str, width: int) -> str:
    """What a rollback will do."""
    back = _name(work.away.stack) if work.away.stack else "nothing"
    parts = [f"roll back {work.deployment}: {_name(work.to.stack)} -> {back} as {work.service}\n"]
    parts.append(paragraph(f"serves now: {serving}", width) + "\n")
    parts += [paragraph(f"{n}. {step}", width, 3) for n, step in enumerate(way_back.steps(work, folder), 1)]
    parts += [paragraph(f"{each.path} has other bytes by now than {work.deployment} put there: they are kept first", width)
              for each in work.foreign]  # fmt: skip
    return "".join(parts) + paragraph(f"then proven: {', '.join(way_back.checks(work))}", width)


def rollback_markdown(work: Work, folder: str, serving: str) -> str:
    """The page for three in the morning: what serves, what is done, by which commands if hio is gone, what to check."""
    back = f"`{_name(work.away.stack)}`" if work.away.stack else "nothing (nothing served before)"
    lines = [
        f"# Way back: {work.service}",
        "",
        f"`{_name(work.to.stack)}` was deployed by `{work.name}`. Before, **{back}** served on port {work.port}: {serving}.",
        "",
        "## With hio, on this host",
        "",
        "```",
        f"hio rollback {work.service}        # shows what it will do, changes nothing",
        f"hio rollback {work.service} --yes  # does it, proves it, records it",
        "```",
        "",
        f"If a deployment was interrupted (`hio deploy --list` says *unsafe*): `hio deploy --recover {work.name}`.",
        "",
        "## By hand, if hio is gone",
        "",
        *(f"{n}. {_code(step)}" for n, step in enumerate(way_back.steps(work, folder), 1)),
        "",
        *(["A word `${secret:NAME}` stands for a secret: "
           + ", ".join(f"`{name}` is kept in `{where}`" for name, where in work.secrets.items()) + ".", ""]
          if work.secrets else []),
        "## What to check",
        "",
        f"- `curl -fsS http://{work.address}:{work.port}/health` answers 200" if work.away.stack else "- nobody listens",
        f"- `ss -Hltnp 'sport = :{work.port}'` shows exactly one process" if work.away.stack else f"- `ss -Hltnp 'sport = :{work.port}'` prints nothing",
        *(f"- {each}" for each in way_back.checks(work)),
        "",
        f"Journal and saved files: `{folder}`.",
        "",
    ]  # fmt: skip
    return "\n".join(lines)


_TOLD = {
    "checked": "everything it stands on holds",
    "installed": "{files} installed",
    "stopped": "what served is stopped, the port is free",
    "starting": "starting",
    "running": "process {who[pid]} runs",
    "ready": "it is ready",
    "proven": "it is what was asked for, proven by {checks}",
    "failed": "FAILED ({step}): {found}",
    "taken-away": "nothing of it serves any more",
    "put-back": "{files} put back",
    "restoring": "what served before is started again (process {who[pid]})",
    "restored": "it is as it was before, proven by {checks}",
    "recorded": "recorded in {entry}",
    "not-recorded": "NOT recorded: {why}",
    "left-open": "LEFT OPEN: {why}",
    "recovering": "taken up again",
    "closed": "{outcome}",
}
"""Event -> what is said of it; names are those of its data."""
_OUTCOMES = {"rolled-back": "rolled back", "refused": "refused; nothing was changed"}


def progress(event: Event) -> str | None:
    """One calm line about something that happened; None for what nobody waits for."""
    if event.event in _QUIET:
        return None
    data = event.data
    outcome = str(data.get("outcome"))
    shown = {
        **data,
        "files": counted(len(data.get("files", ())), "file"),
        "checks": counted(len(data.get("checks", ())), "check"),
        "found": _found(data.get("found", {})),
        "outcome": _OUTCOMES.get(outcome, outcome),
    }
    said = _TOLD[event.event].format_map(shown) if event.event in _TOLD else event.event.replace("-", " ")
    return f"{event.at[11:19]}  {visible(said)}\n"


def listed(known: Sequence[Deployment], width: int) -> str:
    """All deployments of this host, those that left it unsafe first, then the newest first."""
    if not known:
        return "nothing was deployed on this host\n"
    ordered = sorted(known, key=_began, reverse=True)
    ordered.sort(key=lambda each: each.state != "unsafe")
    rows = [(each.name, _began(each)[:16].replace("T", " "), each.state, _outcome(each)) for each in ordered]
    text = table(rows, width, ("deployment", "began (UTC)", "state", "how it ended"), whole=True)
    return text + "".join(unsafe_sentence(each) for each in ordered if each.state == "unsafe")


def unsafe_sentence(made: Deployment) -> str:
    """What an open deployment means and what to do."""
    return (
        visible(
            f"this host is unsafe: {made.name} ended without proof of what serves; hio deploy --recover {made.name} "
            "finishes it or takes it back, and proves it; until then hio run and hio deploy refuse"
        )
        + "\n"
    )


def as_shape(work: Work, refused: Sequence[str], difference: Difference | None = None) -> dict[str, Any]:
    """Version 1 of what will be done."""
    return {
        "version": 1,
        "deployment": work.name,
        "kind": work.kind,
        "service": work.service,
        "backend": work.backend,
        "listens": f"{work.address}:{work.port}",
        "serves_now": work.found.serving,
        "from": work.away.stack,
        "to": work.to.stack if work.kind == "deploy" else work.away.stack,
        "files": [{"path": each.path, "before": each.before, "after": each.after, "foreign": each.foreign} for each in work.files],
        "pins": dict(work.pins),
        "observed": work.found.digest,
        "refused": list(refused),
        "difference": difference_shape(difference, _sides(work)) if difference else None,
    }  # fmt: skip


def outcome_shape(made: Deployment, exit_code: int) -> dict[str, Any]:
    """Version 1 of what happened."""
    return {"version": 1, **_shape(made), "exit_code": exit_code}


def listed_shape(known: Sequence[Deployment]) -> dict[str, Any]:
    """Version 1 of the deployments of this host."""
    return {"version": 1, "deployments": [_shape(each) for each in known], "exit_code": 0}


def _shape(made: Deployment) -> dict[str, Any]:
    return {
        "deployment": made.name,
        "state": made.state,
        "outcome": (made.last("closed") or {}).get("outcome"),
        "failed": made.last("failed"),
        "checks": (made.last("proven") or made.last("restored") or {}).get("checks"),
        "entry": (made.last("recorded") or {}).get("entry"),
        "folder": str(made.folder),
        "events": [{"at": each.at, "event": each.event, **each.data} for each in made.events],
    }


def _sides(work: Work) -> tuple[str, str]:
    return _name(work.away.stack), _name(work.to.stack)


def _file(each: FileChange, there: Bytes, new: Bytes, width: int) -> str:
    old, now = there.get(each.path), new.get(each.path)
    if old == now:
        return paragraph(f"  {each.path} stays as it is", width)
    if old is None:
        return paragraph(f"  {each.path} is installed ({counted(len(now or b''), 'byte')})", width)
    strange = "; hio did NOT write what is there: it is kept and needs --overwrite" if each.foreign else ""
    return paragraph(f"  {each.path} is replaced{strange}", width) + "".join(_differing(old, now or b""))


def _differing(old: bytes, new: bytes) -> Iterator[str]:
    before, after = (each.decode(errors="replace").splitlines() for each in (old, new))
    lines = difference_without_secrets(list(difflib.unified_diff(before, after, lineterm="", n=1))[2:])
    yield from (f"    {visible(line)}\n" for line in lines[:_LONGEST_DIFF])
    if len(lines) > _LONGEST_DIFF:
        yield f"    ... {counted(len(lines) - _LONGEST_DIFF, 'line')} more\n"


def _pins(work: Work) -> Iterator[tuple[str, str]]:
    for role in ("approval", "matrix", "qualification"):
        if role in work.pins:
            yield role, _name(work.pins[role])
    if "matrix" not in work.pins:
        yield "matrix", "none needed: the stack that serves by the ledger is not replaced"


def _name(pin: str | None) -> str:
    return (pin or "nothing").partition("@")[0]


def _found(found: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {each}" for name, each in found.items())


def _began(made: Deployment) -> str:
    return made.events[0].at if made.events else ""


def _outcome(made: Deployment) -> str:
    closed, failed = made.last("closed"), made.last("failed")
    said = str(closed["outcome"]).replace("-", " ") if closed else ""
    return f"{said}: {_found(failed['found'])}" if failed and said else said


def _code(step: str) -> str:
    """A step with its command set apart."""
    said, colon, command = step.partition(": ")
    return f"{said}:\n\n   ```\n   {command}\n   ```\n" if colon else said


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
