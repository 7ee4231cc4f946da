"""shape/v1: what a model is made of, as far as its cost depends on it: read by hio probe model, or written by hand (contract 9.2).

Written by hio_validate/compile.py from definitions/shape.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import AT_LEAST_ONE, COUNT, NAME, SERVICE, SHA256, TEXT, FileHash, JudgedBy
from hio_validate.models.record import Record, field

ROLE = {'type': 'literal', 'expected': ['embedding', 'output', 'attention', 'feed-forward', 'experts', 'norm', 'draft', 'other']}


class ShapeSource(Record):
    """A file, or whoever states it."""

    format: Literal['gguf', 'hf-config', 'stated'] = field({'type': 'literal', 'expected': ['gguf', 'hf-config', 'stated']}, "gguf: a model file's header; hf-config: config.json; stated: written by hand.")
    sha256: str | None = field({'type': 'nullable', 'schema': SHA256}, 'SHA-256 of the model file (its first shard), or of config.json.', default=None)
    file: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'config.json, kept beside this document.', default=None)
    dtype: str | None = field({'type': 'nullable', 'schema': NAME}, 'Number format of what is not quantised, where a person stated it (--dtype), e.g. bfloat16; absent: as config.json says.', default=None)
    says: str | None = field({'type': 'nullable', 'schema': TEXT}, 'Stated: who says so.', default=None)


class Weights(Record):
    """Tensors of one role and one number format, together."""

    role: Literal['embedding', 'output', 'attention', 'feed-forward', 'experts', 'norm', 'draft', 'other'] = field(ROLE, 'What they are for.')
    type: str = field(NAME, 'Their number format, e.g. Q4_K, F16, bf16, int8.')
    elements: int = field(AT_LEAST_ONE, 'Numbers in them.')
    bytes: int = field(AT_LEAST_ONE, 'Bytes they take.')
    tensors: int = field(COUNT, 'How many tensors.', default=1)


class Attention(Record):
    """Layers that attend alike."""

    layers: int = field(AT_LEAST_ONE, 'How many.')
    kv_heads: int = field(COUNT, 'Heads of K and V; 0: these layers keep no K/V.')
    key_size: int = field(COUNT, 'Numbers of K a head.')
    value_size: int = field(COUNT, 'Numbers of V a head; 0: V is a part of K (a latent).')
    expanded_key_size: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'A latent: numbers of K a head of Q, when it is expanded; absent: not told.', default=None)
    expanded_value_size: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'A latent: numbers of V a head of Q, when it is expanded; absent: not told.', default=None)
    window: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Tokens that they look back; absent: all.', default=None)
    chosen: bool = field({'type': 'bool'}, 'Windows are tokens that an indexer chooses: of all that are kept, so many are read.', default=False)
    state: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Numbers of a state of fixed size that each of these layers carries for a sequence; absent: none, or not told.', default=None)
    chunked: bool = field({'type': 'bool'}, 'Windows are chunks of the sequence: a token looks back to where its own begins.', default=False)


class Experts(Record):
    """A mixture of experts."""

    count: int = field(AT_LEAST_ONE, 'Experts of a layer.')
    active: int = field(AT_LEAST_ONE, 'Experts that one token passes through, shared ones aside.')
    shared: int = field(COUNT, 'Experts that every token passes through.', default=0)


class Shape(Record):
    """One model."""

    hio: Literal['shape/v1'] = field({'type': 'literal', 'expected': ['shape/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    service: str = field(SERVICE, 'The service that serves it.')
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence for whoever reads this in a year.', default=None)
    source: ShapeSource = field(ShapeSource.core, 'What it was read from.')
    architecture: str | None = field({'type': 'nullable', 'schema': NAME}, 'What the file calls it, e.g. gemma3.', default=None)
    layers: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Layers of the model, draft layers aside.', default=None)
    embedding: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, "Width of a token's vector.", default=None)
    heads: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Heads of Q, at most in a layer.', default=None)
    vocabulary: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Tokens it knows.', default=None)
    context: int | None = field({'type': 'nullable', 'schema': AT_LEAST_ONE}, 'Tokens it was trained to look at.', default=None)
    tied: bool | None = field({'type': 'nullable', 'schema': {'type': 'bool'}}, 'Whether the embedding table is read again as output: it counts once as stored, and is streamed for each step.', default=None)
    attention: list[Attention] = field({'type': 'list', 'items_schema': Attention.core}, 'Its layers, by how they attend.', default_factory=list)
    experts: Experts | None = field({'type': 'nullable', 'schema': Experts.core}, 'Where it is a mixture of experts.', default=None)
    weights: list[Weights] = field({'type': 'list', 'items_schema': Weights.core, 'min_length': 1}, 'Its tensors, by role and number format.')
    draft_layers: int = field(COUNT, 'Layers for multi-token prediction.', default=0)
    unknown: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'What the source does not tell.', default_factory=list)
    judged_by: JudgedBy | None = field({'type': 'nullable', 'schema': JudgedBy.core}, 'Stamped by hio.', default=None)


DOCUMENT = Shape.core
