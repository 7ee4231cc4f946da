"""What a model refuses is told at the real key, in the writer's words, once."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import ValidationError

from hio_validate.json_schema import schemas
from hio_validate.models import KINDS, reader
from hio_validate.models.errors import _PATTERNS, refusals
from hio_validate.repo import item_of
from hio_validate.source import read
from tests.models.documents import places, spoilt

STACK = "hio: stack/v1\nname: s\nprocesses:\n  server:\n    engine: llama-server\n"
SITE = "hio: site/v1\nname: lab\nservices:\n"
ENTRY = "hio: entry/v1\nid: e\nservice: a/b\nafter: []\nby: me\nat: 2026-09-16T23:58:00Z\n"
MATRIX = "hio: matrix/v1\nname: m\nservice: a/b\nparent: p\ncandidate: c\n"


def told(text: str) -> list[str]:
    """`line:column message | help` of every refusal."""
    document = read(text.encode(), "x.yaml")
    assert document.faults == ()
    refused = item_of(document).refused
    located = [(document.locate(each.path, key=each.at_key), each) for each in refused]
    return [
        f"{place.line}:{place.column} {each.message} | {each.help}".rstrip(" |") for place, each in located
    ]


CASES = {
    "a-boolean-is-no-integer": (SITE + "  x: {port: true}\n", ["4:13 port: expected a whole number, got true"]),
    "a-float-is-no-integer": (SITE + "  x: {port: 80.0}\n", ["4:13 port: expected a whole number, got the number 80.0"]),
    "text-is-no-integer": (SITE + "  x: {port: '80'}\n", ['4:13 port: expected a whole number, got "80"']),
    "out-of-range": (SITE + "  x: {port: 70000}\n", ["4:13 port: expected at most 65535, got the number 70000"]),
    "a-number-is-no-text": ("hio: site/v1\nname: 1234\n", ['2:7 name: expected text, got the number 1234 | quote it: "1234"']),
    "nothing-is-no-text": ("hio: site/v1\nname:\n", ["2:6 name: expected text, got nothing"]),
    "an-argument-is-text": (STACK + "    argv:\n      - [-t, 2]\n", ['7:14 argv: expected text, got the number 2 | quote it: "2"']),
    "an-argument-stands-in-its-line": (STACK + "    argv:\n      - --x\n", ['7:9 argv: expected a list, got "--x"']),
    "environment-values-are-text": (STACK + "    env: {A: true}\n", ['6:14 A: expected text, got true | quote it: "true"']),
    "environment-names": (STACK + "    env: {b c: x}\n", ["6:11 the key \"b c\" is not a variable's name of letters, digits and _"]),
    "misspelt-at-the-top": (STACK + "implict: {}\n", ['6:1 unknown key "implict" | did you mean implicit?']),
    "misspelt-deeper": (STACK + "    argvv: []\n", ['6:5 unknown key "argvv" | did you mean argv?']),
    "misspelt-deepest": (STACK + "implicit:\n  a: {valeu: 1, because: x}\n", ['7:7 unknown key "valeu" | did you mean value?']),
    "misspelt-in-a-list": (MATRIX + "rows:\n  - {preserved: [a], thruogh: default}\n",
                           ['7:22 unknown key "thruogh" in a preserved row | did you mean through?']),
    "misspelt-alias-of-a-field": ("hio: family/v1\nname: f\nenv_prefix: []\n", ['3:1 unknown key "env_prefix" | did you mean env-prefix?']),
    "far-from-any-key": (SITE + "  x: {zzz: 1}\n",
                         ['4:7 unknown key "zzz" | allowed here: host, port, unit, backend, paths, limits, secrets, targets']),
    "missing": ("hio: stack/v1\nname: s\n", ['1:1 the key "processes" is missing | The processes of the serving path, by role.']),
    "missing-deeper": (STACK + "implicit:\n  a: {value: 1}\n",
                       ['7:3 the key "because" is missing | What sets it: compiled in, a side effect of initialisation, a runbook.']),
    "empty": ("hio: stack/v1\nname: s\nprocesses: {}\n", ["3:12 processes: expected at least one entry, got no keys"]),
    "a-list-for-keys": ("hio: stack/v1\nname: s\nprocesses: [a]\n", ["3:12 processes: expected keys and values, got a list"]),
    "infinite": (STACK + "implicit: {a: {value: .inf, because: x}}\n",
                 ["6:23 value: expected text, true or false, a whole number or a finite number, got the number inf"]),
    "a-union-is-one-problem": (STACK + "implicit: {a: {value: [1], because: x}}\n",
                               ["6:23 value: expected text, true or false, a whole number or a number, got a list"]),
    "a-key-named-like-a-type": (STACK + "implicit: {a: {value: {str: 1}, because: x}}\n",
                                ["6:23 value: expected text, true or false, a whole number or a number, got keys and values"]),
    "kind-misspelt": (ENTRY + "kind: baselin\npins: {stack: x}\n",
                      ['7:7 kind: expected baseline, increment, negative-control, failed-run, correction, decision, approval, deployment, rollback, opportunity, anchor, merge or redaction, got "baselin"'
                       " | did you mean baseline?"]),
    "kind-missing": (ENTRY, ['1:1 the key "kind" is missing | What this entry is.']),
    "kind-empty": (ENTRY + "kind:\n", ["7:6 kind: expected baseline, increment, negative-control, failed-run, correction, decision, approval, deployment, rollback, opportunity, anchor, merge or redaction, got nothing"]),
    "key-of-another-variant": (ENTRY + f"kind: baseline\npins: {{stack: x@sha256:{'0' * 64}}}\nfactor: a\n",
                               ['9:1 unknown key "factor" in an entry of kind baseline | allowed here: hio, id, service, after, by, at,'
                                " imported, because, judged_by, kind, pins, conditions, dimensions"]),
    "missing-in-a-variant": (ENTRY + "kind: baseline\n", ['1:1 the key "pins" is missing in an entry of kind baseline | What it relies on.']),
    "misspelt-in-a-variant": (ENTRY + "kind: merge\nbecuase: x\n", ['8:1 unknown key "becuase" in an entry of kind merge | did you mean because?']),
    "a-short-digest": (ENTRY.replace("[]", "[x@sha256:abc]") + "kind: merge\n",
                       ['4:9 after: expected a pin: name@sha256:<64 hexadecimal digits>, got "x@sha256:abc"']),
    "a-date-is-no-time": (ENTRY.replace("T23:58:00Z", "") + "kind: merge\n",
                          ['6:5 at: expected a moment in UTC such as 2026-09-16T23:58:00Z, got "2026-09-16"']),
    "disposition-misspelt": (MATRIX + "rows:\n  - {factor: a, from: 1, to: 2, disposition: changd}\n",
                             ['7:46 disposition: expected preserved, changed, retest, excluded or undecided, got "changd"'
                              " | did you mean changed?"]),
    "row-misspelt": (MATRIX + "rows:\n  - {preserved: [a]}\n  - {preservd: [a]}\n",
                     ['8:6 unknown key "preservd" in a preserved row | did you mean preserved?']),
    "row-of-two-kinds": (MATRIX + "rows:\n  - {preserved: [a], factor: b}\n",
                         ['7:22 unknown key "factor" in a preserved row | allowed here: preserved, through, because']),
    "row-that-is-none": (MATRIX + "rows:\n  - {preserved: [a]}\n  - x\n", ['8:5 rows: expected keys and values, got "x"']),
    "row-that-is-empty": (MATRIX + "rows:\n  -\n", ["7:4 rows: expected keys and values, got nothing"]),
    "a-class-that-is-none": ("hio: family/v1\nname: f\nclasses: {secrets: [a]}\n",
                             ['3:11 the key "secrets" is not artifact, locator, endpoint, observability or secret | did you mean secret?']),
    "a-key-too-long": (SITE + f"  {'x' * 101}: {{}}\n", [f'4:3 the key "{"x" * 57}..." is longer than 100 characters']),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_names_the_key_the_place_and_what_to_do(case: str) -> None:
    text, expected = CASES[case]
    assert told(text) == expected


def test_every_problem_is_told_and_each_once() -> None:
    text = SITE + "  a: {port: 0}\n  b: {port: 1}\n  c: {prot: 1}\n  d: 5\n"
    assert [each.split(" ", 1)[0] for each in told(text)] == ["4:13", "6:7", "7:6"]


def test_every_pattern_of_the_models_has_words() -> None:
    for content in schemas().values():
        shape = json.dumps(json.loads(content))
        for pattern in {each for each in _patterns(json.loads(shape)) if each != "\\n"}:
            assert pattern in _PATTERNS


def _patterns(shape: object) -> list[str]:
    if isinstance(shape, list):
        return [found for each in shape for found in _patterns(each)]
    if not isinstance(shape, dict):
        return []
    own = [shape["pattern"]] if isinstance(shape.get("pattern"), str) else []
    own += list(shape.get("patternProperties", {}))
    return own + [found for each in shape.values() for found in _patterns(each)]


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_refusals_stand_at_places_of_the_document_one_each(kind: str, data: st.DataObject) -> None:
    document = data.draw(spoilt(kind))
    try:
        reader(kind).validate_python(document)
    except ValidationError as error:
        refused = refusals(error, kind, document)
        assert refused
        paths = [each.path for each in refused]
        assert len(paths) == len(set(paths))
        there = places(document)
        for each in refused:
            assert (each.path in there) is not each.missing
            assert each.path[:-1] in there
            assert each.message
            assert "\n" not in each.message + each.help


def test_a_refusal_in_a_decision_stands_at_its_own_key() -> None:
    document = {"hio": "entry/v1", "id": "x", "service": "a/b", "after": [], "kind": "decision", "by": "me",
                "at": "2026-09-16T23:58:00Z", "decision": "keep-research", "corrects": "b0"}  # fmt: skip
    with pytest.raises(ValidationError) as error:
        reader("entry/v1").validate_python(document)
    assert [each.path for each in refusals(error.value, "entry/v1", document)] == [("corrects",)]
