"""Which setting of one stack is which setting of the other one, where the two call it differently."""

from __future__ import annotations

from hio_validate.settings.difference import Group, difference
from hio_validate.settings.resolve import resolve
from hio_validate.settings.setting import Effective, Knowledge, Origin, Setting
from hio_validate.settings.value import UNKNOWN
from tests.settings.stacks import effective, exhaustive, known, processes, told


def test_pairs_map_what_two_vocabularies_call_differently() -> None:
    parent = resolve(processes(old={"argv": [["--draft-max", "3"], ["--draft-len", "9"]]}), {})
    candidate = effective("llama", [["--spec-draft-n-max", "3"]])
    pairs = {"draft": ["old draft-max", "old draft-len", "server --spec-draft-n-max"]}
    found = difference(parent, candidate, pairs)
    draft = found.find("draft")
    assert draft is not None and (draft.group, draft.from_, draft.to) == (Group.EQUAL, "3", "3")
    left_over = found.find("old.draft-len")
    assert left_over is not None and left_over.group is Group.CHANGED
    assert exhaustive(found, parent, candidate)


def test_a_pair_hides_no_other_setting_of_the_same_name() -> None:
    parent = resolve(processes(server={"argv": [["--a", "1"]]}), {})
    candidate = resolve(processes(server={"argv": [["--a", "2"], ["--b", "1"]]}), {})
    found = difference(parent, candidate, {"x": ["server a", "server b"]})
    assert exhaustive(found, parent, candidate)
    assert told(found) == {"server.a": (Group.UNKNOWN, UNKNOWN, "2")}


def test_process_renames_map_and_may_cross() -> None:
    one = {"argv": [["-t", "1"]]}
    two = {"argv": [["-t", "2"]]}
    knows = {"a": known("llama"), "b": known("llama")}
    parent, candidate = resolve(processes(a=one, b=two), knows), resolve(processes(a=two, b=one), knows)
    crossed = difference(parent, candidate, {"first": ["a", "b"], "second": ["b", "a"]})
    assert told(crossed) == {} and exhaustive(crossed, parent, candidate)
    changed = resolve(processes(a=two, b={"argv": [["-t", "7"]]}), knows)
    found = told(difference(parent, changed, {"first": ["a", "b"], "second": ["b", "a"]}))
    assert {address: each[0] for address, each in found.items()} == {
        "b.threads": Group.CHANGED, "b.threads-batch": Group.FOLLOWED, "b.spec-draft-threads": Group.FOLLOWED,
        "b.spec-draft-threads-batch": Group.FOLLOWED,
    }  # fmt: skip


def test_a_lone_process_is_the_same_whatever_it_is_called() -> None:
    parent = resolve(processes(gpu={"argv": [["-t", "1"]]}), {"gpu": known("llama")})
    assert told(difference(parent, effective("llama", [["-t", "1"]]))) == {}


def test_two_settings_of_the_parent_that_became_one_are_both_told() -> None:
    parent, candidate = effective("llama", [["--mmproj-auto"]]), effective("next")
    merged = dict(parent.settings)
    first = merged["server.ui"]
    merged["server.webui"] = Setting(
        "server.webui", "webui", "off", Origin.ARGV, first.class_, option=first.option, spelling="--webui"
    )
    found = difference(Effective(merged, (), parent.catalogues), candidate)
    assert exhaustive(found, Effective(merged), candidate)


def test_a_flag_that_switches_off_is_not_the_option_it_switches() -> None:
    unlearned = resolve(processes(server={"argv": [["--no-perf"]]}), {"server": Knowledge()})
    found = difference(unlearned, effective("llama", [["--perf"]]))
    assert found.find("server.perf").group is Group.OPERATIONAL  # type: ignore[union-attr]
    assert exhaustive(found, unlearned, effective("llama", [["--perf"]]))
