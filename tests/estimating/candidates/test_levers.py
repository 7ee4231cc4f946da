"""Every lever of every engine: proposed by its build's own setting, and what is printed to be typed begins a plan that holds.

The cases are the rows of the table: a new row is tried without being named here; a new mechanism needs its situation.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hio_validate.cli import cli
from hio_validate.estimating import typed
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.estimating.candidates import looked_at
from hio_validate.estimating.candidates.levers import WAYS, Way
from hio_validate.estimating.candidates.mechanism import Seen
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.models.estimate import Amount, Candidate
from hio_validate.source import read
from tests.estimating.candidates.engines import ENGINES, service, stack_of
from tests.estimating.candidates.workbench import asked, profile
from tests.estimating.tiny import SHAPE
from tests.small_repo import ROOM, pin

ATTENDS = (("flash_attn_kernel", 40, "arithmetic", None), ("vec_dot", 60, "arithmetic", "weights"))
LOGS = (("common_log_add", 40, "other", None), ("vec_dot", 60, "arithmetic", "weights"))
DRAFTS = {"role": "draft", "type": "f16", "elements": 1000, "bytes": 2000, "tensors": 1}
LAUNCHES = {"launches": 500.0, "launch": Amount(value=20.0, low=20.0, high=20.0, unit="us")}
GAPS = {"host-gap": Amount(value=3.0, low=3.0, high=3.0, unit="ms")}
WAITS = {"queue-wait": Amount(value=30.0, low=30.0, high=30.0, unit="ms")}

SITUATIONS: dict[str, dict[str, Any]] = {
    "draft-from-text": {"stated": {"draft-tokens": 3.0, "acceptance": 1.0}},
    "draft-own-layers": {"stated": {"draft-tokens": 1.0, "acceptance": 1.0}, "draft_layers": 1},
    "microbatch": {"metric": "prefill_tps", "value": "8", "stated": {"matmul": Amount(value=1e12, low=1e12, high=1e12, unit="FLOP/s")}},
    "slots": {"metric": "ttft_ms", "value": "1", "concurrency": 4, "stated": WAITS},
    "several-passes": {"stated": GAPS},
    "fused-attention": {"profile": ATTENDS},
    "key-format": {}, "value-format": {"settings": {"flash-attn": "on"}}, "kv-format": {},
    "online-weights": {}, "weights-file": {"value": "/models/tiny"},
    "less-logging": {"profile": LOGS, "value": "3"},
    "prefix-cache": {},
    "graphs": {"stated": LAUNCHES}, "compiled": {"stated": LAUNCHES},
    "graph-sizes": {"stated": LAUNCHES, "value": "2", "concurrency": 4},
    "threads": {"value": "1"}, "prefill-threads": {"metric": "prefill_tps", "value": "1"},
    "overlap-host": {"stated": GAPS},
    "mixed-passes": {"metric": "ttft_ms", "concurrency": 4, "stated": WAITS},
    "shards": {"value": "1"},
}  # fmt: skip
"""Mechanism -> where it pays: the metric, what is stated, a profile, the number in force."""

MEASURED = ("prefix-cache",)
"""Proposed only with two runs (test_reuse.py): here what would be typed is tried alone."""


def _ids(way: Way) -> str:
    return f"{way.engine}-{way.mechanism}-{way.factor}-{'or'.join(way.now[:1])}"


def _placed(root: Path, way: Way) -> Inputs:
    """The inputs of a stack in which the way is open."""
    situation = SITUATIONS[way.mechanism]
    in_force = {
        **situation.get("settings", {}),
        way.factor: way.now[0] if way.now else situation.get("value", ""),
    }
    if way.factor == "model" or way.factor == "model-path":
        del in_force[way.factor]
    shape = {"draft_layers": 1, "weights": [*SHAPE["weights"], DRAFTS]} if "draft_layers" in situation else {}
    path = "prefill-token" if situation.get("metric") == "prefill_tps" else "decode-token"
    documents = [_profiled(root, way, situation["profile"], in_force, path)] if "profile" in situation else []
    service(root, way.engine, in_force, *documents, lacks=_other_spellings(way), **shape)
    more = {"concurrency": situation["concurrency"]} if "concurrency" in situation else {}
    return asked(root, situation.get("metric", "decode_tps"), stated=situation.get("stated"), **more)


def _profiled(root: Path, way: Way, parts: Any, in_force: dict[str, str], path: str) -> dict[str, Any]:
    return profile(*parts, path=path) | {"stack": pin("base", stack_of(way.engine, in_force))}


def _candidate(inputs: Inputs, way: Way) -> Candidate:
    """The candidate that changes the way's setting."""
    ledger = terms_of(inputs)
    bound = bound_of(ledger, inputs)
    if way.mechanism in MEASURED:
        ((lever, _, to),) = Seen(inputs, ledger, bound).switches(way.mechanism)
        none = {"value": 1.0, "low": 1.0, "high": 1.0, "unit": "1"}
        said = {"name": way.mechanism, "family": 5, "mechanism": "reuse", "factor": lever.address, "gain_percent": none,
                "change": f"{lever.has} -> {to}", "share_percent": none, "share_of": "measured", "confidence": "low",
                "rollback": "as before", "stop_if": "nothing is gained", "route": "tune-sweep"}  # fmt: skip
        return Candidate.model_validate(said)
    found = looked_at(inputs, ledger, bound)
    mine = [each for each in found.candidates if each.factor == f"server.{way.factor}"]
    mine = mine or [each for each in found.candidates if f"server.{way.factor} " in (each.change or "")]
    assert mine, (found.candidates, found.said, found.missing, ledger.missing)
    return mine[0]


def _hio(root: Path, *words: str) -> Any:
    return CliRunner().invoke(cli, [*words, "--repo", str(root)], catch_exceptions=False)


@pytest.mark.parametrize("way", WAYS, ids=_ids)
def test_what_is_printed_begins_a_plan_that_holds(tmp_path: Path, way: Way) -> None:
    inputs = _placed(tmp_path, way)
    candidate = _candidate(inputs, way)
    command = typed.plan_of(inputs, candidate)
    if way.mechanism == "less-logging":
        assert command is None and candidate.route == "attribute-cpu-and-device"
        return
    assert command is not None, candidate
    words = [word.replace("=FILE", "=/models/smaller") for word in shlex.split(command)]
    assert words[0] == "hio"
    begun = _hio(tmp_path, *words[1:])
    assert begun.exit_code == 0, begun.output
    (plan,) = (tmp_path / ROOM / "plans").glob("*.yaml")
    _write_what_only_a_person_can(plan)
    for fixture in (tmp_path / ROOM / "fixtures").glob("*.yaml"):
        _write_what_only_a_person_can(fixture)
    checked = _hio(tmp_path, "plan", "check", plan.stem)
    assert checked.exit_code == 0, checked.output
    said = read(plan.read_bytes(), plan.name).data
    (changed_,) = (arm["set"] for arm in said["arms"].values() if "set" in arm)
    assert list(changed_) == [f"server.{way.factor}"], "the very setting of the table"
    assert said["factors"] == [f"server.{way.factor}"]


def _write_what_only_a_person_can(file: Path) -> None:
    file.write_text(file.read_text().replace("TODO: ", "written: 5 % of "))


def _other_spellings(way: Way) -> set[str]:
    """Settings of the same engine that do the same: a build has one of them."""
    same = {each.factor for each in WAYS if (each.mechanism, each.engine) == (way.mechanism, way.engine)}
    return same - {way.factor}


@pytest.mark.parametrize("way", [way for way in WAYS if way.to], ids=_ids)
def test_a_value_that_is_in_force_is_not_proposed(tmp_path: Path, way: Way) -> None:
    value = way.to[0].replace("{n}", "3")
    is_unset = way.engine == "sglang" and value == "off"
    service(tmp_path, way.engine, {} if is_unset else {way.factor: value})
    inputs = asked(tmp_path)
    switches = Seen(inputs, terms_of(inputs), None).switches(way.mechanism)
    assert (f"server.{way.factor}", value) not in [
        (lever.address, to.replace("{n}", "3")) for lever, _, to in switches
    ]


@pytest.mark.parametrize("way", WAYS, ids=_ids)
def test_a_setting_that_the_build_does_not_have_is_not_proposed(tmp_path: Path, way: Way) -> None:
    has_it, lacks_it = tmp_path / "has", tmp_path / "lacks"
    given = {way.factor: way.now[0]} if way.now else {}
    for root, lacks, settings in ((has_it, (), given), (lacks_it, (way.factor,), {})):
        service(root, way.engine, {} if way.factor in ("model", "model-path") else settings, lacks=lacks)
    seen = [Seen(each, terms_of(each), None) for each in (asked(has_it), asked(lacks_it))]
    found = [[lever.address for lever, _ in each.ways(way.mechanism)] for each in seen]
    assert f"server.{way.factor}" in found[0]
    if way.factor not in ("model", "model-path"):  # argv gives them
        assert f"server.{way.factor}" not in found[1]


def test_the_guide_names_each_setting_beside_its_engine() -> None:
    page = (Path(__file__).parents[3] / "docs/guide/estimating.md").read_text()
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.count("|") == 6
    ]
    (head,) = (number for number, row in enumerate(rows) if row[2:] == ["llama-server", "vLLM", "SGLang"])
    columns = zip(*(row[2:] for row in rows[head + 2 :]), strict=True)
    told = [{name for cell in column for name in re.findall(r"`([\w-]+)`", cell)} for column in columns]
    assert told == [{way.factor for way in WAYS if way.engine == engine} for engine in ENGINES]


def test_each_mechanism_has_a_situation() -> None:
    assert {way.mechanism for way in WAYS} == set(SITUATIONS)
    assert all(way.now or way.to or SITUATIONS[way.mechanism].get("value") for way in WAYS)
