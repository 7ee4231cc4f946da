"""Facts in a llama-server log: threads, slots, context, K/V cache, flash attention, what was disabled.

Invariant: what the log does not say is absent, never zero or a default (a server logs buffer sizes only from
some verbosity on). Of several starts in one log the last counts. Nothing is read
between "listening" and the next start, where lines hold other people's requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Facts = dict[str, str | bool | int | float]

START = re.compile(
    r"(srv +)?llama_server: initializing|(cmn +common_param: )?common_params_print_info: build |build: \d+ \("
)
READY = re.compile(r"listening on http")
PREFIX = re.compile(r"^(\d+\.\d{2}\.\d{3}\.\d{3} )?([IWED] )?")
_MEASURED = re.compile(r"fitting params to free memory took")
_DRAFT = re.compile(r"load(ing|_model).*\bdraft model\b", re.IGNORECASE)

_CONTEXT = re.compile(
    r"llama_(?:context|init_from_model|new_context_with_model): "
    r"(n_seq_max|n_ctx|n_ctx_seq|n_ctx_per_seq|n_batch|n_ubatch|causal_attn|flash_attn|kv_unified) +=+ (\S+)"
)
_KV_SIZE = re.compile(
    r"size = +([\d.]+) MiB \( *(\d+) cells, .*?\), K \(([^)]+)\): +([\d.]+) MiB, V \(([^)]+)\): +([\d.]+) MiB"
)
_KV_SELF = re.compile(
    r"KV self size += +([\d.]+) MiB, K \(([^)]+)\): +([\d.]+) MiB, V \(([^)]+)\): +([\d.]+) MiB"
)
_BUFFER = re.compile(r": +(\S+) +(model|KV|compute|output) buffer size = +([\d.]+) MiB")
_FLASH_AUTO = re.compile(r"Flash Attention (?:was auto, set to )?(enabled|disabled)")
_FLASH_UNSUPPORTED = re.compile(r"Flash Attention not supported, set to disabled")
_FLASH_FORCED = re.compile(r"(enabling|disabling) flash[_ ]att|flash_attn is not compatible .* forcing (off)")
_DISABLED = re.compile(
    r": *(?P<what>[\w-]+(?: [\w-]+){0,3}?)(?: is)? "
    r"(?:not supported by [\w ]+?, it will be disabled|not supported by this context$"
    r"|requires [\w-]+, disabling)"
)


@dataclass
class _Facts:
    """The facts so far; `scope` is "" for the served model, "draft." while a draft model is loaded."""

    found: Facts = field(default_factory=dict)
    caches: dict[str, list[tuple[int, str, str, float, float]]] = field(default_factory=dict)
    scope: str = ""
    ready: bool = False

    def put(self, name: str, value: str | bool | int | float) -> None:
        self.found[f"{self.scope}{name}"] = value


def log_facts(lines: Iterable[str]) -> Facts:
    """Dotted name -> value. Sizes are in MiB (names end in `_mib`); names are the log's own where it has one.

    `n_threads`, `n_threads_batch`, `n_cpus`; `n_slots`, `n_ctx_slot`, `kv_unified`; `n_ctx`, `n_ctx_seq`,
    `n_batch`, `n_ubatch`, `n_seq_max`; `cache_type_k`, `cache_type_v`, `kv_cells`, `kv_k_mib`, `kv_v_mib` (of
    several caches the types and cells joined with `;`, the sizes added); `flash_attn`;
    `buffer.<device>.<kind>_mib`; `disabled.<feature>` = the notice. The draft model's are under `draft.`.
    """
    state = _Facts()
    for line in lines:
        text = PREFIX.sub("", line.rstrip("\r\n"), count=1)
        if START.match(text) and (state.ready or "n_slots" in state.found):
            state = _Facts()
        if not state.ready:
            _read(text, state)
    _sum_caches(state)
    return state.found


def _read(text: str, state: _Facts) -> None:
    if READY.search(text):
        state.ready = True
    elif _MEASURED.search(text):
        _forget_contexts(state)
    elif _DRAFT.search(text):
        state.scope = "draft."
    else:
        any(read(text, state) for read in _READERS)


def _threads(text: str, state: _Facts) -> bool:
    if match := re.search(r"system_info: n_threads = (\d+)(?: \(n_threads_batch = (\d+)\))? / (\d+)", text):
        state.found["n_threads"], state.found["n_cpus"] = int(match[1]), int(match[3])
        if match[2]:
            state.found["n_threads_batch"] = int(match[2])
    elif match := re.search(r"llama threadpool init, n_threads = (\d+)", text):
        state.found.setdefault("n_threads", int(match[1]))
    elif match := re.search(r"using (\d+) threads for HTTP server", text):
        state.found["n_threads_http"] = int(match[1])
    return match is not None


def _slots(text: str, state: _Facts) -> bool:
    if match := re.search(r"initializing(?: slots)?, n_slots = (\d+)", text):
        state.scope = ""
        state.found["n_slots"] = int(match[1])
        if more := re.search(r"n_ctx_slot = (\d+)", text):
            state.found["n_ctx_slot"] = int(more[1])
        if more := re.search(r"kv_unified = '(true|false)'", text):
            state.found["kv_unified"] = more[1] == "true"
    elif match := re.search(r"id +(\d+) \| task -1 \| new slot,? n_ctx(?:_slot)? = (\d+)", text):
        state.scope = ""
        state.found.setdefault("n_ctx_slot", int(match[2]))
        slots = state.found.get("n_slots", 0)
        state.found["n_slots"] = max(int(match[1]) + 1, slots if isinstance(slots, int) else 0)
    return match is not None


def _context(text: str, state: _Facts) -> bool:
    match = _CONTEXT.search(text)
    if match is None:
        return False
    name, value = match[1], match[2]
    if name == "flash_attn":
        state.put(name, {"0": "disabled", "1": "enabled"}.get(value, value))
    elif name in ("kv_unified", "causal_attn"):
        state.put(name, value in ("true", "1"))
    elif value.isdigit():
        state.put(name, int(value))
    return True


def _caches(text: str, state: _Facts) -> bool:
    if match := _KV_SIZE.search(text):
        cache = (int(match[2]), match[3], match[5], float(match[4]), float(match[6]))
    elif match := _KV_SELF.search(text):
        cache = (0, match[2], match[4], float(match[3]), float(match[5]))
    else:
        return False
    state.caches.setdefault(state.scope, []).append(cache)
    return True


def _flash_attention(text: str, state: _Facts) -> bool:
    if _FLASH_UNSUPPORTED.search(text):
        state.put("flash_attn", "disabled")
    elif match := _FLASH_AUTO.search(text):
        state.put("flash_attn", match[1])
    elif match := _FLASH_FORCED.search(text):
        state.put("flash_attn", "enabled" if match[1] == "enabling" else "disabled")
    else:
        return False
    return True


def _buffers(text: str, state: _Facts) -> bool:
    match = _BUFFER.search(text)
    if match is None:
        return False
    name = f"buffer.{match[1]}.{match[2].lower()}_mib"
    before = state.found.get(f"{state.scope}{name}", 0)
    state.put(name, round(float(match[3]) + (before if isinstance(before, float) else 0), 2))
    return True


def _notices(text: str, state: _Facts) -> bool:
    match = _DISABLED.search(text)
    if match is None:
        return False
    feature = match["what"].strip("-").replace(" ", "-")
    state.found[f"disabled.{feature}"] = text[match.start("what") :].strip()
    return True


def _rest(text: str, state: _Facts) -> bool:
    if match := re.search(r"build:? (\d+) \(([^)]+)\) with (.+)", text):
        if match[2] != "unknown":
            state.found |= {"build": int(match[1]), "commit": match[2]}
        state.found["compiler"] = match[3].strip()
    elif match := re.search(r"prompt cache is enabled, size limit: (\d+) MiB", text):
        state.found["prompt_cache_mib"] = int(match[1])
    elif match := re.search(r"context checkpoints enabled, max = (\d+)", text):
        state.found["n_ctx_checkpoints"] = int(match[1])
    elif match := re.search(r"\(load_mode = (\w+)\)", text):
        state.put("load_mode", match[1])
    return match is not None


_READERS: tuple[Callable[[str, _Facts], bool], ...] = (
    _threads, _slots, _context, _caches, _flash_attention, _buffers, _notices, _rest,
)  # fmt: skip


def _forget_contexts(state: _Facts) -> None:
    """Contexts before the end of fitting were built only to measure memory."""
    state.caches.clear()
    for name in [name for name in state.found if name.startswith(("buffer.", "draft.buffer."))]:
        del state.found[name]


def _sum_caches(state: _Facts) -> None:
    for scope, caches in state.caches.items():
        cells, kinds_k, kinds_v, sizes_k, sizes_v = zip(*caches, strict=True)
        state.found[f"{scope}cache_type_k"] = ";".join(dict.fromkeys(kinds_k))
        state.found[f"{scope}cache_type_v"] = ";".join(dict.fromkeys(kinds_v))
        state.found[f"{scope}kv_k_mib"] = round(sum(sizes_k), 2)
        state.found[f"{scope}kv_v_mib"] = round(sum(sizes_v), 2)
        if all(cells):
            state.found[f"{scope}kv_cells"] = ";".join(map(str, cells)) if len(cells) > 1 else cells[0]
