"""hio validate: judge the documents of a repository, its index, or some files with what depends on them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli.shared import repo_option
from hio_validate.report import FORMATS
from hio_validate.validating import judge


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@repo_option
@click.option("--staged", is_flag=True, help="Judge what the next commit would add or change (the index).")
@click.option(
    "--changed-from", metavar="REV", help="Compare frozen documents with this revision (default: HEAD)."
)
@click.option(
    "--frozen", is_flag=True, help="Judge only entries, runs and captures, which no later commit can mend."
)
@click.option("--gate", "gates", multiple=True, type=click.Choice(["tested", "accepted", "deploy"]),
              help="Fail on gates, too: on what keeps a stack from being tested, accepted or deployed.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(list(FORMATS)), default="text", show_default=True,
              help="How to report.")  # fmt: skip
def validate(
    paths: tuple[Path, ...], repo: Path | None, staged: bool, changed_from: str | None,
    frozen: bool, gates: tuple[str, ...], format_: str,
) -> None:  # fmt: skip
    """Check documents: all of the repository, or PATHS with what they depend on and what depends on them.

    Errors block; gates are honest work that is not deployable yet and block with --gate; notes are worth
    knowing.
    """
    sys.exit(
        judge(
            paths, repo, staged=staged, changed_from=changed_from, gates=gates, format_=format_, frozen=frozen
        )
    )
