"""Every dialect, read by its real consumer: what was written is what is read, for 2,000 values and more at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hio_validate.observe.environment_file import environment_file as our_reader
from hio_validate.render.carrying import CannotCarry
from hio_validate.render.consumers import systemd
from hio_validate.render.consumers.shell import assignments
from hio_validate.render.dialects import (
    compose,
    compose_env_file,
    docker_env_file,
    environment_file,
    shell,
    unit,
    yaml11,
)
from tests.render import consumers
from tests.render.values import carried


def _needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: its dialect was not read by it")


def _file(folder: Path, quote: Callable[[str], str]) -> tuple[Path, dict[str, str]]:
    """A file of assignments, and what it should say."""
    pairs = carried(quote)
    file = folder / "values.env"
    text = "".join(f"V{index}={quoted}\n" for index, (_, quoted) in enumerate(pairs))
    file.write_bytes(text.encode())
    return file, {f"V{index}": value for index, (value, _) in enumerate(pairs)}


def _refuse_difference(read: Mapping[Any, str], meant: Mapping[Any, str]) -> None:
    other = {
        name: (meant.get(name), read.get(name))
        for name in {**meant, **read}
        if read.get(name) != meant.get(name)
    }
    assert not other, f"{len(other)} of {len(meant)}: {list(other.items())[:3]!r:.500}"


def test_systemd_reads_its_environment_file(tmp_path: Path) -> None:
    library = consumers.systemd_library()
    if library is None:
        pytest.skip("libsystemd-shared is not installed: EnvironmentFile was not read by systemd")
    file, meant = _file(tmp_path, environment_file.quote)
    _refuse_difference(consumers.systemd_environment(library, file), meant)


def test_our_reader_reads_the_environment_file_of_systemd(tmp_path: Path) -> None:
    file, meant = _file(tmp_path, environment_file.quote)
    ignored: list[str] = []
    _refuse_difference(our_reader(file.read_bytes().decode(), "values.env", ignored), meant)
    assert not ignored


def _unit(lines: str) -> str:
    return f"[Service]\nType=oneshot\n{lines}"


def test_systemd_reads_the_words_of_a_command_line() -> None:
    _needs("systemd-analyze")
    library = consumers.systemd_library()
    assert library is not None, "systemd-analyze is nothing without its library"
    pairs = carried(unit.word)
    lines = "".join(
        "ExecStart=/bin/it " + " ".join(quoted for _, quoted in pairs[begin : begin + 50]) + "\n"
        for begin in range(0, len(pairs), 50)
    )
    read = systemd.read("it.service", _unit(lines), ["/bin/it"]).commands["ExecStart"]
    words = [word for line in read for word in consumers.systemd_filled_in(library, line)[1:]]
    assert len(words) == len(pairs)
    _refuse_difference(dict(enumerate(words)), {index: value for index, (value, _) in enumerate(pairs)})


def test_systemd_reads_assignments_in_a_unit() -> None:
    _needs("systemd-analyze")
    pairs = carried(lambda value: unit.assignment("NAME", _one_line(value)))
    lines = "".join(
        f"Environment={quoted.replace('NAME', f'V{index}', 1)}\n" for index, (_, quoted) in enumerate(pairs)
    )
    read = systemd.read("it.service", _unit(f"{lines}ExecStart=/bin/it\n"), ["/bin/it"]).settings[
        "Environment"
    ]
    _refuse_difference(
        dict(each.split("=", 1) for each in read),
        {f"V{index}": value for index, (value, _) in enumerate(pairs)},
    )


def _one_line(value: str) -> str:
    """systemd-analyze shows variables without quotes: one with a line feed could not be told from two lines."""
    if "\n" in value:
        raise CannotCarry("shown on several lines")
    return value


@pytest.mark.parametrize("name", ["sh", "dash", "bash"])
def test_a_shell_reads_its_file(tmp_path: Path, name: str) -> None:
    _needs(name)
    file, meant = _file(tmp_path, shell.quote)
    _refuse_difference(consumers.sh_environment(file, list(meant), consumers.installed(name)), meant)
    assert assignments(file.read_bytes().decode(), "values.env") == meant


def test_docker_reads_its_env_file(tmp_path: Path) -> None:
    _needs("docker")
    file, meant = _file(tmp_path, docker_env_file.quote)
    _refuse_difference(consumers.docker_environment(file), meant)


def test_compose_reads_its_env_file(tmp_path: Path) -> None:
    _needs("docker-compose")
    _, meant = _file(tmp_path, compose_env_file.quote)
    service = {"services": {"it": {"image": "image", "env_file": "values.env"}}, "version": "2.4"}
    (tmp_path / "compose.yaml").write_text(json.dumps(service))
    _refuse_difference(consumers.compose_environment(tmp_path), meant)


def test_compose_reads_its_yaml(tmp_path: Path) -> None:
    _needs("docker-compose")
    pairs = carried(compose.quote)
    lines = "".join(f"      V{index}: {quoted}\n" for index, (_, quoted) in enumerate(pairs))
    text = f'version: "2.4"\nservices:\n  it:\n    image: image\n    environment:\n{lines}'
    (tmp_path / "compose.yaml").write_bytes(text.encode())
    meant = {f"V{index}": value for index, (value, _) in enumerate(pairs)}
    _refuse_difference(consumers.compose_environment(tmp_path), meant)


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader], ids=["PyYAML", "libyaml"])
def test_a_reader_of_yaml_1_1_reads_text(loader: type[yaml.SafeLoader]) -> None:
    pairs = carried(yaml11.quote)
    read = yaml.load("".join(f"- {quoted}\n" for _, quoted in pairs), loader)
    assert read == [value for value, _ in pairs]
