"""What the tests share: the small benchmark that comes with m3, data beside the repository, and the command."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import m3
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Set:
    """Predictions of two models, and their references."""

    predictions: Path
    poor: Path
    references: Path
    tools: Path

    @cached_property
    def predicted(self) -> list[dict[str, Any]]:
        """The predictions as dicts, each id once."""
        return once(json.loads(self.predictions.read_bytes()))

    @cached_property
    def referred(self) -> list[dict[str, Any]]:
        """The references as dicts, each id once."""
        return once(json.loads(self.references.read_bytes()))

    @cached_property
    def pairs(self) -> list[tuple[dict[str, Any] | None, dict[str, Any]]]:
        """Each reference with its prediction."""
        predicted = {it["id"]: it for it in self.predicted}
        return [(predicted.get(it["id"]), it) for it in self.referred]


def needs(name: str) -> Any:
    """The module of this name; where it is missing the test is skipped, and fails if the variable `CI` is set."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing(f"{name} is not installed")


def missing(what: str) -> NoReturn:
    """Skips the test, or the module, for what is missing; under `CI` nothing may be."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(f"skipped: {what}", allow_module_level=True)


def without_results(trajectories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The trajectories as they are before their calls are answered."""
    for trajectory in trajectories:
        for step in trajectory["steps"]:
            for call in step["calls"]:
                call.pop("result", None)
    return trajectories


def once(trajectories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last trajectory of each id."""
    return list({it["id"]: it for it in trajectories}.values())


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Set:
    """The small benchmark that comes with m3, without results: what is handed over has no pictures beside it."""
    source, folder = ROOT / "trajectories", tmp_path_factory.mktemp("small")
    names = ("predictions.json", "predictions-poor.json", "references.json", "tools.json")
    for name in names[:3]:
        (folder / name).write_text(json.dumps(without_results(json.loads((source / name).read_bytes()))))
    return Set(*(folder / name for name in names[:3]), source / names[3])


@pytest.fixture(scope="session")
def real() -> Set:
    """Open-M3-Bench, with the predictions of a strong and a weak model."""
    folder = DATA / "open-m3-bench"
    if not folder.is_dir():
        pytest.skip("skipped: open-m3-bench is not there")
    names = ("predictions/strong.json", "predictions/weak.json", "references.json", "tools.json")
    return Set(*(folder / name for name in names))


@pytest.fixture(scope="session")
def traces() -> Path:
    """Traces of other programs."""
    folder = DATA / "traces"
    if not folder.is_dir():
        pytest.skip("skipped: traces are not there")
    return folder


def environment(more: Mapping[str, str] = {}) -> dict[str, str]:
    """The environment, in which this m3 is found."""
    paths = [str(Path(m3.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def run_python(*arguments: str, env: Mapping[str, str] = {}, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Runs Python in a process of its own; what hangs fails."""
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        env=environment(env),
    )


@pytest.fixture(scope="session")
def command() -> Callable[..., Any]:
    """Runs the command `m3` and returns its JSON."""

    def run(*arguments: object) -> Any:
        done = run_python("-m", "m3", *map(str, arguments), "--format", "json", "--quiet")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
