"""GuideLLM's report as YAML (GenerativeBenchmarksReport.save_file): the same report, without the rows of its requests.

A file that was cut is valid YAML wherever a line ends; that it is whole follows from its keys, which yaml.dump sorts.

Invariant: the rows are cut out as text before anything is parsed. They are most of the file, and hold what people asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hio_validate.importing.results.delimited import CUT, is_cut
from hio_validate.importing.results.source import Source
from hio_validate.source.fault import Malformed
from hio_validate.source.foreign import Node, documents

_ROWS = re.compile(r"^( *)(?:- )?requests:\s*$")
_STATUS = re.compile(r"^ *(?:errored|incomplete|successful|total):")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LARGEST = 8 << 20
"""Characters without the rows; a report of a hundred benchmarks has a fifth of it."""


def is_one(head: str) -> bool:
    return bool(
        re.search(r"(?m)^benchmarks:", head)
        and re.search(r"(?m)^\s*(?:- )?(?:guidellm_version|type_: generative_benchmark|\w+_ms:)", head)
    ) or bool(re.search(r"(?m)^\s*guidellm_version:", head))


def report(source: Source) -> Any:
    """The report as JSON would hold it. Raises CannotImport."""
    text = "\n".join(_without_rows(source))
    if len(text) > _LARGEST:
        raise source.refuse(
            f"it has more than {_LARGEST >> 20} MiB of YAML beside its requests",
            "let guidellm write JSON, which is read faster",
        )
    try:
        (document,) = documents(text)
    except Malformed as error:
        raise source.refuse(
            " ".join(error.fault.message.split()),
            error.fault.help or "import the file as guidellm wrote it",
            error.fault.line,
        ) from None
    except ValueError:
        raise source.refuse("expected one YAML document", "import one report at a time") from None
    if is_cut(source):
        help = "import the file as guidellm wrote it"
        raise source.refuse(f"{CUT[0].lower()}{CUT[1:]}", help, 1 + text.count("\n"))
    told = _plain(document)
    benchmarks = told.get("benchmarks") if isinstance(told, dict) else None
    if isinstance(benchmarks, list) and benchmarks and _is_half(benchmarks[-1]):
        what = "the last benchmark is cut off: it has no type_, which ends each of them"
        raise source.refuse(what, "import the file as guidellm wrote it", 1 + text.count("\n"))
    return told


def _is_half(benchmark: Any) -> bool:
    """Whether a benchmark ends too early: its keys are sorted, and type_ is the last that every version has."""
    return not isinstance(benchmark, dict) or "type_" not in benchmark


def _without_rows(source: Source) -> Iterator[str]:
    """Every line by its number; blank where a row of a request stood."""
    at, skipped, waiting = 1, -1, ""
    for number, line in source.lines():
        yield from [""] * (number - at)
        at = number + 1
        indent = len(line) - len(line.lstrip(" "))
        if skipped >= 0 and (indent > skipped or (indent == skipped and line.lstrip().startswith("- "))):
            yield ""
            continue
        skipped = -1
        if waiting and _STATUS.match(line):
            skipped = len(waiting) - len(waiting.lstrip(" "))
            skipped += 2 if waiting.lstrip().startswith("- ") else 0
            waiting = ""
            yield ""
            continue
        waiting = line if _ROWS.match(line) else ""
        yield line


def _plain(node: Node) -> Any:
    if node.entries is not None:
        return {key: _plain(value) for key, value in node.entries.items()}
    if node.items is not None:
        return [_plain(each) for each in node.items]
    text = node.text
    if text is None or not node.plain:
        return text
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text) and len(text) < 40:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    return {".inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}.get(text, text)
