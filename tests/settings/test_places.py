"""The ${place-holders} of a stack stand for what the site says, and for nothing else."""

from __future__ import annotations

from hio_validate.models.site import Place
from hio_validate.settings.places import filled_in, values

PLACE = Place.model_validate(
    {"host": "10.0.0.7", "port": 8080, "unit": "serve", "paths": {"model": "/models/a.gguf"}}
)


def test_a_place_holder_stands_for_what_the_site_says() -> None:
    known = values(PLACE)
    assert filled_in("${host}:${port}", known) == "10.0.0.7:8080"
    assert filled_in("${model}", known) == "/models/a.gguf"


def test_what_the_site_does_not_say_stays_as_it_is_written() -> None:
    text = "${unit} ${draft} $host ${secret:key}"
    assert filled_in(text, values(PLACE)) == text
    assert filled_in("${host}", {}) == "${host}"
