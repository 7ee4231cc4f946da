"""A git repository with a long honest history for benchmarks/audit.py: the same commits for the same arguments.

Several services, each with a ledger sharded by year that grows by valid entries; every tenth commit is a merge of
two branches that both appended, closed by a merge entry; drafts are edited, files outside the rooms change, too.
Written through `git fast-import`, one stream, a few seconds for 100,000 commits.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

SERVICES = ("lab/alpha", "lab/beta", "lab/gamma", "rack/delta")
BEGIN = datetime(2016, 1, 1, tzinfo=UTC)
YEARS = 10
MAIN, SIDE = "refs/heads/main", "refs/heads/side"


def write(folder: Path, commits: int) -> None:
    """A new repository with about that many commits (the last round is finished), packed as a clone is."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch", "main")
    writer = _Writer(timedelta(days=365 * YEARS) / commits)
    with subprocess.Popen(
        ["git", "fast-import", "--quiet", "--done"], cwd=folder, stdin=subprocess.PIPE
    ) as importing:
        assert importing.stdin is not None
        for piece in writer.stream(commits):
            importing.stdin.write(piece)
        importing.stdin.write(b"done\n")
        importing.stdin.close()
    if importing.returncode:
        raise RuntimeError(f"git fast-import ended with {importing.returncode}")
    _git(folder, "-c", "gc.writeCommitGraph=false", "-c", "repack.writeBitmaps=false", "gc", "--quiet")
    _git(folder, "reset", "--quiet", "--hard", "main")


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


@dataclass
class _Writer:
    step: timedelta
    """Between two commits."""
    made: int = 0
    tips: dict[str, dict[str, str]] = field(default_factory=lambda: {service: {} for service in SERVICES})
    """Service -> id of each tip -> digest of its bytes."""

    def stream(self, commits: int) -> Iterator[bytes]:
        yield self._commit(MAIN, dict(self._first()))
        turn = 0
        while self.made < commits:
            yield from self._round(SERVICES[turn % len(SERVICES)], turn)
            turn += 1

    def _first(self) -> Iterator[tuple[str, bytes]]:
        for service in SERVICES:
            stack = _stack("base", 1)
            yield f"manifests/services/{service}/stacks/base.yaml", stack
            pins = f'pins: {{stack: "base@{_digest(stack)}"}}\n'
            yield self._entry(service, "baseline", "kind: baseline\n" + pins)

    def _round(self, service: str, turn: int) -> Iterator[bytes]:
        """Ten commits: drafts, decisions, and two branches that both append, merged and closed."""
        draft = f"manifests/services/{service}/stacks/draft.yaml"
        yield self._commit(MAIN, {draft: _stack("draft", turn + 2)})
        yield self._commit(MAIN, self._decision(service))
        forked = dict(self.tips[service])
        first = self._decision(service)
        yield self._commit(SIDE, first, after=MAIN)
        second = self._decision(service)
        yield self._commit(SIDE, second)
        theirs, self.tips[service] = self.tips[service], forked
        yield self._commit(MAIN, {"NOTES.md": b"round %d\n" % turn})
        yield self._commit(MAIN, self._decision(service))
        # fast-import begins with the first parent's files: what the side added is given again.
        yield self._commit(MAIN, first | second, merged=SIDE)
        self.tips[service] |= theirs
        yield self._commit(MAIN, dict([self._entry(service, f"m{self.made}", "kind: merge\n")]))
        yield self._commit(MAIN, self._decision(service))
        yield self._commit(MAIN, {f"docs/{turn % 50}.md": b"page %d\n" % turn})

    def _decision(self, service: str) -> dict[str, bytes]:
        body = "kind: decision\ndecision: keep-research\nfactor: server.threads\nnext: the same with a long prefill\n"
        return dict([self._entry(service, f"d{self.made}", body)])

    def _entry(self, service: str, id_: str, body: str) -> tuple[str, bytes]:
        """File and bytes of an entry after the service's tips, whose only tip it becomes."""
        at = BEGIN + self.step * self.made
        after = ", ".join(f"{tip}@{digest}" for tip, digest in sorted(self.tips[service].items()))
        raw = (
            f"hio: entry/v1\nid: {id_}\nservice: {service}\nafter: [{after}]\nby: someone\n"
            f'at: "{at:%Y-%m-%dT%H:%M:%SZ}"\nbecause: "commit {self.made} of a benchmark"\n{body}'
        ).encode()
        self.tips[service] = {id_: _digest(raw)}
        return f"ledger/{service}/{at:%Y}/{id_}.yaml", raw

    def _commit(self, branch: str, files: dict[str, bytes], after: str = "", merged: str = "") -> bytes:
        seconds = int((BEGIN + self.step * self.made).timestamp())
        self.made += 1
        head = f"commit {branch}\ncommitter Someone <someone@example.org> {seconds} +0000\ndata 0\n"
        head += f"from {after}\n" if after else ""
        head += f"merge {merged}\n" if merged else ""
        changed = (
            b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(raw), raw)
            for path, raw in files.items()
        )
        return head.encode() + b"".join(changed)


def _stack(name: str, threads: int) -> bytes:
    return (
        f"hio: stack/v1\nname: {name}\nprocesses:\n  server:\n    engine: llama-server\n"
        f'    argv:\n      - ["--threads", "{threads}"]\n'
    ).encode()


def _digest(raw: bytes) -> str:
    return "sha256:" + sha256(raw).hexdigest()
