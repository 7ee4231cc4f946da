"""hio compare: two measurements, metric by metric, or why there is nothing to compare."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import FiniteRange, as_json, format_option, repo_option, show, stop, width
from hio_validate.evidence.compared import MUST_BE_KNOWN, Allowed, Compared, Word
from hio_validate.importing.cannot import CannotImport
from hio_validate.measurements import Measurements, NoMeasurement
from hio_validate.report.compared import as_shape, render


class _Compare(click.Command):
    """The word `logprobs` first asks for another comparison; a file of that name is ./logprobs."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] != ["logprobs"]:
            return super().make_context(info_name, args, parent, **extra)
        # Imported here: comparing records needs none of it.
        from hio_validate.cli.logprobs import logprobs

        return logprobs.make_context(f"{info_name} logprobs", args[1:], parent, **extra)


@click.command(cls=_Compare)
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@click.option("--statistic", type=click.Choice(["median", "mean"]), default="median", show_default=True,
              help="Over the trials of an arm.")  # fmt: skip
@click.option("--same", multiple=True, type=click.Choice([*MUST_BE_KNOWN, "acceptance"]), metavar="FACT",
              help="Your word that FACT was the same where neither side says it, e.g. concurrency.")  # fmt: skip
@click.option("--same-work", type=FiniteRange(min=0), default=0.0, metavar="PERCENT",
              help="Counts of work may differ by this much (default: 0).")  # fmt: skip
@click.option("--exit-code", is_flag=True, help="Exit 1 where a metric is worse.")
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@repo_option
@format_option
def compare(
    one: str, other: str, statistic: str, same: tuple[str, ...], same_work: float, exit_code: bool,
    service: str | None, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Compare B with A: each a result file (FILE or FILE#record), an observation of the repository (NAME or
    NAME#record), or an arm of a run (RUN:ARM).

    Per metric both values, the change of B in percent of A and whether that is better or worse. Numbers that were
    counted in two ways, are of two workloads or of other work are not compared, and the reason is told.

    hio compare logprobs A B compares answers with log-probabilities: hio compare logprobs --help.

    Exit codes: 0 compared; 1 with --exit-code, where a metric is worse; 2 usage; 3 nothing was comparable.
    """
    known = Measurements(lambda: load_repo(repo)[1], service, statistic)
    try:
        compared = known.compared(one, other, Allowed(same_work, frozenset(same)))
    except (NoMeasurement, CannotImport) as error:
        stop(str(error), error.code)
    code = code_of(compared, exit_code)
    show(as_json(as_shape(compared, code)) if format_ == "json" else render(compared, width()))
    sys.exit(code)


def code_of(compared: Compared, gated: bool) -> int:
    """3 where nothing was comparable, 1 where it is asked for and a metric is worse."""
    if not compared.comparable:
        return 3
    return int(gated and any(pair.word is Word.WORSE for pair in compared.comparable))
