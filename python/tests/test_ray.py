"""Ray: the numbers of `m3.score` to the last digit, however rows are parted, ordered and spread over workers."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import needs

needs("pyarrow")
ray = needs("ray")
needs("ray.data")

import m3
import m3.ray
from _rows import BAD_ROWS, BENCHMARKS, PROFILES, large, small

if TYPE_CHECKING:
    from ray.data import Dataset


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Two actors that score, and room for what feeds them.
    path = str(Path(m3.__file__ or "").parents[1])
    environment = {"env_vars": {"PYTHONPATH": path}}
    ray.init(num_cpus=4, include_dashboard=False, logging_level=logging.ERROR, runtime_env=environment)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def dataset(rows: list[dict[str, Any]], blocks: int = 2) -> Dataset:
    found: Dataset = ray.data.from_items(rows, override_num_blocks=blocks)
    return found


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_any_partition_gives_the_same_digits(benchmark: str, profile: Any) -> None:
    rows = BENCHMARKS[benchmark]().rows()
    report = BENCHMARKS[benchmark]().report(profile)
    for blocks in (1, 3, 7):
        scored = m3.ray.score(dataset(rows, blocks), workers=2, profile=profile).materialize()
        found = m3.ray.aggregate(scored, profile=profile)
        assert found.to_dict() == report.aggregate.to_dict()
        assert m3.ray.aggregate(scored, "type", profile=profile) == report.by_type


def test_rows_keep_their_columns_and_say_what_the_report_says() -> None:
    report = small().report("paper")
    for row in m3.ray.score(dataset(small().rows())).iter_rows():
        trajectory = report[row["id"]]
        assert row["type"] == trajectory.type
        assert row["metrics"]["average"] == trajectory.average
        of_matches = [match["similarity"] for match in row["matches"]]
        assert of_matches == [match["similarity"] for match in trajectory.matches]
        assert row["error"] is None


def test_bad_rows_in_a_thousand_fail_no_job() -> None:
    many = large().times(1000 - len(BAD_ROWS))
    rows = many.rows()
    for place, (prediction, reference) in enumerate(BAD_ROWS):
        bad = {"id": "bad", "type": "bad", "prediction": prediction, "reference": reference}
        rows.insert(100 * place, bad)
    scored = m3.ray.score(dataset(rows, 3), workers=2).materialize()
    with pytest.warns(m3.InputWarning, match=f"^{len(BAD_ROWS)} rows have an error"):
        assert m3.ray.aggregate(scored) == many.report("paper").aggregate
    with pytest.warns(m3.InputWarning, match=f"^{len(BAD_ROWS)} rows have an error"):
        assert m3.ray.aggregate(scored, by="type") == many.report("paper").by_type
    assert {row["id"] for row in scored.filter(lambda row: row["error"] is not None).iter_rows()} == {"bad"}


def test_dicts_are_trajectories_too() -> None:
    def of(city: str) -> dict[str, Any]:
        return {"steps": [{"calls": [{"name": "maps/find", "arguments": {"city": city}}]}]}

    rows: list[dict[str, Any]] = [{"mine": of("Lima"), "theirs": of("Lima")}, {"mine": None, "theirs": of("Rome")}]
    found = m3.ray.score(dataset(rows, 1), "mine", "theirs", match="strict").take_all()
    assert [row["metrics"]["recall"] for row in found] == [1, 0]
    assert [row["match"]["passed"] for row in found] == [True, False]


def test_what_is_wrong_is_said_before_the_job() -> None:
    rows = dataset(small().rows())
    with pytest.raises(m3.InputError, match="no column is called `answer`"):
        m3.ray.score(rows, "answer")
    with pytest.raises(m3.InputError, match="no option is called `colour`"):
        m3.ray.score(rows, colour="red")
    with pytest.raises(m3.InputError, match="no column is called `sums`"):
        m3.ray.aggregate(rows)


def test_blocks_may_be_empty() -> None:
    rows = dataset(small().rows(), 3)
    for found in (rows.filter(expr="id == 'none'"), m3.ray.score(rows).filter(expr="id == 'none'")):
        scored = m3.ray.score(found) if "sums" not in (found.columns() or ()) else found
        with pytest.raises(m3.InputError, match="no row at all"):
            m3.ray.aggregate(scored)
        with pytest.raises(m3.InputError, match="no row at all"):
            m3.ray.aggregate(scored, by="type")
