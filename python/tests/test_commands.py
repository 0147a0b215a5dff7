"""Results beside each other, traces, and who watches: the functions that are commands, beside `m3.score`."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import m3
import pytest
from conftest import Set, needs, run_python
from m3 import _engine

# The data has oddities, which is not what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::m3.InputWarning")

Command = Callable[..., Any]


@pytest.fixture(scope="session")
def two(small: Set) -> tuple[m3.Report, m3.Report]:
    return m3.score(small.predictions, small.references), m3.score(small.poor, small.references)


def test_compare(two: tuple[m3.Report, m3.Report], command: Command, tmp_path: Path) -> None:
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for file, report in zip(files, two, strict=True):
        report.save(file)
    said = command("compare", *files, "--resamples", 200)
    for results in (two, files):
        found = m3.compare(*results, resamples=200)
        assert found.data == said
    assert found.rows()[0]["difference"] == said["differences"][0]["difference"]
    assert "first -> second" in repr(found) and "| --- |" in found.to_markdown().replace(": |", " |")
    assert "<iframe" in found._repr_html_()
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    assert {row["metric"] for row in found.rows()} >= {"recall", "average"}


def test_compare_of_what_was_handed_over_differently(small: Set, two: tuple[m3.Report, m3.Report]) -> None:
    other = m3.score(small.predicted, small.referred)
    with pytest.raises(m3.InputError, match="`allow_different_references`"):
        m3.compare(two[0], other)
    found = m3.compare(two[0], other, allow_different_references=True, names=("a", "b"))
    assert all(row["difference"] == 0 for row in found.rows()) and found.data["first"] == "a"
    # Handed over alike, they are the same.
    assert m3.compare(other, m3.score(small.predicted, small.referred)).data["tasks"] == 15


def test_leaderboard(two: tuple[m3.Report, m3.Report], command: Command, tmp_path: Path) -> None:
    files = [tmp_path / "good.json", tmp_path / "poor.json"]
    for file, report in zip(files, two, strict=True):
        report.save(file)
    said = command("leaderboard", *files, "--resamples", 200, "--by-type")
    board = m3.leaderboard({"good": two[0], "poor": two[1]}, resamples=200, by_type=True)
    assert board.data == said
    rows = board.rows()
    assert [row["model"] for row in rows] == ["good", "poor"]
    assert rows[0]["average"] == two[0].aggregate.average
    assert rows[0]["average_low"] <= rows[0]["average"] <= rows[0]["average_high"]
    needs("polars")
    assert board.to_polars().shape[0] == 2


def test_traces(traces: Path, tmp_path: Path) -> None:
    read = 0
    for expected in sorted(traces.glob("*/*/expected.json")):
        files = [it for it in expected.parent.iterdir() if it.name not in ("expected.json", "expected_extra.json")]
        for file in files:
            if file.suffix == ".md" or file.is_dir():
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", m3.InputWarning)
                    found = m3.load_traces(file, images=tmp_path / "images")
            except m3.InputError as error:
                assert str(error)
                continue
            assert all(isinstance(it["steps"], list) and it["id"] for it in found), file
            scored = m3.score(found, found)
            assert scored.aggregate.recall == 1, file
            read += 1
    assert read > 20
    assert any((tmp_path / "images").iterdir())


def test_traces_are_those_of_the_command(traces: Path, tmp_path: Path) -> None:
    folder = traces / "anthropic"
    done = run_python("-m", "m3", "import", str(folder), "-o", str(tmp_path / "predictions.json"), "--quiet")
    assert done.returncode in (0, 3), done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", m3.InputWarning)
        found = m3.load_traces(folder)
    assert found == json.loads((tmp_path / "predictions.json").read_text(encoding="utf-8"))
    good = m3.load_traces(folder / "parallel-messages" / "messages.json", as_="references")
    assert good and "result" not in json.dumps(good)


def test_traces_that_cannot_be_read_stop_no_others(traces: Path, tmp_path: Path) -> None:
    good = traces / "anthropic" / "parallel-messages" / "messages.json"
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    with pytest.warns(m3.InputWarning, match="bad.json"):
        found = m3.load_traces(good, bad)
    assert found == m3.load_traces(good)


def test_the_form_of_a_trace_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text('[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes?"}]')
    assert m3.load_traces(file, from_="openai-chat")[0]["import"]["format"] == "openai-chat"
    with pytest.raises(m3.InputError, match="`from_`"):
        m3.load_traces(file, from_="nothing")


def test_progress(real: Set) -> None:
    seen: list[tuple[str, int, int]] = []

    def show(what: str, done: int, total: int) -> None:
        seen.append((what, done, total))

    some = real.referred[:60]
    m3.score(some, some, cache=False, progress=show)
    assert all(isinstance(what, str) and done >= 0 for what, done, _ in seen)
    assert seen[-1][1] == seen[-1][2]

    class Enough(Exception):
        pass

    def stop(*_: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        m3.score(some, some, cache=False, progress=stop)


def test_the_bar_reaches_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    last = []

    class Bar(needs("tqdm.auto").tqdm):  # type: ignore[misc]
        def close(self) -> None:
            last.append((self.n, self.total))
            super().close()

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    with _engine.bar(True) as show:
        assert show is not None
        for done in (0, 2, 5):
            show("scoring", done, 5)
    assert last[0] == (5, 5)


@pytest.mark.parametrize("is_good", [True, False])
def test_the_bar_is_closed(real: Set, monkeypatch: pytest.MonkeyPatch, is_good: bool) -> None:
    closed = []

    class Bar(needs("tqdm.auto").tqdm):  # type: ignore[misc]
        def close(self) -> None:
            closed.append(self.disable)
            super().close()

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    some = real.referred[:60] if is_good else []
    try:
        m3.score([*some, {"id": "x", "steps": 0 if not is_good else []}], real.referred[:60], progress=True)
    except m3.InputError:
        assert not is_good
    assert False in closed
