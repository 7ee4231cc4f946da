"""What is known of a model, held against the settings that a stack really runs with (contract 8.6)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hio_validate.history import Folder
from hio_validate.known_good import Judgement, judge, violations
from hio_validate.repo import Repo, load
from tests.small_repo import BASE, FILES, HELP, ROOM, SERVICE, capture, sha, stack, write

WEIGHTS = sha("weights")
REGISTRY = "manifests/known-good/tiny.yaml"
SITE = (
    "hio: site/v1\nname: lab\nservices:\n  tiny: {host: 127.0.0.1, port: 8080, "
    "paths: {model: /models/Tiny-Q4.gguf}}\n"
)
SERVES = '      - ["--model", "${model}"]\n'


def registry(*settings: Mapping[str, Any], **more: Any) -> str:
    """A registry of the model Tiny-Q4.gguf."""
    rows = [{"severity": "crash-at-concurrency", "because": "it was seen", **each} for each in settings]
    whole = {"hio": "known-good/v1", "name": "tiny", "engine": "llama-server", **more, "settings": rows}
    whole.setdefault("models", [{"name": "tiny-q4.gguf"}])
    return yaml.safe_dump(whole, sort_keys=False)


def made(root: Path, files: Mapping[str, str] | None = None) -> Repo:
    base = {"manifests/sites/lab.yaml": SITE, BASE: stack("base", 1, SERVES)}
    return load(Folder(write(root, {**FILES, **base, **(files or {})})))


def judged(root: Path, registry_: str, files: Mapping[str, str] | None = None, **asked: Any) -> Judgement:
    repo = made(root, {REGISTRY: registry_, **(files or {})})
    item = repo.find("stack/v1", "base", SERVICE)
    assert item is not None and item.model is not None
    found = judge(repo, SERVICE, item, **asked)
    if not asked:
        assert violations(repo, SERVICE, item) == list(found.violations)
    return found


def verdicts(found: Judgement) -> list[tuple[str, str]]:
    return [(each.verdict, each.factor) for each in found.violations]


PREFERS = {
    "factor": "threads",
    "must": "preferred",
    "values": [4],
    "severity": "performance",
    "scope": "short",
}


def test_what_is_preferred_is_told_and_refuses_nothing(tmp_path: Path) -> None:
    found = judged(tmp_path, registry({**PREFERS, "because": "it is faster"}))
    assert not found.violations and found.registries == ("tiny",)
    (note,) = found.notes
    assert note.startswith("server.threads is 1 (") and note.endswith(
        "); tiny prefers 4 in short: it is faster"
    )
    assert not judged(tmp_path, registry({**PREFERS, "values": [1]})).notes


@pytest.mark.parametrize("models", [[{"name": "tiny-q4.gguf"}], [{"sha256": WEIGHTS}]])
def test_preferences_alone_leave_nothing_undecided(tmp_path: Path, models: list[dict[str, str]]) -> None:
    nameless = {BASE: stack("base", 1)}
    assert not judged(tmp_path, registry(PREFERS, models=models), nameless).violations
    required = {"factor": "threads", "must": "required", "values": [1]}
    assert verdicts(judged(tmp_path, registry(PREFERS, required, models=models), nameless))


# --- what a requirement asks -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "verdict"),
    [
        pytest.param({"must": "required", "values": [1]}, None, id="required-and-there"),
        pytest.param({"must": "required", "values": [2, 4]}, "violated", id="required-and-another"),
        pytest.param({"must": "required", "at_most": 1}, None, id="at-most-met"),
        pytest.param({"must": "required", "at_least": 2}, "violated", id="at-least-missed"),
        pytest.param({"must": "required"}, None, id="required-to-be-set"),
        pytest.param({"must": "forbidden", "values": [1, 2]}, "violated", id="forbidden-and-there"),
        pytest.param({"must": "forbidden", "values": [8]}, None, id="forbidden-and-another"),
        pytest.param({"must": "forbidden"}, "violated", id="forbidden-to-be-set"),
        pytest.param({"must": "opt-in", "values": [1]}, "violated", id="opt-in-that-nobody-asked-for"),
        pytest.param({"must": "opt-in", "values": [8]}, None, id="opt-in-that-is-not-used"),
        pytest.param({"must": "phase-limited", "phases": ["warm-up"]}, "violated", id="in-another-phase"),
        pytest.param({"must": "phase-limited", "phases": ["serving"]}, None, id="in-its-phase"),
        pytest.param({"must": "phase-limited", "phases": ["server"]}, None, id="in-its-process"),
    ],
)
@pytest.mark.parametrize("spelling", ["threads", "LLAMA_ARG_THREADS", "t"])
def test_a_set_value(tmp_path: Path, requirement: dict[str, Any], verdict: str | None, spelling: str) -> None:
    found = judged(tmp_path, registry({"factor": spelling, **requirement}))
    assert verdicts(found) == ([(verdict, spelling)] if verdict else [])
    assert found.registries == ("tiny",) and not found.notes


def test_a_default_of_the_build_counts_as_much_as_a_flag(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        registry(
            {"factor": "batch-size", "must": "required", "values": [2048]},
            {"factor": "batch-size", "must": "forbidden", "values": [2048]},
            {"factor": "batch-size", "must": "forbidden"},
        ),
    )
    assert verdicts(found) == [("violated", "batch-size")]
    assert found.violations[0].number == 1 and "2048 (build default)" in found.violations[0].message


def test_a_follower_is_judged_by_what_it_follows(tmp_path: Path) -> None:
    found = judged(tmp_path, registry({"factor": "threads-batch", "must": "required", "values": [8]}))
    assert verdicts(found) == [("violated", "threads-batch")] and "1 (follows)" in found.violations[0].message


def test_an_unknown_value_satisfies_nothing(tmp_path: Path) -> None:
    no_help = {
        "manifests/engines/llama-server/b1/engine.yaml": "hio: engine/v1\nname: b1\nfamily: llama-server\n"
    }
    rows = [
        {"factor": "batch-size", "must": "required", "values": [2048]},
        {"factor": "batch-size", "must": "required", "at_least": 1},
        {"factor": "batch-size", "must": "forbidden", "values": [7]},
        {"factor": "threads", "must": "required", "values": [1]},
        {"factor": "GGML_FAST", "must": "forbidden"},
    ]
    found = judged(tmp_path, registry(*rows), no_help)
    assert [(each.verdict, each.number) for each in found.violations] == [
        ("unknown", 0),
        ("unknown", 1),
        ("unknown", 2),
    ]
    assert "the defaults of its build are unknown" in found.violations[0].message


def test_a_word_is_no_number(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        registry({"factor": "threads", "must": "required", "at_most": 4}),
        {BASE: stack("base", 1, SERVES).replace('"--threads", "1"', '"--threads", "nan"')},
    )
    assert verdicts(found) == [("unknown", "threads")]


def test_who_asked_for_an_opt_in_setting_may_use_it(tmp_path: Path) -> None:
    row = {"factor": "threads", "must": "opt-in"}
    asked = [{"factor": "threads", "stacks": [f"{SERVICE}/base"], "because": "the owner, for a night"}]
    assert not judged(tmp_path, registry(row, opted_in=asked)).violations
    other = [{"factor": "threads", "stacks": [f"{SERVICE}/two"], "because": "the owner, for a night"}]
    assert judged(tmp_path, registry(row, opted_in=other)).violated


def test_the_phase_of_whoever_asks(tmp_path: Path) -> None:
    row = {"factor": "threads", "must": "phase-limited", "phases": ["benchmark"]}
    assert judged(tmp_path, registry(row)).violated
    assert not judged(tmp_path, registry(row), phase="benchmark").violations


def test_the_worst_comes_first(tmp_path: Path) -> None:
    rows = [
        {"factor": "threads", "must": "forbidden", "severity": severity}
        for severity in ("performance", "correctness", "boot-blocker", "crash-at-concurrency")
    ]
    found = judged(tmp_path, registry(*rows))
    assert [each.severity for each in found.violations] == [
        "boot-blocker", "crash-at-concurrency", "correctness", "performance",
    ]  # fmt: skip


@pytest.mark.parametrize("open_", ["${nobody}", "$N", "$(nproc)", "${N:-8}", "{{ .n }}", "%i"])
def test_what_somebody_still_fills_in_is_unknown(tmp_path: Path, open_: str) -> None:
    base = stack("base", 1, SERVES).replace('"--threads", "1"', f'"--threads", "{open_}"')
    found = judged(
        tmp_path, registry({"factor": "threads", "must": "forbidden", "values": [8]}), {BASE: base}
    )
    assert verdicts(found) == [("unknown", "threads")]


def test_a_place_holder_is_what_the_site_says(tmp_path: Path) -> None:
    base = stack("base", 1, SERVES).replace('"--port", "8080"', '"--port", "${port}"')
    row = {"factor": "port", "must": "forbidden", "values": [8080]}
    assert judged(tmp_path, registry(row), {BASE: base}).violated


# --- which builds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "build", "verdict"),
    [
        pytest.param("b1", ["b1"], "violated", id="affected"),
        pytest.param("b1", ["b2"], None, id="not-affected"),
        pytest.param(None, ["b2"], "unknown", id="nobody-knows"),
        pytest.param(None, [], "violated", id="every-build"),
    ],
)
def test_affected_builds(tmp_path: Path, named: str | None, build: list[str], verdict: str | None) -> None:
    base = stack("base", 1, SERVES)
    files = {} if named else {BASE: base.replace("    build: b1\n", "")}
    found = judged(tmp_path, registry({"factor": "threads", "must": "forbidden", "builds": build}), files)
    assert verdicts(found) == ([(verdict, "threads")] if verdict else [])


# --- which model ------------------------------------------------------------------------------------------

ROW = {"factor": "threads", "must": "forbidden"}
SEEN = f'    artifacts: {{model: {{path: /models/Tiny-Q4.gguf, sha256: "{WEIGHTS}", how: hash}}}}\n'
CAPTURE = {f"{ROOM}/captures/live.yaml": capture("live", more="", seen=SEEN)}


@pytest.mark.parametrize("name", ["Tiny-Q4.gguf", "tiny-*", "*/tiny-q4.gguf", "/models/*"])
def test_a_model_by_its_name(tmp_path: Path, name: str) -> None:
    assert judged(tmp_path, registry(ROW, models=[{"name": name}])).violated


@pytest.mark.parametrize("name", ["Tiny-Q?.gguf", "[Tt]iny*", "Tiny", "tiny-q4"])
def test_only_a_star_stands_for_anything(tmp_path: Path, name: str) -> None:
    found = judged(tmp_path, registry(ROW, models=[{"name": name}]))
    assert not found.violations and found.notes == (
        "server: nothing is recorded of /models/Tiny-Q4.gguf, Tiny-Q4.gguf",
    )


def test_a_model_by_its_bytes(tmp_path: Path) -> None:
    assert judged(tmp_path, registry(ROW, models=[{"sha256": WEIGHTS}]), CAPTURE).violated


def test_other_bytes_are_another_model(tmp_path: Path) -> None:
    found = judged(tmp_path, registry(ROW, models=[{"sha256": sha("others")}]), CAPTURE)
    assert not found.violations and found.notes


def test_bytes_that_nobody_hashed_may_be_anything(tmp_path: Path) -> None:
    found = judged(tmp_path, registry(ROW, models=[{"sha256": WEIGHTS}]))
    assert [each.verdict for each in found.violations] == ["unknown"]
    assert "nobody hashed" in found.violations[0].message


def test_bytes_of_another_file_say_nothing(tmp_path: Path) -> None:
    elsewhere = {path: text.replace("Tiny-Q4.gguf", "Other.gguf") for path, text in CAPTURE.items()}
    found = judged(tmp_path, registry(ROW, models=[{"sha256": WEIGHTS}]), elsewhere)
    assert [each.verdict for each in found.violations] == ["unknown"]


def test_a_model_that_nobody_names_is_not_passed_in_silence(tmp_path: Path) -> None:
    found = judged(tmp_path, registry(ROW), {BASE: stack("base")})
    assert [each.verdict for each in found.violations] == ["unknown"] and not found.violated
    assert "which model it serves is unknown" in found.violations[0].message
    assert found.violations[0].severity == "boot-blocker"


@pytest.mark.parametrize("said", ["tiny", "tiny-q4.gguf"])
def test_a_person_says_which_model_it_is(tmp_path: Path, said: str) -> None:
    found = judged(tmp_path, registry(ROW), {BASE: stack("base")}, model=said)
    assert found.violated and not found.unknown


def test_an_unknown_engine_is_not_passed_in_silence(tmp_path: Path) -> None:
    base = stack("base", 1, SERVES).replace("llama-server", "unknown").replace("    build: b1\n", "")
    found = judged(tmp_path, registry(ROW), {BASE: base})
    assert [each.verdict for each in found.violations] == ["unknown"]


def test_without_any_registry_there_is_nothing_to_hold_against_a_stack(tmp_path: Path) -> None:
    repo = made(tmp_path)
    item = repo.find("stack/v1", "base", SERVICE)
    assert item is not None
    found = judge(repo, SERVICE, item)
    assert not found.violations and found.notes == (
        "server: nothing is recorded of any model on llama-server",
    )


def test_what_a_capture_saw_answers_what_the_stack_left_open(tmp_path: Path) -> None:
    """`auto` is decided at run time: unknown, unless the process that was asked the same said what it became."""
    help_ = HELP + "\n-fa,   --flash-attn [on|off|auto]          use (default: 'auto')\n"
    engine = (
        f'hio: engine/v1\nname: b1\nfamily: llama-server\nhelp: {{file: help.txt, sha256: "{sha(help_)}"}}\n'
    )
    files = {
        "manifests/engines/llama-server/b1/engine.yaml": engine,
        "manifests/engines/llama-server/b1/help.txt": help_,
    }
    row = {"factor": "flash-attn", "must": "required", "values": [True]}
    assert [each.verdict for each in judged(tmp_path, registry(row), files).violations] == ["unknown"]
