"""What a review finds between two trees: settings that moved, rows, entries, renames, exposure, what blocks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from hio_validate import history
from hio_validate.diagnostic import Severity
from hio_validate.history import Objects
from hio_validate.parents import Parents, of_revision
from hio_validate.review import review
from hio_validate.review.changes import How, Review, ServiceReview, SettingChange
from hio_validate.settings.difference import Group
from tests.review.prepared import (
    BASE,
    BASELINE,
    MATRIX,
    ROOM,
    SERVICE,
    SITE,
    THREADS_2,
    before,
    entry,
    entry_file,
    hidden_default,
    matrix,
    prepared,
    promotion,
    site,
    stack,
)
from tests.small_repo import pin, sha

ENGINE = "manifests/engines/llama-server/b10001"
NOW = "2026-03-02T00:00:00Z"


def reviewed(root: Path, now: str = NOW, **more: object) -> Review:
    """The review of `change` against `main`."""
    base, head = of_revision(root, "main"), history.revision(root, "change")
    assert base is not None
    assert head is not None
    return review(base, head, ("main", "change"), "", now, **more)  # type: ignore[arg-type]


def changed(
    tmp_path: Path, change: Mapping[str, str | bytes | None], base: Mapping[str, str] | None = None
) -> Review:
    return reviewed(prepared(tmp_path / "repo", change, base))


def service(found: Review, name: str = SERVICE) -> ServiceReview:
    return next(each for each in found.services if each.service == name)


def settings(found: Review, stack_: str) -> dict[str, SettingChange]:
    """Address -> change of one stack."""
    change = next(each for each in service(found).stacks if stack_ in each.stacks)
    return {each.setting: each for each in change.settings}


def test_a_default_that_a_build_moved_is_shown_and_marked(tmp_path: Path) -> None:
    found = settings(changed(tmp_path, hidden_default()), "threads-2")
    moved = found["server.dry-penalty-last-n"]
    assert moved[:6] == (
        "server.dry-penalty-last-n", Group.MOVED, "-1", "64", "default of b10001", "default of b11434",
    )  # fmt: skip
    assert moved.hidden
    assert not found["server.build"].hidden


def test_a_default_that_learned_help_moved_is_shown_for_every_stack_at_once(tmp_path: Path) -> None:
    help_ = before()[f"{ENGINE}/help.txt"]
    moved = help_.replace("(default: 0.05,", "(default: 0.07,")
    assert moved != help_
    found = changed(tmp_path, {f"{ENGINE}/help.txt": moved})
    (change,) = service(found).stacks
    assert change.stacks == ("base", "threads-2")
    assert change.how is How.UNTOUCHED
    assert [(each.from_, each.to, each.hidden, each.cause) for each in change.settings] == [
        ("0.05", "0.07", True, "build b10001 was learned again")
    ]
    assert [each.name for each in found.shared] == ["b10001"]


def test_a_default_that_a_family_table_moved_is_shown(tmp_path: Path) -> None:
    table = "hio: family/v1\nname: llama-server\nfollows: {ubatch-size: batch-size, parallel: threads}\n"
    bare = stack("base", 1).replace('      - ["--parallel", "1"]\n', "")
    found = changed(
        tmp_path,
        {"manifests/engines/llama-server/family.yaml": table},
        {**before(), BASE: bare, entry_file("2026-02-01-baseline"): BASELINE.replace(pin("base", stack("base", 1)), pin("base", bare))},
    )  # fmt: skip
    moved = settings(found, "base")["server.parallel"]
    assert moved.hidden
    assert moved.cause == "the family table of llama-server"
    assert moved.to_origin == "follows server.threads"


def test_a_site_that_moves_a_value_is_named_as_what_moved_it(tmp_path: Path) -> None:
    found = settings(changed(tmp_path, {SITE: site().replace("18434", "18500")}), "base")
    port = found["server.port"]
    assert (port.group, port.from_, port.to) == (Group.OPERATIONAL, "18434", "18500")
    assert (port.hidden, port.cause) == (False, "site lab")


def test_followers_are_told_and_count_as_no_change_of_their_own(tmp_path: Path) -> None:
    found = settings(changed(tmp_path, {THREADS_2: stack("threads-2", 4)}), "threads-2")
    assert found["server.threads"].group is Group.CHANGED
    assert found["server.threads-batch"].group is Group.FOLLOWED
    assert found["server.threads"].to_origin == "argv, line 15"
    assert not any(each.hidden for each in found.values())


def test_a_stack_in_other_words_is_no_change(tmp_path: Path) -> None:
    found = service(
        changed(tmp_path, {THREADS_2: stack("threads-2", 2).replace("--threads", "-t") + "# a comment\n"})
    )
    assert found.stacks == ()
    assert found.worded == ("threads-2",)


def test_a_new_stack_is_compared_with_the_parent_of_its_matrix(tmp_path: Path) -> None:
    base = {file: text for file, text in before().items() if file not in (THREADS_2, MATRIX)}
    found = service(changed(tmp_path, {THREADS_2: stack("threads-2", 2), MATRIX: matrix()}, base))
    (change,) = found.stacks
    assert (change.how, change.against, change.because) == (How.NEW, "base", "matrix base-to-threads-2")
    assert [each.setting for each in change.settings if each.group is Group.CHANGED] == ["server.threads"]
    (new,) = found.matrices
    assert (new.how, new.preserved) == (How.NEW, 5)
    assert [(row.setting, row.before, row.after) for row in new.rows] == [("server.threads", None, "retest")]


def test_a_new_stack_without_a_matrix_is_compared_with_the_current_parent(tmp_path: Path) -> None:
    found = service(changed(tmp_path, {f"{ROOM}/stacks/four.yaml": stack("four", 4)}))
    (change,) = found.stacks
    assert (change.against, change.because) == ("base", "current parent of the ledger")


def test_a_new_stack_that_replaces_nothing_says_so(tmp_path: Path) -> None:
    found = service(
        changed(tmp_path, {"manifests/services/lab/other/stacks/one.yaml": stack("one", 1)}), "lab/other"
    )
    assert found.how is How.NEW
    assert found.stacks[0].against is None
    assert ("server.threads", "absent", "1") in [each[:1] + each[2:4] for each in found.stacks[0].settings]
    assert "no ledger names a parent" in found.stacks[0].because


def test_the_stack_that_a_ledger_begins_with_replaces_nothing(tmp_path: Path) -> None:
    file = entry_file("2026-02-01-baseline")
    base = {each: text for each, text in before().items() if SERVICE not in each}
    found = service(changed(tmp_path, {BASE: stack("base", 1), file: BASELINE}, base))
    assert found.serving == (None, "base")
    (change,) = found.stacks
    assert (change.how, change.against, change.because) == (How.NEW, None, "the ledger begins with it")


def test_a_removed_stack_is_named(tmp_path: Path) -> None:
    found = service(changed(tmp_path, {THREADS_2: None, MATRIX: None}))
    assert [(each.stacks, each.how) for each in found.stacks] == [(("threads-2",), How.REMOVED)]
    assert [(each.name, each.how) for each in found.matrices] == [("base-to-threads-2", How.REMOVED)]


@pytest.mark.parametrize("threads", [2, 3])
def test_a_renamed_stack_is_followed(tmp_path: Path, threads: int) -> None:
    renamed = matrix().replace("threads-2", "faster")
    found = changed(
        tmp_path,
        {
            THREADS_2: None,
            MATRIX: None,
            f"{ROOM}/stacks/faster.yaml": stack("faster", threads),
            f"matrix/{SERVICE}/base-to-faster.yaml": renamed,
        },
    )
    assert [(each.was, each.now) for each in found.renamed] == [
        (THREADS_2, f"{ROOM}/stacks/faster.yaml"),
        (MATRIX, f"matrix/{SERVICE}/base-to-faster.yaml"),
    ]
    (change,) = service(found).stacks
    assert (change.was, change.how) == ("threads-2", How.CHANGED)
    assert bool(change.settings) is (threads == 3)
    (row,) = service(found).matrices
    assert row.was == "base-to-threads-2"
    assert row.others == ("its candidate is faster, was threads-2",)


def test_a_pinned_stack_that_is_renamed_is_gone_and_blocks(tmp_path: Path) -> None:
    found = changed(tmp_path, {BASE: None, f"{ROOM}/stacks/bottom.yaml": stack("bottom", 1)})
    assert found.renamed == ()
    assert How.REMOVED in {each.how for each in service(found).stacks}
    assert found.exit_code == 1


def test_of_two_candidates_the_one_that_says_the_same_is_the_renamed_one(tmp_path: Path) -> None:
    found = changed(
        tmp_path,
        {
            THREADS_2: None,
            MATRIX: matrix().replace("candidate: threads-2", "candidate: same"),
            f"{ROOM}/stacks/another.yaml": stack("another", 3),
            f"{ROOM}/stacks/same.yaml": stack("same", 2),
        },
    )
    assert [each.now for each in found.renamed] == [f"{ROOM}/stacks/same.yaml"]
    assert {each.stacks[0]: each.how for each in service(found).stacks} == {
        "another": How.NEW,
        "same": How.CHANGED,
    }


def test_what_serves_now_is_compared_with_what_served_before(tmp_path: Path) -> None:
    found = service(changed(tmp_path, promotion()))
    assert found.serving == ("base", "threads-2")
    switched = found.stacks[0]
    assert (switched.how, switched.stacks, switched.against) == (How.SERVES, ("threads-2",), "base")
    assert all(each.hidden for each in switched.settings)  # no stack's file is in the diff
    assert [each.kind for each in found.entries] == ["increment", "approval", "deployment"]
    assert {(each.kind, each.name) for each in found.records} >= {("run", "2026-02-20-threads")}
    assert [(each.stack, each.before, each.after) for each in found.statuses] == [
        ("threads-2", "experimental", "deployed")
    ]


def test_a_new_stack_that_serves_at_once_is_told_once(tmp_path: Path) -> None:
    base = {file: text for file, text in before().items() if file not in (THREADS_2, MATRIX)}
    found = service(changed(tmp_path, {THREADS_2: stack("threads-2", 2), **promotion()}, base))
    assert [(each.how, each.stacks, each.against) for each in found.stacks] == [
        (How.SERVES, ("threads-2",), "base")
    ]


def test_a_row_tells_its_evidence_with_run_and_published_number(tmp_path: Path) -> None:
    (change,) = service(changed(tmp_path, promotion())).matrices
    (row,) = change.rows
    assert (row.before, row.after, row.values) == ("retest", "changed", "1 -> 2")
    assert row.evidence == (
        "2026-02-20-threads", "increment", "2026-02-20-threads", "decode_tps +39.5062 % (median, one -> two)",
    )  # fmt: skip


def test_a_new_run_tells_the_median_of_what_counts(tmp_path: Path) -> None:
    rows = "arm\tstatus\tdecode_tps\none\tok\t80\none\ttimeout\t\ntwo\tok\t120\n"
    arms = "".join(f'  {arm}: {{stack: "{pin("base", stack("base", 1))}"}}\n' for arm in ("one", "two"))
    run = (
        f"hio: run/v1\nname: new\nservice: {SERVICE}\narms:\n{arms}"
        f"raw: {{file: rows.tsv, sha256: {sha(rows)}, format: tsv, rows: 3, arm: arm, status: status}}\n"
        "columns:\n  arm: {unit: text}\n  status: {unit: text}\n  decode_tps: {unit: token/s, better: higher}\n"
    )
    room = f"{ROOM}/runs/new"
    found = service(changed(tmp_path, {f"{room}/run.yaml": run, f"{room}/rows.tsv": rows}))
    (told,) = [each.says for each in found.records if each.name == "new"]
    assert "decode_tps, median: one 80 token/s, two 120 token/s" in told


def test_a_row_without_evidence_says_so(tmp_path: Path) -> None:
    row = '{factor: server.threads, from: "1", to: "2", disposition: changed}'
    (change,) = service(changed(tmp_path, {MATRIX: matrix(row)})).matrices
    assert [each.unfounded for each in change.rows] == [True]


def test_findings_are_new_resolved_or_from_before(tmp_path: Path) -> None:
    old = stack("threads-2", 2) + "      - [--no-such-flag]\n"
    found = changed(
        tmp_path,
        {MATRIX: matrix('{factor: server.threads, from: "1", to: "3", disposition: retest}')},
        {**before(), THREADS_2: old},
    )
    rules = {(each.rule, each.new) for each in found.findings}
    assert ("unknown-setting", False) in rules
    assert ("value-mismatch", True) in rules
    assert ("retest-open", False) in rules
    assert found.exit_code == 1
    fixed = changed(tmp_path / "2", {THREADS_2: stack("threads-2", 2)}, {**before(), THREADS_2: old})
    assert ("unknown-setting", Severity.ERROR) in {(each.rule, each.severity) for each in fixed.resolved}
    assert fixed.exit_code == 0


def test_an_error_elsewhere_blocks_and_was_there_before(tmp_path: Path) -> None:
    broken = {**before(), "manifests/services/lab/other/stacks/x.yaml": "hio: stack/v1\nname: [\n"}
    found = changed(tmp_path, {THREADS_2: stack("threads-2", 3)}, broken)
    errors = [each for each in found.findings if each.service == "lab/other"]
    assert [(each.rule, each.new) for each in errors] == [("syntax-error", False)]
    assert found.exit_code == 1


@pytest.mark.parametrize("side", ["before", "after"])
def test_what_one_side_cannot_read_is_said_to_be_unknown(tmp_path: Path, side: str) -> None:
    bad = "hio: stack/v1\nname: threads-2\nprocesses: [\n"
    base, change = (
        ({**before(), THREADS_2: bad}, stack("threads-2", 3)) if side == "before" else (before(), bad)
    )
    found = changed(tmp_path, {THREADS_2: change}, base)
    assert (THREADS_2, side, "its settings") in found.unread
    assert all(each.stacks == () == each.statuses for each in found.services)  # neither new nor removed
    assert found.exit_code == (1 if side == "after" else found.exit_code)


def test_what_a_comment_of_the_change_keeps_quiet_is_told(tmp_path: Path) -> None:
    flag = stack("threads-2", 2) + "      - [--no-such-flag]"
    quiet = flag + " # hio: allow unknown-setting — a private build\n"
    found = changed(tmp_path, {THREADS_2: quiet})
    assert [(each.rule, each.document, each.reason) for each in found.quiet] == [
        ("unknown-setting", THREADS_2, "a private build")
    ]
    assert found.exit_code == 0
    later = changed(tmp_path / "2", {THREADS_2: quiet + "# more words\n"}, {**before(), THREADS_2: quiet})
    assert later.quiet == ()


def test_an_altered_entry_blocks(tmp_path: Path) -> None:
    file = entry_file("2026-02-01-baseline")
    found = changed(tmp_path, {file: BASELINE.replace("today", "yesterday")})
    assert ("frozen-document-changed", True) in {(each.rule, each.new) for each in found.findings}


def test_a_service_that_is_gone(tmp_path: Path) -> None:
    gone = [file for file in before() if SERVICE in file]
    found = changed(tmp_path, dict.fromkeys(gone))
    assert service(found).how is How.REMOVED
    assert found.exit_code == 1  # its ledger was committed


def test_no_document_at_all_is_left(tmp_path: Path) -> None:
    found = changed(tmp_path, {**dict.fromkeys(before()), "README.md": "empty\n"})
    assert service(found).how is How.REMOVED
    assert found.exit_code == 1


# Exposure


def exposures(found: Review) -> list[tuple[str, str | None]]:
    return [(each.setting, each.approval) for each in service(found).exposures]


@pytest.mark.parametrize(
    ("was", "now", "wider"),
    [
        ("127.0.0.1", "0.0.0.0", True),
        ("127.0.0.1", "${elsewhere}", True),
        ("${elsewhere}", "0.0.0.0", True),
        ("0.0.0.0", "127.0.0.1", False),
        ("10.1.2.3", "10.1.2.4", False),
    ],
)
def test_only_a_wider_exposure_needs_an_approval(tmp_path: Path, was: str, now: str, wider: bool) -> None:
    base = {**before(), THREADS_2: stack("threads-2", 2, host=was)}
    found = changed(tmp_path, {THREADS_2: stack("threads-2", 2, host=now)}, base)
    assert exposures(found) == ([("server.host", None)] if wider else [])
    assert settings(found, "threads-2")["server.host"].group is Group.OPERATIONAL


def test_what_nobody_could_read_before_may_have_exposed_less(tmp_path: Path) -> None:
    base = {**before(), THREADS_2: stack("threads-2", 2) + "  bad: ["}
    wide = changed(tmp_path / "wide", {THREADS_2: stack("threads-2", 2, host="0.0.0.0")}, base)
    [exposed] = service(wide).needs_approval
    assert (exposed.setting, exposed.from_, exposed.to) == ("server.host", "unknown", "0.0.0.0")
    local = changed(tmp_path / "local", {THREADS_2: stack("threads-2", 2, host="127.0.0.1")}, base)
    assert service(local).needs_approval == ()


def test_an_altered_record_is_told_in_its_own_service(tmp_path: Path) -> None:
    file = entry_file("2026-02-01-baseline")
    found = changed(tmp_path, {file: BASELINE.replace("by: ", "by: not ")})
    assert {each.service for each in found.findings if each.rule == "frozen-document-changed"} == {SERVICE}
    assert [each.service for each in found.services] == [SERVICE]


def test_a_site_that_listens_everywhere_exposes_every_stack(tmp_path: Path) -> None:
    found = service(changed(tmp_path, {SITE: site("0.0.0.0")}))
    assert [each.stack for each in found.needs_approval] == ["base", "threads-2"]


def _approval(factors: str, until: str, kind: str = "deploy", more: str = "") -> dict[str, str]:
    text = entry(
        "approval", "approval", "2026-02-21T12:00:00Z", pin("2026-02-01-baseline", BASELINE),
        f"approves: {kind}\nservices: [{SERVICE}]\nowners: [the lab]\nscope: the lab's network\n"
        f'until: "{until}"\nfactors: {factors}\n{more}',
    )  # fmt: skip
    return {entry_file("approval"): text}


def test_an_approval_covers_what_it_names_until_it_expires(tmp_path: Path) -> None:
    change = {
        THREADS_2: stack("threads-2", 2, host="0.0.0.0"),
        **_approval("[server.host]", "2026-03-10T00:00:00Z"),
    }
    root = prepared(tmp_path / "repo", change)
    assert exposures(reviewed(root)) == [("server.host", "approval")]
    late = service(reviewed(root, "2026-03-10T00:00:01Z")).exposures[0]
    assert late.approval is None
    assert "expired on 2026-03-10" in late.reason


@pytest.mark.parametrize(
    "approval",
    [
        _approval("[]", "2027-01-01T00:00:00Z"),
        _approval("[server.port]", "2027-01-01T00:00:00Z"),
        _approval("[host]", "2027-01-01T00:00:00Z", kind="load-test"),
        _approval(
            "[host]", "2027-01-01T00:00:00Z", more=f'pins: {{stack: "{pin("base", stack("base", 1))}"}}\n'
        ),
    ],
    ids=["nothing", "another setting", "another act", "another stack"],
)
def test_an_approval_of_something_else_covers_nothing(tmp_path: Path, approval: dict[str, str]) -> None:
    found = changed(tmp_path, {THREADS_2: stack("threads-2", 2, host="0.0.0.0"), **approval})
    assert exposures(found) == [("server.host", None)]


def test_a_missing_approval_blocks_the_gate_of_deployment_only(tmp_path: Path) -> None:
    root = prepared(
        tmp_path / "repo",
        {MATRIX: None, THREADS_2: stack("threads-2", 2, host="0.0.0.0")},
    )
    assert reviewed(root).findings == ()
    assert reviewed(root).exit_code == 0
    assert reviewed(root, gates=("deploy",)).exit_code == 1


# Secrets


KEY = "correct-horse-battery"


@pytest.mark.parametrize("now", ["another-secret-value", None])
def test_a_secret_is_told_without_its_value(tmp_path: Path, now: str | None) -> None:
    from hio_validate.report.review import as_page_of_markdown, as_page_of_text
    from hio_validate.report.review.json_ import render

    def guarded(key: str | None) -> str:
        return stack("threads-2", 2) + (f'      - ["--api-key", "{key}"]\n' if key else "")

    found = changed(tmp_path, {THREADS_2: guarded(now)}, {**before(), THREADS_2: guarded(KEY)})
    change = settings(found, "threads-2")["server.api-key"]
    assert (change.from_, change.to) == ("withheld", "withheld" if now else "absent")
    assert exposures(found) == ([] if now else [("server.api-key", None)])
    for shown in (as_page_of_markdown(found), as_page_of_text(found), render(found)):
        assert KEY not in shown
        assert "another-secret-value" not in shown


def test_a_secret_that_stayed_the_same_is_no_change(tmp_path: Path) -> None:
    key = f'      - ["--api-key", "{KEY}"]\n'
    base = {**before(), THREADS_2: stack("threads-2", 2) + key}
    found = settings(changed(tmp_path, {THREADS_2: stack("threads-2", 3) + key}, base), "threads-2")
    assert "server.api-key" not in found


# Order, narrowing


def test_the_order_of_the_trees_changes_nothing(tmp_path: Path) -> None:
    root = prepared(tmp_path / "repo", {**promotion(), f"{ROOM}/stacks/four.yaml": stack("four", 4)})
    expected = reviewed(root)

    def shuffled(name: str, seed: int) -> Objects:
        found = history.revision(root, name)
        assert found is not None
        items = list(found.ids.items())
        random.Random(seed).shuffle(items)
        return Objects(root, dict(items), found.links)

    for seed in range(4):
        base = Parents((("main", shuffled("main", seed)),))
        again = review(base, shuffled("change", seed), ("main", "change"), "", NOW)
        assert again == expected


def test_one_service_can_be_asked_for(tmp_path: Path) -> None:
    other = "manifests/services/lab/other/stacks/one.yaml"
    root = prepared(tmp_path / "repo", {other: stack("one", 1), THREADS_2: stack("threads-2", 3)})
    assert [each.service for each in reviewed(root).services] == [SERVICE, "lab/other"]
    assert [each.service for each in reviewed(root, only="lab/other").services] == ["lab/other"]


def test_without_a_changed_file_there_is_nothing_to_say(tmp_path: Path) -> None:
    found = changed(tmp_path, {"README.md": "no document\n"})
    assert (found.changed, found.services, found.exit_code) == (0, (), 0)


def test_new_receipts_tell_what_was_said_of_the_answers_and_the_operators(tmp_path: Path) -> None:
    source = f"source: {{file: a.receipt, sha256: {sha('x')}, format: lm-eval}}\n"
    head = f"hio: receipt/v1\nservice: {SERVICE}\n{source}"
    told = changed(tmp_path, {
        f"{ROOM}/receipts/a.receipt": "x",
        f"{ROOM}/receipts/sums.yaml": f"{head}name: sums\nkind: quality\nharness: {{name: h, version: '1'}}\ntask: sums\n"
        "task_version: '1'\nfilter: none\nmetric: acc\nbetter: higher\nvalue: 0.75\nstderr: 0.02\nn: 400\nwhole: 400\n"
        "limit: none\nfew_shot: 0\nseed: unknown\ndataset: {name: sums, sha256: unknown}\n",
        f"{ROOM}/receipts/ops.yaml": f"{head}name: ops\nkind: operator-test\nbackend: X\ndevice: x\nreference: CPU\n"
        "accumulation: default\noperators: {ABS: {ok: 2, failed: 1, not_supported: 0, tolerance: unknown}}\n"
        f"cases: {{file: a.receipt, sha256: {sha('x')}, count: 3}}\n",
    })  # fmt: skip
    lines = {each.name: each.says for each in service(told).records}
    assert "acc of sums (none) is 0.75 +- 0.02, items: 400 of 400" in lines["sums"]
    assert "X against CPU: 2 cases ok, 1 failed, 0 not supported" in lines["ops"]


def test_the_run_of_a_campaign_is_told_with_its_cells(tmp_path: Path) -> None:
    ran = f"""\
hio: campaign-run/v1
name: 2026-03-01-threads
service: {SERVICE}
campaign: threads@sha256:{sha("a campaign")}
at: "2026-03-01T08:00:00Z"
ended: "2026-03-01T09:00:00Z"
cells:
  two: {{outcome: aborted, why: memory}}
  four: {{outcome: not-run}}
"""
    found = changed(tmp_path, {f"{ROOM}/campaign-runs/2026-03-01-threads.yaml": ran})
    (told,) = [each for each in service(found).records if each.kind == "campaign-run"]
    assert told.says == (
        "ran the campaign threads from 2026-03-01T08:00:00Z to 2026-03-01T09:00:00Z",
        "cell two aborted: memory",
        "cell four not-run",
    )
