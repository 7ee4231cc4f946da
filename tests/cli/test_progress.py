"""How far reading a file is: a line now and then where nobody watches, nothing for a short one."""

from __future__ import annotations

import pytest

from hio_validate.cli import progress


def test_a_long_file_tells_a_line_every_few_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    told = progress.Reading("bench.jsonl", 64 << 20)
    for second in range(13):
        now[0] = float(second)
        told((second << 20) * 4)
    told.close()
    assert capsys.readouterr().err.splitlines() == [
        "hio: read 20 of 64 MiB of bench.jsonl",
        "hio: read 40 of 64 MiB of bench.jsonl",
    ]


def test_on_a_terminal_one_line_moves_and_goes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    told = progress.Reading("x" * 300, 64 << 20)
    now[0] = 1.0
    told(32 << 20)
    told.close()
    said = capsys.readouterr().err
    assert said.startswith("\r\x1b[Khio: read 32 of 64 MiB of x") and said.endswith("\r\x1b[K")
    assert "\n" not in said and len(said) <= 80 + 8


def test_what_is_measured_is_told_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    told = progress.Measuring(90)
    for second in range(13):
        told(f"rate-{second}", float(second))
    told.close()
    assert capsys.readouterr().err.splitlines() == [
        "hio: rate-0, 0 of at most 90 s",
        "hio: rate-5, 5 of at most 90 s",
        "hio: rate-10, 10 of at most 90 s",
    ]


def test_on_a_terminal_what_is_measured_is_one_moving_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    told = progress.Measuring(20)
    told("memory-read-1", 1.0)
    told("memory-read-2", 1.1)
    told.close()
    told.close()
    assert capsys.readouterr().err == (
        "\r\x1b[Khio: memory-read-1, 1 of at most 20 s\r\x1b[Khio: memory-read-2, 1 of at most 20 s\r\x1b[K"
    )
