"""A batch script on a real Slurm of one node, which the test starts, with folders, ports and a key of its own, and ends."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from hio_validate.render.bundle import CannotRender
from tests.ports import free_port
from tests.render.rendered import documents, rendered, text

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
HARD = "a b \"c\" 'd' $HOME $(id) ; # \\ \u20ac {{ 7 }} <<EOF"
_CONFIGURATION = """\
ClusterName=hio
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={root}/socket/munge
CryptoType=crypto/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName={host} CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def _running(words: list[str], log: Path, **more: str) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **more)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _own(path: Path, user: str, mode: int) -> None:
    path.mkdir()
    found = pwd.getpwnam(user)
    os.chown(path, found.pw_uid, found.pw_gid)
    path.chmod(mode)


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The configuration of a running cluster of this host alone."""
    missing = [
        each for each in PROGRAMS if shutil.which(each, path=f"{os.environ['PATH']}:/usr/sbin") is None
    ]
    if missing or os.geteuid() != 0:
        pytest.skip(
            f"Slurm cannot be started here ({', '.join(missing) or 'not root'}): no script was run by it"
        )
    host = socket.gethostname().partition(".")[0]
    root = Path(tempfile.mkdtemp(prefix="hio-slurm-", dir="/tmp"))
    root.chmod(0o755)  # munged refuses a socket below a folder that others cannot enter
    try:
        with ExitStack() as stack:
            _own(root / "key", "munge", 0o700)
            _own(root / "socket", "munge", 0o755)
            (root / "key/key").write_bytes(os.urandom(1024))
            shutil.chown(root / "key/key", "munge", "munge")
            (root / "key/key").chmod(0o400)
            for name in ("state", "spool"):
                (root / name).mkdir()
            configuration = root / "slurm.conf"
            configuration.write_text(
                _CONFIGURATION.format(host=host, root=root, ports=[free_port(), free_port()])
            )
            munged = ["/usr/sbin/munged", "--foreground", f"--socket={root}/socket/munge", f"--key-file={root}/key/key",
                      f"--log-file={root}/key/log", f"--pid-file={root}/socket/pid", f"--seed-file={root}/key/seed"]  # fmt: skip
            stack.enter_context(_running(munged, root / "munged.out", user="munge", group="munge"))
            _until(lambda: (root / "socket/munge").exists(), root)
            stack.enter_context(
                _running(["/usr/sbin/slurmctld", "-D", "-f", str(configuration)], root / "slurmctld.out")
            )
            stack.enter_context(
                _running(["/usr/sbin/slurmd", "-D", "-f", str(configuration)], root / "slurmd.out")
            )
            _until(lambda: "idle" in _said(configuration, "sinfo", "--noheader", "-o", "%t"), root)
            yield configuration
    finally:
        shutil.rmtree(root)


def _said(configuration: Path, *words: str) -> str:
    environment = {"SLURM_CONF": str(configuration), "PATH": "/usr/bin:/bin"}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False).stdout


def _until(holds: Callable[[], bool], root: Path) -> None:
    end = time.monotonic() + 600
    while not holds():
        logs = "\n".join(each.read_text(errors="replace")[-500:] for each in root.glob("*.out"))
        assert time.monotonic() < end, logs
        time.sleep(0.1)


def test_slurm_runs_the_script_with_exactly_the_words_and_variables_of_the_stack(
    cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = tmp_path / "show"
    show.write_text('#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/environ\nprintf "<%s>\\n" "$@"\n')
    show.chmod(0o755)
    out = tmp_path / "out.txt"
    place = {
        "targets": {"slurm": {"partition": "main", "output": str(out)}},
        "limits": {"memory_max": "64MiB"},
    }
    monkeypatch.setenv("SLURM_CONF", str(cluster))
    bundle = rendered(tmp_path / "repo", documents([["--x", HARD]], {"A": HARD}, place, str(show)), "slurm")
    assert "--test-only" in bundle.read_back["job.sbatch"]
    script = tmp_path / "job.sbatch"
    script.write_text(text(bundle, "job.sbatch"))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nothing/of/whoever/submits")
    subprocess.run(["sbatch", "--wait", str(script)], check=True, capture_output=True)
    lines = out.read_text().splitlines()
    assert lines[-1] == f"<{HARD}>"
    variables = {line.partition("=")[0]: line.partition("=")[2] for line in lines if not line.startswith("<")}
    assert variables["A"] == HARD
    assert variables["HOME"] == "/"
    assert variables.keys() <= {"PATH", "LANG", "HOME", "A"}


def test_sbatch_refuses_what_the_cluster_has_not(
    cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(cluster))
    place = {"targets": {"slurm": {"partition": "other"}}}
    with pytest.raises(CannotRender, match="sbatch --test-only says"):
        rendered(tmp_path, documents(place=place), "slurm")
