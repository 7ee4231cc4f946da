"""hio explain: what a rule means, why it is there, how to satisfy it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from hio_validate.cli.shared import show, stop
from hio_validate.rules import RULES
from hio_validate.spelling import nearest


@click.command()
@click.argument("rule", required=False)
def explain(rule: str | None) -> None:
    """Print the page of RULE; without one, list all rules."""
    if rule is None:
        widest = max(len(each.id) for each in RULES)
        show("".join(f"{each.id:<{widest}}  {each.severity:<5}  {each.summary}\n" for each in RULES))
        return
    known = {each.id for each in RULES}
    if rule not in known:
        near = nearest(rule, known)
        stop(f"no rule {rule!r}." + (f" Did you mean {near}?" if near else " hio explain lists them."), 2)
    show(_page(rule))


def _page(rule: str) -> str:
    """The page that ships in the wheel; in a checkout, the one under docs/rules/."""
    packaged = files("hio_validate") / "rule_pages" / f"{rule}.md"
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / "docs" / "rules" / f"{rule}.md").read_text(encoding="utf-8")
