"""Carries a plan out: commits exactly the judged tree, keeps the index for everything else, pushes.

Invariants: a commit that is not the judged tree on the planned parent is taken back before anyone sees it; the
index of the user changes only for the committed paths, and only after the commit.
"""

from __future__ import annotations

import os

from hio_validate.checkpoint import remote, tree
from hio_validate.checkpoint.plan import TRAILER, NotNow, Outcome, Plan
from hio_validate.checkpoint.standing import Standing, as_a_person
from hio_validate.history import GitError, git


def carry_out(standing: Standing, plan: Plan) -> Outcome:
    """Commit and, where the plan has a target, push. Raises NotNow, GitError where it stopped; the message says what was done."""
    assert not plan.refusals, "a refused plan is not carried out"
    commit = _commit(standing, plan) if plan.changes else None
    if plan.target is None:
        return Outcome(commit)
    pushed = commit or plan.base
    try:
        return Outcome(commit, pushed, remote.push(standing.top, plan.target, pushed))
    except remote.NotPushed as error:
        return Outcome(commit, failed=str(error))


def _commit(standing: Standing, plan: Plan) -> str:
    paths = [change.path for change in plan.changes]
    try:
        with tree.for_commit(standing, paths) as staged:
            if staged.tree != plan.tree or _head(standing) != plan.base:
                raise NotNow(
                    "the files or the branch changed while they were judged; nothing was committed, try again"
                )
            _run_commit(standing, plan, staged)
        _take_back_what_was_not_judged(standing, plan)
    finally:
        # Also where somebody interrupts after git has committed.
        if _is_planned(standing, plan):
            _update_index(standing, paths)
    return _head(standing)


def _run_commit(standing: Standing, plan: Plan, staged: tree.Staged) -> None:
    try:
        git(standing.top, "commit", "--quiet", "-m", plan.message, "--trailer", f"{TRAILER}: {plan.class_}",
            more={**as_a_person(), **staged.environment})  # fmt: skip
    except GitError as error:
        said = error.said.strip() or str(error)
        raise NotNow(f"git or a hook of it refused the commit; nothing changed. It said:\n{said}") from None


def _take_back_what_was_not_judged(standing: Standing, plan: Plan) -> None:
    if _is_planned(standing, plan):
        return
    head = _head(standing)
    git(standing.top, "update-ref", "-m", "hio checkpoint: taken back", "HEAD", f"{head}^", head)
    raise NotNow(
        "a hook changed what was to be committed, so the commit was taken back; look at the files and try again"
    )


def _is_planned(standing: Standing, plan: Plan) -> bool:
    """Whether the branch ends in exactly the planned commit."""
    found = git(standing.top, "rev-parse", "HEAD^{tree}", "HEAD^@").decode().split()
    return found == [plan.tree, plan.base]


def _head(standing: Standing) -> str:
    return git(standing.top, "rev-parse", "HEAD").decode().strip()


def _update_index(standing: Standing, paths: list[str]) -> None:
    """Let the user's index hold what was committed, for these paths alone."""
    named = b"".join(os.fsencode(path) + b"\0" for path in paths)
    try:
        git(standing.top, "--literal-pathspecs", "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul",
            stdin=named, more={"GIT_OPTIONAL_LOCKS": "1"})  # fmt: skip
    except GitError as error:
        raise NotNow(
            f"the commit was made, but your index could not follow ({error}); "
            "git reset -- FILES does it, else the next commit would take these files back"
        ) from None
