"""Whatever graph honest work makes, nothing is found; one tampering anywhere in it always is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hio_validate.history.audit import Asked, audit
from tests.history.past import B0, BASE, STACKS, File, Past, at, entry
from tests.small_repo import ROOM, stack

relaxed = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
"""No deadline: git on a busy machine is slow, not wrong."""

DRAFT = f"{STACKS}/draft.yaml"
ROWS = f"{ROOM}/runs/r1/rows.tsv"
BEGIN = {f"{STACKS}/base.yaml": BASE, DRAFT: stack("draft", 2), at("b0"): B0, ROWS: "a\n"}
FROZEN = [f"{STACKS}/base.yaml", at("b0"), ROWS]
TAMPERINGS = ["edit", "delete", "mode", "link", "move"]


def honest(past: Past, data: st.DataObject, commits: int) -> list[int]:
    """Appends, draft edits and merges over a random graph; every commit gets into the last one."""
    made = [past.commit(BEGIN)]
    tips = set(made)
    for number in range(commits):
        parents = data.draw(
            st.lists(st.sampled_from(made), min_size=1, max_size=3, unique=True), label="parents"
        )
        tips -= set(parents)
        made.append(past.merge(_work(data, number), *parents))
        tips.add(made[-1])
    made.append(past.merge({}, *sorted(tips)))
    return made


def _work(data: st.DataObject, number: int) -> dict[str, Any]:
    match data.draw(st.sampled_from(["append", "draft", "nothing", "elsewhere"]), label="work"):
        case "append":
            return {at(f"e{number}"): entry(f"e{number}", ("b0", B0))}
        case "draft":
            return {DRAFT: stack("draft", data.draw(st.integers(1, 4)))}
        case "elsewhere":
            return {"README.md": f"{number}\n"}
    return {}


def tamper(past: Past, how: str, path: str, parent: int) -> int:
    """A commit that does it, and nothing else."""
    content, mode = past.tree(parent)[path]
    other = "100755" if mode == "100644" else "100644"
    done: dict[str, dict[str, str | bytes | File | None]] = {
        "edit": {path: content + b"# more\n"},
        "delete": {path: None},
        "mode": {path: File(content, other)},
        "link": {path: File(b"elsewhere", "120000")},
        "move": {path: None, f"{path.rpartition('.')[0]}-moved.yaml": content},
    }
    return past.commit(done[how], parent)


def found(past: Past) -> list[tuple[str, str]]:
    return [(each.location.file, each.message) for each in audit(past.root, Asked()).found]


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A new, empty history each time."""
    return lambda: Past(tmp_path_factory.mktemp("past") / "repo")


@given(data=st.data(), commits=st.integers(0, 8))
@relaxed
def test_honest_work_is_never_found_wrong(fresh: Any, data: st.DataObject, commits: int) -> None:
    past = fresh()
    honest(past, data, commits)
    past.write()
    assert found(past) == []


@given(data=st.data(), commits=st.integers(0, 6), how=st.sampled_from(TAMPERINGS), put_back=st.booleans())
@relaxed
def test_one_tampering_is_always_found_whatever_follows(
    fresh: Any, data: st.DataObject, commits: int, how: str, put_back: bool
) -> None:
    past = fresh()
    made = honest(past, data, commits)
    parent = data.draw(st.sampled_from(made), label="after")
    path = data.draw(
        st.sampled_from(
            [*FROZEN, *sorted(p for p in past.tree(parent) if "/e" in p and p.startswith("ledger"))]
        )
    )
    bad = tamper(past, how, path, parent)
    if put_back:
        past.commit({}, bad, tree=past.tree(parent))
    last = past.commit({}, len(past._trees))
    if data.draw(st.booleans(), label="merged"):
        past.merge({}, made[-1], last)
    past.write()
    said = found(past)
    assert any(file == path and past.ids[bad][:10] in message for file, message in said), (bad, said)
