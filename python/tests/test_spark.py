"""Spark: the numbers of `m3.score` to the last digit, however rows are parted, ordered and spread over processes."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import missing, needs

needs("pyspark")
needs("pandas")
needs("pyarrow")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    missing("java is not installed")

import m3
import m3.spark
import pyspark
from _rows import BAD_ROWS, BENCHMARKS, PROFILES, large, small
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCHEMA = "id string, type string, prediction string, reference string"


def session(master: str) -> SparkSession:
    """A session whose workers run this Python and find this m3."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_HOME"] = pyspark.__path__[0]
    builder = SparkSession.builder.master(master).appName("m3")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    settings["spark.executorEnv.PYTHONPATH"] = str(Path(m3.__file__ or "").parents[1])
    for name in ("M3_CACHE_DIR", "M3_ENCODER_DIR", "ORT_DYLIB_PATH"):
        if name in os.environ:
            settings[f"spark.executorEnv.{name}"] = os.environ[name]
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    found = session("local[2]")
    yield found
    found.stop()


def frame(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_any_partition_gives_the_same_digits(spark: SparkSession, benchmark: str, profile: Any) -> None:
    rows = BENCHMARKS[benchmark]().rows()
    report = BENCHMARKS[benchmark]().report(profile)
    for partitions in (1, 3, 7):
        scored = m3.spark.score(frame(spark, rows).repartition(partitions), profile=profile).persist()
        found = m3.spark.aggregate(scored, profile=profile)
        assert found.to_dict() == report.aggregate.to_dict()
        assert m3.spark.aggregate(scored, "type", profile=profile) == report.by_type
        scored.unpersist()


def test_rows_keep_their_columns_and_say_what_the_report_says(spark: SparkSession) -> None:
    report = small().report("paper")
    for row in m3.spark.score(frame(spark, small().rows())).collect():
        trajectory = report[row["id"]]
        assert row["type"] == trajectory.type
        assert row["metrics"]["average"] == trajectory.average
        of_matches = [match["similarity"] for match in row["matches"]]
        assert of_matches == [match["similarity"] for match in trajectory.matches]
        assert row["error"] is None


def test_a_bad_row_in_a_thousand_fails_no_job(spark: SparkSession) -> None:
    many = large().times(1000 - 1)
    rows = many.rows()
    for prediction, reference in BAD_ROWS:
        bad = {"id": "bad", "type": "bad", "prediction": prediction, "reference": reference}
        scored = m3.spark.score(frame(spark, [*rows[:700], bad, *rows[700:]]).repartition(3))
        with pytest.warns(m3.InputWarning, match="^1 rows have an error"):
            found = m3.spark.aggregate(scored)
        assert found == many.report("paper").aggregate
    assert [row["id"] for row in scored.where("error is not null").collect()] == ["bad"]
    with pytest.warns(m3.InputWarning, match="^1 rows have an error"):
        assert m3.spark.aggregate(scored, by="type") == many.report("paper").by_type


def test_structs_and_options(spark: SparkSession) -> None:
    trajectory = "struct<steps: array<struct<calls: array<struct<name: string, arguments: map<string, string>>>>>>"

    def of(city: str) -> tuple[Any, ...]:
        return ([([("maps/find", {"city": city})],)],)

    df = spark.createDataFrame([(of("Lima"), of("Lima"))], f"mine: {trajectory}, theirs: {trajectory}")
    row = m3.spark.score(df, "mine", "theirs", similarity="typed", match="strict").collect()[0]
    assert row["metrics"]["recall"] == 1 and row["match"]["passed"]


def test_what_is_wrong_is_said_before_the_job(spark: SparkSession) -> None:
    df = frame(spark, small().rows())
    with pytest.raises(m3.InputError, match="no column is called `answer`"):
        m3.spark.score(df, "answer")
    with pytest.raises(m3.InputError, match="no option is called `colour`"):
        m3.spark.score(df, colour="red")
    with pytest.raises(m3.InputError, match="no column is called `sums`"):
        m3.spark.aggregate(df)
    scored = m3.spark.score(df)
    with pytest.raises(m3.InputError, match="`metrics` is of type struct"):
        m3.spark.aggregate(scored, by="metrics")
    with pytest.raises(m3.InputError, match="no row at all"):
        m3.spark.aggregate(scored.where("false"))


def test_executors_of_their_own_give_the_same_digits(spark: SparkSession) -> None:
    spark.stop()
    cluster = session("local-cluster[2,1,1024]")
    try:
        scored = m3.spark.score(frame(cluster, large().rows()).repartition(5), profile="open-m3-bench")
        assert m3.spark.aggregate(scored, profile="open-m3-bench") == large().report("open-m3-bench").aggregate
    finally:
        cluster.stop()
