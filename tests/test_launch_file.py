"""launch.json: what is read is what was written, and a file that says anything else starts nothing."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate import launch_file
from hio_validate.command import Command

GOOD: dict[str, Any] = {
    "version": 1,
    "program": "/opt/llama-server",
    "arguments": ["--port", "8080"],
    "environment": {"LLAMA_API_KEY": "${secret:key}"},
    "folder": "/",
    "secrets": {"key": "file:/etc/keys/tiny"},
}
texts = st.text(st.characters(exclude_categories=["Cs"]))
names = st.dictionaries(texts, texts, max_size=3)


@given(st.builds(Command, texts, st.lists(texts, max_size=4).map(tuple), names, texts), names)
def test_a_command_comes_back_as_it_was_written(command: Command, secrets: dict[str, str]) -> None:
    said = {"version": 1, **asdict(command), "secrets": secrets}
    read = launch_file.read(json.dumps(said).encode(), "launch.json")
    assert read == launch_file.LaunchFile(command, secrets)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "launch.json is no launch file: Expecting property name"),
        (b"\xff", "launch.json is no launch file: "),
        (b"[]", "launch.json is no launch file: "),
        (b"{}", "launch.json is no launch file: 'version' is missing"),
        (b"[" * 100_000, "launch.json is no launch file: "),
        ({"version": 2}, "launch.json has version 2; this hio reads 1"),
        ({"program": 7}, "launch.json is no launch file: expected text, got 7"),
        ({"arguments": "--port"}, 'launch.json is no launch file: expected a list of words, got "--port"'),
        ({"arguments": ["--port", 8080]}, "launch.json is no launch file: expected text, got 8080"),
        ({"environment": ["A=b"]}, "launch.json is no launch file: expected names with their texts, got ["),
        ({"secrets": {"key": None}}, "launch.json is no launch file: expected text, got null"),
    ],
)
def test_what_is_no_launch_file_says_why(content: bytes | dict[str, Any], said: str) -> None:
    raw = content if isinstance(content, bytes) else json.dumps({**GOOD, **content}).encode()
    with pytest.raises(launch_file.Unlaunchable) as refused:
        launch_file.read(raw, "launch.json")
    assert str(refused.value).startswith(said) and "\n" not in str(refused.value)


def test_the_smallest_good_one_is_read() -> None:
    assert launch_file.read(json.dumps(GOOD).encode(), "launch.json").command.argv == [
        "/opt/llama-server",
        "--port",
        "8080",
    ]
