"""Rewards for training: called as TRL's and as verl's reward functions are.

>>> from m3.rewards import TrajectoryReward  # doctest: +SKIP
>>> reward = TrajectoryReward({"recall": 2, "precision": 1, "argument_fidelity": 1})  # doctest: +SKIP
>>> GRPOTrainer(model=.., reward_funcs=reward, train_dataset=..)  # doctest: +SKIP

What a model writes never raises: what cannot be read gets the reward `failure`. A broken reference is a mistake of the
user, and raises `InputError`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ._engine import kind_of
from ._errors import InputError
from ._inputs import Trajectories, to_json, without_nulls
from ._messages import Unreadable, of_steps, steps_of_completion
from ._report import Trajectory
from ._scoring import ScorerOptions, check_metrics, check_references, finite, references_by_id, scorer_of, value_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._scorer import Scorer

__all__ = ["TrajectoryReward", "compute_score", "compute_score_batched"]

_COLUMNS = ("reference", "references")


class TrajectoryReward:
    """The weighted mean of metrics, in [0, 1] or `failure`, for what a model wrote beside a reference.

    Calls are read from `tool_calls` of messages, from `<tool_call>` blocks in text, and from text that is nothing but
    JSON (docs/python.md). An answer without calls is a trajectory without calls. A block that is no call, JSON that
    breaks off, and what is neither text nor messages get the reward `failure`.

    `references` are references by id, for data sets with a column `id`; without them the column `reference` (or
    `references`) has them, as JSON (best), dicts or messages. The options are those of :class:`m3.Scorer`; with
    `match` there is a metric `passes` too. Threads can share it, and it can be pickled.

    Raises:
        InputError: a weight, an option or a reference is wrong.
        UnavailableError: the encoder is missing.
    """

    def __init__(
        self,
        weights: Mapping[str, float] | None = None,
        references: Trajectories | None = None,
        *,
        scorer: Scorer | None = None,
        failure: float = 0.0,
        name: str = "trajectory_reward",
        **options: Unpack[ScorerOptions],
    ) -> None:
        self.weights = _checked(weights or {"average": 1.0}, scorer is not None or options.get("match") is not None)
        self.failure = finite(failure, "`failure`")
        self.scorer = scorer_of(scorer, options)
        self.references = None if references is None else references_by_id(self.scorer, references)
        if self.references is not None:
            check_references(self.scorer, self.references)
        # Trainers name metrics after it.
        self.__name__ = name

    def __call__(
        self, prompts: Sequence[Any] | None = None, completions: Sequence[Any] = (), **columns: Any
    ) -> list[float | None]:
        """The reward of each completion, as TRL calls it.

        `None` for a row whose reference is `None`: TRL takes it for a task of another reward function.
        """
        references = self._column(columns, len(completions))
        given = [row for row, reference in enumerate(references) if reference is not None]
        scored = self._scored([completions[row] for row in given], [references[row] for row in given])
        rewards: list[float | None] = [None] * len(completions)
        for row, trajectory in zip(given, scored, strict=True):
            rewards[row] = self._reward(trajectory)
        self._log(scored, columns.get("log_metric"))
        return rewards

    def compute_score(
        self, data_source: Any, solution_str: Any, ground_truth: Any, extra_info: Any = None, **_: Any
    ) -> float:
        """The reward of one completion, as verl calls it; the ground truth is the reference, or its id."""
        return self._reward(self._scored([solution_str], [self._found(ground_truth)])[0])

    def compute_score_batched(
        self,
        data_sources: Any,
        solution_strs: Sequence[Any],
        ground_truths: Sequence[Any],
        extra_infos: Any = None,
        **_: Any,
    ) -> list[float]:
        """The same for many at once, as verl's batch manager calls it, and faster."""
        references = [self._found(truth) for truth in ground_truths]
        return [self._reward(trajectory) for trajectory in self._scored(list(solution_strs), references)]

    def _scored(self, completions: list[Any], references: list[Any]) -> list[Trajectory | None]:
        """The scored trajectories; `None` for what cannot be read."""
        predictions = [_prediction(completion) for completion in completions]
        read = [_reference(reference, row) for row, reference in enumerate(references)]
        pairs = list(zip(predictions, read, strict=True))
        found: list[Trajectory | None] = []
        for row, outcome in enumerate(self.scorer.score_many(pairs)):
            if isinstance(outcome, InputError):
                # Whose mistake is it? The reference alone raises again.
                self._check(pairs[row][1], row)
                found.append(None)
            else:
                found.append(None if predictions[row] is None else outcome)
        return found

    def _check(self, reference: Any, row: int) -> None:
        try:
            self.scorer.score_one(None, reference)
        except InputError as error:
            raise InputError(f"the reference of row {row}: {error}", error.problems) from None

    def _reward(self, trajectory: Trajectory | None) -> float:
        values = {} if trajectory is None else {name: value_of(trajectory, name) for name in self.weights}
        # A metric that says nothing of the task, such as one of regions where the reference has none, has no part.
        known = {name: value for name, value in values.items() if value is not None and math.isfinite(value)}
        total = math.fsum(self.weights[name] for name in known)
        if total <= 0:
            return self.failure
        mean = math.fsum(self.weights[name] * value for name, value in known.items()) / total
        return min(1.0, max(0.0, mean))

    def _column(self, columns: Mapping[str, Any], rows: int) -> list[Any]:
        """The reference of each row."""
        names = ("id",) if self.references is not None else _COLUMNS
        name = next((name for name in names if columns.get(name) is not None), None)
        if name is None:
            found = ", ".join(f"`{column}`" for column in columns) or "none"
            raise InputError(f"the data set needs a column {' or '.join(f'`{it}`' for it in names)}; it has {found}")
        values = list(columns[name])
        if len(values) != rows:
            raise InputError(f"the column `{name}` has {len(values)} rows, and there are {rows} completions")
        return [self._found(value) for value in values]

    def _found(self, reference: Any) -> Any:
        """The reference itself, or that of an id."""
        if self.references is None or reference is None:
            return reference
        if str(reference) not in self.references:
            raise InputError(f"there is no reference with the id `{reference}`")
        return self.references[str(reference)]

    def _log(self, scored: Sequence[Trajectory | None], log_metric: Callable[[str, float], object] | None) -> None:
        """Tells TRL the mean of each metric, and how much could not be read."""
        if log_metric is None or not scored:
            return
        good = [trajectory for trajectory in scored if trajectory is not None]
        for name in self.weights:
            values = [value for trajectory in good if (value := value_of(trajectory, name)) is not None]
            if values:
                log_metric(f"{self.__name__}/{name}", math.fsum(values) / len(values))
        log_metric(f"{self.__name__}/unreadable", 1 - len(good) / len(scored))


def _checked(weights: Mapping[str, float], has_match: bool) -> dict[str, float]:
    if not isinstance(weights, Mapping):
        raise InputError(f"`weights` should be a dict from metrics to their weights, and is {kind_of(weights)}")
    check_metrics(weights, has_match)
    read = {name: finite(weight, f"the weight of `{name}`") for name, weight in weights.items()}
    for name, weight in read.items():
        if weight < 0:
            raise InputError(f"the weight of `{name}` should be a number from 0 on, and is {weight}")
    found = {name: weight for name, weight in read.items() if weight > 0}
    if not found:
        raise InputError("at least one weight should be above 0")
    return found


def _prediction(completion: Any) -> Any:
    """What a model wrote as a prediction; `None` if it cannot be read."""
    try:
        return of_steps(steps_of_completion(completion))
    except (Unreadable, RecursionError):
        return None


def _reference(reference: Any, row: int) -> Any:
    """A reference as JSON; dicts of Arrow have every key of every row, with null."""
    if isinstance(reference, (str, bytes)):
        return reference
    if not isinstance(reference, Mapping) and not hasattr(reference, "__len__"):
        raise InputError(f"the reference of row {row} should be JSON, a dict or messages, and is {kind_of(reference)}")
    return without_nulls(json.loads(to_json(reference, f"the reference of row {row}")))


@lru_cache(maxsize=16)
def _shared(options: str) -> TrajectoryReward:
    return TrajectoryReward(**json.loads(options))


def _of(options: Mapping[str, Any]) -> TrajectoryReward:
    # What verl hands to every reward function is no option of this one.
    own = {key: value for key, value in options.items() if not key.startswith("reward_")}
    return _shared(to_json(own, "options").decode())


def compute_score(
    data_source: Any, solution_str: Any, ground_truth: Any, extra_info: Any = None, **options: Any
) -> float:
    """A reward function for verl's configuration; `reward_kwargs` are the arguments of :class:`TrajectoryReward`.

    reward.custom_reward_function.path=pkg://m3.rewards reward.custom_reward_function.name=compute_score
    """
    return _of(options).compute_score(data_source, solution_str, ground_truth, extra_info)


def compute_score_batched(
    data_sources: Any,
    solution_strs: Sequence[Any],
    ground_truths: Sequence[Any],
    extra_infos: Any = None,
    **options: Any,
) -> list[float]:
    """The same for verl's reward manager `batch`."""
    return _of(options).compute_score_batched(data_sources, solution_strs, ground_truths, extra_infos)
