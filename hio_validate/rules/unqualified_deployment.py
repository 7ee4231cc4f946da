"""A deployment without a qualification, or with one that did not pass or is about another stack, build or bytes.

Whether a stack starts and is fast says nothing about what serving needs: that answers arrive while they are
generated, that a client that goes away frees its slot, that conversations do not see each other, that the
claimed context can be filled. `hio qualify` tries that on a live process and writes a receipt; a deployment
stands on one for exactly its stack and build (contract 8.2, 8.3).

A missing receipt, a probe that was not asked or could not be observed is a gate. A probe that failed, a receipt
about another stack or build, and bytes that are not those which the deployment's capture saw are errors. What
was deployed before this rule gets notes; history from before hio (`imported: true`) is only gated where its
receipt contradicts it.

How to fix: `hio qualify STACK`, then deploy; a deployment that is committed is rolled back or deployed again.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.evidence.probes import PROBES
from hio_validate.models.entry import Deployment
from hio_validate.repo import Item, name_of
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key, listed

_QUALIFY = "hio qualify probes the stack and writes a receipt; deploy with that one"


def check(item: Item, view: View) -> Iterator[Problem]:
    entry = item.model
    if not isinstance(entry, Deployment):
        return
    if entry.pins.qualification is None:
        if not entry.imported:
            yield Problem(
                at_key(item, "pins"),
                "this deployment pins no qualification: the receipt that this stack does what serving needs",
                f"hio qualify {name_of(entry.pins.candidate)} probes it; add pins: {{qualification: …}}",
                severity=Severity.GATE,
            )
        return
    receipt = view.repo.find("qualification/v1", name_of(entry.pins.qualification), item.service)
    if receipt is None or receipt.model is None:
        return
    for problem in (*_about_another(item, receipt, view), *_not_passed(item, receipt)):
        yield problem._replace(severity=Severity.GATE) if entry.imported else problem


def _about_another(item: Item, receipt: Item, view: View) -> Iterator[Problem]:
    """Where the receipt is about something else than what is deployed."""
    place, candidate = at(item, "pins", "qualification"), item.model.pins.candidate
    if receipt.model.service != item.service:
        yield Problem(place, f"{receipt.name} is about {receipt.model.service}, not {item.service}", _QUALIFY)
    if receipt.model.stack.partition("@")[2] != candidate.partition("@")[2]:
        about = name_of(receipt.model.stack)
        other = f"other bytes of {about}" if about == name_of(candidate) else f"the stack {about}"
        yield Problem(
            place,
            f"{receipt.name} is about {other}; deployed is {name_of(candidate)}",
            _QUALIFY,
            (("what was probed", at(receipt, "stack")),),
        )
    stack = view.repo.find("stack/v1", name_of(candidate), item.service)
    builds = {process.build for process in stack.model.processes.values()} if stack and stack.model else set()
    if builds and receipt.model.build not in builds:
        told = listed(sorted(each or "no build" for each in builds))
        yield Problem(
            place,
            f"{receipt.name} probed {receipt.model.build or 'no build'}; the stack names {told}",
            _QUALIFY,
        )
    yield from _other_bytes(item, receipt, view)


def _other_bytes(item: Item, receipt: Item, view: View) -> Iterator[Problem]:
    """Executable, libraries and artifacts that the live process has otherwise than the probed one."""
    pin = item.model.pins.capture
    capture = view.repo.find("capture/v1", name_of(pin), item.service) if pin else None
    if capture is None or capture.model is None or len(capture.model.processes) != 1:
        return
    seen = next(iter(capture.model.processes.values()))
    probed = receipt.model.process
    pairs = [("executable", probed.executable, seen.executable)]
    pairs += [(name, sha256, seen.libraries.get(name)) for name, sha256 in probed.libraries.items()]
    pairs += [(role, sha256, seen.artifacts.get(role)) for role, sha256 in probed.artifacts.items()]
    other = [
        name
        for name, sha256, mapped in pairs
        if sha256 != "unknown" and mapped is not None and mapped.sha256 not in (None, sha256)
    ]
    if other:
        yield Problem(
            at(item, "pins", "capture"),
            f"what serves has other bytes than {receipt.name} probed: {listed(other)}",
            _QUALIFY,
            (("what was probed", at(receipt, "process")),),
        )


def _not_passed(item: Item, receipt: Item) -> Iterator[Problem]:
    place = at(item, "pins", "qualification")
    unasked = [name for name in PROBES if name not in receipt.model.probes]
    if unasked:
        yield Problem(
            place, f"{receipt.name} did not ask {listed(unasked)}", _QUALIFY, severity=Severity.GATE
        )
    for name, probe in receipt.model.probes.items():
        if probe.verdict != "passed":
            failed = probe.verdict == "failed"
            why = f": {probe.because}" if probe.because else ""
            yield Problem(
                place,
                f"{name} {'failed' if failed else 'could not be observed'} in {receipt.name}{why}",
                _QUALIFY,
                (("the probe", at(receipt, "probes", name, "verdict")),),
                None if failed else Severity.GATE,
            )


RULE = Rule(
    "unqualified-deployment", Scope.DOCUMENT, Severity.ERROR, "a deployment has no qualification of its stack", check,
    kinds=("entry/v1",), contract=("8.2", "8.3"), since=4, suppressible=False, spares_older=True,
)  # fmt: skip
