"""The one call of git, and the git that runs beside us while its output is read.

Invariants: every GIT_* variable that a hook exports is scrubbed; nothing is fetched; a git call that fails is an
error and never an empty list. A `git` subprocess costs about a millisecond, a git library eighty.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path


class Unlistable(Exception):
    """The files of a tree cannot be listed; the message says why."""


class GitError(Unlistable):
    """git could not say what was asked; the message is its own, shortened."""

    def __init__(self, message: str, code: int = 0, said: str = "") -> None:
        super().__init__(message)
        self.code = code
        """git's exit code; negative: the signal that ended it; 0 where it never came to that."""
        self.said = said
        """All that it printed."""


_ABOUT_CONFIGURATION = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_GLOBAL",
                        "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")  # fmt: skip
"""Where a person keeps settings such as safe.directory; no hook exports these."""


TRUE_HISTORY = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null/none"}
"""Further environment of a call that must see what the commits themselves say: no replace ref, no graft."""


def git(
    root: Path, *arguments: str, stdin: bytes | None = None, more: Mapping[str, str] | None = None
) -> bytes:
    """The standard output of one git command in `root`. Raises GitError."""
    try:
        done = subprocess.run(
            _command(arguments),
            cwd=root,
            env=_environment(more),
            input=stdin,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror}") from None
    _refuse_failure(arguments[0], done.returncode, done.stderr, done.stdout)
    return done.stdout


class Running:
    """A git command that runs beside us; ended where the `with` block is left before it is done."""

    def __init__(
        self, root: Path, *arguments: str, stdin: Iterable[bytes] = (), more: Mapping[str, str] | None = None
    ) -> None:
        """What git reads is written before it starts, so that neither waits for the other. Raises GitError."""
        self._verb = next(word for word in arguments if not word.startswith("-") and "=" not in word)
        self._said = os.memfd_create("said")
        try:
            with os.fdopen(os.memfd_create("given"), "wb") as given:
                given.writelines(stdin)
                given.flush()
                given.seek(0)
                self._process = subprocess.Popen(
                    _command(arguments), cwd=root, env=_environment(more), stdin=given, stdout=subprocess.PIPE,
                    stderr=self._said,
                )  # fmt: skip
        except OSError as error:
            os.close(self._said)
            raise GitError(f"git cannot be started: {error.strerror}") from None
        assert self._process.stdout is not None
        self.output = self._process.stdout

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self.output.close()
        os.close(self._said)

    def pieces(self) -> Iterator[bytes]:
        """The output as it comes, in bounded pieces. Raises GitError at its end where git failed."""
        while piece := os.read(self.output.fileno(), 1 << 16):
            yield piece
        self.done()

    def done(self) -> None:
        """Wait for the end, after all output was read. Raises GitError where git failed or was killed."""
        code = self._process.wait()
        _refuse_failure(self._verb, code, os.pread(self._said, 1 << 16, 0))


def blobs(root: Path, ids: Sequence[str], more: Mapping[str, str] | None = None) -> Iterator[bytes | None]:
    """The bytes of each object in turn, one in memory at a time; None where git has no such object.

    Raises GitError.
    """
    asked = (id_.encode() + b"\n" for id_ in ids)
    with Running(root, "cat-file", "--batch", "--buffer", stdin=asked, more=more) as running:
        for _ in ids:
            header = running.output.readline()
            if header.endswith(b" missing\n"):
                yield None
                continue
            size = int(header.rpartition(b" ")[2]) if header.endswith(b"\n") else 0
            raw = running.output.read(size + 1)
            if len(raw) <= size:
                running.done()
                raise GitError("git cat-file ended in the middle of an object")
            yield raw[:-1]
        running.done()


def _command(arguments: Sequence[str]) -> list[str]:
    return [
        "git", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false",
        # A commit-graph is no commit: what it says of parents and trees is asked for only where it is verified.
        "-c", "core.commitGraph=false", *arguments,
    ]  # fmt: skip


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_ABOUT_CONFIGURATION)
    }
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C",
        **(more or {}),
    }


def _refuse_failure(verb: str, code: int, stderr: bytes, stdout: bytes = b"") -> None:
    said = stderr.decode(errors="replace").strip().splitlines()
    if code < 0:
        raise GitError(f"git {verb} was ended by signal {-code}", code)
    if code:
        printed = (stdout + stderr).decode(errors="replace")
        sentence = _explained(said[0]) if said else f"git {verb} failed with exit code {code}"
        raise GitError(sentence, code, printed)
    # git lists what it can, warns of the rest, and exits 0.
    unopened = next((line for line in said if "could not open directory" in line), None)
    if unopened:
        raise GitError(unopened)


def _explained(said: str) -> str:
    match = re.search(r"detected dubious ownership in repository at '(.*)'", said)
    if match is None:
        return said
    return (
        f"{said.removeprefix('fatal: ')}: it belongs to somebody else; "
        f"git config --global --add safe.directory '{match[1]}' says that you trust it"
    )


def top_of(folder: Path) -> Path | None:
    """The work tree around a folder, None where there is none. Raises GitError where git refuses to look."""
    try:
        return path_of(git(folder, "rev-parse", "--show-toplevel"))
    except GitError as error:
        if "not a git repository (or any" in str(error) or "must be run in a work tree" in str(error):
            return None
        raise


def path_of(line: bytes) -> Path:
    return Path(os.fsdecode(line.removesuffix(b"\n")))
