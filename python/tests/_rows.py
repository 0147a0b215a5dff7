"""Benchmarks as rows of a prediction and its reference, beside what `m3.score` says of the same files."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import m3

ROOT = Path(__file__).resolve().parents[2]
OPEN = ROOT.parent / "shared" / "data" / "open-m3-bench"
PROFILES = ("paper", "open-m3-bench")

Row = dict[str, Any]


class Benchmark:
    """Predictions, of which some may be missing, and references."""

    def __init__(self, predictions: list[Row], references: list[Row]) -> None:
        by_id = {trajectory["id"]: trajectory for trajectory in predictions}
        # The last of an id counts.
        self.references = list({trajectory["id"]: trajectory for trajectory in references}.values())
        self.predictions = [by_id[it["id"]] for it in self.references if it["id"] in by_id]
        self._by_id = by_id

    def rows(self) -> list[Row]:
        """A row for each reference, in an order of chance."""
        rows = []
        for reference in self.references:
            prediction = self._by_id.get(reference["id"])
            row = {"id": reference["id"], "type": reference["type"], "prediction": None}
            row |= {"prediction": json.dumps(prediction)} if prediction is not None else {}
            rows.append({**row, "reference": json.dumps(reference)})
        random.Random(1).shuffle(rows)
        return rows

    def report(self, profile: str) -> m3.Report:
        """What they should come to."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return m3.score(self.predictions, self.references, profile=profile)  # type: ignore[arg-type]

    def times(self, count: int) -> Benchmark:
        """This many references: these again and again, with new ids."""

        def again(trajectories: list[Row]) -> list[Row]:
            rounds = count // len(self.references) + 1
            return [{**it, "id": f"{number}-{it['id']}"} for number in range(rounds) for it in trajectories]

        references = again(self.references)[:count]
        return Benchmark(again(self.predictions), references)


def _read(path: Path) -> list[Row]:
    found: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    return found


@cache
def small() -> Benchmark:
    """The small benchmark; one prediction is missing, and one has failed."""
    folder = ROOT / "trajectories"
    predictions = _read(folder / "predictions-poor.json")
    return Benchmark(predictions[1:], _read(folder / "references.json"))


@cache
def large() -> Benchmark:
    """Open-M3-Bench without every seventh prediction, or else as many rows of the small one."""
    if not OPEN.exists():
        return small().times(200)
    predictions = _read(OPEN / "predictions" / "strong.json")
    kept = [trajectory for number, trajectory in enumerate(predictions) if number % 7]
    return Benchmark(kept, _read(OPEN / "references.json"))


BENCHMARKS: dict[str, Callable[[], Benchmark]] = {"small": small, "large": large}

BAD_ROWS: list[tuple[str | None, str | None]] = [
    ("{broken", '{"steps": []}'),
    ('{"steps": []}', None),
    ('{"steps": []}', "[]"),
    ('{"steps": 3}', '{"steps": []}'),
    ("null", '{"steps": []}'),
    ('{"steps": []}', "[" * 5000),
]
