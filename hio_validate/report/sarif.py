"""The report as SARIF 2.1.0, for code scanning and editors.

Invariant: the fingerprint of a finding depends on rule, file and message only, so that a finding that
merely moved to another line stays the same finding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

from hio_validate import __version__
from hio_validate.diagnostic import Diagnostic, Location, Report, Severity
from hio_validate.report.described_rule import DescribedRule
from hio_validate.report.json_ import dump
from hio_validate.report.order import in_order, suppressed_in_order
from hio_validate.report.summary import why_incomplete

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = {Severity.ERROR: "error", Severity.GATE: "warning", Severity.NOTE: "note"}


def render(report: Report, *, rules: Sequence[DescribedRule] = ()) -> str:
    """One SARIF log with one run; `rules` are those that ran, found something or not."""
    described = _rules(report, rules)
    run = {
        "tool": {"driver": {"name": "hio", "version": __version__, "rules": list(described.values())}},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": _results(report, list(described)),
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rules(report: Report, rules: Sequence[DescribedRule]) -> dict[str, dict[str, object]]:
    """The rules by id, with those that only a finding names (e.g. internal-error) at the end."""
    described = {rule.id: _rule(rule.id, rule.severity, rule.summary) for rule in rules}
    found = [*report.diagnostics, *(one.diagnostic for one in report.suppressed)]
    for one in in_order(found):
        described.setdefault(one.rule, _rule(one.rule, one.severity, ""))
    return described


def _rule(rule: str, severity: Severity, summary: str) -> dict[str, object]:
    return {
        "id": rule,
        **({"shortDescription": {"text": summary}} if summary else {}),
        "help": {"text": f"hio explain {rule}"},
        "defaultConfiguration": {"level": _LEVEL[severity]},
    }


def _invocation(report: Report) -> dict[str, object]:
    """How the run went: a check that could not be made must not look like one without a finding."""
    incomplete = why_incomplete(report)
    texts = ([incomplete] if incomplete else []) + sorted(report.unreadable)
    return {
        "executionSuccessful": not incomplete,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [{"level": "error", "message": {"text": text}} for text in texts],
    }


def _results(report: Report, rule_ids: list[str]) -> list[dict[str, object]]:
    index = {rule: number for number, rule in enumerate(rule_ids)}
    results = [_result(found, index[found.rule]) for found in in_order(report.diagnostics)]
    if not report.suppressed:
        return results
    # SARIF 3.27.23: where one result tells of suppressions, all do; an empty list says "not suppressed".
    for result in results:
        result["suppressions"] = []
    for one in suppressed_in_order(report.suppressed):
        result = _result(one.diagnostic, index[one.diagnostic.rule])
        result["suppressions"] = [{"kind": "inSource", "justification": one.reason}]
        results.append(result)
    return results


def _result(found: Diagnostic, rule_index: int) -> dict[str, object]:
    text = f"{found.message}\nhelp: {found.help}" if found.help else found.message
    related = [
        {"id": number, "message": {"text": other.message}, "physicalLocation": _place(other.location)}
        for number, other in enumerate(found.related, start=1)
    ]
    return {
        "ruleId": found.rule,
        "ruleIndex": rule_index,
        "level": _LEVEL[found.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": _place(found.location)}],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"hioFinding/v1": _fingerprint(found)},
        "properties": {"severity": found.severity.value},
    }


def _place(at: Location) -> dict[str, object]:
    artifact = {"uri": _uri(at.file), "uriBaseId": "%SRCROOT%"}
    if not at.line:
        return {"artifactLocation": artifact}
    region = {"startLine": at.line, **({"startColumn": at.column} if at.column else {})}
    return {"artifactLocation": artifact, "region": region}


def _uri(path: str) -> str:
    return quote(path, safe="/", errors="surrogatepass")


def _fingerprint(found: Diagnostic) -> str:
    identity = "\0".join((found.rule, found.location.file, found.message))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
