"""A repository of engine documents and family tables, in memory: the shape that files on disk become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from hio_validate.repo import Repo, load
from tests.settings.stacks import FAMILY, help_text


class Files:
    """A tree of files given as text."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}

    def paths(self) -> Sequence[str]:
        return sorted(self.files)

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]


def engine(name: str, family: str, text: str | None) -> dict[str, str]:
    """An engine document, with its help text beside it where one was kept."""
    folder = f"manifests/engines/{family}/{name}"
    document = f"hio: engine/v1\nname: {name}\nfamily: {family}\n"
    if text is None:
        return {f"{folder}/engine.yaml": document}
    digest = sha256(text.encode()).hexdigest()
    return {
        f"{folder}/engine.yaml": f'{document}help: {{file: help.txt, sha256: "{digest}"}}\n'
        'source: {revision: r1, flags: {GGML_NATIVE: "OFF"}, compiler: gcc 13}\n',
        f"{folder}/help.txt": text,
    }


def repository(builds: Mapping[str, str | None], more: Mapping[str, str] | None = None) -> Repo:
    """`builds`: name of the engine document -> the fixture it learned from; None where no help text was kept."""
    files: dict[str, str] = dict(more or {})
    for name, build in builds.items():
        files |= engine(name, FAMILY[build or "llama"], help_text(build) if build else None)
    return load(Files(files))
