"""What a repository knows of a stack: the table of its family, its build's catalogue, what was observed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.models import reader
from hio_validate.models.capture import Capture, CapturedProcess
from hio_validate.models.family import Family
from hio_validate.models.stack import Stack
from hio_validate.repo import Repo
from hio_validate.settings import family as families
from hio_validate.settings.catalogue import Catalogue, UnreadableHelp
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.setting import Class, Effective, Origin
from hio_validate.settings.value import UNKNOWN
from tests.settings.documents import repository
from tests.settings.stacks import captured, help_text


def stack_file(build: str | None, *argv: str, engine: str = "llama-server") -> dict[str, str]:
    lines = "".join(f"      - [{words}]\n" for words in argv)
    named = f"    build: {build}\n" if build else ""
    body = f"hio: stack/v1\nname: s\nprocesses:\n  server:\n    engine: {engine}\n{named}"
    return {"manifests/services/lab/m/stacks/s.yaml": body + (f"    argv:\n{lines}" if argv else "")}


def resolved(repo: Repo, observed: CapturedProcess | None = None) -> Effective:
    item = repo.find("stack/v1", "s")
    assert item is not None and isinstance(item.model, Stack), item and item.refused
    settings = Settings(repo)
    if observed is None:
        return settings.effective(item)
    return settings.resolve_processes(item.model, {"server": observed})


def test_defaults_are_of_the_build_a_stack_names() -> None:
    builds = {"b1": "llama", "b2": "next"}
    old = resolved(repository(builds, stack_file("b1")))
    new = resolved(repository(builds, stack_file("b2")))
    assert (
        old.settings["server.batch-size"].value == "2048"
        and new.settings["server.batch-size"].value == "4096"
    )
    assert (
        old.settings["server.build"].value == "b1" and old.settings["server.build.compiler"].value == "gcc 13"
    )
    assert old.settings["server.build.GGML_NATIVE"].origin is Origin.IDENTITY


@pytest.mark.parametrize("builds", [{"b1": None, "b2": "next"}, {"b2": "next"}])
def test_a_borrowed_catalogue_teaches_spelling_and_no_defaults(builds: dict[str, str | None]) -> None:
    files = stack_file("b1", '-t, "4"', "--mlock", '--draft-max, "3"', '--n-predict, "7"')
    found = resolved(repository(builds, files))
    set_here = {each.factor: each.value for each in found.settings.values() if each.origin is Origin.ARGV}
    assert set_here == {"threads": "4", "mlock": "on", "draft": "3", "predict": "7"}
    assert all(each.origin is not Origin.DEFAULT for each in found.settings.values())
    assert found.catalogues == {"server": None}
    assert found.misread == (), "what another build does not know or has removed is no finding here"


def test_a_borrowed_catalogue_removes_no_variable() -> None:
    files = stack_file(None)
    files = {
        path: text + "    env: {LLAMA_ARG_DRAFT_MAX: '3', LLAMA_ARG_NEW: '1'}\n"
        for path, text in files.items()
    }
    found = resolved(repository({"b2": "next"}, files))
    assert found.misread == () and found.settings["server.draft"].value == "3"


def test_the_largest_catalogue_of_the_same_family_is_borrowed() -> None:
    settings = Settings(repository({"b1": "llama", "b2": "next", "v1": "vllm"}))
    borrowed = settings.borrowed("llama-server")
    assert borrowed is not None and borrowed.borrowed and borrowed.find("--load-mode") is not None
    own = settings.borrowed("vllm")
    assert own is not None and own.find("--gpu-memory-utilization") is not None
    assert settings.borrowed("sglang") is None, "no build of it was learned"


def test_without_any_catalogue_the_family_still_teaches_spelling() -> None:
    found = resolved(repository({}, stack_file(None, '-t, "4"', "--no-host", '--own-flag, "1"')))
    values = {each.factor: each.value for each in found.settings.values() if each.set_by_a_person}
    assert values == {"threads": "4", "no-host": "on", "own-flag": "1"}


def test_without_any_catalogue_the_followers_of_what_somebody_set_are_in_force() -> None:
    found = resolved(repository({}, stack_file(None, '-t, "4"')))
    followed = {each.factor: each.value for each in found.settings.values() if each.origin is Origin.FOLLOWS}
    assert followed == {"threads-batch": "4", "spec-draft-threads": "4", "spec-draft-threads-batch": "4"}


def test_the_aliases_of_the_family_are_those_of_a_real_help_text() -> None:
    family = families.packaged("llama-server")
    assert family is not None
    text = (Path(__file__).parents[2] / "manifests/engines/llama-server/b11434/help.txt").read_text()
    catalogue = families.learn(text, family)
    known = {
        spelling: option.factor
        for spelling in family.aliases
        if (option := catalogue.find(spelling) or catalogue.find(f"-{spelling}"))
    }
    assert len(known) > 80
    assert known == {spelling: family.aliases[spelling] for spelling in known}


def test_the_build_that_a_capture_recognised_gives_the_defaults() -> None:
    repo = repository({"b1": "llama", "b2": "next"}, stack_file(None))
    assert resolved(repo).catalogues == {"server": None}
    found = resolved(repo, captured(build="b1"))
    assert found.settings["server.batch-size"].value == "2048"
    assert found.catalogues["server"] is not None


def test_the_build_that_a_stack_names_comes_before_the_one_recognised() -> None:
    repo = repository({"b1": "llama", "b2": "next"}, stack_file("b2"))
    assert resolved(repo, captured(build="b1")).settings["server.batch-size"].value == "4096"


def test_a_capture_of_a_document_adds_what_was_observed() -> None:
    repo = repository({"b1": "llama"}, stack_file("b1"))
    item = repo.find("stack/v1", "s")
    assert item is not None
    process = captured(build="b1", log={"n_threads": 6})
    seen: Capture = reader("capture/v1").validate_python({
        "hio": "capture/v1", "name": "c", "at": "2026-01-02T03:04:05Z", "by": "hio", "host": {"how": "unknown"},
        "processes": {"server": process.model_dump(exclude_none=True)},
    })  # fmt: skip
    settings = Settings(repo)
    assert settings.effective(item).settings["server.threads"].value == UNKNOWN
    assert settings.resolve_capture(item.model, seen).settings["server.threads"].value == "6"


def test_a_help_text_that_cannot_be_read_is_told_and_never_half_believed() -> None:
    cut = help_text("llama")[:-5]
    engine = {"manifests/engines/llama-server/b1/help.txt": cut}
    repo = repository({"b1": "llama"}, stack_file("b1"))
    repo.tree.files |= {path: text.encode() for path, text in engine.items()}  # type: ignore[attr-defined]
    item = repo.find("engine/v1", "b1")
    assert item is not None
    assert isinstance(Settings(repo).learned(item), UnreadableHelp)
    assert resolved(repo).catalogues == {"server": None}


# --- family tables ----------------------------------------------------------------------------------------


def own_table(**parts: object) -> Family:
    made: Family = reader("family/v1").validate_python({"hio": "family/v1", "name": "llama-server", **parts})
    return made


def test_a_table_of_the_repository_adds_to_the_packaged_one() -> None:
    packaged = families.packaged("llama-server")
    assert packaged is not None
    own = own_table(
        classes={"secret": ["vault"], "locator": ["alias"]},
        follows={"poll-batch": "threads"},
        log={"n_new": "threads"},
        **{"resolved-at-run-time": {"threads": ["all"]}, "case-insensitive": ["alias"], "equals": True},
    )
    both = families.extended(packaged, own)
    assert both is not None
    assert both.classes["secret"] == [*packaged.classes["secret"], "vault"]
    assert both.classes["locator"] == packaged.classes["locator"], "nothing stands there twice"
    assert both.follows == {**packaged.follows, "poll-batch": "threads"}
    assert both.log == {**packaged.log, "n_new": "threads"}
    assert both.resolved_at_run_time["threads"] == [*packaged.resolved_at_run_time["threads"], "all"]
    assert both.equals and not packaged.equals
    assert both.underscores is packaged.underscores and both.help == packaged.help
    assert both.props == packaged.props


@pytest.mark.parametrize("name", families.PACKAGED)
def test_a_table_extended_by_nothing_is_the_table(name: str) -> None:
    packaged = families.packaged(name)
    assert families.extended(packaged, None) == packaged
    assert families.extended(packaged, own_table()) == packaged.model_copy(update={"name": "llama-server"})  # type: ignore[union-attr]
    assert families.extended(None, own_table()) == own_table()
    assert families.extended(None, None) is None


def test_integers_of_a_table_may_be_listed_or_all() -> None:
    packaged = families.packaged("vllm")
    assert packaged is not None and isinstance(packaged.integers, list)
    added = families.extended(packaged, own_table(integers=["block-size"]))
    assert added is not None and added.integers == [*packaged.integers, "block-size"]
    every = families.extended(packaged, own_table(integers="suffixed"))
    assert every is not None and every.integers == "suffixed"


def test_the_repository_s_table_is_used() -> None:
    table = (
        "hio: family/v1\nname: llama-server\nclasses: {observability: [threads]}\nnot-a-negation: [no-fun]\n"
    )
    files = {**stack_file("b1", '--threads, "2"'), "manifests/engines/llama-server/family.yaml": table}
    found = resolved(repository({"b1": "llama"}, files))
    assert found.settings["server.threads"].class_ is Class.OBSERVABILITY
    assert Settings(repository({}, files)).family("llama-server").not_a_negation == ["no-host", "no-fun"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("argv", "name"), [
    (["/opt/x/llama-server", "-t", "1"], "llama-server"), (["llama-server-cuda"], "llama-server"), (["vllm", "serve"], "vllm"),
    (["python3", "/venv/bin/vllm", "serve"], "vllm"), (["python3", "-m", "vllm.entrypoints.openai.api_server"], "vllm"),
    (["python3", "-m", "sglang.launch_server"], "sglang"), (["sglang", "serve"], "sglang"), (["sgl"], None), ([], None), (["bash", "-c", "vllm serve"], None), (["python3", "-m", "http.server"], None),
])  # fmt: skip
def test_a_family_is_recognised_by_its_program(argv: list[str], name: str | None) -> None:
    assert families.recognised(argv) == name


@pytest.mark.parametrize("name", families.PACKAGED)
def test_a_packaged_table_contradicts_itself_nowhere(name: str) -> None:
    table = families.packaged(name)
    assert table is not None
    classed = [factor for factors in table.classes.values() for factor in factors]
    assert len(classed) == len(set(classed))
    for listed in (*table.classes.values(), table.repeatable, table.sets_others, table.json_values):
        assert list(listed) == sorted(set(listed))
    for follower in table.follows:
        chain = [follower]
        while chain[-1] in table.follows:
            chain.append(table.follows[chain[-1]])
            assert len(chain) == len(set(chain)), f"{chain} goes round"


@pytest.mark.parametrize(("name", "build"), [("llama-server", "llama"), ("vllm", "vllm")])
def test_learning_goes_by_the_family(name: str, build: str) -> None:
    table = families.packaged(name)
    assert table is not None
    assert isinstance(families.learn(help_text(build), table), Catalogue)
    other = families.packaged("vllm" if name == "llama-server" else "llama-server")
    assert other is not None
    with pytest.raises(UnreadableHelp):
        families.learn(help_text(build), other)
