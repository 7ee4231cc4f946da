"""tasks/v1: questions with known answers, asked in a run to see whether an arm still answers rightly (contract 4.11, 10.4).

Written by hio_validate/compile.py from definitions/tasks.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import AT_LEAST_ONE, NAME, TEXT, FileHash
from hio_validate.models.record import Record, field


class Items(FileHash):
    """The items, one JSON object a line: id, prompt, expected and, where they are of several kinds, kind."""

    count: int = field(AT_LEAST_ONE, 'Number of items.')


class Tasks(Record):
    """A task set, complete enough that another engine could be asked the same."""

    hio: Literal['tasks/v1'] = field({'type': 'literal', 'expected': ['tasks/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence for whoever reads this in a year.', default=None)
    source: str = field(TEXT, 'Who or what says that the expected answers are right, other than the engine measured.')
    items: Items = field(Items.core, 'The file beside this document that holds the items.')
    scoring: Literal['exact', 'first-number', 'choice'] = field({'type': 'literal', 'expected': ['exact', 'first-number', 'choice']}, 'exact: the answer without blanks around it; first-number: its first number; choice: the first of the choices in it.')
    choices: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'The words an answer chooses between, with choice only.', default_factory=list)
    endpoint: Literal['/completion', '/v1/completions', '/v1/chat/completions'] = field({'type': 'literal', 'expected': ['/completion', '/v1/completions', '/v1/chat/completions']}, "Where the requests go; to a chat endpoint the prompt is the user's turn.", default='/completion')
    max_tokens: int = field(AT_LEAST_ONE, 'Output budget of each item in tokens.')
    stop: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Texts that end an answer.', default_factory=list)
    seed: int | Literal['unknown'] = field({'type': 'union', 'choices': [{'type': 'int'}, {'type': 'literal', 'expected': ['unknown']}]}, 'Seed of the sampler; unknown is a word.')
    sampling: dict[str, str | bool | int | float | list[str]] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': {'type': 'union', 'choices': [{'type': 'str'}, {'type': 'bool'}, {'type': 'int'}, {'type': 'float', 'allow_inf_nan': False}, {'type': 'list', 'items_schema': TEXT}]}}, "The complete sampling chain by the engine's request names; `model` where the model's metadata decide.")
    varies: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Variability that cannot be frozen.', default_factory=list)


DOCUMENT = Tasks.core
