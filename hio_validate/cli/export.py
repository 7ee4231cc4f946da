"""hio export: a run in the format of another tool, checked by its schema, into a file or to standard output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.new_files import create
from hio_validate.cli.shared import as_json, repo_option, show, stop
from hio_validate.evidence.campaign import runs_of
from hio_validate.evidence.tiers import Verdict
from hio_validate.evidence.tiers import verdict as judge
from hio_validate.exporting import in_toto, llm_d
from hio_validate.exporting.cannot import CannotExport, NotTheRecordedBytes
from hio_validate.exporting.checked import checked
from hio_validate.repo import Item, Repo
from hio_validate.rests_on import rests_on
from hio_validate.rules.base import View
from hio_validate.source.dump import dump

_NEVER = "and is never replaced; give another --out"


class Export(NamedTuple):
    """One file of an export."""

    name: str
    """Without its ending."""
    data: dict[str, Any]


@click.command()
@click.argument("run")
@click.option("--to", "target", type=click.Choice(["llm-d", "in-toto"]), required=True,
              help="llm-d: a benchmark report v0.2 for each arm; in-toto: a Statement v1 about the run.")  # fmt: skip
@click.option("--arm", metavar="ARM", help="llm-d: only this arm (standard output takes one).")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Write into this folder; nothing is replaced.")  # fmt: skip
@click.option(
    "--service", metavar="SITE/NAME", help="The service of the run, where several have one of that name."
)
@repo_option
@click.option("--format", "format_", type=click.Choice(["yaml", "json"]),
              help="Output (default: yaml for llm-d, json for in-toto).")  # fmt: skip
def export(
    run: str,
    target: str,
    arm: str | None,
    out: Path | None,
    service: str | None,
    repo: Path | None,
    format_: str | None,
) -> None:
    """Export RUN with its tier; every number is computed from the raw rows. Nothing leaves this machine.

    Exit codes: 0 exported; 1 refused: bytes are not the recorded ones, or a file is there; 3 nothing counts, or it
    cannot be checked.
    """
    if target == "in-toto" and (arm or format_ == "yaml"):
        stop("a statement is about the whole run and is JSON: leave out --arm and --format yaml", 2)
    _, found = load_repo(repo)
    _refuse_a_campaign(found, run, service)
    item = named(found, "run/v1", run, service)
    judged = judge(item, View(found))
    ending = format_ or ("yaml" if target == "llm-d" else "json")
    arms = _chosen(judged, target, arm, out)
    try:
        made = list(_made(found, item, judged, target, arms))
    except CannotExport as error:
        stop(str(error), 1 if isinstance(error, NotTheRecordedBytes) else 3)
    there = [path for each in made if out is not None and (path := out / f"{each.name}.{ending}").exists()]
    if there:
        stop(f"{there[0]} exists {_NEVER}", 1)
    for each in made:
        content = as_json(each.data) if ending == "json" else dump(each.data).decode()
        if out is None:
            show(content)
        else:
            create(out / f"{each.name}.{ending}", content.encode(), _NEVER)


def _refuse_a_campaign(found: Repo, name: str, service: str | None) -> None:
    """End with the runs that can be exported where a name is a campaign's alone."""
    campaigns = [each for each in found.meant("campaign/v1", name, service) if each.model is not None]
    if not campaigns or found.meant("run/v1", name, service):
        return
    runs = [each.name for each in runs_of(campaigns[0], found)]
    told = f"export {' or '.join(runs)}" if runs else f"run it first: hio campaign run {name}"
    stop(f"{name} is a campaign, and what is exported is a run: {told}", 2)


def _chosen(judged: Verdict, target: str, arm: str | None, out: Path | None) -> list[str]:
    known = list(judged.case.model.arms)
    if arm is not None and arm not in known:
        stop(f"{judged.run.name} has no arm {arm}: it has {', '.join(known)}", 2)
    if target == "llm-d" and arm is None and out is None and len(known) > 1:
        told = f"a report is about one configuration, and {judged.run.name} has {', '.join(known)}"
        stop(f"{told}: give --arm, or --out FOLDER for all of them", 2)
    return [arm] if arm is not None else known


def _made(found: Repo, item: Item, judged: Verdict, target: str, arms: list[str]) -> Iterator[Export]:
    """Every file, each accepted by the schema of its target. Raises CannotExport."""
    if target == "in-toto":
        data = in_toto.statement(judged, rests_on(found, [item]))
        yield Export(f"{item.name}.intoto", checked(data, in_toto.SCHEMA))
        return
    for arm in arms:
        data = llm_d.report(judged, arm)
        yield Export(f"{item.name}.{arm}.llm-d", checked(data, llm_d.SCHEMA))
