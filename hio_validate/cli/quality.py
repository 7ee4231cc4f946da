"""hio quality: record what a harness or an operator test said, and hold two quality receipts against each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hio_validate import __version__, receipts
from hio_validate.cli.import_writing import pinned
from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import (
    FiniteRange,
    as_json,
    format_option,
    repo_option,
    root_of,
    show,
    stop,
    width,
)
from hio_validate.evidence.quality import Terms
from hio_validate.evidence.quality_receipts import FACTS, judged, why_not
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.results.source import Source
from hio_validate.receipts import NoReceipt, Wanted
from hio_validate.report.quality import Page, as_shape, render
from hio_validate.rules import NEWEST

_share = FiniteRange(min=0)
_wanted = (
    click.option("--task", help="The task that is meant, where a file has several."),
    click.option("--filter", "filter_", help="The filter that is meant."),
    click.option("--metric", help="The metric that is meant."),
)
_file = click.Path(path_type=Path)


def _with_wanted(command: Any) -> Any:
    for option in reversed(_wanted):
        command = option(command)
    return command


@click.group()
def quality() -> None:
    """Whether it still answers rightly: receipts of harnesses and operator tests, and the gate between two of them."""


@quality.command(short_help="Hold a candidate's quality against a baseline's.")
@click.argument("baseline")
@click.argument("candidate")
@click.option(
    "--floor",
    type=FiniteRange(),
    required=True,
    help="Least value on both sides; where lower is better, the most.",
)
@click.option("--margin", type=_share, required=True, help="How much worse the candidate may be.")
@click.option("--alpha", type=FiniteRange(0, 0.5, min_open=True, max_open=True), default=0.05, show_default=True,
              help="One-sided level.")  # fmt: skip
@_with_wanted
@click.option("--baseline-samples", type=_file, help="Samples file of the baseline, to compare item by item.")
@click.option("--candidate-samples", type=_file, help="Samples file of the candidate.")
@click.option("--same", multiple=True, type=click.Choice(list(FACTS)), metavar="FACT",
              help="Your word that FACT was the same where neither side says it, e.g. dataset.")  # fmt: skip
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@repo_option
@format_option
def gate(
    baseline: str, candidate: str, floor: float, margin: float, alpha: float, task: str | None, filter_: str | None,
    metric: str | None, baseline_samples: Path | None, candidate_samples: Path | None, same: tuple[str, ...],
    service: str | None, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Hold CANDIDATE against BASELINE: each the NAME of a quality receipt, or a results FILE of lm-evaluation-harness.

    Met where both reach the floor and the candidate is shown to be worse by at most the margin. Only the same dataset,
    harness, task, filter, metric, examples, limit and seeds are compared; what one side does not say is never equal.

    Exit codes: 0 met; 1 not met; 2 usage; 3 not comparable or not measurable.
    """
    wanted, terms = Wanted(task, filter_, metric), Terms(floor, margin, alpha)
    try:
        sides = [
            receipts.side(
                word, Source(path, str(path)) if path else None, lambda: load_repo(repo)[1], service, wanted
            )
            for word, path in ((baseline, baseline_samples), (candidate, candidate_samples))
        ]
    except (NoReceipt, CannotImport) as error:
        stop(str(error), error.code)
    one, two = sides[0].receipt, sides[1].receipt
    reasons = tuple(why_not(one, two, same))
    rows = [each.rows for each in sides]
    gated = None if reasons else judged(one, two, rows, terms, ("the baseline", "the candidate"))
    words = tuple(each for each in dict.fromkeys(same))
    page = Page((sides[0].label, sides[1].label), (one, two), terms, reasons, words, gated)
    show(as_json(as_shape(page)) if format_ == "json" else render(page, width()))
    sys.exit(page.code)


@quality.command(short_help="Read what a harness said, and keep it as a receipt.")
@click.argument("file", type=_file)
@click.option(
    "--service", metavar="SITE/NAME", required=True, help="The service that was measured, as you say."
)
@click.option("--stack", help="Stack of the service that was measured, as you say.")
@click.option(
    "--samples", type=_file, help="Samples file of lm-evaluation-harness, to keep the items' scores."
)
@_with_wanted
@click.option("--accumulation", type=click.Choice(["default", "higher"]),
              help="Precision of sums in an operator test, as you say.")  # fmt: skip
@click.option("--name", help="Name of the receipt, where the file gives one only.")
@click.option("--write", is_flag=True, help="Write the receipts; nothing is ever replaced.")
@repo_option
@format_option
def record(
    file: Path, service: str, stack: str | None, samples: Path | None, task: str | None, filter_: str | None,
    metric: str | None, accumulation: str | None, name: str | None, write: bool, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Read FILE, results of lm-evaluation-harness or of test-backend-ops, into receipts, one a metric or a backend.

    Exit codes: 0 read; 1 the file cannot be read, contradicts itself, or a receipt is there; 2 usage; 3 nothing was measured.
    """
    if service.count("/") != 1:
        stop(f"a service is SITE/NAME, got {service}", 2)
    pin = pinned(stack, service, repo) if stack else None
    try:
        made = receipts.made_of(
            Source(file, str(file)), Source(samples, str(samples)) if samples else None, service, pin,
            Wanted(task, filter_, metric), accumulation,
        )  # fmt: skip
    except (NoReceipt, CannotImport) as error:
        stop(str(error), error.code)
    except OSError as error:
        stop(f"{file} cannot be read: {error.strerror}")
    if not made:
        asked = any(each is not None for each in (task, filter_, metric))
        why = (
            "has no such number; leave out --task, --filter or --metric"
            if asked
            else f"has no number that can be one of its metric; hio import {file} says why"
        )
        stop(f"{file} {why}", 3)
    if name is not None:
        if len(made) > 1:
            stop(f"--name names one receipt, and here are {len(made)}: say --task, --filter and --metric", 2)
        made = [made[0]._replace(document={**made[0].document, "name": name})]
    judged_by = {"hio": __version__, "rules": NEWEST}
    wrote = [_written(each, root_of(repo)[0], judged_by) for each in made] if write else []
    if format_ == "json":
        show(as_json({"version": 1, "receipts": [each.document for each in made], "wrote": wrote}))
    else:
        for each in made if not write else ():
            show(receipts.content_of(each, judged_by).decode())
        for path in wrote:
            show(f"wrote {path}\n")


def _written(made: receipts.Made, root: Path, judged_by: dict[str, Any]) -> str:
    try:
        return receipts.write(made, root, judged_by)
    except FileExistsError as error:
        stop(f"{error.filename} exists and is never replaced; give another --name", 1)
    except OSError as error:
        stop(f"the receipt cannot be written: {error.strerror}")
