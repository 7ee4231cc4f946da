"""hio render: a stack as the files that start it, each read back by the program that will read it."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath
from typing import NoReturn

import click

from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.render import folder
from hio_validate.render.bundle import Bundle, CannotRender
from hio_validate.render.rendering import render as render_bundle
from hio_validate.render.targets import DIALECTS_OF_ENV, TARGETS
from hio_validate.repo import Item, Repo
from hio_validate.report import rendering as report


@click.command()
@click.argument("stack")
@click.option("--target", type=click.Choice(list(TARGETS)), required=True, help="What reads the files.")
@click.option(
    "--service",
    metavar="SITE/NAME",
    help="The service whose place it is rendered for (default: the stack's).",
)
@click.option(
    "--dialect", type=click.Choice(list(DIALECTS_OF_ENV)), help="Of the target env: who reads the file."
)
@click.option(
    "--root",
    metavar="FOLDER",
    help="Absolute folder of the service on its host (default: the site's, or the target's).",
)
@click.option(
    "--out", metavar="FOLDER", type=click.Path(path_type=Path), help="Write the files into this folder."
)
@click.option(
    "--overwrite", is_flag=True, help="With --out: keep a copy of what was edited by hand, and write."
)
@click.option("--stdout", "shown", metavar="FILE", help="Print this file, and nothing else.")
@click.option("--check", "checked", metavar="FOLDER", type=click.Path(path_type=Path),
              help="Compare the files in this folder; exit 1 where one differs.")  # fmt: skip
@click.option(
    "--check-installed", is_flag=True, help="Compare the files where a deployment puts them on this host."
)
@repo_option
@format_option
def render(
    stack: str, target: str, service: str | None, dialect: str | None, root: str | None, out: Path | None,
    overwrite: bool, shown: str | None, checked: Path | None, check_installed: bool, repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Render STACK for the program that starts it, and say who read each file back.

    Without an option nothing is written. --out never replaces what hio did not write itself: it shows the difference.

    Exit codes: 0 rendered, or all as rendered; 1 cannot be rendered, or a file differs; 2 usage; 3 unreadable.
    """
    if sum(map(bool, (out, shown, checked, check_installed))) > 1:
        stop("--out, --stdout, --check and --check-installed exclude each other", 2)
    if (target == "env") != (dialect is not None):
        stop("--dialect belongs to --target env, which needs one" + f": {', '.join(DIALECTS_OF_ENV)}", 2)
    if root is not None and not root.startswith("/"):
        stop(f"--root {root} is no absolute path", 2)
    _, found = load_repo(repo)
    item = named(found, "stack/v1", stack, service)
    bundle = _rendered(found, item, service or item.service or "", target, dialect, root)
    try:
        if out is not None:
            _write(bundle, out, overwrite, format_)
        elif checked is not None or check_installed:
            _check(bundle, checked, format_)
    except OSError as error:
        stop(f"{error.filename or out or checked}: {error.strerror}")
    _show(bundle, shown, format_)


def _rendered(
    repo: Repo, stack: Item, service: str, target: str, dialect: str | None, root: str | None
) -> Bundle:
    try:
        return render_bundle(
            repo, stack, service, target, dialect=dialect, root=PurePosixPath(root) if root else None
        )
    except CannotRender as error:
        for reason in error.reasons:
            print(f"hio: {reason}", file=sys.stderr)
        sys.exit(1)


def _write(bundle: Bundle, out: Path, overwrite: bool, format_: str) -> NoReturn:
    found, kept = folder.write(bundle, out, overwrite)
    refused = not overwrite and any(each.state is folder.State.EDITED for each in found)
    if format_ == "json":
        show(as_json(report.shape(bundle, found, int(refused))))
    elif refused:
        show(report.render_refused(found, width()))
    else:
        show(report.render_written(bundle, str(out), found, map(str, kept), width()))
    sys.exit(int(refused))


def _check(bundle: Bundle, checked: Path | None, format_: str) -> NoReturn:
    found = folder.compared(bundle, checked) if checked else folder.compared_as_installed(bundle)
    if not found:
        stop(f"the target {bundle.target} installs no file here: give --root, or --check FOLDER", 3)
    differs = any(each.state is not folder.State.SAME for each in found)
    show(
        as_json(report.shape(bundle, found, int(differs)))
        if format_ == "json"
        else report.render_check(bundle, found, width())
    )
    sys.exit(int(differs))


def _show(bundle: Bundle, shown: str | None, format_: str) -> None:
    if shown is None:
        show(as_json(report.shape(bundle)) if format_ == "json" else report.render(bundle, width()))
        return
    texts = {each.name: each.content.decode() for each in bundle.files}
    if shown not in texts:
        stop(f"{bundle.target} has no file {shown}: it has {', '.join(texts)}", 2)
    show(texts[shown])
