"""hio log: every value a setting had, who accepted it on which run, what was tried and lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cases.build_campaign import build
from tests.cli.console import hio, one_sentence
from tests.small_repo import SERVICE, committed, pin, stack, write

PAGES = Path(__file__).parents[1] / "cases" / "pages"


MEASURED = ("--run", "r1", "--factor", "server.threads", "--result", "speed", "one", "two")


def told(repo: Path, factor: str) -> dict[str, Any]:
    said = hio(repo, "log", factor, "--format", "json")
    assert said.code == 0, said.err
    (life,) = json.loads(said.out)["settings"]
    found: dict[str, Any] = life
    return found


def test_the_life_of_an_excluded_setting_reads_as_it_was_approved(tmp_path: Path) -> None:
    build(tmp_path)
    said = hio(tmp_path, "log", "SMALL_BATCH")
    assert said.out == (PAGES / "log-small-batch.txt").read_text(encoding="utf-8")


def test_any_name_of_a_setting_tells_the_same_life(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    assert (
        told(repo, "threads")
        == told(repo, "server.threads")
        == told(repo, "LLAMA_ARG_THREADS")
        == told(repo, "t")
    )


def test_values_are_told_where_they_change_and_by_whom(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    words = ("--service", SERVICE, "--by", "ada", *MEASURED, "--stack", "two", "--imported")
    assert hio(repo, "ledger", "append", "increment", *words).code == 0
    life = told(repo, "threads")
    assert [(each["by"], [value["value"] for value in each["values"]]) for each in life["entries"]] == [
        ("someone", ["1"]),
        ("ada", ["2"]),
    ]
    assert life["entries"][1]["run"] == "r1"
    assert life["entries"][1]["result"]["change_percent"] == 100.0
    follower = told(repo, "threads-batch")
    assert [each["values"][0]["value"] for each in follower["entries"]] == ["1", "2"]
    untouched = told(repo, "batch-size")
    assert [each["by"] for each in untouched["entries"]] == ["someone"], "nothing happened to it afterwards"


def test_the_value_of_a_stack_that_was_altered_is_unknown(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    write(repo, {f"manifests/services/{SERVICE}/stacks/base.yaml": stack("base", 7)})
    life = told(repo, "threads")
    assert life["entries"][0]["values"] == [{"where": "base", "value": "unknown", "origin": ""}]
    assert {each["where"]: each["value"] for each in life["now"]}["base"] == "7"


def test_a_setting_that_nothing_knows_is_refused(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    refused = hio(repo, "log", "no-such-setting")
    assert refused.code == 2
    assert "knows a setting no-such-setting" in one_sentence(refused)


def test_a_deployment_is_told_though_the_value_was_accepted_before(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    words = ("--service", SERVICE, "--by", "ada")
    assert (
        hio(repo, "ledger", "append", "increment", *words, *MEASURED, "--stack", "two", "--imported").code
        == 0
    )
    entry = repo / f"ledger/{SERVICE}/2030/d1.yaml"
    accepted = next((repo / "ledger").rglob("*-increment-*.yaml"))
    write(repo, {str(entry.relative_to(repo)): (
        f'hio: entry/v1\nid: d1\nservice: {SERVICE}\nafter: ["{pin(accepted.stem, accepted.read_bytes())}"]\nby: ada\n'
        f'at: "2030-01-01T00:00:00Z"\nkind: deployment\nsite: lab\npins: {{candidate: "{pin("two", stack("two", 2))}"}}\n'
    )})  # fmt: skip
    assert [each["kind"] for each in told(repo, "threads")["entries"]] == [
        "baseline",
        "increment",
        "deployment",
    ]
