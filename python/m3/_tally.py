"""Adds up exact sums of scored rows, group by group, here and elsewhere: what :mod:`m3.spark` and :mod:`m3.ray` share.

What a tally holds, and what is sent of it, grows with the groups and not with the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]

from . import _engine
from ._errors import InputError
from ._report import Aggregate
from ._scorer import aggregate_sums

WHOLE = True
"""The group of all rows, where there are no others."""


@dataclass
class _Group:
    sums: str
    left_out: int = 0
    errors: int = 0
    error: str | None = None


def columns_for(by: str | None, names: Sequence[str]) -> list[str]:
    """The columns of scored rows that are added up; `names` are those that there are."""
    wanted = list(dict.fromkeys([*([] if by is None else [by]), "sums", "error"]))
    for name in wanted:
        if name not in names:
            raise InputError(f"no column is called `{name}`; the columns are {', '.join(names)}")
    return wanted


def part_schema(group: pa.DataType) -> pa.Schema:
    """What is sent of a group; the first is the type of its name."""
    kinds = {"group": group, "sums": pa.string(), "left_out": pa.int64(), "errors": pa.int64(), "error": pa.string()}
    return pa.schema(list(kinds.items()))


def added(batches: Iterable[pa.RecordBatch | pa.Table], by: str | None) -> Iterator[pa.Table]:
    """Scored rows added up: one table with a row for each group, if there are rows."""
    tally = Tally()
    group = pa.bool_()
    for batch in batches:
        columns = columns_for(by, batch.schema.names)
        tally.add_scored({name: batch.column(name).to_pylist() for name in columns}, by)
        group = group if by is None else batch.schema.field(by).type
    parts = list(tally.parts())
    if parts:
        yield pa.Table.from_pylist(parts, schema=part_schema(group))


class Tally:
    """Exact sums of groups of rows; those without a group are counted, and in none."""

    def __init__(self) -> None:
        self._groups: dict[Any, _Group] = {}

    def add_scored(self, columns: Mapping[str, Sequence[Any]], by: str | None) -> None:
        """Adds scored rows by their columns `sums` and `error`, in the groups that the column `by` names."""
        groups = repeat(WHOLE) if by is None else columns[by]
        rows: dict[Any, list[tuple[str | None, str | None]]] = {}
        for group, *row in zip(groups, columns["sums"], columns["error"], strict=False):
            rows.setdefault(group, []).append((row[0], row[1]))
        for group, found in rows.items():
            errors = [error for _, error in found if error is not None]
            sums = [text for text, _ in found if text is not None]
            left_out = len(found) - len(sums) - len(errors)
            self._add(group, _engine.native().add_sums(sums), left_out, len(errors), min(errors, default=None))

    def add_part(self, part: Mapping[str, Any]) -> None:
        """Adds what :meth:`parts` gave elsewhere."""
        self._add(part["group"], part["sums"], part["left_out"], part["errors"], part["error"])

    def _add(self, name: Any, sums: str, left_out: int, errors: int, error: str | None) -> None:
        group = self._groups.setdefault(name, _Group(_engine.native().add_sums([])))
        group.sums = _engine.native().add_sums([group.sums, sums])
        group.left_out += left_out
        group.errors += errors
        # The least of all, so that it does not depend on who came first.
        group.error = min((text for text in (group.error, error) if text is not None), default=None)

    def parts(self) -> Iterator[dict[str, Any]]:
        """A row for each group, for :meth:`add_part`."""
        for name, group in self._groups.items():
            yield {"group": name, **vars(group)}

    def whole(self, profile: str) -> Aggregate:
        """The metrics of all rows."""
        self._check()
        group = self._groups[WHOLE]
        return aggregate_sums(group.sums, group.left_out, profile)

    def by_group(self, profile: str) -> dict[Any, Aggregate]:
        """The metrics of each group, sorted; as in a report, without those that the profile leaves out whole."""
        self._check()
        found = {
            name: aggregate_sums(group.sums, group.left_out, profile)
            for name, group in self._groups.items()
            if name is not None
        }
        return dict(sorted((name, metrics) for name, metrics in found.items() if metrics.trajectories))

    def _check(self) -> None:
        """Says how many rows are in no number; raises if there is no other."""
        groups = self._groups.values()
        errors = sum(group.errors for group in groups)
        example = min((group.error for group in groups if group.error is not None), default="")
        if not any(group.left_out or not group.sums.startswith("0 ") for group in groups):
            raise InputError(f"no row is scored; {errors} have an error, as: {example}" if errors else "no row at all")
        if errors:
            _engine.warn(f"{errors} rows have an error, and are in no number; one of them: {example}")
