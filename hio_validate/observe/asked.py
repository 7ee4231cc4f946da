"""What a host was asked during one command, so that it is asked once: hashes of files, help texts of programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hio_validate.models.family import Family
from hio_validate.observe.hashing import HashCache, Stamp, default_cache, stamp
from hio_validate.observe.help_text import help_of
from hio_validate.observe.refusal import Unobservable
from hio_validate.settings import family as families
from hio_validate.settings.catalogue import Catalogue


@dataclass
class Asked:
    """The answers so far, however many processes are looked at."""

    hashes: HashCache = field(default_factory=default_cache)
    catalogues: dict[Stamp, Catalogue] = field(default_factory=dict)

    def catalogue(self, program: Path, family: Family) -> Catalogue:
        """What a program's own --help teaches. Raises Unobservable and UnreadableHelp."""
        try:
            with program.open("rb") as file:
                key = stamp(file)
        except OSError as error:
            raise Unobservable(f"{program} cannot be read: {error.strerror}") from None
        if key not in self.catalogues:
            self.catalogues[key] = families.learn(help_of(program, family), family)
        return self.catalogues[key]
