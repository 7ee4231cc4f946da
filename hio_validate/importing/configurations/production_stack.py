"""Values of vLLM's production-stack chart: one draft for each model of servingEngineSpec.modelSpec.

The flags are those of the chart's helm/templates/deployment-vllm-multi.yaml; a key that this template does not read is
listed. `helm template` renders what a release really starts, and hio reads that, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from hio_validate.importing.configurations.found import Found, Source, Started
from hio_validate.importing.configurations.kubernetes import kept_in_cluster
from hio_validate.settings.places import SECRET
from hio_validate.source.foreign import Node

_VALUES = {
    "maxModelLen": "--max-model-len",
    "dtype": "--dtype",
    "tensorParallelSize": "--tensor-parallel-size",
    "maxNumSeqs": "--max-num-seqs",
    "gpuMemoryUtilization": "--gpu-memory-utilization",
    "maxLoras": "--max-loras",
}
"""Key of vllmConfig -> flag, in the order of the template."""
_READ = frozenset({*_VALUES, "enableChunkedPrefill", "enablePrefixCaching", "extraArgs", "v0"})
_FALSE = ("false", "False", "FALSE", "", None)


def is_production_stack(document: Node) -> bool:
    """Whether a document has the values of this chart."""
    models = document.get("servingEngineSpec", "modelSpec")
    return models is not None and models.items is not None


def read(source: Source, document: Node) -> Iterator[Found]:
    """Every model of the values."""
    spec = document.get("servingEngineSpec")
    models = spec.get("modelSpec") if spec else None
    for number, model in enumerate((models.items if models else None) or (), 1):
        name = _text(model.get("name")) or f"{source.stem}-{number}"
        found = Found(name, source.file, model.line)
        started = Started(image=f"{_text(model.get('repository'))}:{_text(model.get('tag'))}")
        started.words = ["vllm", "serve", *_model(model, found), "--host", "0.0.0.0", "--port", "${port}"]
        started.places["host"] = "0.0.0.0"
        _flags(model, started, found)
        _secrets(model, spec, started)
        _environment(model, started, found)
        _leave_open(model, found)
        found.processes["server"] = started
        yield found


def _text(node: Node | None) -> str:
    return (node.text or "") if node is not None else ""


def _model(model: Node, found: Found) -> list[str]:
    url = model.get("modelURL")
    if url is None or url.text is None:
        found.leave_open(model.line, "no modelURL: which model is served is unknown")
        return []
    return [url.text]


def _is_set(node: Node | None) -> bool:
    """What the template's `if` takes for the truth: a quoted "false" is text, and true."""
    if node is None:
        return False
    return (
        bool(node.items or node.entries)
        or (node.text not in _FALSE and not (node.plain and node.text == "0"))
        or (node.text in ("false", "False", "FALSE") and not node.plain)
    )


def _flags(model: Node, started: Started, found: Found) -> None:
    words = started.words
    if _is_set(model.get("enableLoRA")):
        words.append("--enable-lora")
    if _is_set(model.get("enableTool")):
        words.append("--enable-auto-tool-choice")
    if parser := _text(model.get("toolCallParser")):
        words += ["--tool-call-parser", parser]
    config = model.get("vllmConfig")
    if config is None or not config.entries:
        return
    chunked = config.get("enableChunkedPrefill")
    if chunked is not None:
        words.append("--enable-chunked-prefill" if _is_set(chunked) else "--no-enable-chunked-prefill")
    caches = _is_set(config.get("enablePrefixCaching"))
    words.append("--enable-prefix-caching" if caches else "--no-enable-prefix-caching")
    for key, flag in _VALUES.items():
        value = config.get(key)
        if value is not None:
            words += [flag, _text(value)]
    more = config.get("extraArgs")
    words += [_text(each) for each in (more.words() if more else ())]
    if _text(config.get("v0")) == "1":
        started.env["VLLM_USE_V1"] = "0"
    for key, node in config.pairs():
        if key not in _READ:
            found.leave_open(
                node.line, f"vllmConfig.{key} is read by other versions of the chart only, or by its router"
            )


def _secrets(model: Node, spec: Node | None, started: Started) -> None:
    """Tokens become references, whether the values name a Kubernetes secret or state the token itself."""
    keys = (
        ("HF_TOKEN", "hf-token", model.get("hf_token")),
        ("VLLM_API_KEY", "vllm-api-key", spec.get("vllmApiKey") if spec else None),
    )
    for variable, name, node in keys:
        if node is None or not (node.text or node.entries):
            continue
        started.env[variable] = f"${{{SECRET}{name}}}"
        secret = node.get("secretName")
        kept = kept_in_cluster(secret, node.get("secretKey")) if secret else "say where it is kept"
        started.places[f"{SECRET}{name}"] = kept


def _environment(model: Node, started: Started, found: Found) -> None:
    env = model.get("env")
    for each in (env.items if env else None) or ():
        name, value = _text(each.get("name")), each.get("value")
        if not name:
            continue
        if value is None:
            found.leave_open(each.line, f"{name} comes from the cluster: only it knows the value")
        else:
            started.env[name] = _text(value)


def _leave_open(model: Node, found: Found) -> None:
    if "@sha256:" not in _text(model.get("repository")):
        image = f"{_text(model.get('repository'))}:{_text(model.get('tag'))}"
        found.leave_open(
            model.line,
            f"the image {image} is named by its tag, which moves: name it by its digest in the site "
            "(targets: {kubernetes: {image: ...}})",
        )
    for key in ("lmcacheConfig", "chatTemplate", "raySpec"):
        node = model.get(key)
        if node is not None:
            found.leave_open(
                node.line,
                f"{key} adds settings in the chart that are not in this draft: import what helm template gives",
            )
    found.leave_open(
        model.line,
        "the chart adds variables of its own (HF_HOME, POD_IP, LMCACHE_LOG_LEVEL) that are not in this draft",
    )
