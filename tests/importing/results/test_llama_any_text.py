"""Whatever was done to a result of llama.cpp, it is read or refused in one sentence."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.reading import reading
from tests.importing.results import test_llama_server as server
from tests.importing.results.llama_bench_writer import FORMS, as_table
from tests.importing.results.reading import source_of
from tests.importing.results.test_llama_bench import PP, TG
from tests.importing.results.test_llama_server_facts import PROPS
from tests.importing.results.test_llama_server_log import START, request
from tests.importing.results.test_llama_server_metrics import snapshot
from tests.importing.results.test_rate_table import GOOD, HEAD

WHOLE = [
    *(write([PP, TG]) for write in FORMS.values()), as_table([PP, TG]), HEAD + GOOD,
    json.dumps(server.native()), json.dumps(server.chat(), indent=2), server.event(server.native()),
    json.dumps(server.timings(draft_n=5, draft_n_accepted=3)), json.dumps(PROPS),
    snapshot(1, 1, 1, 1) + snapshot(2, 2, 2, 2, drafted=4), START + request(1) + request(2, cached=8),
]  # fmt: skip
ODD = st.sampled_from(
    [
        "0",
        "-1",
        "1e999",
        "NaN",
        "null",
        "true",
        '"',
        "{",
        "[",
        "}",
        "]",
        ",",
        "\n",
        "\x00",
        "|",
        "9" * 400,
        "9" * 5000,
        "é",
        " ",
        "'",
    ]
)


@given(
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 30), ODD), max_size=3),
    st.booleans(),
)
def test_any_change_is_read_or_refused(text: str, changes: list[tuple[int, int, str]], skip: bool) -> None:
    for at, length, odd in changes:
        at %= len(text)
        text = text[:at] + odd + text[at + length :]
    judged(text.encode(), skip)


@given(st.sampled_from(WHOLE), st.integers(0, 5000), st.booleans())
def test_any_beginning_is_read_or_refused(text: str, length: int, skip: bool) -> None:
    judged(text.encode()[: length % len(text)], skip)


def judged(content: bytes, skip: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        try:
            found = reading(source_of(Path(name), content, skip))
            records = list(found.records()) if found else []
        except CannotImport as error:
            assert "\n" not in str(error) and str(error).startswith("given")
            return
    for record in records:
        json.dumps([each.value for each in record.metrics], allow_nan=False)
