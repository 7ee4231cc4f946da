"""Thinks a checkpoint through: sorts the files out, builds the tree, collects every reason not to commit it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hio_validate.checkpoint import content, judge, remote, secrets, tree
from hio_validate.checkpoint.owned import sort_out
from hio_validate.checkpoint.plan import Change, Plan, Refusal, Target
from hio_validate.checkpoint.standing import Standing

MESSAGE = "the message"
"""What stands in the place of a file where the commit message is meant."""


def plan(
    standing: Standing,
    root: Path,
    named: Sequence[Path],
    class_: str,
    message: str,
    largest: int,
    target: Target | None = None,
) -> Plan:
    """The checkpoint of these files. `root` holds the rooms. Raises Misnamed, NotNow, GitError."""
    scanner = secrets.scanner()
    owned = sort_out(standing, named, largest)
    with tree.beside(standing, owned.taken) as staged:
        changes = staged.changes()
        contents = staged.contents(changes)
        looked_at = _of_content(contents, message)
        deleted = {change.path: None for change in changes if change.what == "deleted"}
        found, judged = judge.documents(root, standing.top, {**contents, **deleted})
        whitespace = judge.whitespace(staged, [change.path for change in changes])
    if target is not None:
        looked_at += _of_earlier(standing, target, largest)
    return Plan(
        branch=standing.branch, base=standing.base, class_=class_, message=message, tree=staged.tree,
        changes=tuple(Change(each.path, each.what, each.id, len(contents.get(each.path, b""))) for each in changes),
        left=tuple(owned.left),
        unchanged=tuple(owned.unchanged),
        refusals=(*owned.refusals, *looked_at, *found, *whitespace),
        checked=(f"secrets ({scanner})", "weights, saved state and build products by content", judged,
                 "git diff --check"),
        target=target,
    )  # fmt: skip


def _of_content(contents: dict[str, bytes], message: str) -> list[Refusal]:
    refused = [bad for path, raw in contents.items() if (bad := content.refusal(path, raw))]
    known = {each.path for each in refused}
    text = [(path, raw) for path, raw in contents.items() if path not in known]
    return refused + secrets.refusals([*text, (MESSAGE, message.encode())])


def _of_earlier(standing: Standing, target: Target, largest: int) -> list[Refusal]:
    """What must not leave the machine with the commits that were made before and would go along."""
    blobs = remote.blobs_of_earlier(standing, target)
    refused = [
        Refusal(path, f"has {size / 2**20:.1f} MiB, more than {largest / 2**20:g} MiB")
        for path, size in blobs.values()
        if size > largest
    ]
    read = tree.read_blobs(standing.top, [id_ for id_, (_, size) in blobs.items() if size <= largest])
    files = [(blobs[id_][0], raw) for id_, raw in read.items()]
    refused += [bad for path, raw in files if (bad := content.refusal(path, raw))]
    return [
        each._replace(
            reason=f"{each.reason}, in an earlier commit that would be pushed along",
            help="make those commits again without it, before anybody has them",
        )
        for each in (*refused, *secrets.refusals(files))
    ]
