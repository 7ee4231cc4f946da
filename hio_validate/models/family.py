"""family/v1: what --help of an engine cannot teach, kept by hand per family, never per build.

Written by hio_validate/compile.py from definitions/family.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import NAME, TEXT
from hio_validate.models.record import Record, field

FACTOR = {'type': 'str', 'max_length': 120, 'pattern': '^[A-Za-z0-9][A-Za-z0-9._+-]*$'}

CLASS = {'type': 'literal', 'expected': ['artifact', 'locator', 'endpoint', 'observability', 'secret']}


class FollowsIf(Record):
    """A setting whose default hangs on another setting."""

    when: dict[str, str] = field({'type': 'dict', 'keys_schema': FACTOR, 'values_schema': {'type': 'str'}, 'min_length': 1}, 'Factor -> the value it must have.')
    value: str = field({'type': 'str'}, 'The value in force then.')
    otherwise: str | None = field({'type': 'nullable', 'schema': {'type': 'str'}}, 'The value in force else, where the help text gives prose for a default.', default=None)


class Family(Record):
    """The grammar of a family's argv and what its help text does not say."""

    hio: Literal['family/v1'] = field({'type': 'literal', 'expected': ['family/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Name of the family; equals the file's or folder's name.")
    help: Literal['llama', 'argparse'] = field({'type': 'literal', 'expected': ['llama', 'argparse']}, 'Which reader understands its --help.', default='llama')
    help_command: list[str] = field({'type': 'list', 'items_schema': {'type': 'str'}}, 'Arguments that print the help.', alias='help-command', default_factory=lambda: ['--help'])
    program: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Words of argv before the first option.', default_factory=list)
    positional: str | None = field({'type': 'nullable', 'schema': FACTOR}, 'Factor that the bare first argument sets.', default=None)
    aliases: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': FACTOR}, 'Spelling -> factor, where no help text of the build is at hand.', default_factory=dict)
    equals: bool = field({'type': 'bool'}, 'Whether --flag=value is accepted.', default=False)
    underscores: bool = field({'type': 'bool'}, 'Whether --a_b is read as --a-b.', default=True)
    env_prefix: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Environment names that are settings beyond the help.', alias='env-prefix', default_factory=list)
    env_negation: dict[str, str] = field({'type': 'dict', 'keys_schema': {'type': 'str'}, 'values_schema': {'type': 'str'}}, 'Prefix -> prefix of the negated name.', alias='env-negation', default_factory=dict)
    attached: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': FACTOR}, 'Short flag whose value may be glued to it (-O3) -> its factor.', default_factory=dict)
    integers: Literal['plain', 'suffixed'] | list[str] = field({'type': 'union', 'choices': [{'type': 'literal', 'expected': ['plain', 'suffixed']}, {'type': 'list', 'items_schema': FACTOR}]}, 'suffixed: 1k = 1000, 1K = 1024, for every factor or for the ones listed.', default='plain')
    classes: dict[Literal['artifact', 'locator', 'endpoint', 'observability', 'secret'], list[str]] = field({'type': 'dict', 'keys_schema': CLASS, 'values_schema': {'type': 'list', 'items_schema': FACTOR}}, 'Factors that are no tuning.', default_factory=dict)
    not_a_negation: list[str] = field({'type': 'list', 'items_schema': FACTOR}, 'Factors beginning with no- that negate nothing.', alias='not-a-negation', default_factory=list)
    follows: dict[str, str] = field({'type': 'dict', 'keys_schema': FACTOR, 'values_schema': FACTOR}, 'Factor -> the factor whose value it takes when unset.', default_factory=dict)
    follows_if: dict[str, FollowsIf] = field({'type': 'dict', 'keys_schema': FACTOR, 'values_schema': FollowsIf.core}, 'Factor -> default under a condition.', alias='follows-if', default_factory=dict)
    repeatable: list[str] = field({'type': 'list', 'items_schema': FACTOR}, 'Factors whose repetitions add up.', default_factory=list)
    sets_others: list[str] = field({'type': 'list', 'items_schema': FACTOR}, 'Presets whose effect is unknown until observed.', alias='sets-others', default_factory=list)
    resolved_at_run_time: dict[str, list[str]] = field({'type': 'dict', 'keys_schema': FACTOR, 'values_schema': {'type': 'list', 'items_schema': {'type': 'str'}}}, 'Factor -> values that are not what runs.', alias='resolved-at-run-time', default_factory=dict)
    json_values: list[str] = field({'type': 'list', 'items_schema': FACTOR}, 'Factors compared as JSON.', alias='json', default_factory=list)
    case_insensitive: list[str] = field({'type': 'list', 'items_schema': FACTOR}, 'Factors whose values ignore case.', alias='case-insensitive', default_factory=list)
    metadata: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': FACTOR}, "Key of the model's metadata -> factor whose default it gives.", default_factory=dict)
    props: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': FACTOR}, 'Dotted path in /props -> factor whose value in force it reports.', default_factory=dict)
    log: dict[str, str] = field({'type': 'dict', 'keys_schema': TEXT, 'values_schema': FACTOR}, 'Fact of the log -> factor whose value in force it reports; disabled.* reports 0.', default_factory=dict)
    rounded_up: list[str] = field({'type': 'list', 'items_schema': FACTOR}, 'Factors the engine may round up: only a smaller report contradicts.', alias='rounded-up', default_factory=list)


DOCUMENT = Family.core
