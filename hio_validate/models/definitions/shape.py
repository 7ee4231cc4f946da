"""shape/v1: what a model is made of, as far as its cost depends on it: read by hio probe model, or written by hand (contract 9.2)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import (
    AtLeastOne,
    Count,
    FileHash,
    JudgedBy,
    Model,
    Name,
    Service,
    Sha256,
    Text,
)

Role = Literal["embedding", "output", "attention", "feed-forward", "experts", "norm", "draft", "other"]


class ShapeSource(Model):
    """A file, or whoever states it."""

    format: Literal["gguf", "hf-config", "stated"] = Field(
        description="gguf: a model file's header; hf-config: config.json; stated: written by hand."
    )
    sha256: Sha256 | None = Field(
        None, description="SHA-256 of the model file (its first shard), or of config.json."
    )
    file: FileHash | None = Field(None, description="config.json, kept beside this document.")
    dtype: Name | None = Field(
        None,
        description="Number format of what is not quantised, where a person stated it (--dtype), e.g. bfloat16; absent: as config.json says.",
    )
    says: Text | None = Field(None, description="Stated: who says so.")


class Weights(Model):
    """Tensors of one role and one number format, together."""

    role: Role = Field(description="What they are for.")
    type: Name = Field(description="Their number format, e.g. Q4_K, F16, bf16, int8.")
    elements: AtLeastOne = Field(description="Numbers in them.")
    bytes: AtLeastOne = Field(description="Bytes they take.")
    tensors: Count = Field(1, description="How many tensors.")


class Attention(Model):
    """Layers that attend alike."""

    layers: AtLeastOne = Field(description="How many.")
    kv_heads: Count = Field(description="Heads of K and V; 0: these layers keep no K/V.")
    key_size: Count = Field(description="Numbers of K a head.")
    value_size: Count = Field(description="Numbers of V a head; 0: V is a part of K (a latent).")
    expanded_key_size: AtLeastOne | None = Field(
        None, description="A latent: numbers of K a head of Q, when it is expanded; absent: not told."
    )
    expanded_value_size: AtLeastOne | None = Field(
        None, description="A latent: numbers of V a head of Q, when it is expanded; absent: not told."
    )
    window: AtLeastOne | None = Field(None, description="Tokens that they look back; absent: all.")
    chosen: bool = Field(
        False,
        description="Windows are tokens that an indexer chooses: of all that are kept, so many are read.",
    )
    state: AtLeastOne | None = Field(
        None,
        description="Numbers of a state of fixed size that each of these layers carries for a sequence; absent: none, or not told.",
    )
    chunked: bool = Field(
        False, description="Windows are chunks of the sequence: a token looks back to where its own begins."
    )


class Experts(Model):
    """A mixture of experts."""

    count: AtLeastOne = Field(description="Experts of a layer.")
    active: AtLeastOne = Field(description="Experts that one token passes through, shared ones aside.")
    shared: Count = Field(0, description="Experts that every token passes through.")


class Shape(Model):
    """One model."""

    hio: Literal["shape/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    service: Service = Field(description="The service that serves it.")
    about: Text | None = Field(None, description="One sentence for whoever reads this in a year.")
    source: ShapeSource = Field(description="What it was read from.")
    architecture: Name | None = Field(None, description="What the file calls it, e.g. gemma3.")
    layers: AtLeastOne | None = Field(None, description="Layers of the model, draft layers aside.")
    embedding: AtLeastOne | None = Field(None, description="Width of a token's vector.")
    heads: AtLeastOne | None = Field(None, description="Heads of Q, at most in a layer.")
    vocabulary: AtLeastOne | None = Field(None, description="Tokens it knows.")
    context: AtLeastOne | None = Field(None, description="Tokens it was trained to look at.")
    tied: bool | None = Field(
        None,
        description="Whether the embedding table is read again as output: it counts once as stored, and is streamed for each step.",
    )
    attention: list[Attention] = Field(default_factory=list, description="Its layers, by how they attend.")
    experts: Experts | None = Field(None, description="Where it is a mixture of experts.")
    weights: list[Weights] = Field(min_length=1, description="Its tensors, by role and number format.")
    draft_layers: Count = Field(0, description="Layers for multi-token prediction.")
    unknown: list[Text] = Field(default_factory=list, description="What the source does not tell.")
    judged_by: JudgedBy | None = Field(None, description="Stamped by hio.")
