"""The report as JUnit XML: one test suite per file, one test case per finding.

Invariant: always well-formed XML 1.0 with at least one test case, and a failed or broken test case exactly
where the exit code is not 0.
"""

from __future__ import annotations

from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hio_validate.diagnostic import Diagnostic, Report, Severity, Suppressed
from hio_validate.report.details import details
from hio_validate.report.order import in_order, suppressed_in_order
from hio_validate.report.summary import blocks, summary_line, why_incomplete
from hio_validate.report.visible import visible


def render(report: Report) -> str:
    """One document; CI systems show errors as failures, and gates too where they were asked for."""
    root = Element("testsuites", name="hio")
    listed = [_finding(report, found) for found in in_order(report.diagnostics)]
    listed += [_suppressed(one) for one in suppressed_in_order(report.suppressed)]
    listed.sort(key=lambda case: case.get("classname", ""))
    for file, cases in groupby(listed, key=lambda case: case.get("classname", "")):
        SubElement(root, "testsuite", name=file).extend(cases)
    run = _run(report)
    if run is not None or not listed:
        suite = SubElement(root, "testsuite", name="hio")
        suite.append(_case("hio", summary_line(report)) if run is None else run)
    for element in (*root, root):
        _count(element)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _case(file: str, name: str) -> Element:
    return Element("testcase", classname=file, name=name)


def _case_of(found: Diagnostic) -> Element:
    at = found.location
    place = f" ({at.line}:{at.column})" if at.line else ""
    return _case(visible(at.file), visible(found.rule) + place)


def _finding(report: Report, found: Diagnostic) -> Element:
    case = _case_of(found)
    message = f"{found.severity}: {visible(found.message)}"
    if blocks(report, found):
        SubElement(case, "failure", message=message, type=visible(found.rule)).text = _details(found)
    elif found.severity is Severity.GATE:
        SubElement(case, "skipped", message=message)
        SubElement(case, "system-out").text = _details(found)
    else:
        SubElement(case, "system-out").text = _details(found)
    return case


def _suppressed(one: Suppressed) -> Element:
    found = one.diagnostic
    case = _case_of(found)
    SubElement(case, "skipped", message=f"suppressed: {visible(one.reason)}")
    SubElement(case, "system-out").text = _details(found)
    return case


def _run(report: Report) -> Element | None:
    """A broken test case for a check that is not complete (exit 3), else None."""
    incomplete = why_incomplete(report)
    if not incomplete:
        return None
    case = _case("hio", "check is complete")
    error = SubElement(case, "error", message=incomplete, type="exit 3")
    error.text = "\n".join([summary_line(report), *(visible(file) for file in sorted(report.unreadable))])
    return case


def _details(found: Diagnostic) -> str:
    return "\n".join([f"{visible(str(found.location))}: {found.severity}", *details(found)])


def _count(element: Element) -> None:
    """Writes the totals that CI systems show before they open a suite."""
    for total, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        element.set(total, str(sum(1 for _ in element.iter(tag))))
    element.set("skipped", str(sum(1 for _ in element.iter("skipped"))))
