"""llama-bench: five forms of one run are one record, and what cannot be so is told."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.evidence.observed import Observation
from hio_validate.evidence.outcome import Tier
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.llama_bench import LLAMA_BENCH
from tests.importing.results.llama_bench_writer import (
    FORMS,
    as_csv,
    as_json,
    as_jsonl,
    as_sql,
    as_table,
    test_row,
)
from tests.importing.results.reading import SAMPLES, findings, read, source_of

test_row.__test__ = False  # type: ignore[attr-defined]
PP = test_row(512, 0, [400_000_000, 410_000_000, 390_000_000])
TG = test_row(0, 128, [1_200_000_000, 1_250_000_000, 1_220_000_000])


def bench(folder: Path, text: str, skip: bool = False) -> list[Observation]:
    return read(source_of(folder, text, skip), "llama-bench")


def refused(folder: Path, text: str, skip: bool = False) -> str:
    with pytest.raises(CannotImport) as caught:
        bench(folder, text, skip)
    return str(caught.value)


def test_a_row_is_what_the_writer_says(tmp_path: Path) -> None:
    first, second = bench(tmp_path, as_jsonl([PP, TG]))
    assert (first.name, second.name) == ("pp512", "tg128")
    assert first.subject["build"] == "b4567-abc1234"
    assert (first.subject["model"], first.subject["flash_attn"]) == ("models/tiny.gguf", "on")
    assert first.workload == {"prompt_tokens": 512, "generated_tokens": 0, "depth_tokens": 0}
    assert (first.tier, first.at) == (Tier.DRAFT, "2025-06-01T10:00:00Z")
    rate, spread, time, _ = second.metrics
    assert (rate.name, rate.definition, rate.statistic, rate.unit) == (
        "avg_ts", "decode-rate-bench", "mean", "token/s",
    )  # fmt: skip
    assert rate.n == 3 and rate.samples == (106.667, 102.4, 104.918)
    assert (spread.statistic, spread.definition) == ("std", "decode-rate-bench")
    assert (time.definition, time.unit) == ("sample-time-bench", "ns")
    assert time.samples == (1_200_000_000, 1_250_000_000, 1_220_000_000)
    assert first.foreign == {"new_setting": "7", "new_switch": "1"}
    assert findings([first, second]) == []


_TESTS = st.lists(
    st.tuples(
        st.sampled_from([(512, 0), (1, 0), (0, 128), (2048, 256)]),
        st.lists(st.integers(10, 2_000_000).map(lambda us: us * 1000), min_size=1, max_size=5, unique=True),
        st.fixed_dictionaries(
            {
                "n_depth": st.sampled_from([0, 4096]),
                "n_threads": st.integers(1, 64),
                "flash_attn": st.sampled_from([-1, 0, 1]),
                "no_kv_offload": st.booleans(),
                "n_gpu_layers": st.integers(-1, 99),
                "gpu_info": st.sampled_from(["", 'An "A", B; C', "x\\y"]),
                "build_commit": st.sampled_from(["unknown", "abc1234"]),
                "build_number": st.sampled_from([0, 4567]),
                "tensor_split": st.sampled_from(["0.00", "1.00/1.00"]),
            }
        ),
    ),
    min_size=1,
    max_size=5,
)


def without_samples(record: Observation) -> Observation:
    """What is left where a form has no repetitions."""
    kept = [each._replace(n=None, samples=()) for each in record.metrics]
    told = [each for each in record.findings if each.id != "std-contradicts-samples"]
    unknown = tuple(each for each in record.unknown if "repeated" not in each)
    told = [each._replace(line=0) for each in told if each.id != "few-samples"]
    return replace(record, metrics=kept, findings=told, unknown=unknown, line=0)


@given(_TESTS)
def test_all_forms_of_a_run_give_one_record(tests: list[Any]) -> None:
    run = [test_row(*work, samples, **settings) for work, samples, settings in tests]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        told = {form: bench(folder, write(run)) for form, write in FORMS.items()}
        shown = {"n_threads": "threads", "flash_attn": "fa", "no_kv_offload": "nkvo", "tensor_split": "ts"}
        table = bench(
            folder, as_table([each | {"build_commit": run[0]["build_commit"]} for each in run], shown)
        )
    assert [replace(each, line=0, findings=[]) for each in told["json"]] == [
        replace(each, line=0, findings=[]) for each in told["jsonl"]
    ]
    assert [without_samples(each) for each in told["csv"]] == [
        without_samples(each) for each in told["jsonl"]
    ]
    assert [without_samples(each) for each in told["sql"]] == [without_samples(each) for each in told["csv"]]
    for full, rounded in zip(told["jsonl"], table, strict=True):
        assert rounded.workload == full.workload
        differing = {key for key in rounded.subject if full.subject.get(key) != rounded.subject[key]}
        assert differing <= {"build", "model_size_shown", "model_n_params_shown"}
        assert rounded.metrics[0].definition == full.metrics[0].definition
        assert rounded.metrics[0].value == pytest.approx(full.metrics[0].value, abs=0.0051)


def test_records_are_named_alike_in_a_table_and_in_json(tmp_path: Path) -> None:
    run = [PP, test_row(512, 0, [1, 2, 3], n_threads=16), test_row(512, 128, [7, 8, 9], n_depth=4096)]
    names = [each.name for each in bench(tmp_path, as_json(run))]
    assert names == ["pp512", "pp512 n_threads=16", "pp512+tg128@d4096"]
    assert [each.name for each in bench(tmp_path, as_table(run, {"n_threads": "threads"}))] == names


def test_unknown_builds_are_unknown_and_not_0(tmp_path: Path) -> None:
    row = test_row(512, 0, [5, 6, 7], build_commit="unknown", build_number=0)
    (record,) = bench(tmp_path, as_csv([row]))
    assert "build" not in record.subject and "which source was built" in record.unknown
    assert LLAMA_BENCH.generation(source_of(tmp_path, as_csv([row]))) == "csv"
    assert LLAMA_BENCH.generation(source_of(tmp_path, as_csv([PP]))) == "csv of b4567-abc1234"


@pytest.mark.parametrize("name", ["2023.json", "2024.csv", "2023.sql", "fork.md", "page.md", "inf.jsonl"])
def test_generations(name: str) -> None:
    text = (SAMPLES / "llama-bench" / name).read_text(encoding="utf-8")
    expected = json.loads((SAMPLES / "llama-bench" / f"{name}.expected").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        records = bench(Path(folder), text)
    said = [
        [
            each.name,
            each.line,
            [[m.name, m.value] for m in each.metrics],
            [f.id for f in each.findings],
            each.subject,
        ]
        for each in records
    ]
    assert said == expected


def test_a_dump_of_the_database_is_read(tmp_path: Path) -> None:
    kept = sqlite3.connect(":memory:")
    kept.executescript(as_sql([PP, TG]).replace("n_prompt TEXT", "n_prompt INTEGER"))
    dump = "\n".join(kept.iterdump())
    kept.close()
    assert "VALUES('abc1234'" in dump
    told = [each.metrics for each in bench(tmp_path, dump)]
    assert told == [each.metrics for each in bench(tmp_path, as_csv([PP, TG]))]


def test_an_apostrophe_that_the_writer_does_not_double(tmp_path: Path) -> None:
    row = test_row(512, 0, [5, 6, 7], model_filename="it's.gguf")
    assert bench(tmp_path, as_sql([row]))[0].subject["model"] == "it's.gguf"


LOG = "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: A card\n"


@pytest.mark.parametrize("form", FORMS)
def test_log_lines_are_refused_or_skipped_and_told(tmp_path: Path, form: str) -> None:
    text = LOG + FORMS[form]([PP, TG])
    told = refused(tmp_path, text)
    assert "given:1: the line is no data: 'ggml_cuda_init" in told and "--skip-log-lines" in told
    records = bench(tmp_path, text, skip=True)
    assert findings(records) == [("skipped-lines", 1)]
    assert "2 lines are no data" in records[-1].findings[0].message
    assert [each.metrics for each in records] == [
        each.metrics for each in bench(tmp_path, FORMS[form]([PP, TG]))
    ]


def test_log_lines_within_a_printed_array(tmp_path: Path) -> None:
    text = as_json([PP, TG]).replace("  },\n", "  },\nllama_context: warning\n")
    line = text.split("\n").index("llama_context: warning") + 1
    assert f"given:{line}: the line is no data" in refused(tmp_path, text)
    records = bench(tmp_path, text, skip=True)
    assert [each.line for each in records] == [2, line + 1]
    assert findings(records) == [("skipped-lines", line)]


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_was_cut_off_is_refused_at_its_last_line(tmp_path: Path, form: str, skip: bool) -> None:
    text = FORMS[form]([PP, TG]).rstrip()
    first = len(FORMS[form]([PP]).rstrip("]\n \r"))
    for end in {len(text) - 1, len(text) - 7, len(text) - 60, first + 40}:
        cut = text[:end]
        told = refused(tmp_path, cut, skip)
        line = int(told.split(":")[1])
        assert "cut off" in told, (cut[-50:], told)
        begins = cut.rstrip().rfind("  {") if form == "json" else cut.rfind("\n") + 1
        assert cut[:begins].count("\n") + 1 <= line <= cut.count("\n") + 1


def test_a_table_whose_last_row_is_cut_off(tmp_path: Path) -> None:
    text = as_table([PP, TG]).partition("\n\nbuild")[0]
    assert bench(tmp_path, text)[1].name == "tg128"
    assert "given:4: the row has" in refused(tmp_path, text[:-12])


def test_nothing_measured_is_3(tmp_path: Path) -> None:
    for text in (
        as_csv([PP]).split("\n")[0],
        as_sql([PP]).partition("INSERT")[0],
        as_table([PP]).partition("| llama")[0],
    ):
        with pytest.raises(CannotImport) as caught:
            bench(tmp_path, text)
        assert caught.value.code == 3


def test_a_key_twice_and_a_column_twice(tmp_path: Path) -> None:
    text = as_jsonl([PP]).replace('"n_batch": 2048', '"n_batch": 2048, "n_batch": 512')
    assert "given:1: the key n_batch stands twice" in refused(tmp_path, text)
    head = as_csv([PP]).replace("n_ubatch", "n_batch", 1)
    assert "given:1: two columns are called n_batch" in refused(tmp_path, head)


def test_a_decimal_comma(tmp_path: Path) -> None:
    text = ";".join(heads := as_csv([PP]).split("\n")[0].split(","))
    cells = [str(PP[name]) for name in heads]
    cells[heads.index("avg_ts")] = "1280,33"
    told = refused(tmp_path, f"{text}\n{';'.join(cells)}\n")
    assert "given:2: avg_ts is '1280,33', expected a number: a decimal comma is not read" in told


@pytest.mark.parametrize(
    ("change", "kind", "gone"),
    [
        ({"avg_ts": "999.000000"}, "mean-contradicts-samples", {"avg_ts", "stddev_ts"}),
        ({"avg_ns": 5}, "mean-contradicts-samples", {"avg_ns", "stddev_ns"}),
        ({"samples_ts": ["1250", "1251", "1252"]}, "rate-contradicts-counts", {"avg_ts", "avg_ns"}),
        ({"stddev_ts": "9.900000"}, "statistic-contradicts-samples", {"stddev_ts"}),
        ({"stddev_ns": 5_000_000_000}, "std-contradicts-samples", {"stddev_ns"}),
        ({"samples_ns": [0, 1, 2]}, "impossible-value", {"avg_ts", "avg_ns"}),
        ({"avg_ns": 0}, "impossible-value", {"avg_ts", "avg_ns"}),
        ({"avg_ts": "inf"}, "impossible-value", {"avg_ts", "avg_ns"}),
        ({"samples_ns": [1, 2]}, "impossible-value", {"avg_ts", "avg_ns"}),
        ({"n_gen": 0}, "no-work", {"avg_ts", "avg_ns"}),
    ],
)
def test_what_cannot_be_so(tmp_path: Path, change: dict[str, Any], kind: str, gone: set[str]) -> None:
    records = bench(tmp_path, as_jsonl([PP, TG | change]))
    assert (kind, 2) in findings(records)
    assert all(line == 2 for _, line in findings(records))
    assert {"avg_ts", "avg_ns", "stddev_ts", "stddev_ns"} - {each.name for each in records[1].metrics} >= gone
    if kind in ("impossible-value", "no-work"):
        assert records[1].metrics == [] and records[1].tier is Tier.NEEDS_CONTEXT


def test_rate_against_time_without_samples(tmp_path: Path) -> None:
    assert findings(bench(tmp_path, as_csv([PP, TG]))) == []
    wrong = TG | {"avg_ts": "52.3", "stddev_ts": "0.9"}
    assert ("rate-contradicts-counts", 3) in findings(bench(tmp_path, as_csv([PP, wrong])))
    wrapped = TG | {"stddev_ns": 900_000_000}
    records = bench(tmp_path, as_csv([PP, wrapped]))
    assert findings(records) == [("std-contradicts-samples", 3)]
    assert "stddev_ns" not in [each.name for each in records[1].metrics]


def test_few_repetitions_have_no_spread(tmp_path: Path) -> None:
    one = test_row(0, 128, [5_000_000])
    for text in (as_jsonl([PP, one]), as_csv([PP, one])):
        records = bench(tmp_path, text)
        assert [kind for kind, _ in findings(records)] == ["few-samples"]
        assert [each.statistic for each in records[1].metrics] == ["mean", "mean"]


def test_a_row_that_stands_twice_is_told(tmp_path: Path) -> None:
    records = bench(tmp_path, as_jsonl([PP, TG, PP]))
    assert [each.name for each in records] == ["pp512", "tg128", "pp512 #2"]
    assert findings(records) == [("repeated-row", 3)]
    records = bench(tmp_path, as_csv([PP, PP | {"new_setting": 8}]))
    assert [each.name for each in records] == ["pp512", "pp512 new_setting=8"] and findings(records) == []


def test_other_json_is_not_taken_for_it(tmp_path: Path) -> None:
    for text in (
        '{"results": [1], "about": {"build_commit": "x"}}',
        "build_commit,x\n1,2\n",
        "| model | t/s |\n",
    ):
        assert not LLAMA_BENCH.recognises(source_of(tmp_path, text))


def test_a_list_within_an_object_is_named(tmp_path: Path) -> None:
    text = '{"about": 1, "results":\n' + as_json([PP]) + "}"
    assert "given:1: the row has no n_prompt and no n_gen; keep the list under 'results' alone" in refused(
        tmp_path, text
    )


def test_a_row_without_its_head(tmp_path: Path) -> None:
    text = as_table([PP])
    row = text.split("\n")[2]
    assert f"given:{text.count(chr(10)) + 1}: a row of a table whose head is missing" in refused(
        tmp_path, text + row + "\n"
    )
    other = "| test | before | after |\n| --- | --- | --- |\n| pp512 | 5 ± 1 | 6 ± 1 |\n"
    assert len(bench(tmp_path, text + other)) == 1


def test_a_rate_with_a_decimal_comma_is_named_as_it_stands(tmp_path: Path) -> None:
    text = (SAMPLES / "llama-bench/page.md").read_text(encoding="utf-8").replace("90.12", "90,12")
    record = bench(tmp_path, text)[0]
    assert not record.metrics
    assert "t/s is '90,12 ± 0.34', expected 12.34 ± 0.56" in record.findings[0].message


def _numbers(records: list[Observation]) -> list[list[tuple[str, Any]]]:
    return [[(each.name, each.value) for each in record.metrics] for record in records]


@pytest.mark.parametrize(
    "sign", ["+/-", "\u00c2±", "\u252c\u2592", "\ufffd"], ids=["typed", "cp1252", "cp437", "lost"]
)
def test_the_sign_between_rate_and_spread_as_consoles_show_it(tmp_path: Path, sign: str) -> None:
    table = as_table([PP, TG])
    assert "±" in table and _numbers(bench(tmp_path, table.replace("±", sign))) == _numbers(
        bench(tmp_path, table)
    )


def test_a_coloured_table_is_the_same_table(tmp_path: Path) -> None:
    table = as_table([PP, TG])
    coloured = "".join(f"\x1b[32m{line}\x1b[0m\x1b[K\n" for line in table.splitlines())
    assert _numbers(bench(tmp_path, coloured)) == _numbers(bench(tmp_path, table))


def _without_bars(table: str) -> str:
    return "".join(line.strip().strip("|").strip() + "\n" for line in table.splitlines())


def test_a_table_copied_from_a_rendered_page_has_no_outer_bars(tmp_path: Path) -> None:
    table = as_table([PP, TG])
    bare = _without_bars(table)
    assert not any(line.startswith("|") for line in bare.splitlines())
    between = bare.replace("build:", "ggml_vulkan: 0 = a | uma: 0 | fp16: 1\nbuild:")
    for text in (bare, between):
        assert _numbers(bench(tmp_path, text)) == _numbers(bench(tmp_path, table))
        assert bench(tmp_path, text)[0].subject["build"] == "b4567-abc1234"


@pytest.mark.parametrize("less", [1, 3, 12])
def test_a_table_without_bars_that_is_cut_is_refused_at_its_last_line(tmp_path: Path, less: int) -> None:
    rows = _without_bars(as_table([PP, TG])).split("\n\n")[0].split("\nbuild:")[0].rstrip("\n")
    last = len(rows.splitlines())
    assert len(bench(tmp_path, rows + "\n")) == 2
    assert f":{last}:" in refused(tmp_path, rows[:-less])


def test_lines_of_a_log_between_the_rows_of_a_table(tmp_path: Path) -> None:
    table = as_table([PP, TG])
    rows = [line for line in table.splitlines() if "±" in line]
    parted = table.replace(rows[1], f"llama_kv_cache: size = 256 MiB\n{rows[1]}")
    assert "--skip-log-lines" in refused(tmp_path, parted)
    assert _numbers(bench(tmp_path, parted, skip=True)) == _numbers(bench(tmp_path, table))


def test_a_setting_of_2024_is_the_same_from_json_and_from_csv(tmp_path: Path) -> None:
    row = as_json([PP]).replace('"use_mmap"', '"defrag_thold": -1.000000, "use_mmap"', 1)
    (record,) = bench(tmp_path, row)
    assert record.subject["defrag_thold"] == -1.0 and "defrag_thold" not in record.foreign
