"""Every dialect, read by its real consumer: what was written is what is read, for 2,000 values and more at once."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from hio_validate.observe.environment_file import environment_file as our_environment_file
from hio_validate.render.bundle import CannotRender
from hio_validate.render.carrying import CannotCarry
from hio_validate.render.consumers import docker as our_docker
from hio_validate.render.consumers import kubernetes as our_kubernetes
from hio_validate.render.consumers import systemd
from hio_validate.render.consumers.shell import assignments
from hio_validate.render.dialects import (
    compose,
    compose_env_file,
    docker_env_file,
    environment_file,
    kubernetes,
    llama_swap,
    shell,
    unit,
    yaml11,
)
from tests.render import consumers
from tests.render.values import carried

Quote = Callable[[str], str]
Read = Callable[[Path, Sequence[str]], list[str]]
"""What a consumer reads in a file that writes these quoted values, in their order."""


def _needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: its dialect was not read by it")


def _file(folder: Path, quoted: Sequence[str]) -> Path:
    file = folder / "values.env"
    file.write_bytes("".join(f"V{index}={each}\n" for index, each in enumerate(quoted)).encode())
    return file


def _in_order(read: dict[str, str], count: int) -> list[str]:
    assert read.keys() == {f"V{index}" for index in range(count)}
    return [read[f"V{index}"] for index in range(count)]


def _systemd(folder: Path, quoted: Sequence[str]) -> list[str]:
    library = consumers.systemd_library()
    if library is None:
        pytest.skip("libsystemd-shared is not installed: EnvironmentFile was not read by systemd")
    return _in_order(consumers.systemd_environment(library, _file(folder, quoted)), len(quoted))


def _our_systemd(folder: Path, quoted: Sequence[str]) -> list[str]:
    ignored: list[str] = []
    read = our_environment_file(_file(folder, quoted).read_bytes().decode(), "values.env", ignored)
    assert not ignored
    return _in_order(read, len(quoted))


def _unit(lines: str) -> systemd.Read:
    _needs("systemd-analyze")
    return systemd.read("it.service", f"[Service]\nType=oneshot\n{lines}ExecStart=/bin/it\n", ["/bin/it"])


def _unit_words(folder: Path, quoted: Sequence[str]) -> list[str]:
    begins = range(0, len(quoted), 50)
    read = _unit("".join(f"ExecStart=/bin/it {' '.join(quoted[begin : begin + 50])}\n" for begin in begins))
    library = consumers.systemd_library()
    assert library is not None, "systemd-analyze is nothing without its library"
    return [
        word for line in read.commands["ExecStart"] for word in consumers.systemd_filled_in(library, line)[1:]
    ]


def _unit_assignments(folder: Path, quoted: Sequence[str]) -> list[str]:
    lines = "".join(
        f"Environment={each.replace('NAME', f'V{index}', 1)}\n" for index, each in enumerate(quoted)
    )
    return [each.partition("=")[2] for each in _unit(lines).settings["Environment"]]


def _shell(name: str) -> Read:
    def read(folder: Path, quoted: Sequence[str]) -> list[str]:
        _needs(name)
        names = [f"V{index}" for index in range(len(quoted))]
        return list(
            consumers.sh_environment(_file(folder, quoted), names, consumers.installed(name)).values()
        )

    return read


def _our_shell(folder: Path, quoted: Sequence[str]) -> list[str]:
    return _in_order(assignments(_file(folder, quoted).read_bytes().decode(), "values.env"), len(quoted))


def _docker(folder: Path, quoted: Sequence[str]) -> list[str]:
    _needs("docker")
    return _in_order(consumers.docker_environment(_file(folder, quoted)), len(quoted))


def _our_docker(folder: Path, quoted: Sequence[str]) -> list[str]:
    return _in_order(
        our_docker.env_file(_file(folder, quoted).read_bytes().decode(), "values.env"), len(quoted)
    )


def _compose_file(folder: Path, service: str) -> dict[str, str]:
    _needs("docker-compose")
    (folder / "compose.yaml").write_bytes(f"services:\n  it:\n    image: image\n{service}".encode())
    return consumers.compose_environment(folder)


def _compose_env_file(folder: Path, quoted: Sequence[str]) -> list[str]:
    _file(folder, quoted)
    return _in_order(_compose_file(folder, "    env_file: values.env\n"), len(quoted))


def _compose(folder: Path, quoted: Sequence[str]) -> list[str]:
    lines = "".join(f"      V{index}: {each}\n" for index, each in enumerate(quoted))
    return _in_order(_compose_file(folder, f"    environment:\n{lines}"), len(quoted))


def _yaml(loader: type[yaml.SafeLoader]) -> Read:
    return lambda folder, quoted: list(yaml.load("".join(f"- {each}\n" for each in quoted), loader))


def _llama_swap(folder: Path, quoted: Sequence[str]) -> list[str]:
    """llama-swap is no package: its YAML is read by PyYAML, its cmd by shlex of Python."""
    cmd = yaml.safe_load('cmd: "it ' + " \\\n  ".join(quoted) + '"\n')["cmd"]
    assert "\n" not in cmd and "${" not in cmd
    return shlex.split(cmd)[1:]


def _kubernetes(folder: Path, quoted: Sequence[str]) -> list[str]:
    """Its YAML is read by kubectl with Kubernetes' own types, which needs no cluster; `$(...)` by our own reader."""
    _needs("kubectl")
    args = "".join(f"    - {each}\n" for each in quoted)
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: it}}\nspec:\n  containers:\n  - name: it\n    args:\n{args}"
    (folder / "pod.yaml").write_bytes(pod.encode())
    words = [
        consumers.installed("kubectl"),
        "label",
        "--local",
        "-f",
        str(folder / "pod.yaml"),
        "a=b",
        "-o",
        "json",
    ]
    said = subprocess.run(words, env={"HOME": str(folder)}, capture_output=True, check=True)
    (container,) = json.loads(said.stdout)["spec"]["containers"]
    return [our_kubernetes.expanded(each) for each in container["args"]]


def _one_line(value: str) -> str:
    """systemd-analyze shows variables without quotes: one with a line feed could not be told from two lines."""
    if "\n" in value:
        raise CannotCarry("shown on several lines")
    return unit.assignment("NAME", value)


DIALECTS: dict[str, tuple[Quote, Read]] = {
    "EnvironmentFile, systemd": (environment_file.quote, _systemd),
    "EnvironmentFile, ours": (environment_file.quote, _our_systemd),
    "ExecStart, systemd-analyze": (unit.word, _unit_words),
    "Environment, systemd-analyze": (_one_line, _unit_assignments),
    "sh": (shell.quote, _shell("sh")),
    "dash": (shell.quote, _shell("dash")),
    "bash": (shell.quote, _shell("bash")),
    "sh, ours": (shell.quote, _our_shell),
    "--env-file, docker": (docker_env_file.quote, _docker),
    "--env-file, ours": (docker_env_file.quote, _our_docker),
    "env_file, docker-compose": (compose_env_file.quote, _compose_env_file),
    "compose, docker-compose": (compose.quote, _compose),
    "YAML 1.1, PyYAML": (yaml11.quote, _yaml(yaml.SafeLoader)),
    "YAML 1.1, libyaml": (yaml11.quote, _yaml(yaml.CSafeLoader)),
    "llama-swap cmd, ours": (llama_swap.word, _llama_swap),
    "llama-swap text, PyYAML": (llama_swap.text, _yaml(yaml.SafeLoader)),
    "args, kubectl": (kubernetes.quote, _kubernetes),
    "JSON": (lambda value: json.dumps(value), lambda folder, quoted: [json.loads(each) for each in quoted]),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_consumer_reads_what_was_meant(tmp_path: Path, dialect: str) -> None:
    quote, read = DIALECTS[dialect]
    pairs = carried(quote)
    found = read(tmp_path, [quoted for _, quoted in pairs])
    other = [(value, each) for (value, _), each in zip(pairs, found, strict=True) if each != value]
    assert not other, f"{len(other)} of {len(pairs)}: {other[:3]!r:.500}"


WRONG: list[tuple[str, Quote]] = [
    ("EnvironmentFile, systemd", lambda value: f'"{value}"'),
    ("EnvironmentFile, systemd", lambda value: value),
    ("EnvironmentFile, systemd", lambda value: environment_file.quote(value.replace("%", "%%"))),
    ("EnvironmentFile, systemd", lambda value: environment_file.quote(value).replace("\n", "\\n")),
    ("ExecStart, systemd-analyze", lambda value: unit.word(value).replace("%%", "%")),
    ("ExecStart, systemd-analyze", lambda value: unit.word(value).replace("$$", "$")),
    ("ExecStart, systemd-analyze", lambda value: f'"{value}"'),
    ("Environment, systemd-analyze", lambda value: _one_line(value).replace("$", "$$")),
    ("sh", lambda value: '"' + value.replace('"', '\\"') + '"'),
    ("--env-file, docker", lambda value: shell.quote(docker_env_file.quote(value))),
    ("env_file, docker-compose", lambda value: f"'{value}'"),
    ("env_file, docker-compose", lambda value: value),
    ("compose, docker-compose", yaml11.quote),
    ("YAML 1.1, PyYAML", lambda value: value or '""'),
    ("YAML 1.1, PyYAML", lambda value: value if value.isalnum() and value.isascii() else yaml11.quote(value)),
    ("YAML 1.1, PyYAML", lambda value: json.dumps(value)),
    ("llama-swap cmd, ours", lambda value: yaml11.inside(value)),
    ("args, kubectl", yaml11.quote),
]
"""Quoting that somebody might believe in, by dialect."""


@pytest.mark.parametrize(("dialect", "quote"), WRONG)
def test_wrong_quoting_is_found_by_the_consumer(tmp_path: Path, dialect: str, quote: Quote) -> None:
    """It refuses the file, or reads something else."""
    right, read = DIALECTS[dialect]
    values = [value for value, _ in carried(right)]
    try:
        found = read(tmp_path, [quote(value) for value in values])
    except (CannotRender, AssertionError, ValueError, yaml.YAMLError, subprocess.CalledProcessError):
        return
    assert found != values
