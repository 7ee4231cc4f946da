"""Which shape, which ceilings and which profile an estimate uses: the ones that were named, else the ones that fit.

Invariants: another model's shape is refused; rates of another host or another build are never taken silently, nor of one of
several devices that nobody chose; a document that the rules find an error in is not used, and that is said.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hio_validate.estimating.context.cannot import CannotEstimate
from hio_validate.estimating.context.recorded import Recorded, newest_first
from hio_validate.models.profile import Profile
from hio_validate.repo import Item, Repo
from hio_validate.rules.estimated import file_of
from hio_validate.spelling import nearest


class Chosen(NamedTuple):
    """Documents, and what is to be said about them."""

    items: tuple[Item, ...]
    said: tuple[str, ...] = ()

    @property
    def first(self) -> Item | None:
        return self.items[0] if self.items else None


def named(repo: Repo, kind: str, name: str, service: str | None) -> Item:
    """The readable document of that name. Raises CannotEstimate."""
    word = kind.partition("/")[0]
    found = repo.find(kind, name, service)
    if found is None:
        elsewhere = " or ".join(each.full_name for each in repo.meant(kind, name))
        near = nearest(name, repo.names(kind))
        raise CannotEstimate(
            f"no {word} is called {name}"
            + (f" in {service}" if service and kind != "ceilings/v1" else "")
            + (f"; there is {elsewhere}" if elsewhere else f"; did you mean {near}?" if near else "")
        )
    if found.model is None:
        raise CannotEstimate(f"the {word} {name} is not valid: hio validate {found.file} says why")
    return found


def _named(recorded: Recorded, kind: str, name: str) -> Item:
    """The document of that name, which the rules find no error in. Raises CannotEstimate."""
    found = named(recorded.view.repo, kind, name, recorded.service)
    if fault := recorded.fault(found):
        raise CannotEstimate(f"the {kind.partition('/')[0]} {name} has an error: {fault}")
    return found


def _sound(recorded: Recorded, kind: str) -> tuple[list[Item], tuple[str, ...]]:
    """The readable documents of a kind without those that the rules find an error in, and which these are."""
    sound, said = [], []
    for item in recorded.view.repo.of(kind):
        if fault := recorded.fault(item) if item.service in (None, recorded.service) else None:
            said.append(f"{item.name}, which is not used: {fault}")
        else:
            sound.append(item)
    return sound, tuple(said)


def shape_of(recorded: Recorded, name: str | None) -> Chosen:
    """The shape of the model that the stack serves. Raises CannotEstimate."""
    service, models = recorded.service, recorded.models
    if name is not None:
        shape = _named(recorded, "shape/v1", name)
        theirs = file_of(shape.model)
        if theirs and models and theirs not in models:
            raise CannotEstimate(
                f"the shape {name} is of the model {theirs[:12]}; {recorded.stack.name} ran {_short(models)}: "
                "name its own shape, or read it with hio probe model"
            )
        return Chosen((shape,), _unproven(shape, models))
    sound, faulty = _sound(recorded, "shape/v1")
    every = [item for item in sound if item.service == service]
    matching = [item for item in every if file_of(item.model) in models]
    open_ = [item for item in every if file_of(item.model) is None or not models]
    fitting = matching or open_
    if len(fitting) > 1:
        raise CannotEstimate(
            f"several shapes may be the model's: say --shape {' or '.join(item.name for item in fitting)}"
        )
    if fitting:
        return Chosen((fitting[0],), (*_unproven(fitting[0], models), *faulty))
    others = f" ({', '.join(item.name for item in every)}: of another file)" if every else ""
    which = f" {_short(models)}" if models else ""
    file = shlex.quote(recorded.model_file or "FILE")
    return Chosen(
        (), (f"the shape of the model{which}: hio probe model {file} --write reads it{others}", *faulty)
    )


def _unproven(shape: Item, models: Sequence[str]) -> tuple[str, ...]:
    if not models:
        return (f"no capture or run says which model file the stack serves; {shape.name} is taken for it",)
    if file_of(shape.model) is None:
        return (f"{shape.name} names no model file; that it is {_short(models)} is not proven",)
    return ()


def _short(hashes: Sequence[str]) -> str:
    return " and ".join(each[:12] for each in hashes)


def ceilings_of(
    recorded: Recorded, names: Sequence[str] | None, here: str | None, build: str | None
) -> Chosen:
    """The ceilings, of the target's host first. Raises CannotEstimate."""
    if names:
        items = [_named(recorded, "ceilings/v1", name) for name in names]
        return Chosen(tuple(sorted(items, key=_kind)), tuple(_mixed(items)))
    sound, faulty = _sound(recorded, "ceilings/v1")
    every, of_others = _of_the_build(sound, build)
    found = _fitting(recorded, every, here)
    return Chosen(found.items, (*found.said, *of_others, *faulty))


def _mixed(items: Sequence[Item]) -> Iterator[str]:
    """What is to be said where somebody names documents of several machines."""
    hosts = {item.model.host for item in items if item.model.host}
    if len(hosts) > 1:
        yield f"the ceilings are of {len(hosts)} hosts; the first one counts as the target"
    published = [item for item in items if item.model.how == "published"]
    if len(published) > 1 and not _one_device(published):
        yield f"proof that {' and '.join(item.name for item in published)} are of one device: rates of all of them are used"


def _fitting(recorded: Recorded, every: Sequence[Item], here: str | None) -> Chosen:
    """Measured where the stack ran, else elsewhere, else published. Raises CannotEstimate."""
    stack, ran = recorded.stack.name, recorded.hosts
    published = [item for item in every if item.model.how == "published"]
    others = (
        f"; --ceilings {' or '.join(item.name for item in published)} takes published ones"
        if published
        else ""
    )
    # Where captures and runs name hosts, whoever asks may sit at another machine.
    for host in ran or ([here] if here else []):
        mine = [item for item in every if item.model.host == host]
        if mine:
            beside = _of_one_device(published, mine) if _has_devices(mine) else []
            never = (
                f"proof that {stack} is to run on this host, whose ceilings are taken as it never ran{others}"
            )
            return Chosen((*_newest(mine), *beside), () if ran or not others else (never,))
    where = f"the host of {stack}" if ran else "this host"
    measured = _newest([item for item in every if item.model.how == "measured"])
    if measured:
        theirs = [item for item in measured if item.model.host == measured[0].model.host]
        said = f"ceilings of {where}; {_names(theirs)} of another host stand in{others}: hio probe host --yes --write there"
        return Chosen((*theirs,), (said,))
    if published:
        one = _of_one_device(published, ())
        said = f"measured ceilings of {where}; published ones stand in ({_names(one)}): hio probe host --yes --write there"
        return Chosen((*one,), (said,))
    return Chosen((), (f"ceilings of {where}: hio probe host --yes --write measures them",))


def _of_one_device(published: Sequence[Item], beside: Sequence[Item]) -> list[Item]:
    """Those of a device that the measured ones name, else all where they are of one. Raises CannotEstimate: no device is guessed."""
    there = {name for item in beside for name in _devices(item)}
    same = [item for item in published if there & _devices(item)] or [*published]
    if len(same) > 1 and not _one_device(same):
        also = "".join(f"--ceilings {item.name} " for item in beside)
        raise CannotEstimate(
            f"published ceilings of several devices: say {also}--ceilings {' or '.join(item.name for item in same)}"
        )
    return same


def _one_device(published: Sequence[Item]) -> bool:
    """Whether all name the same device."""
    return bool(set.intersection(*(_devices(item) for item in published)))


def _devices(item: Item) -> set[str]:
    return {device.name.casefold() for device in item.model.devices}


def _kind(item: Item) -> bool:
    return bool(item.model.how == "published")


def _of_the_build(every: Sequence[Item], build: str | None) -> tuple[list[Item], tuple[str, ...]]:
    """Without the kernels of other builds: another kernel is another ceiling."""
    others = [item for item in every if item.model.engine and item.model.engine != build]
    kept = [item for item in every if item not in others]
    if others and not any(item.model.engine for item in kept):
        return kept, (f"kernel rates of the stack's own build; {_names(others)}: of another build, not used",)
    return kept, ()


def _newest(items: Sequence[Item]) -> list[Item]:
    """The newest first; an engine's own kernels before what any program reaches."""
    newest = newest_first(items)
    return sorted(newest, key=lambda item: item.model.engine is None)


def _has_devices(items: Sequence[Item]) -> bool:
    return any(item.model.devices for item in items)


def _names(items: Sequence[Item]) -> str:
    return ", ".join(item.name for item in items)


class Profiled(NamedTuple):
    """What a profile is to be of."""

    path: str
    fixture: Item | None
    concurrency: int = 1
    cache: str = "cold"


def profile_of(recorded: Recorded, name: str | None, wanted: Profiled) -> Chosen:
    """The newest profile of exactly this stack, path and fixture; which others were left out, and why.

    One that does not say what was asked is taken where it is named, and that is said. Raises CannotEstimate.
    """
    stack = recorded.stack
    if name is not None:
        found = _named(recorded, "profile/v1", name)
        other = _profiled_otherwise(found, stack, wanted)
        if other is not None and other.is_known:
            raise CannotEstimate(
                f"the profile {name} is {other.sentence}; a profile of something else has no shares of this"
            )
        return Chosen(
            (found,), (f"whether {name} is a profile of this workload: {other.sentence}",) if other else ()
        )
    sound, faulty = _sound(recorded, "profile/v1")
    every = sorted(
        (item for item in sound if item.service == stack.service),
        key=lambda item: (item.model.at, item.name),
        reverse=True,
    )
    differing = [(item, _profiled_otherwise(item, stack, wanted)) for item in every]
    fitting = [item for item, other in differing if other is None]
    if fitting:
        return Chosen((fitting[0],), faulty)
    left_out = [f"{item.name}, {other.sentence}" for item, other in differing if other is not None]
    asked = wanted.fixture is not None and wanted.path not in _WITHOUT_REQUEST
    of = f"on the path {wanted.path}" + (f" with {wanted.fixture.name}" if asked and wanted.fixture else "")
    return Chosen((), (f"a profile of {stack.name} {of}{_left_out(left_out)}", *faulty))


_WITHOUT_REQUEST = ("setup", "load")
_TOLD = 2
"""Profiles that are named as left out, the newest ones; of more only how many there are."""


def _left_out(which: Sequence[str]) -> str:
    if not which:
        return ""
    more = f"; {len(which) - _TOLD} more" if len(which) > _TOLD else ""
    return f" (left out: {'; '.join(which[:_TOLD])}{more})"


class _Otherwise(NamedTuple):
    """How a profile is of something else, or may be."""

    sentence: str
    is_known: bool = True


def _profiled_otherwise(item: Item, stack: Item, wanted: Profiled) -> _Otherwise | None:
    """None where it is a profile of exactly this."""
    model = item.model
    theirs, _, digest = model.stack.rpartition("/")[2].partition("@")
    if theirs != stack.name:
        return _Otherwise(f"of the stack {theirs}, not {stack.name}")
    if digest != stack.document.digest:
        return _Otherwise(f"of other bytes of the stack {theirs}, {digest.removeprefix('sha256:')[:12]}")
    if model.path != wanted.path:
        return _Otherwise(f"of the path {model.path}, not {wanted.path}")
    return None if wanted.path in _WITHOUT_REQUEST else _asked_otherwise(model, wanted)


def _asked_otherwise(model: Profile, wanted: Profiled) -> _Otherwise | None:
    """By the request. A profile says neither load nor cache: one is taken for one request after the other, cold."""
    fixture = wanted.fixture
    if fixture is None or model.fixture is None:
        return _Otherwise(
            f"of the fixture {model.fixture}, and no fixture is named"
            if model.fixture
            else "which does not say what was asked meanwhile",
            is_known=False,
        )
    asked = model.fixture.rpartition("/")[2]
    if asked != fixture.name:
        return _Otherwise(f"of the fixture {asked}, not {fixture.name}")
    if wanted.concurrency > 1:
        return _Otherwise("which does not say how many requests were asked at once", is_known=False)
    if wanted.cache != "cold":
        return _Otherwise("which does not say that the cache was warm", is_known=False)
    return None
