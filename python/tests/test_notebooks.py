"""The notebooks of `examples/` run from top to bottom, with whatever they assert."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import m3
import pytest
from conftest import ROOT, needs

nbclient = needs("nbclient")
needs("ipykernel")
needs("pandas")

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda it: it.name)
def test_notebook(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat

    # In a copy: what a notebook writes is not left in the repository.
    shutil.copytree(ROOT / "trajectories", tmp_path / "trajectories")
    (tmp_path / "examples").mkdir()
    package = str(Path(m3.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH")))))
    document = nbformat.read(notebook, as_version=4)
    resources = {"metadata": {"path": str(tmp_path / "examples")}}
    done = nbclient.NotebookClient(document, timeout=300, resources=resources, kernel_name="python3").execute()
    outputs = [it for cell in done.cells if cell.cell_type == "code" for it in cell.outputs]
    assert not [it for it in outputs if it.output_type == "stream" and it.name == "stderr"]


def test_there_are_notebooks() -> None:
    assert [it.name for it in NOTEBOOKS] == ["reward.ipynb", "score_and_look.ipynb"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda it: it.name)
def test_no_output_is_kept(notebook: Path) -> None:
    import nbformat

    cells = nbformat.read(notebook, as_version=4).cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")
