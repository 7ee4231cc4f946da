"""hio report: what was measured and decided, as a page to publish, with everything that it rests on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from hio_validate import writing
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, repo_option, root_of, show, stop, width
from hio_validate.evidence.champion import champion
from hio_validate.evidence.outcome import Result
from hio_validate.evidence.tiers import Verdict
from hio_validate.evidence.tiers import verdict as judge
from hio_validate.history import GitError, git
from hio_validate.quantity import counted
from hio_validate.repo import Item, Repo
from hio_validate.report.paragraph import paragraph
from hio_validate.report.published import bundle, campaign
from hio_validate.report.published.page import render
from hio_validate.report.published.run import Told, as_shape
from hio_validate.rules.base import View
from hio_validate.status import statuses


@click.command()
@click.argument("subject", metavar="RUN|CAMPAIGN")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Write the page, the same as JSON, all evidence, and their hashes into a new folder.")  # fmt: skip
@click.option("--strict/--no-strict", "strict", default=True,
              help="Refuse a report with gaps (default), or write them into it: its tier is DRAFT at most.")  # fmt: skip
@click.option(
    "--service", metavar="SITE/NAME", help="The service of the run, where several have one of that name."
)
@repo_option
@click.option("--format", "format_", type=click.Choice(["markdown", "json"]), default="markdown",
              show_default=True, help="Output.")  # fmt: skip
def report(
    subject: str, out: Path | None, strict: bool, service: str | None, repo: Path | None, format_: str
) -> None:
    """Publish RUN or CAMPAIGN: what serves, what was chosen and against what, every number computed from the raw rows
    again, how far it may be relied on, what was not measured, the way back.

    Exit codes: 0 written; 1 refused: a strict report has no gaps; 3 nothing was measured.
    """
    root, found = load_repo(repo)
    item = _subject(found, subject, service)
    shape = SHAPES[item.kind](found, item, strict, lambda files: _is_committed(root, files, repo))
    code = (
        3
        if shape["result"] in (Result.NOT_MEASURABLE, NOTHING_MEASURED)
        else 1
        if strict and shape["gaps"]
        else 0
    )
    if strict and shape["gaps"]:
        _refuse(shape, code, format_)
    if out is not None:
        _write(shape, found, out, code, format_)
    else:
        show(as_json({**shape, "exit_code": code}) if format_ == "json" else render(shape))
    sys.exit(code)


Committed = Callable[[list[str]], bool]
"""Whether git keeps every byte of some files."""


def run_shape(found: Repo, item: Item, strict: bool, committed: Committed) -> dict[str, Any]:
    """Everything that is told about a run."""
    view = View(found)
    return as_shape(_told(view, item, judge(item, view), strict, committed([_folder(item)])))


def campaign_shape(found: Repo, item: Item, strict: bool, committed: Committed) -> dict[str, Any]:
    """Everything that is told about a campaign, each of its runs as a report of its own tells it."""
    view = View(found)
    judged = champion(item, view, view.settings)
    runs = {
        each.name: _told(view, each.run, each.verdict, strict, True)
        for each in judged.cells if each.run is not None and each.verdict is not None
    }  # fmt: skip
    files = [item.file, *(_folder(told.judged.run) for told in runs.values())]
    ledger = view.ledger(item.service)
    return campaign.as_shape(campaign.ToldCampaign(judged, runs, ledger, found, committed(files), strict))


SHAPES: dict[str, Callable[[Repo, Item, bool, Committed], dict[str, Any]]] = {
    "run/v1": run_shape,
    "campaign/v1": campaign_shape,
}
"""What can be reported; report/published/page.py has a page for each."""
NOTHING_MEASURED = "nothing measured"


def _subject(found: Repo, name: str, service: str | None) -> Item:
    """The run or the campaign of that name; ends where there is none, or one of each."""
    kinds = [kind for kind in SHAPES if found.meant(kind, name, service)]
    if len(kinds) > 1:
        files = " and ".join(named(found, kind, name, service).file for kind in kinds)
        stop(f"{name} is the name of a run and of a campaign, {files}: rename what is not recorded yet", 2)
    if not kinds and found.unread("campaign/v1", name, service):
        kinds = ["campaign/v1"]
    return named(found, kinds[0] if kinds else "run/v1", name, service)


def _told(view: View, run: Item, judged: Verdict, strict: bool, is_committed: bool) -> Told:
    service = run.model.service
    return Told(judged, view.ledger(service), statuses(view, service), view.repo, is_committed, strict)


def _folder(run: Item) -> str:
    return run.file.rpartition("/")[0]


def _is_committed(root: Path, files: list[str], repo: Path | None) -> bool:
    """Whether git keeps every byte of some files and folders; True where no git keeps the repository."""
    if not root_of(repo)[1]:
        return True
    try:
        return not git(root, "status", "--porcelain", "--ignored", "--", *files).strip()
    except GitError as error:
        stop(f"git does not say whether {files[0]} is committed: {error}")


def _refuse(shape: dict[str, Any], code: int, format_: str) -> NoReturn:
    """Say every gap with what closes it; nothing is written."""
    if format_ == "json":
        told = {key: shape[key] for key in ("version", "subject", "strict", "tier", "result", "gaps")}
        show(as_json({**told, "refused": True, "exit_code": code}))
        sys.exit(code)
    subject, count = shape["subject"], len(shape["gaps"])
    lines = [f"hio: no strict report of {subject['name']}: {counted(count, 'gap')} ({shape['tier']})\n"]
    for each in shape["gaps"]:
        lines += [
            paragraph(f"  {each['id']}: {each['sentence']}", width()),
            paragraph(f"    {each['do']}", width(), 0),
        ]
    lines.append(paragraph("--no-strict writes them into the report, whose tier is DRAFT at most", width()))
    click.echo("".join(lines), err=True, nl=False)
    sys.exit(code)


def _write(shape: dict[str, Any], found: Repo, out: Path, code: int, format_: str) -> None:
    """The bundle in a folder of its own; nothing that is there is replaced."""
    if out.exists() and any(out.iterdir()):
        stop(f"{out} is not empty: a bundle is written once; give another --out", 1)
    count = 0
    try:
        for name, content in bundle.files(shape, found):
            writing.create(out / name, content)
            count += 1
    except OSError as error:
        stop(f"could not write {error.filename or out}: {error.strerror or error}")
    missing = shape["missing"]
    if format_ == "json":
        wrote = {"version": 1, "wrote": str(out), "files": count, "tier": shape["tier"], "missing": missing}
        show(as_json({**wrote, "gaps": shape["gaps"], "exit_code": code}))
        return
    lines = [f"wrote {out}: report.md, report.json, hashes.txt, {count - 3} files of evidence\n"]
    lines += [paragraph(f"missing: {each['what']}: {each['sentence']}", width()) for each in missing]
    show("".join([*lines, "check it: sha256sum -c hashes.txt, in that folder\n"]))
