"""hio ledger: append to the ledger of a service, and read it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import click

from hio_validate import appending, writing
from hio_validate import from_run as taken
from hio_validate.cli.loading import load_repo, services_of
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, user, width
from hio_validate.ledger import Ledger
from hio_validate.next_test import asked_tests
from hio_validate.report.ledger import as_shape, render, render_next
from hio_validate.rules.base import View


@click.group()
def ledger() -> None:
    """Append to the ledger of a service, and read it."""


def _option(name: str, help: str, **more: Any) -> Callable[[Any], Any]:
    return click.option(f"--{name}", name.replace("-", "_"), help=help, **more)


def _many(name: str, field: str, help: str, **more: Any) -> Callable[[Any], Any]:
    return click.option(f"--{name}", field, multiple=True, help=help, **more)


_OPTIONS = (
    _option("because", "Why, in a sentence that helps in a year."),
    click.option("--imported", is_flag=True, default=None, help="History from before hio."),
    _option("factor", "The setting it is about."),
    _option("stack", "Stack to pin."),
    _option("capture", "Capture to pin."),
    _option("run", "Run to pin."),
    _option("matrix", "Matrix to pin."),
    _option("plan", "Plan to pin: what the approval covers, and no other."),
    _option("decision", "decision: which of the four.",
            type=click.Choice(["stop-trial", "keep-research", "experimental-default", "deploy"])),
    _many("evidence", "evidence", "decision: what it stands on; hio explain incomplete-decision lists the nouns.",
          nargs=2, metavar="NOUN TEXT"),
    _option("next", "decision, opportunity: the next discriminating test."),
    _option("hazard", "failed-run, stop-trial: what ended it, e.g. contention or crash."),
    _many("blocks", "blocks", "negative-control: a setting that makes no sense without it."),
    _option("corrects", "correction: the entry it puts right."),
    _option("approves", "approval: build, load-test, stop-production, deploy, publish or upstream."),
    _many("affects", "services", "approval: a service it affects (default: --service).", metavar="SITE/NAME"),
    _many("owner", "owners", "approval: who gave the word (default: --by)."),
    _option("scope", "approval: what exactly, on which hosts, when."),
    _option("until", "approval: when it expires, e.g. 2026-12-01T00:00:00Z."),
    _many("covers", "factors", "approval: an endpoint whose wider exposure it covers."),
    _option("parent", "deployment: stack that served before."),
    _option("candidate", "deployment: stack that serves now."),
    _option("rollback", "deployment: stack to go back to."),
    _option("approval", "deployment: the approval it stands on."),
    _option("undoes", "rollback: the deployment that was taken back."),
    _option("result-kind", "opportunity: speed, numerical, capacity or transfer-bytes."),
    _option("benefit", "opportunity: what it may bring."),
    _option("regression", "opportunity: what it costs."),
    _option("uncertainty", "opportunity: what is not known."),
    _many("workload", "workloads", "opportunity: a workload it applies to."),
    _many("redacts", "redacts", "redaction: the bytes that had to go.", nargs=2, metavar="FILE DIGEST"),
)  # fmt: skip


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@ledger.command(short_help="Write a new entry after the ledger's tips.")
@click.argument("kind", type=click.Choice(appending.KINDS), metavar="KIND")
@click.option("--service", required=True, metavar="SITE/NAME", help="The service.")
@click.option("--id", "id_", help="Name of the entry (default: date, kind and factor).")
@click.option("--by", help="Who decided (default: the user).")
@click.option(
    "--from-run",
    metavar="RUN",
    help="Pin RUN, and take from it what it says: setting, result, hazard; hio verdict RUN shows it.",
)
@click.option("--metric", help="With --from-run: the column to publish.")
@click.option("--result", nargs=3, metavar="METRIC FROM TO",
              help="Publish the change of a metric between two arms of --run, computed from its raw rows.")  # fmt: skip
@click.option("--statistic", type=click.Choice(["median", "mean"]), default="median", show_default=True,
              help="Over each arm's rows.")  # fmt: skip
@click.option("--edit", is_flag=True, help="Open the entry in $EDITOR before it is written.")
@_with_options
@repo_option
def append(
    kind: str, service: str, id_: str | None, by: str | None, from_run: str | None, metric: str | None,
    result: tuple[str, str, str] | None, statistic: str, edit: bool, repo: Path | None, **given: Any,
) -> None:  # fmt: skip
    """Write a new entry after the ledger's tips, with every digest computed.

    KIND is baseline, increment, negative-control, failed-run, correction, decision, approval, deployment,
    rollback, opportunity, merge or redaction (hio ledger merge closes two tips, hio audit anchor writes an
    anchor). Nothing of the ledger is changed; a mistake is put right by a correction.
    """
    book, view, root = _opened(service, repo)
    draft = appending.Draft(kind, service, by or user(), given)
    try:
        if from_run:
            draft = taken.of_run(draft, view, from_run, metric, statistic)
        if result:
            draft = appending.with_result(draft, view.repo, result, statistic)
            taken.refuse_a_loss(draft, view)
        taken.refuse_a_draft(draft, view)
        appending.refuse_an_unsound_plan(draft, view.repo)
        _write(root, book, view, draft, id_, edit)
    except appending.CannotAppend as error:
        stop(str(error), 1 if isinstance(error, appending.AlreadyThere | appending.Unsound) else 2)


def _opened(service: str, repo: Path | None) -> tuple[Ledger, View, Path]:
    if service.count("/") != 1:
        stop(f"a service is SITE/NAME, got {service}", 2)
    root, found = load_repo(repo)
    view = View(found)
    return view.ledger(service), view, root


def _write(root: Path, book: Ledger, view: View, draft: appending.Draft, id_: str | None, edit: bool) -> None:
    """Append one entry. Raises CannotAppend."""
    now = datetime.now(UTC)
    file, content = appending.entry(
        view.repo, book, draft.kind, id_ or draft.named(f"{now:%Y-%m-%d}", book.entries), f"{now:%Y-%m-%dT%H:%M:%SZ}",
        draft.by, draft.fields, draft.pins, checked=not edit,
    )  # fmt: skip
    if edit:
        content = _edited(file, content, draft.kind, view)
    try:
        writing.create(root / file, content)
    except FileExistsError:
        stop(f"{file} exists; a ledger only grows, give another --id", 1)
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")
    click.echo(f"wrote {file}")


def _edited(file: str, content: bytes, kind: str, view: View) -> bytes:
    """What a person made of the entry in an editor; kept beside the ledger where it is no entry yet."""
    begun = content + appending.hints(kind, content)
    text = click.edit(begun.decode(), extension=".yaml")
    if text is None:
        stop("the editor saved nothing, so no entry is written", 1)
    said = text.encode()
    try:
        return appending.completed(view.repo, said, file)
    except appending.CannotAppend as error:
        stop(f"{error}; your text is kept in {_kept(file, said)}", 1)


def _kept(file: str, said: bytes) -> Path:
    """Where a text is kept that is no entry yet; an earlier one is never replaced."""
    _, site, model, _, name = file.split("/")
    drafts = Path(click.get_app_dir("hio")) / "drafts" / site / model
    for number in count(1):
        draft = drafts / (name if number == 1 else name.replace(".yaml", f".{number}.yaml"))
        try:
            writing.create(draft, said)
        except FileExistsError:
            continue
        break
    return draft


@ledger.command(short_help="Close two tips after branches were merged.")
@click.argument("service", metavar="SITE/NAME")
@click.option("--keep", "keeps", multiple=True, metavar="ENTRY",
              help="The entry that stands where the tips decided the same thing differently.")  # fmt: skip
@click.option("--because", help="Why these stand.")
@click.option("--id", "id_", help="Name of the entry (default: date and merge).")
@click.option("--by", help="Who decided (default: the user).")
@repo_option
def merge(
    service: str,
    keeps: tuple[str, ...],
    because: str | None,
    id_: str | None,
    by: str | None,
    repo: Path | None,
) -> None:
    """Close the open tips of SITE/NAME with one entry, as after a git merge of two branches that both appended.

    Where they decided the same thing differently, --keep says which entry stands; the other one stays on
    record and is overruled.
    """
    book, view, root = _opened(service, repo)
    if not book.entries:
        services_of(view.repo, service)
        stop(f"the ledger of {service} is empty; it begins with a baseline: hio ledger append baseline", 2)
    if len(book.tips) < 2:
        click.echo(f"{service} has one tip, {', '.join(book.tips)}: nothing to merge")
        return
    sides = {id_ for each in book.disagreements for id_ in each.entries}
    strangers = [each for each in keeps if each.rpartition("/")[2] not in sides]
    if strangers:
        known = f"one of {', '.join(sorted(sides))}" if sides else "nothing: the tips agree"
        stop(f"{strangers[0]} is no side of a disagreement; --keep {known}", 2)
    undecided = [each for each in book.disagreements if not set(each.entries) & set(keeps)]
    if undecided:
        lines = [f"  {each.subject}: --keep {' or --keep '.join(each.entries)}" for each in undecided]
        click.echo(
            "\n".join(["the tips decided the same thing differently; say what stands:", *lines]), err=True
        )
        sys.exit(1)
    draft = appending.Draft("merge", service, by or user(), {"because": because, "keeps": keeps})
    try:
        _write(root, book, view, draft, id_, edit=False)
    except appending.CannotAppend as error:
        stop(str(error), 1 if isinstance(error, appending.AlreadyThere) else 2)


@ledger.command("show", short_help="Show what the ledger says: parent, accepted, excluded, open.")
@click.argument("service", required=False, metavar="[SITE/NAME]")
@repo_option
@format_option
def show_ledger(service: str | None, repo: Path | None, format_: str) -> None:
    """Show the ledger of SITE/NAME: current parent, what serves, accepted increments, negative controls with
    their numbers, failed runs, decisions, opportunities, approvals, and the tests that are asked for."""
    _, found = load_repo(repo)
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    view = View(found)
    known = [
        as_shape(view.ledger(each), asked_tests(view, each), now) for each in services_of(found, service)
    ]
    if format_ == "json":
        show(as_json({"version": 1, "ledgers": known}))
    else:
        show("\n".join(render(each, width()) for each in known))


@ledger.command("next", short_help="Say which isolated test comes next, and why.")
@click.argument("service", required=False, metavar="[SITE/NAME]")
@repo_option
@format_option
def next_of(service: str | None, repo: Path | None, format_: str) -> None:
    """Say which isolated test of SITE/NAME comes next, with the reason, and what waits behind it."""
    _, found = load_repo(repo)
    view = View(found)
    known = {each: asked_tests(view, each) for each in services_of(found, service)}
    if format_ == "json":
        tests = {each: [test._asdict() for test in asked] for each, asked in known.items()}
        show(as_json({"version": 1, "services": tests}))
    else:
        show("\n".join(render_next(asked, each, width()) for each, asked in known.items()))
