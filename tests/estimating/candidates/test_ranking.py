"""Candidates as a whole: what bounds them, in which order they stand, what the ledger has decided already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hio_validate.costs.gain import rate_gained, time_saved
from hio_validate.estimating import candidates
from hio_validate.estimating.bounds.ledger import bound_of, terms_of
from hio_validate.repo import item_of
from hio_validate.source import read
from tests.estimating.candidates.workbench import STACK, asked, bench, looked, named, names, profile
from tests.small_repo import SERVICE, baseline, pin, sha, write

ROOM = f"manifests/services/{SERVICE}"


def test_the_order_is_that_of_the_gain_and_always_the_same(tmp_path: Path) -> None:
    bench(tmp_path)
    found = looked(asked(tmp_path))
    assert names(found) == ["draft-ngram-mod", "weights-q8_0", "threads-2", "k-q8_0"]
    gains = [each.gain_percent.value for each in found.candidates]
    assert gains == sorted(gains, reverse=True)
    assert looked(asked(tmp_path)) == found


def test_code_that_has_to_be_written_comes_after_what_is_set(tmp_path: Path) -> None:
    """Sixty of a hundred samples are arithmetic: without it the rate would be 2.5 times as high, if somebody could write that."""
    bench(
        tmp_path,
        profile(("ggml_vec_dot_f16", 60, "arithmetic", "weights"), ("other things", 40, "other", None)),
    )
    found = looked(asked(tmp_path)).candidates
    assert len(found) > 1
    assert (found[-1].family, found[-1].minutes) == (7, None)
    assert all(each.family < 7 for each in found[:-1])
    assert found[-1].gain_percent.value > found[-2].gain_percent.value


def test_no_candidate_gains_more_than_its_share_vanishing(tmp_path: Path) -> None:
    bench(tmp_path)
    for measured in (None, 100.0, 20.0):
        for each in looked(asked(tmp_path, measured=measured)).candidates:
            assert each.gain_percent.high <= 100 * rate_gained(each.share_percent.high / 100) + 1e-9
    for each in looked(asked(tmp_path, "tpot_ms", measured=40.0)).candidates:
        assert each.gain_percent.high <= 100 * time_saved(each.share_percent.high / 100) + 1e-9


def test_a_share_of_the_measured_time_is_the_terms_own_and_nothing_else(tmp_path: Path) -> None:
    """20 token/s count 64 tokens over 63 passes of 50.8 ms, of which reading the weights takes 7.48 ms."""
    bench(tmp_path)
    weights = named(looked(asked(tmp_path, measured=20.0)), "weights-q8_0")
    assert weights.share_of == "measured"
    assert weights.share_percent.value == pytest.approx(100 * 7.47776 / (50 * 64 / 63))
    assert weights.gain_percent.value < 100 * rate_gained(7.47776 / 50)


def test_a_profile_goes_before_what_is_measured(tmp_path: Path) -> None:
    """Eight of a hundred samples read weights: no representation of weights can gain more than 8 / 92."""
    parts = [("ggml_vec_dot_f16", 8, "arithmetic", "weights"), ("other things", 92, "other", None)]
    bench(tmp_path, profile(*parts))
    weights = named(looked(asked(tmp_path, measured=100.0)), "weights-q8_0")
    assert (weights.share_of, weights.share_percent.value) == ("profile", pytest.approx(8.0))
    assert weights.gain_percent.value <= 100 * 8 / 92


def test_a_term_behind_another_one_gains_nothing(tmp_path: Path) -> None:
    """In prefill arithmetic takes longer than the weights: reading fewer bytes of them changes no bound."""
    bench(tmp_path)
    assert "weights-q8_0" not in names(looked(asked(tmp_path, "prefill_tps")))
    assert "weights-q8_0" in names(looked(asked(tmp_path, "decode_tps")))


def test_without_the_repository_no_setting_is_known_and_nothing_is_proposed(tmp_path: Path) -> None:
    bench(tmp_path)
    inputs = asked(tmp_path)
    assert names(looked(inputs)) and not names(looked(replace(inputs, view=None)))


def test_nothing_is_proposed_for_a_stack_that_answers_wrongly(tmp_path: Path) -> None:
    bench(tmp_path)
    inputs = asked(tmp_path)
    assert looked(replace(inputs, wrong=(inputs.stack,))) == type(looked(inputs))()


ROWS = "arm\tspeed\none\t10\ntwo\t20\n"
RUN = f"""\
hio: run/v1
name: r2
service: {SERVICE}
outcome: completed
at: "2026-01-02T00:00:00Z"
ended: "2026-01-02T00:06:00Z"
arms:
  one: {{stack: "{pin("base", STACK)}"}}
  two: {{stack: "{pin("base", STACK)}", set: {{server.threads: 2}}}}
raw: {{file: rows.tsv, sha256: "{sha(ROWS)}", format: tsv, rows: 2, arm: arm}}
columns:
  arm: {{unit: text}}
  speed: {{unit: token/s, better: higher}}
"""


def entry(kind: str, more: str = "") -> str:
    return (
        f'hio: entry/v1\nid: e1\nservice: {SERVICE}\nafter: ["{pin("b0", baseline(pinned=pin("base", STACK)))}"]\nkind: {kind}\n'
        f'by: someone\nat: "2026-01-02T00:00:00Z"\nfactor: server.threads\npins: {{run: "{pin("r2", RUN)}"}}\n'
        f"result: {{metric: speed, from: one, to: two, statistic: median, change_percent: 100}}\n{more}"
    )


def with_entry(root: Path, kind: str) -> Path:
    bench(root)
    write(
        root,
        {
            f"{ROOM}/runs/r2/run.yaml": RUN,
            f"{ROOM}/runs/r2/rows.tsv": ROWS,
            f"ledger/{SERVICE}/2026/e1.yaml": entry(kind),
        },
    )
    return root


def test_what_was_measured_and_lost_is_not_proposed_again(tmp_path: Path) -> None:
    found = looked(asked(with_entry(tmp_path, "negative-control")))
    assert "threads-2" not in names(found) and "weights-q8_0" in names(found)
    assert "threads-2: server.threads is excluded by e1: not proposed again" in found.said


def test_an_excluded_value_says_nothing_of_another_one(tmp_path: Path) -> None:
    root = with_entry(tmp_path, "negative-control")
    ceilings = (root / "manifests/ceilings/lab-host.yaml").read_text(encoding="utf-8")
    write(root, {"manifests/ceilings/lab-host.yaml": ceilings.replace("threads: 2", "threads: 4")})
    assert "threads-4" in names(looked(asked(root)))


def test_what_is_accepted_already_is_taken_and_not_measured_again(tmp_path: Path) -> None:
    found = looked(asked(with_entry(tmp_path, "increment")))
    assert "threads-2" not in names(found)
    assert "threads-2: server.threads = 2 is accepted by e1: take its stack" in found.said


def test_another_value_than_the_accepted_one_is_proposed(tmp_path: Path) -> None:
    root = with_entry(tmp_path, "increment")
    ceilings = (root / "manifests/ceilings/lab-host.yaml").read_text(encoding="utf-8")
    write(root, {"manifests/ceilings/lab-host.yaml": ceilings.replace("threads: 2", "threads: 4")})
    assert "threads-4" in names(looked(asked(root)))


def test_the_last_runs_say_what_an_experiment_costs(tmp_path: Path) -> None:
    assert {each.minutes for each in looked(asked(bench(tmp_path / "none"))).candidates} == {40.0}
    root = with_entry(tmp_path / "one", "increment")
    assert {each.minutes for each in looked(asked(root)).candidates} == {6.0}


def test_a_candidate_is_a_document_of_its_own_kind(tmp_path: Path) -> None:
    bench(tmp_path)
    inputs = asked(tmp_path)
    ledger = terms_of(inputs)
    assert bound_of(ledger, inputs) is not None
    for each in looked(inputs).candidates:
        assert each.rollback and each.stop_if and each.change and " -> " in each.change
        assert each.needs if each.family in (1, 3) else True


def test_a_run_on_another_host_decides_nothing_here(tmp_path: Path) -> None:
    root = with_entry(tmp_path, "negative-control")
    scoped = RUN + f'scope: {{host: "{"b" * 64}"}}\n'
    write(
        root,
        {
            f"{ROOM}/runs/r2/run.yaml": scoped,
            f"ledger/{SERVICE}/2026/e1.yaml": entry("negative-control").replace(
                pin("r2", RUN), pin("r2", scoped)
            ),
        },
    )
    assert item_of(read(scoped.encode(), f"{ROOM}/runs/r2/run.yaml")).model is not None
    assert "threads-2" in names(looked(asked(root)))


def test_a_gain_that_no_run_can_tell_is_said_and_not_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = asked(bench(tmp_path), measured=100.0)
    proposed = [each.name for each in looked(inputs).candidates]
    assert proposed
    monkeypatch.setattr(candidates, "TELLABLE", 1e9)
    found = looked(inputs)
    assert found.candidates == ()
    told = {each.partition(":")[0] for each in found.said if "% at most, which no run can tell" in each}
    assert told == set(proposed)
