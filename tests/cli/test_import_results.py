"""hio import of result files at a terminal: what is told, kept and refused, and the exit code."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from hio_validate.evidence.records import Wrong, rows_of
from tests.cli.console import hio, one_sentence
from tests.small_repo import SERVICE, committed

ROW = {
    "build_commit": "abc1234", "build_number": 5000, "cpu_info": "a CPU", "gpu_info": "", "backends": "CPU",
    "model_filename": "/models/tiny.gguf", "model_type": "tiny 1B Q4_0", "model_size": 1000, "model_n_params": 2000,
    "n_batch": 2048, "n_ubatch": 512, "n_threads": 4, "n_prompt": 512, "n_gen": 0, "n_depth": 0,
    "test_time": "2026-11-30T08:00:00Z", "avg_ns": 2560000000, "stddev_ns": 0, "avg_ts": 200.0, "stddev_ts": 0.0,
    "samples_ns": [2560000000, 2560000000], "samples_ts": [200.0, 200.0],
}  # fmt: skip
ROOM = f"manifests/services/{SERVICE}/observations"


def rows(*changes: dict[str, object]) -> str:
    return "".join(json.dumps({**ROW, **change}) + "\n" for change in changes)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = committed(tmp_path / "repo")
    (root / "bench.jsonl").write_text(rows({}, {"n_prompt": 0, "n_gen": 512}), encoding="utf-8")
    (root / "tiny.service").write_text(
        "[Service]\nExecStart=/opt/llama-server -m /m/a.gguf\n", encoding="utf-8"
    )
    return root


def test_each_number_is_told_with_unit_statistic_count_and_definition(repo: Path) -> None:
    said = hio(repo, "import", "bench.jsonl")
    assert said.code == 0 and said.err == "hio: 1 result file, 2 records\n"
    assert said.out.startswith("bench.jsonl\n") and "2 records, DRAFT: measured outside hio" in said.out
    table = said.out[said.out.index("  record") :].splitlines()[:3]
    assert [line.split() for line in table] == [
        ["record", "n", "mean", "std", "mean", "std"],
        ["pp512", "2", "200", "0", "2560000000", "0"],
        ["tg512", "2", "200", "0", "2560000000", "0"],
    ]
    assert "ts = prefill-rate-bench: llama-bench: n_prompt tokens" in said.out
    assert "This source cannot tell: " in said.out and "Next: hio compare" in said.out
    assert max(map(len, said.out.splitlines())) <= 80


def test_results_and_configurations_in_one_call(repo: Path) -> None:
    shape = json.loads(hio(repo, "import", "bench.jsonl", "tiny.service", "--format", "json").out)
    assert [draft["name"] for draft in shape["drafts"]] == ["tiny"]
    (result,) = shape["results"]
    assert (result["format"], result["count"], result["wrote"]) == ("llama-bench", 2, None)
    metric = result["records"][0]["metrics"][0]
    assert metric["name"] == "avg_ts" and metric["unit"] == "token/s" and metric["samples"] == [200.0, 200.0]
    assert result["records"][0]["tier"] == "DRAFT"


def test_json_lines_give_every_record(repo: Path) -> None:
    (repo / "many.jsonl").write_text(rows(*({"n_prompt": each, "avg_ns": each * 5000000, "samples_ns": [each * 5000000] * 2}
                                            for each in range(1, 41))), encoding="utf-8")  # fmt: skip
    said = hio(repo, "import", "many.jsonl", "tiny.service", "--format", "jsonl")
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 0 and len(lines) == 41 and all(line["version"] == 1 for line in lines)
    assert {line["file"] for line in lines[:40]} == {"many.jsonl"} and lines[40]["draft"]["name"] == "tiny"
    text = hio(repo, "import", "many.jsonl").out
    assert "and 20 more records: --format jsonl gives them all" in text


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        pytest.param("hello\nworld\n", 3, "no results that hio knows, and no configuration", id="neither"),
        pytest.param('{"a": 1}', 3, "expected results (", id="other JSON"),
        pytest.param(
            '{"a": 1', 1, "no results that hio knows, and no configuration", id="half of other JSON"
        ),
        pytest.param("", 1, "the file is empty", id="empty"),
        pytest.param(rows({})[:200], 1, "bench:1: ", id="truncated"),
        pytest.param(rows({}) + rows({})[:200], 1, "bench:2: ", id="truncated later"),
    ],
)
def test_what_is_no_result_is_refused_with_one_sentence(
    repo: Path, content: str, code: int, said: str
) -> None:
    (repo / "bench").write_text(content, encoding="utf-8")
    done = hio(repo, "import", "bench")
    sentence = done.err.splitlines()[0]
    assert (done.code, done.out) == (code, "") and said in sentence and sentence.startswith("hio: bench")
    assert len(done.err.splitlines()) == 2 and "1 refused" in done.err


def test_a_file_that_contradicts_itself_is_told_and_ends_with_1(repo: Path) -> None:
    (repo / "bench.jsonl").write_text(rows({}, {"avg_ts": 999.0}), encoding="utf-8")
    said = hio(repo, "import", "bench.jsonl")
    assert said.code == 1 and "Found:" in said.out and "999" in said.out


def test_written_as_an_observation_that_validates(repo: Path) -> None:
    said = hio(
        repo, "import", "bench.jsonl", "--service", SERVICE, "--write", "--name", "first", "--stack", "base"
    )
    assert said.code == 0 and f"wrote {ROOM}/first/observation.yaml" in said.out
    folder = repo / ROOM / "first"
    assert sorted(each.name for each in folder.iterdir()) == [
        "bench.jsonl",
        "observation.yaml",
        "records.jsonl",
    ]
    assert (folder / "bench.jsonl").read_bytes() == (repo / "bench.jsonl").read_bytes()
    document = (folder / "observation.yaml").read_text(encoding="utf-8")
    assert f"sha256: {hashlib.sha256((repo / 'bench.jsonl').read_bytes()).hexdigest()}" in document
    assert "stack: base@sha256:" in document and "count: 2" in document
    kept = [found for _, found in rows_of((folder / "records.jsonl").read_bytes())]
    assert not any(isinstance(each, Wrong) for each in kept) and len(kept) == 2
    assert hio(repo, "validate", folder / "observation.yaml").code == 0
    assert not [each for each in repo.iterdir() if each.name.startswith(".hio-")]
    again = hio(repo, "import", "bench.jsonl", "--service", SERVICE, "--write", "--name", "first")
    assert again.code == 1 and "is never replaced; give another --name" in again.err
    assert (folder / "observation.yaml").read_text(encoding="utf-8") == document


def test_a_committed_observation_is_frozen_and_told_by_a_review(repo: Path) -> None:
    assert hio(repo, "import", "bench.jsonl", "--service", SERVICE, "--write").code == 0
    for words in (["add", "."], ["commit", "-qm", "an observation"]):
        subprocess.run(["git", *words], cwd=repo, check=True)
    told = hio(repo, "review", "HEAD~1..HEAD")
    assert "2 records of a file of llama-bench, measured outside hio" in told.out
    records = repo / ROOM / "bench/records.jsonl"
    records.write_text(records.read_text(encoding="utf-8").replace("200.0", "400.0"), encoding="utf-8")
    said = hio(repo, "validate")
    assert said.code == 1 and "frozen-document-changed" in said.out and "pin-mismatch" in said.out


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"x": "hf_abcdefghijklmnopqrstuvwx"}', id="a token by its looks"),
        pytest.param('{"api_key": "abcdefghij"}', id="by its name"),
        pytest.param('{"url": "https://me:hunter22@example.org/v1"}', id="a password in a URL"),
        pytest.param("llama-bench --hf-token qwertyuiop", id="in a command line"),
    ],
)
def test_a_credential_is_never_written_nor_shown(repo: Path, line: str) -> None:
    (repo / "bench.jsonl").write_text(rows({}) + rows({"note": line}), encoding="utf-8")
    said = hio(repo, "import", "bench.jsonl", "--service", SERVICE, "--write")
    assert said.code == 0 and "its bytes are not kept" in " ".join(said.out.split())
    assert "secret-withheld" in said.out and "line 2" in said.out
    assert sorted(each.name for each in (repo / ROOM / "bench").iterdir()) == [
        "observation.yaml",
        "records.jsonl",
    ]
    shown = [said.all, *(each.read_text() for each in (repo / ROOM / "bench").iterdir())]
    for format in ("text", "json", "jsonl"):
        shown.append(hio(repo, "import", "bench.jsonl", "--format", format).all)
    for secret in ("hf_abcdefghij", "abcdefghij", "hunter22", "qwertyuiop"):
        assert not any(secret in each for each in shown)
    assert hio(repo, "validate").code == 0


def test_a_credential_that_a_list_prints_over_two_lines_is_repeated_nowhere(repo: Path) -> None:
    (row,) = [json.loads(each) for each in rows({}).splitlines()]
    content = json.dumps(
        [row | {"argv": ["llama-bench", "--hf-token", "qwertyuiop12", "-m", "m.gguf"]}], indent=1
    )
    (repo / "bench.json").write_text(content, encoding="utf-8")
    hio(repo, "import", "bench.json", "--service", SERVICE, "--write")
    for file in repo.rglob("*/observations/**/*"):
        assert file.is_dir() or b"qwertyuiop12" not in file.read_bytes()


def test_a_file_with_a_credential_is_never_kept_with_its_content(repo: Path) -> None:
    (repo / "bench.jsonl").write_text(rows({}) + rows({"api_key": "abcdefghij"}), encoding="utf-8")
    said = hio(repo, "import", "bench.jsonl", "--service", SERVICE, "--write", "--keep-content")
    assert said.code == 1 and "hio: bench.jsonl:2: " in said.err and "leave out --keep-content" in said.err
    assert not (repo / ROOM).exists()


def test_nothing_is_left_of_a_file_that_breaks_off(repo: Path) -> None:
    (repo / "bench.jsonl").write_text(rows({}) + '{"n_prompt": 5', encoding="utf-8")
    said = hio(repo, "import", "bench.jsonl", "--service", SERVICE, "--write")
    assert said.code == 1 and "bench.jsonl:2" in said.err and not (repo / ROOM).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ["--stack", "base"], "--stack and --keep-content are about what is written", id="stack alone"
        ),
        pytest.param(["--out", "x"], "--out is for drafts, and bench.jsonl has results", id="out"),
        pytest.param(
            ["--service", SERVICE, "--write", "--stack", "gone"],
            "no stack that is called gone",
            id="no such stack",
        ),
    ],
)
def test_usage(repo: Path, words: list[str], said: str) -> None:
    done = hio(repo, "import", "bench.jsonl", *words)
    assert done.code == 2 and said in one_sentence(done)


@pytest.mark.parametrize(
    ("service", "name"),
    [
        (SERVICE, "../../../escaped"), (SERVICE, ".."), (SERVICE, ""), (SERVICE, "a/b"), (SERVICE, "-x"), (SERVICE, "x" * 101),
        (SERVICE, "a\n"), ("../escaped", "fine"), ("lab/..", "fine"), ("/escaped", "fine"), ("lab/", "fine"),
    ],
)  # fmt: skip
def test_nothing_is_written_outside_of_the_room(repo: Path, service: str, name: str) -> None:
    (repo / "bench.jsonl").write_text(rows({}), encoding="utf-8")
    before = sorted(repo.parent.rglob("*"))
    said = hio(repo, "import", "bench.jsonl", "--service", service, "--write", "--name", name)
    assert said.code == 2 and "that begin with a letter or digit" in " ".join(said.err.split())
    assert sorted(repo.parent.rglob("*")) == before


def test_what_powershell_wrote_is_read_and_searched_as_text(repo: Path) -> None:
    (repo / "bench.jsonl").write_bytes(
        ("\ufeff" + rows({}, {"n_gen": 5}).replace("\n", "\r\n")).encode("utf-16-le")
    )
    words = ("import", "bench.jsonl", "--service", SERVICE, "--write")
    shown = hio(repo, "import", "bench.jsonl", "--format", "json")
    assert json.loads(shown.out)["results"][0]["count"] == 2
    secret = rows({}) + rows({"note": "hf_abcdefghijklmnopqrstuvwx"})
    kept = (repo / "bench.jsonl").read_bytes()
    (repo / "bench.jsonl").write_bytes(("\ufeff" + secret).encode("utf-16-le"))
    refused = hio(repo, *words, "--keep-content")
    assert refused.code == 1 and "hio: bench.jsonl:2: " in refused.err and not (repo / ROOM).exists()
    (repo / "bench.jsonl").write_bytes(kept)
    assert hio(repo, *words).code == 1 and (repo / ROOM / "bench/bench.jsonl").read_bytes() == kept
    assert "unreadable" not in hio(repo, "validate").out


def metrics(tokens: int, seconds: float, label: str = "") -> str:
    return f"llamacpp:tokens_predicted_total{label} {tokens}\nllamacpp:tokens_predicted_seconds_total{label} {seconds}\n"


def test_snapshots_of_two_files_are_paired(repo: Path) -> None:
    (repo / "before.txt").write_text(metrics(100, 2.0), encoding="utf-8")
    (repo / "after.txt").write_text(metrics(300, 7.0), encoding="utf-8")
    (repo / "other.txt").write_text(metrics(400, 9.0, '{model="m"}'), encoding="utf-8")
    words = ("import", "before.txt", "after.txt", "other.txt")
    said = hio(repo, *words)
    assert (
        "from before.txt\n  to after.txt\n" in said.out and "40*" in said.out and "decode-rate-n" in said.out
    )
    assert "whether both files are of one server" in said.out.replace("\n    ", " ")
    assert (
        said.out.startswith("before.txt\n")
        and "\n\nother.txt\n" in said.out
        and "to other.txt" not in said.out
    )
    (made,) = json.loads(hio(repo, *words, "--format", "json").out)["between"]
    assert made["files"] == ["before.txt", "after.txt"] and made["record"]["metrics"][0]["value"] == 40
    lines = [json.loads(line) for line in hio(repo, *words, "--format", "jsonl").out.splitlines()]
    assert [each["between"] for each in lines if "between" in each] == [made]
    back = hio(repo, "import", "after.txt", "before.txt")
    assert "counter-went-back" in back.out


def test_what_receipts_are_made_of_is_told_with_the_service(repo: Path) -> None:
    found = {"results": {"gsm8k": {"acc": 0.5, "acc_stderr": 0.1}}, "versions": {"gsm8k": 0},
             "config": {"model": "hf", "model_args": "pretrained=a", "num_fewshot": 8}}  # fmt: skip
    (repo / "scores.json").write_text(json.dumps(found), encoding="utf-8")
    said = hio(repo, "import", "scores.json", "--service", SERVICE, "--write")
    assert f"Next: hio quality record scores.json --service {SERVICE} --write makes receipts" in " ".join(
        said.out.split()
    )
