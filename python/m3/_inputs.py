"""Turns what Python has, paths, dicts, frames, into files that the command reads."""

from __future__ import annotations

import json
import math
import os
import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from tempfile import mkdtemp
from typing import Any, cast

from ._engine import kind_of, native, path_of, warn
from ._errors import InputError, Problem

Trajectories = Any
"""A path; a trajectory, or a list of them, as dicts; a mapping from ids to trajectories; a frame of pandas, polars,
Arrow or `datasets` with the columns `id` and `steps`."""

_FORMS = "a path, a list of dicts, or a frame of pandas, polars, Arrow or datasets with the columns `id` and `steps`"


class Folder:
    """A temporary folder for what was handed over; it goes when the last who needs it goes."""

    def __init__(self) -> None:
        self._name: str | None = None

    @property
    def prefix(self) -> str | None:
        """How the paths of its files start."""
        return None if self._name is None else self._name + os.sep

    def path(self, name: str) -> str:
        """The path for a new file."""
        if self._name is None:
            self._name = mkdtemp(prefix="m3-")
            weakref.finalize(self, _remove, self._name, os.getpid())
        return os.path.join(self._name, name)

    def file(self, value: Trajectories, name: str) -> str:
        """The path of a file with these trajectories: the path itself, or a new file that is called `name`."""
        if isinstance(value, (str, os.PathLike)):
            if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and not os.path.exists(value):
                raise InputError(f"`{name}` is text, which would be a path; hand JSON over as `json.loads(..)`")
            return path_of(value, name)
        # JSON Lines, even of one trajectory: its place is its row.
        path = self.path(f"{name}.jsonl")
        with open(path, "wb") as file:
            file.writelines(row + b"\n" for row in rows_of(value, name))
        return path

    def json_file(self, value: object, name: str) -> str:
        """The path of a file with this JSON: the path itself, or a new file."""
        if isinstance(value, (str, os.PathLike)):
            return path_of(value, name)
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(to_json(value, name))
        return path


def _remove(folder: str, process: int) -> None:
    # A fork has the same objects; their end there is not the end here.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def to_json(value: object, name: str) -> bytes:
    """A value as JSON on one line."""
    written = native().plain_json(value)
    if written is not None:
        return cast(bytes, written)
    try:
        return _ENCODER.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: not JSON: {error}") from None


def _plain(value: Any) -> object:
    """A value of numpy, or of a frame, as one of JSON."""
    if hasattr(value, "tolist"):
        # Structs of Arrow are dicts in arrays here.
        return without_nulls(value.tolist())
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"{kind_of(value)} is no value of JSON")


# With escapes: half of a surrogate pair has one too.
_ENCODER = json.JSONEncoder(default=_plain)


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
        row = -1
        for row, record in enumerate(frame):
            yield of_record(record, row, name)
        if row < 0:
            raise InputError(f"{name}: the frame is empty; there should be at least one trajectory")
    elif isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        count = 0
        for row, item in enumerate(value):
            count += 1
            if not isinstance(item, (Mapping, str)):
                place = Problem(name, row, None, None, "", f"a trajectory should be a dict, and is {kind_of(item)}")
                raise InputError(str(place), [place])
            yield _checked(item, row, name) if isinstance(item, str) else to_json(item, f"{name}[{row}]")
        if count == 0:
            raise InputError(f"{name}: no trajectories in it; there should be at least one")
    else:
        raise InputError(f"{name} should be {_FORMS}, and is {kind_of(value)}")


def _checked(text: str, row: int, name: str) -> bytes:
    """JSON text of one trajectory on one line; what is no JSON would break the rows after it too."""
    try:
        json.loads(text)
    except RecursionError:
        pass  # The command tells.
    except ValueError as error:
        raise _not_json(error, row, None, "", name) from None
    return one(text, name).replace(b"\n", b" ")


def _not_json(error: ValueError, row: int, id: object, pointer: str, name: str) -> InputError:
    place = Problem(name, row, None, None if id is None else str(id), pointer, f"not JSON: {error}")
    return InputError(str(place), [place])


def _of_mapping(value: Mapping[Any, Any], name: str) -> Iterator[bytes]:
    if "steps" in value and not isinstance(value["steps"], Mapping):
        yield to_json(value, name)
        return
    if not value:
        raise InputError(f"{name}: no trajectories in it; there should be at least one")
    for id, item in value.items():
        if not isinstance(item, Mapping):
            place = Problem(name, None, None, str(id), "", f"a trajectory should be a dict, and is {kind_of(item)}")
            raise InputError(str(place), [place])
        trajectory = {"id": str(id), **item}
        if str(trajectory["id"]) != str(id):
            warn(f"{name}[{id!r}]: the key is `{id}`, the id `{trajectory['id']}`; the id is used")
        yield to_json(trajectory, f"{name}[{id!r}]")


_LIBRARIES = ("pandas", "polars", "pyarrow", "datasets")


def _library_of(value: object) -> str | None:
    """The library of a frame; `None` if it is no frame."""
    kind = type(value)
    if not (hasattr(kind, "columns") or hasattr(kind, "column_names") or hasattr(kind, "schema")):
        return None
    roots = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((root for root in roots if root in _LIBRARIES), None)


def _is_frame(value: object) -> bool:
    return _library_of(value) is not None


def _records(value: Any, name: str) -> Iterator[Mapping[str, Any]] | None:
    """The rows of a frame; `None` if it is none."""
    library = _library_of(value)
    columns: list[str]
    rows: Iterator[Mapping[str, Any]]
    if library == "pandas":
        columns = [str(column) for column in value.columns]
        rows = (dict(zip(columns, row, strict=True)) for row in value.itertuples(index=False, name=None))
    elif library == "polars":
        if not hasattr(value, "iter_rows"):
            raise InputError(f"{name} is {kind_of(value)}; hand over what its `collect()` gives")
        columns = list(value.columns)
        rows = (without_nulls(row) for row in value.iter_rows(named=True))
    elif library == "pyarrow":
        columns = list(value.schema.names)
        rows = _rows_of_batches([value] if hasattr(value, "to_pylist") else value)
    elif library == "datasets":
        if isinstance(value.column_names, dict):
            splits = ", ".join(f"`{split}`" for split in value.column_names)
            raise InputError(f"{name} is {kind_of(value)}; hand over one of its splits: {splits}")
        # As tables: pictures are not decoded, and no format of tensors matters.
        tables = value.with_format("arrow").iter(batch_size=1000)
        columns = list(value.column_names) if value.column_names is not None else ["steps"]
        rows = _rows_of_batches(tables)
    else:
        return None
    if "steps" not in columns:
        found = ", ".join(f"`{column}`" for column in columns[:10]) or "none"
        raise InputError(f"{name}: the frame has no column `steps`; its columns are {found}")
    return rows


def _rows_of_batches(batches: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    return (without_nulls(row) for batch in batches for row in batch.to_pylist())


def without_nulls(value: Any) -> Any:
    """Without members that are null: a column of structs has every key in every row."""
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _is_missing(value: object) -> bool:
    is_nan = isinstance(value, float) and math.isnan(value)
    # Bytes are pictures, which no score looks at.
    return value is None or is_nan or isinstance(value, bytes) or type(value).__name__ in ("NAType", "NaTType")


def _is_picture(value: object) -> bool:
    """Whether it is a file of `datasets`: its bytes, and its path if it is known."""
    return isinstance(value, Mapping) and value.keys() <= {"bytes", "path"} and "bytes" in value


def of_record(record: Mapping[str, Any], row: int, name: str) -> bytes:
    """A row of a frame as a trajectory: cells without a value are left out, JSON in `steps` is read."""
    cells = {key: value.get("path") if _is_picture(value) else value for key, value in record.items()}
    trajectory = {key: value for key, value in cells.items() if not _is_missing(value)}
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
            raise _not_json(error, row, id, "/steps", name) from None
    return to_json(trajectory, f"{name}[{row}]")
