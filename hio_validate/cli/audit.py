"""hio audit: was a ledger entry or a frozen document ever altered? And anchors for the audits to come."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from hio_validate.cli.shared import color, repo_option, root_of, show, stop, user, width
from hio_validate.diagnostic import Report
from hio_validate.history import GitError, anchors
from hio_validate.history import audit as auditing
from hio_validate.history.hidden import NotVerifiable
from hio_validate.report import FORMATS, render
from hio_validate.report.described_rule import DescribedRule


@click.group(invoke_without_command=True)
@repo_option
@click.option(
    "--since", metavar="REV", help="Commit where the last audit ended (default: the first commits)."
)
@click.option("--anchor", "kept", multiple=True, type=click.Path(path_type=Path),
              help="Anchor that was kept elsewhere.")  # fmt: skip
@click.option("--signers", type=click.Path(path_type=Path), help="Allowed signers of decisions (ssh).")
@click.option("--format", "format_", type=click.Choice(list(FORMATS)), default="text", show_default=True,
              help="How to report.")  # fmt: skip
@click.pass_context
def audit(
    ctx: click.Context, repo: Path | None, since: str | None, kept: tuple[Path, ...], signers: Path | None,
    format_: str,
) -> None:  # fmt: skip
    """Prove from git alone that no ledger entry and no frozen document was ever altered.

    Every commit before HEAD is compared with each of its parents. A clone of which a part is missing is not
    verifiable: exit 3, never a pass.
    """
    if ctx.invoked_subcommand:
        if since or kept or signers:
            stop("hio audit anchor audits nothing: leave out --since, --anchor and --signers", 2)
        ctx.obj = repo
        return
    asked = auditing.Asked(since, [_anchor(file) for file in kept], _there(signers) if signers else None)
    try:
        done = auditing.audit(kept_by_git(repo), asked)
    except auditing.UnknownRevision as error:
        stop(str(error), 2)
    except NotVerifiable as error:
        stop(str(error))
    except GitError as error:
        stop(f"history not verifiable: {error}")
    report = _report(done)
    show(render(report, format_, color=color(), width=width(), rules=_rules(format_)))
    sys.exit(report.exit_code)


def _report(done: auditing.Audit) -> Report:
    if not done.found:
        return Report((), documents=done.documents, rules=len(auditing.RULES), audited=done.audited)
    from hio_validate import engine  # nothing to judge in most histories, and rules are slow to load

    return engine.of_history(done.found, done.documents, done.audited)


def _rules(format_: str) -> Sequence[DescribedRule]:
    if format_ != "sarif":
        return ()
    from hio_validate.rules import RULES  # only SARIF lists the rules that ran

    return [rule for rule in RULES if rule.id in auditing.RULES]


def _anchor(file: Path) -> anchors.Anchor:
    try:
        return anchors.read_exported(_there(file))
    except anchors.NoAnchor as error:
        stop(str(error), 2)
    except OSError as error:
        stop(f"{file} cannot be read: {error.strerror}")


def _there(file: Path) -> Path:
    if not file.exists():
        stop(f"{file} does not exist", 2)
    return file.absolute()


def kept_by_git(repo: Path | None) -> Path:
    """The folder of the rooms; ends where no git keeps it."""
    root, kept = root_of(repo)
    if not kept:
        stop(f"{root} is no git repository, so there is no history to audit", 2)
    return root


@audit.command(short_help="Remember what every later history must contain.")
@repo_option
@click.option("--service", metavar="SITE/NAME", help="One service (default: each that has a ledger).")
@click.option("--by", help="Who anchors (default: the user).")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write a file to keep elsewhere, and no entry."
)
@click.pass_obj
def anchor(
    above: Path | None, repo: Path | None, service: str | None, by: str | None, output: Path | None
) -> None:
    """Write HEAD and the ledger's tips into an anchor entry, or into a file to keep elsewhere.

    Anchor what is published: a commit that is rebased later is lost to its anchor. Nothing is written while a
    ledger has changes that no commit has.
    """
    # Imported late: an audit itself reads no document.
    from hio_validate.cli import anchoring

    try:
        repo = repo or above
        anchoring.anchor(kept_by_git(repo), repo, service, by or user(), output)
    except NotVerifiable as error:
        stop(str(error))
    except GitError as error:
        stop(f"could not read {repo or Path.cwd()}: {error}")
