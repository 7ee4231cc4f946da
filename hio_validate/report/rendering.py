"""A rendered stack on one page: its files, where each belongs, who read it back; and how files on disk differ from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hio_validate.render.bundle import Bundle
from hio_validate.render.folder import Compared, State, as_shape
from hio_validate.report.table import table
from hio_validate.report.visible import visible

_MEANS = {
    State.SAME: "as rendered",
    State.MISSING: "not there",
    State.OUTDATED: "written by hio from other documents",
    State.EDITED: "not as hio wrote it",
}


def render(bundle: Bundle, width: int = 80) -> str:
    """What was rendered, and what to do with it."""
    rows = [(each.name, bundle.read_back[each.name]) for each in bundle.files]
    installed = [(each.name, each.install) for each in bundle.files if each.install]
    lines = [f"{_head(bundle)}\n", table(rows, width, ("file", "read back by"), whole=True)]
    if installed:
        lines += ["\n", table(installed, width, ("file", "belongs to"), whole=True)]
    return "".join([*lines, "\nNothing was written: --out FOLDER writes them, --stdout FILE shows one.\n"])


def _head(bundle: Bundle) -> str:
    stack, _, digest = bundle.stamp.stack.partition("@sha256:")
    return f"{visible(bundle.service)}: {visible(stack)} ({digest[:12]}) for {bundle.target}"


def render_written(
    bundle: Bundle, folder: str, found: Sequence[Compared], kept: Iterable[str], width: int = 80
) -> str:
    """What was written, and which copies were kept."""
    rows = [(each.file.name, "as it was" if each.state is State.SAME else "written") for each in found]
    kept = "".join(f"kept what was edited: {visible(path)}\n" for path in kept)
    return f"{_head(bundle)}, in {visible(folder)}\n{table(rows, width, whole=True)}{kept}"


def render_refused(found: Sequence[Compared], width: int = 80) -> str:
    """Why nothing was written."""
    edited = [each for each in found if each.state is State.EDITED]
    names = ", ".join(visible(str(each.path)) for each in edited)
    return (
        f"{_differences(edited)}\nNothing was written: {names} {'is' if len(edited) == 1 else 'are'} not as hio wrote "
        f"{'it' if len(edited) == 1 else 'them'}.\n--overwrite keeps a copy beside each, and writes.\n"
    )


def render_check(bundle: Bundle, found: Sequence[Compared], width: int = 80) -> str:
    """Whether the files on disk are those that were rendered."""
    rows = [(each.file.name, _MEANS[each.state], visible(str(each.path))) for each in found]
    other = [each for each in found if each.state is not State.SAME]
    answer = "all as rendered" if not other else f"{len(other)} of {len(found)} not as rendered"
    differences = _differences(other)
    return f"{_head(bundle)}: {answer}\n{table(rows, width, whole=True)}" + (
        f"\n{differences}" if differences else ""
    )


def _differences(found: Iterable[Compared]) -> str:
    return "\n".join(
        "".join(f"{visible(line)}\n" for line in each.difference) for each in found if each.difference
    )


def shape(bundle: Bundle, found: Sequence[Compared] | None = None, code: int = 0) -> dict[str, Any]:
    """The same for programs."""
    checked = [
        {
            "file": each.file.name,
            "path": str(each.path),
            "state": str(each.state),
            "difference": list(each.difference),
        }
        for each in found or ()
    ]
    return {**as_shape(bundle), **({"checked": checked} if found is not None else {}), "exit_code": code}
