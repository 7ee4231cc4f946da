"""The pages of an estimate: what bounds it first, what to do next last, what is missing never hidden.

`HIO_WRITE_PAGES=1 python -m pytest tests/report/test_estimate.py` writes the pages anew; read the difference before you
commit it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from estimate_samples import BARE, BLOCKED, DRAFTING, FULL, MEASURED_ONLY, TOO_LARGE, amount, estimate, exact
from hypothesis import given
from report_samples import nasty_texts, relaxed

from hio_validate.report.estimate import as_json, markdown, text
from hio_validate.report.visible import is_hidden

PAGES = Path(__file__).parent / "pages"
SAMPLES = {
    "full": FULL,
    "bare": BARE,
    "measured-only": MEASURED_ONLY,
    "blocked": BLOCKED,
    "too-large": TOO_LARGE,
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("ending", ["txt", "md"])
def test_the_page_is_the_committed_one(name: str, ending: str) -> None:
    page = PAGES / f"estimate-{name}.{ending}"
    said = {"txt": text, "md": markdown}[ending](estimate(SAMPLES[name]))
    if os.environ.get("HIO_WRITE_PAGES"):
        page.write_text(said, encoding="utf-8")
    assert said == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    lines = text(estimate(SAMPLES[name]), width).splitlines()
    assert max(len(line) for line in lines if not line.startswith("  hio ")) <= width


@pytest.mark.parametrize("name", SAMPLES)
def test_every_page_says_that_it_is_no_result(name: str) -> None:
    for page in (text, markdown):
        assert "an estimate is no result" in " ".join(page(estimate(SAMPLES[name])).split())


def test_the_first_line_tells_the_bound_and_the_distance() -> None:
    first = text(estimate(FULL), 200).splitlines()[0]
    assert first == (
        "decode_tps of lab/tiny: bound by weights (memory), at most 11.6 token/s (10.2 to 12.5); "
        "measured 9.40 token/s, efficiency 81 % (75 to 93)"
    )


def test_a_model_that_cannot_fit_says_so_first_and_the_bound_what_it_presumes() -> None:
    first = text(estimate(TOO_LARGE), 200).splitlines()[0]
    assert first.startswith(
        "decode_tps of lab/tiny: CANNOT FIT, 90 GB (84 to 102) of the 80 GB of a device (published-chip); were it held: "
        "bound by weights (memory)"
    )
    for page in (text, markdown):
        said = " ".join(page(estimate(TOO_LARGE)).replace("\\", "").split())
        assert (
            "weights 70 GB + K/V 12 GB + states 8 GB = 90 GB (84 to 102) of the 80 GB of a device (published-chip): CANNOT FIT"
            in said
        )
        assert "the bound presumes that all of it is held there" in said


HELD = {
    "per": "host", "parts": [{"name": "weights", "about": "its tensors", "amount": exact(4, "GB")}], "needed": exact(4, "GB"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (
            {"capacity": exact(8, "GB"), "ceiling": "host-a", "outcome": "within"},
            "weights 4 GB of the 8 GB of the host (host-a): fits, buffers and activations aside",
        ),
        (
            {"capacity": exact(8, "GB"), "ceiling": "host-a", "outcome": "open"},
            "weights 4 GB of the 8 GB of the host (host-a): whether it fits is not known",
        ),
        (
            {
                "capacity": exact(3, "GB"),
                "needed": amount(4, 2, 5, "GB"),
                "ceiling": "host-a",
                "outcome": "open",
            },
            "weights 4 GB of the 3 GB of the host (host-a): may not fit",
        ),
        (
            {"outcome": "open"},
            "weights 4 GB, the memory of the host is unknown: whether it fits is not known",
        ),
    ],
)
def test_what_is_held_stands_in_one_line_beside_what_there_is(more: dict[str, Any], line: str) -> None:
    for page in (text, markdown):
        said = " ".join(page(estimate(FULL, baseline=None, memory=HELD | more)).split())
        assert line in said


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        ({"kv_cache": "paged"}, "may not fit all requests at once: then some wait"),
        ({"kv_cache": "paged", "concurrency": 1}, "may not fit"),
        ({"kv_cache": "at-start"}, "may not fit"),
        ({}, "may not fit"),
    ],
    ids=["paged", "one-request", "at-start", "unknown"],
)
def test_requests_that_may_wait_are_said_to(workload: dict[str, Any], says: str) -> None:
    memory = HELD | {
        "needed": amount(9, 4, 9, "GB"), "capacity": exact(6, "GB"), "ceiling": "chip", "outcome": "open",
        "parts": [*HELD["parts"], {"name": "kv", "about": "K and V", "amount": amount(5, 1, 5, "GB")}],
    }  # fmt: skip
    told = {**FULL["workload"], "concurrency": 8, **workload}
    for page in (text, markdown):
        said = " ".join(page(estimate(FULL, baseline=None, memory=memory, workload=told)).split())
        after = said.partition("of the host (chip): ")[2]
        assert after.startswith(says) and ("wait" in after[:60]) is ("wait" in says)


def test_what_ran_needs_no_line_about_a_memory_that_is_not_known() -> None:
    for page in (text, markdown):
        assert "whether it fits" not in page(estimate(FULL, memory=HELD | {"outcome": "open"}))


def test_a_blocked_estimate_says_so_first_and_what_finds_the_cause_last() -> None:
    for page in (text, markdown):
        said = " ".join(page(estimate(BLOCKED)).replace("**", "").split())
        assert (
            "decode_tps of lab/tiny: BLOCKED, base has an open correctness failure, wrong-answers (" in said
        )
        assert "no speed of it counts before its cause is found" in said
        assert "NEXT EXPERIMENT: find the cause of wrong-answers" in said
        assert "none until what is missing" not in said
        older = " ".join(page(estimate(BLOCKED, next=None)).split())
        assert "NEXT EXPERIMENT: none but to find the cause of that failure" in older


def test_terms_whose_intervals_meet_are_both_told() -> None:
    compute = FULL["terms"][2] | {"time": amount(70, 60, 79, "ms")}
    terms = [FULL["terms"][0], FULL["terms"][1], compute, FULL["terms"][3]]
    both = estimate(FULL, terms=terms)
    assert "bound by weights (memory) or compute," in text(both, 200)
    assert as_json(both)["bound_by"] == ["weights", "compute"]
    assert as_json(estimate(FULL))["bound_by"] == ["weights"]


def test_a_measurement_beyond_its_bound_is_no_praise() -> None:
    def said(low: float) -> str:
        better = FULL["baseline"] | {"efficiency_percent": amount(120, low, 130, "1")}
        return text(estimate(FULL, baseline=better), 300).splitlines()[0]

    assert said(101).endswith("efficiency 120 % (101 to 130): the ledger or the measurement is wrong")
    assert said(99).endswith("efficiency 120 % (99 to 130)")


def test_a_time_has_the_unit_of_the_metric_and_a_least() -> None:
    target = {"metric": "wall_s", "better": "lower"}
    bound = FULL["bound"] | {"metric": amount(1500, 1400, 1600, "ms")}
    assert "at least 1.50 s (1.40 to 1.60)" in text(estimate(FULL, target=target, bound=bound))


def test_only_assumptions_that_change_the_first_candidate_are_asked() -> None:
    for page in (text, markdown):
        said = page(estimate(FULL))
        assert "below 0.5 keep-prefix is the first" in " ".join(said.split())
        assert "another build's" not in said
        assert "Assumptions" not in page(estimate(FULL, assumptions=[])).title()


def test_what_one_command_mends_is_said_together() -> None:
    missing = ["no rate for a: probe it", "alone", "no rate for b: probe it", "no shape: read it"]
    for page in (text, markdown):
        said = " ".join(page(estimate(BARE, missing=missing)).split())
        assert said.count("probe it") == 1
        assert "no rate for a; no rate for b: probe it" in said
        assert "nothing bounds it yet, the model's shape and the prompt's tokens are missing" in said
        assert "alone" in said and "no shape: read it" in said


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ("baseline", "missing: nothing was measured of exactly this workload"),
        ("bound", "missing"),
        ("candidates", "no mechanism is known to pay here"),
        ("next", "NEXT EXPERIMENT: none"),
    ],
)
def test_what_is_missing_is_said(left_out: str, said: str) -> None:
    data = {key: value for key, value in FULL.items() if key != left_out}
    for page in (text, markdown):
        assert said in " ".join(page(estimate(data)).split())
        assert said not in " ".join(page(estimate(FULL | {"missing": []})).split())


def test_no_unit_of_a_document_stops_the_page() -> None:
    terms = [FULL["terms"][0] | {"time": amount(3, 2, 4, "GB/s")}, FULL["terms"][1]]
    bound = FULL["bound"] | {
        "metric": amount(1, 1, 1, "FLOP"),
        "groups": [["queueing"], ["weights", "loading"]],
    }
    broken = estimate(FULL, terms=terms, bound=bound)
    for page in (text, markdown):
        assert "queueing unknown" in page(broken)


def test_the_json_answer_has_everything_and_is_json() -> None:
    told = as_json(estimate(FULL))
    assert (told["version"], told["estimate"], told["metric_unit"]) == (1, "before-the-sweep", "token/s")
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    for key in FULL.keys() - {"hio", "name"}:
        assert key in told
    assert told["terms"][0]["work"] == amount(4_980_736_000, 4_980_736_000, 4_980_736_000, "B")
    assert told["candidates"][1]["warm"] is None


words = nasty_texts.filter(lambda word: word and not any("\ud800" <= char <= "\udfff" for char in word))
"""What a document may hold: never a lone surrogate."""
CELL_BORDER = re.compile(r"(?<!\\)(?:\\\\)*\|")


def _with(word: str) -> dict[str, Any]:
    """The whole sample with one word wherever a document may have any."""
    candidate = (
        DRAFTING | dict.fromkeys(("mechanism", "change", "rollback", "stop_if"), word) | {"needs": [word]}
    )
    said = {"experiment": word, "proves": word, "stop_if": word, "route": "tune-sweep", "command": word}
    term = FULL["terms"][0] | {"about": word, "source": word}
    workload = FULL["workload"] | {"drafting": word}
    assumption = FULL["assumptions"][0] | {"source": word, "changes": word}
    return FULL | {
        "terms": [term], "missing": [word], "findings": [word], "candidates": [candidate], "next": said,
        "workload": workload, "assumptions": [assumption], "causes": [{"claim": word}],
    }  # fmt: skip


@given(word=words)
@relaxed
def test_no_word_of_a_document_becomes_markup(word: str) -> None:
    page = markdown(estimate(_with(word)))
    prose = re.sub(r"```console\n.*?\n```", "", page, flags=re.DOTALL)
    assert prose.count("```") == 0
    bare = re.sub(r"\\.", "", prose.replace("**", ""))
    assert not set(bare) & set("`*~[]<>")
    for line in prose.splitlines():
        assert not line.startswith("#") or line.startswith(
            ("# Performance hint pass", "## Estimate", "## Ranked")
        )
        assert not line.startswith("| ") or len(CELL_BORDER.findall(line)) == 7


@given(word=words)
@relaxed
def test_a_terminal_only_prints_words(word: str) -> None:
    assert not any(is_hidden(char) for char in text(estimate(_with(word))) if char != "\n")
