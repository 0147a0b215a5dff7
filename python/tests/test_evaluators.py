"""Evaluators: verdicts beside those of agentevals, and every form of messages."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import m3
import pytest
from conftest import needs
from m3.evaluators import MODES, create_evaluator, trajectory_evaluator

TRACES = Path(__file__).resolve().parents[3] / "shared/data/traces/agentevals"
ARGS = ("exact", "ignore", "subset", "superset")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": "", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def asks(*calls: dict[str, Any], content: str = "") -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


QUESTION = {"role": "user", "content": "What is in the parcel?"}
RESULT = {"role": "tool", "tool_call_id": "", "content": "a book"}
ANSWER = {"role": "assistant", "content": "A book."}
WEIGH, OPEN, OPEN_SLOWLY = call("weigh", id=3), call("open", id=3), call("open", id=3, slowly=True)
RUN = [QUESTION, asks(WEIGH, OPEN), RESULT, RESULT, ANSWER]


def agreed(outputs: Any, expected: Any, mode: str = "strict", args: Any = "exact", overrides: Any = None) -> bool:
    """The verdict, after comparing it with that of agentevals."""
    match = needs("agentevals.trajectory.match")
    theirs = match.create_trajectory_match_evaluator(
        trajectory_match_mode=mode, tool_args_match_mode=args, tool_args_match_overrides=overrides
    )
    options: Any = {"tool_args_match_mode": args, "tool_args_match_overrides": overrides}
    ours = create_evaluator(mode, **options)
    # agentevals writes into messages.
    verdict = theirs(outputs=copy.deepcopy(outputs), reference_outputs=copy.deepcopy(expected))
    found = ours(outputs=outputs, reference_outputs=expected, inputs={"anything": 1})
    assert (found["key"], found["score"]) == (verdict["key"], verdict["score"]), (mode, args, overrides, found)
    assert (found["comment"] is None) is found["score"]
    return bool(verdict["score"])


@pytest.mark.parametrize(
    ("outputs", "passing"),
    [
        (RUN, {"strict", "unordered", "subset", "superset"}),
        ([QUESTION, asks(OPEN, WEIGH), RESULT, RESULT, ANSWER], {"strict", "unordered", "subset", "superset"}),
        ([QUESTION, asks(WEIGH), RESULT, asks(OPEN), RESULT, ANSWER], {"unordered", "subset", "superset"}),
        ([QUESTION, asks(WEIGH), asks(OPEN), ANSWER], {"unordered", "subset", "superset"}),
        ([*RUN, QUESTION, ANSWER], {"unordered", "subset", "superset"}),
        (RUN[:-1], {"unordered", "subset", "superset"}),
        ([QUESTION, asks(OPEN), RESULT, ANSWER], {"subset"}),
        ([QUESTION, asks(WEIGH, OPEN, call("read")), RESULT, RESULT, ANSWER], {"superset"}),
        ([QUESTION, asks(WEIGH, OPEN_SLOWLY), RESULT, RESULT, ANSWER], set()),
        ([QUESTION, ANSWER], {"subset"}),
        ([], {"subset"}),
        (None, {"subset"}),
        ({"messages": RUN}, {"strict", "unordered", "subset", "superset"}),
        (asks(WEIGH), {"subset"}),
    ],
)
def test_modes_give_the_verdicts_of_agentevals(outputs: Any, passing: set[str]) -> None:
    assert {mode for mode in MODES if agreed(outputs, RUN, mode)} == passing


def test_strict_compares_the_messages_even_where_no_call_is_made() -> None:
    assert agreed([QUESTION, ANSWER], [QUESTION, ANSWER])
    assert not agreed([QUESTION, ANSWER, ANSWER], [QUESTION, ANSWER])
    told = create_evaluator("strict")(outputs=[QUESTION], reference_outputs=[QUESTION, ANSWER])
    assert told["comment"] == "1 messages instead of 2"


def test_arguments_are_compared_in_four_ways_and_by_paths() -> None:
    more, less = [QUESTION, asks(OPEN_SLOWLY)], [QUESTION, asks(OPEN)]
    assert [agreed(more, less, args=args) for args in ARGS] == [False, True, False, True]
    assert [agreed(less, more, args=args) for args in ARGS] == [False, True, True, False]
    assert agreed(more, less, overrides={"open": ["id"]})
    assert not agreed(more, less, overrides={"open": ["id", "slowly"]})
    assert not agreed(more, less, overrides={"open": []}), "an empty list is no override"
    near = [QUESTION, asks(call("find", place={"city": "Lyon", "zip": 1}))]
    far = [QUESTION, asks(call("find", place={"city": "Lyon"}))]
    assert agreed(near, far, overrides={"find": ["place.city"]})
    assert not agreed(near, far, overrides={"find": ["place"]})


def test_random_trajectories_get_the_verdicts_of_agentevals() -> None:
    needs("agentevals")
    dice = random.Random(20)

    def calls() -> list[dict[str, Any]]:
        return [
            call(dice.choice("ab"), **{key: dice.choice([1, 2.5, "x", None, [1], {"y": 1}]) for key in some("pqr")})
            for _ in range(dice.randint(1, 3))
        ]

    def some(keys: str) -> list[str]:
        return dice.sample(keys, dice.choice([0, 1, 1, 1, 2]))

    def run() -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = [QUESTION]
        for _ in range(dice.randint(0, 3)):
            made = calls()
            messages += [asks(*made)] + [RESULT] * dice.choice([0, 1, len(made)])
        return messages + [ANSWER] * dice.randint(0, 1)

    verdicts = []
    for _ in range(150):
        expected = run()
        outputs = copy.deepcopy(expected) if dice.random() < 0.6 else run()
        for message in outputs:
            if "tool_calls" in message and dice.random() < 0.5:
                dice.shuffle(message["tool_calls"])
                message["tool_calls"][0] = calls()[0] if dice.random() < 0.4 else message["tool_calls"][0]
        overrides = dice.choice([None, {"a": "ignore"}, {"a": ["p"], "b": "superset"}])
        verdicts.append(agreed(outputs, expected, dice.choice(MODES), dice.choice(ARGS), overrides))
    assert 30 < sum(verdicts) < 120


def test_messages_of_langchain_are_read() -> None:
    messages = needs("langchain_core.messages")
    made = [{"name": "weigh", "args": {"id": 3}, "id": "1"}, {"name": "open", "args": {"id": 3}, "id": "2"}]
    blocks = [{"type": "text", "text": "First"}] + [
        {"type": "tool_use", "id": it["id"], "name": it["name"], "input": it["args"]} for it in made
    ]
    for content in ("", blocks):
        run = [
            messages.HumanMessage("What is in the parcel?"),
            messages.AIMessage(content, tool_calls=made),
            messages.ToolMessage("1 kg", tool_call_id="1"),
            messages.ToolMessage("a book", tool_call_id="2"),
            messages.AIMessage("A book."),
        ]
        assert agreed(run, RUN) and agreed(RUN, run) and agreed({"messages": run}, RUN)
        assert trajectory_evaluator(outputs=run, reference_outputs=RUN)["score"] == 1


def test_messages_of_anthropic_are_read() -> None:
    names = ("weigh", "open")
    made = [{"type": "tool_use", "id": name, "name": name, "input": {"id": 3}} for name in names]
    results = [{"type": "tool_result", "tool_use_id": name, "content": "a book"} for name in names]
    run = [QUESTION, {"role": "assistant", "content": made}, {"role": "user", "content": results}, ANSWER]
    assert agreed(run, run)
    assert all(agreed(run, RUN, mode) for mode in ("unordered", "subset", "superset"))
    # agentevals keeps one of the two results.
    assert create_evaluator("strict")(outputs=run, reference_outputs=RUN)["score"] is True
    assert create_evaluator("recall")(outputs=run, reference_outputs=RUN)["score"] == 1


def test_the_kept_thread_passes_beside_itself() -> None:
    if not TRACES.is_dir():
        pytest.skip("skipped: ../shared/data is not here")
    thread = json.loads((TRACES / "error-openai/outputs.json").read_text())
    for mode in MODES:
        assert agreed(thread, thread, mode)
        assert agreed(thread[:-3], thread, mode) is (mode == "subset")
    graph = json.loads((TRACES / "graph/thread.json").read_text())
    with pytest.raises(m3.InputError):
        create_evaluator("strict")(outputs=graph, reference_outputs=thread)


def test_metrics_come_with_the_audit() -> None:
    half = [QUESTION, asks(WEIGH), RESULT, ANSWER]
    found = create_evaluator("recall")(outputs=half, reference_outputs=RUN)
    assert (found["key"], found["score"]) == ("trajectory_recall", 0.5)
    assert "open" in str(found["comment"])
    assert trajectory_evaluator(outputs=RUN, reference_outputs=RUN)["score"] == 1
    steps = {"steps": [{"calls": [{"name": name, "arguments": {"id": 3}} for name in ("weigh", "open")]}]}
    assert trajectory_evaluator(outputs=RUN, reference_outputs=steps)["score"] == 1
    named = create_evaluator("precision", key="own", scorer=m3.Scorer(similarity="typed"))
    assert named(outputs=half, reference_outputs=RUN)["key"] == "own"


def test_where_verdicts_differ_from_agentevals() -> None:
    evaluator = create_evaluator("strict")
    pairs: list[tuple[Any, Any, bool]] = [
        ([asks(call("a", x=True))], [asks(call("a", x=1))], False),
        ([asks(call("mcp__s__a"))], [asks(call("s/a"))], True),
    ]
    broken = [asks({"type": "function", "function": {"name": "a", "arguments": "{x"}})]
    pairs += [(broken, broken, True), (broken, [asks(call("a"))], False)]
    for outputs, expected, verdict in pairs:
        assert evaluator(outputs=outputs, reference_outputs=expected)["score"] is verdict
    ignores = create_evaluator("strict", tool_args_match_overrides={"mcp__s__a": "ignore"})
    assert ignores(outputs=[asks(call("mcp__s__a", x=1))], reference_outputs=[asks(call("s/a"))])["score"] is True


def test_mistakes_are_told() -> None:
    wrong: Any = {"a": lambda made, wanted: True}
    for make in (
        lambda: create_evaluator("strict", tool_args_match_overrides=wrong),
        lambda: create_evaluator("recalls"),
        lambda: create_evaluator("recall", tool_args_match_mode="ignore"),
        lambda: create_evaluator("strict", scorer=m3.Scorer()),
        lambda: create_evaluator("recall", scorer=m3.Scorer(), similarity="typed"),
        lambda: trajectory_evaluator(outputs=RUN, reference_outputs=None),
        lambda: trajectory_evaluator(outputs=RUN, reference_outputs=[3]),
        lambda: trajectory_evaluator(outputs="garbage", reference_outputs=RUN),
    ):
        with pytest.raises(m3.InputError):
            make()
