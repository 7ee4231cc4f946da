"""hio plan new for vLLM and SGLang: the fixture asks as they are asked, and the plan needs no number that they do not report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hio_validate.execute.questions import NotAskable, questions
from hio_validate.plans.begin import begin
from hio_validate.plans.compared import Compared
from hio_validate.plans.refusal import CannotPlan
from hio_validate.source import read
from tests.cli.console import Said, hio, one_sentence
from tests.estimating.candidates.engines import service
from tests.estimating.candidates.workbench import FIXTURE
from tests.estimating.tiny import put, view_of
from tests.small_repo import ROOM, SERVICE

GREEDY = {
    "temperature": 0,
    "top_k": 1,
    "repetition_penalty": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
}
SWITCH = {"vllm": "max-num-seqs=16", "sglang": "max-running-requests=16"}
engines = pytest.mark.parametrize("engine", SWITCH)


def _bare(root: Path, engine: str) -> Path:
    """A service without fixtures."""
    service(root, engine, {})
    for each in (root / ROOM / "fixtures").iterdir():
        each.unlink()
    return root


def _begun(root: Path, *words: str) -> Said:
    said = hio(root, "plan", "new", "--service", SERVICE, "--name", "p", *words)
    assert said.code == 0, said.err
    return said


def _read(root: Path, file: str) -> dict[str, Any]:
    found: dict[str, Any] = read((root / ROOM / file).read_bytes(), file).data
    return found


def _written(root: Path) -> None:
    for path in (root / ROOM).rglob("*.yaml"):
        path.write_text(path.read_text().replace("TODO: ", "said: "))


@engines
def test_the_fixtures_that_are_begun_ask_as_the_engine_is_asked(engine: str, tmp_path: Path) -> None:
    _begun(_bare(tmp_path, engine), "--set", SWITCH[engine])
    for name in ("short", "check"):
        made = _read(tmp_path, f"fixtures/{name}.yaml")
        assert (made["endpoint"], made["sampling"]) == ("/v1/completions", GREEDY)
    decide, limits = (_read(tmp_path, "plans/p.yaml")[part] for part in ("decide", "limits"))
    assert limits["start_s"] == 600, "it compiles and captures graphs before it is ready"
    assert (decide["metric"], decide["better"]) == ("tpot_ms", "lower")
    assert decide["bounds"] == [{"metric": "ttft_ms", "worse_by_percent": 5}]


@engines
@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_what_is_asked_is_counted_by_the_server_and_kept_cold_by_a_salt(
    engine: str, cache: str, tmp_path: Path
) -> None:
    _begun(_bare(tmp_path, engine), "--set", SWITCH[engine])
    _written(tmp_path)
    file = tmp_path / ROOM / "plans/p.yaml"
    file.write_text(file.read_text() + f"cache: {cache}\n")
    view = view_of(tmp_path)
    plan = view.repo.find("plan/v1", "p", SERVICE)
    assert plan is not None
    asked, _ = questions(plan, view.repo)
    measured = [dict(each.body) for each in asked if each.phase == "measured"]
    salts = [body.pop("cache_salt", None) for body in measured]
    assert (len(set(salts)) == len(salts)) if cache == "cold" else (set(salts) == {None})
    assert measured[0] == {
        "prompt": "said: a prompt of the workload that this service serves", **GREEDY, "seed": 1, "max_tokens": 128,
        "ignore_eos": True, "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip


def test_a_server_that_stays_between_legs_cannot_be_kept_cold_by_requests(tmp_path: Path) -> None:
    _begun(_bare(tmp_path, "vllm"), "--set", SWITCH["vllm"])
    _written(tmp_path)
    file = tmp_path / ROOM / "plans/p.yaml"
    file.write_text(file.read_text() + "restart: never\n")
    view = view_of(tmp_path)
    plan = view.repo.find("plan/v1", "p", SERVICE)
    assert plan is not None
    with pytest.raises(NotAskable, match="write restart: every-leg"):
        questions(plan, view.repo)


@engines
def test_a_metric_that_the_engine_does_not_report_is_refused_with_one_that_the_client_sees(
    engine: str, tmp_path: Path
) -> None:
    said = hio(_bare(tmp_path, engine), "plan", "new", "--service", SERVICE, "--set", SWITCH[engine], "--metric", "prefill_tps")  # fmt: skip
    assert said.code == 2
    assert "say --metric ttft_ms" in one_sentence(said)
    assert not (tmp_path / ROOM / "plans").exists()


def test_a_fixture_in_other_words_is_found_before_anything_runs(tmp_path: Path) -> None:
    service(tmp_path, "vllm", {})
    put(tmp_path, FIXTURE)
    _begun(tmp_path, "--set", SWITCH["vllm"], "--fixture", "tides", "--screening")
    _written(tmp_path)
    said = hio(tmp_path, "plan", "check", "p")
    assert said.code == 1
    assert "tides asks /completion, which vllm does not have" in " ".join(said.out.split())
    view = view_of(tmp_path)
    plan = view.repo.find("plan/v1", "p", SERVICE)
    assert plan is not None
    with pytest.raises(NotAskable, match="which vllm does not have"):
        questions(plan, view.repo)


def test_vllm_and_sglang_are_two_plans_for_everyone_who_is_asked(tmp_path: Path) -> None:
    service(tmp_path, "vllm", {})
    stack = (tmp_path / ROOM / "stacks/base.yaml").read_text()
    other = stack.replace("name: base", "name: other").replace("engine: vllm", "engine: sglang")
    (tmp_path / ROOM / "stacks/other.yaml").write_text(other)
    compared = Compared(
        "p", {"a": {"stack": "base"}, "b": {"stack": "other"}}, (), "Which is faster?", "hand"
    )
    with pytest.raises(CannotPlan, match="a is of vllm and b is of sglang, which read different requests"):
        begin(view_of(tmp_path), SERVICE, compared, "screening", "p", None, None)

    _begun(tmp_path, "--set", SWITCH["vllm"], "--fixture", "tides", "--screening")
    _written(tmp_path)
    file = tmp_path / ROOM / "plans/p.yaml"
    file.write_text(re.sub(r"\{stack: base, set: .*\}", "{stack: other}", file.read_text()))
    said = hio(tmp_path, "plan", "check", "p")
    assert said.code == 1
    assert "is of sglang, which read different requests" in " ".join(said.out.split())
    view = view_of(tmp_path)
    plan = view.repo.find("plan/v1", "p", SERVICE)
    assert plan is not None
    with pytest.raises(NotAskable, match=r"is of vllm and .* is of sglang, which read different requests"):
        questions(plan, view.repo)


ANY, EQUAL = {"content": "any"}, {"content": "equal"}


@pytest.mark.parametrize(
    ("engine", "change", "work"),
    [
        ("llama-server", "server.cache-type-k=q8_0", ANY),
        ("llama-server", "server.flash-attn=on", EQUAL),
        ("llama-server", "server.spec-type=ngram-mod", EQUAL | {"accepted_percent": 100}),
        ("vllm", "kv-cache-dtype=fp8", ANY),
        ("sglang", "quantization=fp8", ANY),
        ("sglang", "max-running-requests=16", EQUAL),
    ],
)
def test_answers_may_differ_only_where_the_arms_hold_their_numbers_differently(
    engine: str, change: str, work: dict[str, Any], tmp_path: Path
) -> None:
    said = _begun(service(tmp_path, engine, {}), "--set", change, "--fixture", "tides")
    assert _read(tmp_path, "plans/p.yaml")["same_work"] == work
    text = (tmp_path / ROOM / "plans/p.yaml").read_text()
    lines = text.splitlines()
    before = lines[next(n for n, line in enumerate(lines) if line.startswith("same_work:")) - 1]
    assert before.startswith("# ") == (work != EQUAL), "no tolerance without its reason"
    assert ("same_work lets the answers differ" in " ".join(said.out.split())) == (work == ANY)
