"""Every trap of reading YAML: what is refused, with which rule, where, in which words; and what is fine."""

from __future__ import annotations

import pytest

from hio_validate.source import read
from hio_validate.source.characters import LARGEST_DOCUMENT
from tests.source.traps import BOM, DUPLICATES, FINE, FIRST_PLACES, TRAPS, Fine, Trap
from tests.source.yaml_texts import same

MARKS = (BOM[:2], b"\xff\xfe", b"\xfe\xff")


@pytest.mark.parametrize("trap", TRAPS, ids=str)
def test_a_trap_is_refused_at_its_line_and_column(trap: Trap) -> None:
    document = read(trap.raw, "x.yaml")
    assert document.data is None
    assert tuple((fault.rule, fault.line, fault.column) for fault in document.faults) == trap.said


@pytest.mark.parametrize("trap", TRAPS, ids=str)
def test_a_trap_is_told_in_one_short_sentence(trap: Trap) -> None:
    for fault, words in zip(read(trap.raw, "x.yaml").faults, trap.words, strict=True):
        assert words in fault.message
        assert len(fault.message) < 200
        assert "\n" not in fault.message


@pytest.mark.parametrize("trap", DUPLICATES, ids=str)
def test_a_duplicate_key_names_where_the_first_one_stands(trap: Trap) -> None:
    assert tuple(fault.first for fault in read(trap.raw, "x.yaml").faults) == FIRST_PLACES[trap.name]


@pytest.mark.parametrize("fine", FINE, ids=str)
def test_what_only_looks_like_trouble_is_read(fine: Fine) -> None:
    document = read(fine.raw, "x.yaml")
    assert document.faults == ()
    assert same(document.data, fine.data)


def test_names_of_traps_are_unique() -> None:
    names = [each.name for each in (*TRAPS, *FINE)]
    assert len(names) == len(set(names))


def test_a_file_beyond_the_size_is_refused_unread() -> None:
    largest = b"a: x\n" + b"#" * (LARGEST_DOCUMENT - 6) + b"\n"
    assert read(largest, "x.yaml").data == {"a": "x"}
    (fault,) = read(largest + b"\n", "x.yaml").faults
    assert (fault.rule, fault.line, fault.column) == ("syntax-error", 0, 0)
    assert "more than 8,388,608 bytes" in fault.message


@pytest.mark.parametrize("trap", [trap for trap in TRAPS if trap.raw[:2] not in MARKS], ids=str)
def test_a_mark_at_the_beginning_moves_no_position(trap: Trap) -> None:
    faults = read(BOM + trap.raw, "x.yaml").faults
    assert tuple((fault.rule, fault.line, fault.column) for fault in faults) == trap.said
