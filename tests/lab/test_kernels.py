"""hio probe engine with the kernels of the real builds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hio_validate.history import Folder
from hio_validate.probing import kernels
from hio_validate.probing.build_libraries import kernels_of
from hio_validate.repo import load
from tests.cli.console import hio
from tests.lab.serving import LAB, ROOT

pytestmark = pytest.mark.lab

DOUBTS = ("something else ran", "others used up to")
"""What is said of rates on a machine that is not idle, as one that runs tests."""


@pytest.mark.parametrize("build", ["b10001", "b11434"])
def test_every_product_of_a_model_has_a_rate(build: str) -> None:
    recorded = load(Folder(ROOT)).find("engine/v1", build).model.identity.libraries
    where = kernels_of(LAB / f"llama-{build[1:]}/bin/llama-server", recorded)
    dtypes = ("Q8_0", "Q5_0", "Q4_K", "F16")
    asked = kernels.Asked(
        str(where.base), str(where.cpu), dtypes, (1, 2), 640, (1, 2, 16, 64), 64 << 20, seconds=3000.0
    )
    rates, unknown = kernels.measured(asked)
    assert all(any(doubt in each for doubt in DOUBTS) for each in unknown), unknown
    assert list(rates) == [
        f"{what}-{dtype}-{threads}{by}"
        for dtype in dtypes
        for what, by in (("matvec", ""), ("matvec", "x2"), ("matvec", "x16"), ("matmul", "x64"))
        for threads in (1, 2)
    ]
    assert all(
        len(rate.samples) == kernels.SAMPLES * kernels.TURNS and rate.low <= rate.value <= rate.high
        for rate in rates.values()
    )
    assert all(32 << 20 < rates[name].working_set <= 64 << 20 for name in rates if name.startswith("matvec"))
    assert rates["matvec-Q8_0-1x16"].high < rates["matvec-Q8_0-1"].high, "16 vectors take longer than one"
    assert "CPU_REPACK" in rates["matvec-Q4_K-1"].method
    assert 0.1 < rates["matvec-Q8_0-1"].value < 1000


def test_what_is_written_is_valid_and_never_replaced(tmp_path: Path) -> None:
    for part in ("manifests/engines", "manifests/sites"):
        for path in (ROOT / part).rglob("*"):
            if path.is_file():
                target = tmp_path / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    words = ("probe", "engine", "b10001", "--dtype", "Q8_0", "--threads", "1", "--tokens", "16", "--yes")
    said = hio(tmp_path, *words, "--write", "--name", "k", "--format", "json")
    assert said.code == 0, said.all
    assert json.loads(said.out)["wrote"] == "manifests/ceilings/k.yaml"
    assert hio(tmp_path, "validate").code == 0
    again = hio(tmp_path, *words, "--write", "--name", "k")
    assert again.code == 1
    assert "manifests/ceilings/k.yaml exists and stays as it is" in again.err
