"""Lines between the rows of a result that are no data: refused, or skipped where that was asked for, and then told."""

from __future__ import annotations

from hio_validate.evidence.observed import Finding
from hio_validate.importing.results.source import Source


class Skipped:
    """The lines that are no data."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.first, self.count, self.text = 0, 0, ""

    def line(self, number: int, text: str) -> None:
        """A line that is no row. Raises CannotImport where skipping was not asked for."""
        shown = text.strip()[:60]
        if not self._source.skip_log_lines:
            raise self._source.refuse(
                f"the line is no data: {shown!r}",
                "keep what the tool logs apart from its results, or skip such lines with --skip-log-lines",
                number,
            )
        self.count += 1
        if self.count == 1:
            self.first, self.text = number, shown

    def finding(self) -> Finding:
        """What was skipped, as one finding."""
        what = (
            f"{self.count} line{'s are' if self.count > 1 else ' is'} no data and skipped, the first is line"
        )
        return Finding("skipped-lines", f"{what} {self.first}: {self.text}", self.first)
