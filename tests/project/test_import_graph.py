"""The plan of the house as the imports show it: a stage imports no other stage, and packages build on those below."""

import ast
from pathlib import Path

import pytest

import ramodo

ROOT = Path(ramodo.__file__).parent

STAGES = ("scoring", "ensembles", "thresholding", "conformal", "triplets", "layers", "ranking_loss", "adadelta")

FLOORS = [
    ("constraints",),
    ("options", "bounds", "threads", "extras", "thread_map", "files", "terminal", "web"),
    ("kernels",),
    ("data",),
    ("model",),
    ("formats",),
    ("detector",),
    ("stages",),
    ("fitting",),
    ("engines",),
    ("explain", "insight"),
    ("model.file",),
    ("framework", "table_reader"),
    ("repen",),
    ("consensus", "neighbors"),
    ("plots", "pyod", "report", "serving", "datasets", "demo"),
    ("triage",),
    ("cli",),
    ("paper",),
]
"""From the ground up; a module may import what is on its own floor or below."""


def _modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, path, parts


def _imported(name, path, parts):
    """Modules of the package that a module imports when it is imported; not those that functions import, or types."""
    package = parts[:-1]
    for node in _run_at_import(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            target = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{target}.{alias.name}" if target else alias.name
                yield inner if inner in KNOWN else target


def _run_at_import(tree):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _run_at_import(node)


def _floor_of(module):
    for height, floor in enumerate(FLOORS):
        for name in sorted(floor, key=len, reverse=True):
            if module == name or module.startswith(f"{name}."):
                if name == "model" and module.startswith("model.file"):
                    continue
                return height
    return None


KNOWN = {module for module, _, _ in _modules()}
MODULES = [module for module in _modules() if module[0] not in ("", "__main__")]


def test_each_module_has_a_floor():
    assert [name for name, _, _ in MODULES if _floor_of(name) is None] == []  # name it in FLOORS


def test_modules_build_on_what_is_below():
    imports = [(name, other) for name, path, parts in MODULES for other in _imported(name, path, parts) if other]
    assert len(imports) > 300
    assert [(name, other) for name, other in imports if _floor_of(other) > _floor_of(name)] == []


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_imports_no_other_stage(stage):
    path = ROOT / "stages" / f"{stage}.py"
    imported = set(_imported(f"stages.{stage}", path, ("stages", stage)))
    assert imported & {f"stages.{other}" for other in STAGES if other != stage} == set()


def test_the_product_does_not_import_the_paper():
    """Not inside functions either, except for the two commands that are the paper's own."""
    product = [(name, path) for name, path, parts in MODULES if parts[0] != "paper"]
    imports = [
        (name, ast.unparse(node))
        for name, path in product
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom | ast.Import)
    ]
    assert [(name, text) for name, text in imports if "paper" in text] == [
        ("cli.app", "from ..paper.datasets_command import run_list, run_load"),
        ("cli.app", "from ..paper.experiments_command import run_experiments"),
    ]


def _types_asked(path):
    """Calls by which a module asks for types."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if ast.unparse(call.func) in ("isinstance", "type", "issubclass")]


def test_a_fit_asks_no_stage_for_its_type():
    """What stages are is for them to say: see ramodo.stages.protocols."""
    assert [asked for path in (ROOT / "fitting").glob("*.py") for asked in _types_asked(path)] == []


def test_nobody_asks_rows_or_references_for_their_kind():
    """What differs between them is a method: see ramodo.data.blocks."""
    kinds = ("SparseRows", "DenseRows", "MappedRows", "Block", "References", "Fitted")
    asked = [call for _, path, _ in MODULES for call in _types_asked(path)]
    assert [call for call in asked if any(kind in call for kind in kinds)] == []
