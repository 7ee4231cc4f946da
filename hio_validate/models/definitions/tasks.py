"""tasks/v1: questions with known answers, asked in a run to see whether an arm still answers rightly (contract 4.11, 10.4)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hio_validate.models.definitions.base import FileHash, Model, Name, Scalar, Text


class Items(FileHash):
    """The items, one JSON object a line: id, prompt, expected and, where they are of several kinds, kind."""

    count: int = Field(ge=1, description="Number of items.")


class Tasks(Model):
    """A task set, complete enough that another engine could be asked the same."""

    hio: Literal["tasks/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Equals the file's name without .yaml.")
    about: Text | None = Field(None, description="One sentence for whoever reads this in a year.")
    source: Text = Field(
        description="Who or what says that the expected answers are right, other than the engine measured."
    )
    items: Items = Field(description="The file beside this document that holds the items.")
    scoring: Literal["exact", "first-number", "choice"] = Field(
        description="exact: the answer without blanks around it; first-number: its first number; choice: the first of the choices in it."
    )
    choices: list[Text] = Field(
        default_factory=list, description="The words an answer chooses between, with choice only."
    )
    endpoint: Literal["/completion", "/v1/completions", "/v1/chat/completions"] = Field(
        "/completion", description="Where the requests go; to a chat endpoint the prompt is the user's turn."
    )
    max_tokens: int = Field(ge=1, description="Output budget of each item in tokens.")
    stop: list[Text] = Field(default_factory=list, description="Texts that end an answer.")
    seed: int | Literal["unknown"] = Field(description="Seed of the sampler; unknown is a word.")
    sampling: dict[Name, Scalar | list[Text]] = Field(
        description="The complete sampling chain by the engine's request names; `model` where the model's metadata decide."
    )
    varies: list[Text] = Field(default_factory=list, description="Variability that cannot be frozen.")
