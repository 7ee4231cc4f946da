"""hio review: what a pull request changes in what serves, on one page."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from hio_validate import history, parents
from hio_validate.cli.shared import color, repo_option, root_of, show, stop, width
from hio_validate.places import service_of
from hio_validate.report.review import as_page_of_markdown, as_page_of_text
from hio_validate.report.review.json_ import render
from hio_validate.review import review as reviewed
from hio_validate.review.changes import Review
from hio_validate.spelling import nearest


@click.command()
@click.argument("range_", metavar="BASE..HEAD", required=False)
@click.option("--staged", is_flag=True, help="Review what the next commit would change (the index).")
@click.option("--service", metavar="SITE/NAME", help="Tell of this service only.")
@click.option("--gate", "gates", multiple=True, type=click.Choice(["tested", "accepted", "deploy"]),
              help="Exit 1 on gates, too: on what keeps a stack from being deployed.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["text", "markdown", "json"]), default="text",
              show_default=True, help="How to report.")  # fmt: skip
@repo_option
def review(
    range_: str | None, staged: bool, service: str | None, gates: tuple[str, ...], format_: str, repo: Path | None
) -> None:  # fmt: skip
    """Say what changes in what serves between two revisions, on which evidence, and what blocks it.

    HEAD is compared with the commit where it left BASE, as a pull request shows it. Exit 0: nothing blocks
    merging; 1: errors at HEAD, or gates that were asked for; 3: cannot compare.
    """
    if (range_ is None) is not staged:
        stop("expected BASE..HEAD or --staged, and not both; hio review --help", 2)
    root, kept = root_of(repo)
    if not kept:
        stop(f"{root} is no git repository, so there is nothing to compare", 2)
    try:
        found = _staged(root, service, gates) if range_ is None else _range(root, range_, service, gates)
    except history.Unlistable as error:
        stop(f"cannot compare: {error}")
    show(_rendered(found, format_))
    sys.exit(found.exit_code)


def _refuse_unknown(service: str | None, *trees: history.Objects | parents.Parents) -> None:
    """A misspelt service would find nothing to tell, and look like a change that nothing blocks."""
    known = {named for tree in trees for path in tree.paths() if (named := service_of(path))}
    if service is not None and service not in known:
        near = nearest(service, known)
        stop(f"no service is called {service}" + (f"; did you mean {near}?" if near else ""), 2)


def _rendered(found: Review, format_: str) -> str:
    if format_ == "json":
        return render(found)
    if format_ == "markdown":
        return as_page_of_markdown(found)
    return as_page_of_text(found, width(), color())


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _staged(root: Path, service: str | None, gates: tuple[str, ...]) -> Review:
    after = history.index_of(root)
    before = parents.of_next_commit(root)
    basis = "The index was compared with HEAD."
    if before is None:
        before = parents.Parents((("HEAD", history.Objects(root, {})),))
        basis = "The index was compared with nothing: there is no commit yet."
    _refuse_unknown(service, before, after)
    return reviewed(before, after, ("HEAD", "index"), basis, _now(), service, gates)


def _range(root: Path, range_: str, service: str | None, gates: tuple[str, ...]) -> Review:
    base, head = _ends(range_)
    parted = history.parted_at(root, base, head)
    before, after = parents.of_revision(root, parted[:12]), history.revision(root, head)
    assert before is not None
    assert after is not None
    if parted == history.commit_of(root, base):
        basis = f"{head} was compared with {base} ({parted[:12]})."
    else:
        basis = f"{head} was compared with {parted[:12]}, where it left {base}, which has moved on since."
    _refuse_unknown(service, before, after)
    return reviewed(before, after, (base, head), basis, _now(), service, gates)


def _ends(range_: str) -> tuple[str, str]:
    """BASE and HEAD of `BASE..HEAD`; `BASE...HEAD` is the same, an end that is left out is HEAD."""
    base, dots, head = range_.partition("...") if "..." in range_ else range_.partition("..")
    ends = base or "HEAD", head or "HEAD"
    if not dots or any(end.startswith("-") or ".." in end for end in ends):
        stop(f"{range_} is no range; expected BASE..HEAD, e.g. origin/main..HEAD", 2)
    return ends
