"""Lines as they may be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hio_validate.settings.withholding import scrubbed, without_secrets


@pytest.mark.parametrize(("line", "shown"), [
    ('- ["--api-key", "a b"]', '- ["--api-key", "withheld"]'),
    ("- [--threads, '4', --api-key, a-b]", "- [--threads, '4', --api-key, withheld]"),
    ("HF_TOKEN: a-b # why", "HF_TOKEN: withheld # why"),
    ("x --hf-token a-b", "x --hf-token withheld"),
    ("- --api-key=a-b", "- --api-key=withheld"),
    ("url: https://me:word@host/", "url: withheldhost/"),
    ('["--api-key", "${secret:api-key}"]', '["--api-key", "${secret:api-key}"]'),
    ("max-num-batched-tokens: 8192", "max-num-batched-tokens: 8192"),
    ("[--threads, '4']", "[--threads, '4']"),
    ("about: the token is elsewhere", "about: the token is elsewhere"),
])  # fmt: skip
def test_a_line_is_shown_without_its_secrets(line: str, shown: str) -> None:
    assert without_secrets([line], 1, ()).line == shown


@pytest.mark.parametrize("before", ["- - --api-key", "HF_TOKEN:", "HF_TOKEN: |", "HF_TOKEN: >- # why"])
def test_the_line_after_the_name_of_a_secret_is_withheld(before: str) -> None:
    assert without_secrets([before, "  - a-b"], 2, ()) == ("withheld", {"a-b"})


def test_what_is_stated_is_withheld_on_every_line_and_a_spelling_that_hides_it_withholds_the_line() -> None:
    lines = ["about: a-b was it", 'key: "a\\u002db"']
    assert without_secrets(lines, 1, [(2, "a-b")]).line == "about: withheld was it"
    assert without_secrets(lines, 2, [(2, "a-b")]).line == "withheld"


words = st.text("ab-", min_size=6, max_size=9)


@given(words, st.text("ab- ,:[]", max_size=20), st.text("ab- ", max_size=20))
def test_no_line_shows_what_is_stated(secret: str, before: str, after: str) -> None:
    assert secret not in without_secrets([before + secret + after], 1, [(1, secret)]).line


def test_a_short_secret_does_not_garble_a_message() -> None:
    assert scrubbed("the base is b", ["b"]) == "the base is b"
    assert scrubbed("got abcdef", ["abcdef"]) == "got withheld"
