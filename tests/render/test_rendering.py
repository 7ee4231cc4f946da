"""Rendering: the same input gives the same bytes, values stay text, and whatever is not there is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from hio_validate.history import Folder
from hio_validate.render import filling
from hio_validate.render.bundle import CannotRender
from hio_validate.render.templating import Templates
from tests.render.rendered import SERVICE, documents, rendered, text

ROOT = PurePosixPath("/srv/state/services/here/tiny")
SECRET = {"secrets": {"key": "file:/etc/keys/tiny"}}


def test_local_says_all_that_a_process_is_started_from(tmp_path: Path) -> None:
    files = documents([["--x", "{{ 7 * 7 }}{% raw %}"]], {"A": "it's $HOME\n", "K": "${secret:key}"}, SECRET)
    bundle = rendered(tmp_path, files, "local", root=ROOT)
    said = json.loads(text(bundle, "launch.json"))
    assert said["program"] == "/bin/true"
    assert said["arguments"][-2:] == ["--x", "{{ 7 * 7 }}{% raw %}"]
    assert said["environment"]["A"] == "it's $HOME\n"
    assert said["environment"]["K"] == "${secret:key}"
    assert said["secrets"] == {"key": "file:/etc/keys/tiny"}
    assert said["ready"] == {"url": "http://127.0.0.1:8089/health", "within_s": 120}
    assert said["stamp"]["stack"] == bundle.stamp.stack
    assert [(each.name, each.install) for each in bundle.files] == [
        ("launch.json", f"{ROOT}/launch.json"),
        ("environment", f"{ROOT}/environment"),
    ]
    assert bundle.read_back.keys() == {"launch.json", "environment"}


def test_an_overridden_template_that_says_something_else_is_refused(tmp_path: Path) -> None:
    files = documents(env={"A": "b"}) | {"templates/local/environment.j2": "A='c'\n"}
    with pytest.raises(CannotRender, match="environment: its consumer reads PATH, LANG, HOME, A otherwise"):
        rendered(tmp_path, files, "local")


def test_an_overridden_template_is_used_and_is_another_digest(tmp_path: Path) -> None:
    usual = rendered(tmp_path / "usual", documents(), "local")
    own = "# ours\n{% for name, value in plain.items() %}{{ name }}={{ value | sh }}\n{% endfor %}"
    bundle = rendered(tmp_path / "own", documents() | {"templates/local/environment.j2": own}, "local")
    assert text(bundle, "environment").startswith("# ours\n")
    assert bundle.stamp.templates != usual.stamp.templates


@pytest.mark.parametrize(
    "line",
    ["touch here", "A='b'; touch here", "A=$(touch here)", "A='b' touch here", "A=b\\\ntouch here", "`id`"],
)
def test_what_sh_would_carry_out_is_never_given_to_it(tmp_path: Path, line: str) -> None:
    with pytest.raises(CannotRender, match=r"neither a comment nor NAME='\.\.\.'"):
        rendered(tmp_path, documents() | {"templates/local/environment.j2": f"{line}\n"}, "local")
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    "template",
    [
        "{{ nothing }}",
        "{% if nothing %}{% endif %}",
        "{% if nothing is defined %}{% endif %}",
        "{% if nothing is none %}{% endif %}",
        "{{ nothing | default('x') }}",
        "{{ nothing | length }}",
        "{{ nothing | tojson }}",
        "{{ [] | join(nothing) }}",
        "{{ 'a' if nothing else 'b' }}",
        "{% for each in nothing %}{% endfor %}",
        "{{ stamp.nothing }}",
        "{{ plain['nothing'] }}",
        "{{ 'a' if port == 1 }}",
    ],
)
def test_a_name_that_is_not_there_ends_the_rendering_wherever_it_stands(
    tmp_path: Path, template: str
) -> None:
    with pytest.raises(CannotRender, match="what is not there"):
        rendered(tmp_path, documents() | {"templates/local/environment.j2": template}, "local")


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ arguments.append('x') }}",
        "{{ plain.update({}) }}",
        "{{ [1, 2] | random }}",
        "{{ lipsum() }}",
        "{% include service %}",
        "{% include '../../etc/hostname' %}",
        "{% include 'local/absent' %}",
        "{{ 1 / 0 }}",
        "{% if %}",
        "{{ range(10000000) | list }}",
    ],
)
def test_a_template_cannot_leave_its_sandbox(tmp_path: Path, template: str) -> None:
    with pytest.raises(CannotRender, match="template"):
        rendered(tmp_path, documents() | {"templates/local/environment.j2": template}, "local")


@pytest.mark.parametrize("name", ["../beside.j2", "./../beside.j2", "local/../../beside.j2", "{}/beside.j2"])
def test_a_template_includes_nothing_from_outside_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "beside.j2").write_text("#")
    template = f"{{% include '{name.format(tmp_path)}' %}}"
    with pytest.raises(CannotRender, match="there is no template"):
        rendered(tmp_path, documents() | {"templates/local/environment.j2": template}, "local")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/nowhere")])
def test_a_template_that_cannot_be_read_is_not_stood_in_for(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    template = tmp_path / "templates/local/environment.j2"
    template.parent.mkdir(parents=True)
    make(template)
    with pytest.raises(
        CannotRender, match=r"templates/local/environment\.j2 of this repository cannot be read"
    ):
        rendered(tmp_path, documents(), "local")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% include 'local/environment.j2' %}", "includes or calls itself without end"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "includes or calls itself without end"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "nested too deeply"),
        ("{% if 1 %}" * 400 + "{% endif %}" * 400, "nested too deeply|too many statically nested"),
        ("{{ 'x' * 10 ** 11 }}", "cannot be filled within 10 s and 1024 MiB|MemoryError"),
        ("{{ '%99999999999d' % 1 }}", "cannot be filled"),
    ],
)
def test_a_template_without_end_is_refused(tmp_path: Path, template: str, said: str) -> None:
    with pytest.raises(CannotRender, match=said):
        rendered(tmp_path, documents() | {"templates/local/environment.j2": template}, "local")


def test_a_template_that_computes_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3
    monkeypatch.setattr(filling, "LONGEST_S", 1)
    with pytest.raises(CannotRender, match="cannot be filled within 1 s"):
        rendered(tmp_path, documents() | {"templates/local/environment.j2": loop}, "local")


def test_a_refusal_names_the_template_of_the_repository_that_took_part(tmp_path: Path) -> None:
    files = documents() | {
        "templates/local/launch.json.j2": "{% include 'mine.j2' %}",
        "templates/mine.j2": "{",
    }
    with pytest.raises(CannotRender) as refused:
        rendered(tmp_path, files, "local")
    assert refused.value.reasons[1:] == tuple(
        f"templates/{name} of this repository stands in for hio's: correct it, or remove it"
        for name in ("local/launch.json.j2", "mine.j2")
    )


def test_an_included_template_belongs_to_the_digest(tmp_path: Path) -> None:
    files = {"templates/a.j2": "{% include 'b.j2' %}", "templates/b.j2": "one"}
    first = _templates(tmp_path / "one", files).digest(("a.j2",))
    second = _templates(tmp_path / "two", files | {"templates/b.j2": "two"}).digest(("a.j2",))
    assert first != second


def test_the_digest_of_templates_is_that_of_what_sha256sum_prints(tmp_path: Path) -> None:
    made = _templates(tmp_path, {"templates/a.j2": "{% include 'b.j2' %}", "templates/b.j2": "one"})
    lines = subprocess.run(
        "sha256sum a.j2 b.j2 | sha256sum",
        shell=True,
        cwd=tmp_path / "templates",
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert made.digest(("a.j2",)) == f"sha256:{lines.split()[0]}"


def _templates(root: Path, files: dict[str, str]) -> Templates:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return Templates(Folder(root), {})


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"argv": [["--api-key", "${secret:key}"]], "place": SECRET}, "every user of a host can read the arguments"),
        ({"env": {"K": "Bearer ${secret:key}"}, "place": SECRET}, "K holds more than one secret's name"),
        ({"env": {"K": "${secret:key}"}}, "does not say where the secret key is kept"),
        ({"env": {"K": "${secret:key}"}, "place": {"secrets": {"key": "file:/a\nB=c"}}}, "does not say in which file"),
        ({"env": {"K": "${secret:key}"}, "place": {"secrets": {"key": "vault:x"}}}, "does not say in which file"),
        ({"env": {"HF_TOKEN": "hf_abcdefghijklmnopqrst"}}, r"HF_TOKEN states a secret \(literal-secret\)"),
        ({"argv": [["--x", "a\0b"]]}, "NUL"),
        ({"env": {"A": "b" * 200_000}}, "200002 bytes"),
        ({"place": {"port": None}}, "does not know the port"),
        ({"place": {"paths": {}}}, "needs model, which the site here does not define"),
        ({"place": {"limits": {"start_s": "soon"}}}, "start_s: soon is no time"),
        ({"program": "true"}, "no absolute path"),
    ],
)  # fmt: skip
def test_what_cannot_be_rendered_is_refused_with_the_reason(
    tmp_path: Path, more: dict[str, Any], reason: str
) -> None:
    with pytest.raises(CannotRender, match=reason) as refused:
        rendered(tmp_path, documents(**more), "local")
    assert "hf_abc" not in str(refused.value)


def test_a_stack_that_listens_elsewhere_is_refused(tmp_path: Path) -> None:
    files = {name: content.replace('"unknown"', '"llama-server"') for name, content in documents().items()}
    files = {name: content.replace('"${port}"', '"9"') for name, content in files.items()}
    with pytest.raises(CannotRender, match="listens on port 9, and its site says 8089"):
        rendered(tmp_path, files, "local")


def test_a_service_that_listens_everywhere_is_asked_on_its_own_host(tmp_path: Path) -> None:
    for host, asked in (("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("fe80::1", "[fe80::1]")):
        bundle = rendered(tmp_path, documents(place={"host": host}), "local")
        assert json.loads(text(bundle, "launch.json"))["ready"]["url"] == f"http://{asked}:8089/health"


_TWICE = """
import sys
from pathlib import Path
from tests.render.rendered import documents, rendered
env = {"B": "2", "A": "1", "K": "${secret:key}"}
place = {"secrets": {"key": "file:/etc/keys/tiny"}, **eval(sys.argv[3])}
bundle = rendered(Path(sys.argv[1]), documents([["--x", "y"]], env, place), sys.argv[2])
print([(each.name, each.content, each.mode, each.install) for each in bundle.files], bundle.stamp)
"""
IMAGE = "registry.example/serve@sha256:" + "5" * 64
TARGETS: dict[str, dict[str, Any]] = {
    "local": {},
    "systemd": {"targets": {"systemd": {"user": "llama"}}},
    "compose": {"targets": {"compose": {"image": IMAGE}}},
    "slurm": {},
    "llama-swap": {},
    "kubernetes": {
        "host": "0.0.0.0",
        "secrets": {"key": "kubernetes:tiny/key"},
        "targets": {"kubernetes": {"image": IMAGE}},
    },
}


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_input_gives_the_same_bytes_in_whatever_surroundings(tmp_path: Path, target: str) -> None:
    said = []
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        home = tmp_path / seed
        home.mkdir()
        surroundings = {"PYTHONHASHSEED": seed, "TZ": zone, "HOME": str(home), "PATH": os.environ["PATH"],
                        "PYTHONPATH": os.pathsep.join(sys.path), "USER": f"user{seed}"}  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", _TWICE, str(home), target, repr(TARGETS[target])],
            env=surroundings, cwd=home, capture_output=True, check=True,
        )  # fmt: skip
        said.append(done.stdout)
    assert said[0] == said[1]
    assert SERVICE.encode() in said[0]


def test_what_is_too_much_in_all_is_refused_though_each_is_not(tmp_path: Path) -> None:
    """Linux: a quarter of the stack, 2 MiB by default; more is E2BIG when the service is started."""
    rendered(tmp_path / "much", documents([["--x", "x" * 100_000]] * 20), "local")
    with pytest.raises(CannotRender, match="bytes in all, and Linux gives a process at most 2097152"):
        rendered(tmp_path / "more", documents([["--x", "x" * 100_000]] * 21), "local")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--api-key", "${secret:key}"], "the argument after --api-key is a secret"),
        (["--api-key=${secret:key}"], "the argument --api-key is a secret"),
    ],
)
def test_a_secret_in_an_argument_is_told_by_its_flag(tmp_path: Path, words: list[str], said: str) -> None:
    with pytest.raises(CannotRender, match=said):
        rendered(tmp_path, documents([words], place=SECRET), "local")


def test_a_refusal_about_a_long_word_is_short(tmp_path: Path) -> None:
    with pytest.raises(CannotRender, match="listens on port") as refused:
        rendered(tmp_path, documents([["x" * 1000]]), "local")
    assert all(len(each) < 300 for each in refused.value.reasons)
