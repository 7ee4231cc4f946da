"""A running binary that is not the build its documents name, by hash or by what it reports of itself.

A checkout revision is not the running binary's revision (contract 1.2): someone rebuilt in place, the unit
still points at last month's folder, or one library of ten was replaced. All defaults of a stack are taken from
the build it names, so with the wrong build every computed value of the matrix is wrong and looks right.

Compared are the hashes of the executable and of each library that both sides know, the build number and commit
that the process reports (`/props` build_info, its log) with the recorded source revision, and the build that
the capture recognised with the one that the stack names. What a side does not know (`b0-unknown`) contradicts
nothing.

How to fix: find out which binary runs. If it is the right one, record it as a build of its own
(`hio engine learn`) and name that build in the stack; if not, start the right one and capture again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.engine import Engine, Identity
from hio_validate.models.reported import facts
from hio_validate.repo import Item
from hio_validate.rules.base import Place, Problem, Rule, Scope, View, at
from hio_validate.settings.revision import revision_of


def check(item: Item, view: View) -> Iterator[Problem]:
    stack = view.repo.find("stack/v1", item.model.stack, item.service) if item.model.stack else None
    for name, process in item.model.processes.items():
        declared = stack.model.processes.get(name) if stack and stack.model else None
        named = declared.build if declared else None
        for build in dict.fromkeys(filter(None, (process.build, named))):
            engine = view.repo.find("engine/v1", build)
            if engine is not None and engine.model is not None:
                yield from _bytes(item, name, process, engine)
                yield from _report(item, name, process, engine)
        if stack and named and process.build not in (None, named):
            yield from _name(item, name, process, stack, named, view)


def _bytes(item: Item, name: str, process: CapturedProcess, engine: Item) -> Iterator[Problem]:
    identity = engine.model.identity
    if identity is None:
        return
    for path, part, sha256 in _recorded_parts(process, identity):
        mapped = process.libraries[path[1]] if len(path) > 1 else process.executable
        if sha256 not in (None, "unknown") and mapped.sha256 not in (None, sha256):
            where = ("identity", "executable") if path == ("executable",) else ("identity", "libraries", part)
            yield Problem(
                at(item, "processes", name, *path, "sha256"),
                f"{path[-1]} of {name} is {mapped.sha256}; the build {engine.name} has {sha256}",
                "record what runs as a build of its own (hio engine learn), and name it in the stack",
                (("the recorded build", Place(engine.document, where)),),
            )


def _recorded_parts(
    process: CapturedProcess, identity: Identity
) -> Iterator[tuple[tuple[str, ...], str, str | None]]:
    """(path in the captured process, name in the record, recorded hash) of every part that both sides have.

    A library of another version has another file name: libllama.so.0.0.1 and libllama.so.0.0.2 are one library.
    """
    yield ("executable",), "executable", identity.executable
    running = {library.partition(".so")[0]: library for library in process.libraries}
    for part, sha256 in identity.libraries.items():
        found = part if part in process.libraries else running.get(part.partition(".so")[0])
        if found is not None:
            yield ("libraries", found), part, sha256


def _name(
    item: Item, name: str, process: CapturedProcess, stack: Item, named: str, view: View
) -> Iterator[Problem]:
    """The capture recognised one build and the stack names another, whose hash nobody kept: see _bytes."""
    engine = view.repo.find("engine/v1", named)
    identity = engine.model.identity if engine and engine.model else None
    if identity is None or identity.executable in (None, "unknown"):
        yield Problem(
            at(item, "processes", name, "build"),
            f"{name} runs the build {process.build}; the stack {stack.name} names {named}",
            f"name {process.build} in the stack, or start {named} and capture again",
            (("the stack's build", Place(stack.document, ("processes", name, "build"))),),
        )


def _report(item: Item, name: str, process: CapturedProcess, engine: Item) -> Iterator[Problem]:
    recorded = _recorded(engine.model)
    for where, key, reported in _reports(process):
        if revision_of(reported).contradicts(revision_of(recorded)):
            yield Problem(
                at(item, "processes", name, where, "facts", key),
                f"{name} reports {reported}; the source recorded for {engine.name} is {recorded}",
                "a checkout revision is not the running binary's revision: find out which one runs",
                (("the recorded source", Place(engine.document, ("source", "revision"))),),
            )


def _reports(process: CapturedProcess) -> Iterator[tuple[str, str, str]]:
    """(field, fact, text) of everything a process says about its own build."""
    props, log = facts(process.props), facts(process.log)
    if "build_info" in props:
        yield "props", "build_info", str(props["build_info"])
    if "commit" in log:
        yield "log", "commit", f"b{log.get('build', 0)}-{log['commit']}"


def _recorded(engine: Engine) -> str:
    return (engine.source.revision if engine.source else None) or ""


RULE = Rule(
    "source-binary-contradiction", Scope.DOCUMENT, Severity.ERROR, "the running binary is not the recorded build",
    check, kinds=("capture/v1",), contract=("1.2",),
)  # fmt: skip
