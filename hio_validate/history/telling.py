"""Says what was done to a frozen file: which commit, which file, which entry, what to do now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hio_validate.diagnostic import Diagnostic, Location, Related, Severity
from hio_validate.history.alterations import Alteration, Course
from hio_validate.history.git import TRUE_HISTORY, GitError, git
from hio_validate.history.log import LINK, REGULAR, SUBMODULE, Change, Commit, commits, short
from hio_validate.history.redactions import Redactions
from hio_validate.places import ROOMS, frozen, place_of

RULE = "history-altered"
_TYPES = {LINK: "a symbolic link", SUBMODULE: "a submodule"}
_KINDS = {
    "stacks": "stack",
    "plans": "plan",
    "fixtures": "fixture",
    "captures": "capture",
    "matrix": "matrix",
}


@dataclass(frozen=True)
class Telling:
    """The findings of one course of history."""

    course: Course
    redactions: Redactions

    def alterations(self, found: Sequence[Alteration]) -> list[Diagnostic]:
        """One finding for each; a note where a redaction names exactly these bytes."""
        undone = {(each.change.path, each.change.old): each.change.commit for each in found}
        return [self._alteration(each, undone) for each in found]

    def never_files(self, told: set[str]) -> Iterator[Diagnostic]:
        """What stands in a frozen place now and is no file there: links, submodules, Git LFS pointers."""
        for path, (mode, id_) in self.course.record.files.items():
            if path in told or not (frozen(path) or path.startswith("ledger/") or path in ROOMS):
                continue
            what = _TYPES.get(mode) or ("a Git LFS pointer" if id_ in self.course.record.pointers else "")
            if what:
                yield Diagnostic(
                    RULE,
                    Severity.ERROR,
                    f"{named(path)} was added as {what} in {self._since(path)}; what it leads to is not recorded",
                    Location(path),
                    "keep the bytes themselves in git under a new name, and say why in a correction entry",
                )

    def _alteration(self, each: Alteration, undone: Mapping[tuple[str, str], str]) -> Diagnostic:
        change, commit = each.change, self.course.commit(each.change.commit)
        redaction = self.redactions.get((change.path, self.course.digests.get(change.old, "")))
        before = self._given_back(change, undone)
        said = [f"{named(change.path)}{_pinned(each)} {self._happened(each, commit)} in {_place(commit)}"]
        said += self._which_parents(change, commit)
        said += self._back_today(change)
        said += [f"this gave it back the bytes that {short(before)} had taken from it"] if before else []
        said += [f"redacted by {named(redaction)}"] if redaction else []
        related = [Related("the redaction", Location(redaction))] if redaction else []
        related += [Related("pinned here", Location(each.holder.path))] if each.holder else []
        severity = Severity.NOTE if redaction else Severity.ERROR
        help_ = "" if redaction else self._help(change, bool(before))
        return Diagnostic(RULE, severity, "; ".join(said), Location(change.path), help_, tuple(related))

    def _happened(self, each: Alteration, commit: Commit) -> str:
        change = each.change
        if each.came_from:
            return f"was moved here from {each.came_from}{'' if change.old == change.new else ' and edited'}"
        if change.status == "D":
            return _gone(change, commit)
        if change.new_mode in _TYPES:
            return f"was replaced by {_TYPES[change.new_mode]}"
        if change.old_mode in _TYPES:
            return f"was {_TYPES[change.old_mode]} and became a file"
        if change.old == change.new:
            return f"got the mode {change.new_mode} (it was {change.old_mode})"
        if change.new in self.course.record.pointers:
            return "was replaced by a Git LFS pointer, which is only a hash,"
        return "was edited"

    def _which_parents(self, change: Change, commit: Commit) -> Iterator[str]:
        """Of a merge: where the file was whole, and whether the merge made up what it has now."""
        if len(commit.parents) < 2:
            return
        states = {parent: self.course.tree(parent).get(change.path) for parent in commit.parents}
        had = [short(parent) for parent, state in states.items() if state == (change.old_mode, change.old)]
        if had:
            yield f"its parent {' and '.join(had)} had it"
        after = None if change.status == "D" else (change.new_mode, change.new)
        if after not in states.values():
            yield "no parent has it as the merge has it"

    def _back_today(self, change: Change) -> Iterator[str]:
        stands = self.course.record.files.get(change.path)
        if change.status == "D" and stands:
            same = stands == (change.old_mode, change.old)
            yield f"it is back at HEAD, {'the same' if same else 'with other bytes'}"

    def _given_back(self, change: Change, undone: Mapping[tuple[str, str], str]) -> str | None:
        """The earlier commit whose alteration this one took back."""
        other = undone.get((change.path, change.new))
        changed = change.status != "D" and change.old != change.new
        return other if changed and other and self._before(other, change.commit) else None

    def _help(self, change: Change, given_back: bool) -> str:
        right = short(change.commit) if given_back else "the commit that puts it right"
        later = f"say what happened in a correction entry; --since {right} audits what came later"
        after = None if change.status == "D" else (change.new_mode, change.new)
        if given_back or self.course.record.files.get(change.path) != after:
            return later
        recorded = (
            f"git cat-file -p {short(change.old)} shows what was recorded; "
            if change.old_mode in REGULAR
            else ""
        )
        return f"{recorded}restore it in a new commit and {later} (bytes that had to go: a redaction entry)"

    def _before(self, one: str, other: str) -> bool:
        if one == other:
            return False
        try:
            git(self.course.at.root, "merge-base", "--is-ancestor", one, other, more=TRUE_HISTORY)
        except GitError as error:
            if error.code == 1:
                return False
            raise
        return True

    def _since(self, path: str) -> str:
        root, head = self.course.at.root, self.course.at.head
        more = {**TRUE_HISTORY, "GIT_LITERAL_PATHSPECS": "1"}
        id_ = (
            git(root, "log", "-1", "--format=%H", "--no-show-signature", head, "--", path, more=more)
            .decode()
            .strip()
        )
        return str(commits(root, [id_], self.course.at.prefix)[id_])


def named(path: str) -> str:
    """A file as people call it: entry b0, run r1, file rows.tsv of run r1, stack base."""
    kind, name = frozen(path), place_of(path)[0]
    if kind == "file of a run":
        run, _, file = path.partition("/runs/")[2].partition("/")
        return f"file {file} of run {run}" if file else f"file {run} among runs"
    if kind:
        return f"{kind} {name}"
    room = path.split("/")[4:5] if path.startswith("manifests/services/") else path.split("/")[:1]
    return f"{_KINDS.get(''.join(room), 'document')} {name or path}"


def _pinned(each: Alteration) -> str:
    return f", pinned by {named(each.holder.path)}," if each.holder else ""


def _place(commit: Commit) -> str:
    return f"the merge {commit}" if len(commit.parents) > 1 else f"commit {commit}"


def _gone(change: Change, commit: Commit) -> str:
    """Deleted, moved, or covered by a link or a submodule that took the place of a folder."""
    added = [each for each in commit.changes if each.status == "A"]
    moved = next(
        (each.path for each in added if (each.new, each.new_mode) == (change.old, change.old_mode)), None
    )
    if moved and moved.casefold() == change.path.casefold():
        return f"was renamed to {moved}, which differs in upper and lower case only,"
    if moved:
        return f"was moved to {moved}"
    above = next(
        (each for each in added if change.path.startswith(f"{each.path}/") and each.new_mode in _TYPES), None
    )
    if above:
        return f"was replaced, with its folder, by {_TYPES[above.new_mode]} {above.path}"
    return "was deleted"
