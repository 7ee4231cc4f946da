"""The other targets: each says what the stack says, or there is no bundle; and what each cannot say is refused."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hio_validate.render.bundle import Bundle, CannotRender
from tests.render.rendered import documents, rendered, text

IMAGE = "registry.example/serve/llama@sha256:" + "5" * 64
HARD = 'a b "c" \'d\' $HOME $(id) $$ %h %% # ; \\ \u20ac {{ 7 }} {"k": ["$v"]} <<'
PLACE: dict[str, Any] = {
    "host": "0.0.0.0",
    "targets": {"compose": {"image": IMAGE}, "kubernetes": {"image": IMAGE}},
}
ENV = {"A": "it's # $x = 1", "E": "", "JSON": '{"a": [1, "b"]}', "NO": "no"}
TARGETS = ["compose", "kubernetes", "slurm", "llama-swap"]


def _bundle(folder: Path, target: str, place: dict[str, Any] | None = None, **more: Any) -> Bundle:
    files = documents(place={**PLACE, **(place or {})}, **more)
    return rendered(folder, files, target)


@pytest.mark.parametrize("target", TARGETS)
def test_hard_values_come_back_as_they_are(tmp_path: Path, target: str) -> None:
    bundle = _bundle(tmp_path, target, argv=[["--x", HARD], ["--empty", ""]], env=ENV)
    assert bundle.read_back.keys() == {each.name for each in bundle.files}
    assert all(bundle.stamp.stack.encode() in each.content for each in bundle.files)


@pytest.mark.parametrize("target", TARGETS)
def test_a_template_that_drops_an_argument_or_a_variable_makes_no_bundle(tmp_path: Path, target: str) -> None:
    for name, line in _templates(target):
        own = (Path(__file__).parents[2] / "templates" / name).read_text()
        assert line in own, name
        files = documents([["--x", "y"]], ENV, PLACE) | {f"templates/{name}": own.replace(line, "")}
        with pytest.raises(CannotRender):
            rendered(tmp_path / str(hash((name, line)) % 10_000), files, target)


def _templates(target: str) -> list[tuple[str, str]]:
    return {
        "compose": [
            ("compose/compose.yaml.j2", "      - {{ word | compose }}\n"),
            ("compose/compose.yaml.j2", "      {{ name | compose }}: {{ value | compose }}\n"),
            ("compose/compose.yaml.j2", "    network_mode: host\n"),
            ("compose/compose.yaml.j2", "        read_only: true\n"),
        ],
        "kubernetes": [
            ("kubernetes/deployment.yaml.j2", "            - {{ word | kubernetes }}\n"),
            ("kubernetes/configmap.yaml.j2", "  {{ name | yaml }}: {{ value | yaml }}\n"),
            ("kubernetes/deployment.yaml.j2", "    type: Recreate\n"),
        ],
        "slurm": [
            ("slurm/job.sbatch.j2", "    {{ name }}={{ value | sh }} \\\n"),
            ("slurm/job.sbatch.j2", "#SBATCH --{{ name }}={{ value }}\n"),
        ],
        "llama-swap": [
            ("llama-swap/llama-swap.yaml.j2", '      - {{ (name ~ "=" ~ value) | llama_swap }}\n'),
            ("llama-swap/llama-swap.yaml.j2", "    proxy: {{ proxy | llama_swap }}\n"),
        ],
    }[target]


@pytest.mark.parametrize(
    ("target", "template", "old", "new"),
    [
        ("compose", "compose/compose.yaml.j2", "{{ word | compose }}", "{{ word | yaml }}"),
        ("compose", "compose/compose.yaml.j2", "{{ word | compose }}", "{{ word }}"),
        ("kubernetes", "kubernetes/deployment.yaml.j2", "{{ word | kubernetes }}", "{{ word | yaml }}"),
        ("kubernetes", "kubernetes/deployment.yaml.j2", "replicas: 1", "replicas: 2"),
        ("kubernetes", "kubernetes/deployment.yaml.j2", "replicas: 1", "replicas: one"),
        ("kubernetes", "kubernetes/deployment.yaml.j2", "replicas: 1", "replicas: 1\n  color: red"),
        ("slurm", "slurm/job.sbatch.j2", "{{ word | sh_word }}", "{{ word }}"),
        ("slurm", "slurm/job.sbatch.j2", "set -eu", "touch here\nset -eu"),
        ("slurm", "slurm/job.sbatch.j2", "exec ", "touch here\nexec "),
        ("slurm", "slurm/job.sbatch.j2", "exec ", "exec nice "),
        ("llama-swap", "llama-swap/llama-swap.yaml.j2", "{{ word | llama_swap_word }}", "{{ word }}"),
        ("llama-swap", "llama-swap/llama-swap.yaml.j2", "    proxy:", "    ttl: 5\n    proxy:"),
        ("llama-swap", "llama-swap/llama-swap.yaml.j2", "models:", "models:\n  other: {cmd: ls}"),
    ],
)
def test_what_was_not_meant_makes_no_bundle(
    tmp_path: Path, target: str, template: str, old: str, new: str
) -> None:
    own = (Path(__file__).parents[2] / "templates" / template).read_text()
    assert old in own
    files = documents([["--x", HARD]], ENV, PLACE) | {f"templates/{template}": own.replace(old, new)}
    with pytest.raises(CannotRender):
        rendered(tmp_path, files, target)


@pytest.mark.parametrize(
    ("target", "place", "reason"),
    [
        ("compose", {"targets": {}}, "names no image"),
        ("kubernetes", {"targets": {}}, "names no image"),
        (
            "kubernetes",
            {"targets": {"kubernetes": {"image": "llama:latest"}}},
            "image: llama:latest is not of the form",
        ),
        (
            "compose",
            {"targets": {"compose": {"image": "llama:latest"}}},
            "image: llama:latest is not of the form",
        ),
        ("kubernetes", {"host": "127.0.0.1"}, "where no probe of Kubernetes reaches it"),
        (
            "kubernetes",
            {"limits": {"tasks_max": 5}},
            "the limit tasks_max of the site is none that kubernetes keeps",
        ),
        ("llama-swap", {"limits": {"memory_max": "1GiB"}}, "is none that llama-swap keeps"),
        ("slurm", {"targets": {"slurm": {"partition": "a\nb"}}}, "is not of the form"),
        ("slurm", {"targets": {"slurm": {"wrap": "id"}}}, "wrap is no option"),
    ],
)
def test_what_a_target_cannot_say_is_refused_with_the_reason(
    tmp_path: Path, target: str, place: dict[str, Any], reason: str
) -> None:
    with pytest.raises(CannotRender, match=reason):
        _bundle(tmp_path, target, place)


@pytest.mark.parametrize(
    ("target", "value", "reason"),
    [
        ("compose", "a\x85b", "the argument after --x: .*U\\+0085"),
        ("llama-swap", "a\nb", "the argument after --x: .*line feed"),
    ],
)
def test_an_argument_that_a_target_cannot_carry_is_refused(
    tmp_path: Path, target: str, value: str, reason: str
) -> None:
    with pytest.raises(CannotRender, match=reason):
        _bundle(tmp_path, target, argv=[["--x", value]])


@pytest.mark.parametrize(
    ("target", "kept"),
    [("compose", "file:/etc/keys/k"), ("slurm", "file:/etc/keys/k"), ("llama-swap", "file:/etc/keys/k"),
     ("kubernetes", "kubernetes:tiny/api-key")],
)  # fmt: skip
def test_a_secret_is_only_named(tmp_path: Path, target: str, kept: str) -> None:
    bundle = _bundle(tmp_path, target, {"secrets": {"key": kept}}, env={"API_KEY": "${secret:key}", **ENV})
    whole = b"".join(each.content for each in bundle.files)
    assert b"${secret:" not in whole
    assert b"/etc/keys/k" in whole or b"secretKeyRef" in whole
    other = "kubernetes:tiny/key" if target != "kubernetes" else "file:/etc/keys/k"
    with pytest.raises(CannotRender, match=r"the secret key|Kubernetes key is kept"):
        _bundle(tmp_path / "other", target, {"secrets": {"key": other}}, env={"API_KEY": "${secret:key}"})


def test_kubernetes_itself_reads_the_manifests(tmp_path: Path) -> None:
    """`kubectl label --local` decodes a manifest with Kubernetes' own types, and needs no cluster."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not installed: no manifest was read by it")
    bundle = _bundle(tmp_path / "repo", "kubernetes", argv=[["--x", HARD]], env={**ENV, "MULTI": "a\n b\n"})
    read = {}
    for each in bundle.files:
        (tmp_path / each.name).write_bytes(each.content)
        done = subprocess.run(
            [kubectl, "label", "--local", "-f", str(tmp_path / each.name), "x=y", "-o", "json"],
            capture_output=True, check=True, env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        )  # fmt: skip
        read[each.name] = yaml.safe_load(done.stdout)
    assert read["configmap.yaml"]["data"] == {**ENV, "MULTI": "a\n b\n"}
    container = read["deployment.yaml"]["spec"]["template"]["spec"]["containers"][0]
    assert container["args"][-1].replace("$$", "$") == HARD
    assert container["image"] == IMAGE


def test_other_variables_are_another_config_map(tmp_path: Path) -> None:
    names = {
        yaml.safe_load(text(_bundle(tmp_path / value, "kubernetes", env={"A": value}), "configmap.yaml"))[
            "metadata"
        ]["name"]
        for value in ("1", "2")
    }
    assert len(names) == 2


@pytest.mark.parametrize("dialect", ["systemd", "docker", "compose", "sh"])
def test_env_says_what_the_stack_sets(tmp_path: Path, dialect: str) -> None:
    bundle = rendered(tmp_path, documents(env=ENV, place=PLACE), "env", dialect=dialect)
    assert len(bundle.files) == 1
    assert "PATH" not in bundle.files[0].content.decode(), "whoever reads it has a PATH of its own"


@pytest.mark.parametrize(
    ("dialect", "value", "reason"),
    [
        ("docker", "a\nb", "docker.env.j2: A: .*line feed"), ("docker", "a\r", "carriage return"), ("docker", "x" * 70_000, "64 KiB"),
        ("compose", "a\\\\b", "two backslashes"), ("compose", "a\\", "backslashes"), ("compose", "a\rb", "carriage return"),
        ("systemd", "a\x1bb", "control character U\\+001B"), ("systemd", "a\rb", "U\\+000D"),
    ],
)  # fmt: skip
def test_a_value_that_a_dialect_cannot_carry_is_refused_with_the_reason(
    tmp_path: Path, dialect: str, value: str, reason: str
) -> None:
    with pytest.raises(CannotRender, match=reason):
        rendered(tmp_path, documents(env={"A": value}), "env", dialect=dialect)


def test_a_file_of_values_takes_no_secret_and_sh_reads_it(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    files = documents(
        env={"API_KEY": "${secret:key}", **ENV}, place={"secrets": {"key": f"file:{tmp_path}/key"}}
    )
    for dialect in ("systemd", "docker", "compose"):
        with pytest.raises(CannotRender, match="API_KEY is a secret"):
            rendered(tmp_path / dialect, files, "env", dialect=dialect)
    file = tmp_path / "environment.sh"
    file.write_text(text(rendered(tmp_path / "sh", files, "env", dialect="sh"), "environment.sh"))
    script = f'. {shlex.quote(str(file))} && printf "%s|%s" "$API_KEY" "$A"'
    sh = shutil.which("sh") or "sh"
    done = subprocess.run([sh, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode() == f"s3cret|{ENV['A']}"
    (tmp_path / "key").write_text("")
    assert subprocess.run([sh, "-c", script], capture_output=True).returncode == 1
