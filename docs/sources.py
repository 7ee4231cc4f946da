"""Writes the table of docs/guide/results.md, what each format is and cannot tell, from IMPORTERS; --check only compares."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hio_validate.importing.results.recognise import IMPORTERS  # noqa: E402

PAGE = ROOT / "docs" / "guide" / "results.md"
BEGIN, END = "<!-- written by docs/sources.py -->\n", "<!-- end -->\n"


def table() -> str:
    """The table as Markdown."""
    rows = [
        f"| `{each.format}` | {_cell(each.about)}{' (may hold texts of requests)' if each.content else ''} "
        f"| {_cell('; '.join(each.unknown))} |\n"
        for each in sorted(IMPORTERS, key=lambda each: each.format)
    ]
    return "| Format | Written by | Cannot tell |\n|---|---|---|\n" + "".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page() -> str:
    """The page as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table() + END + after


def main() -> int:
    """Write the table, or compare it; exit 1 where it is stale."""
    stale = page() != PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        print("docs/guide/results.md: not up to date; run python docs/sources.py" if stale else "up to date")
        return int(stale)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"docs/guide/results.md: {len(IMPORTERS)} formats")
    return 0


if __name__ == "__main__":
    sys.exit(main())
