"""A whole run of an engine that is asked as vLLM is: from a plan to a run that the validator accepts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hio_validate.execute.work import Work, as_text
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.rules.base import View
from tests.cli.console import hio
from tests.execute.experiment import (
    APPROVAL_FILE,
    PLAN_FILE,
    ROOM,
    SERVICE,
    SITE_FILE,
    approval,
    baseline,
    fixture,
    plan,
    prepared,
    site,
    yaml,
)
from tests.lab.trial import Trial, free_port
from tests.small_repo import pin

GREEDY = {
    "temperature": 0,
    "top_k": 1,
    "repetition_penalty": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
}
COUNTS = ["--enable-prompt-tokens-details"]


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIO_STATE", str(tmp_path / "state"))


def _documents(tmp_path: Path, counts: bool, **planned: Any) -> dict[str, str]:
    program, model = tmp_path / "vllm", tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    program.write_text(f"#!{sys.executable}\n{(Path(__file__).parent / 'vllm_like.py').read_text()}")
    program.chmod(0o755)
    argv = [["serve", "${model}"], ["--host", "${host}"], ["--port", "${port}"], ["--max-num-seqs", "1"], *([COUNTS] if counts else [])]  # fmt: skip
    served = {"hio": "stack/v1", "name": "base", "processes": {"server": {"engine": "vllm", "argv": argv}}}
    first = yaml(baseline(served))
    where = {"port": free_port(), "paths": {"model": str(model)}}
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": {"server.max-num-seqs": 2}}}
    decide = {"metric": "tpot_ms", "better": "lower", "at_least_percent": 5.0, "test": "permutation", "alpha": 0.05}  # fmt: skip
    asked = {"endpoint": "/v1/completions", "sampling": GREEDY}
    more = {"arms": arms, "factors": ["server.max-num-seqs"], "decide": decide, "order": ["one", "two"], **planned}  # fmt: skip
    return {
        SITE_FILE: yaml(site(place=where, programs={"vllm": str(program)})),
        f"{ROOM}/stacks/base.yaml": yaml(served),
        f"{ROOM}/fixtures/tides.yaml": yaml(fixture(**asked)),
        PLAN_FILE: yaml(plan(**more)),
        f"ledger/{SERVICE}/2026/b0.yaml": first,
        APPROVAL_FILE: yaml(approval(after=[pin("b0", first)])),
    }


def _trial(tmp_path: Path, counts: bool, **planned: Any) -> Trial:
    root, folder = tmp_path / "repo", tmp_path / "job"
    work = prepared(root, _documents(tmp_path, counts, **planned))
    assert isinstance(work, Work), work
    folder.mkdir()
    (folder / "work.json").write_text(as_text(work))
    return Trial(root, folder, work)


@pytest.mark.parametrize("counts", [True, False])
def test_a_run_has_what_the_server_counted_and_nothing_else(tmp_path: Path, counts: bool) -> None:
    t = _trial(tmp_path, counts)
    for place in (1, 2):
        record = t.leg(place)
        assert not record["invalid"]
        assert [row["phase"] for row in record["rows"]] == ["warm-up", "measured", "measured"]
        assert all(row["generated"] == 8 and row["finish"] == "length" for row in record["rows"])
        assert all(row.get("cached") == (0 if counts else None) for row in record["rows"])
    t.recorded()
    view = View(load(Folder(t.root)))
    item = view.repo.find("run/v1", t.work.job, SERVICE)
    assert item is not None
    assert ({"cached", "evaluated"} <= item.model.columns.keys()) == counts
    assert not {"decode_tps", "prefill_tps", "drafted"} & item.model.columns.keys()
    assert {"tpot_ms", "ttft_ms", "wall_s"} <= item.model.columns.keys()
    missed = {each.reason for each in view.verdict(item).reasons}
    assert ("regime-unproven" in missed) == (not counts)
    said = hio(t.root, "validate", "--format", "json")
    assert json.loads(said.out)["summary"]["errors"] == 0, said.out


def test_without_a_salt_the_cache_is_noticed_where_it_is_counted(tmp_path: Path) -> None:
    t = _trial(tmp_path, counts=True, cache="cold")
    bare = [{**each.body, "cache_salt": "one for all"} for each in t.work.questions]
    t = t.changed(questions=tuple(each.__class__(**{**vars(each), "body": body}) for each, body in zip(t.work.questions, bare, strict=True)))  # fmt: skip
    record = t.leg(1)
    assert "took 4 prompt tokens from a cache, and the plan says cold" in record["invalid"][0]
