"""What the guide promises is what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hio_validate.cli import _VERBS, cli
from hio_validate.observe.capture import OBSERVED_FIELDS, OBSERVED_IN_VERBOSE_LOG, VOLATILE_FIELDS

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


def test_the_guide_lists_the_observed_and_the_volatile_fields() -> None:
    page = (ROOT / "docs/guide/observing.md").read_text()
    listed = re.findall(r"^- `(.+)`$", page, re.MULTILINE)
    assert listed == [*OBSERVED_FIELDS, *OBSERVED_IN_VERBOSE_LOG, *VOLATILE_FIELDS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_verb_is_in_the_changelog_and_the_readme_speaks_only_of_verbs_that_exist() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert all(f"hio {verb}" in changelog for verb in _VERBS)
    named = set(re.findall(r"^hio ([a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named <= set(_VERBS)


def test_the_list_of_verbs_tells_each_of_them_whole() -> None:
    context = click.Context(cli)
    for verb in _VERBS:
        group = cli.get_command(context, verb)
        for each in group.commands.values() if isinstance(group, click.Group) else ():
            assert each.get_short_help_str(80).endswith("."), f"{verb} {each.name}"
            assert not each.get_short_help_str(80).endswith("..."), (
                f"{verb} {each.name}: give it a short_help"
            )


def test_the_table_of_what_sources_cannot_tell_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/sources.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
