"""Text of models and of files that is meant to do harm, and mistakes of callers, end in a clear text and no more."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import m3
import pytest
from conftest import run_python
from m3 import _engine
from m3._errors import visible
from m3._messages import steps_of_text
from m3._tables import save
from m3.evaluators import create_evaluator
from m3.pytest_plugin import assert_trajectory
from m3.rewards import TrajectoryReward

HOSTILE = "\x1b[2J \x9b1m \u202eevil\u2066 \r \x07"
GOOD = {"steps": [{"calls": [{"name": "x", "arguments": {}}]}]}


def is_harmless(text: str) -> bool:
    return not set(text) & set("\x1b\x9b\u202e\u2066\r\x07")


def test_what_steers_a_terminal_is_escaped() -> None:
    assert visible("one\ntwo\tthree \u00e9\u3000\u6771") == "one\ntwo\tthree \u00e9\u3000\u6771"
    assert visible("\x1b[2J\x9b\u202e\r") == "\\x1b[2J\\x9b\\u202e\\r"
    assert visible("\ud800") == "\\ud800"
    assert visible(visible(HOSTILE)) == visible(HOSTILE)


def test_errors_warnings_and_comments_are_harmless() -> None:
    with pytest.raises(m3.InputError) as caught:
        m3.score([{"id": HOSTILE, "steps": 3}], [{"id": HOSTILE, "steps": []}])
    assert "evil" in str(caught.value) and is_harmless(str(caught.value))
    assert is_harmless(str(caught.value.problems[0]))
    with pytest.warns(m3.InputWarning) as warned:
        m3.score({HOSTILE: {"id": "a", "steps": []}}, {"a": {"steps": []}})
    assert all(is_harmless(str(it.message)) for it in warned)
    made = {"steps": [{"calls": [{"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}]}]}
    for metric in ("average", "strict"):
        comment = create_evaluator(metric)(outputs=made, reference_outputs=GOOD)["comment"]
        assert comment is not None and is_harmless(comment)
    with pytest.raises(AssertionError) as failed:
        assert_trajectory(made, GOOD)
    assert is_harmless(str(failed.value))


@pytest.mark.parametrize("text", ["'```' + ' ' * 100_000 + 'x'", "'<think>' * 50_000", "'<tool_response>' * 50_000"])
def test_long_text_takes_no_time(text: str) -> None:
    done = run_python("-c", f"from m3._messages import steps_of_text; print(steps_of_text({text}))", timeout=60)
    assert done.stdout == "[]\n", done.stderr


def test_fences() -> None:
    call = '{"name": "x", "arguments": {}}'
    for text in (call, f"```{call}```", f"```json\n{call}\n```", f"``` \n {call}```"):
        assert steps_of_text(text) == [[{"name": "x", "arguments": {}}]], text
    for text in ("```", "`````", "``````", f"```{call}", f"```python\n{call}\n```"):
        assert steps_of_text(text) == [], text


class Message:
    """As those of LangChain."""

    type = "ai"
    content = ""
    tool_calls = 5


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (lambda: create_evaluator()(outputs=[{"role": "assistant", "tool_calls": 5}], reference_outputs=[]), "no list"),
        (lambda: create_evaluator()(outputs=[Message()], reference_outputs=[]), "no list"),
        (lambda: create_evaluator("strict", tool_args_match_overrides={"a": 5}), "`a`: an override is a mode"),
        (lambda: create_evaluator("strict", tool_args_match_overrides={"a": [5]}), "`a`: an override is a mode"),
        (lambda: create_evaluator("strict", tool_args_match_overrides={5: "exact"}), "name of a tool"),
        (lambda: create_evaluator("strict", tool_args_match_overrides=5), "should be a dict"),
        (lambda: m3.fidelity({"a": "x"}, {"a": "y"}, question="\ud800"), "`question` has half"),
        (lambda: m3.fidelity({"a": "x"}, {"a": "y"}, tool="\ud800"), "`tool` has half"),
        (lambda: m3.fidelity({"a": "x"}, {"a": "y"}, question=5), "`question` should be text, and is int"),
        (lambda: m3.Scorer(match="strict", match_tool={"\ud800": "exact", "b": "exact"}), "`match_tool` has half"),
        (lambda: TrajectoryReward({"recall": "1"}), "weight of `recall` should be a number"),
        (lambda: TrajectoryReward({"recall": 10**400}), "weight of `recall` should be a number"),
        (lambda: TrajectoryReward({"recall": -1}), "number from 0 on"),
        (lambda: TrajectoryReward(["recall"]), "`weights` should be a dict"),
        (lambda: TrajectoryReward(failure="x"), "`failure` should be a number"),
        (lambda: assert_trajectory(Path("/nope"), GOOD), "`/nope` cannot be read"),
        (lambda: assert_trajectory(GOOD, GOOD, recall=math.nan), "floor `recall` should be a number"),
        (lambda: assert_trajectory(GOOD, GOOD, recall="1"), "floor `recall` should be a number"),
        (lambda: m3.leaderboard({"a=b": "x.json"}), "'a=b' cannot name a model"),
        (lambda: m3.leaderboard({"": "x.json"}), "cannot name a model"),
        (lambda: m3.leaderboard({"--help": "x.json"}), "cannot name a model"),
        (lambda: m3.compare("x.json", "y.json", names=("a", "-b")), "cannot name a model"),
    ],
    ids=str,
)
def test_mistakes_are_told(work: Callable[[], Any], told: str) -> None:
    with pytest.raises(m3.InputError, match=told):
        work()


def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "report.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    save("new", link)
    assert link.is_symlink() and target.read_text() == "new"
    save("newer", os.fsencode(link))  # type: ignore[arg-type]
    assert target.read_text() == "newer" and [it.name for it in target.parent.iterdir()] == ["report.json"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="skipped: no pipes with names on this system")
def test_pipes_are_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    save("text", pipe)
    reader.join(60)
    assert read == ["text"] and pipe.is_fifo()


def test_a_module_without_its_program_is_no_attribute() -> None:
    program = "import sys; sys.modules['pyarrow'] = None; import m3; print(hasattr(m3, 'spark')); m3.spark"
    done = run_python("-c", program)
    assert done.stdout == "False\n" and "AttributeError" in done.stderr and "pyarrow" in done.stderr.splitlines()[-1]


def test_a_fork_that_never_ends_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = _engine._Gate()
    gate.open()
    monkeypatch.setattr(gate, "_PATIENCE", 0.01)
    gate.close()
    with gate:
        gate.close()
    gate.open()
    gate.open()
    assert gate._forks == 0
