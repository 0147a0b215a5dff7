"""What the integrations share: options of a scorer, names of metrics, references by id."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._engine import Path, path_of
from ._errors import InputError, visible
from ._inputs import Trajectories, rows_of
from ._report import BESIDE, METRICS, Trajectory

if TYPE_CHECKING:
    from ._scorer import Scorer


FLOORS = (*METRICS, *BESIDE, "lowest_argument_fidelity")
"""What a trajectory can be measured by, each in [0, 1]."""

KNOWN = (*FLOORS, "passes")
"""What a trajectory can be measured by; `passes` needs the option `match`."""


class ScorerOptions(TypedDict, total=False):
    """The options of :class:`m3.Scorer`."""

    profile: Literal["paper", "open-m3-bench"]
    similarity: Literal["cosine", "typed"]
    flow: Literal["on", "off"]
    results: Literal["auto", "off"]
    tau_weak: float | None
    tau_strong: float | None
    tools: Path | Mapping[str, Any] | list[Any] | None
    roles: Path | Mapping[str, str] | None
    match: Literal["strict", "unordered", "subset", "superset"] | None
    match_args: Literal["exact", "ignore", "subset", "superset"] | None
    match_tool: Mapping[str, str] | None
    fidelity_model: Path | None
    encoder: Path | None
    threads: int | None
    cache: bool
    cache_dir: Path | None


class FloorsAndOptions(ScorerOptions, total=False):
    """The options of a scorer, and a floor for each metric, for type checkers: at run time every metric has one."""

    verdict: float | None
    precision: float | None
    argument_similarity: float | None
    argument_similarity_strong: float | None
    argument_fidelity: float | None
    argument_fidelity_covered: float | None
    lowest_argument_fidelity: float | None
    region_overlap: float | None
    artifact_agreement: float | None
    answer_agreement: float | None
    change_recall: float | None
    change_precision: float | None
    change_fidelity: float | None
    step_coherence: float | None
    merge_purity: float | None
    order_consistency: float | None
    average: float | None


def scorer_of(scorer: Scorer | None, options: ScorerOptions) -> Scorer:
    """The scorer itself, or a new one with these options."""
    from ._scorer import Scorer

    if scorer is None:
        return Scorer(**options)
    if options:
        raise InputError(f"give a scorer or its options, not both: {', '.join(options)}")
    return scorer


def finite(value: object, name: str) -> float:
    """A number that is finite; `name` says whose it is."""
    try:
        found = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{name} should be a number, and is {value!r}")
    return found


def check_metrics(names: Iterable[str], has_match: bool) -> None:
    """Raises `InputError` for what is no metric."""
    known = KNOWN if has_match else KNOWN[:-1]
    for name in names:
        if name == "passes" and not has_match:
            raise InputError("the metric `passes` needs the option `match`")
        if name not in known:
            raise InputError(f"`{name}` is no metric; the metrics are {', '.join(known)}")


def value_of(trajectory: Trajectory, metric: str) -> float | None:
    """A metric of a trajectory; `None` if it is unknown, or the profile leaves the trajectory out."""
    metrics = trajectory.metrics.to_dict()
    if not metrics:
        return None
    if metric == "passes":
        return float(bool(trajectory.passes))
    if metric == "lowest_argument_fidelity":
        matched = [float(match["argument_fidelity"]) for match in trajectory.matches]
        return min(matched, default=float(metrics["argument_fidelity"]))
    return None if metrics[metric] is None else float(metrics[metric])


def audit_of(scorer: Scorer, scored: Trajectory, prediction: Any, reference: Any) -> str:
    """Where the numbers of a scored pair come from, or that it has none."""
    if not scored.metrics.to_dict():
        return visible(f"the profile leaves the trajectory out: {scored.failure}")
    return visible(scorer.audit(prediction, reference).rstrip())


def references_by_id(scorer: Scorer, references: Trajectories) -> dict[str, dict[str, Any]]:
    """References by the id of their task: of a file, a list, a mapping or a frame."""
    if isinstance(references, (str, os.PathLike)):
        texts: Iterable[str | bytes] = scorer.read_file(path_of(references, "references"))
    else:
        texts = rows_of(references, "references")
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(map(json.loads, texts)):
        id = row.get("id") if isinstance(row, dict) else None
        if id is None:
            raise InputError(f"references[{number}]: no `id`; give each reference the id of its task")
        if found.setdefault(str(id), row) != row:
            raise InputError(f"references[{number}]: the id `{id}` is there twice")
    return found


def check_references(scorer: Scorer, references: Mapping[str, Any]) -> None:
    """Raises `InputError` for the first reference that cannot be read."""
    checked = scorer.score_many((None, reference) for reference in references.values())
    for id, outcome in zip(references, checked, strict=True):
        if isinstance(outcome, InputError):
            raise InputError(f"the reference `{id}`: {outcome}", outcome.problems)
