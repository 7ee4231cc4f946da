"""Whatever stands in the files, every bad input gives findings and an exit code, never a traceback."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hio_validate import engine
from hio_validate.history import Folder
from hio_validate.repo import load
from hio_validate.report import FORMATS, render
from hio_validate.surroundings import around
from tests.cli.console import hio
from tests.small_repo import BASE, ENTRY, FILES, HELP, MATRIX, ROOM, committed, write

HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "only a byte order mark": b"\xef\xbb\xbf",
    "not UTF-8": b"hio: stack/v1\nname: \xff\xfe\n",
    "UTF-16": "hio: stack/v1\n".encode("utf-16"),
    "NUL": b"hio: stack/v1\x00\n",
    "control characters": b"hio: stack/v1\nname: \x1b[31mred\n",
    "CRLF": b"hio: stack/v1\r\nname: x\r\n",
    "a tab": b"hio: stack/v1\n\tname: x\n",
    "two documents": b"hio: stack/v1\n---\nhio: site/v1\n",
    "a tag": b"hio: !!python/object/apply:os.system [id]\n",
    "an alias bomb": b"a: &a [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b", ".join([b"*%c" % (97 + n)] * 9)) for n in range(9)),
    "an alias of itself": b"a: &a [*a]\n",
    "deep": b"a: " + b"[" * 5000 + b"]" * 5000 + b"\n",
    "deep block": b"".join(b"  " * n + b"a:\n" for n in range(300)),
    "a long line": b"hio: " + b"x" * 300_000 + b"\n",
    "a list": b"- 1\n- 2\n",
    "a number": b"42\n",
    "no end": b'hio: "stack/v1\n',
    "a key that is a list": b"? [a, b]\n: 1\n",
    "a key that is null": b"~: 1\n",
    "numbers for keys": b"1: 2\n3.5: 4\ntrue: 5\n",
    "not a number": b"hio: run/v1\nname: .nan\n",
    "a large number": b"hio: stack/v1\nname: 123456789012345678901234567890\n",
    "a kind that is a list": b"hio: [stack/v1]\n",
    "a kind that is a mapping": b"hio: {stack: v1}\n",
    "a kind that is null": b"hio:\n",
    "a merge of nothing": b"<<: 1\nhio: stack/v1\n",
    "a lone surrogate": b'hio: stack/v1\nname: "\\ud800"\n',
    "a lone surrogate as a key": b'hio: stack/v1\n"\\udfff": 1\n',
    "directional overrides": "hio: stack/v1\nname: \u202edrow\n".encode(),
    "processes that are a list": b"hio: stack/v1\nname: base\nprocesses: [1]\n",
    "argv that is no list of lists": b"hio: stack/v1\nname: base\nprocesses: {s: {engine: x, argv: [a, [1], [], [[]]]}}\n",
}
PLACES = (BASE, MATRIX, ENTRY, f"{ROOM}/runs/r1/run.yaml", "manifests/engines/llama-server/b1/engine.yaml",
          "manifests/engines/llama-server/family.yaml")  # fmt: skip


def _judged(root: Path) -> None:
    """All rules, all formats, the whole and each file alone; a crash of a rule is a failure."""
    tree = Folder(root)
    report = engine.run(load(tree))
    assert [found.message for found in report.diagnostics if found.rule == "internal-error"] == []
    for format_ in FORMATS:
        render(report, format_, color=True, width=80).encode()
    for file in tree.paths():
        read, focus = around(tree, {file})
        engine.run(read, focus=focus)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_document_is_a_finding_wherever_it_stands(tmp_path: Path, what: str) -> None:
    for place in PLACES:
        write(tmp_path, {**FILES, place: HOSTILE[what]})
        report = engine.run(load(Folder(tmp_path)))
        assert any(found.location.file == place for found in report.diagnostics), place
        assert report.exit_code == 1
        _judged(tmp_path)
        (tmp_path / place).unlink()


def test_every_verb_survives_a_repository_of_hostile_documents(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    write(
        repo, {f"manifests/sites/hostile-{number}.yaml": raw for number, raw in enumerate(HOSTILE.values())}
    )
    said = hio(repo, "validate", "--format", "json")
    assert said.code == 1
    files = {found["location"]["file"] for found in json.loads(said.out)["diagnostics"]}
    assert len(files & {f"manifests/sites/hostile-{number}.yaml" for number in range(len(HOSTILE))}) == len(
        HOSTILE
    )
    for words in (
        ("validate",),
        ("settings", "base"),
        ("diff", "base", "two"),
        ("matrix", "show", "base-to-two"),
    ):
        assert hio(repo, *words).code == int(words == ("validate",))
    for number in range(0, len(HOSTILE), 6):
        refused = hio(repo, "diff", f"manifests/sites/hostile-{number}.yaml", "base")
        assert refused.code == 2
        assert len(refused.err.splitlines()) == 1


@pytest.mark.parametrize("place", [MATRIX, BASE, ENTRY])
def test_a_verb_that_needs_the_hostile_document_refuses(tmp_path: Path, place: str) -> None:
    repo = committed(tmp_path / "repo")
    write(repo, {place: HOSTILE["an alias bomb"]})
    said = hio(repo, "matrix", "new", "--parent", "base", "--candidate", "two")
    assert said.code in ((0,) if place == ENTRY else (1, 2))
    assert (repo / place).read_bytes() == HOSTILE["an alias bomb"]


_SCALARS = ["", "~", "null", "true", "-1", "0", "1e400", ".nan", "[]", "{}", "[[]]", "{a: b}", '""', "'x'", '"\\n"',
            "5319E7", "0777", "2026-01-01", "x@sha256:" + "0" * 64, "lab/tiny/base", "a/b", "..", "*a", "&a x", "!!int 1",
            "|", ">-", "unknown", "absent", "\u202e", "9" * 40]  # fmt: skip
_DOCUMENTS = [path for path in FILES if path.endswith(".yaml")]


@st.composite
def _mutated(draw: st.DrawFn) -> tuple[str, str]:
    """A valid document of the small repository with a few lines changed."""
    path = draw(st.sampled_from(_DOCUMENTS))
    lines = FILES[path].split("\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        match draw(st.sampled_from(["drop", "double", "value", "indent", "cut", "word"])):
            case "drop":
                lines[at] = ""
            case "double":
                lines.insert(at, line)
            case "value" if ":" in line:
                lines[at] = f"{line.partition(':')[0]}: {draw(st.sampled_from(_SCALARS))}"
            case "indent":
                lines[at] = " " * draw(st.integers(0, 9)) + line.lstrip()
            case "cut":
                lines[at] = line[: draw(st.integers(0, len(line)))]
            case _:
                words = line.split(" ")
                words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(_SCALARS))
                lines[at] = " ".join(words)
    return path, "\n".join(lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_mutated())
def test_no_mutation_of_a_document_crashes_a_rule(changed: tuple[str, str]) -> None:
    with tempfile.TemporaryDirectory() as root:
        _judged(write(Path(root), {**FILES, changed[0]: changed[1]}))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_no_help_text_and_no_rows_crash_a_rule(data: st.DataObject) -> None:
    path, text = data.draw(
        st.sampled_from(
            [
                ("manifests/engines/llama-server/b1/help.txt", HELP),
                (f"{ROOM}/runs/r1/rows.tsv", "arm\tspeed\n"),
            ]
        )
    )
    at = data.draw(st.integers(0, len(text)))
    raw = text[:at].encode() + data.draw(st.binary(max_size=30)) + text[at:].encode()
    with tempfile.TemporaryDirectory() as root:
        _judged(write(Path(root), {**FILES, path: raw}))
