"""Whether a registry agrees with itself: no deployment can meet two requirements that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hio_validate.models.family import Family
from hio_validate.models.known_good import KnownGood, Requirement
from hio_validate.settings.value import normal, same, text_of

_PLACEHOLDER = re.compile(
    r"(?:to ?do|tbd|fix ?me|xxx+|n/?a|none|unknown|reason|because|why|lorem ipsum.*|\w)?", re.IGNORECASE
)
"""A reason that is none."""


def is_placeholder(text: str) -> bool:
    """Whether a reason only holds the place of one: `TODO …`, `?`, `<why>`, a single word that says nothing."""
    said = text.strip(" \t\n?.…!-_:;,*\"'<>()[]")
    begun = said.upper().startswith(("TODO", "FIXME", "TBD"))
    in_brackets = text.strip()[:1] + text.strip()[-1:] == "<>"
    return begun or in_brackets or _PLACEHOLDER.fullmatch(said[:100]) is not None


_WANT = ("required", "preferred")
"""What names the value to have, and not one to avoid."""


class Disagreement(NamedTuple):
    """A requirement that contradicts itself or an earlier one."""

    number: int
    """Among the settings of the registry, from 0."""
    earlier: int | None
    message: str


def disagreements(registry: KnownGood, family: Family | None) -> Iterator[Disagreement]:
    """What of a registry cannot be met, or is said twice; in the order of its settings."""
    for number, requirement in enumerate(registry.settings):
        wrong = _in_itself(requirement)
        if wrong:
            yield Disagreement(number, None, wrong)
        for earlier, other in enumerate(registry.settings[:number]):
            said = between(requirement, other, family)
            if said:
                yield Disagreement(number, earlier, said)


def _in_itself(one: Requirement) -> str:
    low, high = one.at_least, one.at_most
    if low is not None and high is not None and low > high:
        return f"{one.factor} must be at least {text_of(low)} and at most {text_of(high)}"
    if (low is not None or high is not None) and (one.must != "required" or one.values):
        return f"bounds of {one.factor} say what a required number may be, without values beside them"
    if one.must == "phase-limited" and not one.phases:
        return f"{one.factor} is limited to phases, and none is named"
    if one.must != "phase-limited" and one.phases:
        return f"{one.factor} is {one.must}, which no phase limits"
    if one.must == "preferred" and not one.values:
        return f"{one.factor} is preferred, and no value is named"
    return ""


def between(one: Requirement, other: Requirement, family: Family | None) -> str:
    """Why no deployment can meet both, or that both say the same; nothing where they agree."""
    if factor_of(one.factor, family) != factor_of(other.factor, family) or not _same_builds(one, other):
        return ""
    if _said(one, family) == _said(other, family):
        return f"{one.factor} is {one.must} here as it is above"
    if one.must == other.must == "preferred":
        return ""  # each is the best of what was measured in its scope
    if one.must in _WANT and other.must in _WANT:
        return _of_two_required(one, other, family)
    for required, limited in ((one, other), (other, one)):
        if required.must in _WANT and limited.must not in _WANT and _excludes(limited, required, family):
            what = {"forbidden": "forbidden", "opt-in": "allowed only to who opted in"}.get(
                limited.must, f"limited to {', '.join(limited.phases) or 'no phase'}"
            )
            return f"{one.factor} is {required.must} to be {_values(required)}, and that is {what}"
    return ""


def factor_of(factor: str, family: Family | None) -> str:
    """The one name of a setting that may be spelt as a flag or a variable."""
    bare = factor.lstrip("-")
    name = family.aliases.get(bare, bare) if family else bare
    return name.removeprefix("LLAMA_ARG_").lower().replace("_", "-")


def _same_builds(one: Requirement, other: Requirement) -> bool:
    return not one.builds or not other.builds or bool({*one.builds} & {*other.builds})


def _said(one: Requirement, family: Family | None) -> tuple[object, ...]:
    values = sorted(normal(text_of(value), one.factor, None, family).lower() for value in one.values)
    scope = one.scope if one.must == "preferred" else None
    return one.must, tuple(values), one.at_least, one.at_most, tuple(sorted(one.phases)), scope


def _of_two_required(one: Requirement, other: Requirement, family: Family | None) -> str:
    if one.values and other.values and not any(_among(value, other, family) for value in one.values):
        above = _values(other) if one.must == other.must else f"{other.must} to be {_values(other)}"
        return f"{one.factor} is {one.must} to be {_values(one)} here and {above} above"
    low = max((each for each in (one.at_least, other.at_least) if each is not None), default=None)
    high = min((each for each in (one.at_most, other.at_most) if each is not None), default=None)
    if low is not None and high is not None and low > high:
        return f"{one.factor} is required to be at least {text_of(low)} and at most {text_of(high)}"
    for valued, bounded in ((one, other), (other, one)):
        numbers = [_number(value) for value in valued.values]
        if numbers and _is_bounded(bounded) and not any(_is_within(number, bounded) for number in numbers):
            return f"{one.factor} is {valued.must} to be {_values(valued)} and {_values(bounded)}"
    return ""


def _excludes(limited: Requirement, required: Requirement, family: Family | None) -> bool:
    """Whether whatever a requirement allows is what another one forbids."""
    if required.values:
        if not limited.values:
            return all(text_of(value) not in ("off", "absent") for value in required.values)
        return all(_among(value, limited, family) for value in required.values)
    return not limited.values


def _among(value: str | bool | int | float, other: Requirement, family: Family | None) -> bool:
    mine = text_of(value)
    theirs = [text_of(each) for each in other.values]
    return any(
        same(mine, each)
        or normal(mine, other.factor, None, family) == normal(each, other.factor, None, family)
        for each in theirs
    )


def _is_bounded(one: Requirement) -> bool:
    return one.at_least is not None or one.at_most is not None


def _number(value: str | bool | int | float) -> float | None:
    try:
        return float(text_of(value))
    except ValueError:
        return None


def _is_within(number: float | None, bounded: Requirement) -> bool:
    low, high = bounded.at_least, bounded.at_most
    return number is not None and (low is None or number >= low) and (high is None or number <= high)


def _values(one: Requirement) -> str:
    said = " or ".join(text_of(value) for value in one.values)
    bounds = [
        f"{word} {text_of(bound)}"
        for word, bound in (("at least", one.at_least), ("at most", one.at_most))
        if bound is not None
    ]
    return said or " and ".join(bounds) or "set"
