"""The rooms and who may enter whom (docs/adr/0008-rooms.md): imports go in one direction, and side doors stay shut."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import hio_validate

HERE = Path(hio_validate.__file__).parent

MAY_IMPORT = {
    "places": "",
    "diagnostic": "",
    "moment": "",
    "quantity": "",
    "size": "",
    "spelling": "",
    "source": "diagnostic",
    "writing": "",
    "models": "diagnostic spelling",
    "json_schema": "models",
    "compile": "models",
    "citing": "diagnostic models",
    "repo": "places citing source models",
    "rests_on": "repo",
    "settings": "diagnostic spelling source models repo",
    "history": "places diagnostic source",
    "parents": "history",
    "costs": "models",
    "shaping": "",
    "observe.refusal": "",
    "observe.perf_report": "observe.refusal",
    "observe": "observe.refusal observe.perf_report source models costs shaping settings",
    "recording": "source models settings",
    "probing": "quantity models costs observe",
    "ledger": "moment models repo",
    "evidence": "diagnostic moment quantity source models repo settings ledger",
    "inheritance": "diagnostic models repo settings ledger",
    "exporting": "moment models repo settings evidence rests_on",
    "known_good": "moment source models repo settings",
    "importing": "observe.refusal quantity source writing models observe recording settings evidence",
    "scaffold": "source models repo settings inheritance recording",
    "estimating.bounds": "costs models repo",
    "rules": "estimating.bounds observe.refusal observe.perf_report places diagnostic moment size known_good spelling source models costs shaping repo settings evidence ledger inheritance",
    "measurements": "evidence importing repo rules",
    "receipts": "writing source models recording repo evidence importing",
    "baselines": "models repo evidence ledger known_good measurements rules",
    "status": "quantity models repo settings ledger inheritance rules evidence",
    "next_test": "models repo settings ledger inheritance rules",
    "plans": "moment spelling source models recording repo settings evidence ledger inheritance rules next_test",
    "estimating": "estimating.bounds moment spelling costs models repo settings ledger evidence rules",
    "engine": "diagnostic source repo settings rules",
    "life": "models repo settings ledger inheritance rules",
    "appending": "diagnostic source models repo evidence ledger recording rules engine",
    "from_run": "quantity models repo settings evidence rules appending",
    "surroundings": "source repo",
    "focused": "diagnostic repo parents surroundings engine",
    "checkpoint": "diagnostic source repo settings history parents focused",
    "shards": "diagnostic repo surroundings rules engine",
    "review": "places diagnostic moment quantity models repo settings history parents evidence ledger rules status engine "
    "surroundings shards",
    "command": "models settings",
    "launch_file": "command",
    "render": "observe.refusal size writing command launch_file models repo settings observe ledger",
    "subjects": "observe.refusal source models repo settings observe",
    "drift": "models settings subjects",
    "execute": "observe.refusal diagnostic moment size command launch_file source models repo settings history observe recording evidence ledger rules "
    "engine subjects drift appending writing known_good render",
    "prospect": "moment models repo settings evidence rules execute",
    "campaigns": "quantity source models recording repo settings ledger known_good evidence rules plans prospect execute",
    "report": "diagnostic moment quantity costs models repo settings ledger evidence inheritance status next_test life checkpoint "
    "review render execute size prospect campaigns importing known_good rests_on",
    "console": "places history report",
    "validating": "places diagnostic repo history parents rules focused shards report console",
    "cli": "observe.refusal observe.perf_report shaping probing places diagnostic quantity spelling command source models json_schema repo settings history parents observe "
    "recording writing ledger evidence inheritance scaffold rules appending engine checkpoint review subjects drift "
    "status next_test life render execute report console validating plans focused prospect from_run importing known_good "
    "measurements receipts baselines rests_on exporting campaigns estimating",
    "hook": "",
    "__main__": "validating cli hook",
}
"""Room -> the rooms it may import, beside itself; each stands further down than all it imports."""

ONLY = {
    "yaml": {"source", "render"},
    "click": {"cli"},
    "pydantic": {"models", "json_schema", "compile"},
    "pydantic_core": {"models", "json_schema", "compile"},
    "subprocess": {"history", "observe", "probing", "render", "execute"},
    "tempfile": {"writing", "observe", "probing", "render", "checkpoint", "importing"},
    "jinja2": {"render"},
    "detect_secrets": {"checkpoint"},
    "jsonschema": {"exporting"},
    "urllib.request": {"observe"},
    "http": {"observe", "probing", "execute"},
    "socket": {"observe", "execute"},
    "numpy": {"probing"},
    "threadpoolctl": {"probing"},
}
"""Library -> the only rooms that may import it."""

NEVER = {
    "models": {"os", "io", "pathlib", "subprocess", "socket", "shutil", "tempfile", "time", "datetime"},
    "rules": {
        "os",
        "io",
        "pathlib",
        "subprocess",
        "socket",
        "shutil",
        "tempfile",
        "time",
        "datetime",
        "random",
    },
    "costs": {"os", "io", "pathlib", "time", "datetime"},
    "shaping": {"os", "io", "pathlib", "time", "datetime"},
    "observe.perf_report": {"os", "io", "pathlib", "time", "datetime", "subprocess"},
    "estimating.bounds": {"os", "io", "pathlib", "time", "datetime"},
    "estimating": {"os", "io", "pathlib", "time", "datetime"},
    "diagnostic": {"os", "io", "pathlib"},
    "engine": {"os", "io", "pathlib", "time", "datetime"},
    "evidence": {"os", "io", "pathlib", "time", "datetime"},
    "ledger": {"os", "io", "pathlib", "time", "datetime"},
    "inheritance": {"os", "io", "pathlib", "time", "datetime"},
    "report": {"os", "io", "pathlib", "time", "datetime"},
}
"""Room -> libraries that would make it impure."""

MODULES = sorted(HERE.rglob("*.py"))


@dataclass(frozen=True)
class Facts:
    """What the tests ask of a module, gathered in one walk: the tree itself is too large to keep."""

    imports: tuple[tuple[str, int], ...]
    """(dotted module, line) of every import at any depth; `from package import name` may mean a module."""
    functions: tuple[tuple[int, int, bool], ...]
    """(first line, last line, whether it is a plain `def`) of every function."""
    says_git: bool
    """Whether the string "git" stands in it."""
    reaches_out: bool
    """Whether it calls open, exec or eval."""


@cache
def _facts(path: Path) -> Facts:
    """Read when the first test asks: collecting alone would take seconds."""
    imports: list[tuple[str, int]] = []
    functions: list[tuple[int, int, bool]] = []
    says_git = reaches_out = False
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports += _imports(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            assert node.end_lineno
            functions.append((node.lineno, node.end_lineno, isinstance(node, ast.FunctionDef)))
        elif isinstance(node, ast.Constant):
            says_git |= node.value == "git"
        elif isinstance(node, ast.Call):
            reaches_out |= isinstance(node.func, ast.Name) and node.func.id in ("open", "exec", "eval")
    return Facts(tuple(imports), tuple(functions), says_git, reaches_out)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    else:
        assert node.level == 0, "imports are absolute"
        yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


ROOMS_WITHIN = ("estimating.bounds", "observe.perf_report", "observe.refusal")
"""What of a room stands further up than the rest of it, pure as it is: rules compute a kept estimate again, and read the
report of a kept profile again."""


def _room(path: Path) -> str:
    return _room_of(path.relative_to(HERE).with_suffix("").parts)


def _room_of(parts: Sequence[str]) -> str:
    within = ".".join(parts[:2])
    return within if within in ROOMS_WITHIN else parts[0]


def _ours(path: Path) -> set[str]:
    """The rooms that a module imports."""
    names = [name.split(".") for name, _ in _facts(path).imports]
    return {
        _room_of(parts[1:]) for parts in names if parts[0] == "hio_validate" and parts[1] != "__version__"
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_a_module_imports_only_what_stands_before_its_room(path: Path) -> None:
    room = _room(path)
    if room == "__init__":
        assert not _ours(path)
        return
    assert room in MAY_IMPORT, "a new room: write down what it may import"
    assert _ours(path) <= {room, *MAY_IMPORT[room].split()}
    libraries = {name.partition(".")[0] for name, _ in _facts(path).imports}
    assert not libraries & NEVER.get(room, set())
    for library, rooms in ONLY.items():
        assert room in rooms or not any(
            f"{name}.".startswith(f"{library}.") for name, _ in _facts(path).imports
        )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_what_runs_enters_no_definition_and_no_pydantic(path: Path) -> None:
    if path.parent.name != "definitions" and _room(path) not in ("compile", "json_schema"):
        names = [f"{name}." for name, _ in _facts(path).imports]
        assert not [
            name for name in names if name.startswith(("pydantic.", "hio_validate.models.definitions."))
        ]


def test_the_table_has_one_direction_and_no_idle_door() -> None:
    order = list(MAY_IMPORT)
    for room, allowed in MAY_IMPORT.items():
        assert all(order.index(other) < order.index(room) for other in allowed.split()), room
        used = set().union(*(_ours(path) for path in MODULES if _room(path) == room))
        assert used - {room} == set(allowed.split()), f"{room} may import what it does not"


def test_no_module_imports_itself_through_others() -> None:
    names = {
        ".".join(path.relative_to(HERE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in MODULES
    }
    graph = {
        name: {
            found
            for imported, _ in _facts(path).imports
            if (found := imported if imported in names else imported.rpartition(".")[0]) in names
            and found != name
        }
        for name, path in names.items()
    }
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_an_import_inside_a_function_says_why(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    for first, last, _ in _facts(path).functions:
        for _, line in _facts(path).imports:
            if first <= line <= last:
                assert any("#" in text for text in lines[first:line]), f"{path}:{line}"


def test_only_history_runs_git_and_no_rule_reaches_out() -> None:
    for path in MODULES:
        facts = _facts(path)
        assert not facts.says_git or _room(path) == "history", path
        assert not facts.reaches_out or _room(path) not in ("rules", "models"), path


def test_start_up_imports_no_heavy_library() -> None:
    never = {"ruamel", "git", "httpx", "hypothesis"}
    when_called = {"numpy", "threadpoolctl"}
    assert sys.version_info >= (3, 11)
    for path in MODULES:
        assert not {name.partition(".")[0] for name, _ in _facts(path).imports} & never, path
        inside = {
            line
            for first, last, plain in _facts(path).functions
            if plain
            for _, line in _facts(path).imports
            if first <= line <= last
        }
        at_start = {name.partition(".")[0] for name, line in _facts(path).imports if line not in inside}
        assert not at_start & when_called, path
