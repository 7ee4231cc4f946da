"""fixture/v1: one request and what a right answer is, frozen once a run pinned it (contract 4.2, 4.7)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import FileHash, Model, Name, Scalar, Sha256, Text


class Message(Model):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"] = Field(description="Who says it.")
    content: Text = Field(description="What is said.")


class DraftLengths(Model):
    """How many tokens a speculative step may draft."""

    min: int = Field(ge=0, description="Fewest drafted tokens.")
    max: int = Field(ge=0, description="Most drafted tokens.")


class Expected(Model):
    """An independent expected result: known without asking the engine that is measured."""

    source: Text = Field(description="Who or what says that this is right, other than the engine measured.")
    contains: list[Text] = Field(
        default_factory=list, description="Every one of these stands in the answer, letter case aside."
    )
    content_sha256: Sha256 | None = Field(None, description="SHA-256 of the whole answer's text.")


class Fixture(Model):
    """One request, complete enough that another engine could be asked the same."""

    hio: Literal["fixture/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    about: Text | None = Field(None, description="One sentence for whoever reads this in a year.")
    endpoint: Literal["/completion", "/v1/completions", "/v1/chat/completions"] = Field(
        "/completion", description="Where the request goes."
    )
    prompt: Text | None = Field(None, description="The prompt; or say messages or file.")
    messages: list[Message] | None = Field(None, description="The conversation, for a chat endpoint.")
    file: FileHash | None = Field(None, description="A file beside this document that holds the prompt.")
    nonce: Literal["none", "each-request"] = Field(
        "none",
        description="each-request: a text of fixed length, new for each request and equal in both arms, stands in front.",
    )
    max_tokens: int = Field(ge=1, description="Output budget in tokens.")
    ignore_eos: bool = Field(False, description="Whether the answer goes on to the budget.")
    seed: int | Literal["unknown"] = Field(description="Seed of the sampler; unknown is a word.")
    sampling: dict[Name, Scalar | list[Text]] = Field(
        description="The complete sampling chain by the engine's request names; `model` where the model's metadata decide."
    )
    draft: DraftLengths | None = Field(
        None, description="Speculative lengths; absent = no speculation asked for."
    )
    tools: list[FileHash] = Field(default_factory=list, description="Tool results, frozen by their bytes.")
    expect: Expected | None = Field(None, description="What a right answer is; a quality gate needs it.")
    varies: list[Text] = Field(default_factory=list, description="Variability that cannot be frozen.")
