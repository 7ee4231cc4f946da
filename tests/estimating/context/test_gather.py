"""What an estimate follows from: the documents that fit, and one sentence for each that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.estimating.context.gather import CannotEstimate
from hio_validate.estimating.context.inputs import Inputs
from hio_validate.estimating.context.recorded import Recorded
from hio_validate.estimating.context.stated import stated
from hio_validate.repo import Item
from tests.estimating.tiny import (
    CEILINGS,
    PUBLISHED,
    SHAPE,
    changed,
    gathered,
    lab,
    other,
    put,
    view_of,
    vllm,
)
from tests.evidence.experiment import FIXTURE, HOST, MODEL, Experiment, text
from tests.small_repo import ENTRY, ROOM, SERVICE, baseline, capture, pin, stack, write


def test_what_runs_and_settings_say_becomes_the_workload(tmp_path: Path) -> None:
    found = gathered(lab(tmp_path, SHAPE, CEILINGS))
    workload = found.workload
    assert (workload.prompt_tokens, workload.generated_tokens) == (5, 8), "as the rows of the runs count them"
    assert (workload.threads, workload.devices, workload.concurrency, workload.cache) == (1, 1, 1, "cold")
    assert workload.target_host == HOST
    assert workload.shape is not None and workload.shape.startswith("tiny@sha256:")
    assert (found.target.metric, found.target.better, found.path) == ("decode_tps", "higher", "decode-token")
    assert [item.name for item in found.ceilings] == ["lab-host"]
    assert found.baseline is not None and found.view is not None


def test_what_no_setting_says_is_absent_and_said(tmp_path: Path) -> None:
    found = gathered(lab(tmp_path, SHAPE, CEILINGS))
    assert (found.workload.microbatch, found.workload.key_type, found.workload.value_type) == (
        None,
        None,
        None,
    )
    assert any("number format of K" in each for each in found.missing)
    assert any("a profile of base" in each for each in found.missing)


@pytest.mark.parametrize(
    ("metric", "path"),
    [("itl_ms", "decode-token"), ("tpot_ms", "decode-token"), ("prefill_tps", "prefill-token"), ("ttft_ms", "request"), ("wall_s", "request")],
)  # fmt: skip
def test_a_metric_has_its_path(tmp_path: Path, metric: str, path: str) -> None:
    found = gathered(lab(tmp_path, SHAPE, CEILINGS), metric=metric)
    assert (found.path, found.target.metric) == (path, metric)


def test_without_runs_the_lengths_are_the_fixtures_or_stated_or_missing(tmp_path: Path) -> None:
    put(lab(tmp_path, SHAPE, CEILINGS), changed(FIXTURE, name="other"))
    found = gathered(tmp_path, fixture="other")
    assert (found.workload.prompt_tokens, found.workload.generated_tokens) == (None, None)
    assert any("the prompt's tokens" in each and "--assume prompt-tokens=N" in each for each in found.missing)
    assert any("the generated tokens" in each for each in found.missing)
    put(tmp_path, changed(FIXTURE, name="whole", ignore_eos=True))
    assert gathered(tmp_path, fixture="whole").workload.generated_tokens == FIXTURE["max_tokens"]
    said = stated(["prompt-tokens=7", "generated-tokens=0"])
    found = gathered(tmp_path, fixture="whole", stated=said)
    assert (found.workload.prompt_tokens, found.workload.generated_tokens) == (7, 0), "stated goes first"
    assert found.target.metric == "prefill_tps", "nothing is generated"


def test_lengths_that_vary_are_said(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    run = root / ROOM / "runs/threads/rows.tsv"
    rows = run.read_text()
    changed_rows = rows.replace("\t5\t0\t8\t", "\t6\t0\t8\t")
    assert changed_rows != rows
    document = root / ROOM / "runs/threads/run.yaml"
    document.write_text(document.read_text().replace(_sha(rows), _sha(changed_rows)))
    run.write_text(changed_rows)
    found = gathered(root)
    assert found.workload.prompt_tokens in (5, 6)
    assert any("count 5 to 6" in each for each in found.missing)


def test_rows_of_this_very_stack_count_before_all_others(tmp_path: Path) -> None:
    def longer(row: dict[str, object]) -> None:
        if row["arm"] == "two":
            row["generated"] = 7

    experiment = Experiment(tmp_path)
    experiment.noise()
    experiment.run(rows=longer)
    put(tmp_path, SHAPE, CEILINGS)
    assert gathered(tmp_path).workload.generated_tokens == 8
    assert gathered(tmp_path, "two").workload.generated_tokens == 7
    three = gathered_as_three(tmp_path)
    assert any("count 7 to 8" in each for each in three.missing), (
        "no run had it: all rows of the fixture count"
    )


def gathered_as_three(root: Path) -> Inputs:
    """The inputs of a stack that never ran."""
    write(root, {f"{ROOM}/stacks/three.yaml": stack("three", 3)})
    return gathered(root, "three")


def test_rows_of_another_cache_regime_count_nothing(tmp_path: Path) -> None:
    found = gathered(lab(tmp_path, SHAPE, CEILINGS), cache="warm")
    assert found.workload.prompt_tokens is None and found.baseline is None


def test_without_a_fixture_equal_lengths_are_the_same_workload(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    same = stated(["prompt-tokens=5", "generated-tokens=8"])
    assert gathered(root, fixture=None, stated=same).baseline is not None
    another = stated(["prompt-tokens=6", "generated-tokens=8"])
    assert gathered(root, fixture=None, stated=another).baseline is None
    assert gathered(root, fixture=None).baseline is None


def _sha(content: str) -> str:
    return other(content)


def test_a_fixture_of_the_same_name_with_other_bytes_counts_nothing(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    put(root, changed(FIXTURE, prompt="why are there no tides?"))
    found = gathered(root)
    assert found.workload.prompt_tokens is None
    assert found.baseline is None


def test_another_models_shape_is_refused_and_never_taken(tmp_path: Path) -> None:
    foreign = changed(SHAPE, name="foreign", source={"format": "gguf", "sha256": other("foreign")})
    root = lab(tmp_path, foreign, CEILINGS)
    found = gathered(root)
    assert found.shape is None
    assert any("the shape of the model" in each and "foreign" in each for each in found.missing)
    with pytest.raises(CannotEstimate, match="the shape foreign is of the model"):
        gathered(root, shape="foreign")
    put(root, SHAPE)
    assert gathered(root).workload.shape == pin("tiny", text(SHAPE))


def test_a_split_model_is_known_by_each_of_its_files(tmp_path: Path) -> None:
    root = lab(tmp_path)
    shards = [
        f'      model-{number:05d}-of-00002: {{path: /srv/{number}.gguf, sha256: "{other(str(number))}", how: hash}}\n'
        for number in (1, 2)
    ]
    split = "    artifacts:\n      model: {path: /srv/1.gguf, how: unknown}\n" + "".join(shards)
    seen = capture("split", more=split).replace("service:", "stack: base\nservice:", 1)
    write(root, {f"{ROOM}/captures/split.yaml": seen})
    view = view_of(root)
    stack = view.repo.find("stack/v1", "base", SERVICE)
    assert stack is not None
    assert set(Recorded(view, SERVICE, stack).models) == {MODEL, other("1"), other("2")}


def test_several_shapes_are_to_be_named(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, changed(SHAPE, name="again"), CEILINGS)
    with pytest.raises(CannotEstimate, match="--shape again or tiny"):
        gathered(root)
    chosen = gathered(root, shape="again").shape
    assert chosen is not None and chosen.name == "again"


def test_a_shape_without_a_file_is_taken_and_said(tmp_path: Path) -> None:
    hand = changed(SHAPE, name="hand", source={"format": "stated", "says": "someone"})
    found = gathered(lab(tmp_path, hand, CEILINGS))
    assert found.shape is not None
    assert any("hand names no model file" in each for each in found.missing)


def test_ceilings_of_the_host_go_before_others_and_published_ones(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, PUBLISHED)
    found = gathered(root)
    assert [item.name for item in found.ceilings] == ["paper"]
    assert any("published ones stand in (paper)" in each for each in found.missing)
    put(root, changed(CEILINGS, name="elsewhere", host=other("elsewhere")))
    found = gathered(root)
    assert [item.name for item in found.ceilings] == ["elsewhere"]
    assert any("elsewhere of another host stand in" in each for each in found.missing)
    put(root, CEILINGS)
    found = gathered(root, host=other("elsewhere"))
    assert [item.name for item in found.ceilings] == ["lab-host"], "records say where it ran, not who asks"
    assert not any("stand in" in each for each in found.missing)
    named = gathered(root, ceilings=["paper", "elsewhere"])
    assert [item.name for item in named.ceilings] == ["elsewhere", "paper"], "measured ones first"


def test_published_ones_stand_beside_measured_ones_of_a_host_with_devices(tmp_path: Path) -> None:
    device = {"name": "accelerator", "tool": "its tool 1"}
    root = lab(tmp_path, SHAPE, PUBLISHED, changed(CEILINGS, devices=[device]))
    assert [item.name for item in gathered(root).ceilings] == ["lab-host", "paper"]


def test_of_several_published_devices_one_is_to_be_named(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, PUBLISHED, changed(PUBLISHED, name="poster"))
    with pytest.raises(
        CannotEstimate,
        match="published ceilings of several devices: say --ceilings paper or poster",
    ):
        gathered(root)
    assert [item.name for item in gathered(root, ceilings=["paper"]).ceilings] == ["paper"]
    both = gathered(root, ceilings=["paper", "poster"])
    assert any("proof that paper and poster are of one device" in each for each in both.missing)
    put(root, CEILINGS)
    assert [item.name for item in gathered(root).ceilings] == ["lab-host"], "no published one is taken beside"
    device = {"name": "Accelerator 9", "tool": "its tool 1"}
    put(root, changed(CEILINGS, devices=[device]))
    with pytest.raises(CannotEstimate, match="say --ceilings lab-host --ceilings paper or poster"):
        gathered(root)
    put(root, changed(PUBLISHED, name="poster", devices=[device | {"name": "accelerator 9"}]))
    found = gathered(root)
    assert [item.name for item in found.ceilings] == ["lab-host", "poster"], "the device that the host has"


def test_documents_of_one_device_stand_in_together(tmp_path: Path) -> None:
    mine = changed(PUBLISHED, devices=[{"name": "accelerator", "tool": "its maker"}])
    found = gathered(lab(tmp_path, SHAPE, mine, changed(mine, name="poster")))
    assert [item.name for item in found.ceilings] == ["paper", "poster"]
    named = gathered(tmp_path, ceilings=["paper", "poster"])
    assert not any("proof that paper" in each for each in named.missing)


def test_where_the_stack_never_ran_other_ceilings_are_named(tmp_path: Path) -> None:
    write(tmp_path, {f"{ROOM}/stacks/base.yaml": stack("base", 1), ENTRY: baseline()})
    put(tmp_path, SHAPE, CEILINGS, PUBLISHED, FIXTURE)
    elsewhere = gathered(tmp_path)
    assert [item.name for item in elsewhere.ceilings] == ["lab-host"]
    assert any("stand in; --ceilings paper takes published ones" in each for each in elsewhere.missing)
    here = gathered(tmp_path, host=HOST)
    assert any(
        each.startswith("proof that base is to run on this host") and "--ceilings paper" in each
        for each in here.missing
    )


@pytest.mark.parametrize("kind", ["ceilings/v1", "shape/v1", "profile/v1"])
def test_what_the_rules_find_an_error_in_is_not_used_and_said(tmp_path: Path, kind: str) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, PROFILE)
    name = {"ceilings/v1": "lab-host", "shape/v1": "tiny", "profile/v1": "perf"}[kind]
    option = kind.partition("/")[0]
    assert getattr(gathered(root), option), "it is used where nothing is wrong with it"

    def fault(item: Item) -> str | None:
        return "FILE:3: it is wrong" if item.kind == kind else None

    found = gathered(root, fault=fault)
    assert not getattr(found, option)
    assert f"{name}, which is not used: FILE:3: it is wrong" in found.missing
    given = {option: [name] if option == "ceilings" else name}
    with pytest.raises(CannotEstimate, match=f"the {option} {name} has an error: FILE:3: it is wrong"):
        gathered(root, fault=fault, **given)


def test_kernels_of_another_build_are_not_used(tmp_path: Path) -> None:
    kernels = changed(CEILINGS, name="kernels", engine="b2")
    root = lab(tmp_path, SHAPE, CEILINGS, kernels)
    found = gathered(root)
    assert [item.name for item in found.ceilings] == ["lab-host"]
    assert any("kernels: of another build" in each for each in found.missing)
    put(root, changed(kernels, engine="b1"))
    assert [item.name for item in gathered(root).ceilings] == ["kernels", "lab-host"]


def test_no_ceilings_at_all_are_missing(tmp_path: Path) -> None:
    found = gathered(lab(tmp_path, SHAPE))
    assert found.ceilings == ()
    assert any("hio probe host --yes" in each for each in found.missing)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fixture": "tide"}, "no fixture is called tide in lab/tiny; did you mean tides?"),
        ({"metric": "decode_tsp"}, "no metric is called decode_tsp; did you mean decode_tps?"),
        ({"ceilings": ["lab-hots"]}, "no ceilings is called lab-hots; did you mean lab-host?"),
        ({"shape": "tny"}, "no shape is called tny in lab/tiny; did you mean tiny?"),
        ({"run": "thread"}, "no run is called thread in lab/tiny; did you mean threads?"),
        ({"profile": "nowhere"}, "no profile is called nowhere in lab/tiny"),
        ({"stack": "basis"}, "no stack is called basis in lab/tiny; did you mean base?"),
    ],
)
def test_a_name_that_leads_nowhere_gets_one_sentence(tmp_path: Path, options: dict[str, str], said: str) -> None:  # fmt: skip
    root = lab(tmp_path, SHAPE, CEILINGS)
    with pytest.raises(CannotEstimate) as refused:
        gathered(root, **options)
    assert str(refused.value) == said


def test_more_requests_than_slots_wait(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    write(root, {f"{ROOM}/stacks/slots.yaml": vllm("slots", "--max-num-seqs", "2")})
    found = gathered(root, "slots", concurrency=3)
    assert found.workload.concurrency == 3
    assert any("3 requests at once on 2 slots" in each for each in found.missing)
    assert not any("slots, so that" in each for each in gathered(root, "slots", concurrency=2).missing)


def test_an_open_correctness_failure_is_gathered_until_it_is_corrected(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    failed = {
        "hio": "entry/v1", "id": "nan", "service": SERVICE, "after": [pin("b0", baseline())], "kind": "failed-run",
        "by": "someone", "at": "2026-01-05T00:00:00Z", "because": "NaN in the logits", "hazard": "non-finite-values",
        "pins": {"stack": pin("base", stack("base"))},
    }  # fmt: skip
    assert gathered(root).wrong == ()
    write(root, {ENTRY.replace("b0.yaml", "nan.yaml"): text(failed)})
    assert [item.name for item in gathered(root).wrong] == ["nan"]
    assert gathered(root, "two").wrong == (), "it is about another stack"


PROFILE = {
    "hio": "profile/v1", "name": "perf", "service": SERVICE, "stack": pin("base", stack("base")), "path": "decode-token",
    "tool": "perf 6", "at": "2026-01-05T00:00:00Z", "fixture": "tides",
    "parts": [{"name": "dot", "term": "weights", "samples": 9, "what": "arithmetic"}],
}  # fmt: skip


def _left_out(found: Inputs) -> str:
    """The sentence about the profile that is missing."""
    assert found.profile is None
    (said,) = [each for each in found.missing if "a profile of" in each]
    return said


def test_a_profile_of_something_else_is_left_out_and_named(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS)
    assert _left_out(gathered(root)) == "a profile of base on the path decode-token with tides"
    put(root, PROFILE)
    found = gathered(root)
    assert found.profile is not None and not any("a profile" in each for each in found.missing)
    said = _left_out(gathered(root, metric="ttft_ms"))
    assert said == (
        "a profile of base on the path request with tides (left out: perf, of the path decode-token, not request)"
    )
    assert "(left out: perf, of the stack base, not two)" in _left_out(gathered(root, "two"))
    assert "perf, of the fixture tides, and no fixture is named" in _left_out(gathered(root, fixture=None))
    put(root, changed(PROFILE, stack=f"base@sha256:{'0' * 64}"))
    assert "perf, of other bytes of the stack base, 000000000000" in _left_out(gathered(root))


def test_a_profile_of_another_fixture_is_left_out_and_refused_where_it_is_named(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, changed(PROFILE, fixture=f"{SERVICE}/else"))
    assert "(left out: perf, of the fixture else, not tides)" in _left_out(gathered(root))
    with pytest.raises(
        CannotEstimate, match="the profile perf is of the fixture else, not tides; a profile of"
    ):
        gathered(root, profile="perf")
    for name in "abc":
        put(root, changed(PROFILE, name=name, fixture="else"))
    assert _left_out(gathered(root)).endswith("not tides; 2 more)")


def test_a_profile_that_does_not_say_what_was_asked_is_taken_only_where_it_is_named(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, changed(PROFILE, fixture=None))
    assert "perf, which does not say what was asked meanwhile" in _left_out(gathered(root))
    found = gathered(root, profile="perf")
    assert found.profile is not None
    assert (
        "whether perf is a profile of this workload: which does not say what was asked meanwhile"
        in found.missing
    )


def test_a_profile_is_of_one_request_at_a_time_and_a_cold_cache_unless_it_is_named(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, PROFILE)
    assert "does not say how many requests were asked at once" in _left_out(gathered(root, concurrency=2))
    assert "does not say that the cache was warm" in _left_out(gathered(root, cache="warm"))
    assert gathered(root, concurrency=2, profile="perf").profile is not None


def test_a_named_profile_of_another_stack_or_path_is_refused(tmp_path: Path) -> None:
    root = lab(tmp_path, SHAPE, CEILINGS, PROFILE)
    with pytest.raises(CannotEstimate, match="of the path decode-token, not request"):
        gathered(root, metric="ttft_ms", profile="perf")
    with pytest.raises(CannotEstimate, match="of the stack base, not two"):
        gathered(root, "two", profile="perf")


def test_weights_that_are_narrow_already_are_loaded_as_they_are(tmp_path: Path) -> None:
    stacks = {f"{ROOM}/stacks/fp8.yaml": vllm("fp8", "--quantization=fp8", "--kv-cache-dtype=fp8")}
    narrow = [{**each, "type": "fp8", "bytes": each["elements"]} for each in SHAPE["weights"]]
    for weights, loaded in ((SHAPE["weights"], "fp8"), (narrow, None)):
        root = lab(tmp_path / str(loaded), changed(SHAPE, weights=weights), CEILINGS)
        write(root, stacks)
        assert gathered(root, "fp8").workload.loaded_as == loaded


def test_the_format_of_states_is_told_where_there_are_any(tmp_path: Path) -> None:
    carrying = {"layers": 1, "kv_heads": 0, "key_size": 0, "value_size": 0, "state": 64}
    keeping = {**SHAPE["attention"][0], "layers": 1}
    plain = lab(tmp_path / "plain", SHAPE, CEILINGS)
    hybrid = lab(tmp_path / "hybrid", changed(SHAPE, attention=[keeping, carrying]), CEILINGS)
    assert gathered(plain).workload.state_type is None
    assert gathered(hybrid).workload.state_type == "f32"
