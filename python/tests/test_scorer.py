"""`m3.Scorer`: pair by pair the numbers of a report, from threads, forks and other processes; and Ctrl-C."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import m3
import pytest
from conftest import Set, environment, missing, run_python
from m3 import _scorer

# The data has oddities, which is not what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::m3.InputWarning")

LIMIT = 120


@pytest.fixture(scope="module")
def scorer() -> m3.Scorer:
    return m3.Scorer()


def without_sums(trajectory: m3.Trajectory) -> dict[str, Any]:
    return {key: value for key, value in trajectory.to_dict().items() if key != "sums"}


def documents(found: list[m3.Trajectory | m3.InputError]) -> list[dict[str, Any]]:
    assert all(isinstance(it, m3.Trajectory) for it in found)
    return [it.to_dict() for it in found if isinstance(it, m3.Trajectory)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"profile": "open-m3-bench"},
        {"similarity": "typed"},
        {"tools": True},
        {"tau_weak": 0.7, "tau_strong": 0.95},
        {"match": "subset", "profile": "open-m3-bench"},
        {"match": "superset", "match_args": "ignore", "match_tool": {"image/crop": "exact"}},
    ],
    ids=str,
)
def test_pairs_are_scored_as_a_report_is(small: Set, options: dict[str, Any]) -> None:
    given = {**options, **({"tools": json.loads(small.tools.read_bytes())} if "tools" in options else {})}
    report = m3.score(small.predicted, small.referred, **given)
    scorer = m3.Scorer(**given)
    one_by_one = [scorer.score_one(*pair) for pair in small.pairs]
    assert documents(scorer.score_many(small.pairs)) == [it.to_dict() for it in one_by_one]
    scored = [it for it in one_by_one if it.to_dict().get("metrics")]
    assert [without_sums(it) for it in scored] == [it.to_dict() for it in report]
    assert scorer.aggregate(one_by_one) == report.aggregate
    assert scorer.aggregate(reversed(one_by_one)) == report.aggregate
    if "match" in options:
        assert {it.passes for it in one_by_one} == {True, False}


def test_the_real_benchmark(real: Set, scorer: m3.Scorer) -> None:
    report = m3.score(real.predicted, real.referred)
    found = [scorer.score_one(*pair) for pair in real.pairs]
    assert [without_sums(it) for it in found] == [it.to_dict() for it in report]
    assert scorer.aggregate(found) == report.aggregate
    # Any parts of the set add up to the same.
    assert documents(scorer.score_many(real.pairs * 2))[len(found) :] == [it.to_dict() for it in found]


def test_a_set_may_be_empty_or_missing(scorer: m3.Scorer, small: Set) -> None:
    assert scorer.score_many([]) == []
    with pytest.raises(m3.InputError, match="no trajectory"):
        scorer.aggregate([])
    with pytest.raises(m3.InputError, match="1 of 1 are no scored"):
        scorer.aggregate(scorer.score_many([({"steps": 3}, small.referred[0])]))  # type: ignore[arg-type]
    missing = scorer.score_one(None, small.referred[0])
    assert missing.failure == "missing" and missing.recall == 0
    report = m3.score([small.predicted[1]], small.referred[:2])
    assert missing.metrics == report.trajectories[0].metrics
    with pytest.raises(m3.InputError, match="no sums"):
        scorer.aggregate(report)


def test_pairs_are_read_in_many_forms(scorer: m3.Scorer, small: Set) -> None:
    prediction, reference = small.predicted[0], small.referred[0]
    expected = scorer.score_one(prediction, reference).average
    for form in (json.dumps, lambda it: json.dumps(it).encode(), lambda it: {**it, "id": "other"}):
        assert scorer.score_one(form(prediction), form(reference)).average == expected
    call = {"id": "1", "type": "function", "function": {"name": "math/add", "arguments": '{"a": 1}'}}
    messages = [
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "1"},
        {"role": "assistant", "content": "One."},
    ]
    direct = {"id": "a", "steps": [{"calls": [{"name": "math/add", "arguments": {"a": 1}}]}]}
    assert scorer.score_one(messages, direct).average == 1


def test_audit_and_explain(scorer: m3.Scorer, small: Set, command: Any) -> None:
    said = command("audit", small.predictions, small.references, "--id", "00050000")["trajectories"][0]
    pair = next(pair for pair in small.pairs if pair[1]["id"] == "00050000")
    found = scorer.explain(*pair)
    same = ("id", "reference_steps", "predicted_steps", "matches", "pairs")
    assert {key: found[key] for key in same if key in said} == {key: said[key] for key in same if key in said}
    text = scorer.audit(*pair)
    assert text.startswith("00050000") and "image/blur" in text
    assert "image/blur" in scorer.audit(None, pair[1])
    with pytest.raises(m3.InputError, match="leaves it out"):
        m3.Scorer(profile="open-m3-bench").audit(None, pair[1])


def test_fidelity(scorer: m3.Scorer) -> None:
    same = m3.fidelity({"city": "NYC"}, {"city": "New York"})
    assert same.is_same and 0.5 <= same.score < 1 and same.worst == same.arguments[0]
    assert (same.worst.argument, same.worst.kind, same.worst.verdict) == ("/city", "place", "equivalent")
    assert same == scorer.fidelity({"city": "NYC"}, {"city": "New York"})
    equal = m3.fidelity({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1})
    assert equal.score == 1 and equal.worst is None
    other = m3.fidelity({"limit": 5, "more": 1}, {"limit": 50}, tool="map/find", question="Find fifty")
    assert not other.is_same
    assert {it.verdict for it in other.arguments} >= {"different", "extra"}
    schema = {"type": "object", "properties": {"unit": {"type": "string", "default": "km"}}}
    assert m3.fidelity({}, {"unit": "km"}, schema=schema).score > m3.fidelity({}, {"unit": "km"}).score
    with pytest.raises(m3.InputError):
        m3.fidelity({"a": float("nan")}, {"a": {1}})


def test_eight_threads_score_the_same(small: Set, scorer: m3.Scorer) -> None:
    expected = documents(scorer.score_many(small.pairs))
    start = threading.Barrier(8)

    def work(_: int) -> list[dict[str, Any]]:
        start.wait(LIMIT)
        return [scorer.score_one(*pair).to_dict() for _ in range(5) for pair in small.pairs]

    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected * 5 for found in pool.map(work, range(8)))


def test_reports_from_threads(small: Set) -> None:
    sets = [(small.predictions, small.references), (small.poor, small.references)] * 4
    expected = [m3.score(*it).to_json() for it in sets]
    with ThreadPoolExecutor(8) as pool:
        assert [it.to_json() for it in pool.map(lambda it: m3.score(*it), sets)] == expected


def test_a_scorer_is_pickled(small: Set) -> None:
    scorer = m3.Scorer(similarity="typed", tools=json.loads(small.tools.read_bytes()), match="strict")
    again = pickle.loads(pickle.dumps(scorer))
    assert documents(again.score_many(small.pairs)) == documents(scorer.score_many(small.pairs))


def test_calls_of_tools_that_do_not_count(tmp_path: Path) -> None:
    file = {"name": "desk/file", "arguments": {"id": 7}}
    think = {"name": "harness/think", "arguments": {"text": "hm"}}
    reference = {"id": "a", "steps": [{"calls": [file]}]}
    prediction = {"id": "a", "steps": [{"calls": [think]}, {"calls": [file]}]}
    roles = {"harness/*": "ignored"}
    path = tmp_path / "roles.json"
    path.write_text(json.dumps(roles))
    for known in (roles, path):
        report = m3.score([prediction], [reference], similarity="typed", roles=known)
        scorer = m3.Scorer(similarity="typed", roles=known)
        assert (
            report["a"].precision == pickle.loads(pickle.dumps(scorer)).score_one(prediction, reference).precision == 1
        )
    assert m3.Scorer(similarity="typed").score_one(prediction, reference).precision == 0.5
    with pytest.raises(m3.InputError, match="should be `looks`, `changes` or `ignored`"):
        m3.Scorer(similarity="typed", roles={"desk/*": "writes"})


def average(work: tuple[m3.Scorer, Any]) -> float:
    scorer, pair = work
    return scorer.score_one(*pair).average


@pytest.mark.parametrize("way", [it for it in ("fork", "spawn") if it in multiprocessing.get_all_start_methods()])
def test_other_processes(small: Set, scorer: m3.Scorer, way: str) -> None:
    expected = [scorer.score_one(*pair).average for pair in small.pairs]
    with multiprocessing.get_context(way).Pool(2) as pool:
        asked = pool.map_async(average, [(scorer, pair) for pair in small.pairs])
        assert asked.get(LIMIT) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="skipped: no fork on this system")
def test_forks_while_other_threads_score(tmp_path: Path) -> None:
    """A child that is forked while locks are held elsewhere must not wait for them."""
    program = """
import os, signal, sys, threading, m3
row = {"id": "a", "steps": [{"calls": [{"name": "x", "arguments": {"city": "Rome"}}]}]}
scorer = m3.Scorer()
report = m3.score([row], [row])
expected = scorer.score_one(row, row)
going = True
def pairs():
    while going: scorer.score_one(row, row)
def reports():
    while going: m3.score([row], [row])
threads = [threading.Thread(target=it) for it in (pairs, pairs, reports, reports)]
for it in threads: it.start()
def child():
    signal.alarm(60)
    good = scorer.score_one(row, row) == expected and m3.score([row], [row]).aggregate == report.aggregate
    return 0 if good and "Rome" in report.audit().html else 1
codes = []
for _ in range(20):
    process = os.fork()
    if process == 0:
        try:
            code = child()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            code = 2
        os._exit(code)
    codes.append(os.waitpid(process, 0)[1])
going = False
for it in threads: it.join()
# What was handed over is still there: the ends of the children were not the end of it.
assert "Rome" in report.audit().html
assert scorer.score_one(row, row) == expected
assert codes == [0] * 20, codes
"""
    done = run_python("-W", "ignore", "-c", program, env={"TMPDIR": str(tmp_path)}, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir()), "temporary folders are left"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="skipped: no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_from_a_callback_does_not_wait_for_itself(real: Set) -> None:
    seen: list[int] = []

    def show(*_: object) -> None:
        if not seen:
            process = os.fork()
            if process == 0:
                os._exit(0)
            seen.append(os.waitpid(process, 0)[1])

    m3.score(real.referred[:40], real.referred[:40], cache=False, progress=show)
    assert seen == [0]


INTERRUPTED = """
import random, sys, m3
words = [chr(97 + i) * 3 for i in range(26)]
random.seed(1)
def row(i):
    calls = [{"name": "x", "arguments": {"q": " ".join(random.choices(words, k=60)) + f" {i} {j}"}} for j in range(4)]
    return {"id": str(i), "steps": [{"calls": calls}]}
rows = [row(i) for i in range(20_000)]
WORK
"""


@pytest.mark.skipif(sys.platform == "win32", reason="skipped: no SIGINT to another process")
@pytest.mark.parametrize(
    "work",
    [
        "m3.score(rows, rows, cache=False, progress=lambda *_: print('at work', flush=True))",
        "scorer = m3.Scorer(cache=False)\nprint('at work', flush=True)\nscorer.score_many([(it, it) for it in rows])",
    ],
    ids=["score", "score_many"],
)
def test_ctrl_c(work: str) -> None:
    """20,000 trajectories with texts of their own take an hour to encode; Ctrl-C ends it."""
    program = INTERRUPTED.replace("WORK", work)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "at work\n", process.communicate(timeout=9)
        time.sleep(1)  # Into the work; nothing is measured.
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    assert process.returncode in (-signal.SIGINT, 130), said
    assert "KeyboardInterrupt" in said and "panicked" not in said


def test_work_goes_on_after_ctrl_c(small: Set, real: Set) -> None:
    """What was interrupted leaves nothing behind that others wait for."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    expected = m3.score(small.predictions, small.references).to_json()
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            m3.score(real.referred, real.referred, cache=False, progress=interrupt)
        assert m3.score(small.predictions, small.references).to_json() == expected


def test_shared_scorers_are_few() -> None:
    assert _scorer.shared() is _scorer.shared() is not _scorer.shared(threads=1)
    for number in range(20):
        _scorer.shared(tau_weak=number / 100)
    assert len(_scorer._SHARED) == _scorer._SHARED_AT_MOST


def test_memory_does_not_grow(small: Set) -> None:
    """In a process of its own: what this one has done before would hide it."""
    work = f"""
import json, m3
def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
pairs = json.loads({json.dumps(small.pairs)!r})
scorer = m3.Scorer()
def score(times):
    for number in range(times):
        scorer.score_one(*pairs[number % len(pairs)])
score(2_000)
before = held()
score(30_000)
print(held() - before)
"""
    if not os.path.exists("/proc/self/statm"):
        missing("/proc/self/statm")
    done = run_python("-c", work)
    assert done.returncode == 0, done.stderr
    # A kilobyte a score would be 30 MB.
    assert int(done.stdout) < 8_000_000, done.stdout
