"""Measures m3 on many rows: one core, the command, Spark and Ray. docs/scale.md says what it found.

    python scale.py make   FOLDER PREDICTIONS REFERENCES [--rows 100000] [--new]
    python scale.py core   FOLDER
    python scale.py score  FOLDER [--command m3] [--rounds 3]
    python scale.py both   FOLDER [--command m3] [--rounds 3]
    python scale.py driver FOLDER
    python scale.py ray    FOLDER
    python scale.py plans  FOLDER [--repeats 8]

`make` repeats a benchmark under new ids; with `--new` every text of every argument is new. Figures are lines of JSON:
seconds by the clock, of the processors for this program and what runs below it, and of the processors for others in that
time (among them Ray's workers), which should be next to nothing. Linux only.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import m3
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from m3 import _batches

SCHEMA = pa.schema({"id": pa.string(), "type": pa.string(), "prediction": pa.string(), "reference": pa.string()})


def ticks() -> tuple[float, float]:
    """Seconds of the processors so far: of this process and all below it, and of the machine."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It is gone.
        process = int(path.parent.name)
        parents[process] = int(fields[1])
        used[process] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in mine} - mine:
        mine |= more
    machine = list(map(int, Path("/proc/stat").read_text().split()[1:9]))
    tick = os.sysconf("SC_CLK_TCK")
    return sum(used[process] for process in mine) / tick, (sum(machine) - machine[3] - machine[4]) / tick


@contextmanager
def measured(what: str, rows: int) -> Iterator[dict[str, Any]]:
    """Tells how long the block takes, with what it adds."""
    more: dict[str, Any] = {}
    (mine, machine), start = ticks(), time.perf_counter()
    yield more
    seconds, (mine_now, machine_now) = time.perf_counter() - start, ticks()
    mine, machine = mine_now - mine, machine_now - machine
    figures = {"seconds": seconds, "processors": mine, "others": max(0, machine - mine)}
    figures["rows_per_second"] = rows / seconds
    rounded = {name: round(value, 2) for name, value in figures.items()}
    print(json.dumps({"what": what, "rows": rows, **rounded, **more}), flush=True)


def peak_mb(who: int = resource.RUSAGE_SELF) -> int:
    return resource.getrusage(who).ru_maxrss // 1024


def renamed(value: Any, mark: str) -> Any:
    """The value with texts that no other row has."""
    if isinstance(value, dict):
        return {key: renamed(item, mark) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, mark) for item in value]
    return f"{value} {mark}" if isinstance(value, str) else value


def again(trajectory: dict[str, Any], number: int, is_new: bool) -> str:
    steps: list[dict[str, Any]] = []
    for step in trajectory["steps"]:
        calls: list[dict[str, Any]] = step["calls"]
        if is_new:
            calls = [{**call, "arguments": renamed(call.get("arguments"), f"{number}")} for call in calls]
        steps.append({**step, "calls": calls})
    return json.dumps({**trajectory, "steps": steps, "id": f"{number:09}"})


def make(folder: Path, files: list[Path], rows: int, is_new: bool) -> None:
    predictions, references = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    predicted = {it["id"]: it for it in predictions}
    pairs = [(predicted[it["id"]], it) for it in references if it["id"] in predicted]
    folder.mkdir(parents=True, exist_ok=True)
    with (
        open(folder / "predictions.jsonl", "w", encoding="utf-8") as first,
        open(folder / "references.jsonl", "w", encoding="utf-8") as second,
        pq.ParquetWriter(folder / "rows.parquet", SCHEMA, compression="zstd") as writer,
    ):
        for start in range(0, rows, 5000):
            table: list[dict[str, Any]] = []
            for number in range(start, min(start + 5000, rows)):
                texts = [again(trajectory, number, is_new) for trajectory in pairs[number % len(pairs)]]
                first.write(texts[0] + "\n")
                second.write(texts[1] + "\n")
                kind = pairs[number % len(pairs)][1].get("type")
                table.append({"id": f"{number:09}", "type": kind, "prediction": texts[0], "reference": texts[1]})
            writer.write_table(pa.Table.from_pylist(table, schema=SCHEMA))


def counted(scored: pa.RecordBatch) -> int:
    """The calls of both sides."""
    names = ("reference_calls", "predicted_calls")
    return sum(pc.sum(pc.struct_field(scored.column("metrics"), name)).as_py() for name in names)


def core(folder: Path) -> None:
    """One process, one thread, an empty cache: every text for the first time, then again; then other sizes."""
    file = pq.ParquetFile(folder / "rows.parquet")
    before = peak_mb()
    cache_dir = TemporaryDirectory()
    worker = _batches.Worker("prediction", "reference", {"threads": 1, "cache_dir": cache_dir.name})
    worker.scorer()
    ready = peak_mb()
    for what in ("first", "again", "again", "again"):
        with measured(f"a worker, {what}", file.metadata.num_rows) as more:
            parts = [part for batch in file.iter_batches(1000) for part in map(counted, worker.score(batch))]
            more |= {"calls": sum(parts), "peak_mb": peak_mb(), "ready_mb": ready, "imported_mb": before}
        print(json.dumps({"cache_mb": sum(path.stat().st_size for path in Path(cache_dir.name).iterdir()) >> 20}))
    table = file.read(["prediction", "reference"])
    pairs = [(row["prediction"].encode(), row["reference"].encode()) for row in table.slice(0, 5000).to_pylist()]
    for size in (1, 10, 100, 500, 5000):
        with measured(f"pairs of JSON, {size} at once", len(pairs)):
            for start in range(0, len(pairs), size):
                worker.scorer().reports(pairs[start : start + size])


def session(cores: int = 2) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    # A batch of Arrow is held by the JVM and by the worker.
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def both(folder: Path, command: str, rounds: int) -> None:
    """The command with two threads and Spark with two cores, in turns, over the same rows."""
    import m3.spark

    spark = session()
    rows = spark.read.parquet(str(folder / "rows.parquet"))
    count = rows.count()
    m3.spark.aggregate(m3.spark.score(rows.limit(500)))
    files = [str(folder / "predictions.jsonl"), str(folder / "references.jsonl")]
    for _ in range(rounds):
        with measured("command", count):
            scoring = [command, "score", *files, "--format=jsonl", "--threads=2"]
            done = subprocess.run(scoring, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        aggregate = json.loads(done.stdout.splitlines()[-1])["aggregate"]
        del done
        with measured("Spark, aggregate", count) as more:
            found = m3.spark.aggregate(m3.spark.score(rows))
            more["same_digits"] = found.to_dict() == aggregate
        with measured("Spark, every row written", count):
            m3.spark.score(rows).write.mode("overwrite").parquet(str(folder / "scored.parquet"))
    spark.stop()


def driver(folder: Path) -> None:
    """What the driver's Python needs at most when nothing else is done in it."""
    import m3.spark

    spark = session()
    rows = spark.read.parquet(str(folder / "rows.parquet"))
    with measured("Spark, aggregate by type", rows.count()) as more:
        m3.spark.aggregate(m3.spark.score(rows), by="type")
        more["driver_peak_mb"] = peak_mb()
    spark.stop()


def in_process(folder: Path, command: str, rounds: int) -> None:
    """The command and `m3.score` in turns."""
    files = [str(folder / "predictions.jsonl"), str(folder / "references.jsonl")]
    count = pq.read_metadata(folder / "rows.parquet").num_rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            with measured("command", count), open(os.devnull, "w") as nowhere:
                subprocess.run([command, "score", *files, "--format=jsonl"], stdout=nowhere, stderr=nowhere, check=True)
            with measured("m3.score", count):
                m3.score(*files)


def with_ray(folder: Path) -> None:
    import m3.ray
    import ray

    ray.init(num_cpus=3, include_dashboard=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    count = pq.read_metadata(folder / "rows.parquet").num_rows
    for _ in range(2):
        with measured("Ray, aggregate", count) as more:
            m3.ray.aggregate(m3.ray.score(ray.data.read_parquet(str(folder / "rows.parquet")), workers=2))
            more["driver_peak_mb"] = peak_mb()
    ray.shutdown()


def plans(folder: Path, repeats: int) -> None:
    """Rows of new texts, each `repeats` times in an order of chance: ways to spread them over two workers."""
    import m3.spark

    def texts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found: set[str] = set()
            for column in ("prediction", "reference"):
                for text in batch.column(column).to_pylist():
                    calls = (call for step in json.loads(text)["steps"] for call in step["calls"])
                    found.update(json.dumps(call.get("arguments")) for call in calls)
            yield pa.RecordBatch.from_pydict({"text": sorted(found)})

    def score(rows: Any, is_shared: bool) -> Any:
        """With a cache for each worker, as on machines of their own, or one for all."""
        schema = m3.spark.score(rows).schema

        def scored(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            cache_dir = os.path.join(caches, "all" if is_shared else str(os.getpid()))
            worker = _batches.Worker("prediction", "reference", {"threads": 1, "cache_dir": cache_dir})
            for batch in batches:
                yield from worker.score(batch)

        return rows.mapInArrow(scored, schema)

    def own_caches(rows: Any) -> m3.Aggregate:
        return m3.spark.aggregate(score(rows, False))

    def one_cache(rows: Any) -> m3.Aggregate:
        return m3.spark.aggregate(score(rows, True))

    def own_caches_together(rows: Any) -> m3.Aggregate:
        return own_caches(rows.repartition(8, "reference"))

    def own_caches_distinct_first(rows: Any) -> m3.Aggregate:
        keys = ["prediction", "reference"]
        pairs = rows.select(keys).distinct()
        scored = score(pairs.selectExpr("*", "prediction as p", "reference as r"), False)
        return m3.spark.aggregate(rows.join(scored.withColumnsRenamed({"p": keys[0], "r": keys[1]}), keys))

    def only_find_texts(rows: Any) -> int:
        return int(rows.mapInArrow(texts, "text string").distinct().count())

    found: dict[str, Any] = {}
    for plan in (own_caches, one_cache, own_caches_together, own_caches_distinct_first, only_find_texts):
        caches = mkdtemp()
        # New processes, which know no text.
        spark = session()
        once = spark.read.parquet(str(folder / "rows.parquet")).drop("id")
        rows = once.crossJoin(spark.range(repeats)).repartition(8).persist()
        count = rows.count()
        with measured(plan.__name__, count):
            found[plan.__name__] = plan(rows)
        spark.stop()
        shutil.rmtree(caches)
    print(json.dumps({"texts": found.pop("only_find_texts"), "same digits": len(set(found.values())) == 1}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "core", "score", "both", "driver", "ray", "plans"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--command", default="m3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=8)
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.files, given.rows, given.new)
    elif given.what in ("both", "score"):
        (both if given.what == "both" else in_process)(given.folder, given.command, given.rounds)
    elif given.what == "plans":
        plans(given.folder, given.repeats)
    else:
        {"core": core, "driver": driver, "ray": with_ray}[given.what](given.folder)


if __name__ == "__main__":
    main()
