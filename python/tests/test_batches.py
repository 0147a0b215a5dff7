"""Batches of Arrow: what rows become, whatever is in them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence

import pytest
from conftest import needs

pa = needs("pyarrow")

import m3
from _rows import BAD_ROWS, small
from m3 import _batches, _tally

WORKER = _batches.Worker("prediction", "reference", {"profile": "open-m3-bench"})


def scored(rows: Sequence[Mapping[str, object]], schema: object = None) -> list[dict[str, object]]:
    table = pa.Table.from_pylist(rows, schema=schema)
    return [row for batch in table.to_batches() for part in WORKER.score(batch) for row in part.to_pylist()]


def without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_rows_say_what_the_report_says() -> None:
    report = small().report("open-m3-bench")
    found = {row["id"]: row for row in scored(small().rows())}
    assert len(report) < len(found) == len(small().references)
    for trajectory in report:
        row = found.pop(trajectory.id)
        want = trajectory.to_dict()
        assert row["metrics"] == {key: value for key, value in want["metrics"].items() if key != "trajectories"}
        for column in ("matches", "unmatched_references", "unmatched_predictions"):
            assert without_nulls(row[column]) == without_nulls(want[column])
        assert row["error"] is None and row["failure"] == want.get("failure") and row["sums"] is not None
    for row in found.values():
        assert row["failure"] is not None and row["metrics"] is None and row["sums"] is None and row["error"] is None


def test_rows_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scored(small().rows())
    monkeypatch.setattr(_batches, "ROWS", 4)
    assert scored(small().rows()) == whole


def test_a_bad_row_is_an_error_and_stops_no_other() -> None:
    rows: list[Mapping[str, object]] = [{"prediction": it[0], "reference": it[1]} for it in BAD_ROWS]
    good = small().rows()[0]
    found = scored([good, *rows, good])
    assert [row["error"] is None for row in found] == [True, *(False for _ in rows), True]
    assert all(row["metrics"] is None and row["sums"] is None for row in found[1:-1])
    assert found[0] == found[-1]


def test_structs_and_maps_are_trajectories_too() -> None:
    arguments = pa.map_(pa.string(), pa.string())
    call = pa.struct({"name": pa.string(), "arguments": arguments})
    trajectory = pa.struct({"steps": pa.list_(pa.struct({"calls": pa.list_(call)}))})
    schema = pa.schema({"prediction": trajectory, "reference": trajectory})

    def of(*pairs: tuple[str, str]) -> dict[str, object]:
        return {"steps": [{"calls": [{"name": "maps/find", "arguments": list(pairs)}]}]}

    def text(city: str) -> str:
        return json.dumps({"steps": [{"calls": [{"name": "maps/find", "arguments": {"city": city}}]}]})

    rows: list[Mapping[str, object]] = [
        {"prediction": of(("city", "Lima")), "reference": of(("city", "Rome"))},
        {"prediction": None, "reference": of(("city", "Rome"))},
        {"prediction": of(("city", "Lima"), ("city", "Oslo")), "reference": of(("city", "Rome"))},
    ]
    found = scored(rows, schema)
    want = scored([{"prediction": text("Lima"), "reference": text("Rome")}])
    assert found[0] == want[0]
    assert found[1]["failure"] == "missing"
    assert "not a trajectory" in str(found[2]["error"])


def test_other_columns_are_kept_and_others_names_are_refused() -> None:
    row = {"model": "a", "when": 3, **small().rows()[0]}
    assert list(scored([row])[0]) == ["model", "when", "id", "type", *_batches.RESULTS.names]
    with pytest.raises(m3.InputError, match="rename yours: error"):
        scored([{**row, "error": 1}])
    with pytest.raises(m3.InputError, match="no column is called `reference`"):
        scored([{"prediction": "{}"}])


def test_options_are_checked_before_the_first_row() -> None:
    with pytest.raises(m3.InputError, match="no option is called `colour`"):
        _batches.checked_options({"colour": 1})
    with pytest.raises(m3.InputError):
        _batches.checked_options({"tau_weak": 7})
    with pytest.raises(m3.InputError, match="cannot be read"):
        _batches.checked_options({"tools": "no-such-file.json"})
    assert _batches.checked_options({"profile": "paper"}) == {"threads": 1, "profile": "paper"}


def test_a_worker_can_be_sent_before_and_after_work() -> None:
    rows = small().rows()
    want = scored(rows)
    batch = pa.RecordBatch.from_pylist(rows)
    sent = pickle.loads(pickle.dumps(WORKER))
    assert [row for part in sent.score(batch) for row in part.to_pylist()] == want


def test_groups_without_a_scored_row_are_not_there() -> None:
    table = pa.Table.from_pylist(
        [
            {"type": "a", "sums": None, "error": None},
            {"type": None, "sums": None, "error": None},
            {"type": "b", "sums": None, "error": "second"},
            {"type": "b", "sums": None, "error": "first"},
        ]
    )
    tally = _tally.Tally()
    for part in _tally.added([table], "type"):
        for row in part.to_pylist():
            tally.add_part(row)
    with pytest.warns(m3.InputWarning, match="2 rows have an error, .*: first"):
        assert tally.by_group("paper") == {}


def test_nothing_scored_is_said() -> None:
    tally = _tally.Tally()
    with pytest.raises(m3.InputError, match="no row at all"):
        tally.whole("paper")
    tally.add_scored({"sums": [None], "error": ["broken"]}, None)
    with pytest.raises(m3.InputError, match="no row is scored; 1 have an error, as: broken"):
        tally.whole("paper")
