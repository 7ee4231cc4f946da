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
PER_ROUND = 10
"""Commits in one round of `_Writer.rounds`."""


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
    made: int = 0
    tips: dict[str, dict[str, str]] = field(default_factory=lambda: {service: {} for service in SERVICES})
    """Service -> id of each tip -> digest of its bytes."""

    def stream(self, commits: int) -> Iterator[bytes]:
        yield self._commit("refs/heads/main", "begin", dict(self._first()))
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
        main, side = "refs/heads/main", "refs/heads/side"
        draft = f"manifests/services/{service}/stacks/draft.yaml"
        yield self._commit(main, "draft", {draft: _stack("draft", turn + 2)})
        yield self._commit(main, "decide", dict([self._decision(service)]))
        tips = dict(self.tips[service])
        forked = f"{main}"
        yield self._commit(side, "side", dict([self._decision(service)]), forked)
        yield self._commit(side, "side again", dict([self._decision(service)]))
        theirs, self.tips[service] = self.tips[service], tips
        yield self._commit(main, "notes", {"NOTES.md": b"round %d\n" % turn})
        own = dict([self._decision(service)])
        yield self._commit(main, "main", own)
        # fast-import keeps the first parent's files; what the side added is given again.
        yield self._commit(main, "merge", self._on_side, merge=side)
        self.tips[service] |= theirs
        yield self._commit(main, "close", dict([self._entry(service, f"m{self.made}", "kind: merge\n")]))
        yield self._commit(main, "decide again", dict([self._decision(service)]))
        yield self._commit(main, "docs", {f"docs/{turn % 50}.md": b"page %d\n" % turn})
        self._on_side.clear()

    _on_side: dict[str, bytes] = field(default_factory=dict)

    def _decision(self, service: str) -> tuple[str, bytes]:
        body = "kind: decision\ndecision: keep-research\nfactor: server.threads\nnext: the same with a long prefill\n"
        return self._entry(service, f"d{self.made}", body)

    def _entry(self, service: str, id_: str, body: str) -> tuple[str, bytes]:
        at = BEGIN + self.step * self.made
        after = ", ".join(f"{tip}@{digest}" for tip, digest in sorted(self.tips[service].items()))
        raw = (
            f"hio: entry/v1\nid: {id_}\nservice: {service}\nafter: [{after}]\nby: someone\n"
            f'at: "{at:%Y-%m-%dT%H:%M:%SZ}"\nbecause: "commit {self.made} of a benchmark"\n{body}'
        ).encode()
        self.tips[service] = {id_: _digest(raw)}
        return f"ledger/{service}/{at:%Y}/{id_}.yaml", raw

    def _commit(
        self, branch: str, said: str, files: dict[str, bytes], forked: str = "", merge: str = ""
    ) -> bytes:
        if branch.endswith("side"):
            self._on_side |= files
        seconds = int((BEGIN + self.step * self.made).timestamp())
        self.made += 1
        lines = [f"commit {branch}\ncommitter Someone <someone@example.org> {seconds} +0000\n"]
        lines += [f"data {len(said)}\n{said}\n"]
        lines += [f"from {forked}\n"] if forked else []
        lines += [f"merge {merge}\n"] if merge else []
        pieces = ["".join(lines).encode()]
        for path, raw in files.items():
            pieces.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(raw), raw))
        return b"".join(pieces)


def _stack(name: str, threads: int) -> bytes:
    return (
        f"hio: stack/v1\nname: {name}\nprocesses:\n  server:\n    engine: llama-server\n"
        f'    argv:\n      - ["--threads", "{threads}"]\n'
    ).encode()


def _digest(raw: bytes) -> str:
    return "sha256:" + sha256(raw).hexdigest()
