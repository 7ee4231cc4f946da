"""Turns a Report into the text of one output format.

Invariant: every format takes the same report and loses no error, gate or note of it; no format reads
anything but the report, so the same report always gives the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from hio_validate.diagnostic import Report
from hio_validate.report.described_rule import DescribedRule


def _format(module: str, *wanted: str) -> Callable[..., str]:
    """The `render` of one module here, given only the options that it wants."""

    def render_format(report: Report, **options: object) -> str:
        # Imported late: a run prints one format, and xml, json and hashlib would slow every start-up.
        write: Callable[..., str] = import_module(f"{__name__}.{module}").render
        return write(report, **{name: options[name] for name in wanted if name in options})

    return render_format


FORMATS: dict[str, Callable[..., str]] = {
    "text": _format("text", "color", "width"),
    "json": _format("json_"),
    "sarif": _format("sarif", "rules"),
    "github": _format("github"),
    "gitlab": _format("gitlab"),
    "junit": _format("junit"),
    "markdown": _format("markdown"),
}


def render(
    report: Report,
    format: str,
    *,
    color: bool = False,
    width: int = 80,
    rules: Sequence[DescribedRule] = (),
) -> str:
    """The report as text that ends with a newline.

    `color` and `width` (in columns) matter to `text` only, `rules` (those that ran) to `sarif` only.
    Raises ValueError for a format that is not in FORMATS.
    """
    if format not in FORMATS:
        raise ValueError(f"unknown format: expected one of {', '.join(FORMATS)}, got {format!r}")
    return FORMATS[format](report, color=color, width=width, rules=rules)
