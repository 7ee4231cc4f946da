"""hio estimate: reads documents, launches nothing, and answers with one sentence where it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hio_validate.source import read
from tests.cli.console import Said, hio, one_sentence
from tests.estimating.tiny import CEILINGS, SHAPE, changed, lab, put
from tests.evidence.experiment import text
from tests.small_repo import ENTRY, ROOM, SERVICE, baseline, git, pin, stack, write

KEPT = f"{ROOM}/estimates/base-tides-decode_tps.yaml"
FAILED = {
    "hio": "entry/v1", "id": "nan", "service": SERVICE, "after": [pin("b0", baseline())], "kind": "failed-run",
    "by": "someone", "at": "2026-01-05T00:00:00Z", "because": "NaN in the logits", "hazard": "non-finite-values",
    "pins": {"stack": pin("base", stack("base"))},
}  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return lab(tmp_path, SHAPE, CEILINGS)


def _estimate(repo: Path, *words: str) -> Said:
    return hio(repo, "estimate", "base", "--fixture", "tides", *words)


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_page_fits_a_terminal_and_changes_nothing(repo: Path) -> None:
    before = _files(repo)
    said = _estimate(repo)
    assert (said.code, said.err) == (0, "")
    assert "DRAFT: an estimate is no result" in said.out
    assert "NEXT EXPERIMENT" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert _files(repo) == before


def test_the_answers_for_programs_and_for_an_issue(repo: Path) -> None:
    answer = json.loads(_estimate(repo, "--format", "json").out)
    assert (answer["version"], answer["status"], answer["service"]) == (1, "DRAFT", SERVICE)
    assert answer["workload"]["prompt_tokens"] == 5
    assert _estimate(repo, "--format", "markdown").out.startswith("# Performance hint pass")


def test_it_is_kept_once_and_never_replaced(repo: Path) -> None:
    said = _estimate(repo, "--write")
    assert said.code == 0 and said.out.endswith(f"wrote {KEPT}\n")
    kept = (repo / KEPT).read_bytes()
    assert read(kept, KEPT).data["name"] == "base-tides-decode_tps"
    again = _estimate(repo, "--write")
    assert again.code == 1
    assert f"{KEPT} exists and is never replaced; give another --name" in one_sentence(again)
    assert (repo / KEPT).read_bytes() == kept
    named = _estimate(repo, "--write", "--name", "second", "--format", "json")
    assert json.loads(named.out)["estimate"] == "second", "standard output is data alone"
    assert named.err == f"wrote {ROOM}/estimates/second.yaml\n"
    assert hio(repo, "validate", KEPT).code == 0


def test_the_first_candidate_becomes_an_opportunity_that_rests_on_nothing(repo: Path) -> None:
    before = _files(repo)
    said = _estimate(repo, "--write", "--opportunity", "--by", "someone")
    assert said.code == 0, said.all
    new = {file: content for file, content in _files(repo).items() if file not in before}
    (entry,) = (read(content, file).data for file, content in new.items() if file.startswith("ledger/"))
    first = read(new[KEPT], KEPT).data["candidates"][0]
    assert (entry["kind"], entry["by"], entry.get("factor")) == (
        "opportunity",
        "someone",
        first.get("factor"),
    )
    assert "pins" not in entry and "estimated" in entry["benefit"]
    assert [word for word in said.out.splitlines() if word.startswith("wrote")] == [
        f"wrote {file}" for file in (KEPT, *(new.keys() - {KEPT}))
    ]
    assert {file: content for file, content in _files(repo).items() if file in before} == before
    found = json.loads(hio(repo, "validate", *new, "--format", "json").out)
    assert [
        each
        for each in found["diagnostics"]
        if each["severity"] == "error" and each["location"]["file"] in new
    ] == []


def test_without_a_candidate_there_is_no_opportunity_and_nothing_is_written(tmp_path: Path) -> None:
    root = lab(tmp_path, CEILINGS)
    before = _files(root)
    said = _estimate(root, "--write", "--opportunity")
    assert said.code == 1
    assert "there is no candidate that could be an opportunity" in one_sentence(said)
    assert _files(root) == before


def test_a_name_that_no_document_can_have_is_refused(repo: Path) -> None:
    before = _files(repo)
    said = _estimate(repo, "--write", "--name", "../x")
    assert said.code == 2
    assert "--name" in one_sentence(said)
    assert _files(repo) == before


def test_needs_context_is_three_and_says_what_gets_it(tmp_path: Path) -> None:
    said = _estimate(lab(tmp_path, CEILINGS))
    assert said.code == 3
    assert "NEEDS_CONTEXT" in said.out
    assert "hio probe model" in said.out


def test_an_open_failure_is_one_and_says_why(repo: Path) -> None:
    write(repo, {ENTRY.replace("b0.yaml", "nan.yaml"): text(FAILED)})
    said = _estimate(repo)
    assert said.code == 1
    assert "nan" in said.out and "correctness" in said.out
    assert "BLOCKED, base has an open correctness failure" in " ".join(said.out.split("\nDRAFT")[0].split())
    shape = json.loads(_estimate(repo, "--format", "json").out)
    assert (shape["candidates"], shape["next"]["candidate"]) == ([], None)
    assert shape["next"]["route"] == "measure-baseline" and len(shape["blocked_by"]) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--metric", "prefill_tps", "--run", "threads"], "it has no prefill_tps that counts"),
        (["--assume", "launch=4"], "got no unit"),
        (["--shape", "nothing"], "no shape is called nothing"),
        (["--ceilings", "lab-hots"], "did you mean lab-host?"),
        (["--opportunity"], "give both"),
        (["--goal", "nan"], "--goal is a finite number above 0 in the metric's unit, got nan"),
        (["--goal", "0"], "--goal is a finite number above 0 in the metric's unit, got 0"),
        (["--goal", "-5"], "got -5"),
        (["--assume", "prompt-tokens=1e20"], "prompt-tokens is 1e+09 at most"),
        (["--assume", "launch=4us\x1b[31m"], "expected"),
        (["--fixture", "moon"], "no fixture is called moon"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_two(repo: Path, words: list[str], sentence: str) -> None:
    said = _estimate(repo, *words)
    assert (said.code, said.out) == (2, "")
    assert sentence in one_sentence(said)


def test_a_stack_that_is_not_there_or_cannot_be_read_is_one_sentence(repo: Path) -> None:
    assert "no readable stack is called basis" in one_sentence(hio(repo, "estimate", "basis"))
    write(repo, {f"{ROOM}/stacks/bad.yaml": "hio: stack/v1\nname: bad\n"})
    said = hio(repo, "estimate", "bad")
    assert said.code == 2 and "the stack bad is not valid" in one_sentence(said)


def test_what_is_not_committed_is_said(repo: Path) -> None:
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "documents")
    assert "not committed" not in _estimate(repo).out
    run = repo / ROOM / "runs/threads/run.yaml"
    run.write_text(f"{run.read_text()}# later\n")
    assert "the commit of threads: it is not committed as it stands" in " ".join(_estimate(repo).out.split())


def test_the_help_names_everything_that_may_be_stated() -> None:
    from hio_validate.estimating.context.inputs import STATED  # beside what the help says

    said = hio(Path.cwd(), "estimate", "--help")
    assert said.code == 0
    words = " ".join(said.out.split()).replace("- ", "-")
    assert [name for name in STATED if name not in words] == []
    assert "estimate" in hio(Path.cwd(), "--help").out


def test_ceilings_that_the_rules_refuse_are_not_used(repo: Path) -> None:
    rate = {"quantity": "memory-read", "value": 14000.0, "unit": "GB/s", "threads": 1, "method": "streams"}
    put(repo, changed(CEILINGS, rates={"memory-read-1": rate}))
    said = _estimate(repo)
    assert "14000" not in said.out and "lab-host, which is not used" in " ".join(said.out.split())
    named = _estimate(repo, "--ceilings", "lab-host")
    assert named.code == 2
    assert "the ceilings lab-host has an error: manifests/ceilings/lab-host.yaml:" in one_sentence(named)
