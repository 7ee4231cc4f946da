"""A pinned file whose bytes are not the pinned ones: it was edited or deleted.

What a run, a decision or a build relies on is pinned by the SHA-256 of its bytes and is frozen from then on
(contract 1.4). If the stack that was measured is edited afterwards, the published gain belongs to a stack that
exists nowhere; if a line of the raw rows is "cleaned up", nobody can compute the number again. Anyone can check
a pin with `sha256sum`.

A pinned file that git ignores is found, too: it lies here, and nobody who clones the repository gets it.

How to fix: restore the pinned bytes (`git log -- FILE` finds them). What was wrong stays and is corrected by a
new document under a new name and a `correction` entry. Where the pin itself was mistyped and never committed,
correct the pin.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models import KINDS
from hio_validate.places import ROOMS
from hio_validate.repo import Item, Reference, evidence_files, joined, references
from hio_validate.rules.base import Problem, Rule, Scope, View, at, in_file

_HELP = "restore the pinned bytes; a correction is a new document plus a correction entry"


def check(item: Item, view: View) -> Iterator[Problem]:
    for reference in references(item):
        if reference.digest is not None and reference.kind in KINDS:
            yield from _pinned(item, reference, view)
    for path, file, sha256 in evidence_files(item):
        found = view.repo.digest_beside(item, file)
        if found is None:
            yield Problem(
                at(item, *path), f"{file}, pinned here, is not beside this document", "restore the file"
            )
        elif found != sha256:
            yield Problem(
                at(item, *path),
                f"{file} has sha256 {found}; pinned is {sha256}",
                "restore the pinned bytes; raw evidence is never edited",
            )
        elif _is_ignored(item, file, view):
            yield Problem(
                at(item, *path),
                f"{file}, pinned here, is ignored by git: no commit will hold it",
                f"take it out of .gitignore, which git check-ignore -v {joined(item.file, file)} names, or git add -f it",
            )


def _is_ignored(item: Item, file: str, view: View) -> bool:
    """Whether a file lies on disk and is not listed where its document is: git lists what is tracked or not ignored."""
    path, listed = joined(item.file, file), view.repo.paths
    return item.file in listed and path not in listed and path.startswith(tuple(f"{room}/" for room in ROOMS))


def _pinned(item: Item, reference: Reference, view: View) -> Iterator[Problem]:
    digest = reference.digest
    target = view.repo.find(reference.kind, reference.name, item.service)
    if target is None:
        target = _unread(reference, view)
    kind = reference.kind.partition("/")[0]
    if target is None and reference.path[0] == "after":
        return  # broken-lineage reports the lost ancestor
    if target is None:
        yield Problem(at(item, *reference.path), f"the pinned {kind} {reference.name} is gone", _HELP)
    elif target.document.digest != digest:
        yield Problem(
            at(item, *reference.path),
            f"the pinned {kind} {reference.name} has changed: pinned {digest}, found {target.document.digest}",
            _HELP,
            (("the changed file", in_file(target.file, 1, 1)),),
        )


def _unread(reference: Reference, view: View) -> Item | None:
    """A document whose kind cannot be read still has bytes, and those can be compared."""
    name = reference.name.rpartition("/")[2]
    unread = [item for item in view.repo.items if not item.kind and item.name == name]
    pinned = (item for item in unread if item.document.digest == reference.digest)
    return next(pinned, unread[0] if unread else None)


RULE = Rule(
    "pin-mismatch", Scope.DOCUMENT, Severity.ERROR, "a pinned file was edited or deleted", check,
    kinds=(
        "engine/v1", "run/v1", "observation/v1", "entry/v1", "campaign/v1", "campaign-run/v1", "tasks/v1", "receipt/v1",
        "qualification/v1", "fixture/v1", "shape/v1", "profile/v1", "estimate/v1",
    ), contract=("1.4",), suppressible=False,
)  # fmt: skip
