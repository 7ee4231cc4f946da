"""The real consumers, asked what they read: each takes (name, quoted value) pairs and gives back name -> value."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

SYSTEMD = "/usr/lib/x86_64-linux-gnu/systemd"


def systemd_library() -> ctypes.CDLL | None:
    """The library in which systemd reads environment files and fills in command lines, where it is installed."""
    found = sorted(Path(SYSTEMD).glob("libsystemd-shared-*.so")) if os.path.isdir(SYSTEMD) else []
    return ctypes.CDLL(str(found[-1])) if found else None


def _strings(pointer: Any) -> list[str]:
    found, index = [], 0
    while pointer and pointer[index] is not None:
        found.append(pointer[index].decode())
        index += 1
    return found


def systemd_environment(library: ctypes.CDLL, file: Path) -> dict[str, str]:
    """What systemd reads in an environment file: load_env_file, and then what it drops as no variable's value."""
    strings = ctypes.POINTER(ctypes.c_char_p)()
    code = library.load_env_file(None, str(file).encode(), ctypes.byref(strings))
    assert code >= 0, os.strerror(-code)
    read = _strings(strings)
    valid = [each for each in read if library.env_assignment_is_valid(each.encode())]
    return dict(each.split("=", 1) for each in valid)


def systemd_filled_in(library: ctypes.CDLL, words: list[str]) -> list[str]:
    """What systemd makes of the `$` in the words of a command line, when it starts it without any variable."""
    given = (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None)
    nothing = (ctypes.c_char_p * 1)(None)
    library.replace_env_argv.restype = ctypes.POINTER(ctypes.c_char_p)
    return _strings(library.replace_env_argv(given, nothing))


def sh_environment(file: Path, names: list[str], shell: str) -> dict[str, str]:
    """What a shell reads in a file of assignments."""
    script = f". {file}\n" + "".join(f"printf '%s\\0' \"${name}\"\n" for name in names)
    said = subprocess.run([shell], input=script.encode(), capture_output=True, env={}, check=True)
    return dict(zip(names, said.stdout.decode().split("\0")[:-1], strict=True))


class _Daemon(BaseHTTPRequestHandler):
    """As much of a docker daemon as `docker create` needs."""

    def do_HEAD(self) -> None:
        self._answer(200, {})

    def do_GET(self) -> None:
        self._answer(200, {"ApiVersion": "1.45"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(json.loads(body))
        self._answer(201, {"Id": "0" * 64, "Warnings": []})

    def _answer(self, status: int, shape: dict[str, Any]) -> None:
        body = json.dumps(shape).encode()
        self.send_response(status)
        self.send_header("Api-Version", "1.45")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass

    def address_string(self) -> str:
        return "docker"


@contextmanager
def docker_daemon(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a daemon, and what it was asked to create."""
    path = folder / "docker.sock"
    server = socketserver.ThreadingUnixStreamServer(str(path), _Daemon)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"unix://{path}", server.asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def docker_environment(file: Path) -> dict[str, str]:
    """What the docker command reads in an --env-file: what it asks a daemon to put into a container."""
    with docker_daemon(file.parent) as (address, asked):
        subprocess.run(
            [installed("docker"), "create", "--env-file", str(file), "image"],
            env={"DOCKER_HOST": address, "HOME": str(file.parent)}, capture_output=True, check=True,
        )  # fmt: skip
    return dict(each.split("=", 1) for each in asked[0]["Env"])


def compose_environment(folder: Path) -> dict[str, str]:
    """What docker-compose reads as the environment of the service `it` in a folder."""
    import yaml

    said = subprocess.run(
        [installed("docker-compose"), "--project-directory", str(folder), "-f", str(folder / "compose.yaml"), "config"],
        env={"HOME": str(folder), "LC_ALL": "C.UTF-8"}, capture_output=True, check=True,
    )  # fmt: skip
    read: Mapping[str, Any] = yaml.safe_load(said.stdout)
    return {
        name: str(value).replace("$$", "$") for name, value in read["services"]["it"]["environment"].items()
    }


def installed(program: str) -> str:
    """The path of a consumer; a test that needs one says so before (`needs`)."""
    found = shutil.which(program)
    assert found, program
    return found
