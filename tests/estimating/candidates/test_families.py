"""The seven hint families: each mechanism where it is there, and nothing where nothing says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from hio_validate.estimating.bounds.ledger import Ledger, bound_of, terms_of
from hio_validate.estimating.candidates.generated_code import find as generated
from hio_validate.estimating.candidates.mechanism import Found, Seen
from hio_validate.estimating.candidates.profiled import is_flat, share_of
from hio_validate.models.estimate import Amount
from hio_validate.models.profile import Profile
from hio_validate.source import read
from hio_validate.source.dump import dump
from tests.estimating.candidates.workbench import (
    LENGTHS,
    STACK,
    asked,
    bench,
    looked,
    named,
    names,
    profile,
)
from tests.estimating.tiny import CEILINGS, changed
from tests.small_repo import ROOM, write


def with_option(root: Path, option: str, value: str) -> Path:
    """The stack with one more argument."""
    write(root, {f"{ROOM}/stacks/base.yaml": STACK + f'      - ["{option}", "{value}"]\n'})
    return root


class TestDrafting:
    def test_a_stated_acceptance_gives_the_tokens_of_a_pass(self, tmp_path: Path) -> None:
        found = named(
            looked(asked(bench(tmp_path), stated={"acceptance": 1.0, "draft-tokens": 3.0})), "draft-ngram-mod"
        )
        assert found.confidence == "medium"
        assert "4 tokens for one reading of the weights where 100 % are accepted" in found.mechanism
        assert (
            found.needs[1]
            == "a fixture like tides that says draft: {min: ..., max: ...}; hio plan new writes one"
        )
        assert found.change == "none -> ngram-mod" and found.factor == "server.spec-type"

    def test_the_break_even_counts_what_arithmetic_of_a_longer_pass_costs(self, tmp_path: Path) -> None:
        """Arithmetic at a tenth of the rate: four tokens a pass take longer than the weights, so that few accepted ones lose."""
        slow = changed(CEILINGS)
        slow["rates"]["matmul-f32-1"] |= {"value": 0.15, "low": 0.15, "high": 0.15, "samples": [0.15]}
        quick = named(looked(asked(bench(tmp_path / "quick"))), "draft-ngram-mod")
        root = bench(tmp_path / "slow")
        write(root, {"manifests/ceilings/lab-host.yaml": dump(slow)})
        assert "none of the drafted tokens is accepted" in quick.stop_if
        assert "draft-ngram-mod" not in names(looked(asked(root, stated={"acceptance": 0.1})))

    def test_what_drafts_already_is_not_told_to_draft(self, tmp_path: Path) -> None:
        root = with_option(bench(tmp_path), "--spec-type", "ngram-simple")
        assert not [each for each in names(looked(asked(root))) if each.startswith("draft")]

    def test_prefill_drafts_nothing(self, tmp_path: Path) -> None:
        assert not [
            each for each in names(looked(asked(bench(tmp_path), "prefill_tps"))) if each.startswith("draft")
        ]


class TestMicrobatch:
    def prefilling(self, root: Path, **more: float) -> list[str]:
        """Memory is slow enough that reading the weights bounds prefill."""
        bench(root, threads={1: 5.0})
        return names(looked(asked(root, "prefill_tps", stated=more)))

    def test_a_prompt_of_several_passes_is_read_in_fewer(self, tmp_path: Path) -> None:
        bench(tmp_path, threads={1: 5.0})
        found = named(looked(asked(tmp_path, "prefill_tps")), "microbatch-512")
        assert found.mechanism == "read the weights 1 times for a prompt of 300 tokens, not 5 times"
        assert found.gain_percent.value > 100

    def test_a_prompt_of_one_pass_gains_nothing(self, tmp_path: Path) -> None:
        assert "weights-q8_0" in self.prefilling(tmp_path, **{"prompt-tokens": 60.0})
        assert not [each for each in names(looked(asked(tmp_path, "prefill_tps", stated={"prompt-tokens": 60.0})))
                    if each.startswith("microbatch")]  # fmt: skip

    def test_the_logical_batch_is_the_most(self, tmp_path: Path) -> None:
        assert "microbatch-512" in self.prefilling(tmp_path, **{"prompt-tokens": 900.0})


class TestRepresentation:
    def test_only_the_bytes_of_k_can_go(self, tmp_path: Path) -> None:
        found = named(looked(asked(bench(tmp_path))), "k-q8_0")
        kv_share = found.share_percent.value / 100
        # K is half of what is read; q8_0 has 34 bytes for 32 numbers of 2 bytes each
        saved = kv_share * 0.5 * (1 - 34 / 64)
        assert found.gain_percent.value == pytest.approx(100 * saved / (1 - saved), rel=1e-3)
        assert any("quality gate" in need for need in found.needs)
        assert found.route == "quantise-and-evaluate"

    def test_v_waits_for_flash_attention(self, tmp_path: Path) -> None:
        found = looked(asked(bench(tmp_path / "off")))
        assert "v-q8_0" not in names(found)
        assert any("needs server.flash-attn on, which is off" in each for each in found.said)
        on = with_option(bench(tmp_path / "on"), "--flash-attn", "on")
        assert "v-q8_0" in names(looked(asked(on)))

    def test_what_is_small_already_stays(self, tmp_path: Path) -> None:
        small = with_option(bench(tmp_path), "--cache-type-k", "q8_0")
        assert "k-q8_0" not in names(looked(asked(small)))


class TestReuse:
    def test_no_caching_without_cold_and_warm_runs(self, tmp_path: Path) -> None:
        found = looked(asked(bench(tmp_path), "ttft_ms"))
        assert "prefix-cache" not in names(found)
        assert any(each.startswith("a cold run and a warm run of tides on base") for each in found.missing)

    def test_a_rate_of_decode_gains_nothing_by_it(self, tmp_path: Path) -> None:
        assert not looked(asked(bench(tmp_path), "decode_tps")).missing


class TestThreads:
    def test_bandwidth_that_one_thread_saturates_needs_no_second(self, tmp_path: Path) -> None:
        found = looked(asked(bench(tmp_path, threads={1: 50.0, 2: 51.0})))
        assert not [each for each in names(found) if each.startswith("threads")]
        assert any(
            "memory-read with 1 is 98 % of the most that 1, 2 threads reached" in each for each in found.said
        )

    def test_the_best_number_of_threads_is_proposed_and_not_the_most(self, tmp_path: Path) -> None:
        found = looked(asked(bench(tmp_path, threads={1: 50.0, 2: 80.0, 4: 70.0})))
        assert "threads-2" in names(found)
        assert named(found, "threads-2").gain_percent.value == pytest.approx(43.96, abs=0.01)

    def test_one_measured_number_of_threads_says_nothing_of_others(self, tmp_path: Path) -> None:
        found = looked(asked(bench(tmp_path, threads={1: 50.0})))
        assert not [each for each in names(found) if each.startswith("threads")]
        assert any(
            each.startswith("memory-read with 1 and with other numbers of threads") for each in found.missing
        )


class TestKernels:
    """The engine's own kernels read 20 MB/s with one thread where memory gives 50: their arithmetic bounds reading the weights."""

    def measured(self, root: Path, **more: tuple[str, float, int, int]) -> Path:
        """Rates of products of f16 by name: (quantity, rate, threads, vectors)."""
        bench(root)
        ceilings = changed(CEILINGS)
        for name, (quantity, value, threads, vectors) in {"one": ("matvec", 20.0, 1, 1), **more}.items():
            ceilings["rates"][name] = {
                "quantity": quantity, "value": value, "unit": "MB/s" if quantity == "matvec" else "MFLOP/s",
                "threads": threads, "vectors": vectors, "dtype": "f16", "method": "products",
            }  # fmt: skip
        write(root, {"manifests/ceilings/lab-host.yaml": dump(ceilings)})
        return root

    def test_threads_are_proposed_by_what_the_kernel_makes_of_them(self, tmp_path: Path) -> None:
        root = self.measured(tmp_path, two=("matvec", 38.0, 2, 1))
        assert "2 reach 1.90 times the matvec of 1" in named(looked(asked(root)), "threads-2").mechanism

    def test_threads_of_a_pass_of_several_tokens_are_those_of_its_own_kernel(self, tmp_path: Path) -> None:
        root = self.measured(
            tmp_path, two=("matvec", 38.0, 2, 1), few=("matvec", 10.0, 1, 4), few_two=("matvec", 10.1, 2, 4)
        )
        found = looked(asked(with_option(root, "--parallel", "4"), concurrency=4))
        assert not [each for each in names(found) if each.startswith("threads")]
        assert any(each.startswith("matvec with 1 is 99 % of the most") for each in found.said)

    def test_drafting_says_what_a_pass_that_verifies_takes(self, tmp_path: Path) -> None:
        root = self.measured(tmp_path, few=("matvec", 10.0, 1, 4))
        found = named(looked(asked(root, stated={"acceptance": 1.0, "draft-tokens": 3.0})), "draft-ngram-mod")
        assert "4 tokens of a pass that takes 2.02 times as long where 100 % are accepted" in found.mechanism
        assert found.gain_percent.value == pytest.approx(98, rel=0.01)

    def test_fewer_bytes_gain_what_the_kernel_makes_of_them(self, tmp_path: Path) -> None:
        unknown = named(looked(asked(self.measured(tmp_path))), "weights-q8_0")
        assert (
            "what the engine's kernels make of q8_0 is not known, and their arithmetic is the limit"
            in unknown.mechanism
        )


def said_of(*parts: tuple[str, int, str, str | None]) -> tuple[list[str], list[str]]:
    """The mechanisms of family 7, and what is said in their place."""
    document = _read(*parts)
    seen, found = _Profiled(document), Found()
    generated(seen, found)
    return [each.name for each in found.mechanisms], found.said


def _read(*parts: tuple[str, int, str, str | None]) -> Profile:
    from hio_validate.repo import item_of

    item = item_of(read(dump(profile(*parts)), f"{ROOM}/profiles/perf-1.yaml"))
    assert item.model is not None, item.refused
    model: Profile = item.model
    return model


class _Profiled(Seen):
    """Only a profile."""

    def __init__(self, document: Profile) -> None:
        self.document = document

    @property
    def profile(self) -> Profile:
        return self.document


class TestGeneratedCode:
    def test_only_where_arithmetic_is_the_largest_part(self) -> None:
        assert said_of(("vec_dot", 60, "arithmetic", "weights"), ("rest", 40, "other", None)) == (
            ["code-vec_dot"],
            [],
        )

    def test_nothing_where_data_movement_dominates(self) -> None:
        mechanisms, said = said_of(("vec_dot", 40, "arithmetic", None), ("memcpy", 30, "data-movement", None),
                                   ("load", 30, "set-up", None))  # fmt: skip
        assert not mechanisms
        assert "set-up and data movement are 60 % of the profile perf-1" in said[0]

    @pytest.mark.parametrize(("bound_by", "proposed"), [("compute", ["code-vec_dot"]), ("memory", [])])
    def test_reading_whose_arithmetic_is_the_limit_is_arithmetic(
        self, bound_by: str, proposed: list[str]
    ) -> None:
        class Bounded(_Profiled):
            def bounded_by(self, term: str) -> str | None:
                return bound_by if term == "weights" else None

        found = Found()
        parts = [("vec_dot", 70, "data-movement", "weights"), ("memcpy", 30, "data-movement", None)]
        generated(Bounded(_read(*parts)), found)
        assert [each.name for each in found.mechanisms] == proposed

    def test_nothing_where_the_largest_part_is_something_else(self) -> None:
        mechanisms, said = said_of(("barrier", 60, "waiting", None), ("vec_dot", 40, "arithmetic", None))
        assert not mechanisms and "most of the profile perf-1 is waiting (60 %), not arithmetic" in said[0]

    def test_nothing_where_the_largest_part_is_none_of_the_arithmetic(self) -> None:
        mechanisms, said = said_of(
            ("barrier", 40, "waiting", None), ("dot", 30, "arithmetic", None), ("mul", 30, "arithmetic", None)
        )
        assert not mechanisms and "the largest part of the profile perf-1 is barrier (waiting)" in said[0]

    def test_a_flat_profile_gets_no_hotspot_and_several_small_ones(self) -> None:
        parts = [(f"f{each}", 5, "arithmetic", None) for each in range(20)]
        mechanisms, said = said_of(*parts)
        assert mechanisms == ["code-f0", "code-f1", "code-f2"]
        assert (
            "is flat: its largest part, f0, has 5 %" in said[0] and "look higher in the call graph" in said[0]
        )

    def test_no_samples_say_nothing(self) -> None:
        assert said_of(("vec_dot", 0, "arithmetic", None)) == ([], [])

    def test_without_a_profile_nothing_of_it_is_proposed(self, tmp_path: Path) -> None:
        assert not [each for each in looked(asked(bench(tmp_path))).candidates if each.family in (4, 7)]


class TestProfiles:
    def test_a_tenth_is_no_hotspot_and_more_is_one(self) -> None:
        assert is_flat(_read(*[(f"f{each}", 10, "other", None) for each in range(10)]))
        assert not is_flat(_read(("f", 11, "other", None), *[(f"g{each}", 10, "other", None) for each in range(8)],
                                 ("h", 9, "other", None)))  # fmt: skip

    def test_few_samples_make_a_wide_share(self) -> None:
        few = _read(("f", 5, "other", None), ("g", 5, "other", None))
        many = _read(("f", 5000, "other", None), ("g", 5000, "other", None))
        wide, narrow = share_of(few, few.parts[:1]), share_of(many, many.parts[:1])
        assert wide is not None and narrow is not None
        assert wide.value == narrow.value == 0.5
        assert wide.high - wide.low > 10 * (narrow.high - narrow.low)

    def test_logging_is_lowered_by_the_setting_that_the_engine_has(self, tmp_path: Path) -> None:
        parts = [("common_log_add", 20, "other", None), ("ggml_vec_dot_f16", 80, "arithmetic", "weights")]
        found = named(looked(asked(bench(tmp_path, profile(*parts)))), "less-logging")
        assert (found.factor, found.family) == (None, 4), "a level of logging is no factor of a plan"
        assert found.change == "server.verbosity 3 -> server.verbosity 2"
        assert found.gain_percent.value == pytest.approx(25.0)

    def test_a_logarithm_is_no_log(self, tmp_path: Path) -> None:
        parts = [("ggml_log_softmax", 20, "arithmetic", None), ("__logf_fma", 20, "arithmetic", None),
                 ("vec_dot", 60, "arithmetic", "weights")]  # fmt: skip
        assert "less-logging" not in names(looked(asked(bench(tmp_path, profile(*parts)))))

    def test_copies_that_a_profile_shows_are_bounded_by_their_share(self, tmp_path: Path) -> None:
        parts = [("__memmove_avx", 8, "data-movement", None), ("vec_dot", 92, "arithmetic", "weights")]
        found = named(looked(asked(bench(tmp_path, profile(*parts)))), "fewer-copies")
        assert found.factor is None and found.share_of == "profile"
        assert found.gain_percent.value == pytest.approx(100 * 8 / 92)


def test_a_ledger_without_terms_gives_nothing(tmp_path: Path) -> None:
    from hio_validate.estimating.candidates import looked_at

    inputs = asked(bench(tmp_path))
    assert bound_of(terms_of(inputs), inputs) is not None
    assert not looked_at(inputs, Ledger(), None).candidates
    assert LENGTHS and isinstance(inputs.stated["prompt-tokens"], Amount)
