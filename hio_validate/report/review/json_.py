"""A review as JSON in a versioned shape (schemas/review-v1.schema.json). Never truncated.

Invariant: version 1 only ever gains optional fields; everything comes in a fixed order.
"""

from __future__ import annotations

from typing import Any

from hio_validate import __version__
from hio_validate.diagnostic import Severity
from hio_validate.report.json_ import dump
from hio_validate.review.changes import (
    Added,
    Exposure,
    Finding,
    MatrixChange,
    Review,
    ServiceReview,
    StackChange,
)

VERSION = 1


def render(review: Review) -> str:
    """One JSON object, indented."""
    return dump(as_shape(review))


def as_shape(review: Review) -> dict[str, Any]:
    """The review as data: the verdict first."""
    errors = [each for each in review.findings if each.severity is Severity.ERROR]
    return {
        "version": VERSION,
        "tool": {"name": "hio", "version": __version__},
        "base": review.base,
        "head": review.head,
        "basis": review.basis,
        "changed_files": review.changed,
        "verdict": {
            "merging": "blocked" if errors else "open",
            "deployment": "blocked" if review.blocks_deployment else "open",
            "exit_code": review.exit_code,
            "gates_asked_for": list(review.gates),
            "incomplete": list(review.incomplete),
        },
        "blocks": [_finding(each) for each in review.findings],
        "needs_approval": [
            {"service": service.service, **_exposure(each)}
            for service in review.services
            for each in service.needs_approval
        ],
        "resolved": [_finding(each) for each in review.resolved],
        "kept_quiet": [each._asdict() for each in review.quiet],
        "services": [_service(each) for each in review.services],
        "shared": [_added(each) for each in review.shared],
        "renamed": [each._asdict() for each in review.renamed],
        "unread": [each._asdict() for each in review.unread],
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "blocks": found.blocks,
        "new": found.new,
        "service": found.service,
        "document": found.document,
        "line": found.line,
        "reason": found.reason,
        "help": found.help,
    }


def _exposure(each: Exposure) -> dict[str, Any]:
    return {
        "stack": each.stack,
        "setting": each.setting,
        "from": each.from_,
        "to": each.to,
        "reason": each.reason,
        "approval": each.approval,
    }


def _service(each: ServiceReview) -> dict[str, Any]:
    return {
        "service": each.service,
        "how": str(each.how),
        "serving": {"before": each.serving[0], "after": each.serving[1]},
        "stacks": [_stack(change) for change in each.stacks],
        "changed_in_wording_only": list(each.worded),
        "exposures": [_exposure(exposure) for exposure in each.exposures],
        "matrices": [_matrix(change) for change in each.matrices],
        "entries": [_added(entry) for entry in each.entries],
        "records": [_added(record) for record in each.records],
        "statuses": [
            {
                "stack": status.stack,
                "before": status.before,
                "after": status.after,
                "why": status.why,
                "missing": list(status.missing),
            }
            for status in each.statuses
        ],
    }


def _stack(change: StackChange) -> dict[str, Any]:
    return {
        "stacks": list(change.stacks),
        "how": str(change.how),
        "was": change.was,
        "against": change.against,
        "because": change.because,
        "settings": [
            {
                "setting": each.setting,
                "group": str(each.group),
                "from": each.from_,
                "to": each.to,
                "from_origin": each.from_origin or None,
                "to_origin": each.to_origin or None,
                "visible_in_diff": not each.hidden,
                "moved_by": each.cause or None,
            }
            for each in change.settings
        ],
        "unlisted": dict(change.unlisted),
    }


def _matrix(change: MatrixChange) -> dict[str, Any]:
    return {
        "matrix": change.name,
        "how": str(change.how),
        "was": change.was,
        "parent": change.parent,
        "candidate": change.candidate,
        "preserved": change.preserved,
        "rows": [
            {
                "setting": row.setting,
                "before": row.before,
                "after": row.after,
                "values": row.values or None,
                "evidence": row.evidence._asdict() if row.evidence else None,
                "because": row.because or None,
            }
            for row in change.rows
        ],
        "others": list(change.others),
    }


def _added(each: Added) -> dict[str, Any]:
    return {"kind": each.kind, "name": each.name, "says": list(each.says), "because": each.because or None}
