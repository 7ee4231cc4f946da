"""A repository with one stack and one site, and what comes of rendering it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hio_validate.history import Folder
from hio_validate.render.bundle import Bundle
from hio_validate.render.rendering import render
from hio_validate.repo import Repo, load
from tests.small_repo import pin, write

SERVICE = "here/tiny"
STACK_FILE = f"manifests/services/{SERVICE}/stacks/base.yaml"
SITE_FILE = "manifests/sites/here.yaml"
ARGV = [["--model", "${model}"], ["--host", "${host}"], ["--port", "${port}"]]


def documents(
    argv: list[list[str]] | None = None, env: dict[str, str] | None = None, place: dict[str, Any] | None = None,
    program: str = "/bin/true",
) -> dict[str, str]:  # fmt: skip
    """File -> text: a stack with these further arguments and variables, and the site it runs at."""
    process = {"engine": "unknown", "argv": [*ARGV, *(argv or [])], "env": env or {}}
    stack = {"hio": "stack/v1", "name": "base", "processes": {"server": process}}
    own = {"host": "127.0.0.1", "port": 8089, "paths": {"model": "/srv/model.gguf"}, **(place or {})}
    site = {"hio": "site/v1", "name": "here", "services": {"tiny": own}, "programs": {"unknown": program}}
    return {STACK_FILE: _yaml(stack), SITE_FILE: _yaml(site)}


def _yaml(data: dict[str, Any]) -> str:
    """JSON, which is YAML but for how it writes what lies beyond the first plane."""
    pair = r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})"
    return re.sub(pair, lambda match: "\\U" + f"{_joined(match[1], match[2]):08x}", json.dumps(data))


def _joined(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00


def repo_of(root: Path, files: dict[str, str]) -> Repo:
    """The repository of these files."""
    write(root, files)
    return load(Folder(root))


def rendered(folder: Path, files: dict[str, str], target: str, **asked: Any) -> Bundle:
    """The bundle of the stack `base`. Raises CannotRender."""
    repo = repo_of(folder, files)
    stack = repo.find("stack/v1", "base", SERVICE)
    assert stack is not None and stack.model is not None, stack
    return render(repo, stack, SERVICE, target, **asked)


def text(bundle: Bundle, name: str) -> str:
    """The text of one file."""
    return next(each.content for each in bundle.files if each.name == name).decode()


def with_parent(files: dict[str, str], **parent: Any) -> dict[str, str]:
    """The same repository whose ledger has a stack `earlier` for its parent."""
    earlier = json.loads(documents(**parent)[STACK_FILE]) | {"name": "earlier"}
    text = json.dumps(earlier)
    entry = {"hio": "entry/v1", "id": "b0", "service": SERVICE, "after": [], "kind": "baseline", "by": "owner",
             "at": "2026-11-28T00:00:00Z", "pins": {"stack": pin("earlier", text)}}  # fmt: skip
    return files | {
        f"manifests/services/{SERVICE}/stacks/earlier.yaml": text,
        f"ledger/{SERVICE}/2026/b0.yaml": json.dumps(entry),
    }
