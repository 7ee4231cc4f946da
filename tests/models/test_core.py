"""The validator that hio loads is pydantic-core's own, whoever imports it first."""

from __future__ import annotations

import subprocess
import sys

import pytest

CORE = "import hio_validate.models.core as ours"
WHOLE = "import pydantic_core as whole"
SAME = "assert (ours.SchemaValidator, ours.ValidationError) == (whole.SchemaValidator, whole.ValidationError)"


def _python(*lines: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", [(CORE, WHOLE), (WHOLE, CORE)], ids=["ours first", "the whole first"])
def test_the_classes_are_the_same_whoever_imports_first(order: tuple[str, str]) -> None:
    _python(
        *order,
        SAME,
        "import pydantic",
        "assert whole.core_schema and pydantic.ValidationError is ours.ValidationError",
    )


def test_alone_it_leaves_the_type_definitions_out() -> None:
    _python(
        CORE,
        "import sys",
        "assert not {'pydantic_core.core_schema', 'typing_extensions'} & sys.modules.keys()",
    )
