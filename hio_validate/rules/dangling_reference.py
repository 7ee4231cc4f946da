"""A name that leads to no document, or to the build of another engine.

A matrix whose parent does not exist compares nothing; a row whose evidence does not exist rests on nothing; a
stack whose build does not exist, or is a build of another family, has no defaults or the wrong ones (contract
2.2). All of them look complete on the page. What is pinned by a digest is the concern of `pin-mismatch`.

A capture is never edited, so a name that it lost later is a gate there: what was observed can no longer be
compared with what was asked for.

A document that exists and cannot be read counts as existing: its own fault is reported, once.

How to fix: correct the name (the nearest one is suggested), or add the document. A document of another service
is cited as `site/model/name`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models import KINDS
from hio_validate.models.stack import Stack
from hio_validate.repo import Item, Reference, references
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.spelling import nearest


def check(item: Item, view: View) -> Iterator[Problem]:
    yield from _nowhere(item, view)
    if isinstance(item.model, Stack):
        yield from _to_another_family(item, item.model, view)


def _nowhere(item: Item, view: View) -> Iterator[Problem]:
    for reference in references(item):
        if (
            reference.digest is not None
            or reference.kind not in KINDS
            or view.repo.maybe_unread(reference.name)
        ):
            continue
        if view.repo.find(reference.kind, reference.name, item.service) is None:
            kind = (
                reference.kind.partition("/")[0]
                .replace("engine", "build")
                .replace("ceilings", "ceilings document")
            )
            yield Problem(
                at(item, *reference.path),
                f"no {kind} is called {reference.name}",
                _advice(reference, view),
                severity=Severity.GATE if item.kind == "capture/v1" else None,
            )


def _to_another_family(item: Item, stack: Stack, view: View) -> Iterator[Problem]:
    for name, process in stack.processes.items():
        build = view.repo.find("engine/v1", process.build) if process.build else None
        if build and build.model and process.engine not in ("unknown", build.model.family):
            yield Problem(
                at(item, "processes", name, "build"),
                f"{build.name} is a build of {build.model.family}; this process runs {process.engine}",
                "correct engine: or build:; the family says how argv is read, the build gives the defaults",
                (("the family of the build", at(build, "family")),),
            )


def _advice(reference: Reference, view: View) -> str:
    near = nearest(reference.name, view.repo.names(reference.kind), 0.8)
    return f"did you mean {near}?" if near else "add the document or correct the name"


RULE = Rule(
    "dangling-reference", Scope.DOCUMENT, Severity.ERROR, "a name leads to no document, or to another engine's build", check,
    kinds=("stack/v1", "capture/v1", "matrix/v1", "run/v1", "entry/v1", "plan/v1", "campaign/v1", "known-good/v1",
           "ceilings/v1", "profile/v1", "estimate/v1"),
    suppressible=False,
)  # fmt: skip
