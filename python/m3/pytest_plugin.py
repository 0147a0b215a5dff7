"""The plugin for pytest: `assert_trajectory`, a function and a fixture.

>>> from m3.pytest_plugin import assert_trajectory  # doctest: +SKIP
>>> assert_trajectory(prediction, reference, recall=1, precision=0.5)  # doctest: +SKIP

If a metric is below its floor the test fails, and the message shows call by call why.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._report import Trajectory
    from ._scorer import Scorer
    from ._scoring import FloorsAndOptions, ScorerOptions

__all__ = ["assert_trajectory"]


def assert_trajectory(
    prediction: Any,
    reference: Any,
    *,
    recall: float | None = 0.9,
    scorer: Scorer | None = None,
    **floors_and_options: Unpack[FloorsAndOptions],
) -> Trajectory:
    """Asserts that each metric with a floor reaches it, and with `match=` that the prediction passes.

    Every metric of a trajectory can have a floor, and so can `lowest_argument_fidelity`: `precision=0.5`. The floor of
    recall is 0.9 unless another is given: `precision=0.5` alone asks for both, `recall=None` for no recall.

    Prediction and reference are a dict, a message list, JSON of either, or a path object; a prediction may be `None`.
    The other options are those of :class:`m3.Scorer`. Returns the scored trajectory.

    Raises:
        AssertionError: a metric is below its floor.
        InputError: the prediction, the reference or an option is wrong.
    """
    __tracebackhide__ = True
    from ._errors import visible
    from ._scoring import FLOORS, audit_of, finite

    given: dict[str, Any] = {"recall": recall, **floors_and_options}
    floors = {name: finite(given[name], f"the floor `{name}`") for name in FLOORS if given.get(name) is not None}
    options = cast("ScorerOptions", {name: value for name, value in given.items() if name not in FLOORS})
    chosen = _scorer(scorer, options)
    pair = (_read(prediction), _read(reference))
    scored = chosen.score_one(*pair)
    problems = _problems(scored, floors)
    if problems:
        raise AssertionError(visible("\n".join([*problems, "", audit_of(chosen, scored, *pair)])))
    return scored


def _problems(scored: Trajectory, floors: dict[str, float]) -> list[str]:
    """What is wrong, a line each."""
    from ._scoring import value_of

    found = []
    for name, floor in floors.items():
        value = value_of(scored, name)
        if value is None:
            found.append(f"{name} has no value, its floor is {floor}")
            continue
        if value < floor:
            found.append(f"{name} {_number(value, floor)} is below {floor}")
    if scored.passes is False:
        found.append(f"it does not pass: {scored.match.get('reason', 'no reason')}")
    if scored.failure is not None:
        found = [f"{line} ({scored.failure})" for line in found]
    return found


def _number(value: float, floor: float) -> str:
    """With as many digits as tell it from the floor."""
    return next((text for digits in (4, 8) if float(text := f"{value:.{digits}f}") < floor), repr(value))


def _scorer(scorer: Scorer | None, options: ScorerOptions) -> Scorer:
    from ._scorer import shared
    from ._scoring import scorer_of

    return shared(**options) if scorer is None else scorer_of(scorer, options)


def _read(trajectory: Any) -> Any:
    if not isinstance(trajectory, os.PathLike):
        return trajectory
    from ._errors import InputError

    try:
        with open(trajectory, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise InputError(f"the trajectory `{os.fspath(trajectory)!s}` cannot be read: {error}") from None


@pytest.fixture(name="assert_trajectory", scope="session")
def _fixture() -> Callable[..., Trajectory]:
    """The function :func:`m3.pytest_plugin.assert_trajectory`."""
    return assert_trajectory
