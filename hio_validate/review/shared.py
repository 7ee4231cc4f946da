"""What changed of what all services share: builds of engines, tables of families, sites.

Invariant: where a secret is kept is never shown, only that it is kept elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.models.site import Place, Site
from hio_validate.repo import Item
from hio_validate.review.changes import Added, How
from hio_validate.review.trees import Side, Trees
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.secrets import says_secret
from hio_validate.settings.value import text_of


def shared(trees: Trees) -> Iterator[Added]:
    """What changed of what all services share: builds, family tables, sites."""
    for kind, said in (("engine/v1", _engine), ("family/v1", _table), ("site/v1", _site)):
        for was, now in trees.pairs(kind, None):
            item = now or was
            files = {each.file.rpartition("/")[0] for each in (was, now) if each} if item else set()
            near = kind == "engine/v1" and any(
                f"{folder}/" == file[: len(folder) + 1] for folder in files for file in trees.changed
            )
            if item is not None and (near or item.file in trees.changed):
                how = str(How.NEW if was is None else How.REMOVED if now is None else How.CHANGED)
                yield Added(kind.partition("/")[0], item.name, (how, *said(was, now, trees)))


def _engine(was: Item | None, now: Item | None, trees: Trees) -> Iterator[str]:
    before, after = _catalogue(was, trees.before), _catalogue(now, trees.after)
    if before is None and after is not None:
        yield f"{len(after.options)} settings learned from its --help"
    elif before is not None and after is None and now is not None:
        yield "its settings are not known any more"
    elif before is not None and after is not None:
        theirs = {option.factor: option.default for option in before.options}
        mine = {option.factor: option.default for option in after.options}
        both = theirs.keys() & mine.keys()
        moved = sorted(factor for factor in both if theirs[factor] != mine[factor])
        words = [
            f"{len(mine.keys() - theirs.keys())} settings more" if mine.keys() - theirs.keys() else "",
            f"{len(theirs.keys() - mine.keys())} settings less" if theirs.keys() - mine.keys() else "",
            f"other defaults: {', '.join(moved)}" if moved else "",
        ]
        yield from (word for word in words if word)


def _catalogue(item: Item | None, side: Side) -> Catalogue | None:
    learned = side.view.settings.learned(item) if item else None
    return learned if isinstance(learned, Catalogue) else None


def _table(was: Item | None, now: Item | None, trees: Trees) -> Iterator[str]:
    before, after = (item.document.data if item else {} for item in (was, now))
    parts = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    if parts and was and now:
        yield f"changed in {', '.join(parts)}"


def _site(was: Item | None, now: Item | None, trees: Trees) -> Iterator[str]:
    before = was.model.services if was else {}
    after: dict[str, Place] = now.model.services if now else {}
    for service in sorted(before.keys() | after.keys()):
        if service not in after:
            yield f"{service} has no place any more"
        elif service not in before:
            yield f"{service} has a place"
        else:
            yield from (f"{service}: {each}" for each in _moves(before[service], after[service]))
    guarded = [
        set(item.model.guarded) if item and isinstance(item.model, Site) else set() for item in (was, now)
    ]
    if guarded[0] != guarded[1]:
        yield f"guards {', '.join(sorted(guarded[1])) or 'nobody'}, before {', '.join(sorted(guarded[0])) or 'nobody'}"


def _moves(was: Place, now: Place) -> Iterator[str]:
    for name in ("host", "port", "unit"):
        if getattr(was, name) != getattr(now, name):
            yield f"{name} {text_of(getattr(was, name))} -> {text_of(getattr(now, name))}"
    for name, before, after in (("paths", was.paths, now.paths), ("limits", was.limits, now.limits)):
        for key in sorted(before.keys() | after.keys()):
            if before.get(key) != after.get(key) and not says_secret(key):
                yield f"{name}.{key} {text_of(before.get(key))} -> {text_of(after.get(key))}"
    # Where a secret is kept is nobody's business but the site's.
    for key in sorted(was.secrets.keys() | now.secrets.keys()):
        if was.secrets.get(key) != now.secrets.get(key):
            yield f"the secret {key} is kept elsewhere"
