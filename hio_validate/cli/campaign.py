"""hio campaign: begin several plans around one question, say what they would do, run them one after the other."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate import focused, history, parents
from hio_validate.campaigns.prospect import CampaignProspect, outlook
from hio_validate.cli import campaign_cells, run_plan
from hio_validate.cli.campaign_new import new
from hio_validate.cli.loading import load_repo, named, tree_of
from hio_validate.cli.shared import as_json, color, format_option, repo_option, root_of, show, stop, width
from hio_validate.diagnostic import Report, Severity
from hio_validate.execute import jobs, preflight
from hio_validate.execute.journal import now
from hio_validate.repo import Item, Repo, references
from hio_validate.report import campaign as page
from hio_validate.report import text
from hio_validate.report.refusals import refusals
from hio_validate.rules.base import View

service_option = click.option(
    "--service", metavar="SITE/NAME", help="Whose campaign, where several services have one of that name."
)


@click.group()
def campaign() -> None:
    """Several plans around one question: begin, check and run them."""


@campaign.command(short_help="Say what a campaign would do, and what speaks against it.")
@click.argument("name", metavar="CAMPAIGN")
@service_option
@click.option("--gate", "gates", multiple=True, type=click.Choice(["tested", "accepted", "deploy"]),
              help="Fail on gates, too.")  # fmt: skip
@repo_option
@format_option
def check(name: str, service: str | None, gates: tuple[str, ...], repo: Path | None, format_: str) -> None:
    """Dry run of CAMPAIGN: its run id; of each cell what it does, how long at most, what it stops and which approvals it
    lacks; acts that are not acknowledged; what the rules find in the campaign, its plans, fixtures and stacks.

    Exit codes: 0 it may run; 1 something speaks against it.
    """
    root, found = load_repo(repo)
    item = named(found, "campaign/v1", name, service)
    report = judged(repo, item, found, gates)
    seen = outlook_of(found, item, root)
    code = 1 if report.exit_code or seen.refused else 0
    if format_ == "json":
        show(as_json(page.as_shape(seen, report, code)))
    else:
        show(
            page.render(seen, width(), judged=True)
            + page.next_step(seen, report, width())
            + "\n"
            + text.render(report, color=color(), width=width(), grouped=True)
        )
    sys.exit(code)


@campaign.command("show", short_help="Tell the campaigns of a repository, or how one stands.")
@click.argument("name", metavar="CAMPAIGN", required=False)
@service_option
@repo_option
@format_option
def show_(name: str | None, service: str | None, repo: Path | None, format_: str) -> None:
    """Tell how CAMPAIGN stands on this host, or list the campaigns of the repository. Judges nothing.

    Exit codes: 0 told; 3 there is no campaign.
    """
    root, found = load_repo(repo)
    items = [named(found, "campaign/v1", name, service)] if name else list(found.of("campaign/v1"))
    seen = [outlook_of(found, item, root) for item in items if service in (None, item.service)]
    if not seen:
        stop("no campaign is in this repository; hio campaign new begins one", 3)
    if format_ == "json":
        show(as_json({"version": 1, "campaigns": [page.as_shape(each, None, 0) for each in seen]}))
    else:
        show("\n".join(page.render(each, width()) for each in seen))


campaign.add_command(new)


@campaign.command(short_help="Run the cells of a campaign, one after the other, under guard.")
@click.argument("name", metavar="CAMPAIGN")
@service_option
@click.option("--yes", is_flag=True, help="Start or go on; without it only the page is shown.")
@click.option("--close", is_flag=True, help="Run nothing more: write down what became of it as it stands.")
@repo_option
@format_option
def run(name: str, service: str | None, yes: bool, close: bool, repo: Path | None, format_: str) -> None:
    """Run the cells of CAMPAIGN on this host, each as hio run does; a cell that fails does not end the others.

    All carry one run id. What was interrupted goes on where it stood when this is called again: completed cells are not
    repeated, a running one is watched. At the end a record pins every run.

    Exit codes: 0 all cells completed; 1 refused, or a cell was not completed; 3 nothing was measured.
    """
    root, found = load_repo(repo)
    item = named(found, "campaign/v1", name, service)
    seen = outlook_of(found, item, root)
    if close:
        _close(seen, root, format_)
    _refuse(repo, seen, item, found, format_)
    if not yes:
        if format_ == "json":
            show(as_json(page.as_shape(seen, None, 0)))
        else:
            show(page.render(seen, width()) + "\nnothing has happened yet; add --yes to start it\n")
        return
    if format_ == "text":
        show(page.render(seen, width()) + "\n")
    sys.exit(campaign_cells.run(seen, root, format_))


def outlook_of(found: Repo, item: Item, root: Path) -> CampaignProspect:
    """What a campaign would do on this host now."""
    return outlook(
        item, View(found), root, jobs.state_folder(), now(),
        lambda plan, job: run_plan.prepared(found, plan, root, job),
    )  # fmt: skip


def judged(repo: Path | None, item: Item, found: Repo, gates: tuple[str, ...]) -> Report:
    """What the rules say of a campaign, and of the plans, fixtures and stacks that it leads to."""
    root, kept = root_of(repo)
    files, waiting = {item.file}, [item]
    while waiting:
        for each in references(waiting.pop()):
            cited = found.find(each.kind, each.name, item.service)
            if (
                cited is not None
                and each.kind in ("plan/v1", "fixture/v1", "stack/v1", "tasks/v1")
                and cited.file not in files
            ):
                files |= focused.with_beside([cited])
                waiting.append(cited)
    try:
        before = parents.of_revision(root) if kept else None
        return focused.judge(tree_of(repo), before, files, gates, files.__contains__)
    except history.Unlistable as error:
        stop(f"could not read {root}: {error}")


def _refuse(repo: Path | None, seen: CampaignProspect, item: Item, found: Repo, format_: str) -> None:
    """End where anything speaks against it; every reason is told."""
    report = judged(repo, item, found, ())
    reasons = [
        f"{each.location.file}:{each.location.line}: {each.message} [{each.rule}]"
        for each in report.of(Severity.ERROR)
        if each.location.file == item.file  # what is wrong with a plan, its cell says
    ]
    reasons = list(dict.fromkeys([*reasons, *seen.refused]))
    unsafe = preflight.refused(jobs.state_folder())
    if unsafe and not any(each.standing.state in ("running", "unsafe") for each in seen.cells):
        reasons.append(unsafe)
    if not reasons:
        return
    if format_ == "json":
        show(as_json({**page.as_shape(seen, None, 1), "refused": reasons}))
    else:
        show(refusals(reasons, width()))
    sys.exit(1)


def _close(seen: CampaignProspect, root: Path, format_: str) -> None:
    if seen.begun is None:
        stop(f"no run of {seen.item.name} is open on this host, so there is nothing to close", 1)
    running = [each.name for each in seen.cells if each.standing.state in ("running", "unsafe")]
    if running:
        stop(f"the cell {running[0]} still runs, or left this host unsafe: hio runs shows it", 1)
    sys.exit(campaign_cells.finish(seen, root, format_))
