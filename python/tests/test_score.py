"""`m3.score` and its sisters say what the command says, to the last digit, in whatever form trajectories come."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import m3
import pytest
from conftest import Set, needs

# The data has oddities, which is not what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::m3.InputWarning")

Command = Callable[..., Any]
Rows = list[dict[str, Any]]


def numbers(document: dict[str, Any]) -> dict[str, Any]:
    """A report without names and hashes of what was scored."""
    return {key: value for key, value in document.items() if key not in ("inputs", "signature")}


def of(report: m3.Report) -> dict[str, Any]:
    return numbers(json.loads(report.to_json()))


def json_steps(rows: Rows) -> Rows:
    return [{**row, "steps": json.dumps(row["steps"])} for row in rows]


def plain(rows: Rows) -> Rows:
    """Trajectories with one text for arguments: what a column of structs can hold without loss."""

    def steps(row: dict[str, Any]) -> Rows:
        return [
            {
                "step": step["step"],
                "calls": [
                    {"name": call["name"], "arguments": {"all": json.dumps(call["arguments"])}}
                    for call in step["calls"]
                ],
            }
            for step in row["steps"]
        ]

    return [{"id": row["id"], "type": row["type"], "steps": steps(row)} for row in rows]


def pandas_of(rows: Rows) -> Any:
    return needs("pandas").DataFrame(rows)


def polars_of(rows: Rows) -> Any:
    polars = needs("polars")
    return polars.DataFrame(rows, infer_schema_length=None)


def arrow_of(rows: Rows) -> Any:
    return needs("pyarrow").Table.from_pylist(rows)


def arrow_batches_of(rows: Rows) -> Any:
    return arrow_of(rows).to_reader(max_chunksize=4)


def pandas_of_arrow(rows: Rows) -> Any:
    pandas_of([])
    return arrow_of(rows).to_pandas()


def dataset_of(rows: Rows) -> Any:
    datasets = needs("datasets")
    return datasets.Dataset(arrow_of(rows))


def stream_of(rows: Rows) -> Any:
    return dataset_of(rows).to_iterable_dataset()


ANY: dict[str, Callable[[Rows], Any]] = {
    "list": lambda rows: rows,
    "tuple": tuple,
    "generator": lambda rows: (row for row in rows),
    "texts": lambda rows: [json.dumps(row, indent=1) for row in rows],
    "by id": lambda rows: {row["id"]: {key: row[key] for key in row if key != "id"} for row in rows},
    "pandas": pandas_of,
    "pandas, JSON": lambda rows: pandas_of(json_steps(rows)),
    "polars, JSON": lambda rows: polars_of(json_steps(rows)),
    "arrow, JSON": lambda rows: arrow_of(json_steps(rows)),
    "arrow batches, JSON": lambda rows: arrow_batches_of(json_steps(rows)),
    "datasets, JSON": lambda rows: dataset_of(json_steps(rows)),
    "datasets, streamed": lambda rows: stream_of(json_steps(rows)),
}
STRUCTS: dict[str, Callable[[Rows], Any]] = {
    "polars": polars_of,
    "arrow": arrow_of,
    "pandas of arrow": pandas_of_arrow,
    "datasets": dataset_of,
}


@pytest.fixture(scope="session")
def said(command: Command, small: Set) -> dict[str, Any]:
    found: dict[str, Any] = command("score", small.predictions, small.references)
    return found


@pytest.mark.parametrize("path", [str, Path])
def test_paths(small: Set, said: dict[str, Any], path: Callable[[Path], Any]) -> None:
    assert json.loads(m3.score(path(small.predictions), path(small.references)).to_json()) == said


@pytest.mark.parametrize("kind", ANY)
def test_everything_that_holds_trajectories(small: Set, said: dict[str, Any], kind: str) -> None:
    made = ANY[kind]
    assert of(m3.score(made(small.predicted), made(small.referred))) == numbers(said)


@pytest.mark.parametrize("kind", STRUCTS)
def test_columns_of_structs(small: Set, command: Command, tmp_path: Path, kind: str) -> None:
    files = [tmp_path / "predictions.json", tmp_path / "references.json"]
    for file, rows in zip(files, (small.predicted, small.referred), strict=True):
        file.write_text(json.dumps(plain(rows)))
    frames = [STRUCTS[kind](plain(rows)) for rows in (small.predicted, small.referred)]
    assert of(m3.score(*frames)) == numbers(command("score", *files))


def test_a_struct_has_no_keys_of_other_rows() -> None:
    rows = [
        {"id": "a", "steps": [{"calls": [{"name": "x", "arguments": {"city": "Rome"}}]}]},
        {"id": "b", "steps": [{"calls": [{"name": "x", "arguments": {"country": "Italy"}}]}]},
    ]
    for made in STRUCTS.values():
        assert m3.score(made(rows), rows).aggregate.argument_similarity == 1


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "open-m3-bench"},
        {"similarity": "typed"},
        {"tau_weak": 0.7, "tau_strong": 0.9},
        {"tools": True},
        {"tool_names": "auto", "duplicates": "last", "by": "class"},
        {"suite": ["mcpagentbench", "mcptoolbenchpp"], "tools": True},
        {"match": "superset", "match_args": "ignore"},
        {"threads": 1, "cache": False},
    ],
    ids=str,
)
def test_options(small: Set, command: Command, options: dict[str, Any]) -> None:
    given = {**options, **({"tools": small.tools} if "tools" in options else {})}
    words: list[object] = []
    for name, value in given.items():
        if name == "cache":
            words.append("--no-cache")
        else:
            several = value if isinstance(value, list) else [value]
            words += [word for one in several for word in (f"--{name.replace('_', '-')}", one)]
    report = m3.score(small.predictions, small.references, **given)
    assert json.loads(report.to_json()) == command("score", small.predictions, small.references, *words)
    assert bool(report.suites) == ("suite" in options)
    # What is handed over has the same numbers as the files.
    if "tools" in options:
        given["tools"] = json.loads(small.tools.read_bytes())
    again = of(m3.score(small.predicted, small.referred, **given))
    assert again == of(report) or "tools" in options
    assert (again["aggregate"], again["trajectories"]) == (report.aggregate.to_dict(), of(report)["trajectories"])


@pytest.mark.parametrize("profile", ["paper", "open-m3-bench"])
@pytest.mark.parametrize("model", ["predictions", "poor"])
def test_the_real_benchmark(real: Set, command: Command, profile: Any, model: str) -> None:
    files = (getattr(real, model), real.references)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", m3.InputWarning)
        report = m3.score(*files, profile=profile, duplicates="last")
    words = ("--profile", profile, "--duplicates", "last")
    assert json.loads(report.to_json()) == command("score", *files, *words)


def test_a_report(small: Set, said: dict[str, Any]) -> None:
    report = m3.score(small.predictions, small.references)
    assert report.aggregate.recall == said["aggregate"]["recall"]
    assert report.aggregate.to_dict() == said["aggregate"]
    assert {name: it.to_dict() for name, it in report.by_type.items()} == said["by_type"]
    assert [it.to_dict() for it in report] == said["trajectories"]
    assert len(report) == 15
    one = report["00050000"]
    assert one.average == one.metrics.average == one.to_dict()["metrics"]["average"]
    with pytest.raises(KeyError):
        report["nobody"]
    with pytest.raises(AttributeError, match="it has .*recall"):
        report.aggregate.recal  # noqa: B018
    assert "recall               0.9744" in repr(report)
    assert "<td>0.9744</td>" in report._repr_html_()


def test_hostile_names_are_text_in_a_notebook() -> None:
    row = {"id": "a", "type": "<script>", "steps": []}
    report = m3.score([row], [row])
    assert "<script>" not in report._repr_html_()
    assert "<script>" not in report.audit()._repr_html_()


def test_left_out_trajectories_say_why(small: Set) -> None:
    scorer = m3.Scorer(profile="open-m3-bench")
    missing = scorer.score_one(None, small.referred[0])
    assert missing.failure == "missing"
    with pytest.raises(AttributeError, match="missing"):
        missing.average  # noqa: B018


def test_calls(small: Set) -> None:
    report = m3.score(small.poor, small.references)
    rows = report.call_rows()
    by_status = {status: [row for row in rows if row["status"] == status] for status in ("matched", "missing", "extra")}
    whole = report.aggregate
    assert len(by_status["matched"]) == whole.matched
    assert len(by_status["matched"]) + len(by_status["missing"]) == whole.reference_calls
    assert len(by_status["matched"]) + len(by_status["extra"]) == whole.predicted_calls
    predicted = {it["id"]: it for it in small.predicted if it["steps"]}
    assert predicted
    referred = {it["id"]: it for it in small.referred}
    for row in by_status["matched"] + by_status["missing"]:
        call = referred[row["id"]]["steps"][row["reference_step"]]["calls"][row["reference_call"]]
        assert call["name"] == row["tool"]
    assert all(row["reason"] for row in by_status["missing"] + by_status["extra"])
    needs("pandas")
    assert list(report.calls()["tool"]) == [row["tool"] for row in rows]


def test_tables(small: Set) -> None:
    for library in ("pandas", "polars", "pyarrow"):
        needs(library)
    report = m3.score(small.predictions, small.references)
    rows = report.rows()
    assert rows[0]["id"] == "00010000" and rows[0]["average"] == report.trajectories[0].average
    assert report.to_arrow().to_pylist() == rows
    assert report.to_polars().to_dicts() == rows
    frame = report.to_pandas()
    assert [list(row.values()) for row in rows] == frame.astype(object).where(frame.notna(), None).values.tolist()


def test_tables_go_round(small: Set, tmp_path: Path) -> None:
    parquet = needs("pyarrow.parquet")
    report = m3.score(small.predictions, small.references)
    parquet.write_table(report.to_arrow(), tmp_path / "report.parquet")
    assert parquet.read_table(tmp_path / "report.parquet").to_pylist() == report.rows()


def test_pictures_of_datasets_are_not_decoded() -> None:
    datasets = needs("datasets")
    row = {"id": "a", "image": {"bytes": b"no picture", "path": "a.png"}, "steps": "[]"}
    features = {"id": datasets.Value("string"), "image": datasets.Image(), "steps": datasets.Value("string")}
    data = datasets.Dataset(arrow_of([row])).cast(datasets.Features(features))
    assert len(m3.score(data, data)) == 1


def test_audit(small: Set, command: Command) -> None:
    report = m3.score(small.predictions, small.references)
    page = report.audit("00050000")
    assert page.html.startswith("<!") and "00050000" in page.html and "00010000" not in page.html
    assert "image/blur" in repr(page)
    assert 'sandbox="allow-scripts"' in page._repr_html_()
    assert "00010000" in report.audit().html
    assert report.audit(worst=1).text.count("without this task") == 1


def test_audit_of_what_was_handed_over(small: Set, tmp_path: Path) -> None:
    report = m3.score(small.predicted, small.referred)
    page = report.audit("00050000")
    assert "image/blur" in page.text and "/m3-" not in page.text + page.html
    page.save(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(m3.InputError, match="nobody"):
        report.audit("nobody")


def test_audit_of_files_that_have_gone(small: Set, tmp_path: Path) -> None:
    file = tmp_path / "predictions.json"
    file.write_bytes(small.predictions.read_bytes())
    report = m3.score(file, small.references)
    file.unlink()
    with pytest.raises(m3.InputError, match="predictions.json"):
        report.audit()


def test_reports_are_pickled(small: Set) -> None:
    report = m3.score(small.predicted, small.referred)
    again = pickle.loads(pickle.dumps(report))
    assert again.to_json() == report.to_json()
    with pytest.raises(m3.InputError, match="pickled"):
        again.audit()


def test_reports_are_saved(small: Set, said: dict[str, Any], tmp_path: Path) -> None:
    m3.score(small.predictions, small.references).save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == said
