"""A context size that a stack states while the share of each stream cannot be computed from it.

`--ctx-size 32768` is a promise of 32768 tokens per conversation only for one stream, or where all streams
share one K/V buffer. With `--parallel 4` and separate buffers a client is cut off at 8192; with
`--parallel -1` the engine decides at start. Nobody sees it in the command line, and the first long prompt
in production finds out (contract 1.3: allocated capacity is declared, not validated; contract 2.4: such
interplay is resolved or reported as unknown).

It is a gate: the stack may be committed, and it becomes quiet by itself as soon as a capture of the stack
shows the context of the slots.

How to fix: set `--parallel N` and one of `--kv-unified` / `--no-kv-unified` next to `--ctx-size`, or observe
the running process with `hio capture --stack NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.diagnostic import Severity
from hio_validate.models.capture import CapturedProcess
from hio_validate.models.reported import facts
from hio_validate.models.stack import Stack
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at
from hio_validate.settings.setting import Effective, Setting
from hio_validate.settings.value import UNKNOWN


def check(item: Item, view: View) -> Iterator[Problem]:
    stack: Stack = item.model
    effective = view.settings.effective(item)
    for process in stack.processes:
        context = effective.settings.get(f"{process}.ctx-size")
        if context is None or not context.set_by_a_person or not context.path:
            continue
        why = _why_ambiguous(process, context, effective)
        if why and not _is_observed(process, item, view):
            yield Problem(
                at(item, *context.path),
                f"the context per stream of {process} cannot be computed: {why}",
                "set --ctx-size, --parallel and --kv-unified or --no-kv-unified, or observe it (hio capture --stack)",
            )


def _why_ambiguous(process: str, context: Setting, effective: Effective) -> str:
    parallel = effective.settings.get(f"{process}.parallel")
    unified = effective.settings.get(f"{process}.kv-unified")
    if not context.known:
        return f"ctx-size is {context.shown}, decided at start"
    if parallel is None:
        return ""
    if not parallel.known:
        return f"parallel is {parallel.shown}, so nobody knows how many streams share {context.value} tokens"
    if parallel.value != "1" and not _decided(unified):
        said = unified.shown if unified else UNKNOWN
        return f"{parallel.value} streams share {context.value} tokens or split them; kv-unified is {said}"
    return ""


def _decided(unified: Setting | None) -> bool:
    return unified is not None and unified.value in ("on", "off")


def _is_observed(process: str, stack: Item, view: View) -> bool:
    """Whether a capture of this stack shows the context of this process's slots."""
    return any(
        _shows_slots(capture.model.processes.get(process))
        for capture in view.repo.of("capture/v1")
        if capture.model.stack and view.repo.find("stack/v1", capture.model.stack, capture.service) is stack
    )


def _shows_slots(process: CapturedProcess | None) -> bool:
    return process is not None and ("0.n_ctx" in facts(process.slots) or "n_ctx_slot" in facts(process.log))


RULE = Rule(
    "ambiguous-capacity", Scope.DOCUMENT, Severity.GATE, "the context per stream cannot be computed", check,
    kinds=("stack/v1",), contract=("1.3", "2.4"),
)  # fmt: skip
