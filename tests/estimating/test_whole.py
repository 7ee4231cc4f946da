"""The whole estimate: a document that the rules accept, and what it never says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.cli.estimate_writing import content_of, file_of
from hio_validate.costs.units import base
from hio_validate.diagnostic import Severity
from hio_validate.engine import run as judged
from hio_validate.estimating.context.stated import stated
from hio_validate.estimating.whole import estimate
from hio_validate.history import Folder
from hio_validate.models.estimate import Estimate
from hio_validate.repo import load
from hio_validate.report.estimate import text as page
from hio_validate.source import read
from tests.estimating.tiny import CEILINGS, PUBLISHED, SHAPE, changed, gathered, lab, other, put, vllm
from tests.evidence.experiment import FIXTURE, text
from tests.small_repo import ENTRY, ROOM, SERVICE, baseline, pin, stack, write

AT = "2026-01-06T00:00:00Z"


def _whole(root: Path, stack: str = "base", **options: Any) -> Estimate:
    return estimate(gathered(root, stack, **options), "one", AT)


def _errors(root: Path, whole: Estimate) -> list[str]:
    """What the rules find wrong with the kept document."""
    write(root, {file_of(whole): content_of(whole)})
    report = judged(load(Folder(root)), None, focus=frozenset({file_of(whole)}))
    return [f"{each.rule}: {each.message}" for each in report.of(Severity.ERROR)]


def test_an_estimate_of_what_was_measured(tmp_path: Path) -> None:
    found = _whole(lab(tmp_path, SHAPE, CEILINGS))
    assert (found.status, found.path, found.at) == ("DRAFT", "decode-token", AT)
    assert found.bound is not None and found.bound.metric is not None
    assert found.baseline is not None and found.baseline.efficiency_percent is not None
    bound, efficiency = found.bound.metric, found.baseline.efficiency_percent
    assert efficiency.value == pytest.approx(100 * found.baseline.value / bound.value)
    assert efficiency.low == pytest.approx(100 * found.baseline.low / bound.high)
    assert found.findings == [] and found.causes == [], "a gap is no cause"
    assert found.next is not None
    assert found.blocked_by == []


@pytest.mark.parametrize("metric", ["decode_tps", "ttft_ms", "prefill_tps", "itl_ms"])
def test_the_kept_document_is_valid_and_says_the_same(tmp_path: Path, metric: str) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    whole = _whole(root, metric=metric)
    assert _errors(root, whole) == []
    kept = load(Folder(root)).find("estimate/v1", "one", SERVICE)
    assert kept is not None and kept.model == whole
    assert read(content_of(whole), "one.yaml").data == kept.document.data


@pytest.mark.parametrize("metric", ["decode_tps", "ttft_ms"])
def test_a_stack_that_ran_as_a_delta_has_its_baseline_and_is_valid(tmp_path: Path, metric: str) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    whole = _whole(root, "two", metric=metric)
    assert whole.baseline is not None and whole.baseline.arm == "two"
    assert _errors(root, whole) == []


def test_without_a_shape_there_is_no_bound_and_no_candidate(tmp_path: Path) -> None:
    root = lab(tmp_path, CEILINGS)
    whole = _whole(root)
    assert (whole.status, whole.bound, whole.candidates) == ("NEEDS_CONTEXT", None, [])
    assert any("the shape of the model" in each for each in whole.missing)
    assert whole.baseline is not None and whole.baseline.efficiency_percent is None
    assert _errors(root, whole) == []


def test_without_lengths_there_is_no_bound(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, changed(FIXTURE, name="new"))
    assert _whole(root, fixture="new").status == "NEEDS_CONTEXT"
    said = _whole(root, fixture="new", stated=stated(["prompt-tokens=5", "generated-tokens=8"]))
    assert said.status == "DRAFT" and said.baseline is None
    assert any("a baseline" in each for each in said.missing)
    assert _errors(root, said) == []


def test_without_any_rate_nothing_can_be_estimated(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE)
    whole = _whole(root)
    assert (whole.status, whole.bound) == ("NEEDS_CONTEXT", None)
    assert any("hio probe host --yes" in each for each in whole.missing)
    assert _errors(root, whole) == []


def test_a_published_ceiling_bounds_with_its_efficiency(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, PUBLISHED)
    whole = _whole(root)
    assert whole.bound is not None and whole.status == "DRAFT"
    assert any(term.cost.efficiency == 0.8 for term in whole.terms)
    assert _errors(root, whole) == []


def test_faster_than_the_bound_is_a_finding(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    whole = _whole(root, stated=stated(["memory-read=1MB/s"]))
    (finding,) = whole.findings
    assert "nothing is faster than its bound" in finding and "what was assumed: memory-read" in finding
    assert _errors(root, whole) == []


def test_an_open_correctness_failure_leaves_only_its_cause_to_find(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    failed = {
        "hio": "entry/v1", "id": "nan", "service": SERVICE, "after": [pin("b0", baseline())], "kind": "failed-run",
        "by": "someone", "at": "2026-01-05T00:00:00Z", "because": "NaN in the logits", "hazard": "non-finite-values",
        "pins": {"stack": pin("base", stack("base"))},
    }  # fmt: skip
    file = ENTRY.replace("b0.yaml", "nan.yaml")
    write(root, {file: text(failed)})
    whole = _whole(root)
    assert whole.blocked_by == [pin("nan", text(failed))]
    assert whole.candidates == []
    assert whole.next is not None and whole.next.candidate is None
    assert "find the cause of nan (non-finite-values): base against itself" in whole.next.experiment
    assert whole.next.command is not None and whole.next.command.startswith(
        "hio plan new --service lab/tiny --a-a --stack base"
    )
    assert _errors(root, whole) == []


def test_ceilings_of_another_host_leave_the_run_out(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE)
    put(root, changed(CEILINGS, host=other("elsewhere")))
    whole = _whole(root)
    assert whole.bound is not None and whole.baseline is None
    assert any("another host" in each for each in whole.missing)
    assert _errors(root, whole) == []


def test_the_same_documents_give_the_same_estimate(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    assert content_of(_whole(root)) == content_of(_whole(root))


def test_a_model_that_cannot_fit_is_told_before_any_bound(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, changed(CEILINGS, memory=400_000))
    found = _whole(root, concurrency=4)
    assert found.memory is not None and found.memory.outcome == "cannot-fit"
    assert found.findings[0].startswith("cannot fit: weights 501.8 kB + K/V ")
    assert (
        "the host has 400 kB (lab-host): the bound presumes that all of it is held there" in found.findings[0]
    )
    assert found.bound is not None and found.status == "DRAFT", "the bound is not hidden"
    assert found.next is not None and found.next.route == "size-capacity"
    assert found.next.experiment.startswith("none of base as it is, which cannot fit")
    assert _errors(root, found) == []


def test_requests_of_vllm_that_wait_for_room_leave_it_open(tmp_path: Path) -> None:
    """The lab's answers at 400 requests at once are more than the device has, and one of them is not."""
    device = {"name": "paper", "count": 1, "memory": 600_000, "tool": "a data sheet"}
    root = lab(tmp_path, SHAPE, CEILINGS, changed(PUBLISHED, devices=[device], per="device"))
    write(root, {f"{ROOM}/stacks/paged.yaml": vllm("paged", "--max-num-seqs=400", "--kv-cache-dtype=fp8")})
    found = _whole(root, "paged", concurrency=400, ceilings=("paper",))
    assert found.memory is not None and found.memory.capacity is not None
    needed = base(found.memory.needed)
    assert needed.low < 600_000 < needed.value
    assert (found.workload.kv_cache, found.memory.outcome) == ("paged", "open")
    assert not any("cannot fit" in each for each in found.findings)
    assert "then some wait" in " ".join(page(found).split())
    assert _errors(root, found) == []


def test_what_was_measured_all_the_same_contradicts_it(tmp_path: Path) -> None:
    found = _whole(lab(tmp_path, SHAPE, changed(CEILINGS, memory=400_000)))
    assert found.baseline is not None
    assert found.findings[1].startswith(
        "it was measured all the same: the shape, the capacity or what is held"
    )
    assert found.next is not None and "cannot fit" not in found.next.experiment


def test_a_model_that_fits_is_told_without_a_finding(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, changed(CEILINGS, memory=10**9))
    found = _whole(root, concurrency=4)
    assert found.memory is not None and found.memory.outcome == "within"
    assert not any("fit" in each for each in (*found.findings, *found.missing))
    assert _errors(root, found) == []


def test_a_capacity_that_nobody_tells_is_missing_only_where_nothing_shows_that_it_ran(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    measured, not_yet = _whole(root), _whole(root, concurrency=4)
    assert not any("whether it fits" in each for each in measured.missing)
    (said,) = (each for each in not_yet.missing if "whether it fits" in each)
    assert said.startswith("whether it fits: no ceilings tell the memory of the host; `hio probe host --yes`")


def test_what_is_stated_beside_is_kept_and_computed_again(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, changed(CEILINGS, memory=10**9))
    found = _whole(root, stated=stated(("memory-beside=2GB",)))
    assert found.memory is not None and [each.name for each in found.memory.parts] == [
        "weights",
        "kv",
        "stated",
    ]
    assert found.memory.outcome == "cannot-fit"
    assert [each.name for each in found.assumptions if each.name == "memory-beside"] == ["memory-beside"]
    assert not any("no effect" in each for each in found.findings)
    assert _errors(root, found) == []
