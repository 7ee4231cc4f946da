"""What the settings of a stack say of its workload: threads, microbatch, number formats of K and V, slots, devices, drafting.

Invariant: what the engine decides itself (`auto`, -1) and nobody observed stays absent, and is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import loads
from typing import Literal, NamedTuple

from hio_validate.costs.interval import Interval
from hio_validate.costs.loaded import SCHEMES
from hio_validate.estimating.context.spelled import spelled
from hio_validate.models.estimate import Sharding
from hio_validate.repo import Item
from hio_validate.rules.base import View
from hio_validate.settings.setting import Setting
from hio_validate.settings.value import ABSENT, UNKNOWN

PREFILLS = ("prefill-token", "request")
"""Paths on which the prompt is evaluated: batch threads and the microbatch bound them."""

_NOTHING = frozenset({ABSENT, UNKNOWN, "", "{}", "auto", "none", "None", "null", "unused", "off"})
_SHORT = {"shards": "tp", "stages": "pp", "replicas": "dp", "contexts": "dcp", "prompt-contexts": "pcp"}
"""What divides a model over devices -> its short flag, which is a setting of its own where no build's help text is known."""
_MOST_DEVICES = 65536
_DECIDES = "which the engine decides itself: hio capture of a process of this stack says what became of it"


class InForce(NamedTuple):
    """What the settings say; None where they do not."""

    process: str
    engine: str
    build: str | None
    threads: int | None
    batch_threads: int | None
    """Threads of passes of several tokens."""
    microbatch: int | None
    key_type: str | None
    value_type: str | None
    slots: int | None
    devices: int
    sharding: Sharding | None
    held_in: Literal["host", "device", "host-and-devices"] | None
    kv_cache: Literal["at-start", "paged"] | None
    state_type: str | None
    loaded_as: str | None
    drafting: str | None
    draft_tokens: Interval | None
    """Tokens that a pass drafts, where the settings say it."""
    whole_prompts: bool
    """Whether a prompt is evaluated in one pass, however long it is."""
    missing: tuple[str, ...]
    """What is not known, one sentence each."""


def in_force(view: View, stack: Item, capture: Item | None, path: str, *, batched: bool = False) -> InForce:
    """The workload's part that the stack decides, as a capture of it observed it where there is one.

    batched: whether passes of decode evaluate several tokens. Those have threads of their own, as has what a stack that
    drafts verifies (llama.cpp, src/llama-context.cpp: process_ubatch computes with n_threads_batch where n_tokens > 1).
    """
    role = serving_process(view, stack, path)
    process = stack.model.processes[role]
    asked = _Asked(view, stack, capture, role)
    prefills = path in PREFILLS
    whole_prompts = asked.undivided()
    drafts = asked.drafts()
    several = prefills or batched or drafts is not None
    threads = asked.number("threads", what="" if path == "prefill-token" else "threads")
    batch_threads = asked.number("prefill-threads", what="threads" if several else "")
    batch = (
        None if whole_prompts else asked.number("microbatch", what="tokens of one pass" if prefills else "")
    )
    logical = asked.setting("batch")
    if batch is not None and logical is not None and logical.value.isdecimal():
        batch = min(batch, int(logical.value) or batch)
    return InForce(
        process=role, engine=process.engine, build=process.build, threads=threads, batch_threads=batch_threads,
        microbatch=batch,
        key_type=asked.word("key-type", what="the number format of K"),
        value_type=asked.word("value-type", what="the number format of V"),
        slots=asked.number("slots", what=""), devices=asked.devices(prefills),
        sharding=asked.sharding(), held_in=asked.held_in(), kv_cache=asked.kv_cache(), state_type=asked.state_type(), loaded_as=asked.loaded_as(),
        drafting=f"{drafts.address} {drafts.value}" if drafts else None,
        draft_tokens=asked.draft_tokens(drafts) if drafts else None,
        whole_prompts=whole_prompts, missing=tuple(asked.missing),
    )  # fmt: skip


def serving_process(view: View | None, stack: Item, path: str) -> str:
    """The process whose work a path is: `server`, the half of a divided service, else the first whose engine is known."""
    processes = stack.model.processes
    half = {"decode-token": "decode", "prefill-token": "prefill", "request": "prefill"}.get(path, "")
    for role in ("server", half):
        if role in processes:
            return role
    known = [
        role for role, each in processes.items() if view is not None and view.settings.family(each.engine)
    ]
    return str((known or [*processes])[0])


class _Asked:
    """Looks settings of one process up, by what they mean, and remembers what is not known of them."""

    def __init__(self, view: View, stack: Item, capture: Item | None, role: str) -> None:
        self.role, self.engine = role, stack.model.processes[role].engine
        self.declared = view.settings.effective(stack)
        self.observed = view.settings.effective(stack, capture) if capture else self.declared
        self.missing: list[str] = []

    def setting(self, meaning: str) -> Setting | None:
        """The first of its spellings that the process has: as observed where that is known, else as declared."""
        return self._of(spelled(meaning, self.engine))

    def _of(self, factors: Sequence[str]) -> Setting | None:
        for factor in factors:
            address = f"{self.role}.{factor}"
            seen, said = self.observed.settings.get(address), self.declared.settings.get(address)
            found = seen if seen is not None and (seen.known or said is None) else said
            if found is not None and not (found.value == ABSENT and len(factors) > 1):
                return found
        return None

    def number(self, meaning: str, what: str) -> int | None:
        found = self.setting(meaning)
        if found is None:
            return None
        if found.value.isdecimal() and int(found.value) > 0:
            return int(found.value)
        sentence = f"{found.address} is {found.shown}, {_DECIDES}"
        if what and sentence not in self.missing:
            self.missing.append(sentence)
        return None

    def word(self, meaning: str, what: str) -> str | None:
        found = self.setting(meaning)
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

    def loaded_as(self) -> str | None:
        """What wider weights are quantised to while they are loaded, where its bytes are known (costs/loaded.py)."""
        found = self.setting("quantises")
        scheme = found.value.casefold() if found is not None else ""
        return scheme if scheme in SCHEMES else None

    def state_type(self) -> str | None:
        """llama.cpp keeps states in 32 bits (src/llama-model.cpp, create_memory: recurrent_type_r, recurrent_type_s)."""
        if self.engine == "llama-server":
            return "f32"
        found = self.setting("state-type")
        return None if found is None or found.value in _NOTHING else found.value

    def held_in(self) -> Literal["host", "device", "host-and-devices"] | None:
        """The memory that weights and K/V have to fit into; None where parts of them lie on other hosts.

        llama.cpp puts as many layers as it is told on devices and maps the others; vLLM and SGLang hold all on devices, but for
        what they are told to leave on the host.
        """
        elsewhere, device, offload = (self.setting(each) for each in ("elsewhere", "device", "offload"))
        if elsewhere is not None and elsewhere.value not in _NOTHING:
            return None
        if self.engine == "llama-server":
            layers = self.setting("device-layers")
            return "host" if layers is not None and layers.value == "0" else "host-and-devices"
        if self.engine not in ("vllm", "sglang"):
            return None
        if device is not None and device.value == "cpu":
            return "host"
        if unread := self._unread_division():
            self.missing.append(f"what each device has to hold: {unread}")
            return None
        return "host-and-devices" if offload is not None and _is_positive(offload.value) else "device"

    def kv_cache(self) -> Literal["at-start", "paged"] | None:
        """How room for K/V is given to requests; None of an engine that is not known.

        llama.cpp allocates its whole context, divided over slots, when it starts (src/llama-kv-cache.cpp). vLLM
        (vllm/v1/core/sched/scheduler.py: allocate_slots) and SGLang (python/sglang/srt/managers/schedule_policy.py:
        PrefillAdder) let a request begin where pages are free, and the others wait.
        """
        if self.engine == "llama-server":
            return "at-start"
        return "paged" if self.engine in ("vllm", "sglang") else None

    def undivided(self) -> bool:
        """Whether prompts are not cut into passes: SGLang's -1, vLLM without chunked prefill."""
        cut, chunks = self.setting("microbatch"), self._of(("enable-chunked-prefill",))
        return (cut is not None and cut.value == "-1" and self.engine == "sglang") or (
            chunks is not None and chunks.value == "off"
        )

    def devices(self, prefills: bool) -> int:
        """Devices that divide a pass among them, at most: what they do not share evenly makes the bound lower, and is said.

        Stages of a pipeline work on parts of a prompt at once, and on a token one after the other. llama-server divides
        layers by default: one device works at a time.
        """
        shards, stages, replicas = (self._count(each) for each in ("shards", "stages", "replicas"))
        spread = self.setting("spread-experts")
        divide = shards * (stages if prefills else 1)
        if replicas > 1 and spread is not None and spread.value == "on":
            divide *= replicas
            self.missing.append(
                f"what each of {replicas} replicas reads alone: only experts are divided over all of them, the bound takes "
                "all weights so and is lower than it could be"
            )
        elif replicas > 1 and not self._attends_in_parts():
            experts = (
                "; vLLM divides the experts of a mixture over all of them, so that the term weights is too long where the model is one"
                if self.engine == "vllm"
                else ""
            )
            self.missing.append(
                f"which of {replicas} replicas a request goes to: the bound is that of one with all requests{experts}"
            )
        if stages > 1 and prefills:
            self.missing.append(
                f"how far the {stages} stages of the pipeline overlap on a prompt: the bound takes all of it"
            )
        return divide if divide > 1 else self._split()

    def sharding(self) -> Sharding | None:
        """Over how many devices each part is divided; None where one device holds all, or nothing says so.

        vLLM: decode context parallelism divides K/V by position over devices that would hold the same heads
        (vllm/config/model.py, verify_with_parallel_config), prefill context parallelism over devices of its own; experts are
        divided over the devices of all replicas, whose attention stays their own
        (model_executor/layers/fused_moe/config.py, flatten_tp_across_dp_and_pcp). SGLang: replicas of the attention are parts of the devices that
        divide a pass (python/sglang/srt/layers/dp_attention.py, compute_dp_attention_world_info).
        """
        shards, stages, replicas = (self._count(each) for each in ("shards", "stages", "replicas"))
        contexts, of_prompts = self._count("contexts"), self._count("prompt-contexts")
        spread, parts = self.setting("spread-experts"), self._attends_in_parts()
        groups = replicas if parts or (spread is not None and spread.value == "on") else 1
        found = Sharding(
            stages=stages, weights=shards, attention=max(1, shards // replicas) if parts else shards,
            experts=shards * (replicas * of_prompts if self.engine == "vllm" else 1), positions=contexts * of_prompts,
            groups=groups, replicas=replicas if groups == 1 else 1,
        )  # fmt: skip
        return None if found == Sharding() else found

    def _attends_in_parts(self) -> bool:
        """SGLang's replicas of the attention alone: they are some of the devices that already divide a pass."""
        found = self._of(("enable-dp-attention",))
        return found is not None and found.value == "on"

    def _unread_division(self) -> str:
        """The setting that may divide the model over devices in a way that nobody can read from it; "" where there is none."""
        config = self._of(("config",))
        if config is not None and config.value not in _NOTHING:
            return f"{config.address} {config.shown} may divide the model, and is not read"
        for found in map(self._divisor, _SHORT):
            if found is not None and found.value not in _NOTHING and not _is_count(found.value):
                return f"{found.address} is {found.shown}, expected a number of devices"
        return ""

    def _divisor(self, meaning: str) -> Setting | None:
        return self._of((*spelled(meaning, self.engine), _SHORT[meaning]))

    def _count(self, meaning: str) -> int:
        found = self._divisor(meaning)
        return max(1, int(found.value)) if found is not None and _is_count(found.value) else 1

    def _split(self) -> int:
        split, parts = self._of(("split-mode",)), self._of(("tensor-split",))
        if split is not None and split.value == "row" and parts is not None:
            return max(1, sum(_is_positive(each) for each in parts.value.replace("/", ",").split(",")))
        return 1

    def drafts(self) -> Setting | None:
        """The setting that says what drafts tokens; None where nothing does."""
        settings = (self._of((factor,)) for factor in spelled("drafting", self.engine))
        return next((each for each in settings if each is not None and each.value not in _NOTHING), None)

    def draft_tokens(self, drafts: Setting) -> Interval | None:
        """Tokens a pass, between none and the most where text is looked up; a model drafts all of them each time.

        vLLM vllm/config/speculative.py (num_speculative_tokens); SGLang counts the token that is verified anyway, too
        (server_args.py: speculative_num_draft_tokens = speculative_num_steps + 1).
        """
        counted = self.setting("draft-tokens")
        most = _of_json(drafts.value, "num_speculative_tokens")
        if most is None and counted is not None and counted.value.isdecimal():
            most = max(0, int(counted.value) - 1)
        if not isinstance(most, int) or most <= 0:
            return None
        looks_up = any(word in drafts.value.lower() for word in ("ngram", "suffix"))
        return Interval(float(most), 0.0 if looks_up else float(most), float(most))


def _of_json(text: str, key: str) -> object:
    """A value of a setting that is a JSON object; None where it is none, or has no such key."""
    try:
        said = loads(text)
    except ValueError:
        return None
    return said.get(key) if isinstance(said, dict) else None


def _is_count(text: str) -> bool:
    """Whether a text is a number of devices that anybody could have."""
    return text.isascii() and text.isdecimal() and int(text[:9]) <= _MOST_DEVICES


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
