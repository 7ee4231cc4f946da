"""A small repository whose stack runs tests/execute/llama_like.py here, and that process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hio_validate.command import Command, command_of
from hio_validate.history import Folder
from hio_validate.observe.capture import capture, capture_process
from hio_validate.observe.sockets import listening
from hio_validate.recording import capture_file
from hio_validate.repo import Item, Repo, load
from hio_validate.settings import family as families
from tests.execute.experiment import ROOM, SERVICE, SITE_FILE, baseline, documents, pin, stack, yaml
from tests.ports import free_port
from tests.small_repo import HELP, sha, write

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
BASELINE = f"ledger/{SERVICE}/2026/b0.yaml"
ENGINE = "manifests/engines/llama-server/b1/engine.yaml"
KNOWN = HELP + (
    "-np,   --parallel N                     number of server slots (default: 1)\n"
    "-kvu,  --kv-unified                     use one KV buffer (default: disabled)\n"
    "-a,    --alias STRING                   set alias for model name (default: none)\n"
    "--api-key KEY                           API key to use for authentication (default: none)\n"
)


@dataclass(frozen=True)
class Place:
    """A repository with the stack `base`, and where it runs."""

    root: Path
    port: int

    @property
    def repo(self) -> Repo:
        return load(Folder(self.root))

    def stack(self, name: str = "base") -> Item:
        found = self.repo.find("stack/v1", name, SERVICE)
        assert found is not None and found.model is not None, found
        return found

    def command(self, name: str = "base", **environment: str) -> Command:
        """As the stack is started here, with its whole environment."""
        site = self.repo.find("site/v1", "here")
        assert site is not None
        place = site.model.services["tiny"]
        made = command_of(self.stack(name).model, "server", site.model, place, self.port)
        return replace(made, environment={**ENVIRONMENT, **made.environment, **environment})

    @property
    def held(self) -> Path:
        """While this file is there, servers with as many threads as stand in it answer no prompt (llama_like.py)."""
        return self.root.parent / "hold"

    def hold(self, *threads: int) -> None:
        self.held.write_text(" ".join(map(str, threads)))

    def record(self, pid: int) -> None:
        """Pin what runs now in the first entry of the ledger."""
        seen = capture_process(pid, families.packaged("llama-server"), None, port=self.port)
        file = f"{ROOM}/captures/live.yaml"
        live = capture("live", {"server": seen}, service=SERVICE)
        content = capture_file(live, file)
        first = baseline(stack_of()) | {"at": live.at}
        first["pins"] |= {"capture": pin("live", content)}
        write(self.root, {file: content, BASELINE: yaml(first)})


def stack_of(**process: Any) -> dict[str, Any]:
    """The document of the stack `base`."""
    return stack(more=[["--ctx-size", "512"], ["--parallel", "2"]], **process)


def place(tmp_path: Path, **process: Any) -> Place:
    """A repository whose program, model and ports are here."""
    port = free_port()
    program, model = tmp_path / "bin" / "llama-server", tmp_path / "model.gguf"
    program.parent.mkdir()
    source = Path(__file__).with_name("llama_like.py").read_text()
    program.write_text(f"#!{sys.executable}\n{source}")
    program.chmod(0o755)
    model.write_bytes(b"GGUF" + b"\3\0\0\0" + b"\0" * 4096)
    served = stack_of(**process)
    engine = {"hio": "engine/v1", "name": "b1", "family": "llama-server", "source": {"revision": "b1"},
              "help": {"file": "help.txt", "sha256": sha(KNOWN)}}  # fmt: skip
    where = {"host": "127.0.0.1", "port": port, "paths": {"model": str(model)}}
    files = {
        path: text for path, text in documents().items() if "/plans/" not in path and "/2026/yes" not in path
    }
    files |= {
        ENGINE: yaml(engine),
        "manifests/engines/llama-server/b1/help.txt": KNOWN,
        SITE_FILE: yaml(
            {"hio": "site/v1", "name": "here", "services": {"tiny": where}, "programs": {"b1": str(program)}}
        ),
        f"{ROOM}/stacks/base.yaml": yaml(served),
        BASELINE: yaml(baseline(served)),
    }
    write(tmp_path / "repo", files)
    return Place(tmp_path / "repo", port)


@contextmanager
def running(command: Command, port: int) -> Iterator[int]:
    """The process of a command, by its id, until the block ends."""
    with subprocess.Popen(command.argv, env=dict(command.environment), stdin=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 600
            while not listening(port):
                assert process.poll() is None and time.monotonic() < end
                time.sleep(0.02)
            yield process.pid
        finally:
            process.kill()
