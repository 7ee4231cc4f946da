"""What hio makes of a foreign text, without any repository around."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hio_validate.history import Folder
from hio_validate.importing.configurations.draft import Draft, drafts
from hio_validate.importing.configurations.recognise import read
from hio_validate.models import reader
from hio_validate.repo import item_of, load
from hio_validate.settings.knowledge import Settings
from hio_validate.source import read as read_document


def imported(
    folder: Path, text: str | bytes, beside: Mapping[str, str] | None = None, engine: str | None = None
) -> list[Draft]:
    """The drafts of a file with this text; each must be a valid stack, and read back as what it says."""
    for name, content in (beside or {}).items():
        (folder / name).write_text(content, encoding="utf-8")
    file = folder / "given"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    nothing = folder / "nothing"
    nothing.mkdir(exist_ok=True)
    made = drafts(read(file), Settings(load(Folder(nothing))), engine)
    for draft in made:
        reader("stack/v1").validate_python(draft.data)
        item = item_of(read_document(draft.content("stacks/x.yaml"), f"{draft.name}.yaml"))
        assert item.model is not None, item.refused or item.document.faults
        assert item.document.data == draft.data
    return made


def one(folder: Path, text: str, beside: Mapping[str, str] | None = None, engine: str | None = None) -> Draft:
    made = imported(folder, text, beside, engine)
    assert len(made) == 1, [draft.name for draft in made]
    return made[0]


def argv(draft: Draft, role: str = "server") -> list[list[str]]:
    found: list[list[str]] = draft.data["processes"][role].get("argv", [])
    return found


def words(draft: Draft, role: str = "server") -> list[str]:
    return [word for line in argv(draft, role) for word in line]


def env(draft: Draft, role: str = "server") -> dict[str, str]:
    found: dict[str, str] = draft.data["processes"][role].get("env", {})
    return found


def opened(draft: Draft) -> list[str]:
    """What stays open, as `line: what`."""
    return [f"{each.line}: {each.what}" for each in draft.open]
