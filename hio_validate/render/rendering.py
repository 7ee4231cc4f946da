"""A stack, rendered for a target: filled templates, read back, stamped.

Invariant: there is no bundle of which a file was not read back and found to say what the stack says (contract 12.1).
The same documents, templates and version of hio give the same bytes: no clock, host, user or order of hashes enters.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from hio_validate import __version__
from hio_validate.render.bundle import Bundle, CannotRender, File, Stamp
from hio_validate.render.dialects import FILTERS
from hio_validate.render.launch import Launch, launch_of
from hio_validate.render.target import Asked, Target
from hio_validate.render.targets import TARGETS
from hio_validate.render.templating import Templates
from hio_validate.repo import Item, Repo
from hio_validate.settings.knowledge import Settings


def render(
    repo: Repo,
    stack: Item,
    service: str,
    target: str,
    *,
    root: PurePosixPath | None = None,
    units: PurePosixPath | None = None,
    dialect: str | None = None,
    settings: Settings | None = None,
) -> Bundle:
    """All files of a target for a stack at the site of a service. Raises CannotRender with every reason.

    `root` is the absolute folder of the service on its host, below which its files are installed; `units` is where
    systemd's units are, `dialect` is for the target `env`.
    """
    if target not in TARGETS:
        raise CannotRender(f"no target is called {target}: expected {', '.join(TARGETS)}")
    made, asked = launch_of(repo, stack, service, settings), Asked(dialect, root, units)
    return _Rendering(TARGETS[target], target, made, asked, Templates(repo, FILTERS)).bundle()


class _Rendering:
    def __init__(self, target: Target, name: str, launch: Launch, asked: Asked, templates: Templates) -> None:
        self.target, self.name, self.launch, self.asked = target, name, launch, asked
        self.templates = templates
        self.drafts = target.drafts(launch, asked)
        self.stamp = Stamp(
            stack=f"{launch.stack.name}@{launch.stack.document.digest}",
            site=f"{launch.site.name}@{launch.site.document.digest}",
            templates=templates.digest(tuple(each.template for each in self.drafts)),
            hio=__version__,
        )

    def bundle(self) -> Bundle:
        known = {**self._context(), **self.target.context(self.launch, self.asked)}
        texts = {
            each.name: self.templates.fill(each.template, {**known, "file": each.name})
            for each in self.drafts
        }
        read_back = self.target.read_back(self.launch, self.asked, texts)
        assert read_back.keys() == texts.keys(), "a file that nobody read back is no part of a bundle"
        files = tuple(
            File(each.name, texts[each.name].encode(), each.mode, str(each.install) if each.install else None)
            for each in self.drafts
        )
        return Bundle(self.name, self.launch.service, self.stamp, files, read_back)

    def _context(self) -> dict[str, Any]:
        launch, command, stamp = self.launch, self.launch.command, self.stamp
        return {
            "service": launch.service,
            "site": launch.site.name,
            "model": launch.model_name,
            "stack": launch.stack.name,
            "role": launch.role,
            "program": command.program,
            "arguments": list(command.arguments),
            "argv": command.argv,
            "environment": dict(command.environment),
            "plain": launch.plain,
            "secret_variables": launch.secret,
            "secret_places": dict(launch.secrets),
            "limits": dict(launch.place.limits),
            "folder": command.folder,
            "host": launch.place.host or "127.0.0.1",
            "port": launch.place.port,
            "ready": {"url": launch.ready.url, "path": launch.ready.path, "within_s": launch.ready.within_s},
            "stamp": {"stack": stamp.stack, "site": stamp.site, "templates": stamp.templates, "hio": stamp.hio},
            "stamp_line": f"Rendered by hio {stamp.hio} from {stamp.stack} at {stamp.site} with templates {stamp.templates}.",
        }  # fmt: skip
