"""An estimate on its way into the repository, and its first candidate on its way into the ledger.

Invariant: both are judged before either is written, and neither replaces anything.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import click

from hio_validate import appending, writing
from hio_validate.cli.shared import stop
from hio_validate.estimating.opportunity import opportunity_of
from hio_validate.models.estimate import Estimate
from hio_validate.recording import modeline
from hio_validate.report.visible import visible
from hio_validate.rules.base import View
from hio_validate.source.dump import Row, dump


class Kept(NamedTuple):
    """What is to be kept, and how."""

    root: Path
    view: View
    estimate: Estimate
    opportunity: bool
    by: str
    for_people: bool
    """Whether standard output is for people, not for data."""


def kept(asked: Kept) -> None:
    """Write the estimate and, where that was asked, an opportunity; ends hio where one of them cannot be."""
    document = file_of(asked.estimate)
    if (asked.root / document).exists():
        stop(f"{visible(document)} exists and is never replaced; give another --name", 1)
    files = [(document, _judged(asked, document))]
    if asked.opportunity:
        files.append(_opportunity(asked))
    for file, content in files:
        try:
            writing.create(asked.root / file, content)
        except FileExistsError:
            stop(f"{visible(file)} exists and is never replaced; give another --name", 1)
        except OSError as error:
            stop(f"{visible(file)} cannot be written: {error.strerror}")
        click.echo(f"wrote {visible(file)}", err=not asked.for_people)


def file_of(estimate: Estimate) -> str:
    return f"manifests/services/{estimate.service}/estimates/{estimate.name}.yaml"


def content_of(estimate: Estimate) -> bytes:
    """The document; what it does not say is left out."""
    file = file_of(estimate)
    head = f"{modeline('estimate', file)}\nWritten by hio estimate: a bound and what to try, never a result."
    data = estimate.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    return dump(_with_rows(data), head=head)


def _with_rows(data: Any) -> Any:
    """The data with each amount on one line: three numbers and a unit are read as one."""
    if isinstance(data, list):
        return [_with_rows(each) for each in data]
    if isinstance(data, dict):
        kept = {key: _with_rows(each) for key, each in data.items()}
        return Row(kept) if kept.keys() == {"value", "low", "high", "unit"} else kept
    return data


def _judged(asked: Kept, file: str) -> bytes:
    """The bytes of the document, which no rule finds an error in; ends hio otherwise."""
    content = content_of(asked.estimate)
    try:
        appending.refuse_what_rules_find(asked.view.repo, file, content)
    except appending.CannotAppend as error:
        stop(f"{visible(file)} would not be valid: {visible(str(error))}", 1)
    return content


def _opportunity(asked: Kept) -> tuple[str, bytes]:
    """The entry of the first candidate; it does not rest on the estimate, and pins none."""
    estimate, now = asked.estimate, datetime.now(UTC)
    if not estimate.candidates:
        why = (
            "an open correctness failure comes first"
            if estimate.blocked_by
            else "what is missing comes first"
        )
        stop(f"there is no candidate that could be an opportunity: {why}", 1)
    book = asked.view.ledger(estimate.service)
    fields = opportunity_of(estimate.candidates[0], estimate)
    draft = appending.Draft("opportunity", estimate.service, asked.by, fields)
    name = draft.named(f"{now:%Y-%m-%d}", book.entries)
    try:
        return appending.entry(
            asked.view.repo, book, "opportunity", name, f"{now:%Y-%m-%dT%H:%M:%SZ}", asked.by, draft.fields, draft.pins
        )  # fmt: skip
    except appending.CannotAppend as error:
        stop(visible(str(error)), 1)
