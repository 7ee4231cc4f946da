"""A plan becomes work, or every reason against it; real documents in real folders, no process is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hio_validate.command import secrets_in
from hio_validate.execute.questions import NONCE_CHARACTERS
from hio_validate.execute.secrets import revealed
from hio_validate.execute.work import Work, as_text, from_text
from hio_validate.settings.places import PLACE_HOLDER
from tests.execute.experiment import (
    APPROVAL_FILE,
    CHAIN,
    NOW,
    PLAN_FILE,
    ROOM,
    SERVICE,
    SITE_FILE,
    approval,
    baseline,
    documents,
    fixture,
    plan,
    prepared,
    site,
    stack,
    yaml,
)
from tests.small_repo import pin, sha


def work_of(root: Path, **files: str) -> Work:
    """The work of a repository that differs in these files; keys are of FILE."""
    found = prepared(root, {**documents(), **{_FILE[key]: text for key, text in files.items()}})
    assert isinstance(found, Work), found
    return found


def reasons(root: Path, **files: str) -> list[str]:
    """Why nothing may run in a repository that differs in these files."""
    found = prepared(root, {**documents(), **{_FILE[key]: text for key, text in files.items()}})
    assert isinstance(found, list), "it may run"
    return found


_FILE = {"plan": PLAN_FILE, "site": SITE_FILE, "approval": APPROVAL_FILE, "fixture": f"{ROOM}/fixtures/tides.yaml",
         "check": f"{ROOM}/fixtures/check.yaml", "second": f"ledger/{SERVICE}/2026/second.yaml",
         "run": f"{ROOM}/runs/earlier/run.yaml", "rows": f"{ROOM}/runs/earlier/rows.tsv"}  # fmt: skip


def with_stack(served: dict[str, Any], **files: str) -> dict[str, str]:
    """The documents with another base stack, and a ledger that fits."""
    first = yaml(baseline(served))
    return {
        **documents(),
        f"{ROOM}/stacks/base.yaml": yaml(served),
        f"ledger/{SERVICE}/2026/b0.yaml": first,
        APPROVAL_FILE: yaml(approval(after=[pin("b0", first)])),
        **{_FILE[key]: text for key, text in files.items()},
    }


def test_the_work_says_everything_and_survives_its_file(tmp_path: Path) -> None:
    work = work_of(tmp_path)
    assert from_text(as_text(work)) == work
    assert as_text(work) == as_text(work_of(tmp_path))
    assert [work.arms[arm].command.arguments[-2:] for arm in ("one", "two")] == [
        ("--threads", "1"),
        ("--threads", "2"),
    ]
    assert work.arms["two"].set == {"server.threads": 2}
    assert set(work.arms["one"].command.environment) == {"PATH", "LANG", "HOME"}
    assert (work.host, work.port, work.ceilings.memory) == ("127.0.0.1", 8089, 4 << 30)
    assert [each.phase for each in work.questions] == ["warm-up", "measured", "measured"]
    assert work.fixtures == (pin("tides", documents()[f"{ROOM}/fixtures/tides.yaml"]),)
    assert [each.entry for each in work.approvals] == [pin("yes", documents()[APPROVAL_FILE])]


def test_all_reasons_are_told_at_once(tmp_path: Path) -> None:
    found = reasons(
        tmp_path,
        plan=yaml(plan(limits={**plan()["limits"], "memory": "a lot"}, serving={"during": "stop"})),
        site=yaml(site(programs={})),
        approval=yaml(approval(until="2026-11-01T00:00:00Z")),
    )
    text = "\n".join(found)
    for part in ("a lot is no size", "stop-production", "yes expired at", "does not say where the program of b1 is",
                 "add serving.restore"):  # fmt: skip
        assert part in text
    assert not any(each.endswith(".") or "\n" in each for each in found)


def test_an_error_in_what_the_plan_names_is_told_with_its_place(tmp_path: Path) -> None:
    found = prepared(tmp_path, with_stack(stack(more=[["--nonsense", "1"]])))
    assert isinstance(found, list)
    place = f"{ROOM}/stacks/base.yaml:3"
    assert any(each.startswith(place) and each.endswith("[unknown-setting]") for each in found)


def test_a_fixture_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    found = reasons(tmp_path, plan=yaml(plan(fixture="nowhere")))
    assert any("no readable fixture of here/tiny is called nowhere" in each for each in found)


# -- arms ---------------------------------------------------------------------------------------------------------


def test_the_port_of_the_plan_takes_the_place_of_the_services(tmp_path: Path) -> None:
    work = work_of(tmp_path, plan=yaml(plan(port=9090)))
    assert work.port == 9090
    assert "9090" in work.arms["one"].command.arguments


def test_a_delta_takes_the_form_in_which_the_stack_sets_it(tmp_path: Path) -> None:
    short = stack()
    short["processes"]["server"]["argv"][-1] = ["-t", "1"]
    work = prepared(tmp_path / "short", with_stack(short))
    assert isinstance(work, Work), work
    assert work.arms["two"].command.arguments[-2:] == ("-t", "2")
    env = stack(env={"LLAMA_ARG_THREADS": "1"})
    env["processes"]["server"]["argv"].pop()
    work = prepared(tmp_path / "env", with_stack(env))
    assert isinstance(work, Work), work
    assert work.arms["two"].command.environment["LLAMA_ARG_THREADS"] == "2"
    assert "--threads" not in work.arms["two"].command.arguments


def test_a_setting_that_the_stack_does_not_give_is_appended(tmp_path: Path) -> None:
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": {"batch-size": 512}}}
    work = work_of(tmp_path, plan=yaml(plan(arms=arms, factors=["server.batch-size"])))
    assert work.arms["two"].command.arguments[-2:] == ("--batch-size", "512")


def test_absent_takes_a_flag_away(tmp_path: Path) -> None:
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": {"server.threads": "absent"}}}
    work = work_of(tmp_path, plan=yaml(plan(arms=arms)))
    assert "--threads" not in work.arms["two"].command.arguments
    assert "--threads" in work.arms["one"].command.arguments


def test_what_is_decided_at_run_time_may_stand_in_a_delta(tmp_path: Path) -> None:
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": {"server.threads": -1}}}
    work = work_of(tmp_path, plan=yaml(plan(arms=arms)))
    assert work.arms["two"].command.arguments[-2:] == ("--threads", "-1")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"server.nonsense": 1}, "--nonsense is no setting of this build"),
        ({"client.threads": 2}, "client.threads"),
    ],
)
def test_a_delta_that_no_argument_says_is_refused(
    change: dict[str, int], expected: str, tmp_path: Path
) -> None:
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": change}}
    assert any(expected in each for each in reasons(tmp_path, plan=yaml(plan(arms=arms))))


@pytest.mark.parametrize(
    ("served", "change"),
    [
        (stack(facts={"batch-size": 64}), {"batch-size": "absent"}),
        ({**stack(), "implicit": {"server.batch-size": {"value": 64, "because": "compiled in"}}}, {"batch-size": "absent"}),
    ],
    ids=["a fact", "compiled in"],
)  # fmt: skip
def test_what_no_argument_takes_away_is_refused(
    served: dict[str, Any], change: dict[str, str], tmp_path: Path
) -> None:
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": change}}
    found = prepared(tmp_path, with_stack(served, plan=yaml(plan(arms=arms))))
    assert isinstance(found, list)
    assert any("server.batch-size would be 64, not 2048; write a stack of its own" in each for each in found)


def test_two_names_of_one_setting_are_refused(tmp_path: Path) -> None:
    arms = {"one": {"stack": "base"}, "two": {"stack": "base", "set": {"threads": 2, "server.threads": 3}}}
    found = reasons(tmp_path, plan=yaml(plan(arms=arms)))
    assert any("not each names one setting of one process" in each for each in found)


def test_flags_that_share_a_line_are_not_guessed_at(tmp_path: Path) -> None:
    mixed = stack()
    mixed["processes"]["server"]["argv"][-1] = ["--threads", "1", "--batch-size", "64"]
    found = prepared(tmp_path, with_stack(mixed))
    assert isinstance(found, list)
    assert "write each flag with its values on a line of its own" in found[0]


def test_a_program_that_is_not_here_is_refused(tmp_path: Path) -> None:
    (found,) = reasons(tmp_path, site=yaml(site("/nowhere/llama-server")))
    assert "/nowhere/llama-server, the program of b1 at here, is no executable file here" in found


def test_a_model_that_is_not_here_is_refused(tmp_path: Path) -> None:
    found = reasons(tmp_path, site=yaml(site(place={"paths": {"model": "/nowhere/tiny.gguf"}})))
    assert any("/nowhere/tiny.gguf, the model of the stack base, is no file here" in each for each in found)


def test_a_place_holder_without_a_place_is_refused(tmp_path: Path) -> None:
    found = reasons(tmp_path, site=yaml(site(place={"paths": {}})))
    assert any("the stack base needs model, which the site here does not define" in each for each in found)


def test_a_stack_that_fixes_another_port_is_refused(tmp_path: Path) -> None:
    fixed = stack()
    fixed["processes"]["server"]["argv"][2] = ["--port", "8088"]
    found = prepared(tmp_path, with_stack(fixed))
    assert isinstance(found, list)
    assert any("the stack base listens on port 8088, and the trial is on port 8089" in each for each in found)


def test_an_arm_that_opens_the_server_to_others_is_refused(tmp_path: Path) -> None:
    wide = plan()
    wide["arms"]["two"]["set"]["server.host"] = "0.0.0.0"
    found = reasons(tmp_path, plan=yaml(wide))
    assert any("listens on 0.0.0.0, and the site says 127.0.0.1" in each for each in found), found


# -- secrets ------------------------------------------------------------------------------------------------------


def secret_stack() -> dict[str, Any]:
    return stack(env={"HF_TOKEN": "${secret:token}"})


def test_a_secret_is_read_at_start_and_in_no_work(tmp_path: Path) -> None:
    kept = tmp_path / "token"
    kept.write_text("very-hidden\n")
    place = yaml(site(place={"secrets": {"token": f"file:{kept}"}}))
    work = prepared(tmp_path / "repo", with_stack(secret_stack(), site=place))
    assert isinstance(work, Work), work
    assert "very-hidden" not in as_text(work)
    command = work.arms["one"].command
    assert secrets_in(command) == ["token"]
    assert revealed(command, work.secrets).environment["HF_TOKEN"] == "very-hidden"
    assert not PLACE_HOLDER.search(" ".join(revealed(command, work.secrets).argv))


@pytest.mark.parametrize("where", ["file:/nowhere/token", "vault:token"])
def test_a_secret_that_cannot_be_read_is_refused(where: str, tmp_path: Path) -> None:
    found = prepared(
        tmp_path, with_stack(secret_stack(), site=yaml(site(place={"secrets": {"token": where}})))
    )
    assert isinstance(found, list)
    assert any("the secret token" in each for each in found)
    assert not any("nowhere/token" in each for each in found)


# -- questions ----------------------------------------------------------------------------------------------------


def test_a_request_is_what_fixture_and_cache_say(tmp_path: Path) -> None:
    chain = {
        **CHAIN,
        "temperature": 0.5,
        "top_p": "model",
        "samplers": ["top_k"],
        "mirostat": 0,
        "top_n_sigma": -1.0,
    }
    said = fixture(seed=7, draft={"min": 1, "max": 4}, sampling=chain)
    (question, *_) = work_of(tmp_path, fixture=yaml(said)).questions
    assert question.body == {
        **{name: value for name, value in chain.items() if value != "model"},
        "prompt": "Why has the sea tides?", "seed": 7, "n_predict": 8, "speculative.n_min": 1, "speculative.n_max": 4,
        "ignore_eos": True, "cache_prompt": False, "stream": True, "timings_per_token": False,
    }  # fmt: skip
    assert not {"top_k", "top_p"} & question.body.keys()


def test_a_conversation_goes_to_the_chat_endpoint(tmp_path: Path) -> None:
    said = fixture(
        endpoint="/v1/chat/completions", messages=[{"role": "user", "content": "Why?"}], nonce="each-request"
    )
    del said["prompt"]
    questions = work_of(tmp_path, fixture=yaml(said), plan=yaml(plan())).questions
    fronts = [each.body["messages"][0]["content"].removesuffix("Why?") for each in questions]
    assert fronts == [each.nonce for each in questions]
    assert {len(each) for each in fronts} == {NONCE_CHARACTERS + 3}
    assert len(set(fronts)) == len(fronts)
    assert (questions[0].body["max_tokens"], "n_predict" in questions[0].body) == (8, False)


def test_a_nonce_and_a_warm_cache_exclude_each_other(tmp_path: Path) -> None:
    files = {"fixture": yaml(fixture(nonce="each-request")), "plan": yaml(plan(cache="warm"))}
    assert any("leaves nothing to reuse" in each for each in reasons(tmp_path / "both", **files))
    work = work_of(tmp_path / "warm", plan=yaml(plan(cache="warm")))
    assert work.questions[0].body["cache_prompt"] is True


def test_a_nonce_changes_with_the_plan(tmp_path: Path) -> None:
    said = yaml(fixture(nonce="each-request"))
    one = work_of(tmp_path / "one", fixture=said).questions
    other = work_of(tmp_path / "other", fixture=said, plan=yaml(plan(question="another?"))).questions
    assert all(first.nonce != second.nonce for first, second in zip(one, other, strict=True))


def test_checks_come_first_with_what_is_expected(tmp_path: Path) -> None:
    check = fixture("check", expect={"source": "a dictionary", "contains": ["moon"]})
    work = work_of(tmp_path, check=yaml(check), plan=yaml(plan(checks=["check"])))
    assert [(each.phase, each.fixture) for each in work.questions[:2]] == [
        ("check", "check"),
        ("warm-up", "tides"),
    ]
    assert work.questions[0].contains == ("moon",)
    assert len(work.fixtures) == 2


def test_a_prompt_in_a_file_is_asked_as_its_bytes_say(tmp_path: Path) -> None:
    said = fixture(file={"file": "tides.txt", "sha256": sha("Long prompt")})
    del said["prompt"]
    files = {**documents(), _FILE["fixture"]: yaml(said), f"{ROOM}/fixtures/tides.txt": "Long prompt"}
    work = prepared(tmp_path / "good", files)
    assert isinstance(work, Work), work
    assert work.questions[0].body["prompt"] == "Long prompt"
    found = prepared(tmp_path / "bad", {**files, f"{ROOM}/fixtures/tides.txt": "Other"})
    assert isinstance(found, list)
    assert any("has other bytes than the fixture says" in each for each in found)


# -- approvals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"services": ["here/other"]}, "covers here/other"),
        ({"until": NOW}, f"expired at {NOW}"),
        ({"at": "2026-12-01T00:00:00Z"}, "is not given before"),
        ({"approves": "build"}, "no approval of kind load-test covers threads now; its owner"),
        ({"pins": {"stack": pin("base", yaml(stack()))}}, "is about stack base only"),
    ],
)
def test_an_approval_that_does_not_cover_the_plan(more: dict[str, Any], why: str, tmp_path: Path) -> None:
    files = {"approval": yaml(approval(**more))}
    found = prepared(tmp_path, {**documents(), **{_FILE[key]: text for key, text in files.items()},
                                "manifests/services/here/other/stacks/base.yaml": yaml(stack())})  # fmt: skip
    assert isinstance(found, list)
    (told,) = (each for each in found if "no approval" in each)
    assert why in told
    assert f"hio ledger append approval --service {SERVICE} --approves load-test" in told


def test_a_corrected_approval_is_withdrawn(tmp_path: Path) -> None:
    correction = approval(
        id="second", kind="correction", corrects="yes", after=[pin("yes", documents()[APPROVAL_FILE])]
    )
    for key in ("approves", "services", "owners", "scope", "until"):
        del correction[key]
    (found,) = reasons(tmp_path, second=yaml(correction))
    assert "yes was corrected by second" in found


def test_an_approval_of_this_very_plan_covers_it_and_of_an_earlier_text_does_not(tmp_path: Path) -> None:
    mine = pin("threads", documents()[PLAN_FILE])
    work = work_of(tmp_path / "mine", approval=yaml(approval(pins={"plan": mine})))
    assert work.approvals[0].approves == "load-test"
    found = reasons(tmp_path / "old", approval=yaml(approval(pins={"plan": pin("threads", "other")})))
    assert any("is about plan threads only" in each for each in found)


def test_stopping_and_keeping_need_approvals_of_their_own(tmp_path: Path) -> None:
    serving = {"during": "stop", "restore": "base", "then": "keep-winner"}
    found = reasons(tmp_path, plan=yaml(plan(serving=serving)))
    assert [
        each for kind in ("stop-production", "deploy") for each in found if f"of kind {kind} " in each
    ] == found


def test_the_service_that_is_stopped_comes_back_where_it_was(tmp_path: Path) -> None:
    more = approval(id="second", approves="stop-production", after=[pin("yes", documents()[APPROVAL_FILE])])
    serving = {"during": "stop", "restore": "base"}
    work = work_of(tmp_path, plan=yaml(plan(serving=serving, port=9000)), second=yaml(more))
    assert work.serving is not None
    assert work.serving.command is not None
    assert (work.serving.port, work.port) == (8089, 9000)
    assert work.serving.command.arguments[:6] == (
        "--model",
        "/bin/sh",
        "--host",
        "127.0.0.1",
        "--port",
        "8089",
    )


def test_a_service_that_keeps_serving_needs_another_port_for_the_trial(tmp_path: Path) -> None:
    found = reasons(tmp_path, plan=yaml(plan(serving={"during": "leave"})))
    assert any("give the plan a port of its own" in each for each in found)


# -- repetition ---------------------------------------------------------------------------------------------------


def earlier(
    outcome: str = "completed",
    stage: str = "screening",
    threads: int = 2,
    asked: bool = True,
    other: str = "",
) -> dict[str, str]:
    """A run of the same comparison."""
    rows = "leg\tarm\tphase\tstatus\n"
    stack, fixture = (f"{ROOM}/{name}.yaml" for name in ("stacks/base", "fixtures/tides"))
    texts = {
        file: documents()[file] + ("# before\n" if other in file and other else "")
        for file in (stack, fixture)
    }
    base = pin("base", texts[stack])
    run = {
        "hio": "run/v1", "name": "earlier", "service": SERVICE, "outcome": outcome, "stage": stage, "why": "it ended",
        "arms": {"one": {"stack": base}, "two": {"stack": base, "set": {"server.threads": threads}}},
        "fixtures": [pin("tides", texts[fixture])] if asked else [],
        "raw": {"file": "rows.tsv", "sha256": sha(rows), "format": "tsv", "rows": 0, "arm": "arm"},
        "columns": {name: {"unit": "text"} for name in rows.split()},
    }  # fmt: skip
    return {"run": yaml(run), "rows": rows}


def test_a_completed_comparison_is_not_repeated_without_a_question(tmp_path: Path) -> None:
    found = reasons(tmp_path / "again", **earlier())
    assert any(each.startswith("earlier has completed the same comparison") for each in found)
    again = {"run": "earlier", "question": "does it hold with the new kernel?"}
    assert work_of(tmp_path / "asked", plan=yaml(plan(again=again)), **earlier())
    assert work_of(tmp_path / "aborted", **earlier("aborted"))
    assert work_of(tmp_path / "null", **earlier(stage="a-a"))
    assert work_of(tmp_path / "other", **earlier(threads=4))
    assert work_of(tmp_path / "unasked", **earlier(asked=False))
    assert work_of(tmp_path / "stack", **earlier(other="stacks"))
    assert work_of(tmp_path / "fixture", **earlier(other="fixtures"))
