"""Scores rows of a Spark DataFrame, and adds them up to the numbers of `m3 score`, to the last digit.

>>> scored = m3.spark.score(df)  # doctest: +SKIP
>>> m3.spark.aggregate(scored).recall  # doctest: +SKIP
0.9743589743589743

Needs pyspark, pandas and pyarrow; executors need m3 (docs/scale.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]

from . import _batches
from ._errors import InputError
from ._report import Aggregate
from ._tally import Tally, added, columns_for, part_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Profile = Literal["paper", "open-m3-bench"]


def score(df: DataFrame, prediction: str = "prediction", reference: str = "reference", **options: Any) -> DataFrame:
    """Scores each row: a prediction, null for a missing one, and its reference.

    Both are JSON text, or structs or maps with `steps`. The options are those of :class:`m3.Scorer`. The other columns
    are kept, and these are added:

    - `metrics`: counts and metrics of the row, each metric in [0, 1]
    - `matches`: the matched pairs of calls; `unmatched_references` and `unmatched_predictions`: calls without a partner
    - `match`: whether it passes and why not, where there is an option `match`
    - `failure`: why the task failed, if it did
    - `sums`: for :func:`aggregate`; null if the profile leaves the row out
    - `error`: why the row cannot be scored; null if it can

    Nothing is computed before the result is used, and all of it each time: keep what is used more than once, with
    `persist` or as a file.

    Raises:
        InputError: a column or an option is wrong. A row that is wrong has an `error` instead.
    """
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    checked = _batches.checked_options(options)
    kept = _batches.other_columns(df.columns, prediction, reference)
    schema = StructType([df.schema.fields[index] for index in kept] + from_arrow_schema(_batches.RESULTS).fields)
    worker = _batches.Worker(prediction, reference, checked)

    def scored(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from worker.score(batch)

    return df.mapInArrow(scored, schema)


@overload
def aggregate(scored: DataFrame, by: None = None, profile: Profile = "paper") -> Aggregate: ...
@overload
def aggregate(scored: DataFrame, by: str, profile: Profile = "paper") -> dict[Any, Aggregate]: ...
def aggregate(scored: DataFrame, by: str | None = None, profile: Profile = "paper") -> Aggregate | dict[Any, Aggregate]:
    """The metrics of all scored rows, or of those of each value in the column `by`: a type, a model, a date.

    Equal to the last digit to those of `m3 score` over the same, however the rows are parted. Each partition adds up
    its own; a row for each partition and group comes here. The profile is that of :func:`score`.

    Rows with an error are in no number: a warning says how many they are, and shows one.

    Raises:
        InputError: a column is missing, or no row is scored.
    """
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import AtomicType, StructField, StructType

    columns = columns_for(by, scored.columns)
    fields = from_arrow_schema(part_schema(pa.bool_())).fields
    if by is not None:
        kind = scored.schema[by].dataType
        if not isinstance(kind, AtomicType):
            raise InputError(f"`{by}` is of type {kind.simpleString()}; groups are named by texts, numbers or dates")
        fields[0] = StructField("group", kind)

    def parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in added(batches, by):
            yield from table.to_batches()

    tally = Tally()
    for row in scored.select(*(f"`{name}`" for name in columns)).mapInArrow(parts, StructType(fields)).collect():
        tally.add_part(row.asDict())
    return tally.whole(profile) if by is None else tally.by_group(profile)
