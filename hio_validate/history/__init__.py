"""What git holds: trees of files, and how they came to be. The only caller of git.

The audit of a history is imported from its own module: who reads trees does not wait for it.
"""

from hio_validate.history.git import GitError, Unlistable, git, top_of
from hio_validate.history.trees import (
    Folder,
    Objects,
    WorkTree,
    changed_in_index,
    commit_of,
    has_commit,
    index_of,
    parted_at,
    revision,
)

__all__ = [
    "Folder",
    "GitError",
    "Objects",
    "Unlistable",
    "WorkTree",
    "changed_in_index",
    "commit_of",
    "git",
    "has_commit",
    "index_of",
    "parted_at",
    "revision",
    "top_of",
]
