"""A scorer for inspect_ai: the calls of a sample against its reference.

>>> from m3.inspect import trajectory  # doctest: +SKIP
>>> Task(dataset=.., solver=[use_tools(..), generate()], scorer=trajectory("references.json"))  # doctest: +SKIP

Calls are read as `m3 import` reads them from the log of the run, so `m3 score` over the log gives the same numbers.
Needs the package `inspect_ai`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread  # type: ignore[import-not-found, unused-ignore]
from inspect_ai.scorer import Score, Target, mean, stderr
from inspect_ai.scorer import Scorer as InspectScorer
from inspect_ai.scorer import scorer as declare
from inspect_ai.solver import TaskState

from ._errors import InputError
from ._inputs import Trajectories
from ._report import METRICS
from ._scoring import (
    ScorerOptions,
    audit_of,
    check_metrics,
    check_references,
    references_by_id,
    scorer_of,
    value_of,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._scorer import Scorer

__all__ = ["trajectory"]


@declare(metrics={"*": [mean(), stderr()]})  # type: ignore[untyped-decorator, unused-ignore]
def trajectory(
    references: Trajectories | None = None,
    *,
    metrics: Sequence[str] = METRICS,
    **options: Unpack[ScorerOptions],
) -> InspectScorer:
    """Scores the tool calls of each sample against the reference with the sample's id.

    `references` is a path, a list of dicts, a mapping from ids or a frame, as in :func:`m3.score`. Without it each
    sample has its own: `metadata["reference"]`, or a target that is JSON. The options are those of
    :class:`m3.Scorer`; with `match` the metric `passes` can be named too.

    The score's value has each metric, in [0, 1], its answer is the final reply, and its explanation shows call by call
    where the numbers come from. Where the profile leaves a sample out, the values are NaN.

    Raises:
        InputError: an option or a reference is wrong; while scoring, a sample has no reference.
        UnavailableError: the encoder is missing.
    """
    scorer = scorer_of(None, options)
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    check_metrics(names, options.get("match") is not None)
    known = None if references is None else references_by_id(scorer, references)
    if known is not None:
        check_references(scorer, known)

    async def score(state: TaskState, target: Target) -> Score:
        reference = _reference(state, target, known)
        log = _log(state)
        # Scoring takes a core: other samples go on in the meantime.
        values, explanation = await to_thread.run_sync(_scored(scorer, log, reference, names))
        return Score(value=values, answer=state.output.completion or None, explanation=explanation)

    return score


def _scored(
    scorer: Scorer, log: dict[str, Any], reference: Any, names: list[str]
) -> Callable[[], tuple[dict[str, float], str]]:
    def work() -> tuple[dict[str, float], str]:
        scored = scorer.score_one(log, reference)
        values = {name: value_of(scored, name) for name in names}
        # NaN is how inspect_ai marks what is not scored.
        known = {name: float("nan") if value is None else value for name, value in values.items()}
        return known, audit_of(scorer, scored, log, reference)

    return work


def _log(state: TaskState) -> dict[str, Any]:
    """The log of a run with nothing but this sample."""
    sample = {
        "id": str(state.sample_id),
        "epoch": 1,
        "input": state.input_text,
        "messages": [message.model_dump(mode="json", exclude_none=True) for message in state.messages],
        "output": {"completion": state.output.completion},
    }
    return {"version": 2, "status": "success", "eval": {"model": str(state.model)}, "samples": [sample]}


def _reference(state: TaskState, target: Target, known: Mapping[str, Any] | None) -> Any:
    id = str(state.sample_id)
    if known is not None:
        if id not in known:
            ids = ", ".join(f"`{it}`" for it in list(known)[:5])
            raise InputError(f"the sample `{id}` has no reference; the references have the ids {ids} ..")
        return known[id]
    own = state.metadata.get("reference")
    if own is not None:
        return own
    try:
        found = json.loads(target.text)
    except ValueError:
        found = None
    if not isinstance(found, (dict, list)):
        raise InputError(
            f"the sample `{id}` has no reference: give `trajectory(references)`, or the sample a metadata `reference`,"
            " or a target that is a trajectory in JSON"
        )
    return found
