"""The documentation site: it builds without a warning, with examples at a tiny size, and shows what it should."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ramodo

pytest.importorskip("material", reason="the documentation's packages are not installed: pip install --group docs")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
import hooks  # noqa: E402

EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built strictly: a warning, a link or an anchor that leads nowhere is an error."""
    target = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "RAMODO_TINY": "1", "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", target]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return target


def text_of(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


def test_every_page_of_the_project_is_on_it(site):
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} | {"index", "contributing", "changelog"}
    assert {path.stem for path in site.glob("*.html")} == pages | {"404"}


def test_it_asks_for_nothing_from_elsewhere(site):
    """No script, style, font or picture of another host; links are for people."""
    for page in site.rglob("*.html"):
        wanted = re.findall(r'<(?:script|img|link)\b[^>]*(?:src|href)="(\w+:)?//', page.read_text(encoding="utf-8"))
        assert wanted == [], page.name
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:", style.read_text(encoding="utf-8")), style.name


def test_search_knows_the_pages(site):
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")  # a script: it opens from a folder
    entries = json.loads(re.search(r"\{.*\}", index, flags=re.DOTALL)[0])["docs"]
    places = {entry["location"].partition("#")[0] for entry in entries}
    assert {"labels.html", "theory.html", "gallery/log.html", "api/detectors.html"} <= places
    assert any("Cantelli" in entry["text"] for entry in entries)
    for page in site.rglob("*.html"):
        if page.name != "404.html":
            (worker,) = re.findall(r'<script src="([./]*worker\.js)">', page.read_text(encoding="utf-8"))
            assert (page.parent / worker).resolve() == site / "worker.js"


def test_equations_are_drawn_and_code_stands_beside(site):
    page = (site / "theory.html").read_text(encoding="utf-8")
    assert page.count('display="block"') == 7
    assert "```" not in page
    assert "$`" not in page
    assert "def cantelli_cutoff" in text_of(site / "theory.html")
    assert "void adadelta_step" in text_of(site / "theory.html")


def test_code_that_a_page_names_is_there():
    named = re.findall(r"\[`([\w.]+)`\]\(\.\./([\w./]+)\)", (ROOT / "docs" / "theory.md").read_text(encoding="utf-8"))
    assert len(named) == 12
    for name, path in named:
        assert name.rpartition(".")[2] in hooks.source(path, name)
    for path in ("src/ramodo/bounds.py", "native/inner_loops_isa.cpp"):
        with pytest.raises(LookupError, match="has no nonsense"):
            hooks.source(path, "nonsense")


def test_the_gallery_shows_what_ran(site):
    assert sorted(hooks.EXAMPLES) == EXAMPLES
    index = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    for name in EXAMPLES:
        assert re.search(rf'<a class="card" href="{name}.html"><img [^>]*src="{name}.png"', index)
        assert (site / "gallery" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"examples/{name}.py" in text_of(site / "gallery" / f"{name}.html")
    assert "the same bits as in one process" in text_of(site / "gallery" / "cluster.html")
    assert re.search(r"1\d of the highest 20 lines are attacks", text_of(site / "gallery" / "log.html"))
    assert "planted: [7, 21, 148]" in text_of(site / "gallery" / "genes.html")


def test_every_public_name_is_in_the_reference(site):
    shown = {name.rpartition(".")[2] for _, names in hooks.API.values() for name in names.split()}
    assert set(ramodo.__all__) - {"__version__"} <= shown
    text = text_of(site / "api" / "detectors.html")
    assert "samples_per_epoch" in text
    assert "Triplets drawn per epoch" in text
    assert "score_one" in text


def test_docstrings_are_static():
    """Tools read them without running anything."""
    for path in (ROOT / "src").rglob("*.py"):
        assert not re.search(
            r'^\s*[rRbB]?[fF][rR]?"""|__doc__ *\+?=[^=]', path.read_text(encoding="utf-8"), re.MULTILINE
        ), path


def test_a_link_to_nothing_is_an_error(tmp_path):
    """The settings are strict: a page of its own, with the project's rules for links."""
    rules = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("validation:\n")[1].split("\n\n")[0]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A\n\n[b](#nowhere)\n")
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nstrict: true\nvalidation:\n{rules}\n")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "nowhere" in done.stderr
