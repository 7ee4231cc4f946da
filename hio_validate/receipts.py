"""Receipts out of result files, and quality receipts by what a person calls them: a document's name or a result file.

Invariants: a receipt is written once with the bytes that it was read from, and is compared only where they still give it;
no credential and no text of a request is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hio_validate import writing
from hio_validate.evidence.observed import Observation
from hio_validate.evidence.quality_receipts import Rows, UnreadableItemRows, read_item_rows
from hio_validate.importing.results import operator_receipt, quality_receipt
from hio_validate.importing.results.backend_ops import TEST_BACKEND_OPS
from hio_validate.importing.results.backend_ops_cases import cases
from hio_validate.importing.results.credentials_seen import secret_in
from hio_validate.importing.results.lm_eval import LM_EVAL
from hio_validate.importing.results.lm_eval_samples import LM_EVAL_SAMPLES, Scored, scored
from hio_validate.importing.results.objects import Skipped
from hio_validate.importing.results.quality_receipt import About
from hio_validate.importing.results.reading import reading
from hio_validate.importing.results.source import Source, of_bytes
from hio_validate.models import reader
from hio_validate.models.receipt import Quality
from hio_validate.recording import modeline
from hio_validate.repo import Item, Repo
from hio_validate.source.dump import Row, dump

SUFFIX = ".receipt"
"""Behind the name of a source that is kept, so that no reader of documents takes it for its own."""


class NoReceipt(Exception):
    """A word or a file that gives no receipt; says why. `code` is the exit code."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


class Wanted(NamedTuple):
    """Which of a file's numbers are meant; None: any."""

    task: str | None = None
    filter: str | None = None
    metric: str | None = None

    def matches(self, receipt: Mapping[str, Any] | Quality) -> bool:
        """Whether a receipt is one of them."""
        told = receipt if isinstance(receipt, Mapping) else receipt.__dict__
        return all(wanted in (None, told[key]) for key, wanted in self._asdict().items())


class Made(NamedTuple):
    """A receipt that can be written: its document, and the files beside it by name."""

    document: dict[str, Any]
    files: dict[str, bytes]


class Side(NamedTuple):
    """A quality receipt with its items, where they are known."""

    receipt: Quality
    rows: Rows | None
    label: str


def made_of(
    source: Source,
    samples: Source | None,
    service: str,
    stack: str | None,
    wanted: Wanted,
    accumulation: str | None,
) -> list[Made]:
    """The receipts of a result file. Raises NoReceipt and CannotImport."""
    raw = source.path.read_bytes() if source.size else b""
    kept = f"{quality_receipt.name_of(source.path.name)[:80]}-{hashlib.sha256(raw).hexdigest()[:12]}{SUFFIX}"
    about = About(service, stack, {})
    if LM_EVAL.recognises(source):
        about = about._replace(source=_kept(kept, raw, LM_EVAL.format))
        made = list(_of_harness(source, samples, about, wanted))
    elif TEST_BACKEND_OPS.recognises(source):
        about = about._replace(source=_kept(kept, raw, TEST_BACKEND_OPS.format))
        made = list(_of_operators(source, about, accumulation))
    else:
        raise NoReceipt(
            f"{source.file}: expected results of {LM_EVAL.format} or {TEST_BACKEND_OPS.format}", 1
        )
    _refuse_private(source)
    return [Made(each.document, {**each.files, kept: raw}) for each in made]


def _kept(name: str, raw: bytes, format_: str) -> dict[str, str]:
    return {"file": name, "sha256": hashlib.sha256(raw).hexdigest(), "format": format_}


def _refuse_private(source: Source) -> None:
    """Raises NoReceipt where the file holds a credential, or the harness's samples with their texts."""
    has_samples = False
    with source.open() as handle:
        for number, raw in enumerate(handle, 1):
            line = raw.decode("utf-8", "replace")
            has_samples = has_samples or '"samples"' in line
            found = secret_in(line)
            if found:
                raise NoReceipt(
                    f"{source.file}:{number}: {found} stands here; take it out of the file, and change it where it is used",
                    1,
                )
    if has_samples and LM_EVAL.recognises(source):
        raise NoReceipt(
            f"{source.file} holds the samples with their texts; record the results without them", 1
        )


def _of_harness(source: Source, samples: Source | None, about: About, wanted: Wanted) -> Iterator[Made]:
    items = _items(samples) if samples else []
    for record in _records(source):
        for document in quality_receipt.receipts_of(record, about):
            if wanted.matches(document):
                yield _with_rows(document, items)


def _records(source: Source) -> Iterator[Observation]:
    """The records of a result file, each sound. Raises CannotImport."""
    found = reading(source)
    if found is not None:
        yield from found.records()


def _items(samples: Source) -> list[Scored]:
    if not LM_EVAL_SAMPLES.recognises(samples):
        raise NoReceipt(f"{samples.file}: expected the samples of lm-eval, a line each with doc_id", 1)
    return list(scored(samples, Skipped(samples)))


def _with_rows(document: dict[str, Any], items: Sequence[Scored]) -> Made:
    """The receipt with its items; items that contradict its number are refused."""
    rows = quality_receipt.rows_of(items, document["filter"], document["metric"])
    if not rows:
        return Made(document, {})
    if document["n"] not in ("unknown", len(rows)):
        raise NoReceipt(
            f"{document['task']}: {document['n']} items by the results, {len(rows)} in the samples", 1
        )
    mean = sum(each["score"] for each in rows) / len(rows)
    if document["better"] == "higher" and abs(mean - document["value"]) > 1e-6:
        raise NoReceipt(
            f"{document['task']}: {document['metric']} is {document['value']:g} by the results, {mean:g} by the samples",
            1,
        )
    content = _lines(rows)
    name = f"{document['name']}.rows.jsonl"
    kept = {"file": name, "sha256": hashlib.sha256(content).hexdigest(), "count": len(rows)}
    return Made({**document, "n": len(rows), "rows": kept}, {name: content})


def _of_operators(source: Source, about: About, accumulation: str | None) -> Iterator[Made]:
    found = operator_receipt.by_backend(cases(source))
    if not found:
        raise NoReceipt(f"{source.file} has no computed case: nothing was tested", 3)
    for backend, of in found.items():
        said = operator_receipt.accumulations(of)
        chosen = accumulation or (said.pop() if len(said) == 1 else "unknown")
        content = _lines(operator_receipt.rows_of(of))
        document = operator_receipt.receipt_of(backend, of, about, {}, chosen)
        name = f"{document['name']}.cases.jsonl"
        kept = {"file": name, "sha256": hashlib.sha256(content).hexdigest(), "count": len(of)}
        yield Made({**document, "cases": kept}, {name: content})


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def content_of(made: Made, judged_by: Mapping[str, Any]) -> bytes:
    """The document's bytes."""
    head = f"{modeline('receipt', _file(made))}\nWritten by hio quality record; never edited."
    return dump(
        {**made.document, "source": Row(made.document["source"]), "judged_by": Row(judged_by)}, head=head
    )


def _file(made: Made) -> str:
    return f"manifests/services/{made.document['service']}/receipts/{made.document['name']}.yaml"


def write(made: Made, root: Path, judged_by: Mapping[str, Any]) -> str:
    """Write one receipt with its files; its path. Raises FileExistsError where a document or another file is there."""
    reader("receipt/v1").validate_python(made.document)
    file = _file(made)
    folder = (root / file).parent
    if (root / file).exists():
        raise FileExistsError(17, "it exists", file)
    for name, content in made.files.items():
        there = folder / name
        if not there.exists():
            writing.create(there, content)
        elif there.read_bytes() != content:
            raise FileExistsError(17, "it exists with other bytes", str(there))
    writing.create(root / file, content_of(made, judged_by))
    return file


def side(
    word: str, samples: Source | None, repository: Callable[[], Repo], service: str | None, wanted: Wanted
) -> Side:
    """The quality receipt that a word means: FILE, or the NAME of a receipt. Raises NoReceipt and CannotImport."""
    if not Path(word).is_file():
        return _of_document(word, repository(), service)
    source = Source(Path(word), word)
    of_file = made_of(source, samples, "none/none", None, wanted, None)
    made = [each for each in of_file if each.document["kind"] == "quality"]
    if len(made) != 1:
        known = ", ".join(
            f"{each.document['task']} {each.document['filter']} {each.document['metric']}" for each in made
        )
        if not made and wanted == Wanted():
            raise NoReceipt(f"{word} has no finite number, so nothing was measured", 3)
        raise NoReceipt(
            f"{word} has {len(made)} such numbers; say --task, --filter and --metric: {known or 'none matches'}"
        )
    receipt = reader("receipt/v1").validate_python(made[0].document)
    rows = made[0].files.get(receipt.rows.file) if receipt.rows else None
    return Side(receipt, read_item_rows(receipt, rows) if rows else None, word)


def _of_document(name: str, repo: Repo, service: str | None) -> Side:
    found = [each for each in repo.meant("receipt/v1", name, service) if each.model is not None]
    if len(found) > 1:
        raise NoReceipt(
            f"several receipts are called {name}: say {' or '.join(each.full_name for each in found)}"
        )
    if not found:
        raise NoReceipt(f"no file and no readable receipt is called {name}")
    item = found[0]
    if not isinstance(item.model, Quality):
        raise NoReceipt(f"{name} is a receipt of kind {item.model.kind}; the gate compares quality receipts")
    _reproduced(name, item, repo)
    rows = item.model.rows
    raw = repo.beside(item, rows.file) if rows else None
    if rows is None:
        return Side(item.model, None, name)
    if raw is None or repo.digest_beside(item, rows.file) != rows.sha256:
        raise NoReceipt(f"the items of {name}, {rows.file}, are missing or have other bytes", 3)
    try:
        return Side(item.model, read_item_rows(item.model, raw), name)
    except UnreadableItemRows as error:
        raise NoReceipt(f"{rows.file}:{error.line}: {error.message}", 3) from None


def _reproduced(name: str, item: Item, repo: Repo) -> None:
    """Raises NoReceipt where the bytes that a quality receipt was read from do not give it any more (contract 10.4)."""
    told: Quality = item.model
    raw = repo.beside(item, told.source.file)
    if raw is None or repo.digest_beside(item, told.source.file) != told.source.sha256:
        raise NoReceipt(
            f"the file that {name} was read from, {told.source.file}, is missing or has other bytes; restore it "
            "(git checkout), or record the results again", 3,
        )  # fmt: skip
    wanted = Wanted(told.task, told.filter, told.metric)
    with of_bytes(raw, told.source.file) as source:
        made = list(_of_harness(source, None, About("none/none", None, {}), wanted))
    again = [reader("receipt/v1").validate_python(each.document | {"source": _ANY}) for each in made]
    for key in _FROM_SOURCE if len(again) == 1 else ():
        if key == "group" and not told.group:
            continue  # a receipt may be older than the word
        if getattr(told, key) != (found := getattr(again[0], key)) and not (key == "n" and told.rows):
            raise NoReceipt(
                f"{item.file} says {key} {_worded(getattr(told, key))}, the file it was read from {_worded(found)}; restore "
                "the receipt (git checkout): it is never edited", 1,
            )  # fmt: skip
    if len(again) != 1:
        raise NoReceipt(f"{told.source.file} has no number of {told.task}, {told.filter}, {told.metric}", 1)


_FROM_SOURCE = (
    "value", "stderr", "n", "whole", "group", "limit", "better", "task_version", "few_shot", "seed", "harness", "dataset",
    "conditions",
)  # fmt: skip
_ANY = {"file": "source", "sha256": "0" * 64, "format": LM_EVAL.format}


def _worded(value: Any) -> str:
    """A value of a receipt in a sentence."""
    return f"{value:g}" if isinstance(value, float) else str(value)
