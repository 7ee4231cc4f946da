"""What counts as quantisation or speculation, by the names that engines give it."""

from __future__ import annotations

import pytest

from hio_validate.evidence.campaign_scope import kind_of
from hio_validate.settings.difference import Compared, Group


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cache-type-k", "quantisation"),
        ("cache-type-v", "quantisation"),
        ("kv-cache-dtype", "quantisation"),
        ("quantization", "quantisation"),
        ("dtype", "quantisation"),
        ("spec-type", "speculation"),
        ("spec-draft-n-max", "speculation"),
        ("spec-draft-type-k", "speculation"),  # of the draft's cache: about speculation first
        ("draft-max", "speculation"),
        ("model-draft", "speculation"),
        ("speculative-config", "speculation"),
        ("num-speculative-tokens", "speculation"),
        ("lookup-cache-static", "speculation"),
        ("threads", None),
        ("ctx-size", None),
        ("batch-size", None),
        ("special", None),
        ("model", None),  # a path alone is no other model; a setting of the class artifact is
        ("cache-ram", None),
    ],
)
def test_a_setting_is_about_what_its_name_says(name: str, kind: str | None) -> None:
    assert kind_of(Compared(f"server.{name}", None, None, Group.CHANGED, "1", "2")) == kind
