"""kubernetes: a Deployment and the ConfigMap of its variables; the image by digest, the run's id on every object.

The container has the paths of the site from its node, read-only. One replica, recreated: never two at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import kubernetes
from hio_validate.render.launch import Launch
from hio_validate.render.limits import limits_of, plain
from hio_validate.render.options import IMAGE, image_of, options_of
from hio_validate.render.target import Asked, Draft, Target

CONFIG, DEPLOYMENT = "configmap.yaml", "deployment.yaml"
RUN_ID = "hio/run-id"
PERIOD_S = 5
_DNS = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")
_OPTIONS = {"image": IMAGE, "namespace": _DNS, "gpus": re.compile(r"[1-9][0-9]?"),
            "gpu": re.compile(r"[a-z0-9.-]+/[A-Za-z0-9._-]+")}  # fmt: skip
_LIMITS = {"memory_max": "memory", "cpus": "cpu"}
_KEPT = re.compile(r"kubernetes:([a-z0-9]([a-z0-9.-]*[a-z0-9])?)/([A-Za-z0-9._-]+)")


def _options(launch: Launch) -> dict[str, str]:
    return options_of(launch, "kubernetes", _OPTIONS)


def _drafts(launch: Launch, asked: Asked) -> tuple[Draft, ...]:
    image_of(launch, "kubernetes", _options(launch))
    _secret_refs(launch)
    if not _DNS.fullmatch(launch.model_name):
        raise CannotRender(
            f"{launch.model_name} is no name in Kubernetes: expected at most 42 small letters, digits and -"
        )
    if (launch.place.host or "127.0.0.1") in ("127.0.0.1", "localhost", "::1"):
        raise CannotRender(
            f"{launch.model_name} listens on {launch.place.host or '127.0.0.1'} alone, where no probe of Kubernetes reaches "
            "it: let the site say host: 0.0.0.0"
        )
    return tuple(Draft(name, f"kubernetes/{name}.j2") for name in (CONFIG, DEPLOYMENT))


def _secret_refs(launch: Launch) -> dict[str, dict[str, str]]:
    """Variable -> the secret of Kubernetes and the key in it. Raises CannotRender."""
    found, reasons = {}, []
    for variable, secret in launch.secret.items():
        match = _KEPT.fullmatch(launch.secrets[secret])
        if match:
            found[variable] = {"name": match[1], "key": match[3]}
        else:
            reasons.append(
                f"the site {launch.site.name} does not say in which secret of Kubernetes {secret} is kept: "
                f"write secrets: {{{secret}: kubernetes:NAME/KEY}}"
            )
    if reasons:
        raise CannotRender(*reasons)
    return found


def _resources(launch: Launch) -> dict[str, str]:
    options = _options(launch)
    found = {
        _LIMITS[name]: plain(value) for name, value in limits_of(launch.place, "kubernetes", _LIMITS).items()
    }
    return found | ({options.get("gpu", "nvidia.com/gpu"): options["gpus"]} if "gpus" in options else {})


def _config_name(launch: Launch) -> str:
    """With the digest of what it holds, so that other variables are another ConfigMap and start a new container."""
    said = repr(sorted(launch.said.items())).encode()
    return f"{launch.model_name}-{sha256(said).hexdigest()[:12]}"


def _run_id(launch: Launch) -> str:
    said = f"{launch.stack.document.digest} {launch.site.document.digest}".encode()
    return sha256(said).hexdigest()[:16]


def _context(launch: Launch, asked: Asked) -> dict[str, Any]:
    return {
        "image": _options(launch)["image"],
        "namespace": _options(launch).get("namespace"),
        "mounts": launch.mounts,
        "secret_refs": _secret_refs(launch),
        "resources": _resources(launch),
        "config_name": _config_name(launch),
        "run_id_label": RUN_ID,
        "run_id": _run_id(launch),
        "period_s": PERIOD_S,
        "failures": -(-launch.ready.within_s // PERIOD_S),
    }


def _read_back(launch: Launch, asked: Asked, texts: Mapping[str, str]) -> dict[str, str]:
    said, who = kubernetes.manifests(dict(texts))
    config, deployment = said[CONFIG], said[DEPLOYMENT]
    try:
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        other = [*_other_config(config, launch), *_other_container(container, launch)]
        labels = [
            each["metadata"]["labels"][RUN_ID]
            for each in (config, deployment, deployment["spec"]["template"])
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise CannotRender(f"{DEPLOYMENT} or {CONFIG} lacks {error}") from None
    if set(labels) != {_run_id(launch)}:
        other.append("the run's id")
    if deployment["spec"].get("replicas") != 1 or deployment["spec"].get("strategy") != {"type": "Recreate"}:
        other.append("how many run at once")
    if [each["hostPath"]["path"] for each in pod.get("volumes") or []] != launch.mounts:
        other.append("volumes")
    if other:
        raise CannotRender(
            f"{DEPLOYMENT}: its reader finds {', '.join(other)} otherwise than the stack says it"
        )
    return {CONFIG: who, DEPLOYMENT: who}


def _other_config(config: Any, launch: Launch) -> list[str]:
    is_same = (config.get("data") or {}) == launch.said and config["metadata"]["name"] == _config_name(launch)
    return [] if is_same else ["data"]


def _other_container(container: Any, launch: Launch) -> list[str]:
    refs = {each["name"]: each["valueFrom"]["secretKeyRef"] for each in container.get("env") or []}
    words = [kubernetes.expanded(each) for each in (*container["command"], *(container.get("args") or []))]
    read = {
        "image": container["image"],
        "command": words,
        "env": refs,
        "envFrom": [each["configMapRef"]["name"] for each in container["envFrom"]],
        "resources": (container.get("resources") or {}).get("limits") or {},
        "workingDir": container["workingDir"],
    }
    meant = {
        "image": _options(launch)["image"],
        "command": launch.command.argv,
        "env": _secret_refs(launch),
        "envFrom": [_config_name(launch)],
        "resources": _resources(launch),
        "workingDir": launch.command.folder,
    }
    other = [key for key in meant if read[key] != meant[key]]
    for probe in ("startupProbe", "readinessProbe"):
        if container[probe]["httpGet"] != {"path": launch.ready.path, "port": launch.ready.port}:
            other.append(probe)
    return other


TARGET = Target(_drafts, _context, _read_back)
