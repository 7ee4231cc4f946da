"""hio known-good: what a model needs, held against stacks and foreign files; and a new row of its registry."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from hio_validate import writing
from hio_validate.cli.loading import load_repo, named
from hio_validate.cli.shared import FiniteRange, as_json, format_option, repo_option, show, stop
from hio_validate.known_good import SERVING, SEVERITIES, Judgement, judge
from hio_validate.known_good.row import CannotRecord, checked, recorded, value_of, with_evidence
from hio_validate.recording import modeline
from hio_validate.repo import Item, Repo, item_of
from hio_validate.report.known_good import as_shape, render
from hio_validate.report.visible import visible
from hio_validate.settings.family import PACKAGED
from hio_validate.settings.knowledge import Settings
from hio_validate.settings.places import filled
from hio_validate.source import read as read_document
from hio_validate.source.dump import dump
from hio_validate.source.edit import CannotEdit
from hio_validate.spelling import nearest


@click.group("known-good")
def known_good() -> None:
    """Keep what a model needs, and hold a stack against it."""


@known_good.command(short_help="Hold stacks, or foreign files, against the registries.")
@click.argument("stacks", nargs=-1, required=True, metavar="STACK|FILE...")
@click.option(
    "--model", metavar="NAME", help="Which model it is, where nothing says so: its name, or its registry's."
)
@click.option(
    "--phase", default=SERVING, show_default=True, help="What it is for; a phase-limited setting asks."
)
@click.option("--service", metavar="SITE/NAME", help="Service in which names are looked up.")
@click.option("--engine", help="Engine family of a foreign file whose program does not say it.")
@repo_option
@format_option
def check(
    stacks: tuple[str, ...], model: str | None, phase: str, service: str | None, engine: str | None,
    repo: Path | None, format_: str,
) -> None:  # fmt: skip
    """Hold STACKs, or what foreign FILEs start, against the registries of their models.

    Effective settings are judged, not text. Exit 1: something is violated; 3: it could not be judged, because a value,
    a build or the model is unknown, or nothing is known of the model.
    """
    _, found = load_repo(repo)
    settings = Settings(found)
    judged: list[Judgement] = []
    for word in stacks:
        for item in _items(word, found, settings, service, engine):
            judged.append(judge(found, item.service or service, item, settings, model=model, phase=phase))
    code = _exit_code(judged)
    show(as_json(as_shape(judged, code)) if format_ == "json" else render(judged))
    sys.exit(code)


def _exit_code(judged: Sequence[Judgement]) -> int:
    """3 before 1, so that what nobody could look at is never taken for an answer; nothing known is no answer, too."""
    if any(each.unknown or not each.registries for each in judged):
        return 3
    return 1 if any(each.violated for each in judged) else 0


def _items(word: str, found: Repo, settings: Settings, service: str | None, engine: str | None) -> list[Item]:
    """The stack of that name, or a stack for each engine that a file starts."""
    path = Path(word)
    if not found.meant("stack/v1", word, service) and ("/" in word or "." in word or path.exists()):
        return _of_file(path, settings, engine)
    return [named(found, "stack/v1", word, service)]


def _of_file(path: Path, settings: Settings, engine: str | None) -> list[Item]:
    # Imported here: a stack of the repository needs none of it.
    from hio_validate.importing.cannot import CannotImport
    from hio_validate.importing.configurations.draft import drafts
    from hio_validate.importing.configurations.recognise import read

    own = _own_stack(path)
    if own is not None:
        return [own]
    try:
        made = drafts(read(path, visible(str(path))), settings, engine)
    except CannotImport as error:
        stop(visible(str(error)), error.code)
    items = []
    for draft in made:
        item = item_of(read_document(draft.content(""), f"{path}#{draft.name}.yaml"))
        items.append(item._replace(name=draft.name, model=filled(item.model, draft.places)))
    return items


def _own_stack(path: Path) -> Item | None:
    """A file that is a stack document itself."""
    try:
        raw = path.read_bytes() if path.is_file() and path.stat().st_size < 1 << 20 else b""
    except OSError:
        return None
    if b"hio: stack/v1" not in raw:
        return None
    item = item_of(read_document(raw, str(path)))
    if item.model is None:
        stop(f"{visible(str(path))} is a stack that cannot be read; hio validate says why", 1)
    return item


@known_good.command(short_help="Add what was learnt of a model to its registry.")
@click.argument("model")
@click.option("--factor", required=True, help="The setting, without its process.")
@click.option(
    "--must",
    required=True,
    type=click.Choice(["required", "forbidden", "opt-in", "phase-limited", "preferred"]),
    help="What of it.",
)
@click.option("--value", "values", multiple=True, help="A value that is meant; may be given several times.")
@click.option("--at-least", type=FiniteRange(), help="Of a required number: the smallest.")
@click.option("--at-most", type=FiniteRange(), help="Of a required number: the largest.")
@click.option("--phase", "phases", multiple=True, help="Where a phase-limited setting may be used.")
@click.option("--severity", required=True, type=click.Choice(SEVERITIES), help="What happens otherwise.")
@click.option("--because", required=True, help="Why, in a sentence that helps in a year.")
@click.option("--scope", help="Where this was seen: devices, drivers, load.")
@click.option("--build", "builds", multiple=True, help="A build that is affected; none: every build.")
@click.option(
    "--evidence", multiple=True, help="An entry or a run, SITE/NAME/ID; anything else: where it is written."
)
@click.option("--engine", help="Engine family, for a model of which nothing is recorded yet.")
@click.option(
    "--matches", multiple=True, help="File name, repository or served name of a new model; * for anything."
)
@click.option("--sha256", help="SHA-256 of the file of a new model.")
@repo_option
def record(
    model: str, factor: str, must: str, values: tuple[str, ...], at_least: float | None, at_most: float | None,
    phases: tuple[str, ...], severity: str, because: str, scope: str | None, builds: tuple[str, ...],
    evidence: tuple[str, ...], engine: str | None, matches: tuple[str, ...], sha256: str | None, repo: Path | None,
) -> None:  # fmt: skip
    """Add what was learnt of MODEL to its registry, manifests/known-good/MODEL.yaml; comments stay.

    Refused: what is recorded already, what contradicts it, and evidence that does not exist.
    """
    root, found = load_repo(repo)
    row: dict[str, Any] = {
        "factor": factor, "must": must, "values": [value_of(each) for each in values], "at_least": _number(at_least),
        "at_most": _number(at_most), "phases": list(phases), "severity": severity, "because": because, "scope": scope,
        "builds": list(builds),
    }  # fmt: skip
    row = {key: value for key, value in row.items() if value not in (None, [])}
    item = found.find("known-good/v1", model)
    file = item.file if item else f"manifests/known-good/{model}.yaml"
    try:
        row = with_evidence(row, evidence, found) | {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        if item:
            content = recorded(row, item, found)
            writing.replace(root / file, content)
        else:
            checked(row, None, file, found)
            writing.create(root / file, _new(model, engine, matches, sha256, row, file, found))
    except (CannotRecord, CannotEdit) as error:
        stop(visible(str(error)), 1)
    except FileExistsError:
        stop(f"{file} exists and cannot be read as a registry; hio validate says why", 1)
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")
    click.echo(f"{'added to' if item else 'wrote'} {file}: {must} {factor} ({severity})")


def _number(bound: float | None) -> float | int | None:
    return int(bound) if bound is not None and bound.is_integer() else bound


def _new(
    name: str,
    engine: str | None,
    matches: Sequence[str],
    sha256: str | None,
    row: dict[str, Any],
    file: str,
    found: Repo,
) -> bytes:
    """The first row of a registry; ends where nobody says what it is about."""
    if engine is None or not (matches or sha256):
        near = nearest(name, found.names("known-good/v1"), 0.8)
        stop(
            f"nothing is recorded of {name} yet"
            + (f" (did you mean {near}?)" if near else "")
            + "; a new registry needs --engine FAMILY and --matches FILE-NAME (or --sha256)", 2,
        )  # fmt: skip
    if Settings(found).family(engine) is None:
        stop(f"no family is called {engine}; known are {', '.join(PACKAGED)}", 2)
    models = [{"name": each} for each in matches] + ([{"sha256": sha256}] if sha256 else [])
    data = {"hio": "known-good/v1", "name": name, "engine": engine, "models": models, "settings": [row]}
    item = item_of(read_document(dump(data), file))
    if item.model is None:
        said = (f"{each.message}; {each.help}".removesuffix("; ") for each in item.refused)
        stop("; ".join(map(visible, said)), 2)
    return dump(data, head=modeline("known-good", file))
