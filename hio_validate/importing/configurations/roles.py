"""A recipe with one block of vLLM flags for each role (`prefill:`, `decode:` with extra-args and env): one stack.

The blocks are read by a script that adds to them (parallel sizes, ports, the transfer of the cache), so every other key is
listed as it is written. The flags are split at blanks alone, as a shell splits an unquoted variable: JSON keeps its quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hio_validate.importing.configurations.found import Found, Source, Started, quoted
from hio_validate.settings.secrets import says_secret
from hio_validate.source.foreign import Node

_ARGUMENTS = (
    "extra-args",
    "extra_args",
    "extraArgs",
    "args",
    "vllm-args",
    "vllm_args",
    "engine-args",
    "engineArgs",
)
_ROLES = ("prefill", "decode", "encode", "aggregated", "server", "engine", "worker")


def is_recipe(document: Node) -> bool:
    """Whether a document has a role with flags."""
    return any(_arguments(document.get(role)) is not None for role in _ROLES)


def _arguments(block: Node | None) -> Node | None:
    for key in _ARGUMENTS if block is not None and block.entries is not None else ():
        node = block.get(key) if block else None
        if node is not None and (node.text is not None or node.items is not None):
            return node
    return None


def read(source: Source, document: Node) -> Iterator[Found]:
    """One draft whose processes are the roles."""
    found = Found(source.stem, source.file, document.line)
    for role, block in document.pairs():
        node = _arguments(block) if role in _ROLES else None
        if node is not None:
            started = Started(words=["vllm", "serve", *_words(node, found)])
            _environment(block, started, found)
            _leave_open(role, block, found)
            found.processes[role] = started
    if not any("--model" in started.words for started in found.processes.values()):
        found.leave_open(document.line, "no role names a model: whoever starts this recipe gives it")
    yield found


def _words(node: Node, found: Found) -> list[str]:
    if node.items is not None:
        return [each.text or "" for each in node.words()]
    words = (node.text or "").split()
    for word in words:
        if re.search(r"\$[\w({]|`|\{\{", word):
            found.leave_open(
                node.line, f"{quoted(word)} is filled in by the script that reads it: left as written"
            )
        elif word.startswith(("'", '"')) or word.endswith(("'", '"')):
            found.leave_open(node.line, "quotes that a script may or may not take away: left as written")
    return words


def _environment(block: Node, started: Started, found: Found) -> None:
    env = block.get("env")
    if env is None:
        return
    if env.entries is not None:
        pairs = [(name, value) for name, value in env.pairs()]
    else:
        pairs = [(each.get("name"), each.get("value")) for each in env.items or ()]  # type: ignore[misc]
        pairs = [((name.text or "") if isinstance(name, Node) else "", value) for name, value in pairs]
    for name, value in pairs:
        if re.fullmatch(r"[A-Za-z_]\w*", name) and value is not None:
            started.env[name] = value.text or ""
        else:
            found.leave_open(env.line, f"a variable {name} that has no value here")


def _leave_open(role: str, block: Node, found: Found) -> None:
    for key, value in block.pairs():
        if key not in (*_ARGUMENTS, "env"):
            shown = "..." if value.text is None or says_secret(key) else quoted(value.text)
            found.leave_open(
                value.line,
                f"{role}.{key}: {shown} is read by the script that starts it, and is not in this draft",
            )
