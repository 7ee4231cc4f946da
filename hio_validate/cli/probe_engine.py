"""hio probe engine: what the kernels of one build reach on this host, as a ceilings document."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from hio_validate import __version__, recording
from hio_validate.cli.alone import alone
from hio_validate.cli.loading import load_repo, named, the_service
from hio_validate.cli.new_files import created_all
from hio_validate.cli.shared import as_json, format_option, repo_option, show, stop, width
from hio_validate.models.base import JudgedBy
from hio_validate.models.ceilings import Ceilings
from hio_validate.models.core import ValidationError
from hio_validate.models.errors import refusals
from hio_validate.observe.host import observe_host
from hio_validate.observe.readings import available
from hio_validate.probing import kernels
from hio_validate.probing.build_libraries import Kernels, kernels_of
from hio_validate.probing.caches import last_level_bytes
from hio_validate.probing.host import HIGHEST_LOAD
from hio_validate.probing.refusal import CannotProbe
from hio_validate.probing.threads import counts, usable
from hio_validate.repo import Item, Repo
from hio_validate.report import ceilings as page
from hio_validate.rules import NEWEST

VERB = "hio probe engine"
MEASURABLE = ("llama-server",)
"""Engine families whose kernels can be called from outside."""
WIDTH = 4096
"""Numbers of one row, where no shape says how wide the model is."""


@click.command(short_help="Measure what a build's own kernels reach on this host.")
@click.argument("build")
@click.option("--service", metavar="SITE/NAME", help="Whose model says the number formats and the width.")
@click.option("--shape", metavar="NAME", help="Its shape document (default: the only one of the service).")
@click.option("--dtype", "dtypes", multiple=True, metavar="TYPE",
              help="Number format, e.g. Q4_K; may be given several times (default: those of the shape).")  # fmt: skip
@click.option("--width", "row", type=click.IntRange(32, 1 << 20), help=f"Numbers of one row (default: the shape's embedding, or {WIDTH}).")  # fmt: skip
@click.option("--tokens", type=click.IntRange(2, 8192), default=512, show_default=True,
              help="The most vectors at once: tokens that one prefill pass takes.")  # fmt: skip
@click.option("--vectors", "more", type=click.IntRange(1, 8192), multiple=True, metavar="N",
              help="One more count of vectors, e.g. the tokens of a short prompt; may be given several times.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1), multiple=True, help="Threads; may be given several times (default: 1, 2, 4 ... and all).")  # fmt: skip
@click.option("--program", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="The build's program (default: as a site says it).")  # fmt: skip
@click.option("--library", metavar="FILE", help="Which libggml-cpu, where the build has several.")
@click.option("--name", help="Name of the document (default: the build and the date).")
@click.option("--yes", is_flag=True, help="Measure; without it only what would be done is shown.")
@click.option("--write", is_flag=True, help="Keep it in manifests/ceilings/.")
@repo_option
@format_option
def engine(
    build: str, service: str | None, shape: str | None, dtypes: tuple[str, ...], row: int | None, tokens: int,
    more: tuple[int, ...], threads: tuple[int, ...], program: Path | None, library: str | None, name: str | None, yes: bool, write: bool,
    repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Measure what the matrix products of BUILD reach on this host, with its own kernels and random weights.

    matvec: bytes of weights that are read and multiplied by 1 to 16 vectors, as decoding, drafting and a few requests at
    once do; matmul: products of a block that stays in the cache with more vectors, as prefill does. It takes two minutes
    at most. Exit code 3: nothing could be measured.
    """
    root, found = load_repo(repo)
    item = named(found, "engine/v1", build)
    if item.model.family not in MEASURABLE:
        stop(f"{build} is of the family {item.model.family}, whose kernels hio cannot call; it measures "
             f"{', '.join(MEASURABLE)} builds on a CPU, hio probe host measures the machine")  # fmt: skip
    model = _shape(found, service, shape, dtypes)
    asked_dtypes = dtypes or _formats(model)
    try:
        where = kernels_of(program or _program(found, item.name), _recorded(found, item), library)
        asked = kernels.Asked(
            str(where.base), str(where.cpu), asked_dtypes, threads or tuple(counts(usable().count)),
            row or (model and model.model.embedding) or WIDTH, kernels.vectors_up_to(tokens, more),
            kernels.stream_bytes(last_level_bytes(), available(), model and kernels.read_again(model.model)),
        )  # fmt: skip
        if not yes:
            _plan(item.name, where, asked, format_)
            return
        _free(root, name or f"{item.name}-kernels-{datetime.now(UTC):%Y-%m-%d}", write)
        _warn()
        with alone():
            made = _document(name, item.name, asked)
    except CannotProbe as error:
        stop(str(error))
    except ValidationError as error:
        stop("; ".join(each.message for each in refusals(error, "ceilings/v1", {"name": name})), 2)
    _tell(root, made, format_, write)


def _shape(found: Repo, service: str | None, shape: str | None, dtypes: Sequence[str]) -> Item | None:
    """The shape that says the formats; None where they are on the command line and no service is named."""
    if shape:
        return named(found, "shape/v1", shape, service)
    if dtypes and not service:
        return None
    chosen = the_service(found, service)
    shapes = [item for item in found.of("shape/v1") if item.service == chosen]
    if len(shapes) == 1:
        return shapes[0]
    if dtypes:
        return None
    if shapes:
        stop(f"{chosen} has several shapes: say --shape {' or '.join(each.name for each in shapes)}", 2)
    return stop(
        f"{chosen} has no shape document that says its number formats: hio probe model --write makes one, "
        "or name them, e.g. --dtype Q4_K --dtype Q6_K",
        2,
    )


def _formats(model: Item | None) -> tuple[str, ...]:
    """The number formats of a model that are multiplied, the one with the most bytes first."""
    size: dict[str, int] = {}
    for each in model.model.weights if model else ():
        if each.role != "norm":
            size[each.type] = size.get(each.type, 0) + each.bytes
    if not size:
        stop("the shape names no weights that are multiplied; name the number formats with --dtype", 2)
    return tuple(sorted(size, key=lambda dtype: -size[dtype]))


def _program(found: Repo, build: str) -> Path:
    places = {path for site in found.of("site/v1") if (path := site.model.programs.get(build))}
    here = sorted(path for path in places if Path(path).is_file())
    if len(here) == 1:
        return Path(here[0])
    if here:
        raise CannotProbe(
            f"sites name several programs of {build}: {', '.join(here)}; say which with --program"
        )
    said = f"none of {', '.join(sorted(places))} is on this host" if places else "no site says where it is"
    raise CannotProbe(f"the program of {build} was not found: {said}; give --program")


def _recorded(found: Repo, build: Item) -> Mapping[str, str]:
    """File name -> SHA-256 of the build's libraries: as its document says, else as a capture saw them."""
    identity = build.model.identity
    if identity and identity.libraries:
        return dict(identity.libraries)
    seen: dict[str, str] = {}
    for capture in found.of("capture/v1"):
        for process in capture.model.processes.values():
            if process.build == build.name:
                seen |= {name: each.sha256 for name, each in process.libraries.items() if each.sha256}
    return seen


def _plan(build: str, where: Kernels, asked: kernels.Asked, format_: str) -> None:
    if format_ == "json":
        shape = {"build": build, "libraries": [str(where.base), str(where.cpu)], "dtypes": list(asked.dtypes),
                 "threads": list(asked.threads), "width": asked.width, "vectors": list(asked.vectors),
                 "stream_bytes": asked.stream, "at_most_s": asked.seconds}  # fmt: skip
        show(as_json({"version": 1, "would_measure": shape, "ceilings": None, "wrote": None}))
        return
    show(
        f"{build}: will load its kernels in a process of their own and multiply random\n"
        f"weights, for at most {asked.seconds:.0f} s\n"
        f"  library: {where.cpu}\n"
        f"  formats: {', '.join(asked.dtypes)}\n"
        f"  threads: {', '.join(map(str, asked.threads))}\n"
        f"{_measures(asked)}"
        "whatever else runs meanwhile makes the rates smaller\n"
        "nothing has happened yet; add --yes to measure, and --write to keep it\n"
    )


def _measures(asked: kernels.Asked) -> str:
    streamed, cached = (
        ", ".join(map(str, counts(asked.vectors))) for counts in (kernels.streamed, kernels.cached)
    )
    said = f"  matvec:  {asked.stream / 1e6:.0f} MB of weights, rows of {asked.width} numbers, by {streamed} vectors\n"
    return said + (
        f"  matmul:  a block of {asked.block / 1e6:.0f} MB by {cached} vectors\n" if cached else ""
    )


def _free(root: Path, name: str, write: bool) -> None:
    """Before a minute is spent, not after it."""
    if write and os.path.lexists(root / f"manifests/ceilings/{name}.yaml"):
        stop(f"manifests/ceilings/{name}.yaml exists and stays as it is; give another --name", 1)


def _warn() -> None:
    load = os.getloadavg()[0]
    if load > HIGHEST_LOAD:
        click.echo(
            f"hio: warning: the load is {load:.2f}, above {HIGHEST_LOAD:g}: what is measured now is less than the kernels reach",
            err=True,
        )


def _document(name: str | None, build: str, asked: kernels.Asked) -> Ceilings:
    at, load, host = datetime.now(UTC), os.getloadavg()[0], observe_host()
    rates, unknown = kernels.measured(asked, lambda dtype: click.echo(f"{dtype} …", err=True))
    return Ceilings(
        hio="ceilings/v1",
        name=name or f"{build}-kernels-{at:%Y-%m-%d}",
        about=f"{build}'s own kernels on {host.cpu or platform.machine()}, {host.cores} processors",
        how="measured", host=host.id, at=f"{at:%Y-%m-%dT%H:%M:%SZ}", load=round(load, 2), engine=build,
        rates=rates, unknown=unknown,
        judged_by=JudgedBy(hio=__version__, rules=NEWEST),
    )  # fmt: skip


def _tell(root: Path, made: Ceilings, format_: str, write: bool) -> None:
    file = f"manifests/ceilings/{made.name}.yaml"
    if write:
        created_all(root, [(file, recording.ceilings_file(made, file, VERB))])
    if format_ == "json":
        data = {"hio": "ceilings/v1", **made.model_dump(exclude_none=True, exclude_defaults=True)}
        show(
            as_json({"version": 1, "would_measure": None, "ceilings": data, "wrote": file if write else None})
        )
        return
    show(page.text(made, width()))
    show(f"\nwrote {file}\n" if write else "\nnothing was kept; --write keeps it\n")
