"""The documentation runs: pages, notebook, README, and the examples in docstrings."""

import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import pfaff

PAGES = sorted((ROOT / "docs/python").glob("*.md"))


def code_of(page, language="python"):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def run(code, folder):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_pages_run(page, tmp_path):
    for package in ("matplotlib", "scipy", "sympy", "xarray", "distributed"):
        if re.search(rf"\b{package}\b", "".join(code_of(page))):
            pytest.importorskip(package)
    blocks = code_of(page)
    assert blocks
    run("\n".join(blocks), tmp_path)


def test_the_readme_example_runs(tmp_path):
    (block,) = code_of(ROOT / "README.md")
    pytest.importorskip("matplotlib")
    run(block, tmp_path)


def test_the_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(ROOT / "docs/python/tutorial.ipynb", 4)
    # This interpreter, whatever kernels are installed.
    kernels = tmp_path / "kernels" / "own"
    kernels.mkdir(parents=True)
    argv = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    shown = '{"MPLBACKEND": "module://matplotlib_inline.backend_inline"}'
    (kernels / "kernel.json").write_text(
        f'{{"argv": {argv}, "display_name": "own", "language": "python", "env": {shown}}}'
    )
    os.environ["JUPYTER_PATH"] = str(tmp_path)
    found = client.NotebookClient(
        notebook, timeout=300, kernel_name="own", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [o for cell in found.cells if cell.cell_type == "code" for o in cell.outputs]
    kinds = {kind for o in outputs if "data" in o for kind in o["data"]}
    assert "text/html" in kinds and "text/latex" in kinds and "image/png" in kinds
    assert (tmp_path / "sleigh.html").exists()


MODULES = sorted(name for _, name, _ in pkgutil.iter_modules(pfaff.__path__) if name != "_native")


@pytest.mark.parametrize("name", ["pfaff", *(f"pfaff.{name}" for name in MODULES)])
def test_examples_in_docstrings_run(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert failed == 0


def test_the_types_are_checked(tmp_path):
    pytest.importorskip("mypy")
    use = tmp_path / "use.py"
    use.write_text(
        "import numpy as np\nimport pfaff\n\nmodel: pfaff.Model = pfaff.gallery['sleigh']\n"
        "m: pfaff.Motion = model.run(t=(0, 1), set={'a': 0.3})\nx = m['x'] + 1.0\nn: int = len(m)\n"
        "rates = model.derive().rhs(0.0, np.zeros(6))\nreason: str = m.stop.reason\n"
    )
    bad = tmp_path / "bad.py"
    bad.write_text("import pfaff\n\npfaff.gallery['sleigh'].run(tolerence=1e-3)\nn: str = pfaff.gallery.titles\n")
    package = pathlib.Path(pfaff.__file__).parent
    assert (package / "py.typed").exists()
    check = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--config-file"]
    for what in (["-p", "pfaff"], [str(use)]):
        good = subprocess.run(
            [*check, str(ROOT / "pyproject.toml"), *what], cwd=tmp_path, capture_output=True, text=True
        )
        assert good.returncode == 0, good.stdout + good.stderr
    wrong = subprocess.run([*check, "", "--strict", str(bad)], cwd=tmp_path, capture_output=True, text=True)
    assert "tolerence" in wrong.stdout and "Incompatible types" in wrong.stdout, wrong.stdout
