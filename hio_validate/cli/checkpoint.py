"""hio checkpoint: a small commit of the files that are yours, judged before it is made."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hio_validate.checkpoint import carry_out as carrying
from hio_validate.checkpoint import planning, remote, standing
from hio_validate.checkpoint.plan import CLASSES, TRAILER, CannotTell, Misnamed, NotNow, Outcome, Plan
from hio_validate.cli.shared import FiniteRange, format_option, repo_option, root_of, show, stop
from hio_validate.history import Unlistable, top_of
from hio_validate.report.checkpoint import as_json, as_text


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--class", "class_", required=True, type=click.Choice(CLASSES), help="What the commit is.")
@click.option("-m", "--message", required=True, help="What changed and why.")
@click.option(
    "--push", is_flag=True, help="Push the branch afterwards: fast-forward only, to an allowed remote."
)
@click.option("--remote", "remote_", metavar="NAME", help="Remote to push to (default: as git push would).")
@click.option("--largest", metavar="MIB", type=FiniteRange(min=0, min_open=True), default=5, show_default=True,
              help="Largest file in MiB.")  # fmt: skip
@click.option("--planned", metavar="TREE", help="Carry out only the plan that showed this tree.")
@click.option("--yes", is_flag=True, help="Carry the plan out; without it the plan is only shown.")
@repo_option
@format_option
def checkpoint(
    paths: tuple[Path, ...], class_: str, message: str, push: bool, remote_: str | None, largest: float,
    planned: str | None, yes: bool, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Commit the files PATHS and nothing else; what others staged or changed stays as it is.

    Refused are secrets, weights, saved slots, build products, large files, links, submodules, and documents
    that hio validate finds errors in.
    """
    if not message.strip():
        stop("a commit says what changed and why; give -m a sentence", 2)
    if f"{TRAILER.lower()}:" in message.lower():
        stop(f"{TRAILER} is written from --class; leave it out of the message", 2)
    if remote_ and not push:
        stop("--remote says where --push goes; give both or none", 2)
    root, kept = root_of(repo)
    top = top_of(root) if kept else None
    if top is None:
        stop(f"{root} is no git repository", 2)
    try:
        place = standing.look(top)
        target = remote.target(place, remote_) if push else None
        plan = planning.plan(place, root, paths, class_, message, int(largest * 2**20), target)
        if planned is not None and not (len(planned) >= 7 and plan.tree.startswith(planned)):
            stop(
                "the named files or the branch changed since that plan was shown; look at the new one first",
                1,
            )
        wanted = yes and not plan.refusals and plan.has_work
        outcome = carrying.carry_out(place, plan) if wanted else None
    except Misnamed as error:
        stop(str(error), 2)
    except NotNow as error:
        stop(str(error), 3 if isinstance(error, CannotTell) else 1)
    except Unlistable as error:
        stop(f"git stopped: {error}")
    _tell(plan, outcome, format_)


def _tell(plan: Plan, outcome: Outcome | None, format_: str) -> None:
    code = 1 if plan.refusals or (outcome is not None and not outcome.is_whole) else 0
    url = remote.shown(plan.target.url) if plan.target else ""
    show(as_json(plan, outcome, url, code) if format_ == "json" else as_text(plan, outcome, url))
    sys.exit(code)
