"""Trajectories in the form of m3, and what agentevals says of each: {"predictions": .., "references": .., "verdicts":
[{"mode": .., "arguments": .., "tools": .., "passed": [..]}, ..]}.

The first cases are those of its documents. The others are random, with calls that are dropped, added, changed and moved.
Each side is a question, the replies with calls, each with its results, and an answer: m3 keeps no other messages, so they
must be the same on both sides."""

import copy
import itertools
import json
import random

from agentevals.trajectory.match import create_trajectory_match_evaluator

MODES = ["strict", "unordered", "subset", "superset"]
ARGUMENTS = ["exact", "ignore", "subset", "superset"]
TOOLS = [
    {},
    {"get_weather": "ignore", "crop": "superset", "find": "exact"},
    {"crop": ["box.x", "path"], "find": ["q"], "get_weather": "subset"},
]


def call(tool, **arguments):
    return (tool, arguments)


WEATHER = call("get_weather", city="San Francisco")
BOTH = call("get_weather", city="SF and London")
CASES = [
    # Strict match: the prediction asks a second tool.
    ([[WEATHER, call("accuweather_forecast", city="San Francisco")]], [[WEATHER]]),
    # Unordered match: two replies for one.
    (
        [[WEATHER], [call("get_fun_activities", city="San Francisco")]],
        [[call("get_fun_activities", city="San Francisco"), WEATHER]],
    ),
    # Subset and superset match.
    ([[BOTH, call("accuweather_forecast", city="SF and London")]], [[BOTH]]),
    # Tool args match modes.
    ([[call("get_weather", city="san francisco")]], [[WEATHER]]),
    ([[call("get_weather", city="SF")]], [[WEATHER]]),
    # Greedy partners: the first takes the only one of the second.
    ([[call("find", q=1, n=1)], [call("find", n=1)]], [[call("find")], [call("find", q=1)]]),
    ([], []),
    ([], [[WEATHER]]),
    ([[WEATHER]], []),
]

VALUES = [
    {},
    {"q": 1},
    {"q": 1.0},
    {"q": 2, "path": "a"},
    {"path": "a"},
    {"path": None},
    {"box": {"x": 1, "y": 2}},
    {"box": {"y": 2, "x": 1}, "path": "a"},
    {"box": {"x": 1}},
    {"box": [1, 2], "q": "1"},
    {"box": {"x": None}, "q": False},
]


def random_call(dice):
    return (dice.choice(["get_weather", "crop", "find"]), dice.choice(VALUES))


def random_case(dice):
    reference = [[random_call(dice) for _ in range(dice.randint(1, 3))] for _ in range(dice.randint(1, 3))]
    predicted = copy.deepcopy(reference)
    for _ in range(dice.randint(0, 2)):
        step = dice.choice(predicted)
        change = dice.randint(0, 5)
        if change == 0:
            dice.shuffle(predicted)
        elif change == 1:
            dice.shuffle(step)
        elif change == 2:
            step.append(random_call(dice))
        elif change == 3 and len(step) > 1:
            step.pop()
        else:
            index = dice.randrange(len(step))
            step[index] = (step[index][0], dice.choice(VALUES))
    return predicted, reference


def messages(steps):
    yield {"role": "user", "content": "?"}
    for step in steps:
        calls = [{"function": {"name": tool, "arguments": json.dumps(values)}} for tool, values in step]
        yield {"role": "assistant", "content": "", "tool_calls": calls}
        yield from ({"role": "tool", "content": "."} for _ in step)
    yield {"role": "assistant", "content": "!"}


def trajectory(number, steps):
    steps = [{"calls": [{"name": tool, "arguments": values} for tool, values in step]} for step in steps]
    return {"id": f"{number:04}", "steps": steps}


dice = random.Random(1)
cases = CASES + [random_case(dice) for _ in range(300)]
verdicts = []
for mode, arguments, tools in itertools.product(MODES, ARGUMENTS, TOOLS):
    evaluate = create_trajectory_match_evaluator(
        trajectory_match_mode=mode, tool_args_match_mode=arguments, tool_args_match_overrides=tools
    )
    passed = [
        evaluate(outputs=list(messages(predicted)), reference_outputs=list(messages(reference)))["score"]
        for predicted, reference in cases
    ]
    verdicts.append({"mode": mode, "arguments": arguments, "tools": tools, "passed": passed})
sides = zip(*[[trajectory(number, side) for side in case] for number, case in enumerate(cases)])
predictions, references = map(list, sides)
print(json.dumps({"predictions": predictions, "references": references, "verdicts": verdicts}))
