"""A profile whose samples are not those of the report that is kept beside it.

Shares bound what a candidate may gain (contract 9.4), and a share is samples by samples. `hio probe profile` keeps what the
tool wrote; hio reads it again: each part that is a symbol has the samples of that symbol, and all parts together have all
samples, each once. A report that is not there, or has other bytes than are pinned, proves nothing: pin-mismatch says so.

How to fix: `hio probe profile REPORT --write` reads the report again, under another name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hio_validate.diagnostic import Severity
from hio_validate.models.profile import Profile
from hio_validate.repo import Item
from hio_validate.rules.base import Problem, Rule, Scope, View, at, at_key
from hio_validate.source import digest_of

_AGAIN = "read it again with hio probe profile; samples are not edited by hand"


def check(item: Item, view: View) -> Iterator[Problem]:
    # Imported here: few repositories hold profiles, and what was read is a dataclass.
    from hio_validate.observe.perf_report import read_report
    from hio_validate.observe.refusal import Unobservable

    profile: Profile = item.model
    kept = profile.raw
    raw = view.repo.beside(item, kept.file) if kept else None
    if raw is None or kept is None or digest_of(raw) != f"sha256:{kept.sha256}":
        return
    try:
        sampled = read_report(raw.decode("utf-8", errors="replace"))
    except Unobservable as error:
        yield Problem(at(item, "raw", "file"), f"{kept.file} cannot be read again: {error}", _AGAIN)
        return
    yield from _parts(item, profile, sampled.counts, kept.file)
    whole, told = sum(sampled.counts.values()) + sampled.rest, sum(part.samples for part in profile.parts)
    if whole != told:
        yield Problem(
            at_key(item, "parts"), f"the parts have {told} samples together, {kept.file} has {whole}", _AGAIN
        )


def _parts(item: Item, profile: Profile, counts: Mapping[str, int], file: str) -> Iterator[Problem]:
    """A name that was cut at its end may be that of several symbols: then it is none of this rule's."""
    for index, part in enumerate(profile.parts):
        cut = part.name.removesuffix("…")
        same = {
            counts[name]
            for name in counts
            if name == part.name or (cut != part.name and name.startswith(cut))
        }
        if len(same) == 1 and part.samples not in same:
            yield Problem(
                at(item, "parts", index, "samples"),
                f"{part.name} has {part.samples} samples here; {file} has {same.pop()}",
                _AGAIN,
            )


RULE = Rule(
    "profile-contradicts-report", Scope.DOCUMENT, Severity.ERROR, "samples of a profile that its report does not have", check,
    kinds=("profile/v1",), contract=("9.4",), since=6,
)  # fmt: skip
