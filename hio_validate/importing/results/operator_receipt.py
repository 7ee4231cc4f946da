"""test-backend-ops as operator-test receipts, one a backend (models/definitions/receipt.py).

Invariant: a tolerance that the source does not tell is unknown, and every case is kept as a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hio_validate.importing.results.backend_ops import REFERENCE
from hio_validate.importing.results.backend_ops_cases import FAILED, NOT_SUPPORTED, OK, Case
from hio_validate.importing.results.lm_eval import UNKNOWN
from hio_validate.importing.results.quality_receipt import About, name_of

ACCUMULATION = {"f32": "higher", "def": "default"}
"""What `prec=` of a case says of the precision that sums are kept in (`var_to_str(ggml_prec)`)."""


def by_backend(cases: Iterable[object]) -> dict[str, list[Case]]:
    """The cases of each backend that were computed, or could not be."""
    found: dict[str, list[Case]] = {}
    for each in cases:
        if isinstance(each, Case) and each.status in (OK, FAILED, NOT_SUPPORTED):
            found.setdefault(each.backend, []).append(each)
    return found


def receipt_of(
    backend: str, cases: Sequence[Case], about: About, rows: Mapping[str, Any], accumulation: str
) -> dict[str, Any]:
    """The receipt of one backend; `rows` is the file of its cases with its hash and count."""
    device = next((each.device for each in cases if each.device), UNKNOWN)
    return {
        key: value
        for key, value in {
            "hio": "receipt/v1",
            "kind": "operator-test",
            "name": name_of("test-backend-ops", backend),
            "service": about.service,
            "stack": about.stack,
            "source": dict(about.source),
            "backend": backend,
            "device": device,
            "reference": REFERENCE,
            "accumulation": accumulation,
            "operators": {name: _counts(of) for name, of in _by_operator(cases).items()},
            "cases": dict(rows),
            "unknown": ["the error of a case that passed", "the seed of the random tensors"],
        }.items()
        if value is not None
    }


def _by_operator(cases: Sequence[Case]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for each in cases:
        found.setdefault(each.operator, []).append(each)
    return found


def _counts(cases: Sequence[Case]) -> dict[str, Any]:
    tolerances = {each.tolerance for each in cases if each.tolerance is not None}
    errors = [each.error for each in cases if each.error is not None]
    counts: dict[str, Any] = {
        key: sum(each.status == status for each in cases)
        for key, status in (("ok", OK), ("failed", FAILED), ("not_supported", NOT_SUPPORTED))
    }
    counts |= {"worst_nmse": max(errors)} if errors else {}
    return counts | {"tolerance": tolerances.pop() if len(tolerances) == 1 else UNKNOWN}


def rows_of(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Every case as a row: operator, parameters with shapes and types, what became of it, error and tolerance where told."""
    return [
        {
            key: value
            for key, value in {
                "operator": each.operator, "params": each.params, "status": each.status, "nmse": each.error,
                "tolerance": each.tolerance, "line": each.line, "not_finite": each.broken or None,
            }.items()
            if value is not None
        }
        for each in cases
    ]  # fmt: skip


def accumulations(cases: Sequence[Case]) -> set[str]:
    """The precisions of accumulation that the cases name."""
    found = set()
    for each in cases:
        words = dict(part.partition("=")[::2] for part in each.params.split(","))
        if "prec" in words:
            found.add(ACCUMULATION.get(words["prec"], UNKNOWN))
    return found
