"""Deployments on the real engine: base to two threads, back when any proof fails, and whoever dies, one serves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess, run

import pytest

from hio_validate.execute import jobs, journal, owned
from hio_validate.execute.backends.local import Local
from hio_validate.execute.deploy import deployments
from hio_validate.execute.deploy.deployments import Deployment
from hio_validate.execute.deploy.transaction import FORWARD
from hio_validate.history import Folder
from hio_validate.ledger import Ledger, ledgers
from hio_validate.observe.sockets import listening, owner_of
from hio_validate.repo import load
from tests.execute.conftest import state, wait_for
from tests.execute.deploy import little
from tests.execute.deploy.conftest import watching
from tests.execute.deploy.receipt import receipt
from tests.execute.deploy.test_transaction import is_untouched, stands
from tests.lab.serving import LAB, ROOT, SERVICE
from tests.ports import free_port
from tests.small_repo import write

__all__ = ["state"]

pytestmark = pytest.mark.lab

ROOM = f"manifests/services/{SERVICE}"
PATIENCE_S = 1200.0


@dataclass
class Host:
    """A repository of the lab's documents, a state folder, a port."""

    root: Path
    state: Path
    port: int

    @property
    def local(self) -> Local:
        return Local(self.state / "services" / SERVICE)

    @property
    def ledger(self) -> Ledger:
        return ledgers(load(Folder(self.root)))[SERVICE]

    def hio(self, *words: str, **environment: str) -> CompletedProcess[str]:
        """The command line; its worker may be told to die or to break something."""
        done = run(
            [sys.executable, "-m", little.MODULE, "hio", *words], cwd=self.root, text=True, capture_output=True,
            env={**os.environ, "LITTLE_REAL": "yes", **environment}, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def made(self, name: str) -> Deployment:
        (found,) = [each for each in deployments.all_deployments(self.state) if each.name.endswith(name)]
        return found

    def threads(self) -> str:
        """How many threads the one who serves was started with; exactly one process serves."""
        assert len(engines(self.port)) == 1, self.tell()
        words = Path(f"/proc/{owner_of(self.port).pid}/cmdline").read_text().split("\0")
        return words[words.index("--threads") + 1]

    def tell(self) -> str:
        lines = []
        for each in deployments.all_deployments(self.state):
            lines += [f"{event.at} {event.event} {event.data}" for event in each.events]
        return "\n".join(lines)

    def end(self) -> None:
        for each in deployments.all_deployments(self.state):
            for who in each.keepers.values():
                owned.send(who, signal.SIGKILL)
        self.local.stop()
        for pid in engines(self.port):
            os.kill(pid, signal.SIGKILL)


def engines(port: int) -> list[int]:
    """Processes whose command line serves at a port; all of them ran at one moment."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0") if entry.isdigit() else []
        except OSError:
            continue
        if words and words[0].endswith(b"llama-server") and str(port).encode() in words:
            found.append(owned.identity_of(int(entry)))
    return [who.pid for who in found if who and owned.is_alive(who)]


def documents(root: Path, port: int, programs: Path) -> None:
    """The lab's own documents, at another port, with an approval and receipts of what is recorded of the build."""
    for room in ("manifests", "matrix", "ledger"):
        shutil.copytree(ROOT / room, root / room)
    site = root / "manifests/sites/lab.yaml"
    text = site.read_text().replace("18434", str(port)).replace("/opt/hio-lab/llama-10001", str(programs))
    site.write_text(
        text.replace("/opt/hio-lab", str(LAB)).replace("    paths:", "    limits: {start_s: 600}\n    paths:")
    )
    repo = load(Folder(root))
    build, seen = repo.find("engine/v1", "b10001"), repo.find("capture/v1", "base-2026-11-29", SERVICE)
    assert build and seen
    recorded = build.model.identity.libraries
    mapped = {name: recorded[name] for name in seen.model.processes["server"].libraries if name in recorded}
    assert mapped
    process = {
        "executable": build.model.identity.executable, "libraries": mapped,
        "artifacts": {name: each.sha256 for name, each in seen.model.processes["server"].artifacts.items()},
    }  # fmt: skip
    for name in ("base", "threads-2"):
        stack = repo.find("stack/v1", name, SERVICE)
        assert stack
        write(root, receipt(ROOM, SERVICE, f"{name}@{stack.document.digest}", "b10001", process))


@pytest.fixture
def host(tmp_path: Path, state: Path) -> Iterator[Host]:
    """A host where the base was deployed by hio."""
    programs = tmp_path / "programs"
    shutil.copytree(LAB / "llama-10001", programs, symlinks=True)
    made = Host(tmp_path / "repo", jobs.state_folder(), free_port())
    documents(made.root, made.port, programs)
    approval = ("--service", SERVICE, "--approves", "deploy", "--scope", "deploy", "--owner", "ana")
    assert (
        made.hio("ledger", "append", "approval", *approval, "--until", "2099-01-01T00:00:00Z").returncode == 0
    )
    try:
        said = made.hio("deploy", "base", "--yes")
        assert said.returncode == 0, said.stdout + said.stderr + made.tell()
        yield made
    finally:
        made.end()


def assert_base_serves(host: Host) -> None:
    """The base serves again, proven, and the ledger says what failed."""
    assert host.threads() == "1"
    entry = host.ledger.deployment
    assert entry is not None and entry.model.kind == "rollback", host.tell()
    assert entry.model.attempted.startswith("threads-2@")
    assert set(entry.model.checks.values()) == {"passed"}


def failed(host: Host) -> dict[str, str]:
    """What the ledger says of the attempt."""
    entry = host.ledger.deployment
    assert entry is not None
    found: dict[str, str] = entry.model.failed
    return found


def test_two_threads_serve_and_are_taken_back(host: Host) -> None:
    said = host.hio("deploy", "threads-2", "--yes")
    assert said.returncode == 0, said.stdout + said.stderr + host.tell()
    assert host.threads() == "2" and host.local.is_kept()
    entry = host.ledger.deployment
    assert entry is not None and entry.model.kind == "deployment"
    assert {"argv", "environ", "qualified bytes", "prefix-reuse"} <= entry.model.checks.keys()
    assert host.hio("validate").returncode == 0
    back = host.hio("rollback", "--yes")
    assert back.returncode == 0, back.stdout + back.stderr
    assert host.threads() == "1"


def launch_edit(host: Host, old: str, new: str) -> str:
    """A program that edits the installed launch file."""
    file = str(host.local.launch_file)
    return f"from pathlib import Path; p = Path({file!r}); t = p.read_text(); assert {old!r} in t; p.write_text(t.replace({old!r}, {new!r}))"


@pytest.mark.parametrize(
    ("breaks", "step", "check", "over"),
    [
        (lambda host: launch_edit(host, f'"{host.port}"', f'"{free_port()}"'), "readiness", "readiness", "running"),
        (lambda host: launch_edit(host, '"512"', '"256"'), "verification", "argv", ""),
        (lambda host: launch_edit(host, '"--flash-attn"', '"--api-key", "not-for-the-probe", "--flash-attn"'), "verification", "prefix-reuse", ""),
    ],
    ids=["readiness", "live settings", "prefix reuse"],
)  # fmt: skip
def test_what_is_not_proven_is_taken_back(
    host: Host, breaks: Callable[[Host], str], step: str, check: str, over: str
) -> None:
    said = host.hio("deploy", "threads-2", "--yes", LITTLE_EDIT=f"installed {breaks(host)}", LITTLE_OVER=over)
    assert said.returncode == 1, said.stdout
    assert_base_serves(host)
    assert failed(host)["step"] == step and check in failed(host), failed(host)


def test_a_library_with_other_bytes_is_taken_back(host: Host, tmp_path: Path) -> None:
    """It is replaced before the start, and is itself again when the old one starts: what counts is what was mapped."""
    (library,) = [each for each in (tmp_path / "programs").rglob("libllama.so*") if not each.is_symlink()]
    swap = (
        f"import os, shutil; p = {str(library)!r}; os.rename(p, p + '.kept'); shutil.copy(p + '.kept', p); "
        "open(p, 'ab').write(b'another')"
    )
    again = f"import os; p = {str(library)!r}; os.replace(p + '.kept', p)"
    said = host.hio("deploy", "threads-2", "--yes", LITTLE_EDIT=f"stopped {swap}\nready {again}")
    assert said.returncode == 1, said.stdout
    assert_base_serves(host)
    assert failed(host)["step"] == "verification"
    assert any("libllama" in name or "libllama" in found for name, found in failed(host).items()), failed(
        host
    )


STEPS = [f"after {event}" for event in FORWARD if event != "closed"]


def assert_one_serves(host: Host, where: str) -> None:
    """One service, proven by hio itself, and a ledger that says which."""
    threads = "2" if stands(where) else "1"
    assert host.threads() == threads
    stack = "threads-2" if stands(where) else "base"
    proof = host.hio("verify", stack, "--service", SERVICE)
    assert proof.returncode == 0, proof.stdout
    entry = host.ledger.deployment
    assert entry is not None
    made = host.made("deploy-threads-2")
    assert made.state == "closed", host.tell()
    if is_untouched(where):
        assert entry.model.kind == "deployment" and entry.name != made.name
    else:
        assert entry.model.kind == ("deployment" if stands(where) else "rollback") and entry.name == made.name


@pytest.mark.parametrize("where", STEPS)
def test_worker_and_guardian_that_are_killed_leave_one_service(host: Host, where: str) -> None:
    with watching(host.port, engines):
        host.hio("deploy", "threads-2", "--yes", LITTLE_KILL=f"worker {where}", LITTLE_GUARDIAN_DIES="yes")
        assert host.made("deploy-threads-2").state == "unsafe", host.tell()
        said = host.hio("deploy", "--recover")
        assert said.returncode == 0, said.stderr + host.tell()
        assert_one_serves(host, where)


@pytest.mark.parametrize(
    "where", ["after saved", "after stopping", "after running", "after proven", "after entered"]
)
def test_a_worker_that_is_killed_leaves_the_rest_to_its_guardian(host: Host, where: str) -> None:
    with watching(host.port, engines):
        host.hio("deploy", "threads-2", "--yes", LITTLE_KILL=f"worker {where}")
        assert_one_serves(host, where)


def test_a_service_that_crashed_is_back(host: Host) -> None:
    """Ends the service as a crash would: its keeper has it back, and nothing else listens."""
    first = host.local.main()
    assert first
    owned.send(first, signal.SIGKILL)
    wait_for(lambda: host.local.main() not in (None, first) and bool(listening(host.port)))
    assert host.threads() == "1"
    assert [each.event for each in journal.read(host.local.folder)].count("service") == 2
    assert json.loads(host.local.launch_file.read_text())["service"] == SERVICE
