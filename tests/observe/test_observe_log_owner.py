"""Whether a log can be of a process."""

from __future__ import annotations

from typing import Any

import pytest

from hio_validate.observe.log_owner import Stranger, stranger
from tests.settings.stacks import captured

LOG = """\
0.00.004.315 I cmn  common_param: common_params_print_info: build 4567 (abc1234) with GNU 12.2.0 for Linux x86_64
0.00.004.506 I srv    load_model: loading model '/models/tiny.gguf'
0.01.353.207 I srv  llama_server: listening on http://127.0.0.1:18311
request: listening on http://127.0.0.1:1 load_model: loading model '/models/of-a-prompt.gguf'
"""


def of(port: int = 18311, model: str = "/models/tiny.gguf", build: str = "b4567-abc1234", **more: Any) -> Any:
    props = {"model_path": model, "build_info": build}
    listening = {"how": "proc", "address": "127.0.0.1", "port": port}
    return captured([["-m", model]], props=props, listening=listening, **more)


def found(process: Any, log: str = LOG) -> Stranger | None:
    return stranger(log.split("\n"), process)


def test_a_log_of_the_process_is_accepted() -> None:
    assert found(of()) is None
    assert found(of(build="b0-unknown")) is None, "a build that does not know itself says nothing"
    assert found(captured()) is None, "what was not observed says nothing"
    assert found(of(), "") is None


@pytest.mark.parametrize(("process", "line", "expected"), [
    (of(port=18312), 3, "18312"), (of(model="/models/other.gguf"), 2, "/models/other.gguf"),
    (of(build="b4568-abc1235"), 1, "4568-abc1235"),
])  # fmt: skip
def test_a_line_that_speaks_of_another_process_is_told(process: Any, line: int, expected: str) -> None:
    told = found(process)
    assert told is not None and (told.line, told.expected) == (line, expected)


def test_of_several_starts_the_last_counts() -> None:
    other = LOG.replace("18311", "18312")
    assert found(of(), other + LOG) is None
    assert found(of(), LOG + other) is not None


def test_a_model_may_be_mapped_under_the_path_that_a_link_leads_to() -> None:
    artifacts = {"model": {"how": "hash", "path": "/models/tiny.gguf"}}
    linked = captured([["-m", "/link.gguf"]], artifacts=artifacts)
    assert found(linked) is None
