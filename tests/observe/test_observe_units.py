"""systemd units: what they would start, and what only the running system knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.observe.environment_file import environment_file
from hio_validate.observe.refusal import Unobservable
from hio_validate.observe.units import Unit, read_unit


def unit(folder: Path, service: str, name: str = "a.service") -> Unit:
    file = folder / name
    file.write_text("[Unit]\nDescription=x\n[Service]\n" + service + "\n[Install]\nWantedBy=default.target\n")
    return read_unit(file, root=folder)


def test_a_plain_unit(tmp_path: Path) -> None:
    found = unit(tmp_path, "ExecStart=/opt/bin/llama-server -m /m.gguf --port 80")
    assert found.argv == ("/opt/bin/llama-server", "-m", "/m.gguf", "--port", "80")
    assert (found.env, found.unresolved) == ({}, ())


def test_continuations_comments_and_blanks(tmp_path: Path) -> None:
    found = unit(
        tmp_path, "ExecStart = /bin/x \\\n   -a 1 \\\n# a comment\n; another\n   -b 2\n# ExecStart=/bin/no"
    )
    assert found.argv == ("/bin/x", "-a", "1", "-b", "2")


def test_quotes_and_escapes(tmp_path: Path) -> None:
    found = unit(
        tmp_path, r"""ExecStart=/bin/x "two words" 'it"s' a\x20b "tab\there" --j='{"a": 1}' "" \q \;"""
    )
    assert found.argv == ("/bin/x", "two words", 'it"s', "a b", "tab\there", '--j={"a": 1}', "", "\\q", ";")


def test_prefixes(tmp_path: Path) -> None:
    assert unit(tmp_path, "ExecStart=-+/bin/x -a").argv == ("/bin/x", "-a")
    assert unit(tmp_path, "ExecStart=@/bin/x other-name -a").argv == ("/bin/x", "-a")
    assert unit(tmp_path, "Environment=A=1\nExecStart=:/bin/x ${A}").argv == ("/bin/x", "${A}")


def test_specifiers_stay_and_are_noted(tmp_path: Path) -> None:
    found = unit(tmp_path, "ExecStart=%h/bin/x --path %h/m --rate 50%%")
    assert found.argv == ("%h/bin/x", "--path", "%h/m", "--rate", "50%")
    assert found.unresolved == ("a.service:4: %h is filled in by systemd: left as written",)


def test_environment_assignments(tmp_path: Path) -> None:
    found = unit(
        tmp_path,
        'Environment="A=one two" B=2 \'C=3\'\nEnvironment=\nEnvironment=D="x y" E=\nEnvironment=F=1 junk\nExecStart=/bin/x',
    )
    assert found.env == {"D": "x y", "E": "", "F": "1"}
    assert found.unresolved == ("a.service:7: systemd ignores 'junk': it is no NAME=value",)


def test_variables_in_the_command_line(tmp_path: Path) -> None:
    found = unit(
        tmp_path, 'Environment="ARGS=-a 1" N=2\nExecStart=/bin/x $ARGS "${ARGS}" --n=${N} $$5 ${NOPE} $NOPE'
    )
    assert found.argv == ("/bin/x", "-a", "1", "-a 1", "--n=2", "$5", "${NOPE}", "$NOPE")
    assert len(found.unresolved) == 2
    assert "is set nowhere in the unit" in found.unresolved[0]


def test_environment_files(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/one.env").write_text(
        '# comment\n; too\nA=file\nB="two words" # kept out of quotes\nexport C=1\nno equals\n'
    )
    (tmp_path / "etc/two.env").write_text("A=second\n")
    found = unit(
        tmp_path,
        "EnvironmentFile=/etc/one.env\nEnvironmentFile=-/etc/absent.env\nEnvironmentFile=/etc/two.env\n"
        "Environment=A=unit Z=1\nUnsetEnvironment=Z\nExecStart=/bin/x ${A}",
    )
    assert found.env == {"A": "second", "B": "two words# kept out of quotes"}
    assert found.argv == ("/bin/x", "second")
    assert found.unresolved == (
        "one.env:5: systemd ignores 'export C': it is no variable's name",
        "one.env:6: systemd ignores this line: it has no '='",
        "a.service:5: the optional environment file /etc/absent.env is not there",
    )


def test_a_pattern_of_environment_files_and_a_reset(tmp_path: Path) -> None:
    for name in ("b.env", "a.env"):
        (tmp_path / name).write_text(f"LAST={name}\n")
    assert unit(
        tmp_path, "EnvironmentFile=/gone\nEnvironmentFile=\nEnvironmentFile=/*.env\nExecStart=/bin/x"
    ).env == {"LAST": "b.env"}


def test_a_missing_environment_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unobservable) as refused:
        unit(tmp_path, "EnvironmentFile=/etc/gone.env\nExecStart=/bin/x")
    assert refused.value.reason == (
        "a.service:4: the environment file /etc/gone.env is missing: its settings are unknown"
    )


def test_an_environment_file_under_a_specifier_is_noted(tmp_path: Path) -> None:
    found = unit(tmp_path, "EnvironmentFile=%h/.config/x.env\nExecStart=/bin/x")
    assert found.unresolved == (
        "a.service:4: the environment file %h/.config/x.env is not read: its path has a specifier",
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=plain  ", "plain"),
        ("A=two words", "two words"),
        ("A='single \\n $x'", "single \\n $x"),
        ('A="double \\" \\$ \\n"', 'double " $ \\n'),
        ("A=one\\\n two", "one two"),
        ('A="one\ntwo"', "one\ntwo"),
        ('A="a" b', "ab"),
        ('A=a"b c"', 'a"b c"'),
        ("A=\\ x", " x"),
        ("A=$HOME", "$HOME"),
        ("A=x=y", "x=y"),
        ("A=", ""),
        ("A=1\nA=2", "2"),
        (" A = 1", "1"),
    ],
)
def test_values_of_an_environment_file(text: str, value: str) -> None:
    notes: list[str] = []
    assert environment_file(text, "x.env", notes) == {"A": value}
    assert notes == []


PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


@given(st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True), PLAIN))
def test_a_quoted_environment_file_reads_back(env: dict[str, str]) -> None:
    quoted = {
        name: "".join(f"\\{char}" if char in '"\\`$' else char for char in value)
        for name, value in env.items()
    }
    assert environment_file("".join(f'{name}="{value}"\n' for name, value in quoted.items()), "x", []) == env


@given(st.text())
def test_no_environment_file_is_a_traceback(text: str) -> None:
    environment_file(text, "x", [])


def test_drop_ins_in_order_reset_and_add(tmp_path: Path) -> None:
    (tmp_path / "a.service.d").mkdir()
    (tmp_path / "a.service.d/20.conf").write_text("[Service]\nEnvironment=A=20\n")
    (tmp_path / "a.service.d/10.conf").write_text(
        "[Service]\nExecStart=\nExecStart=/bin/new\nEnvironment=A=10 B=10\n"
    )
    (tmp_path / "a.service.d/ignored.txt").write_text("[Service]\nExecStart=/bin/no\n")
    found = unit(tmp_path, "Environment=A=0\nExecStart=/bin/old")
    assert (found.argv, found.env) == (("/bin/new",), {"A": "20", "B": "10"})


def test_two_commands_are_refused_unless_oneshot(tmp_path: Path) -> None:
    with pytest.raises(Unobservable, match=r"several ExecStart= \(a\.service:4 and a\.service:5\)"):
        unit(tmp_path, "ExecStart=/bin/a\nExecStart=/bin/b")
    assert unit(tmp_path, "Type=oneshot\nExecStart=/bin/a\nExecStart=/bin/b").argv == ("/bin/b",)
    assert unit(tmp_path, "ExecStart=/bin/a\nExecStart=\nExecStart=/bin/b").argv == ("/bin/b",)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/usr/bin/bash /opt/run-it.sh", "the launcher /opt/run-it.sh decides"),
        ("%h/bin/run.sh", "the launcher %h/bin/run.sh decides"),
        ("/bin/sh -c 'exec llama-server'", "the launcher /bin/sh decides"),
        ("/usr/bin/docker run image", "docker starts a container"),
    ],
)
def test_a_launcher_makes_argv_unknown(tmp_path: Path, command: str, told: str) -> None:
    found = unit(tmp_path, f"Environment=A=1\nExecStart={command}")
    assert found.argv is None
    assert found.env == {"A": "1"}
    assert any(told in note for note in found.unresolved)


def test_env_before_the_program_is_resolved(tmp_path: Path) -> None:
    found = unit(tmp_path, "ExecStart=/usr/bin/env A=1 B=2 /bin/x -a")
    assert (found.argv, found.env) == (("/bin/x", "-a"), {"A": "1", "B": "2"})


def test_a_wrapper_is_noted(tmp_path: Path) -> None:
    found = unit(tmp_path, "ExecStart=/usr/bin/numactl -N 0 /bin/x")
    assert found.unresolved == ("a.service:4: starts through numactl; its words stand before the engine's",)


@pytest.mark.parametrize(
    ("service", "told"),
    [
        ("Type=simple", "no ExecStart="),
        ('ExecStart=/bin/x "open', 'has a quote " that is not closed'),
        ("EnvironmentFile=relative.env\nExecStart=/bin/x", "is no absolute path"),
        ("ExecStart=-", "names no program"),
    ],
)
def test_what_systemd_refuses(tmp_path: Path, service: str, told: str) -> None:
    with pytest.raises(Unobservable, match=told):
        unit(tmp_path, service)


def test_a_file_that_is_no_unit(tmp_path: Path) -> None:
    for name, content, told in (
        ("a", b"\xff", "not UTF-8 at byte 0"),
        ("b", b"a\0", "NUL"),
        ("c", b"x" * (2 << 20), "larger"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(Unobservable, match=told):
            read_unit(tmp_path / name)
    with pytest.raises(Unobservable, match="cannot be read: No such file"):
        read_unit(tmp_path / "gone.service")


def test_a_command_outside_service_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.service").write_text(
        "[X-Other]\nExecStart=/bin/no\n[Service]\nExecStart=/bin/x\nodd line\n"
    )
    found = read_unit(tmp_path / "a.service")
    assert found.argv == ("/bin/x",)
    assert found.unresolved == ("a.service:5: systemd ignores this line: it has no '='",)
