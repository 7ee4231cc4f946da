"""What a document rests on: everything it names, with the bytes that are there, and what is not there as it was."""

from __future__ import annotations

from pathlib import Path

from hio_validate.history import Folder
from hio_validate.repo import Item, load
from hio_validate.rests_on import RestsOn, rests_on
from tests.evidence.experiment import whole
from tests.small_repo import ROOM, sha


def _of(root: Path, name: str = "threads") -> RestsOn:
    repo = load(Folder(root))
    item = repo.find("run/v1", name)
    assert isinstance(item, Item)
    return rests_on(repo, [item])


def test_it_follows_names_and_files_to_their_end(tmp_path: Path) -> None:
    found = _of(whole(tmp_path).root)
    assert found.broken == ()
    files = {each.file: each.sha256 for each in found.files}
    room = f"{ROOM}/runs"
    assert {
        f"{room}/threads/run.yaml", f"{room}/threads/rows.tsv", f"{room}/threads/server.log",
        f"{room}/threads/captures/threads-8.yaml", f"{ROOM}/plans/threads.yaml", f"{ROOM}/fixtures/sum.yaml",
        f"{room}/aa/rows.tsv", "manifests/engines/llama-server/b1/help.txt", "ledger/lab/tiny/2026/ok.yaml",
    } <= set(files)  # fmt: skip
    assert all(digest == sha((tmp_path / file).read_bytes()) for file, digest in files.items())
    assert "ledger/lab/tiny/2026/b0.yaml" not in files, "what an entry follows is no evidence of it"
    assert list(files) == sorted(files)


def test_what_is_missing_or_changed_is_told_with_its_line(tmp_path: Path) -> None:
    root = whole(tmp_path).root
    run = root / ROOM / "runs/threads"
    (run / "server.log").unlink()
    (run / "samples.tsv").write_text("more\n")
    (root / ROOM / "fixtures/sum.yaml").unlink()
    plan = root / ROOM / "plans/aa.yaml"
    plan.write_text(f"{plan.read_text()}# later\n")
    found = _of(root)
    said = [(each.file.rpartition("/runs/")[2], each.sentence) for each in found.broken]
    assert ("threads/run.yaml", "server.log, which it relies on, is not there") in said
    assert any(one == "threads/run.yaml" and "samples.tsv has other bytes" in told for one, told in said)
    assert ("threads/run.yaml", "the fixture sum is not there") in said
    assert ("aa/run.yaml", "the plan aa has other bytes than are pinned") in said
    lines = run.joinpath("run.yaml").read_text().split("\n")
    at = next(each.line for each in found.broken if "server.log" in each.sentence)
    assert "server.log" in lines[at - 1] or "sha256" in lines[at - 1]
    kept = {each.file for each in found.files}
    assert not any(file.endswith(("server.log", "sum.yaml")) and "threads" in file for file in kept)
