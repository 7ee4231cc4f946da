"""Whatever a stack says: a target carries all of it, read back by its consumer, or refuses it; there is no third."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hio_validate.render.bundle import CannotRender
from tests.render.rendered import documents, rendered
from tests.render.values import PIECES, WHOLE

IMAGE = "registry.example/serve@sha256:" + "5" * 64
PLACE: dict[str, Any] = {
    "host": "0.0.0.0",
    "targets": {"systemd": {"user": "llama"}, "compose": {"image": IMAGE}, "kubernetes": {"image": IMAGE}},
}
SHORT = [value for value in WHOLE if len(value) < 100 and "${" not in value]
VALUES = st.one_of(
    st.sampled_from(SHORT),
    st.lists(st.sampled_from([each for each in PIECES if "${" not in each]), max_size=5).map("".join),
    st.text(st.characters(codec="utf-8"), max_size=12),
).filter(lambda value: "${" not in value)
NAMES = st.sampled_from(
    ["A", "NO", "y", "_", "LD_PRELOAD", "IFS", "PATH", "ENV", "true", "null", "COMPOSE_FILE"]
)
TARGETS = ["local", "systemd", "compose", "kubernetes", "slurm", "llama-swap"]


def _arguments(words: list[str]) -> list[list[str]]:
    return [["--x", word] for word in words]


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_says_all_of_a_stack_or_refuses_it(target: str) -> None:
    carried = []

    @settings(max_examples=6 if target == "compose" else 20, deadline=None, database=None, derandomize=True,
              phases=[Phase.generate], suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.lists(VALUES, max_size=3), st.dictionaries(NAMES, VALUES, max_size=3))
    def holds(words: list[str], env: dict[str, str]) -> None:
        with TemporaryDirectory() as folder:
            try:
                bundle = rendered(Path(folder), documents(_arguments(words), env, PLACE), target)
            except CannotRender as error:
                assert error.reasons
                return
        assert bundle.read_back.keys() == {each.name for each in bundle.files}
        carried.append(words)

    holds()
    assert len(carried) >= 3, "nearly everything was refused"


LINES: list[tuple[str, Callable[[bytes], bool]]] = [
    ("systemd", lambda content: b"\nExecStartPre=" in content or b"\n[Manager]" in content),
    ("compose", lambda content: b"\n    privileged: true" in content),
    ("kubernetes", lambda content: b"\n      hostNetwork: true" in content),
    ("slurm", lambda content: b"\n#SBATCH --wrap" in content.partition(b"set -eu")[0]),
    ("llama-swap", lambda content: b"\n    cmdStop: " in content),
]


@pytest.mark.parametrize(("target", "is_injected"), LINES, ids=[target for target, _ in LINES])
def test_no_value_becomes_a_directive(
    tmp_path: Path, target: str, is_injected: Callable[[bytes], bool]
) -> None:
    attack = (
        "x\nExecStartPre=/bin/false\n[Manager]\n    privileged: true\n      hostNetwork: true\n#SBATCH --wrap=id\n"
        "    cmdStop: id\n'\"`$(id)`{{ service }}{% include 'x' %}"
    )
    one_line = attack.replace("\n", " ") if target == "llama-swap" else attack
    bundle = rendered(tmp_path, documents([["--x", one_line]], {"A": one_line}, PLACE), target)
    for each in bundle.files:
        content = each.content
        if each.name == "environment" and target == "systemd":
            continue  # a line feed stands in its quotes as it is; systemd read it back as one value
        assert not is_injected(content), each.name
        assert b"{{ service }}" in content or json.dumps("{{ service }}").encode() in content or each.name in (
            "ready.sh", "verify.sh", "rollback.yaml", "ROLLBACK.md"
        )  # fmt: skip
