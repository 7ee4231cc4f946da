"""A checkpoint's plan and what became of it, as text and as JSON (version 1, which only gains optional fields)."""

from __future__ import annotations

from typing import Any

from hio_validate.checkpoint.plan import TRAILER, Outcome, Plan, Target
from hio_validate.quantity import counted
from hio_validate.report.json_ import dump
from hio_validate.report.visible import visible

_MOST = 20
"""Lines of what is left or goes along; more are counted."""


def as_text(plan: Plan, outcome: Outcome | None, url: str) -> str:
    """The plan in a page, then what was done, or what to do. `url` is the target's address, fit to be shown."""
    lines = [f'checkpoint on {visible(plan.branch)}, {TRAILER} {plan.class_}: "{visible(plan.message)}"']
    lines += [f"  {each.what:12}  {visible(each.path)}{_size(each.what, each.size)}" for each in plan.changes]
    lines += [f"  as committed  {visible(path)}" for path in plan.unchanged]
    if plan.left:
        lines += ["left as they are, in the index and on disk, because nobody named them:"]
        lines += _some([f"  {visible(path)}  ({how})" for path, how in plan.left])
    for each in plan.refusals:
        lines.append(f"refused: {visible(each.path)} {visible(each.reason)}")
        lines += [f"  help: {visible(each.help)}"] if each.help else []
    if not plan.refusals and plan.changes:
        lines.append(f"checked: {'; '.join(plan.checked)}")
    if plan.target is not None:
        lines += _target(plan.target, bool(plan.changes), visible(url))
    return "\n".join([*lines, *_end(plan, outcome)]) + "\n"


def _size(what: str, size: int) -> str:
    return "" if what == "deleted" else f"  ({size:,} bytes)"


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - _MOST
    return lines if more <= 0 else [*lines[:_MOST], f"  and {more} more"]


def _target(target: Target, commits: bool, url: str) -> list[str]:
    there = target.before[:12] if target.before else "nothing yet"
    lines = [f"pushes to {target.remote} ({url}), {target.ref}, where there is {there}"]
    if target.earlier:
        lines.append(f"{counted(len(target.earlier), 'earlier commit')} would go along:")
        lines += _some([f"  {visible(each)}" for each in target.earlier])
    return lines


def _end(plan: Plan, outcome: Outcome | None) -> list[str]:
    if plan.refusals:
        return [f"nothing was committed: {counted(len(plan.refusals), 'reason')} against it"]
    if not plan.has_work:
        return ["nothing to do: the named files are as they were committed"]
    if outcome is None:
        only = f" (--planned {plan.tree[:12]} lets nothing else through)" if plan.changes else ""
        return [f"nothing is done yet; add --yes to carry this out{only}"]
    lines = [f"committed {outcome.commit[:12]}"] if outcome.commit else []
    if outcome.failed:
        lines.append(f"not pushed: {visible(outcome.failed)}")
    elif outcome.pushed is not None:
        same = (
            "the same"
            if outcome.is_whole
            else "NOT the same; somebody pushed meanwhile, or the remote rewrote it"
        )
        lines.append(f"pushed: local {outcome.pushed}, remote {outcome.there}: {same}")
    return lines


def as_json(plan: Plan, outcome: Outcome | None, url: str, exit_code: int) -> str:
    """One object; `commit` and `push` are null where nothing was done."""
    return dump(
        {
            "version": 1,
            "branch": plan.branch,
            "base": plan.base,
            "class": plan.class_,
            "message": plan.message,
            "tree": plan.tree,
            "changes": [
                {"path": each.path, "what": each.what, "id": each.id, "bytes": each.size}
                for each in plan.changes
            ],
            "unchanged": list(plan.unchanged),
            "left": [{"path": path, "how": how} for path, how in plan.left],
            "refused": [
                {"path": each.path, "reason": each.reason, "help": each.help} for each in plan.refusals
            ],
            "checked": list(plan.checked),
            "commit": outcome.commit if outcome else None,
            "push": _push(plan, outcome, url),
            "exit_code": exit_code,
        }
    )


def _push(plan: Plan, outcome: Outcome | None, url: str) -> dict[str, Any] | None:
    if plan.target is None:
        return None
    return {
        "remote": plan.target.remote,
        "url": url,
        "ref": plan.target.ref,
        "before": plan.target.before,
        "earlier": list(plan.target.earlier),
        "local": outcome.pushed if outcome else None,
        "there": outcome.there if outcome else None,
        "failed": (outcome.failed or None) if outcome else None,
    }
