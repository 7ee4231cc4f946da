"""hio report: what was measured and decided, as a page to publish, with everything that it rests on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from hio_validate import writing
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, repo_option, root_of, show, stop, width
from hio_validate.evidence.outcome import Result
from hio_validate.evidence.tiers import verdict as judge
from hio_validate.history import GitError, git
from hio_validate.repo import Item, Repo
from hio_validate.report.paragraph import paragraph
from hio_validate.report.published import bundle
from hio_validate.report.published.page import render
from hio_validate.report.published.run import Told, as_shape
from hio_validate.rules.base import View
from hio_validate.status import statuses


@click.command()
@click.argument("run")
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
    run: str, out: Path | None, strict: bool, service: str | None, repo: Path | None, format_: str
) -> None:
    """Publish RUN: what serves, what was chosen and against what, every number computed from the raw rows again, how
    far it may be relied on, what was not measured, the way back.

    Exit codes: 0 written; 1 refused: a strict report has no gaps; 3 the run measured nothing.
    """
    root, found = load_repo(repo)
    item = named(found, "run/v1", run, service)
    shape = run_shape(found, item, strict, _is_committed(root, item.file, repo))
    code = 3 if shape["result"] == Result.NOT_MEASURABLE else 1 if strict and shape["gaps"] else 0
    if strict and shape["gaps"]:
        _refuse(shape, code, format_)
    if out is not None:
        _write(shape, found, out, code, format_)
    else:
        show(as_json({**shape, "exit_code": code}) if format_ == "json" else render(shape))
    sys.exit(code)


def run_shape(found: Repo, item: Item, strict: bool, is_committed: bool) -> dict[str, Any]:
    """Everything that is told about a run."""
    view, service = View(found), item.model.service
    told = Told(judge(item, view), view.ledger(service), statuses(view, service), found, is_committed, strict)
    return as_shape(told)


def _is_committed(root: Path, file: str, repo: Path | None) -> bool:
    """Whether git keeps every byte of the run; True where no git keeps the repository."""
    if not root_of(repo)[1]:
        return True
    try:
        return not git(root, "status", "--porcelain", "--ignored", "--", file.rpartition("/")[0]).strip()
    except GitError as error:
        stop(f"git does not say whether {file} is committed: {error}")


def _refuse(shape: dict[str, Any], code: int, format_: str) -> NoReturn:
    """Say every gap with what closes it; nothing is written."""
    if format_ == "json":
        told = {key: shape[key] for key in ("version", "subject", "strict", "tier", "result", "gaps")}
        show(as_json({**told, "refused": True, "exit_code": code}))
        sys.exit(code)
    subject, count = shape["subject"], len(shape["gaps"])
    gaps = "1 gap" if count == 1 else f"{count} gaps"
    lines = [f"hio: no strict report of {subject['name']}: {gaps} ({shape['tier']})\n"]
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
