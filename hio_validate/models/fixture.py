"""fixture/v1: one request and what a right answer is, frozen once a run pinned it (contract 4.2, 4.7).

Written by hio_validate/compile.py from definitions/fixture.py: change that one.
"""

# fmt: off

from __future__ import annotations

from typing import Literal

from hio_validate.models.base import AT_LEAST_ONE, COUNT, NAME, SHA256, TEXT, FileHash
from hio_validate.models.record import Record, field


class Message(Record):
    """One turn of a conversation."""

    role: Literal['system', 'user', 'assistant', 'tool'] = field({'type': 'literal', 'expected': ['system', 'user', 'assistant', 'tool']}, 'Who says it.')
    content: str = field(TEXT, 'What is said.')


class DraftLengths(Record):
    """How many tokens a speculative step may draft."""

    min: int = field(COUNT, 'Fewest drafted tokens.')
    max: int = field(COUNT, 'Most drafted tokens.')


class Expected(Record):
    """An independent expected result: known without asking the engine that is measured."""

    source: str = field(TEXT, 'Who or what says that this is right, other than the engine measured.')
    contains: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Every one of these stands in the answer, letter case aside.', default_factory=list)
    content_sha256: str | None = field({'type': 'nullable', 'schema': SHA256}, "SHA-256 of the whole answer's text.", default=None)


class Fixture(Record):
    """One request, complete enough that another engine could be asked the same."""

    hio: Literal['fixture/v1'] = field({'type': 'literal', 'expected': ['fixture/v1']}, 'Kind and version of this document.')
    name: str = field(NAME, "Equals the file's name without .yaml.")
    about: str | None = field({'type': 'nullable', 'schema': TEXT}, 'One sentence for whoever reads this in a year.', default=None)
    endpoint: Literal['/completion', '/v1/completions', '/v1/chat/completions'] = field({'type': 'literal', 'expected': ['/completion', '/v1/completions', '/v1/chat/completions']}, 'Where the request goes.', default='/completion')
    prompt: str | None = field({'type': 'nullable', 'schema': TEXT}, 'The prompt; or say messages or file.', default=None)
    messages: list[Message] | None = field({'type': 'nullable', 'schema': {'type': 'list', 'items_schema': Message.core}}, 'The conversation, for a chat endpoint.', default=None)
    file: FileHash | None = field({'type': 'nullable', 'schema': FileHash.core}, 'A file beside this document that holds the prompt.', default=None)
    nonce: Literal['none', 'each-request'] = field({'type': 'literal', 'expected': ['none', 'each-request']}, 'each-request: a text of fixed length, new for each request and equal in both arms, stands in front.', default='none')
    max_tokens: int = field(AT_LEAST_ONE, 'Output budget in tokens.')
    ignore_eos: bool = field({'type': 'bool'}, 'Whether the answer goes on to the budget.', default=False)
    seed: int | Literal['unknown'] = field({'type': 'union', 'choices': [{'type': 'int'}, {'type': 'literal', 'expected': ['unknown']}]}, 'Seed of the sampler; unknown is a word.')
    sampling: dict[str, str | bool | int | float | list[str]] = field({'type': 'dict', 'keys_schema': NAME, 'values_schema': {'type': 'union', 'choices': [{'type': 'str'}, {'type': 'bool'}, {'type': 'int'}, {'type': 'float', 'allow_inf_nan': False}, {'type': 'list', 'items_schema': TEXT}]}}, "The complete sampling chain by the engine's request names; `model` where the model's metadata decide.")
    draft: DraftLengths | None = field({'type': 'nullable', 'schema': DraftLengths.core}, 'Speculative lengths; absent = no speculation asked for.', default=None)
    tools: list[FileHash] = field({'type': 'list', 'items_schema': FileHash.core}, 'Tool results, frozen by their bytes.', default_factory=list)
    expect: Expected | None = field({'type': 'nullable', 'schema': Expected.core}, 'What a right answer is; a quality gate needs it.', default=None)
    varies: list[str] = field({'type': 'list', 'items_schema': TEXT}, 'Variability that cannot be frozen.', default_factory=list)


DOCUMENT = Fixture.core
