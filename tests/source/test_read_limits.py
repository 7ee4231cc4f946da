"""Hostile documents are refused before they cost anything: within a quarter of a gigabyte and seconds of work.

They are read in a process of its own whose memory and processor time the kernel limits.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from hio_validate.source.characters import LARGEST_DOCUMENT

MEMORY = 1 << 28
SECONDS = 20

HOSTILE = {
    "bomb-of-lists": "b'a0: &a0 [x]\\n' + b''.join(b'a%d: &a%d [' % (n, n) + b', '.join([b'*a%d' % (n - 1)] * 9) + b']\\n' for n in range(1, 30))",
    "bomb-of-mappings": "b'a0: &a0 {x: 1}\\n' + b''.join(b'a%d: &a%d {' % (n, n) + b', '.join(b'k%d: *a%d' % (k, n - 1) for k in range(9)) + b'}\\n' for n in range(1, 30))",
    "bomb-of-merges": "b'a0: &a0 {x: 1}\\n' + b''.join(b'a%d: &a%d {<<: [' % (n, n) + b', '.join([b'*a%d' % (n - 1)] * 9) + b'], y%d: 1}\\n' % n for n in range(1, 30))",
    "brackets": "b'a: ' + b'[' * 8_000_000",
    "brackets-on-lines": "b'a: ' + b'[\\n' * 4_000_000",
    "braces": "b'a: ' + b'{a: ' * 2_000_000",
    "dashes": "b'- ' * 4_000_000",
    "questions": "b'? ' * 4_000_000",
    "indentation": "b''.join(b' ' * n + b'a:\\n' for n in range(4000))",
    "values": "b'a: [' + b'1,' * 4_000_000 + b']\\n'",
    "keys": "b''.join(b'k%d: 1\\n' % n for n in range(700_000))",
    "duplicate-keys": "b'a: 1\\n' * 1_300_000",
    "anchors": "b''.join(b'k%d: &a%d 1\\n' % (n, n) for n in range(400_000))",
    "chain-of-aliases": "b'a0: &a0 [x]\\n' + b''.join(b'a%d: &a%d [*a%d]\\n' % (n, n, n - 1) for n in range(1, 200_000))",
    "open-quote": "b'a: \"' + b'x\\n' * 4_000_000",
    "long-key": "b'x' * 8_000_000 + b': 1\\n'",
    "digits": "b'a: ' + b'9' * 8_000_000 + b'\\n'",
    "hash-of-digits": "b'a: ' + b'9' * 4_000_000 + b'e' + b'9' * 4_000_000 + b'\\n'",
    "tags": "b'a: ' + b'!x' * 4_000_000 + b' 1\\n'",
    "comments-then-nothing": "b'#\\n' * 4_000_000",
    "blank-lines-then-an-error": "b'a: 1\\n' + b'\\n' * 8_000_000 + b'b'",
    "too-large": f"b'a: ' + b'x' * {LARGEST_DOCUMENT}",
}  # fmt: skip


def narrow() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_refused_within_the_limits(name: str) -> None:
    program = f"""
from hio_validate.source import read
document = read({HOSTILE[name]}, "x.yaml")
assert document.data is None
print(len(document.faults), document.faults[0].rule, len(document.faults[0].message) < 300)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, preexec_fn=narrow, check=False
    )
    assert done.returncode == 0, done.stderr[-300:]
    count, rule, short = done.stdout.split()
    assert rule in ("syntax-error", "ambiguous-scalar", "duplicate-key")
    assert int(count) >= 1
    assert short == "True"
