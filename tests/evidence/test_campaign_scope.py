"""What counts as quantisation or speculation, by the names that engines give it."""

from __future__ import annotations

import pytest

from hio_validate.evidence.campaign_scope import OutOfScope, kind_of, to_declare
from hio_validate.models.campaign import CampaignScope
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


@pytest.mark.parametrize(
    ("what", "name", "to", "declared"),
    [
        ("quantisation", "cache-type-k", "q8_0", "scope: {quantisation: [f16, q8_0]}"),
        ("quantisation", "model", "/models/tiny-q4.gguf", "scope: {quantisation: [f16, model]}"),
        ("speculation", "spec-type", "ngram-mod", "scope: {speculation: [ngram-mod]}"),
        ("speculation", "spec-draft-n-max", "8", "scope: {speculation: [spec-draft-n-max]}"),
        ("speculation", "spec-type", "absent", "scope: {speculation: [spec-type]}"),
        ("the declared space", "batch-size", "512", "scope: {factors: [server.threads, server.batch-size]}"),
    ],
)
def test_what_has_to_be_declared_is_said_as_it_is_written(
    what: str, name: str, to: str, declared: str
) -> None:
    scope = CampaignScope(factors=["server.threads"], quantisation=["f16"])
    changed = Compared(f"server.{name}", None, None, Group.CHANGED, "1", to)
    assert to_declare(OutOfScope("two", what, changed), scope) == declared
