"""The target systemd: units that systemd itself reads as the stack says, probes that run, and the way back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from hio_validate.render.bundle import Bundle, CannotRender
from hio_validate.render.launch import launch_of
from hio_validate.render.rendering import render
from tests.render.rendered import SERVICE, documents, rendered, repo_of, text, with_parent

USER = {"targets": {"systemd": {"user": "llama"}}}
HARD = 'a b "c" \'d\' $HOME $X $$ %h %% # ; \\ \\n \t \u20ac {{ 7 }} {"k": ["$v"]}'
UNIT = "hio-tiny.service"


def _bundle(folder: Path, files: dict[str, str] | None = None, **asked: Any) -> Bundle:
    return rendered(folder, files or documents(place=USER), "systemd", **asked)


def _needs_systemd() -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: no unit was read by systemd")


def test_a_unit_starts_the_words_of_the_stack_and_systemd_says_so(tmp_path: Path) -> None:
    _needs_systemd()
    bundle = _bundle(tmp_path, documents([["--x", HARD], ["", "y\nz"]], {"A": HARD + "\nB=c", "E": ""}, USER))
    assert bundle.read_back[UNIT].startswith("systemd ")
    assert "\n[Service]\n" in text(bundle, UNIT)
    assert [(each.name, each.install) for each in bundle.files] == [
        (UNIT, f"/etc/systemd/system/{UNIT}"),
        ("environment", f"/etc/hio/{SERVICE}/environment"),
        ("argv.json", f"/etc/hio/{SERVICE}/argv.json"),
        ("ready.sh", f"/etc/hio/{SERVICE}/ready.sh"),
        ("verify.sh", f"/etc/hio/{SERVICE}/verify.sh"),
        ("rollback.yaml", None),
        ("ROLLBACK.md", None),
    ]
    assert json.loads(text(bundle, "argv.json"))["argv"][-2:] == ["", "y\nz"]


@pytest.mark.parametrize(
    "wrong",
    [
        "{{ word }}",  # no quotes at all
        "'{{ word }}'",
        '"{{ word }}"',
        "{{ word | sh }}",
        "{{ (word | unit_word) | replace('%%', '%') }}",
        "{{ (word | unit_word) | replace('$$', '$') }}",
    ],
)
def test_wrong_quoting_of_a_word_makes_no_bundle(tmp_path: Path, wrong: str) -> None:
    _needs_systemd()
    template = (Path(__file__).parents[2] / "templates/systemd/unit.j2").read_text()
    changed = template.replace("{{ word | unit_word }}", wrong)
    assert changed != template
    with pytest.raises(CannotRender, match=UNIT):
        _bundle(tmp_path, documents([["--x", HARD]], place=USER) | {"templates/systemd/unit.j2": changed})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Foo=1", "Unknown key 'Foo'"),
        ("ExecStartPre=/bin/true", "not executable|ExecStart otherwise|reads ExecStart"),
        ("Environment=A=other", "Environment otherwise"),
        ("EnvironmentFile=/etc/other", "EnvironmentFile"),
        ("User=root", "User otherwise"),
        ("MemoryMax=1G", "MemoryMax otherwise"),
        ("LoadCredential=a:/b", "LoadCredential otherwise"),
        ("WorkingDirectory=/tmp", "WorkingDirectory"),
    ],
)
def test_a_unit_that_says_more_than_the_stack_makes_no_bundle(tmp_path: Path, line: str, said: str) -> None:
    _needs_systemd()
    template = (Path(__file__).parents[2] / "templates/systemd/unit.j2").read_text()
    place = USER | {"limits": {"memory_max": "2GiB"}}
    changed = template.replace("[Install]", f"{line}\n\n[Install]")
    with pytest.raises(CannotRender, match=said):
        _bundle(tmp_path, documents(place=place) | {"templates/systemd/unit.j2": changed})


def test_limits_of_the_place_become_limits_of_the_unit(tmp_path: Path) -> None:
    limits = {
        "memory_max": "2GiB",
        "tasks_max": 100,
        "open_files": 4096,
        "cpus": 1.5,
        "stop_s": 30,
        "start_s": 60,
    }
    unit = text(_bundle(tmp_path, documents(place=USER | {"limits": limits})), UNIT)
    for line in (
        "MemoryMax=2147483648",
        "TasksMax=100",
        "LimitNOFILE=4096",
        "CPUQuota=150%",
        "TimeoutStopSec=30",
    ):
        assert f"\n{line}\n" in unit
    assert "\nTimeoutStartSec=60\n" in unit


def test_a_secret_is_a_credential_that_sh_reads_and_nobody_sees(tmp_path: Path) -> None:
    place = USER | {"secrets": {"key": "file:/etc/keys/tiny"}}
    bundle = _bundle(tmp_path, documents(env={"API_KEY": "${secret:key}"}, place=place))
    unit = text(bundle, UNIT)
    assert "\nLoadCredential=key:/etc/keys/tiny\n" in unit
    assert "API_KEY" not in text(bundle, "environment")


@pytest.mark.parametrize(("kept", "code"), [("s3cret\n", 0), ("", 1), (None, 1)])
def test_what_reads_a_secret_becomes_the_process_or_ends(tmp_path: Path, kept: str | None, code: int) -> None:

    place = USER | {"secrets": {"key": "file:/etc/keys/tiny"}}
    repo = repo_of(
        tmp_path / "repo",
        documents([["--x", "it's $HOME"]], {"API_KEY": "${secret:key}"}, place, "/usr/bin/env"),
    )
    stack = repo.find("stack/v1", "base", SERVICE)
    assert stack is not None
    launch = launch_of(repo, stack, SERVICE)
    words = launch.words({"key": "$CREDENTIALS_DIRECTORY/key"})
    program = words.index("/usr/bin/env")
    words = [*words[: program + 1], "sh", "-c", 'printf "%s|%s" "$API_KEY" "$1"', "sh", words[-1]]
    if kept is not None:
        (tmp_path / "key").write_text(kept)
    done = subprocess.run(
        words, env={"CREDENTIALS_DIRECTORY": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True
    )
    assert done.returncode == code
    assert done.stdout.decode() == ("s3cret|it's $HOME" if code == 0 else "")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ({}, "does not say as which user tiny runs"),
        ({"targets": {"systemd": {"user": "a b"}}}, "user: a b is not of the form"),
        ({"targets": {"systemd": {"user": "a", "color": "b"}}}, "color is no option"),
        (USER | {"unit": "tiny"}, "tiny is no name of a unit"),
        (USER | {"unit": "a/../b.service"}, "is no name of a unit"),
        (USER | {"limits": {"gpus": 1}}, "the limit gpus of the site is none that systemd keeps"),
        (USER | {"limits": {"memory_max": "much"}}, "much is no size"),
        (USER | {"limits": {"tasks_max": 1.5}}, "1.5 is no count"),
        ({"backend": "systemd-user"}, "does not say where the units of its user are"),
    ],
)
def test_what_a_unit_cannot_say_is_refused_with_the_reason(
    tmp_path: Path, place: dict[str, Any], reason: str
) -> None:
    with pytest.raises(CannotRender, match=reason):
        _bundle(tmp_path, documents(place=place))


def test_a_unit_of_a_user_stands_where_the_site_says(tmp_path: Path) -> None:
    folders = {"folder": "/home/me/.config/hio", "units": "/home/me/.config/systemd/user"}
    place = {"backend": "systemd-user", "unit": "tiny.service", "targets": {"systemd-user": folders}}
    bundle = _bundle(tmp_path, documents(place=place))
    assert bundle.files[0].install == "/home/me/.config/systemd/user/tiny.service"
    assert "WantedBy=default.target" in text(bundle, "tiny.service")
    assert "User=" not in text(bundle, "tiny.service")
    assert "`systemctl --user stop tiny.service`" in text(bundle, "ROLLBACK.md")
    own = _bundle(
        tmp_path, documents(place=place), root=PurePosixPath("/srv/a"), units=PurePosixPath("/srv/u")
    )
    assert own.files[0].install == "/srv/u/tiny.service"
    assert "EnvironmentFile=/srv/a/environment" in text(own, "tiny.service")


def test_the_way_back_leads_to_the_stack_that_served_before(tmp_path: Path) -> None:
    files = with_parent(documents(place=USER), argv=[["--old", "it is"]])
    bundle = _bundle(tmp_path, files)
    plan = yaml.safe_load(text(bundle, "rollback.yaml"))
    assert plan["takes_back"] == bundle.stamp.stack
    assert plan["restores"].startswith("earlier@sha256:")
    repo = repo_of(tmp_path, files)
    earlier = repo.find("stack/v1", "earlier", SERVICE)
    assert earlier is not None
    own = {each.install: each for each in render(repo, earlier, SERVICE, "systemd").files}
    now = {each.install: each for each in bundle.files}
    for each in plan["files"]:
        assert each["before"] == sha256(own[each["path"]].content).hexdigest()
        assert each["after"] == sha256(now[each["path"]].content).hexdigest()
    page = text(bundle, "ROLLBACK.md")
    assert "        --old 'it is'\n" in page
    assert f"1. `systemctl stop {UNIT}`\n" in page


def test_where_nothing_served_before_the_way_back_leads_to_nothing(tmp_path: Path) -> None:
    bundle = _bundle(tmp_path)
    plan = yaml.safe_load(text(bundle, "rollback.yaml"))
    assert plan["restores"] is None
    assert all(each["before"] is None and each["after"] for each in plan["files"])
    assert "afterwards nothing does" in text(bundle, "ROLLBACK.md")


@pytest.mark.parametrize("name", ["rollback.yaml", "ROLLBACK.md"])
def test_a_way_back_that_leaves_something_out_makes_no_bundle(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotRender, match=name):
        _bundle(tmp_path, documents(place=USER) | {f"templates/systemd/{name}.j2": "version: 1\n"})


@contextmanager
def _answering(codes: list[int]) -> Iterator[int]:
    """The port of a server that answers /health with these codes, the last one for ever."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(codes.pop(0) if len(codes) > 1 else codes[0])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("client", ["curl", "python3"])
@pytest.mark.parametrize(
    ("codes", "code", "said"),
    [([503, 200], 0, ""), ([404], 1, "answers HTTP 404"), ([503], 1, "was not ready within 1 s")],
)
def test_the_probe_waits_until_a_service_is_ready(
    tmp_path: Path, client: str, codes: list[int], code: int, said: str
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for program in ("date", "sleep", client):
        found = sys.executable if program == "python3" else shutil.which(program)
        if found is None:
            pytest.skip(f"{program} is not installed: the probe was not run with it")
        (tools / program).symlink_to(os.path.realpath(found))
    with _answering(list(codes)) as port:
        within = 1 if codes == [503] else 300
        place = USER | {"port": port, "limits": {"start_s": within}}
        (tmp_path / "ready.sh").write_text(
            text(_bundle(tmp_path / "repo", documents(place=place)), "ready.sh")
        )
        done = subprocess.run(
            [shutil.which("sh") or "sh", str(tmp_path / "ready.sh")],
            env={"PATH": str(tools)},
            capture_output=True,
        )
    assert done.returncode == code, done.stderr
    assert said in done.stderr.decode()


def test_a_stack_without_a_way_back_makes_no_bundle(tmp_path: Path) -> None:
    files = with_parent(documents(place=USER), env={"HF_TOKEN": "hf_abcdefghijklmnopqrst"})
    with pytest.raises(
        CannotRender, match=r"the way back to earlier, which served before, cannot be rendered: .*HF_TOKEN"
    ):
        _bundle(tmp_path, files)


@pytest.mark.parametrize("root", ["/a b", "/a/../b", "/a\nExecStartPre=/bin/evil"])
def test_a_folder_that_a_plan_cannot_name_is_refused(tmp_path: Path, root: str) -> None:
    """ROLLBACK.md names files below it in commands that a person types."""
    with pytest.raises(CannotRender, match="is no folder for files of systemd: expected an absolute path"):
        rendered(tmp_path, documents(place=USER), "systemd", root=PurePosixPath(root))


def test_who_names_no_user_is_told_both_ways_out_and_the_file(tmp_path: Path) -> None:
    with pytest.raises(CannotRender) as refused:
        rendered(tmp_path, documents(), "systemd")
    (said,) = refused.value.reasons
    assert said.startswith("manifests/sites/here.yaml does not say as which user tiny runs")
    assert "targets: {systemd: {user: NAME}} under services: tiny:" in said
    assert "backend: systemd-user" in said
