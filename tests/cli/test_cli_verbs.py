"""The other verbs as a person calls them: what they write, print and refuse, with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hio_validate.rules import RULES
from tests.cli.console import hio, one_sentence
from tests.small_repo import (
    ENTRY,
    FILES,
    HELP,
    MATRIX,
    ROOM,
    SERVICE,
    TWO,
    capture,
    committed,
    git,
    matrix,
    pin,
    sha,
    stack,
    write,
)

MATRIX_NEW = ("matrix", "new", "--parent", "base", "--candidate", "two")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


def test_help_fits_a_terminal_and_a_misspelt_verb_is_corrected(tmp_path: Path) -> None:
    said = hio(tmp_path, "--help")
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    for verb in (
        "validate",
        "explain",
        "capture",
        "settings",
        "diff",
        "matrix",
        "ledger",
        "status",
        "log",
        "engine",
        "schema",
    ):
        assert f"\n  {verb} " in said.out
    said = hio(tmp_path, "vaildate")
    assert said.code == 2
    assert "Did you mean validate?" in said.err
    assert hio(tmp_path).code == 2


def test_explain_lists_all_rules_and_prints_a_page(tmp_path: Path) -> None:
    listed = hio(tmp_path, "explain")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == [rule.id for rule in RULES]
    page = hio(tmp_path, "explain", "value-mismatch")
    assert page.code == 0
    assert "value-mismatch" in page.out and "How to fix" in page.out
    assert one_sentence(hio(tmp_path, "explain", "value-mismach")).endswith("Did you mean value-mismatch?")


def test_schemas_are_written_once_and_checked(tmp_path: Path) -> None:
    stale = hio(tmp_path, "schema", "--check")
    assert stale.code == 1
    assert "stack.schema.json" in one_sentence(stale)
    assert hio(tmp_path, "schema").code == 0
    assert json.loads((tmp_path / "schemas/stack.schema.json").read_text())["title"] == "stack/v1"
    assert hio(tmp_path, "schema", "--check").code == 0
    (tmp_path / "schemas/stack.schema.json").write_text("{}")
    assert hio(tmp_path, "schema", "--check").code == 1


def test_settings_say_what_holds_and_where_it_comes_from(repo: Path) -> None:
    said = hio(repo, "settings", "base", "--all")
    assert said.code == 0
    lines = {
        line.split()[0]: line.split()[1:] for line in said.out.splitlines() if line.startswith("server.")
    }
    assert lines["server.threads"] == ["1", "argv"]
    assert lines["server.batch-size"] == ["2048", "build", "default"]
    assert lines["server.threads-batch"] == ["1", "follows", "server.threads"]
    shape = json.loads(hio(repo, "settings", "base", "--format", "json").out)
    assert shape["version"] == 1
    assert one_sentence(hio(repo, "settings", "nope")) == (
        "hio: no readable stack is called nope; there is base or two"
    )
    assert hio(repo, "settings", "base", "--capture", "nope").code == 2


def test_a_name_of_another_service_and_a_service_that_is_not_there_are_told(repo: Path) -> None:
    (repo / "manifests/services/lab/other/stacks").mkdir(parents=True)
    text = (repo / "manifests/services/lab/tiny/stacks/base.yaml").read_text()
    (repo / "manifests/services/lab/other/stacks/elsewhere.yaml").write_text(text)
    assert one_sentence(hio(repo, "settings", "elsewhere", "--service", "lab/tiny")) == (
        "hio: no readable stack is called elsewhere in lab/tiny; there is lab/other/elsewhere"
    )
    assert one_sentence(hio(repo, "settings", "base", "--service", "lab/tny")) == (
        "hio: no service is called lab/tny; did you mean lab/tiny?"
    )


def test_two_command_lines_are_compared_without_any_repository(tmp_path: Path) -> None:
    words = ("diff", "llama-server --threads 1 --port 80", "llama-server --threads 2 --port 81")
    said = hio(tmp_path, *words)
    assert said.code == 0
    assert said.out.splitlines()[1] == "1 changed by you, 3 followed, 0 moved by the build, 1 operational"
    assert hio(tmp_path, *words, "--exit-code").code == 1
    assert hio(tmp_path, "diff", "--exit-code", "llama-server --threads 1", "llama-server -t 1").code == 0
    assert (
        hio(tmp_path, "diff", "--exit-code", "llama-server --threads 1", "llama-server --threads=1").code == 1
    ), "llama-server reads no --flag=value"
    dashed = hio(tmp_path, "diff", "--", "llama-server", "--threads", "1", "--port", "80", "--", "llama-server",
                 "--threads", "2", "--port", "81")  # fmt: skip
    assert dashed.out.splitlines()[1] == said.out.splitlines()[1]
    mixed = hio(tmp_path, "diff", "llama-server -t 1", "--", "llama-server", "-t", "2")
    assert mixed.out.splitlines()[1].startswith("1 changed by you")


def test_an_environment_before_the_program_counts(tmp_path: Path) -> None:
    said = hio(
        tmp_path, "diff", "LLAMA_LOG_COLORS=on llama-server -t 1", "llama-server -t 1", "--format", "json"
    )
    changed = [each["setting"] for each in json.loads(said.out)["differences"]]
    assert changed == ["server.LLAMA_LOG_COLORS"]


@pytest.mark.parametrize("given", ["llama-server --api-key hunter2 -t 1", "LLAMA_API_KEY=hunter2 llama-server -t 1",
                                   "llama-server --api-key=hunter2 -t 1"])  # fmt: skip
def test_no_secret_of_a_command_line_is_printed(tmp_path: Path, given: str) -> None:
    for format_ in ("text", "json"):
        assert "hunter2" not in hio(tmp_path, "diff", given, "llama-server -t 1", "--format", format_).all


def test_stacks_are_compared_by_name_and_by_file(repo: Path) -> None:
    said = hio(repo, "diff", "base", "two")
    assert said.out.splitlines()[1] == "1 changed by you, 1 followed, 0 moved by the build, 0 operational"
    by_file = hio(repo, "diff", TWO.replace("two", "base"), TWO)
    assert by_file.out == said.out
    shape = json.loads(hio(repo, "diff", "base", "two", "--format", "json").out)
    assert shape["counts"]["changed by you"] == 1


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    if process.returncode is None:
        process.communicate(b"\n", timeout=600)


def test_a_live_process_is_compared_with_itself(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    said = hio(tmp_path, "diff", str(sleeper.pid), str(sleeper.pid), "--exit-code")
    assert said.code == 0, said.all
    assert f"pid {sleeper.pid} -> pid {sleeper.pid}" in said.out


def test_a_process_that_is_gone_cannot_be_observed(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.communicate(b"\n", timeout=600)
    said = hio(tmp_path, "diff", str(sleeper.pid), "llama-server -t 1")
    assert said.code == 3
    one_sentence(said)


def test_units_are_compared(tmp_path: Path) -> None:
    for name, threads in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.service").write_text(
            f"[Service]\nExecStart=/opt/llama-server --threads {threads}\n"
        )
    said = hio(tmp_path, "diff", "a.service", "b.service")
    assert said.code == 0
    assert "server.threads  1 -> 2" in said.out
    assert "does not exist" in one_sentence(hio(tmp_path, "diff", "c.service", "b.service"))


@pytest.mark.parametrize(
    "sides",
    [(), ("base",), ("base", "two", "two"), ("base", "nope"), ("", "base"), (" ", "base"), ("llama-server 'x", "base"),
     ("base", MATRIX), ("base", "manifests"), ("--", "llama-server"), ("base", "--", "--")],
)  # fmt: skip
def test_what_cannot_be_compared_is_a_usage_error(repo: Path, sides: tuple[str, ...]) -> None:
    said = hio(repo, "diff", *sides)
    assert said.code == 2
    one_sentence(said)


def test_a_matrix_is_scaffolded_with_undecided_rows_that_block(repo: Path) -> None:
    (repo / MATRIX).unlink()
    said = hio(repo, *MATRIX_NEW)
    assert (said.code, said.out) == (0, f"wrote {MATRIX}: 1 row to decide\n")
    text = (repo / MATRIX).read_text()
    assert '- {factor: server.threads, from: "1", to: "2", disposition: undecided}' in text
    assert "as_of: [b0]" in text
    judged = hio(repo, "validate", MATRIX)
    assert judged.code == 1
    assert "undecided-row" in judged.out
    (repo / MATRIX).write_text(text.replace("undecided", "retest"))
    assert hio(repo, "validate").code == 0
    again = hio(repo, *MATRIX_NEW)
    assert (again.code, again.out) == (0, f"{MATRIX} is up to date\n")


def test_an_update_takes_captures_and_the_tips_of_now(repo: Path) -> None:
    mine = matrix(disposition="retest").replace("rows:", "as_of: [b0]  # until then\nrows:")
    names = ("c1", "c2")
    write(repo, {MATRIX: mine, **{f"{ROOM}/captures/{name}.yaml": capture(name) for name in names}})
    later = (
        f'hio: entry/v1\nid: n1\nservice: {SERVICE}\nafter: ["{pin("b0", FILES[ENTRY])}"]\nby: someone\n'
        'at: "2026-01-02T00:00:00Z"\nkind: negative-control\nfactor: server.port\n'
    )
    write(repo, {ENTRY.replace("b0", "n1"): later})
    said = hio(repo, *MATRIX_NEW, "--captures", "c1,c2")
    assert said.code == 0, said.err
    for sentence in ("captures: parent is c1", "captures: candidate is c2", "as_of: n1", "server.port"):
        assert sentence in said.out
    text = (repo / MATRIX).read_text()
    assert "as_of: [n1]  # until then" in text
    assert "captures: {parent: c1, candidate: c2}" in text
    assert "up to date" in hio(repo, *MATRIX_NEW, "--captures", "c1,c2").out


def test_an_update_keeps_comments_and_decisions(repo: Path) -> None:
    mine = matrix(disposition="retest", more="# the last word is mine\n").replace(
        "retest}", "retest, because: slow}  # so it is"
    )
    write(repo, {MATRIX: mine, TWO: stack("two", 2, more='      - ["--ctx-size", "4096"]\n')})
    said = hio(repo, *MATRIX_NEW)
    assert said.code == 0
    assert "new row: server.ctx-size" in said.out
    text = (repo / MATRIX).read_text()
    added = [line for line in text.splitlines() if line not in mine.splitlines()]
    assert added == ['  - {factor: server.ctx-size, from: unknown, to: "4096", disposition: undecided}']
    assert all(line in text.splitlines() for line in mine.splitlines())


@pytest.mark.parametrize(
    "words",
    [("--parent", "nope", "--candidate", "two"), ("--parent", "base", "--candidate", "nope"),
     ("--parent", "base", "--candidate", "base"), ("--parent", "base", "--candidate", "two", "--name", "../x"),
     ("--parent", "base", "--candidate", "two", "--name", "a b"),
     ("--parent", "base", "--candidate", "two", "--name", "other", "--captures", "one"),
     ("--parent", "base", "--candidate", "two", "--name", "other", "--captures", "one,two"),
     ("--parent", "base", "--candidate", "two", "--service", "nowhere")],
)  # fmt: skip
def test_no_matrix_is_written_for_what_does_not_exist(repo: Path, words: tuple[str, ...]) -> None:
    said = hio(repo, "matrix", "new", *words)
    assert said.code == 2
    one_sentence(said)
    assert git(repo, "status", "--porcelain") == ""


def test_a_matrix_about_other_stacks_is_never_overwritten(repo: Path) -> None:
    said = hio(repo, "matrix", "new", "--parent", "two", "--candidate", "base", "--name", "base-to-two")
    assert said.code == 1
    assert "give another --name" in one_sentence(said)
    assert git(repo, "status", "--porcelain") == ""


def test_a_matrix_is_shown_with_computed_values(repo: Path) -> None:
    write(repo, {TWO: stack("two", 5)})
    said = hio(repo, "matrix", "show", "base-to-two")
    assert said.code == 0
    assert "server.threads  1       5          retest" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert json.loads(hio(repo, "matrix", "show", MATRIX, "--format", "json").out)["version"] == 1
    assert hio(repo, "matrix", "show", "nope").code == 2


def _append(repo: Path, *words: str) -> Path:
    said = hio(repo, "ledger", "append", *words, "--service", SERVICE, "--by", "someone")
    assert said.code == 0, said.err
    return repo / said.out.removeprefix("wrote ").strip()


def test_an_entry_pins_what_sha256sum_says(repo: Path) -> None:
    entry = _append(
        repo,
        "increment",
        "--factor",
        "server.threads",
        "--run",
        "r1",
        "--stack",
        "two",
        "--id",
        "i1",
        "--imported",
    )
    text = entry.read_text()
    for name, path in (("b0", ENTRY), ("two", TWO), ("r1", f"manifests/services/{SERVICE}/runs/r1/run.yaml")):
        digest = subprocess.run(
            ["sha256sum", path], cwd=repo, capture_output=True, text=True, check=True
        ).stdout.split()[0]
        assert f"{name}@sha256:{digest}" in text
    git(repo, "add", "-A")
    assert hio(repo, "validate", "--staged").code == 0


def test_a_new_entry_follows_every_tip(repo: Path) -> None:
    first = _append(repo, "correction", "--corrects", "b0", "--id", "one")
    aside = first.read_bytes()
    first.unlink()
    _append(repo, "correction", "--corrects", "b0", "--id", "two")
    first.write_bytes(aside)
    merge = _append(repo, "merge", "--id", "both").read_text()
    assert f"one@sha256:{sha(aside)}" in merge
    assert f"two@sha256:{sha(first.with_name('two.yaml').read_bytes())}" in merge
    assert hio(repo, "validate", "ledger").code == 0
    assert hio(repo, "ledger", "append", "merge", "--service", SERVICE, "--id", "again").code == 2


def test_a_published_number_is_computed_from_the_raw_rows(repo: Path) -> None:
    words = ("--run", "r1", "--factor", "threads")
    entry = _append(repo, "increment", *words, "--result", "speed", "one", "two", "--id", "measured")
    assert "change_percent: 100.0" in entry.read_text()
    assert hio(repo, "validate", "ledger").code == 0
    refused = hio(
        repo, "ledger", "append", "increment", *words, "--service", SERVICE, "--id", "x",
        "--result", "wall_s", "one", "two",
    )  # fmt: skip
    assert refused.code == 2
    assert "the metrics speed and the arms one, two" in one_sentence(refused)


def test_a_ledger_only_grows(repo: Path) -> None:
    said = hio(repo, "ledger", "append", "baseline", "--service", SERVICE, "--stack", "base", "--id", "b0")
    assert said.code == 1
    assert "a ledger only grows" in one_sentence(said)
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [(("baseline",), "give --stack"), (("increment",), "give --factor"), (("decision",), "give --decision"),
     (("correction",), "give --corrects"), (("correction", "--corrects", "nope"), "no entry is called nope"),
     (("baseline", "--stack", "nope"), "no stack is called nope"),
     (("increment", "--factor", "threads", "--run", "nope"), "no run is called nope"),
     (("baseline", "--stack", "base", "--factor", "threads"), "--factor has no meaning here"),
     (("merge",), "at least two tips"), (("baseline", "--stack", "base", "--id", "../../x"), "expected a name")],
)  # fmt: skip
def test_no_entry_is_written_that_would_be_wrong(repo: Path, words: tuple[str, ...], said: str) -> None:
    refused = hio(repo, "ledger", "append", *words, "--service", SERVICE)
    assert refused.code == 2
    assert said in one_sentence(refused)
    assert git(repo, "status", "--porcelain") == ""


def test_a_new_ledger_begins_with_a_baseline(repo: Path) -> None:
    refused = hio(repo, "ledger", "append", "merge", "--service", "lab/new")
    assert "begins with a baseline" in one_sentence(refused)
    assert "a service is SITE/NAME" in one_sentence(
        hio(repo, "ledger", "append", "baseline", "--service", "lab", "--stack", "base")
    )


def test_no_entry_is_appended_to_a_ledger_that_cannot_be_read(repo: Path) -> None:
    write(repo, {ENTRY.replace("b0", "b1"): "hio: entry/v1\nid: b1\n"})
    refused = hio(repo, "ledger", "append", "decision", "--decision", "deploy", "--service", SERVICE)
    assert "cannot be read" in one_sentence(refused)


def test_a_help_text_is_learned_once_and_kept_byte_by_byte(repo: Path) -> None:
    (repo / "help").write_text(HELP)
    words = ("engine", "learn", "--help-file", "help", "--family", "llama-server", "--name", "b2")
    said = hio(repo, *words, "--revision", "abc")
    assert said.code == 0, said.err
    assert "settings learned" in said.out
    folder = repo / "manifests/engines/llama-server/b2"
    assert (folder / "help.txt").read_text() == HELP
    assert sha(HELP) in (folder / "engine.yaml").read_text()
    assert hio(repo, "validate", str(folder)).code == 0
    again = hio(repo, *words)
    assert again.code == 1
    assert "a build is recorded once" in one_sentence(again)


@pytest.mark.parametrize(
    ("words", "code"),
    [(("--name", "x"), 2), (("--name", "x", "--help-file", "help"), 2),
     (("--name", "../../x", "--help-file", "help", "--family", "llama-server"), 2),
     (("--name", "x", "--help-file", "help", "--family", "nope"), 2),
     (("--name", "x", "--help-file", "bad", "--family", "llama-server"), 1)],
)  # fmt: skip
def test_nothing_is_stored_of_what_cannot_be_learned(repo: Path, words: tuple[str, ...], code: int) -> None:
    (repo / "help").write_text(HELP)
    (repo / "bad").write_text("no help at all\n")
    refused = hio(repo, "engine", "learn", *words)
    assert refused.code == code
    one_sentence(refused)
    assert "manifests" not in git(repo, "status", "--porcelain")
    assert not (repo.parent / "x").exists() and not (repo / "manifests/x").exists()


def test_a_program_of_no_family_is_named(repo: Path) -> None:
    said = one_sentence(hio(repo, "engine", "learn", "--binary", "/bin/ls", "--name", "x"))
    assert said.startswith("hio: ls is of no family hio knows; give --family, known are llama-server")


def test_verbs_in_a_damaged_repository_end_in_one_sentence(repo: Path) -> None:
    (repo / ".git/index").write_bytes(b"nonsense")
    for words in (
        ("validate",),
        ("settings", "base"),
        ("diff", "base", "two"),
        ("matrix", "show", "base-to-two"),
    ):
        said = hio(repo, *words)
        assert said.code == 3
        one_sentence(said)


def test_what_cannot_be_written_is_said(repo: Path) -> None:
    (repo / "matrix").rename(repo / "elsewhere")
    (repo / "matrix").write_text("in the way")
    said = hio(repo, *MATRIX_NEW)
    assert said.code == 3
    assert "cannot be written" in one_sentence(said)
    assert FILES[MATRIX]


@pytest.mark.parametrize(
    "words",
    [(), ("--service", "lab"), ("--name", "../x"), ("--service", SERVICE, "--stack", "../../x"),
     ("--service", "../x/y"), ("--service", SERVICE, "--process", "a/b"), ("--engine", "nope")],
)  # fmt: skip
def test_no_capture_is_written_under_a_name_that_is_none(
    repo: Path, sleeper: subprocess.Popen[bytes], words: tuple[str, ...]
) -> None:
    said = hio(repo, "capture", *(("--pid", str(sleeper.pid)) if words else ()), *words)
    assert said.code == 2
    assert len(one_sentence(said)) < 300
    assert git(repo, "status", "--porcelain") == ""


def test_a_capture_and_its_drafts_are_written_and_valid(repo: Path, sleeper: subprocess.Popen[bytes]) -> None:
    said = hio(
        repo, "capture", "--pid", str(sleeper.pid), "--service", SERVICE, "--stack", "seen", "--name", "c1"
    )
    assert said.code == 0, said.err
    written = [line.removeprefix("wrote ") for line in said.out.splitlines() if line.startswith("wrote ")]
    assert [Path(file).name for file in written] == ["c1.yaml", "seen.yaml"]
    assert "kept manifests/sites/lab.yaml" in said.out
    assert hio(repo, "validate", *written).code == 0
    assert hio(repo, "diff", "seen", "c1").code == 0
    again = hio(repo, "capture", "--pid", str(sleeper.pid), "--service", SERVICE, "--name", "c1")
    assert again.code == 1
    assert "never replaced" in again.err


@pytest.fixture
def server(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that calls itself llama-server."""
    words = [
        "/opt/engine/llama-server",
        "-c",
        "print(flush=True); input()",
        "--port",
        "8099",
        "-m",
        "/srv/n.gguf",
    ]
    with subprocess.Popen(
        words, executable=sys.executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.communicate(b"\n", timeout=600)


def test_a_second_service_of_a_site_gains_its_places(repo: Path, server: subprocess.Popen[bytes]) -> None:
    site = repo / "manifests/sites/lab.yaml"
    site.write_text("hio: site/v1\nname: lab  # ours\nservices:\n  tiny: {port: 8080}\n")
    words = ("capture", "--pid", str(server.pid), "--service", "lab/second", "--stack", "seen", "--name")
    said = hio(repo, *words, "c1")
    assert said.code == 0, said.err
    assert "added lab/second to manifests/sites/lab.yaml" in said.out
    assert site.read_text().startswith(
        "hio: site/v1\nname: lab  # ours\nservices:\n  tiny: {port: 8080}\n  second: "
    )
    assert "/srv/n.gguf" in site.read_text()
    assert hio(repo, "diff", "seen", "c1", "--exit-code").code == 0
    before = site.read_bytes()
    assert hio(repo, *words, "c2").code == 0
    assert site.read_bytes() == before
