"""Kubernetes manifests: one draft for each container that starts an engine, whatever kind of object carries it.

`$(NAME)` is filled in from the container's own variables as Kubernetes does it; what a ConfigMap of the same file says is
known, what only the cluster knows stays open, and a secret stays a reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hio_validate.importing.configurations.command import engine_in, engine_of, launched, unpack
from hio_validate.importing.configurations.found import Found, Source, Started
from hio_validate.settings.places import SECRET
from hio_validate.source.foreign import Node

_REFERENCE = re.compile(r"\$\$\(|\$\(([A-Za-z_][\w.-]*)\)")
_TEMPLATE = re.compile(r"\{\{")
_DEEPEST = 40


def has_containers(document: Node) -> bool:
    """Whether any part of a document lists containers."""
    return next(_pods(document, ()), None) is not None


def read(source: Source, documents: list[Node]) -> Iterator[Found]:
    """Every container of the documents that starts an engine."""
    maps = _config_maps(documents)
    for document in documents:
        for path, pod in _pods(document, ()):
            yield from _of_pod(source, document, path, pod, maps)


def _config_maps(documents: list[Node]) -> dict[str, Node]:
    maps = {}
    for document in documents:
        kind, name, data = document.get("kind"), document.get("metadata", "name"), document.get("data")
        if kind and kind.text == "ConfigMap" and name and name.text and data:
            maps[name.text] = data
    return maps


def _pods(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every mapping that lists containers, with the keys that lead to it."""
    if len(path) > _DEEPEST:
        return
    containers = node.get("containers")
    if containers is not None and containers.items and any(each.entries for each in containers.items):
        yield path, node
    for key, value in node.pairs():
        if key not in ("containers", "initContainers", "ephemeralContainers"):
            yield from _pods(value, (*path, key))
    for each in node.items or ():
        yield from _pods(each, (*path, ""))


def _of_pod(
    source: Source, document: Node, path: tuple[str, ...], pod: Node, maps: Mapping[str, Node]
) -> Iterator[Found]:
    containers = pod.get("containers")
    named = document.get("metadata", "name")
    own = named.text if named and named.text else source.stem
    role = next((each.removesuffix("Template") for each in reversed(path) if each.endswith(_ROLES)), "")
    drafts = []
    for container in (containers.items if containers else None) or ():
        name = container.get("name")
        found = Found(f"{own}-{role}" if role else own, source.file, container.line)
        started = _started(container, found, maps)
        if engine_of(started) or (started.launcher and engine_in(started.image)):
            found.processes["server"] = started
            drafts.append((found, name.text if name and name.text else ""))
    engines = [each for each in drafts if engine_of(each[0].processes["server"])]
    for found, container_name in engines or drafts:
        if len(engines or drafts) > 1 and container_name:
            found.name = f"{found.name}-{container_name}"
        yield found


_ROLES = ("prefill", "decode", "leaderTemplate", "workerTemplate", "worker", "leader")


def _started(container: Node, found: Found, maps: Mapping[str, Node]) -> Started:
    image = container.get("image")
    started = Started(image=image.text if image else None)
    if started.image and "@sha256:" not in started.image:
        found.leave_open(
            image.line if image else 0,
            f"the image {started.image} is named by its tag, which moves: name it by its digest in the site "
            "(targets: {kubernetes: {image: ...}})",
        )
    for key in ("envFrom", "env"):
        node = container.get(key)
        for each in (node.items if node else None) or ():
            (_all_of if key == "envFrom" else _variable)(each, started, found, maps)
    model_command = container.get("modelCommand")
    if model_command is not None and model_command.text == "vllmServe":
        started.words = ["vllm", "serve"]
        found.leave_open(
            model_command.line, "the chart of modelCommand adds the model (modelArtifacts) and its port"
        )
    started.by_entry_point = container.get("command") is None
    for key in ("command", "args"):
        node = container.get(key)
        for word in node.words() if node else ():
            started.words.append(_word(word, started.env, found))
    unpack(started, found, container.line)
    launched(started, found, container.line)
    return started


def _word(node: Node, env: Mapping[str, str], found: Found) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$("
        if match[1] in env:
            return env[match[1]]
        found.leave_open(node.line, f"{match[0]} is no variable of this container: left as written")
        return match[0]

    text = node.text or ""
    if _TEMPLATE.search(text):
        found.leave_open(
            node.line, "a template {{...}} that Helm fills in: left as written (helm template renders it)"
        )
    return _REFERENCE.sub(value, text)


def _variable(each: Node, started: Started, found: Found, maps: Mapping[str, Node]) -> None:
    name, value, source = each.get("name"), each.get("value"), each.get("valueFrom")
    if name is None or name.text is None:
        return
    if not re.fullmatch(r"[A-Za-z_]\w*", name.text):
        found.leave_open(each.line, "a variable whose name no stack can set")
        return
    if source is None:
        started.env[name.text] = _word(value, started.env, found) if value else ""
        return
    secret, of_map = source.get("secretKeyRef"), source.get("configMapKeyRef")
    if secret is not None:
        reference = name.text.lower().replace("_", "-")
        started.env[name.text] = f"${{{SECRET}{reference}}}"
        started.places[f"{SECRET}{reference}"] = kept_in_cluster(secret.get("name"), secret.get("key"))
        return
    known = maps.get(_text(of_map.get("name"))) if of_map is not None else None
    text = known.get(_text(of_map.get("key"))) if known is not None and of_map is not None else None
    if text is not None:
        started.env[name.text] = text.text or ""
    else:
        found.leave_open(
            each.line, f"{name.text} comes from {', '.join(dict(source.pairs()))}: only the cluster knows it"
        )


def _all_of(each: Node, started: Started, found: Found, maps: Mapping[str, Node]) -> None:
    """Every variable of a ConfigMap (or Secret), each with a prefix where one is given."""
    of_map = each.get("configMapRef")
    known = maps.get(_text(of_map.get("name"))) if of_map is not None else None
    if known is None:
        found.leave_open(
            each.line, f"variables come from {', '.join(dict(each.pairs()))}: only the cluster knows them"
        )
        return
    prefix = _text(each.get("prefix"))
    for name, value in known.pairs():
        if re.fullmatch(r"[A-Za-z_]\w*", prefix + name):
            started.env[prefix + name] = value.text or ""


def kept_in_cluster(name: Node | None, key: Node | None) -> str:
    """Where a secret of a cluster is kept, as a site says it and `hio render --target kubernetes` reads it."""
    return f"kubernetes:{_text(name)}/{_text(key)}"


def _text(node: Node | None) -> str:
    return (node.text or "") if node is not None else ""
