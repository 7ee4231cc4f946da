"""Reads an environment by its family's names: which variable sets what, and how a negated name switches off."""

from __future__ import annotations

from collections.abc import Mapping

from hio_validate.diagnostic import Path
from hio_validate.models.family import Family
from hio_validate.settings.argv import Given, Misread
from hio_validate.settings.catalogue import Catalogue, Option
from hio_validate.settings.value import normal


def read_environment(
    env: Mapping[str, str], family: Family | None, catalogue: Catalogue | None, at: Path = ()
) -> tuple[list[Given], list[Misread]]:
    """The settings an environment gives. A variable no option names is a setting under its own name.

    A negated name wins over the plain one, so it comes last (common_arg::get_value_from_env).
    """
    given: list[Given] = []
    misread: list[Misread] = []
    negations = _negations(family, catalogue) if env else {}
    own = catalogue is not None and not catalogue.borrowed
    for name, value in env.items():
        path = (*at, name)
        option = catalogue.find(name) if catalogue else None
        if own and option and option.removed is not None:
            message = f"{name} was removed from this build"
            misread.append(Misread("removed-setting", message, option.removed or "remove it", path))
        elif option:
            given.append(Given(option.factor, name, _value(value, option, family), path, option))
        elif name in negations:
            given.append(Given(negations[name].factor, name, "off", path, negations[name], negated=True))
        elif own and catalogue and _looks_like_argument(name, family):
            near = catalogue.nearest(name)
            advice = f"did you mean {near}?" if near else "this build's --help does not list it"
            misread.append(Misread("unknown-setting", f"{name} is no setting of this build", advice, path))
        else:
            given.append(Given(_spelt(name, family), name, value, path))
    return sorted(given, key=lambda each: each.negated), misread


def _value(text: str, option: Option, family: Family | None) -> str:
    """An option that can only be switched on ignores any word that does not (arg.cpp: handler_void)."""
    if option.boolean and not option.negations:
        return "on" if normal(text, option.factor, option, family) == "on" else "off"
    return text


def _negations(family: Family | None, catalogue: Catalogue | None) -> dict[str, Option]:
    """`LLAMA_ARG_NO_MMAP` and the like: present with any value, they switch the option off."""
    if family is None or catalogue is None:
        return {}
    return {
        name.replace(prefix, negated, 1): option
        for option in catalogue
        if option.negations
        for name in option.env
        for prefix, negated in family.env_negation.items()
        if name.startswith(prefix)
    }


def _spelt(name: str, family: Family | None) -> str:
    """The factor a variable names by its family's habits, where no help text is at hand."""
    if family is None:
        return name
    prefix = next((each for each in family.env_negation if name.startswith(each)), None)
    habit = name.removeprefix(prefix).lower().replace("_", "-") if prefix else name
    return family.aliases.get(name, habit)


def _looks_like_argument(name: str, family: Family | None) -> bool:
    return any(name.startswith(prefix) for prefix in (family.env_negation if family else ()))
