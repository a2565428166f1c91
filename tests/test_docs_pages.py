"""Each example of each page in docs/ runs."""

from pathlib import Path

import pytest

from test_docs import python_blocks

PAGES = sorted(path.name for path in (Path(__file__).parent.parent / "docs").glob("*.md"))
WITH_EXAMPLES = {"cutoffs.md", "labels.md", "normalization.md", "stages.md", "theory.md"}


def test_the_pages_that_show_code_are_known():
    assert {page for page in PAGES if python_blocks(f"docs/{page}")} == WITH_EXAMPLES


@pytest.mark.parametrize("page", sorted(WITH_EXAMPLES))
@pytest.mark.filterwarnings("ignore:All rows have")
def test_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, block in enumerate(python_blocks(f"docs/{page}")):
        exec(compile(block, f"{page}, block {number}", "exec"), names)
