"""hio plan: begun from what the documents ask for, refused until a person has said the rest, told on one page."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from hio_validate.models import reader
from hio_validate.source import read
from tests.cli.console import Said, hio, one_sentence
from tests.small_repo import (
    FILES,
    MATRIX,
    ROOM,
    SERVICE,
    baseline,
    capture,
    committed,
    git,
    matrix,
    pin,
    sha,
    stack,
    write,
)

PLAN = f"{ROOM}/plans/threads-2.yaml"
SHORT, CHECK = f"{ROOM}/fixtures/short.yaml", f"{ROOM}/fixtures/check.yaml"
WRITTEN = {
    "what is expected of": "decode gains at least 20 %",
    "a prompt of": "Count from one to ten.",
    "a question with": "The capital of France is",
    "who says": "an atlas",
    "the answer": "Paris",
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo")


def begun(repo: Path, *words: str) -> Said:
    said = hio(repo, "plan", "new", *words)
    assert said.code == 0, said.err
    return said


def plan_in(repo: Path, file: str = PLAN) -> Any:
    return reader("plan/v1").validate_python(read((repo / file).read_bytes(), file).data)


def write_what_is_asked(repo: Path) -> None:
    """Put a text in the place of every TODO, as a person does."""
    for path in repo.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        for asked, said in WRITTEN.items():
            text = re.sub(rf'"?TODO: {asked}[^"\]]*"?', f'"{said}"', text)
        path.write_text(re.sub(r'"?TODO: [^"\]]*"?', "said by a person", text), encoding="utf-8")


def checked(repo: Path, name: str, *words: str) -> dict[str, Any]:
    said = hio(repo, "plan", "check", name, "--format", "json", *words)
    shape: dict[str, Any] = json.loads(said.out)
    assert said.code == shape["exit_code"]
    return shape


def rules(shape: dict[str, Any], severity: str) -> set[str]:
    return {each["rule"] for each in shape["diagnostics"] if each["severity"] == severity}


def test_a_retest_row_becomes_a_plan_that_lacks_only_what_a_person_knows(repo: Path) -> None:
    said = begun(repo)
    assert said.out.splitlines() == [
        f"wrote {CHECK}",
        f"wrote {SHORT}",
        f"wrote {PLAN}",
        "threads-2: server.threads changed against base, 8 legs, asked by base-to-two",
        "next: write the 8 texts that stand as TODO, then hio plan check threads-2",
    ]
    plan = plan_in(repo)
    assert plan.arms["base"].stack == plan.arms["threads-2"].stack == "base"
    assert plan.arms["threads-2"].set == {"server.threads": 2}
    assert (plan.factors, plan.baseline, plan.combined) == (["server.threads"], "base", False)
    assert "".join(arm[0] for arm in plan.order) == "bttbtbbt"
    refused = checked(repo, "threads-2")
    assert (refused["exit_code"], rules(refused, "error")) == (1, {"unfinished-plan"})
    assert refused["summary"]["errors"] == 8
    write_what_is_asked(repo)
    shape = checked(repo, "threads-2")
    assert (shape["exit_code"], rules(shape, "error"), rules(shape, "gate")) == (0, set(), {"unknown-noise"})
    assert checked(repo, "threads-2", "--gate", "accepted")["exit_code"] == 1


def test_a_plan_says_what_it_can_show_before_it_runs(repo: Path) -> None:
    begun(repo)
    write_what_is_asked(repo)
    shape = checked(repo, "threads-2")
    assert [(each["arm"], each["legs"], each["differs"]) for each in shape["arms"]] == [
        ("base", 4, None),
        ("threads-2", 4, [{"setting": "server.threads", "from": "1", "to": "2"}]),
    ]
    decides = shape["decides"]
    assert (round(decides["smallest_p"], 4), decides["reachable"], decides["legs_needed"]) == (
        0.0286,
        True,
        4,
    )
    assert (shape["longest_s"], shape["measured_requests"], shape["stops"], shape["runs"]) == (
        2400,
        24,
        None,
        [],
    )
    page = hio(repo, "plan", "check", PLAN)
    assert page.code == 0
    assert "smallest p  0.0286 two-sided (permutation); level 0.05 can be reached" in page.out
    assert "differs        threads-2 from base in server.threads (1 -> 2)" in page.out
    assert page.out.splitlines()[-1].endswith(
        "no error, 1 gate (deployment blocked; exit 1 with --gate deploy)"
    )


def test_an_approval_is_asked_for_with_its_command_and_found_when_given(repo: Path) -> None:
    begun(repo)
    write_what_is_asked(repo)
    [before] = checked(repo, "threads-2")["approvals"]
    assert (before["approves"], before["entry"]) == ("load-test", None)
    assert f"hio ledger append approval --service {SERVICE} --approves load-test" in before["missing"]
    said = hio(
        repo, "ledger", "append", "approval", "--service", SERVICE, "--by", "ana", "--approves", "load-test",
        "--scope", "the plan threads-2", "--until", "2999-01-01T00:00:00Z", "--id", "ok",
    )  # fmt: skip
    assert said.code == 0, said.err
    [after] = checked(repo, "threads-2")["approvals"]
    assert (after["entry"], after["until"], after["missing"]) == ("ok", "2999-01-01T00:00:00Z", None)
    assert "load-test  ok, until 2999-01-01T00:00:00Z" in hio(repo, "plan", "check", "threads-2").out


def test_a_null_plan_compares_the_parent_with_itself(repo: Path) -> None:
    begun(repo, "--a-a")
    plan = plan_in(repo, f"{ROOM}/plans/base-a-a.yaml")
    assert (plan.stage, plan.factors) == ("a-a", [])
    assert [(arm.stack, dict(arm.set)) for arm in plan.arms.values()] == [("base", {})] * 2
    write_what_is_asked(repo)
    shape = checked(repo, "base-a-a")
    assert (shape["exit_code"], rules(shape, "error") | rules(shape, "gate")) == (0, set())


def test_a_screening_looks_with_two_legs_an_arm(repo: Path) -> None:
    begun(repo, "threads", "--screening", "--metric", "ttft_ms", "--name", "look")
    plan = plan_in(repo, f"{ROOM}/plans/look.yaml")
    assert (plan.stage, plan.decide.metric, plan.decide.better, len(plan.order)) == (
        "screening",
        "ttft_ms",
        "lower",
        4,
    )
    assert not (repo / CHECK).exists()
    write_what_is_asked(repo)
    assert checked(repo, "look")["exit_code"] == 0
    assert "a screening only looks" in hio(repo, "plan", "check", "look").out


BUNDLE = """\
  - bundle: capacity
    disposition: retest
    members: [server.threads, server.batch-size]
    question: do both together serve this workload?
"""


def test_a_bundle_becomes_a_combined_plan(tmp_path: Path) -> None:
    base, both = (
        stack("base", more='      - ["--batch-size", "512"]\n'),
        stack("two", 2, '      - ["--batch-size", "256"]\n'),
    )
    rows = matrix().partition("rows:\n")[0] + "rows:\n" + BUNDLE
    files = {
        f"{ROOM}/stacks/base.yaml": base,
        f"{ROOM}/stacks/two.yaml": both,
        MATRIX: rows,
        f"ledger/{SERVICE}/2026/b0.yaml": baseline(pinned=pin("base", base)),
    }
    others = {path: content for path, content in FILES.items() if "/runs/" not in path}
    repo = committed(tmp_path / "repo", {**others, **files})
    begun(repo, "capacity")
    plan = plan_in(repo, f"{ROOM}/plans/capacity.yaml")
    assert plan.combined
    assert plan.arms["capacity"].set == {"server.threads": 2, "server.batch-size": 256}
    assert sorted(plan.factors) == ["server.batch-size", "server.threads"]
    write_what_is_asked(repo)
    assert rules(checked(repo, "capacity"), "error") == set()


def test_another_build_is_an_arm_of_its_own_stack(tmp_path: Path) -> None:
    """No delta can say it; what the new build moved makes it a combined change."""
    help_text = FILES["manifests/engines/llama-server/b1/help.txt"].replace(
        "(default: 2048)", "(default: 512)"
    )
    engine = FILES["manifests/engines/llama-server/b1/engine.yaml"].replace("name: b1", "name: b2")
    engine = engine.replace(sha(FILES["manifests/engines/llama-server/b1/help.txt"]), sha(help_text))
    rows = (
        "  - {factor: server.build, from: b1, to: b2, disposition: retest}\n"
        '  - {factor: server.batch-size, from: "2048", to: "512", disposition: retest}\n'
        "  - preserved: [server.threads]\n"
    )
    files = {
        "manifests/engines/llama-server/b2/engine.yaml": engine,
        "manifests/engines/llama-server/b2/help.txt": help_text,
        f"{ROOM}/stacks/two.yaml": stack("two").replace("build: b1", "build: b2"),
        MATRIX: matrix().partition("rows:\n")[0] + "rows:\n" + rows,
    }
    repo = committed(tmp_path / "repo", {**FILES, **files})
    begun(repo, "server.build")
    plan = plan_in(repo, f"{ROOM}/plans/build-b2.yaml")
    assert (plan.arms["build-b2"].stack, dict(plan.arms["build-b2"].set), plan.combined) == ("two", {}, True)
    assert {"server.build", "server.batch-size"} <= set(plan.factors)
    write_what_is_asked(repo)
    assert rules(checked(repo, "build-b2"), "error") == set()


SAME = f'{{stack: "{pin("base", stack("base"))}"}}'
ANOTHER = SAME.replace('"}', '", set: {server.threads: 2}}')


def run_of(
    repo: Path, name: str, stage: str, arms: dict[str, str], rows: str, more: str = ""
) -> dict[str, str]:
    """The files of a completed run with the fixtures that `hio plan new` began."""
    fixtures = ", ".join(f'"{pin(Path(file).stem, (repo / file).read_bytes())}"' for file in (SHORT, CHECK))
    run = (
        f'hio: run/v1\nname: {name}\nservice: {SERVICE}\n{more}stage: "{stage}"\noutcome: completed\n'
        f"fixtures: [{fixtures}]\narms:\n" + "".join(f"  {arm}: {said}\n" for arm, said in arms.items()) +
        f'raw: {{file: rows.tsv, sha256: "{sha(rows)}", format: tsv, rows: {rows.count(chr(10)) - 1}, arm: arm}}\n'
        "columns:\n  arm: {unit: text}\n  decode_tps: {unit: token/s, better: higher}\n"
    )  # fmt: skip
    return {f"{ROOM}/runs/{name}/run.yaml": run, f"{ROOM}/runs/{name}/rows.tsv": rows}


def test_earlier_runs_give_noise_what_is_reproduced_and_what_is_repeated(repo: Path) -> None:
    begun(repo)
    write_what_is_asked(repo)
    rows = "arm\tdecode_tps\na\t10.0\na\t10.2\na\t10.1\nb\t10.1\nb\t10.3\nb\t10.2\n"
    write(repo, run_of(repo, "aa", "a-a", {"a": SAME, "b": SAME}, rows, 'at: "2026-01-02T00:00:00Z"\n'))
    plan = plan_in(repo)
    legs = "".join(
        f'  - {{leg: {leg}, place: {leg}, arm: {arm}, started: "2026-01-03T0{leg}:00:00Z", ended: "2026-01-03T0{leg}:01:00Z"}}\n'
        for leg, arm in enumerate(plan.order, 1)
    )
    more = (
        f'plan: "{pin("threads-2", (repo / PLAN).read_bytes())}"\nat: "2026-01-03T00:00:00Z"\nlegs:\n{legs}'
    )
    rows = "arm\tdecode_tps\nbase\t10.0\nthreads-2\t14.0\n"
    write(repo, run_of(repo, "r2", "confirmation", {"base": SAME, "threads-2": ANOTHER}, rows, more))
    assert hio(repo, "validate").code == 0
    said = begun(repo, "--name", "once-more")
    assert "next: write the 5 texts" in said.out
    plan = plan_in(repo, f"{ROOM}/plans/once-more.yaml")
    assert (plan.decide.noise, plan.reproduces, plan.again.run, plan.fixture) == ("aa", "r2", "r2", "short")
    assert plan.checks == ["check"]
    write_what_is_asked(repo)
    shape = checked(repo, "once-more")
    assert (shape["exit_code"], rules(shape, "error") | rules(shape, "gate")) == (0, set())
    assert 0.5 < shape["decides"]["detectable_percent"] < 10
    assert "in 80 of 100 such trials (noise of aa:" in " ".join(
        hio(repo, "plan", "check", "once-more").out.split()
    )
    assert checked(repo, "threads-2")["runs"] == ["r2"]
    assert checked(repo, "threads-2")["decides"]["detectable_percent"] is None


def test_a_setting_that_no_matrix_asks_about_is_planned_on_the_parent(repo: Path) -> None:
    said = begun(repo, "--set", "server.batch-size=512", "--metric", "prefill_tps")
    assert "server.batch-size changed against base" in said.out
    assert "asked by the command line" in " ".join(said.out.split())
    file = f"{ROOM}/plans/batch-size-512.yaml"
    plan = plan_in(repo, file)
    assert plan.factors == ["server.batch-size"]
    assert plan.arms["base"].set == {} and plan.arms["batch-size-512"].set == {"server.batch-size": 512}
    said = hio(repo, "plan", "check", "batch-size-512", "--format", "json")
    found = {each["rule"] for each in json.loads(said.out)["diagnostics"] if each["severity"] == "error"}
    assert found == {"unfinished-plan"}
    write_what_is_asked(repo)
    assert hio(repo, "plan", "check", "batch-size-512").code == 0


def test_a_change_may_be_tried_on_another_stack(repo: Path) -> None:
    begun(repo, "--stack", "two", "--set", "server.threads=1", "--set", "server.batch-size=512")
    plan = plan_in(repo, f"{ROOM}/plans/threads-1-batch-size-512.yaml")
    assert plan.baseline == "two" and plan.combined
    assert plan.factors == ["server.threads", "server.batch-size"]


def test_another_stack_than_the_parent_is_compared_with_itself(repo: Path) -> None:
    begun(repo, "--a-a", "--stack", "two")
    plan = plan_in(repo, f"{ROOM}/plans/two-a-a.yaml")
    assert (plan.stage, {name: arm.stack for name, arm in plan.arms.items()}) == (
        "a-a",
        {"two": "two", "two-again": "two"},
    )


def test_a_matrix_of_a_replaced_parent_is_not_planned_by_itself(repo: Path) -> None:
    """The parent becomes `three`: what base-to-two asks is no longer about what serves."""
    three = stack("three", 3)
    entry = (
        f'hio: entry/v1\nid: b1\nservice: {SERVICE}\nafter: ["{pin("b0", baseline())}"]\nkind: baseline\nby: someone\n'
        f'at: "2026-01-03T00:00:00Z"\npins: {{stack: "{pin("three", three)}"}}\n'
    )
    write(repo, {f"{ROOM}/stacks/three.yaml": three, f"ledger/{SERVICE}/2026/b1.yaml": entry})
    refused = hio(repo, "plan", "new")
    assert refused.code == 2
    assert "base-to-two and whatever else asks is about a parent that was replaced" in one_sentence(refused)
    lasting = matrix().replace("base-to-two", "three-to-two").replace("parent: base", "parent: three")
    write(repo, {f"matrix/{SERVICE}/three-to-two.yaml": lasting.replace('from: "1"', 'from: "3"')})
    asked = [
        each["source"]
        for each in json.loads(hio(repo, "ledger", "next", "--format", "json").out)["services"][SERVICE]
    ]
    assert asked == ["three-to-two", "base-to-two"]
    begun(repo)
    assert plan_in(repo).baseline == "three"
    begun(repo, "--matrix", "base-to-two", "--name", "older")
    assert plan_in(repo, f"{ROOM}/plans/older.yaml").baseline == "base"


def test_nothing_is_ever_replaced(repo: Path) -> None:
    begun(repo)
    before = (repo / PLAN).read_bytes()
    again = hio(repo, "plan", "new")
    assert again.code == 1
    assert one_sentence(again) == f"hio: {PLAN} exists and stays as it is; give another --name"
    assert (repo / PLAN).read_bytes() == before
    assert sorted(git(repo, "status", "--porcelain", "-uall").split()[1::2]) == sorted([CHECK, SHORT, PLAN])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["batch-size"], "asks for no test about batch-size"),
        (["--matrix", "other"], "other asks for no test"),
        (["--a-a", "threads"], "--a-a compares the parent with itself"),
        (["--a-a", "--set", "server.threads=2"], "--a-a compares the parent with itself"),
        (["threads", "--set", "server.threads=2"], "--set says what is changed itself"),
        (["--stack", "base"], "--stack goes with --set or --a-a"),
        (["--a-a", "--stack", "bse"], "no readable stack of lab/tiny is called bse; it has base, two"),
        (["--set", "server.threads"], "server.threads changes nothing; write SETTING=VALUE"),
        (["--set", "server.threads=2", "--set", "server.threads=4"], "server.threads is given twice"),
        (["--set", "server.threads=1"], "server.threads = 1 changes nothing that is to be measured on base"),
        (["--set", "server.port=9000"], "server.port = 9000 changes nothing that is to be measured"),
        (
            ["--set", "server.treads=2"],
            "the build of base has no setting server.treads; did you mean server.threads?",
        ),
        (
            ["--set", "server.threads=2", "--stack", "bse"],
            "no readable stack of lab/tiny is called bse; it has base, two",
        ),
        (["--fixture", "long"], "no readable fixture of lab/tiny is called long"),
        (["--service", "lab/tniy"], "did you mean lab/tiny?"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_a_sentence(repo: Path, words: list[str], said: str) -> None:
    refused = hio(repo, "plan", "new", *words)
    assert refused.code == 2
    assert said in one_sentence(refused)
    assert not (repo / ROOM / "plans").exists()


def test_an_undecided_row_is_decided_first(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo", {**FILES, MATRIX: matrix(disposition="undecided")})
    refused = hio(repo, "plan", "new")
    assert refused.code == 2
    assert "is undecided; write retest" in one_sentence(refused)


def test_a_row_about_a_setting_that_neither_stack_has_is_refused(tmp_path: Path) -> None:
    rows = matrix(more="  - {factor: server.mlock, from: absent, to: absent, disposition: retest}\n")
    repo = committed(tmp_path / "repo", {**FILES, MATRIX: rows})
    refused = hio(repo, "plan", "new", "mlock")
    assert refused.code == 2
    assert "neither stack of base-to-two has server.mlock" in one_sentence(refused)


def test_a_path_is_no_delta(tmp_path: Path) -> None:
    """The site says what a place-holder stands for; the arm is the candidate's stack."""
    files = {
        f"{ROOM}/stacks/two.yaml": stack("two", 1, '      - ["--model", "${other-model}"]\n'),
        f"{ROOM}/stacks/base.yaml": (base := stack("base", 1, '      - ["--model", "${model}"]\n')),
        f"ledger/{SERVICE}/2026/b0.yaml": baseline(pinned=pin("base", base)),
        MATRIX: matrix().partition("rows:\n")[0]
        + 'rows:\n  - {factor: server.model, from: "${model}", to: "${other-model}", disposition: retest}\n'
        "  - preserved: [server.threads]\n",
        "manifests/sites/lab.yaml": "hio: site/v1\nname: lab\nservices:\n  tiny:\n    paths: {model: /a.gguf, other-model: /b.gguf}\n",
    }
    others = {path: content for path, content in FILES.items() if "/runs/" not in path}
    repo = committed(tmp_path / "repo", {**others, **files})
    begun(repo, "model", "--name", "other-model")
    plan = plan_in(repo, f"{ROOM}/plans/other-model.yaml")
    assert [(arm.stack, dict(arm.set)) for arm in plan.arms.values()] == [("base", {}), ("two", {})]
    assert plan.factors == ["server.model"]
    write_what_is_asked(repo)
    assert rules(checked(repo, "other-model"), "error") == set()


def test_a_plan_that_no_schema_accepts_is_judged_all_the_same(repo: Path) -> None:
    begun(repo)
    file = repo / PLAN
    file.write_text(
        file.read_text(encoding="utf-8").replace("stage: confirmation", "stage: certainty"), encoding="utf-8"
    )
    said = hio(repo, "plan", "check", "threads-2")
    assert said.code == 1
    assert "schema-violation" in said.out
    missing = hio(repo, "plan", "check", "threads-3")
    assert (missing.code, one_sentence(missing)) == (
        2,
        "hio: no readable plan is called threads-3; did you mean threads-2?",
    )


def test_check_says_the_same_of_the_plan_as_validate(repo: Path) -> None:
    begun(repo)
    validated = json.loads(hio(repo, "validate", PLAN, "--format", "json").out)["diagnostics"]
    mine = [each for each in checked(repo, "threads-2")["diagnostics"] if each["location"]["file"] == PLAN]
    assert mine == [each for each in validated if each["location"]["file"] == PLAN]
    assert mine


def test_no_control_character_of_a_plan_reaches_the_terminal(repo: Path) -> None:
    """Whatever a text of the plan holds, valid or refused: a terminal obeys none of it."""
    begun(repo)
    write_what_is_asked(repo)
    text = (repo / PLAN).read_text(encoding="utf-8")
    assert text.count("said by a person") >= 3
    hostile = re.sub('"?said by a person"?', '"said \\\\e[2J \\\\u202e by a person"', text)
    for more in ("", '"unknown \\e[31m": 1\n', 'stage: "\\e[31m"\n'):
        write(repo, {PLAN: hostile + more})
        for words in (("plan", "check", "threads-2"), ("run", "threads-2"), ("validate", PLAN)):
            said = hio(repo, *words, env={"HIO_STATE": str(repo / "state")})
            assert "\x1b" not in said.all and "\u202e" not in said.all, words


def test_a_plan_that_is_not_valid_is_told_apart_from_one_that_is_not_there(repo: Path) -> None:
    begun(repo)
    text = (repo / PLAN).read_text(encoding="utf-8")
    write(repo, {PLAN: text + "unheard: 1\n"})
    line = text.count("\n") + 1
    said = one_sentence(hio(repo, "run", "threads-2", env={"HIO_STATE": str(repo / "state")}))
    assert f'the plan threads-2 is not valid: {PLAN}:{line}:1: unknown key "unheard"' in said
    assert f"hio validate {PLAN} says all" in said
    write(repo, {PLAN: text + "[\n"})
    assert "is not valid" in one_sentence(
        hio(repo, "run", "threads-2", env={"HIO_STATE": str(repo / "state")})
    )


def test_an_approval_would_freeze_a_plan_with_errors_and_is_refused(repo: Path) -> None:
    begun(repo)
    words = ("ledger", "append", "approval", "--service", SERVICE, "--by", "ana", "--approves", "load-test", "--plan", "threads-2",
             "--scope", "the plan", "--owner", "ana", "--until", "2099-01-01T00:00:00Z")  # fmt: skip
    refused = hio(repo, *words)
    assert refused.code == 1
    said = one_sentence(refused)
    assert "the plan threads-2 has errors" in said and f"{PLAN}:" in said and "and 7 more" in said
    assert not list((repo / "ledger").rglob("*approval*"))
    write_what_is_asked(repo)
    assert hio(repo, *words).code == 0


def test_every_limit_is_told_with_where_it_comes_from(repo: Path) -> None:
    begun(repo)
    write_what_is_asked(repo)
    shape = checked(repo, "threads-2")
    told = {each["limit"]: (each["value"], each["from"]) for each in shape["limits"]}
    assert told["leg_s"] == (300, "plan")
    assert (told["gap_s"], told["sample_s"]) == ((5, "default"), (0.5, "default"))
    assert told["temperature_c"] == (None, "default")
    assert set(told) == set(vars(plan_in(repo).limits)), "none is left out"
    page = " ".join(hio(repo, "plan", "check", "threads-2").out.split())
    assert "leg_s 300 s, total_s 2400 s (the plan)" in page
    assert "gap_s 5 s (the plan says nothing)" in page


def test_what_the_newest_capture_shows_otherwise_than_declared_is_told_beside_it(repo: Path) -> None:
    begun(repo)
    write_what_is_asked(repo)
    assert checked(repo, "threads-2")["observed"] == [
        {"stack": "base", "capture": None, "at": None, "differs": []}
    ]
    assert "base: never, no capture is of this stack" in hio(repo, "plan", "check", "threads-2").out
    named = capture("old").replace("service:", "stack: base\nservice:", 1)
    late = "2026-01-02T03:04:05.500Z"
    newer = (
        capture("new", seen="    log: {how: log, facts: {n_ctx: 4096}}\n")
        .replace("service:", "stack: base\nservice:", 1)
        .replace("2026-01-02T03:04:05Z", late)
    )
    write(repo, {f"{ROOM}/captures/old.yaml": named, f"{ROOM}/captures/new.yaml": newer})
    [seen] = checked(repo, "threads-2")["observed"]
    assert (seen["capture"], seen["at"]) == ("new", late), "by the moment, not by name or letters"
    assert seen["differs"] == [{"setting": "server.ctx-size", "declared": "unknown", "observed": "4096"}]
    page = " ".join(hio(repo, "plan", "check", "threads-2").out.split())
    assert "shows server.ctx-size 4096 where unknown is declared" in page
    assert "values as declared" in page


@pytest.mark.parametrize("named", ["base", f"{SERVICE}/base"])
def test_a_capture_is_of_a_stack_by_its_name_or_its_full_one(repo: Path, named: str) -> None:
    begun(repo)
    write_what_is_asked(repo)
    seen = capture("seen").replace("service:", f"stack: {named}\nservice:", 1)
    other = capture("zz").replace("service:", "stack: lab/other/base\nservice:", 1)
    write(repo, {f"{ROOM}/captures/seen.yaml": seen, f"{ROOM}/captures/zz.yaml": other})
    assert [each["capture"] for each in checked(repo, "threads-2")["observed"]] == ["seen"]


@pytest.mark.parametrize("where", ["trial", "service"])
def test_who_holds_a_port_that_the_plan_says_is_free_is_named(repo: Path, where: str) -> None:
    begun(repo)
    write_what_is_asked(repo)
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        held, other = taken.getsockname()[1], free.getsockname()[1]
        (repo / "manifests/sites/lab.yaml").write_text(_site(held if where == "service" else other))
        plan = repo / PLAN
        plan.write_text(plan.read_text() + f"port: {held if where == 'trial' else other}\n")
        shape = checked(repo, "threads-2")
        page = " ".join(hio(repo, "plan", "check", "threads-2").out.split())
    [said] = shape["held"]
    assert f"process {os.getpid()}" in said
    assert ("hio run refuses to start" in said) == (where == "trial")
    assert ("serving: none says that nothing serves here" in said) == (where == "service")
    assert said in page
    assert checked(repo, "threads-2")["held"] == [], "nobody listens any more"


def _site(port: int) -> str:
    return f"hio: site/v1\nname: lab\nservices:\n  tiny:\n    port: {port}\n"
