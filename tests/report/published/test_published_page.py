"""Every kind of subject that can be reported has a page, and its shape has what each page begins with."""

from __future__ import annotations

from pathlib import Path

from hio_validate.cli.report import SHAPES
from hio_validate.report.published.page import HEAD, PAGES, render
from hio_validate.rules.optimality_words import RULE
from tests.evidence.campaigned import FASTER, Campaigned


def test_every_reported_kind_has_a_page_and_the_keys_it_begins_with(tmp_path: Path) -> None:
    assert set(SHAPES) == set(PAGES)
    made = Campaigned(tmp_path, {"two": ("2", "short")})
    made.run("two", FASTER)
    repo = made.experiment.repo
    for kind, shape_of in SHAPES.items():
        for item in repo.of(kind):
            shape = shape_of(repo, item, False, lambda _: True)
            assert set(HEAD) <= set(shape) and shape["subject"]["kind"] == kind
            page = render(shape)
            assert page.startswith(f"# lab/tiny/{item.name}: {shape['result']}, {shape['tier']}\n\n")
            assert "None" not in page
            lowered = page.lower()
            assert "optimal" not in lowered and "fastest" not in lowered, RULE.summary
            assert all("measured" in line for line in lowered.split("\n\n") if "best of" in line)
