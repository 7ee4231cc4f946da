"""Reports that the tests of every format print: one written by hand, and any at all (hypothesis)."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st

from hio_validate.diagnostic import Audited, Diagnostic, Location, Related, Report, Severity, Suppressed

relaxed = settings(deadline=None, max_examples=80)
"""No deadline: schema validation on a busy machine is slow, not wrong."""


@dataclass(frozen=True)
class RuleSample:
    id: str
    severity: Severity
    summary: str


RULES = (
    RuleSample("value-mismatch", Severity.ERROR, "A value differs from what is computed."),
    RuleSample("undecided-retest", Severity.GATE, "A row still waits for its measurement."),
    RuleSample("never-fires", Severity.NOTE, "Ran and found nothing."),
)

MATRIX = "matrix/lab/threads-2.yaml"
STACK = "manifests/services/lab/gemma-270m/stacks/base.yaml"

ERROR = Diagnostic(
    rule="value-mismatch",
    severity=Severity.ERROR,
    message="the row says server.threads goes from 3: expected 4, as the parent stack base sets it, got 3",
    location=Location(MATRIX, 12, 5),
    help="write `from: 4`, or name the parent that the candidate was really made from",
    related=(Related("server.threads is set here", Location(STACK, 8, 7)),),
    source_line="    from: 3",
)
GATE = Diagnostic(
    rule="undecided-retest",
    severity=Severity.GATE,
    message="server.threads was measured at another context size: expected 8192 tokens, got 4096 tokens",
    location=Location(MATRIX, 20, 3),
    source_line="  - factor: server.threads",
)
NOTE = Diagnostic("newer-rule", Severity.NOTE, "judged by 30 rules, this hio has 34", Location(STACK))
QUIET = Suppressed(
    Diagnostic("wide-exposure", Severity.ERROR, "listens on 0.0.0.0", Location(STACK, 3, 1)),
    "lab network, no route out",
)
MIXED = Report((GATE, NOTE, ERROR), suppressed=(QUIET,), documents=12, rules=34)
CLEAN = Report((), documents=12, rules=34)
AUDITED = CLEAN._replace(
    audited=Audited(head="0123456789" * 4, since=None, commits=7, entries=1, files=9, anchors=2, decisions=3, signed=2,
                    uncommitted=1)
)  # fmt: skip
NOTHING = Report((), documents=0, rules=34)
UNREADABLE = Report((), documents=1, rules=34, unreadable=("matrix/a.yaml: Permission denied",))

nasty_texts = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x00\x07\x1b\x7f\x9b\r\n\t |`<>&%:,;[]()#@*_\\\"'\u202e\u200b\u2028\ufeff\uffff\ud800\udcff"
        ),
        st.sampled_from("aé世界ｆ\u0301\u20dd👩🏽"),
    ),
    max_size=60,
)
rule_ids = st.one_of(st.sampled_from([rule.id for rule in RULES]), st.just("internal-error"), nasty_texts)
locations = st.builds(
    Location,
    file=st.one_of(st.sampled_from([MATRIX, STACK]), nasty_texts),
    line=st.integers(0, 3000),
    column=st.integers(0, 90),
)
diagnostics = st.builds(
    Diagnostic,
    rule=rule_ids,
    severity=st.sampled_from(Severity),
    message=nasty_texts,
    location=locations,
    help=nasty_texts,
    related=st.lists(st.builds(Related, nasty_texts, locations), max_size=2).map(tuple),
    source_line=nasty_texts,
)
counts = st.integers(0, 3)
audits = st.builds(
    Audited,
    head=nasty_texts,
    since=st.none() | nasty_texts,
    commits=counts,
    entries=counts,
    files=counts,
    anchors=counts,
    decisions=st.none() | counts,
    signed=st.none() | counts,
    uncommitted=counts,
)
reports = st.builds(
    Report,
    audited=st.none() | audits,
    diagnostics=st.lists(diagnostics, max_size=4).map(tuple),
    suppressed=st.lists(st.builds(Suppressed, diagnostics, nasty_texts), max_size=2).map(tuple),
    documents=st.integers(0, 3),
    rules=st.integers(0, 3),
    gates=st.sampled_from([(), ("deploy",), ("tested", "accepted")]),
    unreadable=st.lists(nasty_texts, max_size=2).map(tuple),
)
