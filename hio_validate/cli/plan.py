"""hio plan: begin a prespecified experiment, and say before it runs what it can show."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from hio_validate import focused, history, parents
from hio_validate.cli.loading import load_repo, not_there, the_service, tree_of
from hio_validate.cli.new_files import create_all
from hio_validate.cli.shared import as_json, color, format_option, repo_option, root_of, show, stop, width
from hio_validate.diagnostic import Report
from hio_validate.evidence.metrics import METRICS
from hio_validate.execute import preflight
from hio_validate.plans.begin import begin
from hio_validate.plans.compared import asked, default_name, of_a_a, of_test
from hio_validate.plans.delta import delta_of, of_delta
from hio_validate.plans.fixtures import fixture_is_there, no_fixture
from hio_validate.plans.refusal import CannotPlan
from hio_validate.prospect import prospect
from hio_validate.repo import Item, Repo, references
from hio_validate.report import render as render_report
from hio_validate.report.paragraph import paragraph
from hio_validate.report.plan import as_shape, render
from hio_validate.rules.base import View
from hio_validate.settings.places import place_of


@click.group()
def plan() -> None:
    """Begin a prespecified experiment, and check it before it runs."""


@plan.command("new", short_help="Begin a plan from a row that awaits its measurement.")
@click.argument("factor", required=False)
@click.option("--service", metavar="SITE/NAME", help="The service (default: the only one).")
@click.option("--matrix", help="The matrix whose row it is (default: the next test of the ledger).")
@click.option("--set", "delta", multiple=True, metavar="SETTING=VALUE",
              help="Change this on the current parent, though no matrix asks for it; may be repeated.")  # fmt: skip
@click.option(
    "--stack", help="With --set or --a-a: the stack that is measured (default: the current parent)."
)
@click.option(
    "--a-a", is_flag=True, help="Compare the current parent, or --stack, with itself: how large is the noise?"
)
@click.option("--screening", is_flag=True, help="Only look: two legs an arm, decides nothing.")
@click.option("--fixture", help="The request that is measured (default: the one of the latest run).")
@click.option("--metric", type=click.Choice(list(METRICS)),
              help="What decides (default: decode_tps, tpot_ms where a server does not time itself).")  # fmt: skip
@click.option("--name", help="Name of the plan (default: setting and value).")
@repo_option
def new(
    factor: str | None, service: str | None, matrix: str | None, delta: tuple[str, ...], stack: str | None,
    a_a: bool, screening: bool, fixture: str | None, metric: str | None, name: str | None, repo: Path | None,
) -> None:  # fmt: skip
    """Begin the plan of the next asked test, of FACTOR, or of --set: parent against parent with this one change.

    What the documents say is filled in. What only a person can say stands as TODO, and hio plan check refuses the
    plan until it is written. An existing file is never replaced.
    """
    if a_a and (factor or matrix or screening or delta):
        stop("--a-a compares the parent with itself: leave FACTOR, --matrix, --set and --screening out", 2)
    if delta and (factor or matrix):
        stop("--set says what is changed itself: leave FACTOR and --matrix out", 2)
    if stack and not (delta or a_a):
        stop("--stack goes with --set or --a-a; without them a matrix says which stack it is about", 2)
    root, found = load_repo(repo)
    view = View(found)
    named = the_service(found, service)
    stage = "a-a" if a_a else "screening" if screening else "confirmation"
    try:
        compared = (
            of_a_a(view, named, stack)
            if a_a
            else of_delta(view, named, stack, delta_of(delta))
            if delta
            else of_test(view, named, asked(view, named, factor, matrix))
        )
        if fixture is not None and not fixture_is_there(view, named, fixture):
            stop(no_fixture(view, named, fixture), 2)
        called = name or default_name(compared, stage)
        begun = begin(view, named, compared, stage, called, metric, fixture)
    except CannotPlan as error:
        stop(str(error), 2)
    create_all(root, begun.files, "give another --name")
    click.echo(paragraph(f"{called}: {begun.said}", width()), nl=False)
    for hint in begun.hints:
        click.echo(paragraph(hint, width()), nl=False)
    if begun.todo:
        texts = "1 text" if begun.todo == 1 else f"{begun.todo} texts"
        stand = "stands" if begun.todo == 1 else "stand"
        said, then = f"next: write the {texts} that {stand} as TODO, then", f"hio plan check {called}"
        click.echo(said + (" " if len(said) + len(then) < width() else "\n  ") + then)
    else:
        click.echo(f"next: hio plan check {called}")


@plan.command("check", short_help="Say what is wrong with a plan, what it can show and what it needs.")
@click.argument("name", metavar="PLAN")
@click.option("--service", metavar="SITE/NAME", help="Where the name alone is not enough.")
@click.option("--gate", "gates", multiple=True, type=click.Choice(["tested", "accepted", "deploy"]),
              help="Fail on gates, too: on what keeps its run from a verdict.")  # fmt: skip
@repo_option
@format_option
def check(name: str, service: str | None, gates: tuple[str, ...], repo: Path | None, format_: str) -> None:
    """Judge PLAN with its fixtures and stacks, and say what it can show before its first leg.

    Legs and the smallest p that they can give, the longest duration, what is stopped, and which approvals it needs
    and has. Exit 1 on errors, and on gates with --gate.
    """
    _, found = load_repo(repo)
    item = _named(found, name, service)
    report = _judged(repo, item, found, gates)
    if item.model is None:
        show(render_report(report, format_, color=color(), width=width()))
        sys.exit(report.exit_code)
    page = prospect(item, View(found), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    place = place_of(item.service, found)
    held = preflight.held(page.plan, page.port, place.port if place else None)
    if format_ == "json":
        show(as_json(as_shape(page, report, report.exit_code, held)))
    else:
        show(render(page, report, held=held, color=color(), width=width()))
    sys.exit(report.exit_code)


def _named(found: Repo, name: str, service: str | None) -> Item:
    """The plan of that name or file, also one that no schema accepts: its findings say why."""
    cited, _, bare = (
        name.removesuffix(".yaml").rpartition("/")
        if name.count("/") == 2
        else ("", "", Path(name).stem if name.endswith(".yaml") else name)
    )
    service = cited or service
    meant = [
        each for each in found.items
        if each.name == bare and "/plans/" in each.file and service in (None, each.service)
    ]  # fmt: skip
    if len(meant) > 1:
        stop(f"several plans are called {bare}: say {' or '.join(each.full_name for each in meant)}", 2)
    if not meant:
        not_there(found, "plan/v1", bare, service)
    return meant[0]


def _judged(repo: Path | None, item: Item, found: Repo, gates: tuple[str, ...]) -> Report:
    """What the rules say of a plan and of the documents that it names."""
    root, kept = root_of(repo)
    cited = (
        [found.find(each.kind, each.name, item.service) for each in references(item)] if item.model else []
    )
    mine = [
        each for each in cited if each is not None and each.kind in ("fixture/v1", "stack/v1", "tasks/v1")
    ]
    files = focused.with_beside([item, *mine])
    try:
        before = parents.of_revision(root) if kept else None
        return focused.judge(tree_of(repo), before, files, gates, files.__contains__)
    except history.Unlistable as error:
        stop(f"could not read {root}: {error}")
