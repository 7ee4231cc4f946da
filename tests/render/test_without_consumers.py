"""Where a consumer is not installed, a reader of ours says so by its name, and refuses the same."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import programs
from tests.render.rendered import documents, rendered

IMAGE = "registry.example/serve@sha256:" + "5" * 64
PLACE: dict[str, Any] = {
    "host": "0.0.0.0",
    "targets": {"systemd": {"user": "llama"}, "compose": {"image": IMAGE}, "kubernetes": {"image": IMAGE}},
}
HARD = "a \"b\" 'c' $X %h # \\ \u20ac {{ 7 }}"
ENV = {"A": HARD, "NO": "no", "E": ""}


@pytest.fixture
def _only_sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Consumers are looked for in a folder that has sh alone."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sh").symlink_to(os.path.realpath(shutil.which("sh") or "/bin/sh"))
    monkeypatch.setattr(programs, "_PLAIN", {"PATH": str(tmp_path / "bin"), "LC_ALL": "C.UTF-8"})
    yield


@pytest.mark.parametrize(
    ("target", "dialect", "file", "who"),
    [
        ("systemd", None, "hio-tiny.service", "hio's own reader of units (systemd-analyze is not installed)"),
        ("compose", None, "compose.yaml", "hio's own reader of compose (docker-compose is not installed)"),
        ("env", "compose", "compose.env", "hio's own reader of compose (docker-compose is not installed)"),
        ("slurm", None, "job.sbatch", "hio's own reader of sbatch directives (sbatch is not installed), sh"),
    ],
)
@pytest.mark.usefixtures("_only_sh")
def test_our_own_reader_is_named(
    tmp_path: Path, target: str, dialect: str | None, file: str, who: str
) -> None:
    env = {**ENV, "A": "it's # $x"}
    bundle = rendered(tmp_path / "repo", documents([["--x", HARD]], env, PLACE), target, dialect=dialect)
    assert bundle.read_back[file].startswith(who)


@pytest.mark.usefixtures("_only_sh")
def test_our_own_reader_of_units_follows_no_secret_and_still_reads_the_rest(tmp_path: Path) -> None:
    place = PLACE | {"secrets": {"key": "file:/etc/keys/k"}}
    files = documents([["--x", HARD]], {**ENV, "K": "${secret:key}"}, place)
    assert (
        "systemd-analyze is not installed"
        in rendered(tmp_path / "repo", files, "systemd").read_back["hio-tiny.service"]
    )


@pytest.mark.parametrize(
    ("template", "old", "new"),
    [
        ("systemd/unit.j2", "[Install]", "ExecStartPre=/bin/true\n[Install]"),
        ("systemd/unit.j2", "[Install]", "Environment=A=b\nUser=root\n[Install]"),
        ("systemd/unit.j2", "[Install]", "EnvironmentFile=/etc/other\n[Install]"),
        ("systemd/unit.j2", "{{ word | unit_word }}", "'{{ word }}'"),
        ("systemd/environment.j2", "{{ value | environment_file }}", "'{{ value }}'"),
        ("compose/compose.yaml.j2", "{{ word | compose }}", "{{ word | yaml }}"),
        ("compose/compose.yaml.j2", "network_mode: host", "network_mode: host\n    privileged: true"),
        ("slurm/job.sbatch.j2", "set -eu", "id\nset -eu"),
    ],
)
@pytest.mark.usefixtures("_only_sh")
def test_our_own_reader_refuses_what_was_not_meant(tmp_path: Path, template: str, old: str, new: str) -> None:
    own = (Path(__file__).parents[2] / "templates" / template).read_text()
    assert old in own
    files = documents([["--x", HARD]], ENV, PLACE) | {f"templates/{template}": own.replace(old, new)}
    with pytest.raises(CannotRender):
        rendered(tmp_path / "repo", files, template.partition("/")[0])
