"""Manifests, held against Kubernetes' own schemas (kubernetes-validate), and their `$(NAME)` by our own reader."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from hio_validate.render.bundle import CannotRender
from hio_validate.render.consumers import yaml11


def manifests(texts: dict[str, str]) -> tuple[dict[str, Any], str]:
    """File -> its manifest, and who read them. Raises CannotRender."""
    read = {file: yaml11.read(text, file) for file, text in texts.items()}
    for file, manifest in read.items():
        if not isinstance(manifest, dict):
            raise CannotRender(f"{file} holds no manifest")
    try:
        # Imported here: its schemas are read by nothing else, and it may be absent.
        import kubernetes_validate
    except ModuleNotFoundError:
        return (
            read,
            f"{yaml11.NAME}, and hio's own reader of manifests (kubernetes-validate is not installed)",
        )
    latest = kubernetes_validate.latest_version()
    for file, manifest in read.items():
        try:
            kubernetes_validate.validate(manifest, latest, strict=True)
        except kubernetes_validate.ValidationError as error:
            where = "/".join(map(str, error.path))
            raise CannotRender(
                f"{file}: kubernetes-validate says of {where or 'it'}: {error.message[:300]}"
            ) from None
    return read, f"kubernetes-validate {_version()} (Kubernetes {latest}), {yaml11.NAME}"


def _version() -> str:
    try:
        return version("kubernetes-validate")
    except PackageNotFoundError:
        return ""


def expanded(value: str) -> str:
    """What Kubernetes makes of an argument in which no variable is named. Raises CannotRender where one is."""
    pieces = value.split("$$")
    if any("$(" in piece for piece in pieces):
        raise CannotRender("a word has $(...), which Kubernetes would fill in")
    return "$".join(pieces)
