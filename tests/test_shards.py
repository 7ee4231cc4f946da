"""Several processes say together exactly what one says alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hio_validate import engine, shards
from hio_validate.history import Folder, WorkTree, revision
from hio_validate.repo import load
from hio_validate.rules import RULES
from tests.small_repo import FILES, SERVICE, committed, git

SERVICES = ["lab/one", "lab/two", "desk/one", "desk/two", "desk/three"]


def several(root: Path) -> Path:
    """Five services, each with a fault of its own, in one committed repository."""
    files: dict[str, str | bytes] = {}
    for service in SERVICES:
        files |= {
            name.replace(SERVICE, service): text.replace(SERVICE, service) for name, text in FILES.items()
        }
    committed(root, files)
    wrong = root / f"matrix/{SERVICES[1]}/base-to-two.yaml"
    wrong.write_text(wrong.read_text().replace('to: "2"', 'to: "7"'))
    (root / f"ledger/{SERVICES[3]}/2026/b0.yaml").unlink()
    (root / f"manifests/services/{SERVICES[4]}/stacks/two.yaml").write_text("a: b: c\n")
    return root


@pytest.mark.parametrize("processes", [1, 2, 3, 9])
def test_together_they_say_what_one_says(tmp_path: Path, processes: int) -> None:
    tree = WorkTree(several(tmp_path))
    before = revision(tmp_path)
    alone = engine.run(load(tree), before, gates=("deploy",))
    together = shards.judge(tree, before, ("deploy",), processes, smallest=1)
    assert together == alone
    assert len({found.rule for found in alone.diagnostics}) > 3


def test_a_service_that_cites_another_one_is_judged_with_it(tmp_path: Path) -> None:
    root = several(tmp_path)
    matrix = root / f"matrix/{SERVICES[0]}/base-to-two.yaml"
    matrix.write_text(matrix.read_text().replace("candidate: two", f"candidate: {SERVICES[2]}/two"))
    tree = Folder(root)
    assert shards.judge(tree, None, (), 3, smallest=1) == engine.run(load(tree))


def test_a_process_that_ends_early_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()

    def check(*_: object) -> None:
        if os.getpid() != parent:
            os._exit(9)

    monkeypatch.setattr(engine.run, "__defaults__", (None, [*RULES, _rule(check)], (), None))
    with pytest.raises(RuntimeError, match="ended early"):
        shards.judge(Folder(several(tmp_path)), None, (), 2, smallest=1)


def _rule(check):  # type: ignore[no-untyped-def]
    def yielding(view):  # type: ignore[no-untyped-def]
        check(view)
        return iter(())

    return next(rule for rule in RULES if rule.id == "broken-lineage")._replace(id="ends", check=yielding)


def test_a_few_documents_are_judged_here(tmp_path: Path) -> None:
    tree = Folder(several(tmp_path))
    assert len(shards._shares(tree, 8, shards.SMALLEST_SHARE)) == 1
    assert git(tmp_path, "status", "--porcelain") != ""
