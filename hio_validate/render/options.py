"""What a site says for one target under `targets:`, e.g. `kubernetes: {image: name@sha256:...}`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hio_validate.render.bundle import CannotRender
from hio_validate.render.launch import Launch

IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}")


def options_of(launch: Launch, target: str, known: Mapping[str, re.Pattern[str]]) -> dict[str, str]:
    """The options of a target as texts. Raises CannotRender for one that is unknown or has another form."""
    said = launch.place.targets.get(target, {})
    file = f"manifests/sites/{launch.site.name}.yaml"
    reasons = [
        f"{file}: targets: {target}: {name} is no option: expected {', '.join(known)}"
        for name in said
        if name not in known
    ]
    reasons += [
        f"{file}: targets: {target}: {name}: {value} is not of the form {known[name].pattern}"
        for name, value in said.items()
        if name in known and (isinstance(value, bool) or not known[name].fullmatch(str(value)))
    ]
    if reasons:
        raise CannotRender(*reasons)
    return {name: str(value) for name, value in said.items()}


def image_of(launch: Launch, target: str, options: Mapping[str, str]) -> str:
    """The image of a container, by its digest: a tag can mean another image tomorrow. Raises CannotRender."""
    if "image" not in options:
        raise CannotRender(
            f"manifests/sites/{launch.site.name}.yaml names no image: write targets: {{{target}: {{image: "
            f"name@sha256:...}}}} under services: {launch.model_name}: in it, with the digest of the image"
        )
    return options["image"]
