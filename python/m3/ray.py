"""Scores rows of a Ray dataset, and adds them up to the numbers of `m3 score`, to the last digit.

>>> scored = m3.ray.score(dataset, workers=2)  # doctest: +SKIP
>>> m3.ray.aggregate(scored).recall  # doctest: +SKIP
0.9743589743589743

Needs `ray[data]` and pyarrow; workers need m3 (docs/scale.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]

from . import _batches
from ._report import Aggregate
from ._tally import Tally, added, columns_for, part_schema

if TYPE_CHECKING:
    from ray.data import Dataset

Profile = Literal["paper", "open-m3-bench"]


class _Worker:
    """Scores the batches of an actor."""

    def __init__(self, *arguments: Any) -> None:
        self._worker = _batches.Worker(*arguments)

    def __call__(self, table: pa.Table) -> pa.Table:
        parts = [part for batch in table.combine_chunks().to_batches() for part in self._worker.score(batch)]
        return pa.Table.from_batches(parts)


def score(
    dataset: Dataset,
    prediction: str = "prediction",
    reference: str = "reference",
    *,
    workers: int = 1,
    **options: Any,
) -> Dataset:
    """Scores each row: a prediction, null for a missing one, and its reference.

    `workers` says how many actors score, each with one thread. Columns, options and what is added are those of
    :func:`m3.spark.score`. Nothing is computed before the result is used, and all of it each time: keep what is used
    more than once, with `materialize` or as a file.

    Raises:
        InputError: a column or an option is wrong. A row that is wrong has an `error` instead.
    """
    from ray.data import ActorPoolStrategy

    checked = _batches.checked_options(options)
    # Asked for what is known: Ray would compute the first rows to find the names.
    names = dataset.columns(fetch_if_missing=False)
    if names is not None:
        _batches.other_columns(names, prediction, reference)
    return dataset.map_batches(
        _Worker,
        fn_constructor_args=(prediction, reference, checked),
        batch_format="pyarrow",
        batch_size=_batches.ROWS,
        compute=ActorPoolStrategy(size=workers),
        # Half a core by Ray's count: where actors held all cores, what reads the rows would wait for ever.
        num_cpus=0.5,
        zero_copy_batch=True,
    )


@overload
def aggregate(scored: Dataset, by: None = None, profile: Profile = "paper") -> Aggregate: ...
@overload
def aggregate(scored: Dataset, by: str, profile: Profile = "paper") -> dict[Any, Aggregate]: ...
def aggregate(scored: Dataset, by: str | None = None, profile: Profile = "paper") -> Aggregate | dict[Any, Aggregate]:
    """The metrics of all scored rows, or of those of each value in the column `by`: a type, a model, a date.

    Equal to the last digit to those of `m3 score` over the same, however the rows are parted. Each block is added up
    where it is; a row a block and group comes here. The profile is that of :func:`score`.

    Rows with an error are in no number: a warning says how many they are, and shows one.

    Raises:
        InputError: a column is missing, or no row is scored.
    """

    def parts(table: pa.Table) -> pa.Table:
        group = pa.bool_() if by is None else table.schema.field(by).type
        return next(added([table], by), part_schema(group).empty_table())

    names = scored.columns(fetch_if_missing=False)
    columns = columns_for(by, [*filter(None, (by, "sums", "error"))] if names is None else names)
    added_up = scored.select_columns(columns).map_batches(parts, batch_format="pyarrow", batch_size=None)
    tally = Tally()
    for part in added_up.iter_rows():
        tally.add_part(part)
    return tally.whole(profile) if by is None else tally.by_group(profile)
