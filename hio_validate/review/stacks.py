"""What changes in the settings in force of each stack, also where no line of it changed (contract 2.1, 2.2).

Invariant: a stack is compared with itself before; a new one with what it would replace. A setting that is
unknown on both sides for the same reason is no change; one that became or ceased to be known is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hio_validate.repo import Item
from hio_validate.review.changes import How, SettingChange, StackChange
from hio_validate.review.placed import Placed, origin, written
from hio_validate.review.trees import Trees
from hio_validate.settings.alignment import Pairs
from hio_validate.settings.difference import Compared, Difference, Group, difference
from hio_validate.settings.secrets import WITHHELD
from hio_validate.settings.setting import Class, Effective, Setting
from hio_validate.settings.value import ABSENT, UNKNOWN

_ORDER = (
    Group.CHANGED,
    Group.FOLLOWED,
    Group.MOVED,
    Group.IDENTITY,
    Group.OPERATIONAL,
    Group.UNKNOWN,
)
_RANK = {group: rank for rank, group in reversed(list(enumerate((*_ORDER, *Group))))}
_COUNTED = frozenset({Group.BUILD_PART, Group.ONE_BUILD, Group.ONE_SIDE})
"""Groups that are told as a number: nobody reads the hashes of a build's libraries, or options nobody set."""


@dataclass(frozen=True)
class Sides:
    """Two stacks that are compared, with their settings in force."""

    was: Item
    now: Item
    before: Effective
    after: Effective
    difference: Difference


@dataclass(frozen=True)
class Compare:
    """Compares the stacks of one service."""

    trees: Trees
    service: str
    before: Placed
    after: Placed

    def changes(self, serving: tuple[str | None, str | None]) -> Iterator[tuple[StackChange, Sides | None]]:
        """What serves now against what served before; then every stack in focus, in the order of the files."""
        touched = list(self._touched())
        new = [
            each
            for each, _ in touched
            if each.how is How.NEW and each.against is not None and each.against == serving[0]
        ]
        if not any(serving[1] in each.stacks for each in new):
            yield from self._switched(*serving)
        for change, sides in touched:
            # A new stack that serves at once is compared with what served before, and told once.
            at_once = change in new and serving[1] in change.stacks
            yield change._replace(how=How.SERVES) if at_once else change, sides

    def _touched(self) -> Iterator[tuple[StackChange, Sides | None]]:
        for was, now in self.trees.pairs("stack/v1", self.service):
            match was, now:
                case None, Item():
                    yield self._new(now)
                case Item(), None:
                    yield StackChange((was.name,), How.REMOVED), None
                case Item(), Item():
                    yield self._changed(was, now)

    def _changed(self, was: Item, now: Item) -> tuple[StackChange, Sides]:
        before, after = self.before.effective(was), self.after.effective(now)
        sides = Sides(was, now, before, after, difference(before, after))
        settings, unlisted = self._settings(sides)
        renamed = was.name if was.name != now.name else None
        how = self.trees.how(was, now)
        return StackChange((now.name,), how, renamed, settings=settings, unlisted=unlisted), sides

    def _new(self, now: Item) -> tuple[StackChange, Sides | None]:
        parent, captures, pairs, because = self._replaced_by(now)
        if parent is None:
            return StackChange((now.name,), How.NEW, because=because, settings=self._set(now)), None
        before, after = (
            self.after.effective(stack, capture)
            for stack, capture in zip((parent, now), captures, strict=True)
        )
        sides = Sides(parent, now, before, after, difference(before, after, pairs))
        settings, unlisted = self._settings(sides)
        return (
            StackChange(
                (now.name,), How.NEW, None, parent.name, because, settings=settings, unlisted=unlisted
            ),
            sides,
        )

    def _switched(self, was: str | None, now: str | None) -> Iterator[tuple[StackChange, Sides]]:
        """What changes because another stack serves now; nothing where either cannot be read."""
        old = self.trees.before.repo.find("stack/v1", was, self.service) if was else None
        new = self.trees.after.repo.find("stack/v1", now, self.service) if now else None
        if was == now or old is None or new is None or old.model is None or new.model is None:
            return
        before, after = self.before.effective(old), self.after.effective(new)
        sides = Sides(old, new, before, after, difference(before, after))
        settings, unlisted = self._settings(sides)
        because = "served before"
        yield (
            StackChange(
                (new.name,), How.SERVES, None, old.name, because, settings=settings, unlisted=unlisted
            ),
            sides,
        )

    def _set(self, now: Item) -> tuple[SettingChange, ...]:
        """What a stack sets that replaces nothing."""
        effective = self.after.effective(now)
        chosen = [each for each in effective.settings.values() if each.set_by_a_person]
        return tuple(
            SettingChange(
                each.address,
                Group.CHANGED,
                ABSENT,
                WITHHELD if each.class_ is Class.SECRET else each.shown,
                "",
                origin(now, each, effective),
            )
            for each in sorted(chosen, key=lambda one: one.address)
        )

    def _replaced_by(self, now: Item) -> tuple[Item | None, tuple[Item | None, Item | None], Pairs, str]:
        """The stack that a new one would replace, their captures, the pairs of names, and why that stack."""
        repo = self.trees.after.repo
        for matrix in repo.of("matrix/v1"):
            if repo.find("stack/v1", matrix.model.candidate, matrix.service) is now:
                parent = repo.find("stack/v1", matrix.model.parent, matrix.service)
                if parent is not None and parent.model is not None:
                    sides = (getattr(matrix.model.captures, side, None) for side in ("parent", "candidate"))
                    found = [
                        repo.find("capture/v1", name, matrix.service) if name else None for name in sides
                    ]
                    theirs, ours = (each if each and each.model else None for each in found)
                    return parent, (theirs, ours), matrix.model.pairs, f"matrix {matrix.name}"
        name = self.trees.after.view.ledger(self.service).parent
        parent = repo.find("stack/v1", name, self.service) if name else None
        if parent is now:
            return None, (None, None), {}, "the ledger begins with it"
        if parent is None or parent.model is None:
            return None, (None, None), {}, "no matrix names it as candidate and no ledger names a parent"
        return parent, (None, None), {}, "current parent of the ledger"

    def _settings(self, sides: Sides) -> tuple[tuple[SettingChange, ...], dict[str, int]]:
        listed: list[tuple[int, str, SettingChange]] = []
        unlisted: Counter[str] = Counter()
        for each in sides.difference.touched:
            if each.group in _COUNTED:
                unlisted[str(each.group)] += 1
            elif each.group is not Group.EQUAL and not _still_unknown(each, sides):
                change = self._setting(each, sides)
                listed.append((_RANK[each.group], each.address, change))
        # A group at a time, by address; two settings never share an address.
        return tuple(change for *_, change in sorted(listed, key=lambda one: one[:2])), dict(
            sorted(unlisted.items())
        )

    def _setting(self, each: Compared, sides: Sides) -> SettingChange:
        from_, to = _shown(each, each.parent, each.from_), _shown(each, each.candidate, each.to)
        hidden, cause = self._why(each, sides)
        return SettingChange(
            each.address,
            each.group,
            from_,
            to,
            origin(sides.was, each.parent, sides.before),
            origin(sides.now, each.candidate, sides.after),
            hidden,
            cause,
        )

    def _why(self, each: Compared, sides: Sides) -> tuple[bool, str]:
        """Whether no changed line says it, and what moved it then."""
        texts = written(sides.was, each.parent), written(sides.now, each.candidate)
        if sides.now.file not in self.trees.changed:
            if sides.was.name == sides.now.name and "${" in (texts[1] or ""):
                return False, f"site {self.service.partition('/')[0]}"
            return True, self._cause(each.address.partition(".")[0], sides)
        if each.group in (Group.IDENTITY, Group.FOLLOWED):
            return False, ""
        if texts != (None, None) and (texts[0] != texts[1] or sides.was.name != sides.now.name):
            return False, ""
        if "${" in (texts[1] or ""):
            return False, f"site {self.service.partition('/')[0]}"
        return True, self._cause(each.address.partition(".")[0], sides)

    def _cause(self, process: str, sides: Sides) -> str:
        """What a stack depends on and that changed: its build, that build's help text, its family's table."""
        if sides.was.name != sides.now.name and sides.now.file not in self.trees.changed:
            return f"{sides.now.name} in place of {sides.was.name}"
        builds = [side.settings.get(f"{process}.build") for side in (sides.before, sides.after)]
        names = [build.value if build else UNKNOWN for build in builds]
        if names[0] != names[1]:
            return f"build {names[0]} -> {names[1]}"
        engine = self.trees.after.repo.find("engine/v1", names[1])
        folder = engine.file.rpartition("/")[0] if engine else "\0"
        if any(file.startswith(f"{folder}/") for file in self.trees.changed):
            return f"build {names[1]} was learned again"
        families = {each.engine for each in sides.now.model.processes.values()}
        for family in sorted(families):
            if any(file.endswith(f"/{family}/family.yaml") for file in self.trees.changed):
                return f"the family table of {family}"
        return "a document it depends on"


def _still_unknown(each: Compared, sides: Sides) -> bool:
    """Whether both sides leave it open in the same words, of the same build; also a secret that stayed the same."""
    theirs, mine = each.parent, each.candidate
    if theirs is None or mine is None or theirs.known or mine.known:
        return False
    if written(sides.was, theirs) != written(sides.now, mine) or theirs.origin is not mine.origin:
        return False
    build = f"{each.address.partition('.')[0]}.build"
    one, other = sides.before.settings.get(build), sides.after.settings.get(build)
    same_build = (one.value if one else None) == (other.value if other else None)
    return each.class_ is Class.SECRET or (theirs.declared == mine.declared and same_build)


def _shown(each: Compared, setting: Setting | None, value: str) -> str:
    if each.class_ is Class.SECRET:
        return WITHHELD if setting is not None and setting.set_by_a_person else ABSENT
    if each.group is Group.IDENTITY and len(value) == 64:
        return f"bytes {value[:8]}"
    return setting.shown if setting and not setting.known else value


def alike(changes: list[StackChange]) -> list[StackChange]:
    """Stacks that were not touched themselves and change in the same settings are told once."""
    together: dict[object, StackChange] = {}
    for change in changes:
        key = change.settings if change.how is How.UNTOUCHED and change.settings else change.stacks
        if key in together:
            change = together[key]._replace(stacks=(*together[key].stacks, *change.stacks))
        together[key] = change
    return list(together.values())
