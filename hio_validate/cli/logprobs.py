"""hio compare logprobs: how far two backends' next-token distributions are apart."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli.shared import as_json, format_option, show, stop, width
from hio_validate.importing.cannot import CannotImport
from hio_validate.importing.logprobs import answers, paired
from hio_validate.importing.results.source import Source
from hio_validate.report.logprobs import as_shape, render
from hio_validate.report.visible import visible


@click.command()
@click.argument("one", metavar="A", type=click.Path(path_type=Path))
@click.argument("other", metavar="B", type=click.Path(path_type=Path))
@click.option("--pre-sampling", is_flag=True,
              help="Your word that an older llama-server's probabilities are before sampling.")  # fmt: skip
@format_option
def logprobs(one: Path, other: Path, pre_sampling: bool, format_: str) -> None:
    """Compare the top-k log-probabilities of two files of answers, position by position while the tokens before are the
    same: bounds of the total variation and of the Kullback-Leibler divergence with a common residual bucket, and where
    another token is the likeliest.

    Reads llama-server's answers with n_probs and those of an OpenAI API with top_logprobs, one JSON object, a list, or
    one a line. Probabilities after sampling are refused; NaN and infinity are failures. Equal tokens decide nothing.

    Exit codes: 0 compared; 1 a file is refused, or has a number that is none; 2 usage; 3 nothing was comparable.
    """
    names = visible(str(one)), visible(str(other))
    try:
        sides = [
            answers(Source(file, name), pre_sampling) for file, name in zip((one, other), names, strict=True)
        ]
    except CannotImport as error:
        stop(str(error), error.code)
    pairs = paired(sides[0], sides[1])
    counts = len(sides[0]), len(sides[1])
    code = 0 if any(pair.prompt for pair in pairs) else 3
    show(
        as_json(as_shape(pairs, names, counts, code))
        if format_ == "json"
        else render(pairs, names, counts, width())
    )
    sys.exit(code)
