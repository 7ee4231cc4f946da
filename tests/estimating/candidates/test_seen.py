"""Which settings a family sees: those of the process that serves, as they were observed, as the engine spells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.estimating.bounds.ledger import terms_of
from hio_validate.estimating.candidates.mechanism import Lever, Seen
from hio_validate.settings.catalogue import Option
from hio_validate.settings.value import UNKNOWN
from tests.estimating.candidates.engines import service, stack_of
from tests.estimating.candidates.workbench import asked, looked, names
from tests.estimating.tiny import SHAPE
from tests.small_repo import ROOM, capture, write

SEEN = "    props: {how: props, facts: {total_slots: 4}}\n"


def _seen(root: Path) -> Seen:
    inputs = asked(root)
    return Seen(inputs, terms_of(inputs), None)


def test_what_a_capture_observed_goes_before_what_was_asked_for(tmp_path: Path) -> None:
    service(tmp_path, "llama-server", {"parallel": "-1"})
    before = _seen(tmp_path).lever("parallel")
    assert before is not None and (before.value, before.has) == (UNKNOWN, "-1")
    argv = '        - ["--model", "/models/tiny"]\n        - ["--port", "8080"]\n        - ["--parallel", "-1"]\n'
    seen = capture("c1", seen=SEEN).replace(
        '        - ["--threads", "1"]\n        - ["--port", "8080"]\n', argv
    )
    write(tmp_path, {f"{ROOM}/captures/c1.yaml": f"{seen}stack: base\n"})
    after = _seen(tmp_path).lever("parallel")
    assert after is not None and (after.value, after.number) == ("4", 4)


def test_another_spelling_of_the_build_is_the_same_setting(tmp_path: Path) -> None:
    service(tmp_path, "sglang", {"tp-size": "2"}, lacks=("tensor-parallel-size",))
    help_ = tmp_path / "manifests/engines/sglang/b1/help.txt"
    text = help_.read_text().replace(
        "--tp-size TP_SIZE\n", "--tp-size TP_SIZE, --tensor-parallel-size TP_SIZE\n"
    )
    write(tmp_path, {str(help_.relative_to(tmp_path)): text})
    found = [lever for lever, _ in _seen(tmp_path).ways("shards")]
    assert [(each.address, each.value) for each in found] == [("server.tp-size", "2")]


def test_a_process_beside_the_server_is_left_alone(tmp_path: Path) -> None:
    service(tmp_path, "vllm", {"max-num-seqs": "2"})
    content = stack_of("vllm", {"max-num-seqs": "2"})
    other = content.partition("processes:\n")[2].replace("server:", "another:").replace('"2"', '"7"')
    write(tmp_path, {f"{ROOM}/stacks/base.yaml": content + other})
    seen = _seen(tmp_path)
    assert seen.process == "server"
    assert [lever.address for lever, _ in seen.ways("slots")] == ["server.max-num-seqs"]


def test_a_build_that_nobody_learned_is_asked_for_nothing_else_and_that_is_said(tmp_path: Path) -> None:
    said = "the settings of the build that serves base: only those among its arguments are proposed"
    service(tmp_path, "vllm", {"max-num-seqs": "2"})
    learned = looked(asked(tmp_path))
    assert "weights-int4" in names(learned) and "load-as-fp8" in names(learned)
    assert not any(said in each for each in learned.missing)
    unlearned = stack_of("vllm", {"max-num-seqs": "2"}).replace("    build: b1\n", "")
    write(tmp_path, {f"{ROOM}/stacks/base.yaml": unlearned})
    found = looked(asked(tmp_path))
    assert "weights-int4" in names(found) and "load-as-fp8" not in names(found)
    assert any(said in each for each in found.missing)


@pytest.mark.parametrize(
    ("metavar", "choices", "takes"),
    [
        ("TYPE", (), ["a", "b"]),
        ("b,c", (), ["b"]),
        ("c|d", (), []),
        ("", ("a", "c"), ["a"]),
    ],
)
def test_a_closed_list_of_the_build_offers_only_its_own_values(
    metavar: str, choices: tuple[str, ...], takes: list[str]
) -> None:
    option = Option("x", ("--x",), metavar=metavar, choices=choices)
    assert Lever("server.x", "z", option).offered(["a", "b"]) == takes
    assert Lever("server.x", "z").offered(["a", "b"]) == ["a", "b"]


def test_own_layers_that_take_longer_than_what_they_save_are_not_proposed(tmp_path: Path) -> None:
    cheap = {"role": "draft", "type": "f16", "elements": 1000, "bytes": 2000, "tensors": 1}
    dear = cheap | {"bytes": 4_000_000}
    found = []
    for number, layers in enumerate((cheap, dear)):
        root = service(
            tmp_path / str(number), "vllm", {}, draft_layers=1, weights=[*SHAPE["weights"], layers]
        )
        found.append(looked(asked(root)))
    assert [any(each.name == "draft-mtp" for each in one.candidates) for one in found] == [True, False]
    assert any('"method":"mtp"' in each and "loses even if every token" in each for each in found[1].said)
