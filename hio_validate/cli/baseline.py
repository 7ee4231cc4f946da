"""hio baseline: record what later runs are held against, and hold one against it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from hio_validate import appending, baselines, writing
from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, user, width
from hio_validate.evidence.baseline import Difference, Word, evidence_of, statistic_of
from hio_validate.evidence.kept import Unkept
from hio_validate.evidence.observed import Fact
from hio_validate.importing.cannot import CannotImport
from hio_validate.measurements import Measurements, NoMeasurement
from hio_validate.models.entry import Baseline
from hio_validate.quantity import counted
from hio_validate.repo import Item, Repo
from hio_validate.report.baseline import as_shape, render


@click.group()
def baseline() -> None:
    """Record a baseline that does not move, and hold measurements against it."""


_CONDITIONS = (
    click.option("--concurrency", type=click.IntRange(min=1), help="Requests at once."),
    click.option("--cache", help="State of the prompt cache, e.g. cold."),
    click.option("--graph-mode", help="Graphs of the engine, e.g. off or full-decode-only."),
    click.option("--devices", type=click.IntRange(min=0), help="Accelerators that were used; 0 = none."),
    click.option("--source", help="Exact source revision or image digest."),
    click.option("--delivery", help="How the source came to run, e.g. native or image."),
    click.option("--method", help="How it was measured."),
    click.option("--shape", "shapes", multiple=True, metavar="KEY=VALUE", help="What a request was, e.g. prompt_tokens=512."),
)  # fmt: skip
"""What the record does not say; saying otherwise than the record is refused."""


def _with_conditions(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_CONDITIONS):
        command = option(command)
    return command


@baseline.command(short_help="Append a measured baseline to the ledger.")
@click.argument("name")
@click.argument("measured", metavar="MEASURED")
@click.option(
    "--metric", "metrics", multiple=True, help="Record this one (default: all that have a direction)."
)
@click.option(
    "--tolerance",
    "tolerances",
    multiple=True,
    metavar="[METRIC=]PERCENT",
    help="Change that is still within it.",
)
@click.option(
    "--floor",
    "floors",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Difference, in its unit, that never counts.",
)
@click.option(
    "--statistic",
    type=click.Choice(["median", "mean"]),
    default="median",
    show_default=True,
    help="Over the trials of an arm.",
)
@click.option("--stack", help="The stack that was measured, where the record does not say it.")
@click.option("--capture", help="The capture of what ran, where the record does not say it.")
@_with_conditions
@click.option("--because", help="Why, in a sentence that helps in a year.")
@click.option("--by", help="Who decided (default: the user).")
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@repo_option
def record(
    name: str, measured: str, metrics: tuple[str, ...], tolerances: tuple[str, ...], floors: tuple[str, ...],
    statistic: str, stack: str | None, capture: str | None, because: str | None, by: str | None,
    service: str | None, repo: Path | None, **given: Any,
) -> None:  # fmt: skip
    """Append the baseline NAME to the ledger: every number computed from the raw rows, with its direction.

    MEASURED is an arm of a run (RUN:ARM) or a record of an observation (OBSERVATION or OBSERVATION#record).

    What the record says of shapes, concurrency, cache, source, delivery and method is taken from it; the rest is asked
    for. A baseline never moves: another workload, source, delivery or method is another NAME.
    """
    root, found = load_repo(repo)
    known = Measurements(lambda: found, service, statistic)
    try:
        conditions, shapes = _said(given)
        asked = baselines.Asked(
            conditions, shapes, metrics, _numbers(tolerances), _numbers(floors, True), stack, capture
        )
        meant = known.find(measured)
        of = meant.item.service if meant.item is not None and meant.item.service else service or ""
        book = known.view.ledger(of)
        fields, pins = baselines.draft(name, meant, known.view, book, asked)
        if because:
            fields = {"because": because, **fields}
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        file, content = appending.entry(found, book, "baseline", name, now, by or user(), fields, pins)
        writing.create(root / file, content)
    except (NoMeasurement, CannotImport) as error:
        stop(str(error), error.code)
    except appending.AlreadyThere as error:
        stop(str(error), 1)
    except FileExistsError:
        stop(f"{name} is there and stays as it is; give another name", 1)
    except baselines.AlreadyRecorded as error:
        stop(str(error), 1)
    except (baselines.CannotRecord, appending.CannotAppend) as error:
        stop(str(error), 2)
    except OSError as error:
        stop(f"{name} cannot be written: {error.strerror}")
    click.echo(f"wrote {file}")
    click.echo(f"{counted(len(fields['dimensions']), 'dimension')}; next: hio baseline diff {name} RUN:ARM")


def _said(given: dict[str, Any]) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """Conditions and shapes as the options say them. Raises CannotRecord."""
    shapes: dict[str, Fact] = {}
    for each in given.pop("shapes"):
        key, sign, value = each.partition("=")
        if not sign or not key or not value:
            raise baselines.CannotRecord(f"--shape is KEY=VALUE, e.g. prompt_tokens=512, got {each}")
        shapes[key] = int(value) if value.isdecimal() and value.isascii() else value
    return {key: value for key, value in given.items() if value is not None}, shapes


def _numbers(words: Iterable[str], named: bool = False) -> dict[str, float]:
    """METRIC=NUMBER pairs, and a number for all others where that has a meaning. Raises CannotRecord."""
    found: dict[str, float] = {}
    for word in words:
        metric, _, text = word.rpartition("=")
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf") or (named and not metric):
            expected = "METRIC=VALUE" if named else "PERCENT or METRIC=PERCENT"
            raise baselines.CannotRecord(f"expected {expected} with a number of 0 or more, got {word}")
        found[metric] = number
    return found


@baseline.command(short_help="Hold a measurement against a baseline.")
@click.argument("name", metavar="BASELINE")
@click.argument("measured", metavar="MEASURED")
@click.option("--exit-code", is_flag=True, help="Exit 1 where a dimension is worse.")
@_with_conditions
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@repo_option
@format_option
def diff(
    name: str,
    measured: str,
    exit_code: bool,
    service: str | None,
    repo: Path | None,
    format_: str,
    **given: Any,
) -> None:
    """Say of each dimension of BASELINE whether it is better, worse, within tolerance and floor, or not comparable.

    MEASURED is an arm of a run (RUN:ARM), a record of an observation (OBSERVATION#record) or of a file (FILE#record).

    With another workload, source, delivery or method nothing is comparable: a new baseline is needed. What the record
    does not say of them is unknown, and not the same, unless you say it.

    Exit codes: 0 compared; 1 with --exit-code, where a dimension is worse; 2 usage; 3 nothing was comparable.
    """
    _, found = load_repo(repo)
    entry = _the_baseline(found, name, service)
    known = Measurements(lambda: found, service or entry.service, statistic_of(entry.model))
    try:
        conditions, shapes = _said(given)
        base = evidence_of(entry, known.view)
        if base is None:
            stop(f"what {name} pins is missing, or not what it pins; hio validate {entry.file} says why")
        meant = known.find(measured)
        conditions = baselines.conditions_of(meant, known.view, conditions)
        difference = Difference(entry, base, baselines.completed(meant, conditions, shapes), conditions)
    except (NoMeasurement, CannotImport) as error:
        stop(str(error), error.code)
    except Unkept as error:
        stop(str(error))
    except baselines.CannotRecord as error:
        stop(str(error), 2)
    words = [each.word for each in difference.judged]
    comparable = any(word is not Word.NOT_COMPARABLE for word in words)
    code = 3 if not comparable else int(exit_code and Word.WORSE in words)
    show(as_json(as_shape(difference, code)) if format_ == "json" else render(difference, width()))
    sys.exit(code)


def _the_baseline(found: Repo, name: str, service: str | None) -> Item:
    meant = [each for each in found.meant("entry/v1", name, service) if isinstance(each.model, Baseline)]
    if len(meant) > 1:
        stop(f"several baselines are called {name}: say {' or '.join(each.full_name for each in meant)}", 2)
    if not meant:
        stop(f"no readable baseline is called {name}" + (f" in {service}" if service else ""), 2)
    if not meant[0].model.dimensions or meant[0].model.conditions is None:
        stop(f"{name} says only which stack it is, and no number; hio baseline record measures one", 2)
    return meant[0]
