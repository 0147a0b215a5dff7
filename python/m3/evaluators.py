"""Evaluators with the signature of LangSmith and of agentevals.

>>> from m3.evaluators import create_evaluator  # doctest: +SKIP
>>> create_evaluator("strict")(outputs=messages, reference_outputs=expected)["score"]  # doctest: +SKIP
True

The modes `strict`, `unordered`, `subset` and `superset` give the verdicts of agentevals 0.0.9, except that

- functions in `tool_args_match_overrides` are refused;
- `true` is not `1`, as in JSON; Python, and so agentevals, takes them for equal;
- arguments that are no JSON are compared as the text that they are, a call of LangChain with such arguments (one of its
  `invalid_tool_calls`) is a call, and missing arguments are `{}`; agentevals raises an error or ignores the call;
- `mcp__SERVER__TOOL` and `SERVER/TOOL` are one tool;
- several results in one message of Anthropic are as many messages, as elsewhere; agentevals keeps the first alone;
- reference outputs that are `None` raise `InputError`; agentevals takes them for an empty list.

The metrics are those of :func:`m3.score`. They see no messages without calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, cast

from ._engine import kind_of
from ._errors import InputError, visible
from ._messages import Unreadable, divided, plain, shape
from ._scoring import ScorerOptions, audit_of, check_metrics, scorer_of, value_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._scorer import Scorer

__all__ = ["EvaluatorResult", "create_evaluator", "trajectory_evaluator"]

MODES = ("strict", "unordered", "subset", "superset")
ArgsMode = Literal["exact", "ignore", "subset", "superset"]


class EvaluatorResult(TypedDict):
    """What an evaluator says."""

    key: str
    """`trajectory_strict_match` .., `trajectory_average` .."""
    score: bool | float | None
    """The verdict of a mode, or a metric in [0, 1]; `None` if the profile leaves the trajectory out."""
    comment: str | None
    """Why: the first difference of a mode, or where the metric comes from, call by call."""


class Evaluator(Protocol):
    """Called by LangSmith's `evaluate`, or by hand."""

    def __call__(self, *, outputs: Any, reference_outputs: Any, **kwargs: Any) -> EvaluatorResult:
        """Compares a run with its reference; other arguments, such as `inputs`, have no effect."""


def create_evaluator(
    metric: str = "average",
    *,
    tool_args_match_mode: ArgsMode = "exact",
    tool_args_match_overrides: Mapping[str, str | list[str]] | None = None,
    key: str | None = None,
    scorer: Scorer | None = None,
    **options: Unpack[ScorerOptions],
) -> Evaluator:
    """An evaluator of a metric of :func:`m3.score`, or of a mode of agentevals.

    `tool_args_match_mode` and `tool_args_match_overrides` are those of agentevals, for modes; an override is a mode, or
    a list of paths such as `["place.city"]`. The options are those of :class:`m3.Scorer`.

    Outputs are messages of OpenAI, Anthropic or LangChain, `{"messages": ..}`, or a trajectory with `steps`.

    Raises:
        InputError: an option is wrong; when called, a trajectory that cannot be read.
        UnavailableError: the encoder is missing.
    """
    if metric in MODES:
        if scorer is not None:
            raise InputError(f"`{metric}` makes its own scorer; give the options")
        # The keys are those of ScorerOptions.
        options["match"] = cast(Any, metric)
        options["match_args"] = tool_args_match_mode
        options["match_tool"] = _overrides(tool_args_match_overrides)
    elif tool_args_match_mode != "exact" or tool_args_match_overrides is not None:
        raise InputError(f"the arguments of calls are matched by modes ({', '.join(MODES)}), not by `{metric}`")
    else:
        check_metrics([metric], scorer is not None or options.get("match") is not None)
    chosen = scorer_of(scorer, options)
    name = key or (f"trajectory_{metric}_match" if metric in MODES else f"trajectory_{metric}")

    def evaluator(*, outputs: Any, reference_outputs: Any, **kwargs: Any) -> EvaluatorResult:
        if reference_outputs is None:
            raise InputError("there are no `reference_outputs` to compare with")
        predicted, expected = _messages(outputs, "outputs"), _messages(reference_outputs, "reference_outputs")
        score, comment = _judged(chosen, metric, predicted, expected)
        return EvaluatorResult(key=name, score=score, comment=None if comment is None else visible(comment))

    evaluator.__name__ = name
    return evaluator


def _judged(scorer: Scorer, metric: str, predicted: Any, expected: Any) -> tuple[bool | float | None, str | None]:
    pair = (_trajectory(predicted), _trajectory(expected))
    scored = scorer.score_one(*pair)
    if metric not in MODES:
        return value_of(scored, metric), audit_of(scorer, scored, *pair)
    if metric == "strict" and isinstance(predicted, list) and isinstance(expected, list):
        difference = _difference(predicted, expected)
        if difference is not None:
            return False, difference
    verdict = scored.to_dict().get("match", {})
    return bool(scored.passes), verdict.get("reason")


def _difference(predicted: list[dict[str, Any]], expected: list[dict[str, Any]]) -> str | None:
    """How the messages differ, whatever is in them: strict compares their roles one by one."""
    shapes = shape(predicted), shape(expected)
    for number, (made, wanted) in enumerate(zip(*shapes, strict=False), start=1):
        if made != wanted:
            told = [f"{role}{' with calls' if has_calls else ''}" for role, has_calls in (made, wanted)]
            return f"message {number} is of {told[0]} instead of {told[1]}"
    if len(shapes[0]) != len(shapes[1]):
        return f"{len(shapes[0])} messages instead of {len(shapes[1])}"
    return None


def _messages(value: Any, name: str) -> Any:
    """Messages as dicts in OpenAI's form; what is no list of messages as it is."""
    if value is None:
        return []
    if isinstance(value, Mapping) and "messages" in value and "steps" not in value:
        value = value["messages"]
    if isinstance(value, Mapping) and "role" in value:
        value = [value]
    if not isinstance(value, (list, tuple)):
        return value
    try:
        return [plain(message) for message in value]
    except Unreadable as error:
        raise InputError(f"{name}: {error}") from None


def _trajectory(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return divided(value) if value else {"steps": []}


def _overrides(overrides: Mapping[str, str | list[str]] | None) -> dict[str, str] | None:
    """As options of the command: a mode, or paths that end with a comma."""
    found = {}
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError(f"`tool_args_match_overrides` should be a dict, and is {kind_of(overrides)}")
    for tool, override in (overrides or {}).items():
        if not isinstance(tool, str):
            raise InputError(f"`tool_args_match_overrides`: the name of a tool should be text, and is {kind_of(tool)}")
        if callable(override):
            raise InputError(f"`{tool}`: functions that compare arguments have no counterpart; name a mode or paths")
        if not override:
            continue
        is_list = isinstance(override, (list, tuple)) and all(isinstance(path, str) for path in override)
        if not isinstance(override, str) and not is_list:
            raise InputError(f"`{tool}`: an override is a mode or a list of paths, and not {override!r}")
        if "=" in tool or any("," in path for path in override if not isinstance(override, str)):
            raise InputError(f"`{tool}`: a tool with `=` or a path with `,` cannot be named here")
        server, _, rest = tool.removeprefix("mcp__").partition("__")
        name = f"{server}/{rest}" if tool.startswith("mcp__") and server and rest else tool
        found[name] = override if isinstance(override, str) else ",".join(override) + ","
    return found or None


def trajectory_evaluator(*, outputs: Any, reference_outputs: Any, **kwargs: Any) -> EvaluatorResult:
    """The mean of the six metrics of M3-Bench, with the usual options; see :func:`create_evaluator`."""
    from ._scorer import shared

    return create_evaluator(scorer=shared())(outputs=outputs, reference_outputs=reference_outputs, **kwargs)
