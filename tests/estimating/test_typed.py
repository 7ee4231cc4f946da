"""What an estimate says to type: the same question again, with all that was asked."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from hio_validate.estimating import typed
from tests.cli.console import hio
from tests.estimating.candidates.workbench import asked, bench
from tests.estimating.tiny import CEILINGS, PUBLISHED, SHAPE, lab

WORDS = (
    "--metric", "ttft_ms", "--goal", "12.5", "--concurrency", "2", "--cache", "warm", "--ceilings", "lab-host", "--ceilings",
    "paper", "--shape", "tiny", "--assume", "queue-wait=1..5ms",
)  # fmt: skip


def _told(root: Path, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(hio(root, *words, "--format", "json").out)
    return answer


def test_the_command_of_what_is_missing_asks_the_same_question(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, PUBLISHED)
    first = _told(root, "estimate", "base", *WORDS)
    assert first["status"] == "NEEDS_CONTEXT"
    command = first["next"]["command"]
    assert command.endswith("--assume queue-wait=1..5ms --assume prompt-tokens=N"), command
    again = _told(root, *shlex.split(command.replace("=N", "=6"))[1:])
    assert again["status"] == "DRAFT"
    for key in ("target", "path", "ceilings"):
        assert again[key] == first[key], key
    assert again["workload"] == first["workload"] | {"prompt_tokens": 6}
    assert {each["name"]: each["amount"] for each in again["assumptions"]}["queue-wait"]["high"] == 5.0


def test_a_route_brings_its_own_rates_and_the_rest_stays_asked(tmp_path: Path) -> None:
    """A statement goes before every document: with it, the kernels that the route measures would have no effect."""
    inputs = asked(
        bench(tmp_path), measured=11.0, concurrency=2, stated={"memory-read": 1e9, "acceptance": 0.5}
    )
    inputs = replace(inputs, named=(("--ceilings", "lab-host"), ("--shape", "tiny")))
    probe, estimate = typed.route_of(inputs, "decode-step-budget").splitlines()
    assert probe == "hio probe engine b1 --yes --write"
    assert estimate == (
        "hio estimate base --service lab/tiny --fixture tides --metric decode_tps --concurrency 2 --shape tiny "
        "--assume prompt-tokens=300 --assume generated-tokens=64 --assume acceptance=0.5"
    )
    _, timeline = typed.route_of(inputs, "device-timeline").splitlines()
    assert "--ceilings lab-host --shape tiny" in timeline and "memory-read=1" in timeline
    assert timeline.endswith("--assume launch=TIME --assume host-gap=TIME")


def test_a_rate_that_is_missing_says_which_documents_stay_named(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    missing = _told(root, "estimate", "base", "--fixture", "tides", "--metric", "ttft_ms")["missing"]
    (said,) = [each for each in missing if each.startswith("no rate http-round-trip")]
    assert "`--ceilings lab-host --ceilings NAME` takes a document that names it" in said
    assert "published" not in said
