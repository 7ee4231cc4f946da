"""A run as an in-toto Statement v1: its files as subjects, the verdict as predicate. Unsigned: who signs it is who says it.

Source: in-toto/attestation, spec/v1/statement.md (v1.1). The predicate is hio's own, in the spec's lowerCamelCase; what
is unknown is absent from it.
"""

from __future__ import annotations

from typing import Any

from hio_validate import __version__
from hio_validate.evidence import identity
from hio_validate.evidence.comparison import Comparison
from hio_validate.evidence.tiers import Verdict
from hio_validate.exporting.cannot import NotTheRecordedBytes
from hio_validate.exporting.told import best_in_words, tier_in_words
from hio_validate.repo import name_of
from hio_validate.rests_on import Kept, RestsOn

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "hio-validate:run-verdict/v1"
"""Names the predicate and its version; a changed meaning of a field is a new version."""
SCHEMA = "in-toto-statement-v1.json"


def statement(judged: Verdict, rests: RestsOn) -> dict[str, Any]:
    """The statement about a run. Raises NotTheRecordedBytes where bytes are not the recorded ones.

    `rests`: what the run rests on (rests_on.py).
    """
    if rests.broken:
        first = rests.broken[0]
        more = f", and {len(rests.broken) - 1} more" if len(rests.broken) > 1 else ""
        raise NotTheRecordedBytes(
            f"{first.file}:{first.line}: {first.sentence}{more}; a statement is about the recorded bytes: restore them"
        )
    folder = judged.run.file.rpartition("/")[0] + "/"
    own = [each for each in rests.files if each.file.startswith(folder)]
    others = [each for each in rests.files if not each.file.startswith(folder)]
    return {
        "_type": STATEMENT,
        "subject": [_file(each) for each in own],
        "predicateType": PREDICATE,
        "predicate": _predicate(judged, others),
    }


def _file(kept: Kept) -> dict[str, Any]:
    return {"name": kept.file, "digest": {"sha256": kept.sha256}}


def _pinned(pin: str) -> dict[str, Any]:
    return {"name": name_of(pin), "digest": {"sha256": pin.partition("@sha256:")[2]}}


def _known(told: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if value is not None}


def _predicate(judged: Verdict, others: list[Kept]) -> dict[str, Any]:
    case, model = judged.case, judged.case.model
    recorded = model.judged_by
    return _known({
        "run": _run(judged),
        "plan": _pinned(model.plan) if model.plan else None,
        "arms": [_arm(each, case.baseline) for each in identity.arms(case)],
        "host": _host(judged),
        "verdict": _verdict(judged),
        "recordedBy": {"hio": recorded.hio, "rules": recorded.rules} if recorded else None,
        "judgedBy": {"hio": __version__},
        "restsOn": [_file(each) for each in others],
    })  # fmt: skip


def _run(judged: Verdict) -> dict[str, Any]:
    model, plan = judged.case.model, judged.case.plan
    return _known({
        "name": judged.run.name, "service": model.service, "outcome": model.outcome, "stage": model.stage,
        "question": (plan.question if plan else None) or model.question,
        "startedOn": model.at, "finishedOn": model.ended, "imported": model.imported,
    })  # fmt: skip


def _arm(each: dict[str, Any], reference: str) -> dict[str, Any]:
    return {
        "name": each["arm"],
        "isReference": each["arm"] == reference,
        "stack": _pinned(each["stack"]),
        "set": each["set"],
        "captures": [_pinned(pin) for pin in each["captures"]],
        "unobservedLegs": each["unobserved"],
        "processes": [_process(process) for process in each["processes"]],
    }


def _process(process: dict[str, Any]) -> dict[str, Any]:
    """What a process ran, by hash; a file whose hash is unknown is not claimed."""
    files = {"executable": process["executable"], **process["artifacts"], **process["libraries"]}
    known = {name: digest for name, digest in files.items() if digest is not None}
    told = {key: process[key] for key in ("role", "family", "build")}
    return _known({**told, "sha256": known})


def _host(judged: Verdict) -> dict[str, Any] | None:
    found = identity.host_of(judged.case)
    names = {"memory_bytes": "memoryBytes"}
    return None if found is None else _known({names.get(key, key): value for key, value in found.items()})


def _verdict(judged: Verdict) -> dict[str, Any]:
    return _known({
        "tier": str(judged.tier),
        "result": str(judged.result),
        "metric": judged.metric.name if judged.metric else None,
        "inWords": f"{tier_in_words(judged)}. {best_in_words(judged)}.",
        "lacks": [{"reason": each.reason, "sentence": each.sentence} for each in judged.reasons],
        "comparisons": [_comparison(judged, each) for each in judged.comparisons],
    })  # fmt: skip


def _comparison(judged: Verdict, each: Comparison) -> dict[str, Any]:
    compared = each.measurable and each.same_work
    return _known({
        "metric": each.metric.name, "unit": each.metric.unit, "better": each.metric.better,
        "from": each.baseline, "to": each.candidate, "result": str(judged.result_of(each)),
        "values": {each.baseline: each.values[0], each.candidate: each.values[1]},
        "medians": list(each.medians) if each.measurable else None,
        "changePercent": each.change if compared else None,
        "p": each.test.p if compared else None,
        "noisePercent": each.noise.percent if compared and each.noise else None,
    })  # fmt: skip
