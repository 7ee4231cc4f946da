"""family/v1: what --help of an engine cannot teach, kept by hand per family, never per build."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from hio_validate.models.definitions.base import Model, Name, Text

Factor = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=120)]
Class = Literal["artifact", "locator", "endpoint", "observability", "secret"]


class FollowsIf(Model):
    """A setting whose default hangs on another setting."""

    when: dict[Factor, str] = Field(min_length=1, description="Factor -> the value it must have.")
    value: str = Field(description="The value in force then.")
    otherwise: str | None = Field(
        None, description="The value in force else, where the help text gives prose for a default."
    )


class Family(Model):
    """The grammar of a family's argv and what its help text does not say."""

    hio: Literal["family/v1"] = Field(description="Kind and version of this document.")
    name: Name = Field(description="Name of the family; equals the file's or folder's name.")
    help: Literal["llama", "argparse"] = Field("llama", description="Which reader understands its --help.")
    help_command: list[str] = Field(
        default_factory=lambda: ["--help"], alias="help-command", description="Arguments that print the help."
    )
    program: list[Text] = Field(default_factory=list, description="Words of argv before the first option.")
    positional: Factor | None = Field(None, description="Factor that the bare first argument sets.")
    aliases: dict[Text, Factor] = Field(
        default_factory=dict, description="Spelling -> factor, where no help text of the build is at hand."
    )
    equals: bool = Field(False, description="Whether --flag=value is accepted.")
    underscores: bool = Field(True, description="Whether --a_b is read as --a-b.")
    env_prefix: list[Text] = Field(
        default_factory=list,
        alias="env-prefix",
        description="Environment names that are settings beyond the help.",
    )
    env_negation: dict[str, str] = Field(
        default_factory=dict, alias="env-negation", description="Prefix -> prefix of the negated name."
    )
    attached: dict[Text, Factor] = Field(
        default_factory=dict, description="Short flag whose value may be glued to it (-O3) -> its factor."
    )
    integers: Literal["plain", "suffixed"] | list[Factor] = Field(
        "plain", description="suffixed: 1k = 1000, 1K = 1024, for every factor or for the ones listed."
    )
    classes: dict[Class, list[Factor]] = Field(
        default_factory=dict, description="Factors that are no tuning."
    )
    not_a_negation: list[Factor] = Field(
        default_factory=list,
        alias="not-a-negation",
        description="Factors beginning with no- that negate nothing.",
    )
    follows: dict[Factor, Factor] = Field(
        default_factory=dict, description="Factor -> the factor whose value it takes when unset."
    )
    follows_if: dict[Factor, FollowsIf] = Field(
        default_factory=dict, alias="follows-if", description="Factor -> default under a condition."
    )
    repeatable: list[Factor] = Field(default_factory=list, description="Factors whose repetitions add up.")
    sets_others: list[Factor] = Field(
        default_factory=list,
        alias="sets-others",
        description="Presets whose effect is unknown until observed.",
    )
    resolved_at_run_time: dict[Factor, list[str]] = Field(
        default_factory=dict,
        alias="resolved-at-run-time",
        description="Factor -> values that are not what runs.",
    )
    json_values: list[Factor] = Field(
        default_factory=list, alias="json", description="Factors compared as JSON."
    )
    case_insensitive: list[Factor] = Field(
        default_factory=list, alias="case-insensitive", description="Factors whose values ignore case."
    )
    metadata: dict[Text, Factor] = Field(
        default_factory=dict, description="Key of the model's metadata -> factor whose default it gives."
    )
    props: dict[Text, Factor] = Field(
        default_factory=dict, description="Dotted path in /props -> factor whose value in force it reports."
    )
    log: dict[Text, Factor] = Field(
        default_factory=dict,
        description="Fact of the log -> factor whose value in force it reports; disabled.* reports 0.",
    )
    rounded_up: list[Factor] = Field(
        default_factory=list,
        alias="rounded-up",
        description="Factors the engine may round up: only a smaller report contradicts.",
    )
