"""What `missing-sampling-chain` calls the chain, asked of a real server: who decides a token, and who cannot."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest

from hio_validate.plans.fixtures import GREEDY
from hio_validate.rules.missing_sampling_chain import chain
from tests.ports import free_port

pytestmark = pytest.mark.lab

LAB = Path(os.environ.get("HIO_LAB", "/opt/hio-lab"))
LIKELIEST = " the capital of the country of France."


@pytest.fixture(scope="module", params=["llama-10001", "llama-11434"])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of a server of this test alone."""
    program, model = LAB / request.param / "bin/llama-server", LAB / "model/gemma-3-270m-q4-k-m.gguf"
    if not (program.exists() and model.exists()):
        pytest.skip(f"no engine under {LAB}")
    port = free_port()
    words = [str(program), "-m", str(model), "--port", str(port), "-c", "512", "-t", "1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_until_ready(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait_until_ready(health: str, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            urllib.request.urlopen(health, timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server ended before it was ready")


def asked(server: str, **sampling: Any) -> dict[str, Any]:
    body = {
        "prompt": "The capital of France is",
        "n_predict": 12,
        "seed": 1,
        "cache_prompt": False,
        **sampling,
    }
    request = urllib.request.Request(
        f"{server}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=3000) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def test_every_member_is_a_setting_that_the_server_reports(server: str) -> None:
    """A member that the server does not know would be written in vain."""
    everything = chain(
        {"repeat_penalty": 2, "dry_multiplier": 1, "xtc_probability": 1, "dynatemp_range": 1, "mirostat": 2}
    )
    assert set(everything) <= asked(server, **GREEDY)["generation_settings"].keys()


@pytest.mark.parametrize(
    "more",
    [
        {"seed": 7},
        {"top_p": 0.1, "min_p": 0.9, "top_n_sigma": 0.1},
        {"typical_p": 0.2},
        {"xtc_probability": 1, "xtc_threshold": 0.01},
        {"dynatemp_range": 2},
        {"mirostat": 2},
    ],
    ids=str,
)
def test_what_the_greedy_chain_leaves_out_changes_no_token(server: str, more: dict[str, Any]) -> None:
    assert asked(server, **{**GREEDY, **more})["content"] == asked(server, **GREEDY)["content"]


@pytest.mark.parametrize(
    "more",
    [
        {"top_k": 40, "typical_p": 0.1},
        {"top_k": 40, "xtc_probability": 1, "xtc_threshold": 0.01},
        {"top_k": 40, "dynatemp_range": 2, "seed": 9},
        {"temperature": 0.9, "mirostat": 2, "seed": 3},
        {"repeat_penalty": 1.8, "repeat_last_n": 64},
    ],
    ids=str,
)
def test_what_the_chain_asks_for_does_change_tokens(server: str, more: dict[str, Any]) -> None:
    assert LIKELIEST in asked(server, **GREEDY)["content"]
    assert asked(server, **{**GREEDY, **more})["content"] != asked(server, **GREEDY)["content"]
