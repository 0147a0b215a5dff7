"""Rewards: the calls of TRL and verl, every form of completion, and output that cannot be read."""

from __future__ import annotations

import json
import math
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import m3
import pytest
from m3 import rewards
from m3.rewards import TrajectoryReward

DATA = Path(__file__).resolve().parents[2] / "trajectories"
LIMA, OSLO = ({"name": "weather", "arguments": {"city": city}} for city in ("Lima", "Oslo"))
REFERENCE = json.dumps({"steps": [{"calls": [LIMA, OSLO]}]})
IN_TURN = json.dumps({"steps": [{"calls": [LIMA]}, {"calls": [OSLO]}]})


def block(call: Any) -> str:
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


def function(call: Any) -> dict[str, Any]:
    return {"type": "function", "function": call}


def as_trl(reward: Any, completions: list[Any], **columns: Any) -> list[float]:
    """Calls it with everything that TRL's GRPO trainer hands over."""
    logged: dict[str, float] = {}
    found: list[float] = reward(
        prompts=["Which is warmer?"] * len(completions),
        completions=completions,
        completion_ids=[[1, 2]] * len(completions),
        trainer_state=object(),
        log_extra=lambda column, values: None,
        log_metric=logged.__setitem__,
        **{"reference": [REFERENCE] * len(completions), **columns},
    )
    assert all(isinstance(value, float) and math.isfinite(value) for value in logged.values())
    return found


GOOD: list[Any] = [
    block(LIMA) + "\n" + block(OSLO),
    f"<think>{block(LIMA)} would do, or {{</think>Let me see.\n{block(LIMA)}{block(OSLO)}",
    f"a thought that the template began</think>{block(LIMA)}{block(OSLO)}",
    (block(LIMA) + block(OSLO)).removesuffix("</tool_call>"),
    block({"name": "weather", "arguments": json.dumps(LIMA["arguments"])}) + block(function(OSLO)),
    json.dumps([LIMA, OSLO]),
    f"```json\n{json.dumps([LIMA, OSLO])}\n```",
    json.dumps([function(LIMA), function(OSLO)]),
    json.dumps({"tool_calls": [LIMA, OSLO]}),
    json.dumps([{"name": "weather", "parameters": call["arguments"]} for call in (LIMA, OSLO)]),
    REFERENCE,
    {"role": "assistant", "content": None, "tool_calls": [function(LIMA), function(OSLO)]},
    [{"role": "assistant", "content": block(LIMA) + block(OSLO)}],
    [{"role": "assistant", "content": [{"type": "text", "text": block(LIMA) + block(OSLO)}]}],
    [
        {"role": "assistant", "content": "", "tool_calls": [function(LIMA), function(OSLO)]},
        {"role": "tool", "name": "weather", "content": block(LIMA)},
        {"role": "tool", "name": "weather", "content": "cold"},
        {"role": "assistant", "content": "Lima."},
    ],
]


@pytest.mark.parametrize("completion", GOOD)
def test_calls_are_read(completion: Any) -> None:
    reward = TrajectoryReward({"recall": 1, "precision": 1, "step_coherence": 1, "argument_fidelity": 1})
    assert as_trl(reward, [completion]) == [1.0]


def test_calls_with_a_result_between_them_are_different_steps() -> None:
    reward = TrajectoryReward({"merge_purity": 1, "step_coherence": 1})
    text = f"{block(LIMA)}\nuser\n<tool_response>\n{block(LIMA)}\n</tool_response>\nassistant\n{block(OSLO)}"
    turns = [{"role": "assistant", "tool_calls": [function(call)]} for call in (LIMA, OSLO)]
    together = block(LIMA) + block(OSLO)
    found = as_trl(reward, [text, turns, together], reference=[IN_TURN] * 3)
    assert found[:2] == [1.0, 1.0] and found[2] < 1
    assert as_trl(reward, [text, turns, together])[2] == 1.0


UNREADABLE: list[Any] = [
    "<tool_call>\n{'name': 'weather'}\n</tool_call>",
    f'{block(LIMA)}<tool_call>{{"name": "wea',
    "<tool_call></tool_call>",
    block({"arguments": {}}),
    block({"name": 3, "arguments": {}}),
    block({"name": "weather", "arguments": ["Lima"]}),
    '{"name": "weather", "arguments": {"city": "Li',
    '[{"name": "weather", "arg',
    "<tool_call>" + "[" * 100_000,
    "<tool_call>" + "9" * 10_000 + "</tool_call>",
    json.dumps({"steps": [3]}),
    None,
    3,
    [3],
    [{"role": "assistant", "tool_calls": "weather"}],
    [{"role": "assistant", "tool_calls": [function({"arguments": {}})]}],
]


@pytest.mark.parametrize("completion", UNREADABLE)
def test_what_cannot_be_read_is_a_failure(completion: Any) -> None:
    reward = TrajectoryReward(failure=-0.5)
    assert as_trl(reward, [completion, GOOD[0]]) == [-0.5, 1.0]


ANSWERS: list[Any] = ["", "Lima.", "[1] says so", '{"answer": "Lima"}', "[]", "3", [], [{}], "<think>{"]


@pytest.mark.parametrize("completion", ANSWERS)
def test_an_answer_without_calls_is_no_failure(completion: Any) -> None:
    reward = TrajectoryReward({"recall": 1}, failure=-0.5)
    assert as_trl(reward, [completion]) == [0.0]
    assert as_trl(reward, [completion], reference=['{"steps": []}']) == [1.0]


def test_no_output_of_a_model_raises() -> None:
    reward = TrajectoryReward({"average": 1, "lowest_argument_fidelity": 1})
    dice = random.Random(3)
    pieces = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>", "```json"]
    pieces += [block(LIMA), json.dumps(OSLO), REFERENCE, *'{}[]",\\ \0', "NaN", "1e999", "\ud83d", "é"]
    texts = ["".join(dice.choices(pieces, k=dice.randint(1, 9))) for _ in range(2000)]
    # As content of messages too.
    completions: list[Any] = [*texts, *([{"role": "assistant", "content": text}] for text in texts[:200])]
    found = as_trl(reward, completions)
    assert len(found) == len(completions)
    assert all(isinstance(value, float) and 0 <= value <= 1 for value in found)
    assert len(set(found)) >= 5


def test_weights() -> None:
    half = block(LIMA)
    reward = TrajectoryReward({"recall": 3, "precision": 1, "average": 0})
    assert as_trl(reward, [half]) == [(3 * 0.5 + 1 * 1.0) / 4]
    assert reward.weights == {"recall": 3.0, "precision": 1.0}
    assert as_trl(TrajectoryReward({"passes": 1}, match="subset"), [half, GOOD[0]]) == [1.0, 1.0]
    assert as_trl(TrajectoryReward({"passes": 1}, match="strict"), [half, GOOD[0]]) == [0.0, 1.0]
    for wrong in ({"recalls": 1}, {"recall": -1}, {"recall": math.nan}, {"recall": 0}, {"passes": 1}):
        with pytest.raises(m3.InputError):
            TrajectoryReward(wrong)
    with pytest.raises(m3.InputError):
        TrajectoryReward(failure=math.nan)


def test_references_in_every_form() -> None:
    reward = TrajectoryReward()
    message = [{"role": "assistant", "content": "", "tool_calls": [function(LIMA), function(OSLO)]}]
    # Columns of Arrow have every key of every row.
    calls = [{"name": "weather", "arguments": {"city": city, "zone": None}} for city in ("Lima", "Oslo")]
    padded = {"steps": [{"calls": calls}]}
    assert as_trl(reward, [GOOD[0]] * 3, reference=[json.loads(REFERENCE), message, padded]) == [1.0] * 3
    assert reward(completions=[GOOD[0]], references=[REFERENCE]) == [1.0]
    # A row without a reference belongs to another reward function.
    assert reward(completions=[GOOD[0], "x"], reference=[REFERENCE, None]) == [1.0, None]
    by_id = TrajectoryReward(references=DATA / "references.json")
    first = json.loads((DATA / "references.json").read_text())[0]
    assert by_id(completions=[json.dumps(first)], id=["00010000"]) == [1.0]


def test_a_broken_reference_raises() -> None:
    reward = TrajectoryReward()
    references: list[Any] = ["garbage", {"stages": []}, {"steps": [{"calls": [{"arguments": {}}]}]}, 3, []]
    for broken in references:
        for completion in (GOOD[0], UNREADABLE[0]):
            with pytest.raises(m3.InputError, match="the reference of row 1"):
                reward(completions=[GOOD[0], completion], reference=[REFERENCE, broken])
    with pytest.raises(m3.InputError, match="needs a column `reference` or `references`; it has `answer`"):
        reward(completions=["x"], answer=["x"])
    with pytest.raises(m3.InputError, match="2 rows"):
        reward(completions=["x"], reference=[REFERENCE] * 2)
    with pytest.raises(m3.InputError, match="no reference with the id `7`"):
        TrajectoryReward(references={"8": json.loads(REFERENCE)})(completions=["x"], id=[7])


def test_it_is_called_as_verl_calls_it() -> None:
    common = {"data_source": "weather", "ground_truth": REFERENCE, "extra_info": {"num_turns": None}}
    routed = {"reward_router_address": "127.0.0.1:1", "reward_model_tokenizer": None}
    half = block(LIMA)
    # verl joins `reward_kwargs` to the arguments of each call.
    configured = partial(rewards.compute_score, weights={"recall": 1}, failure=-1.0)
    assert configured(solution_str=half, **common) == 0.5
    assert configured(solution_str=UNREADABLE[0], **common, **routed) == -1.0
    assert TrajectoryReward({"recall": 1}).compute_score(solution_str=half, **common, **routed) == 0.5
    batch = rewards.compute_score_batched(
        data_sources=["weather"] * 3,
        solution_strs=[half, GOOD[0], UNREADABLE[0]],
        ground_truths=[REFERENCE] * 3,
        extra_infos=[{}] * 3,
        weights={"recall": 1},
    )
    assert batch == [0.5, 1.0, 0.0]
    with pytest.raises(m3.InputError):
        configured(solution_str=half, **{**common, "ground_truth": "garbage"})


def test_threads_and_pickles() -> None:
    reward = TrajectoryReward({"recall": 1}, references={"a": json.loads(REFERENCE)}, name="calls")
    again = pickle.loads(pickle.dumps(reward))
    assert again.__name__ == reward.__name__ == "calls"
    completions = [block(LIMA), GOOD[0]] * 20
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda it: it(completions=completions, id=["a"] * 40), [reward, again] * 20))
    assert all(rewards == [0.5, 1.0] * 20 for rewards in found)


def test_means_of_metrics_are_logged() -> None:
    logged: dict[str, float] = {}
    reward = TrajectoryReward({"recall": 1, "precision": 1})
    completions = [block(LIMA), GOOD[0], UNREADABLE[0], "x"]
    reward(completions=completions, reference=[REFERENCE] * 4, log_metric=logged.__setitem__)
    assert logged == {
        "trajectory_reward/recall": 0.5,
        "trajectory_reward/precision": pytest.approx(2 / 3),
        "trajectory_reward/unreadable": 0.25,
    }
