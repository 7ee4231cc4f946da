"""hio ledger: append to the ledger of a service."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from hio_validate import appending, writing
from hio_validate.cli.loading import load_repo
from hio_validate.cli.shared import repo_option, stop, user
from hio_validate.ledger import Ledger, ledgers

_KINDS = ["baseline", "increment", "negative-control", "correction", "decision", "merge"]


@click.group()
def ledger() -> None:
    """Append to the ledger of a service."""


@ledger.command(short_help="Write a new entry after the ledger's tips.")
@click.argument("kind", type=click.Choice(_KINDS), metavar="KIND")
@click.option("--service", required=True, metavar="SITE/NAME", help="The service.")
@click.option("--id", "id_", help="Name of the entry (default: date, kind and factor).")
@click.option("--by", help="Who decided (default: the user).")
@click.option("--because", help="Why, in a sentence that helps in a year.")
@click.option("--factor", help="The setting an increment, a negative control or a decision is about.")
@click.option("--stack", help="Stack to pin.")
@click.option("--capture", help="Capture to pin.")
@click.option("--run", help="Run to pin.")
@click.option("--corrects", help="The entry a correction puts right.")
@click.option("--decision", type=click.Choice(["stop-trial", "keep-research", "experimental-default", "deploy"]),
              help="Which decision.")  # fmt: skip
@click.option("--next", "next_", help="The next discriminating test of a decision.")
@click.option(
    "--result",
    nargs=3,
    metavar="METRIC FROM TO",
    help="Publish the change of a metric between two arms of --run, computed from its raw rows.",
)
@click.option("--statistic", type=click.Choice(["median", "mean"]), default="median", show_default=True,
              help="Over each arm's rows.")  # fmt: skip
@click.option("--blocks", multiple=True, help="Setting that makes no sense without a negative control's.")
@click.option("--imported", is_flag=True, help="History from before hio.")
@repo_option
def append(
    kind: str, service: str, id_: str | None, by: str | None, because: str | None, factor: str | None,
    stack: str | None, capture: str | None, run: str | None, corrects: str | None, decision: str | None,
    next_: str | None, result: tuple[str, str, str] | None, statistic: str, blocks: tuple[str, ...], imported: bool, repo: Path | None,
) -> None:  # fmt: skip
    """Write a new entry after the ledger's tips, with every digest computed.

    KIND is baseline, increment, negative-control, correction, decision or merge. Nothing of the ledger is changed; a mistake is put right by a correction.
    """
    if service.count("/") != 1:
        stop(f"a service is SITE/NAME, got {service}", 2)
    root, found = load_repo(repo)
    book = ledgers(found).get(service) or Ledger(service, {})
    now = datetime.now(UTC)
    named = id_ or "-".join(
        part for part in (f"{now:%Y-%m-%d}", kind, (factor or "").rpartition(".")[2]) if part
    )
    fields: dict[str, Any] = {
        "imported": imported or None, "because": because, "factor": factor, "corrects": corrects,
        "decision": decision, "next": next_, "blocks": list(blocks) or None,
    }  # fmt: skip
    given = {"stack": stack, "capture": capture, "run": run}
    try:
        if result:
            metric, *arms = result
            fields["result"] = appending.result(found, service, run, metric, (arms[0], arms[1]), statistic)
        file, content = appending.entry(
            found, book, kind, named, f"{now:%Y-%m-%dT%H:%M:%SZ}", by or user(),
            {key: value for key, value in fields.items() if value is not None},
            {role: name for role, name in given.items() if name is not None},
        )  # fmt: skip
        writing.create(root / file, content)
    except appending.AlreadyThere as error:
        stop(str(error), 1)
    except appending.CannotAppend as error:
        stop(str(error), 2)
    except FileExistsError:
        stop(f"{file} exists; a ledger only grows, give another --id", 1)
    except OSError as error:
        stop(f"{file} cannot be written: {error.strerror}")
    click.echo(f"wrote {file}")
