"""The ledger as a DAG: tips, ancestors, order, what was accepted and what was excluded."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hio_validate.ledger import Ledger, ledgers
from hio_validate.repo import Item, Repo, item_of
from hio_validate.source import read
from tests.small_repo import SERVICE

Graph = dict[str, list[str]]
DIGEST = "@sha256:" + "0" * 64


def _entry(id_: str, after: list[str], more: str = "kind: decision\ndecision: keep-research\n") -> Item:
    pins = ", ".join(f'"{parent}{DIGEST}"' for parent in after)
    text = (
        f"hio: entry/v1\nid: {id_}\nservice: {SERVICE}\nafter: [{pins}]\nby: someone\n"
        f'at: "2026-01-01T00:00:00Z"\n{more}'
    )
    item = item_of(read(text.encode(), f"ledger/{SERVICE}/2026/{id_}.yaml"))
    assert item.model is not None, item.refused
    return item


def _ledger(graph: Graph, **more: str) -> Ledger:
    entries = {
        id_: _entry(id_, after, more[id_]) if id_ in more else _entry(id_, after)
        for id_, after in graph.items()
    }
    return Ledger(SERVICE, entries)


@st.composite
def _graphs(draw: st.DrawFn, *, acyclic: bool = True) -> Graph:
    """Entries e0, e1, ... in shuffled order; acyclic ones follow only those with a smaller number."""
    count = draw(st.integers(1, 8))
    graph = {}
    for number in range(count):
        others = range(number) if acyclic else range(count)
        parents = st.sampled_from([f"e{other}" for other in others]) if len(others) else st.nothing()
        graph[f"e{number}"] = draw(st.lists(parents, unique=True, max_size=3)) if len(others) else []
    return dict(draw(st.permutations(list(graph.items()))))


_names = st.lists(st.sampled_from([f"e{number}" for number in range(8)]), max_size=3)


@given(_graphs())
def test_tips_are_what_nothing_follows_and_lead_to_everything(graph: Graph) -> None:
    book = _ledger(graph)
    assert set(book.tips) == {id_ for id_ in graph if not any(id_ in after for after in graph.values())}
    assert book.tips
    assert book.ancestors(book.tips) == set(graph)
    assert set(book.roots) == {id_ for id_, after in graph.items() if not after}
    assert book.in_a_cycle == []


@given(_graphs(acyclic=False), _names)
def test_ancestors_are_closed_and_contain_what_was_asked_for(graph: Graph, tips: list[str]) -> None:
    found = _ledger(graph).ancestors(tips)
    assert found >= set(tips) & set(graph)
    assert all(set(graph[id_]) <= found for id_ in found)
    smaller = {id_ for id_ in found if id_ in tips or any(id_ in graph[other] for other in found)}
    assert found == smaller, "nothing that leads from no tip"


@given(_graphs(), _names)
def test_each_entry_comes_once_and_after_what_it_follows(graph: Graph, tips: list[str]) -> None:
    book = _ledger(graph)
    order = [item.name for item in book.as_of(tips)]
    wanted = book.ancestors(tips) if tips else set(graph)
    assert sorted(order) == sorted(wanted)
    assert all(order.index(parent) < order.index(id_) for id_ in order for parent in graph[id_])


@given(_graphs(acyclic=False))
def test_a_circle_neither_hangs_nor_loses_an_entry(graph: Graph) -> None:
    book = _ledger(graph)
    reached = book.ancestors(book.tips)
    assert sorted(item.name for item in book.as_of()) == sorted(reached)
    assert set(book.in_a_cycle) == {id_ for id_ in graph if id_ in book.ancestors(graph[id_])}


@given(_graphs(), st.sampled_from(["gone", "e99"]))
def test_an_ancestor_that_is_lost_stops_nothing(graph: Graph, lost: str) -> None:
    first = next(iter(graph))
    book = _ledger({**graph, first: [*graph[first], lost]})
    assert lost in book.after(first)
    assert lost not in book.ancestors(book.tips)
    assert {item.name for item in book.as_of()} == set(graph)


def test_two_roots_and_two_tips_are_all_told() -> None:
    book = _ledger({"a": [], "b": [], "c": ["a"], "d": ["b"]})
    assert (book.roots, book.tips) == (["a", "b"], ["c", "d"])
    merged = _ledger({"a": [], "b": [], "m": ["a", "b"]}, m="kind: merge\n")
    assert merged.tips == ["m"]


def test_a_long_ledger_is_walked_without_recursion() -> None:
    names = [f"e{number}" for number in range(3000)]
    entries = {"e0": _entry("e0", [])}
    template = _entry("x", ["y"])
    for before, id_ in pairwise(names):
        model = template.model.model_copy(update={"id": id_, "after": [before + DIGEST]})
        entries[id_] = Item(template.document, template.kind, id_, SERVICE, model)
    book = Ledger(SERVICE, entries)
    assert book.tips == ["e2999"]
    assert len(book.ancestors(book.tips)) == 3000


def _increment(factor: str, stack: str = "") -> str:
    return f"kind: increment\nfactor: {factor}\n" + (f'pins: {{stack: "{stack}{DIGEST}"}}\n' if stack else "")


def _control(factor: str) -> str:
    return f"kind: negative-control\nfactor: {factor}\n"


def test_what_was_excluded_counts_until_it_is_accepted() -> None:
    graph: Graph = {"late": ["back"], "back": ["early"], "early": []}
    book = _ledger(graph, early=_control("a"), back=_increment("a"), late=_control("a"))
    assert [item.name for item in book.exclusions(["early"])] == ["early"]
    assert book.exclusions(["back"]) == []
    assert [item.name for item in book.exclusions()] == ["late"]
    assert [item.name for item in book.accepted()] == ["back"]
    assert book.accepted(["early"]) == []


def test_the_current_parent_is_the_last_accepted_stack() -> None:
    base = f'kind: baseline\npins: {{stack: "base{DIGEST}"}}\n'
    graph: Graph = {"second": ["first"], "first": ["start"], "start": []}
    book = _ledger(graph, start=base, first=_increment("a", "one"), second=_increment("b", "two"))
    assert book.accepted_stacks() == ["base", "one", "two"]
    assert book.accepted_stacks(["first"]) == ["base", "one"]


def _baseline(stack: str) -> str:
    return f'kind: baseline\npins: {{stack: "{stack}{DIGEST}"}}\n'


def _merge(*keeps: str) -> str:
    return f"kind: merge\nkeeps: [{', '.join(keeps)}]\n"


def test_branches_that_speak_of_different_things_agree() -> None:
    graph: Graph = {"one": ["start"], "two": ["start"], "start": []}
    book = _ledger(graph, start=_baseline("base"), one=_increment("a"), two=_control("b"))
    assert book.disagreements == []
    assert book.parent == "base"


def test_branches_that_decide_one_setting_differently_disagree_until_a_merge_keeps_one() -> None:
    graph: Graph = {"start": [], "one": ["start"], "two": ["start"], "later": ["two"]}
    said = {"start": _baseline("base"), "one": _increment("server.a", "fast"), "later": _control("a")}
    book = _ledger(graph, **said)
    assert book.disagreements == [("server.a", ("later", "one"))]
    merged = _ledger({**graph, "m": ["one", "later"]}, **said, m=_merge("later"))
    assert merged.disagreements == []
    assert merged.between_tips_of(merged.entries["m"]) == [("server.a", ("later", "one"))]
    assert merged.accepted() == []
    assert [item.name for item in merged.exclusions()] == ["later"]
    assert _ledger({**graph, "m": ["one", "later"]}, **said, m=_merge("one")).exclusions() == []


def test_two_parents_are_a_disagreement_and_the_kept_one_is_the_parent() -> None:
    graph: Graph = {"start": [], "one": ["start"], "two": ["start"]}
    said = {"start": _baseline("base"), "one": _increment("a", "fast"), "two": _increment("b", "wide")}
    assert _ledger(graph, **said).disagreements == [("the parent", ("one", "two"))]
    for kept, stack in (("one", "fast"), ("two", "wide")):
        merged = _ledger({**graph, "m": ["one", "two"]}, **said, m=_merge(kept))
        assert merged.parent == stack
        assert {item.name for item in merged.accepted()} == {"one", "two"}, "the settings do not disagree"
    after = _ledger(
        {**graph, "m": ["one", "two"], "n": ["m"]}, **said, m=_merge("one"), n=_increment("c", "new")
    )
    assert after.parent == "new"


def test_a_stack_falls_with_the_setting_that_a_merge_overruled() -> None:
    graph: Graph = {"start": [], "one": ["start"], "two": ["start"], "m": ["one", "two"]}
    said = {"start": _baseline("base"), "one": _increment("a", "fast"), "two": _control("a")}
    assert _ledger(graph, **said, m=_merge("two")).parent == "base"
    assert _ledger(graph, **said, m=_merge("one")).parent == "fast"


def test_a_branch_that_only_kept_what_was_there_does_not_disagree() -> None:
    graph: Graph = {"start": [], "old": ["start"], "new": ["old"], "side": ["old"]}
    book = _ledger(graph, start=_baseline("base"), old=_control("a"), new=_increment("a"), side=_control("b"))
    assert book.disagreements == []


def test_before_an_entry_the_ledger_knew_what_that_follows() -> None:
    graph: Graph = {"start": [], "one": ["start"], "two": ["start"], "later": ["two"]}
    book = _ledger(graph, start=_baseline("base"), two=_increment("a", "fast"), later=_control("b"))
    then = book.before("later")
    assert set(then.entries) == {"start", "two"}
    assert (then.tips, then.parent, then.exclusions()) == (["two"], "fast", [])
    assert book.before("start").entries == {}


@given(_graphs())
def test_what_was_before_is_closed_and_leaves_the_entry_out(graph: Graph) -> None:
    book = _ledger(graph)
    for id_ in graph:
        then = book.before(id_)
        assert id_ not in then.entries
        assert set(then.tips) <= set(graph[id_]) <= set(then.entries)


def test_an_entry_is_found_by_its_name_and_its_full_name_and_in_no_other_ledger() -> None:
    book = _ledger({"a": []})
    assert book.entry("a") is book.entry(f"{SERVICE}/a") is book.entries["a"]
    assert book.entry("lab/other/a") is book.entry("b") is None


def test_what_an_entry_says_of_a_subject_is_told_without_digests() -> None:
    book = _ledger({"a": [], "m": ["a"]}, a=_increment("server.a", "fast"), m=_merge("a"))
    assert book.says("a", "the parent") == "a: fast"
    assert book.says("a", "a") == "a: accepted a"
    assert book.says("m", "server.a") == "m: accepted a", "a merge says again what it keeps"
    assert book.says("a", "server.b") == "a: nothing"


def test_what_is_deployed_is_the_last_word() -> None:
    deployed = f'kind: deployment\nsite: lab\npins: {{candidate: "fast{DIGEST}"}}\n'
    undone = f'kind: rollback\nundoes: up\npins: {{stack: "base{DIGEST}"}}\n'
    graph: Graph = {"start": [], "up": ["start"], "down": ["up"]}
    book = _ledger(graph, start=_baseline("base"), up=deployed, down=undone)
    assert book.deployment is book.entries["down"]
    assert book.accepted_stacks() == ["base", "fast", "base"]
    assert _ledger({"start": []}, start=_baseline("base")).deployment is None


def test_every_service_has_its_own_ledger() -> None:
    mine = _entry("a", [])
    other = item_of(
        read(mine.document.raw.replace(b"lab/tiny", b"lab/other"), "ledger/lab/other/2026/a.yaml")
    )
    unread = item_of(read(b"hio: entry/v1\n", f"ledger/{SERVICE}/2026/b.yaml"))
    found = ledgers(Repo(tree=None, items=(mine, other, unread)))  # type: ignore[arg-type]
    assert {service: list(book.entries) for service, book in found.items()} == {
        SERVICE: ["a"],
        "lab/other": ["a"],
    }
