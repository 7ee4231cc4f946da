"""An option that several verbs have looks the same in each of them."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from hio_validate.cli import _VERBS, cli

METAVARS = {"--service": {"SITE/NAME"}, "--out": {"FOLDER", "FILE"}, "--same": {"FACT"}}
FLAGS = ("--yes", "--write", "--exit-code", "--staged", "--detach", "--overwrite", "--all", "--strict")


def commands(command: click.Command | None, name: str) -> Iterator[tuple[str, click.Command]]:
    assert command is not None
    yield name, command
    if isinstance(command, click.Group):
        for each in command.list_commands(click.Context(command)):
            yield from commands(command.get_command(click.Context(command), each), f"{name} {each}")


OPTIONS = [
    (f"{verb} {option}", option, given)
    for each in _VERBS
    for verb, command in commands(cli.get_command(click.Context(cli), each), each)
    for given in command.params
    if isinstance(given, click.Option)
    for option in given.opts
]
every_option = pytest.mark.parametrize(
    ("option", "given"), [each[1:] for each in OPTIONS], ids=[each[0] for each in OPTIONS]
)


@every_option
def test_an_option_is_told_by_the_same_words(option: str, given: click.Option) -> None:
    if option in METAVARS:
        assert given.metavar in METAVARS[option]
    if option in FLAGS:
        assert given.is_flag
    if option == "--repo":
        assert given.help == "Repository (default: around the working directory)."
    if option == "--format":
        assert isinstance(given.type, click.Choice) and {"json"} <= set(given.type.choices)


@every_option
def test_an_option_says_what_it_is_for(option: str, given: click.Option) -> None:
    assert given.help and given.help.endswith((".", "?"))
