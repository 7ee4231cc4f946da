"""The shape of a model from the headers of its GGUF file, or of all its shards.

Invariant: what the headers do not tell is said in `unknown`. Keys: llama.cpp's gguf-py/gguf/constants.py; what is
compiled in instead of written: `load_arch_hparams` of its src/models/*.cpp (before: src/llama-model.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hio_validate.observe.gguf_numbers import Numbers
from hio_validate.observe.gguf_state import state_of
from hio_validate.observe.gguf_tensors import Contents, Tensor
from hio_validate.observe.gguf_windows import chosen_of, in_chunks, windows_of
from hio_validate.observe.refusal import Unobservable
from hio_validate.shaping.read_shape import NOTHING, ExpertCounts, Keeps, Part, ReadShape, Role

_MOST_LAYERS = 4_096


KEEPS_UNTIL = {"gemma3n": 20}
"""Architecture -> the first layer that keeps no K/V of its own: n_layer_kv_from_start in src/models/gemma3n.cpp."""

_BLOCK = re.compile(r"blk\.(?P<layer>\d{1,6})\.(?P<rest>.+)")
_HAS_KV = re.compile(r"attn_(k|kv_a_mqa|kv_b|k_b|qkv)\.weight")
_ATTENDS = re.compile(r"attn_(q|q_a|q_b|kv|kv_a_norm|output_a)\.weight")
_BY_NAME: tuple[tuple[re.Pattern[str], Role], ...] = (
    (re.compile(r".*norm.*"), "norm"),
    (re.compile(r"ffn_.*_(exps|chexps)\..*"), "experts"),
    (re.compile(r"(attn_|indexer\.|ssm_|time_mix_|shortconv\.).*"), "attention"),
    (re.compile(r"(ffn|exp_probs_b|channel_mix_).*"), "feed-forward"),
)
"""Of a tensor within a layer -> its role; shared experts and routers are passed by every token, as a feed-forward; what
mixes tokens by a state of fixed size does in its layer what attention does in the others."""


def shape_of(shards: Sequence[Contents]) -> ReadShape:
    """The shape of the model that these files are together, the first one first. Raises Unobservable."""
    architecture = shards[0].facts.get("general.architecture")
    if not isinstance(architecture, str) or not re.fullmatch(
        r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", architecture
    ):
        raise Unobservable(f"general.architecture is {architecture!r}: expected the name of an architecture")
    header = Numbers(architecture, shards[0])
    blocks, draft = header.number("block_count"), header.number("nextn_predict_layers") or 0
    if blocks is None:
        raise Unobservable(
            f"{architecture}.block_count is missing: it is no language model (a projector is none)"
        )
    if draft == blocks:
        draft = 0  # a file of draft layers alone is a model of its own (src/models/gemma4-assistant.cpp)
    if not blocks or blocks > _MOST_LAYERS or draft > blocks:
        raise Unobservable(
            f"{architecture}.block_count is {blocks} with {draft} draft layers among them: "
            f"expected 1 to {_MOST_LAYERS}, and fewer draft layers"
        )
    tensors = _all_of(shards)
    unknown: list[str] = []
    heads = header.each("attention.head_count", blocks - draft)
    return ReadShape(
        format="gguf",
        layers=blocks - draft,
        parts=tuple(_parts(tensors, blocks - draft, unknown)),
        attention=tuple(_attention(header, blocks - draft, tensors, unknown)),
        architecture=architecture,
        embedding=header.number("embedding_length") or None,
        heads=max(heads, default=0) or None if heads else None,
        vocabulary=_vocabulary(header, tensors),
        context=header.number("context_length") or None,
        tied=_tied(tensors),
        experts=_experts(header, unknown),
        draft_layers=draft,
        unknown=tuple(unknown),
    )


def _all_of(shards: Sequence[Contents]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for shard in shards:
        for tensor in shard.tensors:
            if tensor.name in found:
                raise Unobservable(f"two shards list the tensor {tensor.name!r}: they are not of one model")
            found[tensor.name] = tensor
    expected = shards[0].facts.get("split.tensors.count")
    if isinstance(expected, int) and len(shards) > 1 and expected != len(found):
        raise Unobservable(f"the shards list {len(found)} tensors: the first one says {expected}")
    if not found:
        raise Unobservable("the file lists no tensors: it is no model (a vocabulary alone has none)")
    return found


def _tied(tensors: Mapping[str, Tensor]) -> bool | None:
    if "token_embd.weight" not in tensors:
        return None
    return "output.weight" not in tensors and "per_layer_token_embd.weight" not in tensors


def _vocabulary(header: Numbers, tensors: Mapping[str, Tensor]) -> int | None:
    table = tensors.get("token_embd.weight")
    if table and len(table.dimensions) == 2:
        return table.dimensions[1]
    return header.number("vocab_size") or None


def _parts(tensors: Mapping[str, Tensor], layers: int, unknown: list[str]) -> list[Part]:
    """The tensors with their roles.

    A table that is looked up a layer is never the output: beside one, a token table that is the output too stands
    under output, since `tied` speaks of all that is an embedding.
    """
    shared = "output.weight" not in tensors and "per_layer_token_embd.weight" in tensors
    if shared:
        unknown.append(
            "token_embd is looked up and read as output; it stands under output, since beside it a table a layer is looked up only"
        )
    found = []
    for tensor in tensors.values():
        role = _role(tensor.name, layers)
        if shared and tensor.name == "token_embd.weight":
            role = "output"
        found.append(Part(role, tensor.type, tensor.elements, tensor.bytes))
    return found


def _role(name: str, layers: int) -> Role:
    match = _BLOCK.fullmatch(name)
    if match is None:
        first = name.partition(".")[0]
        if first in ("token_embd", "per_layer_token_embd"):
            return "embedding"
        if first == "output":
            return "output"
        return "norm" if first in ("output_norm", "token_embd_norm", "per_layer_proj_norm") else "other"
    if int(match["layer"]) >= layers or match["rest"].startswith("nextn."):
        return "draft"
    return next((role for pattern, role in _BY_NAME if pattern.fullmatch(match["rest"])), "other")


def _attention(
    header: Numbers, layers: int, tensors: Mapping[str, Tensor], unknown: list[str]
) -> list[Keeps]:
    """What each layer keeps; nothing where a layer has no tensor that makes K."""
    with_kv, recurrent = _layers_with_kv(tensors, layers)
    keeping = _keeping(header, layers, unknown)
    _say_what_is_not_counted(tensors, layers, with_kv | recurrent | {*range(keeping, layers)}, unknown)
    state = state_of(header, layers) if recurrent else None
    if recurrent and state is None:
        unknown.append(
            f"{len(recurrent)} of {layers} layers carry a state of fixed size, which the file does not tell: it is not counted"
        )
    carries = [
        replace(NOTHING, state=state) if layer in recurrent and state else NOTHING for layer in range(layers)
    ]
    if not with_kv:
        return carries
    windows = windows_of(header, layers, unknown)
    kept = _kept(header, layers, windows, tensors, unknown)
    return [
        replace(kept[layer], state=carried.state) if layer in with_kv and layer < keeping else carried
        for layer, carried in enumerate(carries)
    ]


def _layers_with_kv(tensors: Mapping[str, Tensor], layers: int) -> tuple[set[int], set[int]]:
    """Layers that make K, and layers that carry a recurrent state."""
    makes: set[int] = set()
    fused: set[int] = set()
    recurrent: set[int] = set()
    for name in tensors:
        match = _BLOCK.fullmatch(name)
        if match is None or int(match["layer"]) >= layers:
            continue
        layer, rest = int(match["layer"]), match["rest"]
        if _HAS_KV.fullmatch(rest):
            (fused if rest == "attn_qkv.weight" else makes).add(layer)
        elif rest.startswith(("ssm_", "time_mix_", "shortconv.")):
            recurrent.add(layer)
    return makes | (fused - recurrent), recurrent


def _say_what_is_not_counted(
    tensors: Mapping[str, Tensor], layers: int, understood: set[int], unknown: list[str]
) -> None:
    """Layers that attend by tensors which are not known here, and keys that a sparse attention keeps to choose by."""
    inside = [match for match in map(_BLOCK.fullmatch, tensors) if match and int(match["layer"]) < layers]
    attending = {int(match["layer"]) for match in inside if _ATTENDS.fullmatch(match["rest"])} - understood
    if attending:
        unknown.append(
            f"{len(attending)} of {layers} layers attend by tensors that are not known here: what they keep is not counted"
        )
    if any(match["rest"].startswith("indexer") for match in inside):
        unknown.append("keys that an indexer keeps to choose what is attended to are not counted")


def _keeping(header: Numbers, layers: int, unknown: list[str]) -> int:
    """How many layers, from the first one, keep K/V of their own."""
    shared = header.number("attention.shared_kv_layers") or 0
    until = min(KEEPS_UNTIL.get(header.architecture, layers), layers - min(shared, layers))
    if until < layers:
        unknown.append(
            f"{layers - until} of {layers} layers read the K/V of earlier ones again; only what is kept is counted"
        )
    return until


def _kept(
    header: Numbers,
    layers: int,
    windows: Sequence[int | None],
    tensors: Mapping[str, Tensor],
    unknown: list[str],
) -> list[Keeps]:
    if expanded := header.number("attention.key_length_mla"):
        # V is a view of the kept latent: src/models/deepseek2.cpp, src/llama-kv-cache.cpp (has_v)
        latent = header.number("attention.key_length")
        if not latent:
            raise Unobservable(
                f"{header.architecture}.attention.key_length is missing: the latent's size is not told"
            )
        if any(windows):
            unknown.append("layers with a window may keep a latent of another size: counted as all alike")
        value = header.number("attention.value_length_mla")
        both = (expanded, value) if value else None
        if chosen := chosen_of(header, tensors):
            return [Keeps(1, latent, 0, chosen, expanded=both, chosen=True)] * layers
        return [Keeps(1, latent, 0, window, expanded=both) for window in windows]
    heads = header.each("attention.head_count", layers)
    kv_heads = header.each("attention.head_count_kv", layers) or heads
    if heads is None or kv_heads is None:
        raise Unobservable(
            f"{header.architecture}.attention.head_count is missing, and the file has attention layers"
        )
    key, value = (_head_size(header, which, heads) for which in ("key", "value"))
    chunked = in_chunks(header.architecture) and any(windows)
    key_windowed = header.number("attention.key_length_swa") or key
    value_windowed = header.number("attention.value_length_swa") or value
    return [
        Keeps(count, key_windowed if window else key, value_windowed if window else value, window, chunked)
        if count
        else NOTHING
        for count, window in zip(kv_heads, windows, strict=True)
    ]


def _head_size(header: Numbers, which: str, heads: Sequence[int]) -> int:
    """Numbers of K or V a head; where the file does not say it, the width by the heads (llama-model.cpp)."""
    stated, width = header.number(f"attention.{which}_length"), header.number("embedding_length")
    if stated:
        return stated
    first = next((count for count in heads if count), 0)
    if not width or not first:
        raise Unobservable(
            f"{header.architecture}.attention.{which}_length is missing, and nothing says it otherwise"
        )
    return width // first


def _experts(header: Numbers, unknown: list[str]) -> ExpertCounts | None:
    count = header.number("expert_count")
    if not count:
        return None
    active = header.number("expert_used_count")
    if not active or active > count:
        raise Unobservable(
            f"{header.architecture}.expert_used_count is {active} of {count} experts: expected 1 to {count}"
        )
    return ExpertCounts(count, active, header.number("expert_shared_count") or 0)
