"""What the documents before an experiment name, pin and keep beside them is followed like everything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.history import Folder
from hio_validate.places import frozen
from hio_validate.repo import Item, evidence_files, load, references
from hio_validate.rests_on import rests_on
from tests.estimating.tiny import CEILINGS, SHAPE, changed, lab, put
from tests.evidence.experiment import FIXTURE, text
from tests.small_repo import ROOM, SERVICE, baseline, pin, sha, stack, write

AMOUNT = {"value": 1.0, "low": 1.0, "high": 1.0, "unit": "ms"}
ENTRY = pin("b0", baseline())
PROFILE: dict[str, Any] = {
    "hio": "profile/v1", "name": "perf", "service": SERVICE, "stack": pin("base", stack("base")), "fixture": "tides",
    "path": "decode-token", "tool": "perf 6", "at": "2026-01-05T00:00:00Z",
    "raw": {"file": "perf.txt", "sha256": sha("samples\n")},
    "parts": [{"name": "dot", "term": "weights", "samples": 9, "what": "arithmetic"}],
}  # fmt: skip
HAND = changed(
    SHAPE, name="hand", source={"format": "hf-config", "sha256": sha("{}\n"),
                                "file": {"file": "config.json", "sha256": sha("{}\n")}},
)  # fmt: skip


def _estimate(root: Path) -> dict[str, Any]:
    """An estimate that names one of everything."""
    run = pin("threads", (root / ROOM / "runs/threads/run.yaml").read_text())
    candidate = {
        "name": "cache", "family": 5, "mechanism": "reuse", "share_percent": AMOUNT | {"unit": "1"},
        "share_of": "bound", "gain_percent": AMOUNT | {"unit": "1"}, "confidence": "low", "rollback": "unset",
        "stop_if": "nothing", "route": "tune-sweep", "caching": True, "cold": run, "warm": run,
    }  # fmt: skip
    return {
        "hio": "estimate/v1", "name": "one", "service": SERVICE, "status": "DRAFT",
        "target": {"metric": "decode_tps", "better": "higher"}, "path": "decode-token",
        "workload": {"stack": pin("base", stack("base")), "fixture": pin("tides", text(FIXTURE)),
                     "shape": pin("hand", text(HAND))},
        "terms": [{
            "name": "weights", "about": "read", "resource": "memory", "work": AMOUNT | {"unit": "B"},
            "cost": {"amount": AMOUNT | {"unit": "B/s"}, "ceiling": "lab-host", "rate": "memory-read-1"},
            "time": AMOUNT | {"unit": "s"}, "source": "shape", "confidence": "low", "refuted_by": "kernel-counters",
        }],
        "bound": {"groups": [["weights"]], "time": AMOUNT | {"unit": "s"}},
        "baseline": {"run": run, "arm": "base", "value": 1.0, "low": 1.0, "high": 1.0, "unit": "token/s"},
        "profile": pin("perf", text(PROFILE)),
        "causes": [{"claim": "dot", "profile": pin("perf", text(PROFILE))}],
        "candidates": [candidate],
        "blocked_by": [ENTRY],
    }  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lab(tmp_path, CEILINGS, HAND, PROFILE)
    put(tmp_path, changed(CEILINGS, name="kernels", engine="b1"))
    write(tmp_path, {
        f"{ROOM}/shapes/config.json": "{}\n", f"{ROOM}/profiles/perf.txt": "samples\n",
        f"{ROOM}/estimates/one.yaml": text(_estimate(tmp_path)),
    })  # fmt: skip
    return tmp_path


def _item(root: Path, kind: str, name: str) -> Item:
    item = load(Folder(root)).find(kind, name, SERVICE)
    assert item is not None and item.model is not None, item and (item.refused, item.document.faults)
    return item


def _named(item: Item) -> set[tuple[str, str, bool]]:
    return {(each.kind, each.name, each.digest is not None) for each in references(item)}


def test_an_estimate_names_all_that_it_follows_from(root: Path) -> None:
    assert _named(_item(root, "estimate/v1", "one")) == {
        ("stack/v1", "base", True), ("fixture/v1", "tides", True), ("shape/v1", "hand", True),
        ("ceilings/v1", "lab-host", False), ("run/v1", "threads", True), ("profile/v1", "perf", True),
        ("entry/v1", "b0", True),
    }  # fmt: skip


def test_ceilings_and_profiles_name_what_they_are_of(root: Path) -> None:
    assert _named(_item(root, "ceilings/v1", "kernels")) == {("engine/v1", "b1", False)}
    assert _named(_item(root, "ceilings/v1", "lab-host")) == set()
    assert _named(_item(root, "profile/v1", "perf")) == {
        ("stack/v1", "base", True),
        ("fixture/v1", "tides", False),
    }


def test_what_an_estimate_rests_on_is_followed_to_its_end(root: Path) -> None:
    found = rests_on(load(Folder(root)), [_item(root, "estimate/v1", "one")])
    assert found.broken == ()
    assert {
        f"{ROOM}/estimates/one.yaml", f"{ROOM}/shapes/hand.yaml", f"{ROOM}/shapes/config.json",
        f"{ROOM}/profiles/perf.yaml", f"{ROOM}/profiles/perf.txt", "manifests/ceilings/lab-host.yaml",
        f"{ROOM}/runs/threads/rows.tsv", f"{ROOM}/fixtures/tides.yaml", f"{ROOM}/stacks/base.yaml",
        f"ledger/{SERVICE}/2026/b0.yaml",
    } <= {each.file for each in found.files}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (f"{ROOM}/shapes/hand.yaml", "the shape hand has other bytes than are pinned"),
        (f"{ROOM}/shapes/config.json", "config.json has other bytes"),
        (f"{ROOM}/profiles/perf.yaml", "the profile perf has other bytes than are pinned"),
        (f"{ROOM}/profiles/perf.txt", "perf.txt has other bytes"),
        (f"{ROOM}/fixtures/tides.yaml", "the fixture tides has other bytes than are pinned"),
    ],
)
def test_changed_bytes_below_an_estimate_are_told(root: Path, file: str, said: str) -> None:
    content = (root / file).read_text()
    (root / file).write_text(f"{content}# later\n")
    found = rests_on(load(Folder(root)), [_item(root, "estimate/v1", "one")])
    assert any(said in each.sentence for each in found.broken), found.broken


def test_ceilings_that_are_gone_are_told(root: Path) -> None:
    (root / "manifests/ceilings/lab-host.yaml").unlink()
    found = rests_on(load(Folder(root)), [_item(root, "estimate/v1", "one")])
    (broken,) = found.broken
    assert broken.sentence == "the ceilings lab-host is not there"
    line = (root / broken.file).read_text().split("\n")[broken.line - 1]
    assert "lab-host" in line


def test_files_kept_beside_a_shape_or_a_profile_are_evidence(root: Path) -> None:
    assert [(path, file) for path, file, _ in evidence_files(_item(root, "shape/v1", "hand"))] == [
        (("source", "file", "sha256"), "config.json")
    ]
    assert [(path, file) for path, file, _ in evidence_files(_item(root, "profile/v1", "perf"))] == [
        (("raw", "sha256"), "perf.txt")
    ]


@pytest.mark.parametrize(
    ("path", "what"),
    [
        (f"{ROOM}/profiles/perf.yaml", "profile"),
        (f"{ROOM}/profiles/perf.txt", "profile"),
        (f"{ROOM}/estimates/one.yaml", None),
        (f"{ROOM}/shapes/hand.yaml", None),
        ("manifests/ceilings/lab-host.yaml", None),
    ],
)
def test_only_what_was_observed_is_frozen_by_its_place(path: str, what: str | None) -> None:
    assert frozen(path) == what
