"""hio verdict: what a run shows, and what that may be used for."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, format_option, repo_option, root_of, show, stop, width
from hio_validate.evidence.outcome import Result, Tier
from hio_validate.evidence.tiers import verdict as judge
from hio_validate.history import GitError, git
from hio_validate.report.verdict import as_shape, render
from hio_validate.rules.base import View


@click.command()
@click.argument("run")
@click.option("--metric", metavar="M", help="Judge this metric (default: the one that the plan decides by).")
@click.option(
    "--service", metavar="SITE/NAME", help="The service of the run, where several have one of that name."
)
@click.option("--gate", type=click.Choice(["verdict"]), help="Exit 1 unless the tier is VERDICT.")
@repo_option
@format_option
def verdict(
    run: str, metric: str | None, service: str | None, gate: str | None, repo: Path | None, format_: str
) -> None:
    """Compute what RUN says from its raw rows: improvement, harm, no improvement, within noise, not comparable or not
    measurable; its tier (VERDICT, DRAFT or NEEDS_CONTEXT), and every condition that it meets and misses.

    Exit codes: 0 computed; 1 with --gate verdict, where it is none or git does not keep the run yet; 3 not measurable: an arm has no trial that counts.
    """
    root, found = load_repo(repo)
    item = named(found, "run/v1", run, service)
    known = [name for name, column in item.model.columns.items() if column.better is not None]
    if metric is not None and metric not in known:
        stop(f"{item.name} has no metric {metric}; it measured {', '.join(known) or 'none'}", 2)
    judged = judge(item, View(found), metric)
    show(as_json(as_shape(judged)) if format_ == "json" else render(judged, width()))
    loose = _is_uncommitted(root, item.file, repo)
    if loose:
        click.echo(
            f"hio: {item.name} is not committed: its rows could still be replaced; commit the run", err=True
        )
    if judged.result is Result.NOT_MEASURABLE:
        sys.exit(3)
    sys.exit(1 if gate and (judged.tier is not Tier.VERDICT or loose) else 0)


def _is_uncommitted(root: Path, file: str, repo: Path | None) -> bool:
    """Whether git keeps this repository, and not yet every byte of a run."""
    if not root_of(repo)[1]:
        return False
    try:
        return bool(git(root, "status", "--porcelain", "--ignored", "--", file.rpartition("/")[0]).strip())
    except GitError as error:
        stop(f"git does not say whether {file} is committed: {error}")
