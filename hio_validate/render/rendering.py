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
from hio_validate.render.filling import apart
from hio_validate.render.launch import Launch, launch_of
from hio_validate.render.target import Asked, Draft, Target
from hio_validate.render.targets import TARGETS
from hio_validate.render.templating import Templates
from hio_validate.render.way_back import Earlier, earlier_stack, files_of, read_page, read_plan
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
    templates = Templates(repo.tree, FILTERS, apart)
    settings = settings or Settings(repo)
    made, asked = launch_of(repo, stack, service, settings), Asked(dialect, root, units)
    rendering = _Rendering(TARGETS[target], target, made, asked, templates)
    if TARGETS[target].way_back is None:
        return rendering.bundle()
    before = earlier_stack(repo, stack, service)
    if before is None:
        return rendering.bundle_with_way_back(None)
    try:
        earlier = launch_of(repo, before, service, settings)
        files = _Rendering(TARGETS[target], target, earlier, asked, templates).files()
    except CannotRender as error:
        way = f"the way back to {before.name}, which served before, cannot be rendered"
        raise CannotRender(*(f"{way}: {reason}" for reason in error.reasons)) from None
    return rendering.bundle_with_way_back(Earlier(earlier, files))


class _Rendering:
    def __init__(self, target: Target, name: str, launch: Launch, asked: Asked, templates: Templates) -> None:
        self.target, self.name, self.launch, self.asked = target, name, launch, asked
        self.templates = templates
        self.drafts = target.drafts(launch, asked)
        back = (target.way_back.plan, target.way_back.page) if target.way_back else ()
        self.stamp = Stamp(
            stack=launch.stack.pin,
            site=launch.site.pin,
            templates=templates.digest(tuple(each.template for each in (*self.drafts, *back))),
            hio=__version__,
        )
        self.known = {**self._context(), **target.context(launch, asked)}
        self.read_back: dict[str, str] = {}

    def files(self) -> tuple[File, ...]:
        """The files without the way back, each read back. Raises CannotRender."""
        texts = {each.name: self._filled(each, self.known) for each in self.drafts}
        try:
            self.read_back = self.target.read_back(self.launch, self.asked, texts)
        except CannotRender as error:
            raise CannotRender(*error.reasons, *self._whose_templates()) from None
        assert self.read_back.keys() == texts.keys(), "a file that nobody read back is no part of a bundle"
        return tuple(_file(each, texts[each.name]) for each in self.drafts)

    def bundle(self) -> Bundle:
        return Bundle(self.name, self.launch.service, self.stamp, self.files(), self.read_back)

    def bundle_with_way_back(self, earlier: Earlier | None) -> Bundle:
        back, files = self.target.way_back, self.files()
        assert back is not None
        known = {
            **self.known,
            "restores": earlier.pin if earlier else None,
            "restored_name": earlier.name if earlier else None,
            "restored_command": earlier.launch.command.argv if earlier else [],
            "back_files": files_of(files, earlier),
            "back_steps": back.steps(self.launch, self.asked, earlier),
            "back_checks": back.checks(self.launch, self.asked, earlier),
        }
        plan, page = self._filled(back.plan, known), self._filled(back.page, known)
        read_back = {
            **self.read_back,
            back.plan.name: read_plan(plan, back.plan.name, known),
            back.page.name: read_page(page, back.page.name, known),
        }
        all_files = (*files, _file(back.plan, plan), _file(back.page, page))
        return Bundle(self.name, self.launch.service, self.stamp, all_files, read_back)

    def _whose_templates(self) -> list[str]:
        """What to look at where a template of the repository took part in what was read otherwise."""
        own = self.templates.own(each.template for each in self.drafts)
        return [
            f"templates/{name} of this repository stands in for hio's: correct it, or remove it"
            for name in own
        ]

    def _filled(self, draft: Draft, known: dict[str, Any]) -> str:
        return self.templates.fill(draft.template, {**known, "file": draft.name})

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
            "said": launch.said,
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


def _file(draft: Draft, text: str) -> File:
    return File(draft.name, text.encode(), draft.mode, str(draft.install) if draft.install else None)
