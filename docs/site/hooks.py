"""What the site has beside docs/*.md: README.md as its start, the gallery, the API, equations, and code beside them.

MkDocs calls the functions `on_...`; mkdocs.yml names this file. With RAMODO_TINY set the examples of the gallery run at
a size that shows their working alone.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]

EXAMPLES = ("log", "documents", "genes", "labelling", "cluster")

API = {
    "detectors": (
        "Detectors",
        "consensus.Consensus repen.REPEN framework.RAMODO neighbors.KthNeighborREPEN neighbors.AverageNeighborREPEN "
        "pyod.PyODDetector",
    ),
    "distances": (
        "Plain distances",
        "stages.scoring.Sp stages.scoring.KthNN stages.scoring.AverageNN stages.ensembles.Ensemble",
    ),
    "stages": (
        "Cut-offs and stages",
        "stages.thresholding.Cantelli stages.thresholding.TopFraction stages.thresholding.TopK "
        "stages.thresholding.GivenSet stages.conformal.Conformal stages.chance.AboveChance "
        "stages.protocols.Cutoff stages.protocols.Candidates "
        "stages.triplets.TripletSampler stages.layers.Layers stages.ranking_loss.RankingHinge",
    ),
    "models": (
        "Models and data",
        "model.file.saving.load serving.saved_model.SavedModel engines.dataset.open_dataset formats.read "
        "formats.table.Table table_reader.TableReader datasets.generated.make_ultrahigh "
        "datasets.access_log.make_access_log datasets.documents.make_documents paper.datasets.loading.load_dataset",
    ),
    "bounds": ("Bounds and plots", "bounds plots"),
}
"""Pages of the reference, and what is on them."""


_SHIM = r'<script src="[^"]*iframe-worker/shim"></script>'


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made."""
    made = {"index.md": _of_root("README.md"), "contributing.md": _of_root("CONTRIBUTING.md")}
    made |= {"changelog.md": _of_root("CHANGELOG.md"), "gallery/index.md": _gallery_index()}
    for page, (title, names) in API.items():
        # What a class inherits is shown where it is the first of its kind, not ten times.
        made[f"api/{page}.md"] = f"# {title}\n\n" + "\n".join(map(_reference, names.split()))
    for uri, content in made.items():
        files.append(File.generated(config, uri, content=content))
    worker = (ROOT / "docs" / "site" / "worker.js").read_text(encoding="utf-8")
    files.append(File.generated(config, "worker.js", content=worker))
    with ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(_run, EXAMPLES))
    for name, (said, picture) in zip(EXAMPLES, ran, strict=True):
        files.append(File.generated(config, f"gallery/{name}.md", content=_gallery_page(name, said)))
        files.append(File.generated(config, f"gallery/{name}.png", content=picture))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Equations as MathML, which browsers draw by themselves; and code where a page names it."""
    for replace in (_links_to_root, _equations, _code):
        markdown = replace(markdown)
    return markdown


def on_post_page(output: str, page: Any, config: Any) -> str:
    """A script of ours in place of one that would be fetched: the site works without a network."""
    found, made = re.subn(_SHIM, _script(page.url), output)
    if made != 1:
        raise LookupError(f"{page.url}: the theme asks for its shim {made} times; expected: once")
    return found


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """The page for addresses that are none needs no search."""
    return re.sub(_SHIM, "", output_content)


def _script(url: str) -> str:
    return f'<script src="{"../" * url.count("/")}worker.js"></script>'


def _of_root(name: str) -> str:
    """A page of the project's folder, its links as the site has them."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"\(docs/([\w./#-]+)\)", r"(\1)", text)


def _links_to_root(markdown: str) -> str:
    pages = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
    for name, uri in pages.items():
        markdown = re.sub(rf"\]\((?:\.\./)?{re.escape(name)}", f"]({uri}", markdown)
    # What the site does not show is named, and not linked.
    return re.sub(r"\[([^\]]+)\]\((?:LICENSE|numbers\.toml|(?:licenses|examples)/[^)]*)\)", r"\1", markdown)


# ---- equations and code ------------------------------------------------------------------------------------------


def _equations(markdown: str) -> str:
    """Fenced blocks of the language math, and `$`...`$` in lines, as code hosts write them."""
    markdown = re.sub(r"```math\n(.*?)```", lambda m: f"{_mathml(m[1], 'block')}\n", markdown, flags=re.DOTALL)
    return re.sub(r"\$`([^`]+)`\$", lambda m: _mathml(m[1], "inline"), markdown)


def _mathml(latex: str, display: str) -> str:
    return convert(" ".join(latex.split()), display=display)


def _code(markdown: str) -> str:
    """After a line `Code: [name](../file)`, what it names."""
    return re.sub(r"^Code: (.*)$", lambda line: "\n\n".join(_blocks(line[1])), markdown, flags=re.MULTILINE)


def _blocks(links: str) -> list[str]:
    found = re.findall(r"\[`([\w.]+)`\]\(\.\./([\w./]+)\)", links)
    return [f'```{_language(path)} title="{path}"\n{source(path, name)}\n```' for name, path in found]


def _language(path: str) -> str:
    return "python" if path.endswith(".py") else "cpp"


def source(path: str, name: str) -> str:
    """A function or method, as the file has it; raises `LookupError` where it is not there."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found = (_of_python if path.endswith(".py") else _of_cpp)(text, name)
    if found is None:
        raise LookupError(f"{path} has no {name}")
    return found


def _of_python(text: str, name: str) -> str | None:
    nodes: list[Any] = ast.parse(text).body
    for part in name.split("."):
        node = next((n for n in nodes if getattr(n, "name", None) == part), None)
        if node is None:
            return None
        nodes = getattr(node, "body", [])
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return "\n".join(line[node.col_offset :] for line in lines)


def _of_cpp(text: str, name: str) -> str | None:
    found = re.search(
        rf"^(?:template [^\n]*\n)?[^\n;#/]*\b{name}\([^;]*?\) \{{\n.*?^\}}", text, re.DOTALL | re.MULTILINE
    )
    return found[0] if found else None


# ---- reference and gallery ---------------------------------------------------------------------------------------


def _reference(name: str) -> str:
    inherited = {"consensus.Consensus": "true", "stages.scoring.Sp": "true"}.get(name, "false")
    return f"::: ramodo.{name}\n    options:\n      inherited_members: {inherited}\n"


def _gallery_index() -> str:
    titles = {name: _head(name)[0].rstrip(".") for name in EXAMPLES}
    cards = [f"[![{title}]({name}.png) {title}]({name}.md){{ .card }}" for name, title in titles.items()]
    about = "Scripts of the folder `examples`, with what they print and draw. They ran as this site was built."
    return "\n".join(["# Gallery", "", about, "", *cards, ""])


def _head(name: str) -> tuple[str, str, str]:
    """Title, text and code of an example."""
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    title, _, rest = docstring.partition("\n\n")
    return title, rest, text.split('"""', 2)[2].lstrip("\n")


def _gallery_page(name: str, said: str) -> str:
    title, rest, code = _head(name)
    return (
        f"# {title.rstrip('.')}\n\n{rest}\n\n![{escape(title)}]({name}.png)\n\n"
        f"It prints:\n\n```text\n{said.rstrip()}\n```\n\n"
        f'```python title="examples/{name}.py"\n{code.rstrip()}\n```\n'
    )


def _run(name: str) -> tuple[str, bytes]:
    """What an example prints, and its picture."""
    script, picture = ROOT / "examples" / f"{name}.py", ROOT / "build" / f"gallery-{os.getpid()}-{name}.png"
    picture.parent.mkdir(exist_ok=True)
    environment = {**os.environ, "MPLBACKEND": "agg"}
    try:
        done = subprocess.run([sys.executable, script, picture], capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError(f"{script.name} failed:\n{done.stderr}")
        return done.stdout, picture.read_bytes()
    finally:
        picture.unlink(missing_ok=True)
