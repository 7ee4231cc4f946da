"""Published results of load generators are read into records. `HIO_CASES` names the folder with results/."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hio_validate.evidence.outcome import Tier
from tests.importing.results.reading import ids, number, records_of

CASES = Path(os.environ.get("HIO_CASES", "nowhere")) / "results"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="HIO_CASES names no folder with results")


def test_two_benchmarks_of_two_requests() -> None:
    two, four = records_of(CASES / "guidellm_report_v2.json", "guidellm")
    assert (two.name, four.name) == ("constant-2", "constant-4")
    for record in (two, four):
        assert record.requests == (2, 2, 0, 0)
        gap = number(record, "inter_token_latency_ms")
        assert (gap.definition, gap.unit, gap.n) == ("itl-request-mean", "ms", 2)
        assert number(record, "time_per_output_token_ms").definition == "tpot-whole"
        assert number(record, "request_latency").unit == "s"
        assert record.tier is Tier.DRAFT
        assert [finding.id for finding in record.findings] == ["few-samples"]
    assert number(two, "inter_token_latency_ms").value == 1.1508464813232422
    assert number(two, "request_latency").value == 0.01978909969329834
    assert number(two, "output_tokens_per_second").value == 3.1950675815128577


def test_eighty_nine_completed_and_eleven_cancelled() -> None:
    (record,) = records_of(CASES / "aiperf_run1_profile_export_aiperf.json", "aiperf")
    assert record.requests == (100, 89, 0, 11)
    assert number(record, "time_to_first_token").n == 89
    assert number(record, "output_token_count").n == 30
    assert number(record, "inter_chunk_latency").n == 21537
    assert number(record, "inter_chunk_latency").definition == "itl-per-gap"
    assert number(record, "inter_token_latency").definition == "itl-request-mean"
    assert number(record, "request_throughput", "value").value == 9.551622221540914
    assert "1.759522419154569e+18" in str(record.foreign["min_request_timestamp"])
    assert set(ids(record)) == {"inexact-number"}
