"""What the settings of a stack say of its workload: threads, microbatch, number formats of K and V, slots, devices, drafting.

Invariant: what the engine decides itself (`auto`, -1) and nobody observed stays absent, and is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.settings.setting import Setting
from hio_validate.settings.value import ABSENT, UNKNOWN

PREFILLS = ("prefill-token", "request")
"""Paths on which the prompt is evaluated: batch threads and the microbatch bound them."""

_THREADS = {True: ("threads-batch", "threads"), False: ("threads",)}
_MICROBATCH = ("ubatch-size", "max-num-batched-tokens", "chunked-prefill-size")
_KEYS = ("cache-type-k", "kv-cache-dtype")
_VALUES = ("cache-type-v", "kv-cache-dtype")
_SLOTS = ("parallel", "max-num-seqs", "max-running-requests")
_SHARDS = ("tensor-parallel-size", "tp-size", "tp")
_DRAFTS = ("spec-type", "spec-draft-model", "speculative-config", "speculative-algorithm")
"""Setting without its process, as llama-server, vLLM or SGLang calls it; the first one that the engine has counts."""

_NOTHING = frozenset({ABSENT, UNKNOWN, "", "auto", "none", "None", "null", "unused", "off"})
_DECIDES = "which the engine decides itself: hio capture of a process of this stack says what became of it"


class InForce(NamedTuple):
    """What the settings say; None where they do not."""

    process: str
    engine: str
    build: str | None
    threads: int | None
    microbatch: int | None
    key_type: str | None
    value_type: str | None
    slots: int | None
    devices: int
    drafting: str | None
    missing: tuple[str, ...]
    """What is not known, one sentence each."""


def in_force(view: View, stack: Item, capture: Item | None, path: str) -> InForce:
    """The workload's part that the stack decides, as a capture of it observed it where there is one."""
    role = _role(view, stack)
    process = stack.model.processes[role]
    asked = _Asked(view, stack, capture, role)
    threads = asked.number(*_THREADS[path in PREFILLS], what="threads")
    batch = asked.number(*_MICROBATCH, what="tokens of one pass")
    logical = asked.setting("batch-size")  # of llama-server: a microbatch is never larger
    if batch is not None and logical is not None and logical.value.isdecimal():
        batch = min(batch, int(logical.value) or batch)
    return InForce(
        process=role, engine=process.engine, build=process.build, threads=threads, microbatch=batch,
        key_type=asked.word(*_KEYS, what="the number format of K"),
        value_type=asked.word(*_VALUES, what="the number format of V"),
        slots=asked.number(*_SLOTS, what=""), devices=asked.devices(), drafting=asked.drafting(),
        missing=tuple(asked.missing),
    )  # fmt: skip


def _role(view: View, stack: Item) -> str:
    """The process that serves the model: the one called server, else the first whose engine is known."""
    processes = stack.model.processes
    if "server" in processes:
        return "server"
    known = [role for role, each in processes.items() if view.settings.family(each.engine) is not None]
    return str((known or [*processes])[0])


class _Asked:
    """Looks settings of one process up, and remembers what is not known of them."""

    def __init__(self, view: View, stack: Item, capture: Item | None, role: str) -> None:
        self.role = role
        self.declared = view.settings.effective(stack)
        self.observed = view.settings.effective(stack, capture) if capture else self.declared
        self.missing: list[str] = []

    def setting(self, *factors: str) -> Setting | None:
        """The first of these that the process has: as observed where that is known, else as declared."""
        for factor in factors:
            address = f"{self.role}.{factor}"
            seen, said = self.observed.settings.get(address), self.declared.settings.get(address)
            found = seen if seen is not None and (seen.known or said is None) else said
            if found is not None and not (found.value == ABSENT and len(factors) > 1):
                return found
        return None

    def number(self, *factors: str, what: str) -> int | None:
        found = self.setting(*factors)
        if found is None:
            return None
        if found.value.isdecimal() and int(found.value) > 0:
            return int(found.value)
        if what:
            self.missing.append(f"{found.address} is {found.shown}, {_DECIDES}")
        return None

    def word(self, *factors: str, what: str) -> str | None:
        found = self.setting(*factors)
        if found is not None and found.value not in _NOTHING:
            return found.value
        sentence = (
            f"{what} is not known: no setting of {self.role} says it"
            if found is None
            else f"{found.address} is {found.shown}, {_DECIDES}"
        )
        if sentence not in self.missing:
            self.missing.append(sentence)
        return None

    def devices(self) -> int:
        """Devices that divide each pass among them. llama-server divides layers by default: one works at a time."""
        sharded = self.setting(*_SHARDS)
        if sharded is not None and sharded.value.isdecimal():
            return max(1, int(sharded.value))
        split, parts = self.setting("split-mode"), self.setting("tensor-split")
        if split is not None and split.value == "row" and parts is not None:
            return max(1, sum(_is_positive(each) for each in parts.value.replace("/", ",").split(",")))
        return 1

    def drafting(self) -> str | None:
        found = next(self._drafting(_DRAFTS), None)
        return f"{found.address} {found.value}" if found else None

    def _drafting(self, factors: Sequence[str]) -> Iterator[Setting]:
        for factor in factors:
            found = self.setting(factor)
            if found is not None and found.value not in _NOTHING:
                yield found


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
