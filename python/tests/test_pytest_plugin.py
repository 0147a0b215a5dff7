"""The plugin for pytest, in runs of pytest of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import m3
import pytest
from m3.pytest_plugin import assert_trajectory as check

pytest_plugins = ["pytester"]

A, B = ({"name": name, "arguments": {"city": "Lima"}} for name in ("weather", "mail"))
REFERENCE = {"steps": [{"calls": [A]}, {"calls": [B]}]}
HALF = {"steps": [{"calls": [A]}]}

TESTS = f"""
from m3.pytest_plugin import assert_trajectory as imported

reference, half = {REFERENCE!r}, {HALF!r}

def test_good(assert_trajectory):
    assert assert_trajectory(reference, reference, average=1).recall == 1
    assert imported is assert_trajectory

def test_bad(assert_trajectory):
    assert_trajectory(half, reference, recall=0.75, precision=1)
"""


def is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.value == "m3.pytest_plugin" for point in entry_points(group="pytest11"))


def test_a_failure_says_what_and_shows_the_audit(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(TESTS)
    # Also where the package is not installed, and named by a relative path.
    monkeypatch.setenv("PYTHONPATH", str(Path(m3.__file__).resolve().parents[1]))
    plugin = [] if is_installed() else ["-p", "m3.pytest_plugin"]
    result = pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: recall 0.5000 is below 0.75", "*average 0.*", "*2.1 mail*"])
    # The failure is where the test is, not within the plugin.
    result.stdout.no_fnmatch_line("*def assert_trajectory*")


def test_the_plugin_loads_nothing_heavy() -> None:
    code = "import sys; before = set(sys.modules); import m3.pytest_plugin; print(sorted(set(sys.modules) - before))"
    program = f"import pytest; {code}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(eval(done.stdout)) == {"m3", "m3.pytest_plugin"}


@pytest.mark.parametrize(
    ("floors", "told"),
    [
        ({}, "recall 0.5000 is below 0.9"),
        ({"recall": None, "average": 0.9}, "is below 0.9"),
        ({"recall": 0.5, "match": "strict"}, "it does not pass: "),
        ({"recall": 0.50000001}, "recall 0.5000 is below 0.50000001"),
    ],
)
def test_floors(floors: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check(HALF, REFERENCE, **floors)
    first, empty, *audit = str(caught.value).splitlines()
    assert told in first and empty == "" and any(line.startswith("average ") for line in audit)


def test_what_passes_is_returned() -> None:
    assert check(HALF, REFERENCE, recall=0.5, precision=1).precision == 1
    assert check(REFERENCE, REFERENCE, match="strict").passes
    assert check(REFERENCE, REFERENCE, scorer=m3.Scorer(similarity="typed")).average == 1


def test_a_missing_prediction_fails() -> None:
    with pytest.raises(AssertionError, match=r"^recall 0.0000 is below 0.9 \(missing\)"):
        check(None, REFERENCE)
    with pytest.raises(AssertionError, match="^recall has no value, its floor is 0.9"):
        check(None, REFERENCE, profile="open-m3-bench")


def test_files_messages_and_mistakes(tmp_path: Path) -> None:
    call = {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Lima"}'}}
    assert check([{"role": "assistant", "content": "", "tool_calls": [call]}], HALF, average=1)
    path = tmp_path / "one.json"
    path.write_text('{"steps": [{"calls": [{"name": "weather", "arguments": {"city": "Lima"}}]}]}')
    assert check(path, HALF, average=1)
    mistakes: list[dict[str, Any]] = [{"prediction": "garbage"}, {"reference": {"stages": []}}, {"similarity": "none"}]
    good: dict[str, Any] = {"prediction": HALF, "reference": HALF}
    for mistake in mistakes:
        with pytest.raises(m3.InputError):
            check(**{**good, **mistake})
    with pytest.raises(m3.InputError, match="not both: similarity"):
        check(HALF, HALF, scorer=m3.Scorer(), similarity="typed")
