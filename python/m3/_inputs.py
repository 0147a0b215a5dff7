"""Turns what Python has, paths, dicts, frames, into files that the command reads."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import Any

from ._engine import kind_of
from ._errors import InputError, Problem

Trajectories = Any
"""A path; a trajectory, or a list of them, as dicts; a mapping from ids to trajectories; a frame of pandas, polars, Arrow
or `datasets` with the columns `id` and `steps`."""

_FORMS = "a path, a list of dicts, or a frame of pandas, polars, Arrow or datasets with the columns `id` and `steps`"


class Folder:
    """A temporary folder for what was handed over; it goes when the last who needs it goes."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None

    @property
    def prefix(self) -> str | None:
        """How the paths of its files start."""
        return None if self._folder is None else self._folder.name + os.sep

    def path(self, name: str) -> str:
        """The path for a new file."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="m3-", ignore_cleanup_errors=True)
        return os.path.join(self._folder.name, name)

    def file(self, value: Trajectories, name: str) -> str:
        """The path of a file with these trajectories: the path itself, or a new file that is called `name`."""
        if isinstance(value, (str, os.PathLike)):
            path = os.fspath(value)
            if not isinstance(path, str):
                path = os.fsdecode(path)
            if path == "-":
                raise InputError(f"`{name}` is `-`, which stands for standard input only in the command; name a file")
            # A path is never an option.
            return path if not path.startswith("-") else os.path.join(".", path)
        path = self.path(name)
        with open(path, "wb") as file:
            for row in rows_of(value, name):
                file.write(row + b"\n")
        return path

    def json_file(self, value: object, name: str) -> str:
        """The path of a file with this JSON: the path itself, or a new file."""
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(to_json(value, name))
        return path


def to_json(value: object, name: str) -> bytes:
    """A value as JSON on one line."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: not JSON: {error}") from None


def _plain(value: Any) -> object:
    """A value of numpy, or of a frame, as one of JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"{kind_of(value)} is no value of JSON")


def one(value: object, name: str) -> bytes:
    """One trajectory as JSON: text or bytes as they are."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, (Mapping, Sequence)):
        return to_json(value, name)
    raise InputError(f"{name} should be a trajectory: a dict, a list of messages or JSON, and is {kind_of(value)}")


def rows_of(value: Trajectories, name: str) -> Iterator[bytes]:
    """The trajectories as JSON, one after the other."""
    if isinstance(value, Mapping) and not _is_frame(value):
        yield from _of_mapping(value, name)
    elif (frame := _records(value, name)) is not None:
        yield from (_of_record(record, row, name) for row, record in enumerate(frame))
    elif isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        count = 0
        for row, item in enumerate(value):
            count += 1
            if not isinstance(item, (Mapping, str)):
                place = Problem(name, row, None, None, "", f"a trajectory should be a dict, and is {kind_of(item)}")
                raise InputError(str(place), [place])
            yield one(item, f"{name}[{row}]").replace(b"\n", b" ")
        if count == 0:
            raise InputError(f"{name}: no trajectories in it; there should be at least one")
    else:
        raise InputError(f"{name} should be {_FORMS}, and is {kind_of(value)}")


def _of_mapping(value: Mapping[Any, Any], name: str) -> Iterator[bytes]:
    if "steps" in value:
        yield to_json(value, name)
        return
    if not value:
        raise InputError(f"{name}: no trajectories in it; there should be at least one")
    for id, item in value.items():
        if not isinstance(item, Mapping):
            place = Problem(name, None, None, str(id), "", f"a trajectory should be a dict, and is {kind_of(item)}")
            raise InputError(str(place), [place])
        yield to_json({"id": str(id), **item}, f"{name}[{id!r}]")


def _is_frame(value: object) -> bool:
    return hasattr(value, "column_names") or hasattr(value, "columns")


def _records(value: Any, name: str) -> Iterator[Mapping[str, Any]] | None:
    """The rows of a frame; `None` if it is none."""
    module = type(value).__module__.split(".")[0]
    columns: list[str]
    if module == "pandas" and hasattr(value, "columns"):
        columns = [str(column) for column in value.columns]
        rows = (dict(zip(columns, row, strict=True)) for row in value.itertuples(index=False, name=None))
    elif module == "polars" and hasattr(value, "iter_rows"):
        columns = list(value.columns)
        rows = (_without_nulls(row) for row in value.iter_rows(named=True))
    elif module == "pyarrow" and hasattr(value, "column_names") or hasattr(value, "to_pylist"):
        columns = list(value.schema.names)
        batches = value.to_batches() if hasattr(value, "to_batches") else [value]
        rows = (_without_nulls(row) for batch in batches for row in batch.to_pylist())
    elif module == "datasets" and hasattr(value, "column_names"):
        columns = list(value.column_names) if not isinstance(value.column_names, dict) else []
        rows = (_without_nulls(row) for row in value)
    else:
        return None
    if "steps" not in columns:
        found = ", ".join(f"`{column}`" for column in columns[:10]) or "none"
        raise InputError(f"{name}: the frame has no column `steps`; its columns are {found}")
    if len(value) == 0:
        raise InputError(f"{name}: the frame is empty; there should be at least one trajectory")
    return rows


def _without_nulls(value: Any) -> Any:
    """Without members that are null: a column of structs has every key in every row."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value))


def _of_record(record: Mapping[str, Any], row: int, name: str) -> bytes:
    """A row of a frame as a trajectory: cells without a value are left out, JSON in `steps` is read."""
    trajectory = {key: value for key, value in record.items() if not _is_missing(value)}
    id = trajectory.get("id")
    for column in ("id", "steps"):
        if column not in trajectory and (column == "steps" or column in record):
            message = f"the column `{column}` has no value here (null or NaN)"
            place = Problem(name, row, None, None if id is None else str(id), f"/{column}", message)
            raise InputError(str(place), [place])
    if isinstance(trajectory["steps"], str):
        try:
            trajectory["steps"] = json.loads(trajectory["steps"])
        except ValueError as error:
            place = Problem(name, row, None, None if id is None else str(id), "/steps", f"not JSON: {error}")
            raise InputError(str(place), [place]) from None
    return to_json(trajectory, f"{name}[{row}]")
