"""Writes docs/rules/<id>.md from each rule's docstring and its smallest cases; --check only compares.

A rule's docstring: first line = what; paragraphs = why; the last paragraph begins with "How to fix:".
The cases shown are tests/rules/<id>/fail-smallest and pass-smallest.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hio_validate import engine  # noqa: E402
from hio_validate.diagnostic import Diagnostic  # noqa: E402
from hio_validate.history import Folder  # noqa: E402
from hio_validate.repo import load  # noqa: E402
from hio_validate.rules import RULES  # noqa: E402
from hio_validate.rules.base import Rule, Scope  # noqa: E402
from tests.rules.cases import BaseFolder  # noqa: E402

_WEIGHTS = {
    "error": "error: blocks a commit",
    "gate": "gate: shown, and blocks only with `--gate`",
    "note": "note: worth knowing",
}


def page(rule: Rule) -> str:
    """The Markdown page of one rule."""
    what, why, how = _parts(rule)
    weight = "error: `hio audit` exits 1" if rule.scope is Scope.HISTORY else _WEIGHTS[rule.severity]
    facts = [weight, f"since rule set {rule.since}"]
    facts += [f"[contract](../contract.md) {', '.join(rule.contract)}"] if rule.contract else []
    facts += [] if rule.suppressible else ["cannot be suppressed"]
    parts = [
        f"# {rule.id}",
        "; ".join(facts) + ".",
        f"## What\n\n{what}",
        f"## Why\n\n{why}",
        f"## How to fix\n\n{how}",
    ]
    cases = ROOT / "tests" / "rules" / rule.id
    if (cases / "fail-smallest").exists():
        parts.append(f"## It fails here\n\n{_failing(cases / 'fail-smallest', rule)}")
        parts.append(f"## It passes here\n\n{_passing(cases)}")
    return "\n\n".join(parts) + "\n"


def _parts(rule: Rule) -> tuple[str, str, str]:
    module = sys.modules[rule.check.__module__]
    text = inspect.cleandoc(module.__doc__ or "")
    what, _, rest = text.partition("\n\n")
    why, found, how = rest.partition("How to fix:")
    if not (why.strip() and found and how.strip()):
        raise SystemExit(f"{rule.id}: its docstring needs what, why and a paragraph 'How to fix:'")
    return what.replace("\n", " "), why.strip(), _capitalised(how.strip().replace("\n", " "))


def _capitalised(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _failing(case: Path, rule: Rule) -> str:
    mine = [found for found in _findings(case) if found.rule == rule.id]
    said = "\n".join(f"{found.location}: {found.severity}: {found.message}" for found in mine)
    files = dict.fromkeys([mine[0].location.file, *_changed(case)])
    return "\n\n".join([*(_file(case, file) for file in files), f"```text\n{said}\n```"])


def _passing(cases: Path) -> str:
    """The files that are put right, as they are then."""
    passing = cases / "pass-smallest"
    shown = [_file(passing, file) for file in _changed(cases / "fail-smallest") if (passing / file).exists()]
    return "\n\n".join(shown) or "Nothing of that name is there any more, and nothing relies on it."


def _findings(case: Path) -> tuple[Diagnostic, ...]:
    before = case / "before"
    return engine.run(load(Folder(case)), BaseFolder(before) if before.exists() else None).diagnostics


def _changed(failing: Path) -> list[str]:
    """The files in which the smallest failing and passing case differ."""
    passing = failing.parent / "pass-smallest"
    files = sorted(
        {
            path.relative_to(root).as_posix()
            for root in (failing, passing)
            for path in root.rglob("*")
            if path.is_file()
        }
    )
    kept = [file for file in files if file != "expect.txt" and not file.startswith("before/")]
    return [file for file in kept if _bytes(failing / file) != _bytes(passing / file)]


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _file(case: Path, file: str) -> str:
    if not (case / file).exists():
        return f"`{file}` is not there."
    text = (case / file).read_bytes().decode("utf-8", errors="backslashreplace").replace("\r", "\\r")
    language = "yaml" if file.endswith((".yaml", ".yml")) else "text"
    return f"`{file}`\n\n```{language}\n{text.rstrip()}\n```"


def index() -> str:
    """The list of all rules."""
    rows = [f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.summary} |" for rule in RULES]
    return "# Rules\n\n| Rule | Weighs | What it finds |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def main() -> int:
    """Write the pages, or compare them; exit 1 where one is stale."""
    wanted = {f"{rule.id}.md": page(rule) for rule in RULES} | {"README.md": index()}
    folder = ROOT / "docs" / "rules"
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    stale = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if "--check" in sys.argv:
        print(
            f"docs/rules: {', '.join(stale)} not up to date; run python docs/pages.py"
            if stale
            else f"docs/rules: {len(wanted)} pages, all up to date"
        )
        return int(bool(stale))
    for name in stale:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    print(f"docs/rules: {len(stale)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
