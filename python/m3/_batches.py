"""Batches of Arrow in, scores as columns out: what :mod:`m3.spark` and :mod:`m3.ray` share.

A row is a prediction and its reference. Rows are independent of each other, and what is kept of each for the aggregate
are exact sums, so how rows are cut into batches, and in which order they come, changes no digit.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
import pyarrow.json  # type: ignore[import-untyped, unused-ignore]

from ._errors import InputError, UnavailableError
from ._inputs import of_record, one, without_nulls
from ._native import METRICS as SCORE_METRICS
from ._scorer import Scorer, shared

ROWS = 500
"""So many rows are scored at a time: more are no faster and take more memory (docs/scale.md)."""

Pair = tuple["bytes | None", bytes]
Options = Mapping[str, Any]

_COUNTS = ("reference_calls", "predicted_calls", "matched")
_METRICS = (*SCORE_METRICS, "average_steps", "average_calls")
_TEXT, _REAL = pa.string(), pa.float64()


def _struct(**fields: pa.DataType) -> pa.StructType:
    return pa.struct(list(fields.items()))


_PLACE = dict.fromkeys(("step", "call", "index"), pa.int32())
_WRONG = _struct(argument=_TEXT, verdict=_TEXT, reason=_TEXT)
_REGION = _struct(reference=_TEXT, predicted=_TEXT, shape=_TEXT, overlap=_REAL)

_REPORT = pa.schema(
    {
        "metrics": _struct(**dict.fromkeys(_COUNTS, pa.int64()), **dict.fromkeys(_METRICS, _REAL)),
        "matches": pa.list_(
            _struct(
                tool=_TEXT,
                similarity=_REAL,
                strength=_TEXT,
                reference=_struct(**_PLACE),
                predicted=_struct(**_PLACE),
                compared_with=_struct(**_PLACE),
                argument_fidelity=_REAL,
                wrong_arguments=pa.list_(_WRONG),
                regions=_struct(count=pa.int64(), overlap=_REAL, each=pa.list_(_REGION)),
            )
        ),
        "unmatched_references": pa.list_(
            _struct(**_PLACE, tool=_TEXT, reason=_TEXT, best=_struct(predicted=pa.int32(), similarity=_REAL))
        ),
        "unmatched_predictions": pa.list_(
            _struct(**_PLACE, tool=_TEXT, reason=_TEXT, best=_struct(reference=pa.int32(), similarity=_REAL))
        ),
        "match": _struct(passed=pa.bool_(), reason=_TEXT),
        "failure": _TEXT,
        "sums": _TEXT,
    }
)
"""What is kept of a trajectory's report: the members of `m3 schema score` by their names."""

RESULTS = _REPORT.append(pa.field("error", _TEXT))
"""The columns that scoring adds."""


def checked_options(options: Options) -> dict[str, Any]:
    """Options of :class:`m3.Scorer` for workers, checked here, before any row is read.

    A worker has a core, so it encodes with one thread. A file of tools is read here: workers may not have it.
    """
    known = inspect.signature(Scorer).parameters
    for name in options:
        if name not in known:
            raise InputError(f"no option is called `{name}`; there are {', '.join(known)}")
    found = {"threads": 1, **options}
    tools = found.get("tools")
    if isinstance(tools, (str, os.PathLike)):
        try:
            with open(tools, "rb") as file:
                found["tools"] = json.load(file)
        except (OSError, ValueError) as error:
            raise InputError(f"tools: `{os.fspath(tools)}` cannot be read: {error}") from None
    try:
        Scorer(**found)
    except UnavailableError:
        pass  # Workers need the encoder; who starts them may have none.
    return found


def other_columns(names: Sequence[str], prediction: str, reference: str) -> list[int]:
    """Where the columns are that are kept: all but the two that are read."""
    for name in (prediction, reference):
        if names.count(name) != 1:
            many = "no column is" if name not in names else "more than one column is"
            raise InputError(f"{many} called `{name}`; the columns are {', '.join(names)}")
    kept = [index for index, name in enumerate(names) if name not in (prediction, reference)]
    taken = [name for name in RESULTS.names if name in [names[index] for index in kept]]
    if taken:
        raise InputError(f"scores have columns of these names too, rename yours: {', '.join(taken)}")
    return kept


class Worker:
    """Scores batches by options; holds nothing that cannot be sent. One scorer a process, for the same options."""

    def __init__(self, prediction: str, reference: str, options: Options) -> None:
        self._columns = (prediction, reference)
        self._options = dict(options)

    def scorer(self) -> Scorer:
        """The scorer of this process."""
        return shared(**self._options)

    def score(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The batch with its scores, in parts of at most :data:`ROWS` rows."""
        kept = other_columns(batch.schema.names, *self._columns)
        for start in range(0, batch.num_rows, ROWS):
            part = batch.slice(start, ROWS)
            scores = self._scores(*(part.column(name) for name in self._columns))
            columns = [part.column(index) for index in kept] + scores
            schema = pa.schema([*(part.schema.field(index) for index in kept), *RESULTS])
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _scores(self, predictions: pa.Array, references: pa.Array) -> list[pa.Array]:
        pairs = list(map(_pair, _read(predictions, "prediction"), _read(references, "reference")))
        scored = iter(self.scorer().reports([pair for pair in pairs if not isinstance(pair, InputError)]))
        outcomes = [pair if isinstance(pair, InputError) else next(scored) for pair in pairs]
        errors = [str(outcome) if isinstance(outcome, InputError) else None for outcome in outcomes]
        reports = ["{}" if isinstance(outcome, InputError) else outcome for outcome in outcomes]
        return [*_columns("\n".join(reports).encode()), pa.array(errors, _TEXT)]


def _read(column: pa.Array, name: str) -> list[bytes | None | InputError]:
    """The trajectories of a column as JSON: of text as it is, of structs and maps made."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        found: list[bytes | None | InputError] = column.cast(pa.large_binary()).to_pylist()
        return found
    return [_json(value, row, name) for row, value in enumerate(column)]


def _json(scalar: pa.Scalar, row: int, name: str) -> bytes | None | InputError:
    try:
        value = without_nulls(scalar.as_py(maps_as_pydicts="strict"))
        if value is None:
            return None
        is_record = isinstance(value, Mapping) and "steps" in value
        return of_record(value, row, name) if is_record else one(value, f"{name}[{row}]")
    except InputError as error:
        return error
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        return InputError(f"{name}[{row}]: not a trajectory: {error}")


def _pair(prediction: bytes | None | InputError, reference: bytes | None | InputError) -> Pair | InputError:
    for side in (prediction, reference):
        if isinstance(side, InputError):
            return side
    if reference is None:
        return InputError("reference: it is null; only a prediction may be missing")
    assert not isinstance(prediction, InputError) and not isinstance(reference, InputError)
    return prediction, reference


def _columns(reports: bytes) -> list[pa.Array]:
    """The columns of :data:`_REPORT`; Arrow reads JSON without making an object of Python of each value."""
    read = pyarrow.json.read_json(
        pa.BufferReader(reports),
        # All in one block: a line may be of any length. A worker has one core.
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(reports) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=_REPORT, unexpected_field_behavior="ignore"),
    )
    return [read.column(name).combine_chunks() for name in _REPORT.names]
