"""A matrix begun for a person: only the rows that deserve one, values computed, decisions left open.

Invariant: what a person wrote stays, comments and decisions and all; an update only adds rows, and refreshes
values of rows that nobody decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from hio_validate.inheritance import Inheritance, Required
from hio_validate.models.matrix import FactorRow, Matrix, Preserved
from hio_validate.recording import modeline
from hio_validate.repo import Item, Repo, name_of, pin_of
from hio_validate.settings.catalogue import Catalogue
from hio_validate.settings.difference import NEEDS_A_ROW
from hio_validate.settings.setting import Effective, Setting
from hio_validate.settings.value import same, text_of
from hio_validate.source.dump import Row, dump
from hio_validate.source.edit import Append, Edit, Set, edit


def skeleton(
    name: str, service: str, parent: str, candidate: str, captures: Mapping[str, str], as_of: Sequence[str]
) -> dict[str, Any]:
    """A matrix without rows."""
    return {
        "hio": "matrix/v1",
        "name": name,
        "service": service,
        "parent": parent,
        "candidate": candidate,
        **({"captures": Row(captures)} if captures else {}),
        **({"as_of": list(as_of)} if as_of else {}),
    }


def newest_capture(repo: Repo, service: str, stack: Item) -> str | None:
    """The last capture of a service that shows a stack: it claims it, or an entry pins both; not a leg of a run."""
    shown = {
        item.name: item.model.at
        for item in repo.of("capture/v1")
        if item.service == service and "/runs/" not in item.file and item.model.stack == stack.name
    }
    for entry in repo.of("entry/v1"):
        pinned = pin_of(entry, "capture")
        of = pin_of(entry, "stack") or pin_of(entry, "candidate")
        item = (
            repo.find("capture/v1", name_of(pinned), service) if pinned and entry.service == service else None
        )
        if item is not None and item.model is not None and of is not None and name_of(of) == stack.name:
            shown[item.name] = item.model.at
    return max(shown, key=lambda name: (shown[name], name), default=None)


def new_matrix(
    begun: Mapping[str, Any], found: Inheritance, pairs: Mapping[str, list[str]], file: str
) -> bytes:
    """The bytes of a scaffolded matrix. `found` is the matrix resolved with these pairs and no row."""
    data = dict(begun)
    if pairs:
        data["pairs"] = dict(pairs)
    data["rows"] = list(rows(found))
    unknown = found.sides_without_defaults()
    if unknown:
        data["defaults"] = Row(_defaults(unknown))
    return dump(data, head=modeline("matrix", file))


def _defaults(unknown: Sequence[str]) -> dict[str, str]:
    sides = {side: "unknown" if side in unknown else "known" for side in ("parent", "candidate")}
    return {**sides, "disposition": "retest", "because": "no help text was learned"}


def rows(found: Inheritance) -> Iterator[dict[str, Any]]:
    """The rows that are missing: one line of what is equal, one row per real change."""
    missing = found.missing()
    equal = [each for each in missing if _is_equal(each)]
    plain = [each.compared.address for each in equal if _set_on_both_sides(each)]
    through = [each.compared.address for each in equal if not _set_on_both_sides(each)]
    if plain:
        yield {"preserved": plain}
    if through:
        yield {"preserved": through, "through": "default"}
    for each in missing:
        if not _is_equal(each):
            compared = each.compared
            yield Row(
                {
                    "factor": compared.address,
                    "from": compared.from_,
                    "to": compared.to,
                    "disposition": "undecided",
                }
            )


def _is_equal(required: Required) -> bool:
    """Whether there is nothing to decide: not a lost increment, nor an endpoint that was once excluded and differs."""
    compared = required.compared
    return not required.lost and compared.group not in NEEDS_A_ROW and compared.from_ == compared.to


def _set_on_both_sides(required: Required) -> bool:
    sides = (required.compared.parent, required.compared.candidate)
    return all(side is not None and side.set_by_a_person for side in sides)


def brought_up(raw: bytes, matrix: Matrix, begun: Mapping[str, Any]) -> tuple[bytes, list[str]]:
    """The matrix with the captures asked for and the ledger's tips of now, and a sentence for each. Raises CannotEdit.

    A matrix that names no tips covers all entries, and goes on doing so.
    """
    edits: list[Edit] = []
    captures = {
        side: name
        for side, name in begun.get("captures", {}).items()
        if getattr(matrix.captures, side, None) != name
    }
    if captures and matrix.captures is None:
        edits.append(Set(("captures",), dict(captures)))
    else:
        edits += [Set(("captures", side), name) for side, name in captures.items()]
    said = [f"captures: {side} is {name}" for side, name in captures.items()]
    tips = list(begun.get("as_of", []))
    if matrix.as_of and set(tips) != set(matrix.as_of):
        edits.append(Set(("as_of",), tips))
        said.append(f"as_of: {', '.join(tips)}")
    return edit(raw, edits), said


def update(raw: bytes, found: Inheritance) -> tuple[bytes, list[str]]:
    """The matrix with missing rows added, and a sentence for each change. Raises CannotEdit."""
    edits: list[Edit] = []
    said = []
    at = next(
        (i for i, row in enumerate(found.matrix.rows) if isinstance(row, Preserved) and not row.through), None
    )
    for row in rows(found):
        if "preserved" in row and "through" not in row and at is not None:
            edits += [Append(("rows", at, "preserved"), address) for address in row["preserved"]]
            said += [f"preserved: {address}" for address in row["preserved"]]
        else:
            edits.append(Append(("rows",), row))
            said.append(f"new row: {row.get('factor') or ', '.join(row['preserved'])}")
    for path, value, sentence in _stale(found):
        edits.append(Set(path, value))
        said.append(sentence)
    return edit(raw, edits), said


def _stale(found: Inheritance) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Values of undecided and retest rows that the stacks have moved on from; decided rows are a person's."""
    for each in found.covered:
        row, compared = each.row, each.compared
        if isinstance(row, FactorRow) and compared and row.disposition in ("undecided", "retest"):
            for key, shown, computed in (("from", row.from_, compared.from_), ("to", row.to, compared.to)):
                if not same(text_of(shown), computed):
                    yield (*each.path[:2], key), computed, f"{each.name}: {key} is now {computed}"


def propose_pairs(parent: Effective, candidate: Effective) -> dict[str, list[str]]:
    """Settings that two vocabularies call by different names: proposed by hio, reviewed by people.

    A removed option names its successor; else a name much alike with an equal value is proposed.
    """
    proposed: dict[str, list[str]] = {}
    theirs = _only_here(parent, candidate)
    mine = _only_here(candidate, parent)
    for setting in theirs:
        process = setting.address.partition(".")[0]
        for target in mine:
            catalogue = candidate.catalogues.get(target.address.partition(".")[0])
            if _succeeds(setting, target, catalogue) or _alike(setting, target):
                other = target.address.partition(".")[0]
                proposed[target.factor] = [f"{process} {setting.factor}", f"{other} {target.factor}"]
    return proposed


def _only_here(side: Effective, other: Effective) -> list[Setting]:
    factors = {setting.factor for setting in other.settings.values()}
    return [each for each in side.settings.values() if each.set_by_a_person and each.factor not in factors]


def _succeeds(old: Setting, new: Setting, catalogue: Catalogue | None) -> bool:
    removed = catalogue.find(old.spelling or old.factor) if catalogue else None
    return bool(removed and removed.removed and f"--{new.factor}" in removed.removed.split())


def _alike(old: Setting, new: Setting) -> bool:
    return old.value == new.value and bool(get_close_matches(_words(old), [_words(new)], cutoff=0.6))


def _words(setting: Setting) -> str:
    return " ".join(sorted(setting.factor.lower().replace("_", "-").split("-")))
