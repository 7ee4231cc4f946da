"""Names of the records of a file, counted in bounded memory: a file may have a million of them."""

from __future__ import annotations

MOST = 1 << 18
"""Different names that are remembered; no file of people has as many, and each costs some hundred bytes."""


class Names:
    """How often each name came."""

    def __init__(self) -> None:
        self._times: dict[int, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether a new name is not remembered any more."""
        return len(self._times) >= MOST

    def times(self, name: str) -> int:
        """How often a name came, this time included; 1 for one that came too late to be remembered."""
        key = hash(name)
        if key not in self._times and self.is_full:
            return 1
        self._times[key] = self._times.get(key, 0) + 1
        return self._times[key]

    def distinct(self, name: str) -> str:
        """A name that none was given before, as long as names are remembered: a, a-2, a-3. Each costs the same, however many came."""
        found, times = name, self.times(name)
        while times > 1:
            found = f"{name}-{times}"
            if self.times(found) == 1:
                break
            times = self.times(name)
        return found
