"""The lists of metrics in the package are the metrics of a score's schema, which the program writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_type_hints

import m3
from m3 import _batches, _report, _scoring

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "score.schema.json"
COUNTS = {"reference_calls", "predicted_calls", "matched"}
OF_SETS = {"trajectories", "jobs", "match"}
MEANS = {"average_steps", "average_calls"}
# The paper's strong similarity and the part of fidelity that is covered stand beside their own metrics.
BESIDE = {"argument_similarity_strong", "argument_fidelity_covered"}


def test_every_list_has_the_metrics_of_the_schema() -> None:
    members = set(json.loads(SCHEMA.read_text())["$defs"]["AggregateReport"]["properties"])
    metrics = members - OF_SETS - COUNTS - MEANS
    assert set(_report.METRICS) == metrics - BESIDE
    assert set(_batches._METRICS) == metrics | MEANS
    assert metrics <= set(_scoring.FLOORS)
    # Names for type checkers are written by hand, and none may be wrong; a metric without one has the type `Any`.
    assert set(get_type_hints(m3.Aggregate)) <= members
    assert set(_scoring.FloorsAndOptions.__annotations__) - set(_scoring.ScorerOptions.__annotations__) <= set(
        _scoring.FLOORS
    )
