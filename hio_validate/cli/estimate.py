"""hio estimate: what bounds a workload, how far it is from the bound, and the one next experiment."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import click

from hio_validate import engine, history, parents
from hio_validate.cli.estimate_writing import Kept, kept
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, repo_option, root_of, show, stop, user, width
from hio_validate.diagnostic import Severity
from hio_validate.estimating.context.cannot import CannotEstimate
from hio_validate.estimating.context.gather import inputs_of
from hio_validate.estimating.context.stated import stated
from hio_validate.estimating.whole import estimate as estimate_of
from hio_validate.evidence.metrics import METRICS
from hio_validate.models.base import NAME
from hio_validate.models.estimate import Estimate
from hio_validate.observe.host import observe_host
from hio_validate.repo import Item, Repo
from hio_validate.report.estimate import as_json as as_shape
from hio_validate.report.estimate import markdown, text
from hio_validate.report.visible import visible
from hio_validate.rules import RULES
from hio_validate.rules.base import View

NOTHING_TO_ESTIMATE, BLOCKED = 3, 1


@click.command(short_help="Say what bounds a workload before anybody measures it.")
@click.argument("stack")
@click.option("--fixture", help="The request; its runs say how long prompt and answer are.")
@click.option("--metric", type=click.Choice(list(METRICS)), metavar="METRIC",
              help="What is to become better (default: decode_tps).")  # fmt: skip
@click.option("--goal", type=float, help="What would be enough, in the metric's unit.")
@click.option("--assume", "assumed", multiple=True, metavar="NAME=VALUE[..HIGH]UNIT",
              help="State what no document says, e.g. acceptance=0.5..0.8 or launch=4us.")  # fmt: skip
@click.option("--ceilings", multiple=True, help="Rates to use (default: measured ones of its host).")
@click.option("--shape", help="What the model is made of (default: the shape of the model that ran).")
@click.option("--run", help="The run it is held against (default: the newest of this very workload).")
@click.option("--profile", help="Where the time went (default: the newest of this stack and path).")
@click.option("--concurrency", type=click.IntRange(min=1), default=1, show_default=True,
              help="Requests at the same time.")  # fmt: skip
@click.option("--cache", type=click.Choice(["cold", "warm"]), default="cold", show_default=True,
              help="Whether a cache may answer a part of the prompt.")  # fmt: skip
@click.option("--write", is_flag=True, help="Keep it as a document; nothing is ever replaced.")
@click.option("--opportunity", is_flag=True,
              help="With --write: append the first candidate to the ledger, as an opportunity.")  # fmt: skip
@click.option("--name", help="Name of the document (default: stack, fixture and metric).")
@click.option("--by", help="With --opportunity: who says so (default: the user).")
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@repo_option
@click.option("--format", "format_", type=click.Choice(["text", "markdown", "json"]), default="text",
              show_default=True, help="Output.")  # fmt: skip
def estimate(
    stack: str, assumed: tuple[str, ...], ceilings: tuple[str, ...], write: bool, opportunity: bool, name: str | None,
    by: str | None, service: str | None, repo: Path | None, format_: str, **asked: Any,
) -> None:  # fmt: skip
    """Say what bounds STACK, how far the measurement is from it, and the one experiment to run next.

    Reads documents and launches nothing. An estimate is never a result: no ledger entry may rest on one.

    What no document says may be stated with --assume: launches, launch, collective-bytes, collectives, link,
    link-latency, host-gap, queue-wait, acceptance, draft-tokens, draft-cost, efficiency, memory-read, matmul, disk-read,
    memory-beside, prompt-tokens, generated-tokens, microbatch.

    Exit codes: 0 an estimate; 1 an open correctness failure of the stack blocks it; 2 usage; 3 nothing to estimate
    from: the shape of the model, the lengths, or every rate is missing, and the page says what gets it.
    """
    if opportunity and not write:
        stop("--opportunity appends to the ledger what --write keeps: give both", 2)
    if name is not None and not _is_a_name(name):
        stop(
            f"--name is of letters, digits and . _ + - and begins with a letter or digit, got {visible(name)}",
            2,
        )
    if asked["goal"] is not None and not 0 < asked["goal"] < math.inf:
        stop(f"--goal is a finite number above 0 in the metric's unit, got {asked['goal']:g}", 2)
    root, found = load_repo(repo)
    item = named(found, "stack/v1", stack, service)
    if item.service is None:
        stop(f"{item.file} belongs to no service; a stack stands in manifests/services/SITE/NAME/stacks/", 2)
    view = View(found)
    try:
        inputs = inputs_of(
            view, item.service, item, stated=stated(assumed), ceilings=ceilings or None,
            host=observe_host().id, committed=_committed(repo), fault=_fault(found), **asked,
        )  # fmt: skip
    except CannotEstimate as error:
        stop(visible(str(error)), 2)
    called = name or _default_name(item.name, asked["fixture"], inputs.target.metric)
    whole = estimate_of(inputs, called, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    show({"text": _page, "markdown": markdown, "json": _json}[format_](whole))
    if write:
        who = (by or user()) if opportunity else ""
        kept(Kept(root, view, whole, opportunity, who, format_ == "text"))
    sys.exit(_exit_code(whole))


def _page(whole: Estimate) -> str:
    return text(whole, width())


def _json(whole: Estimate) -> str:
    return as_json(as_shape(whole))


def _exit_code(whole: Estimate) -> int:
    if whole.blocked_by:
        return BLOCKED
    return NOTHING_TO_ESTIMATE if whole.status == "NEEDS_CONTEXT" else 0


def _is_a_name(text_: str) -> bool:
    """Whether a document can have it: it becomes a part of a path."""
    name: Mapping[str, Any] = NAME
    return len(text_) <= name["max_length"] and re.fullmatch(name["pattern"], text_) is not None


def _default_name(stack: str, fixture: str | None, metric: str) -> str:
    parts = [stack, (fixture or "").rpartition("/")[2], metric]
    return "-".join(part for part in parts if part)[:100]


def _committed(repo: Path | None) -> Callable[[Item], bool] | None:
    """Whether a document stands in the last commit as it is; None where nothing is ever committed."""
    root, is_kept = root_of(repo)
    if not is_kept:
        return None
    try:
        head = parents.of_revision(root)
    except history.Unlistable:
        return None
    files = frozenset(head.paths()) if head else frozenset()
    return lambda item: item.file in files and head is not None and head.same(item.file, item.document.raw)


def _fault(found: Repo) -> Callable[[Item], str | None]:
    """The first error that the rules of its kind find in a document; all documents of a kind are judged together, once."""

    @cache
    def of_kind(kind: str) -> Mapping[str, str]:
        rules = [rule._replace(kinds=(kind,)) for rule in RULES if kind in rule.kinds]
        errors: dict[str, str] = {}
        for each in engine.run(found, rules=rules).of(Severity.ERROR):
            place = f"{each.location.file}:{each.location.line}"
            errors.setdefault(each.location.file, f"{place}: {each.message} [{each.rule}]")
        return errors

    return lambda item: of_kind(item.kind).get(item.file)
