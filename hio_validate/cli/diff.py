"""hio diff: what differs between two of anything that runs or shall run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.cli.loading import load_repo
from hio_validate.cli.progress import hashing
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.drift import side_by_side
from hio_validate.observe.refusal import Unobservable
from hio_validate.report.difference import as_shape, render
from hio_validate.settings.difference import difference
from hio_validate.settings.knowledge import Settings
from hio_validate.subjects import NoSubject, Subject, Surroundings, command_line, subject


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("sides", nargs=-1, type=click.UNPROCESSED, metavar="A B")
@repo_option
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@click.option("--exit-code", is_flag=True, help="Exit 1 where anything differs.")
@format_option
def diff(
    sides: tuple[str, ...], repo: Path | None, service: str | None, exit_code: bool, format_: str
) -> None:
    """Compare A with B: each a stack, a capture, a pid, a .service unit, or a quoted command line.

    A stack is compared as its site completes it. Beside a process it is the check for drift: nothing differs
    from a process that runs what the stack asks for.

    After "--" all words are the command line of B (or, with a second "--", of A and of B).
    """
    try:
        with hashing() as progress:
            _, found = load_repo(repo)
            around = Surroundings(found, Settings(found), service, progress)
            parent, candidate = side_by_side(*_subjects(sides, around), around.settings)
    except (NoSubject, ValueError) as error:
        stop(str(error), 2)
    except Unobservable as error:
        stop(str(error))
    compared = difference(parent.effective, candidate.effective)
    labels = (parent.label, candidate.label)
    notes = list(
        dict.fromkeys(f"{side.label}: {note}" for side in (parent, candidate) for note in side.notes)
    )
    if format_ == "json":
        show(as_json(as_shape(compared, labels, notes)))
    else:
        show(render(compared, labels, notes, width()))
    sys.exit(int(exit_code and not compared.leaves_nothing))


def _subjects(sides: tuple[str, ...], around: Surroundings) -> tuple[Subject, Subject]:
    words = list(sides)
    after = sys.argv.index("--") if "--" in sys.argv else None
    if after is None:
        if len(words) != 2:
            raise NoSubject(f"expected two things to compare, got {len(words)}; hio diff --help")
        return subject(words[0], around), subject(words[1], around)
    given = sys.argv[after + 1 :]
    if "--" in given:
        split = given.index("--")
        return command_line(given[:split], around), command_line(given[split + 1 :], around)
    named = words[: len(words) - len(given)]
    if len(named) != 1:
        raise NoSubject('expected one thing before "--", and the command line it is compared with after it')
    return subject(named[0], around), command_line(given, around)
