"""The scorer for inspect_ai, in real runs with its mock model."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import m3
import pytest
from conftest import needs

needs("inspect_ai")

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, ToolCall, tool
from m3.inspect import trajectory

CALL = {"name": "weather", "arguments": {"city": "Lima"}}
REFERENCE = {"id": "warm", "steps": [{"calls": [CALL, {"name": "weather", "arguments": {"city": "Oslo"}}]}]}


@tool
def weather() -> Tool:
    async def execute(city: str) -> str:
        """The weather of a city.

        Args:
            city: Its name.
        """
        if city == "Nowhere":
            raise FileNotFoundError(city)
        return "warm"

    return execute


def reply(*cities: str, text: str = "") -> ModelOutput:
    calls = [ToolCall(id=city, function="weather", arguments={"city": city}) for city in cities]
    message = ChatMessageAssistant(content=text, tool_calls=calls or None)
    output = ModelOutput.from_message(message)
    # Without it the mock model counts tokens with a vocabulary that it fetches.
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def run(folder: Path, samples: list[Sample], replies: list[ModelOutput], scorer: Any, **options: Any) -> EvalLog:
    task = Task(dataset=samples, solver=[use_tools(weather()), generate()], scorer=scorer)
    model = get_model("mockllm/model", custom_outputs=replies)
    return eval(task, model=model, log_dir=str(folder), display="none", max_samples=1, **options)[0]


def score_of(log: EvalLog, id: str = "warm") -> Any:
    assert log.samples is not None, log.error
    scores = next(sample.scores for sample in log.samples if sample.id == id)
    assert scores is not None, log.error
    return scores["trajectory"]


def known(values: dict[str, float]) -> set[float]:
    """The metrics that are known: others are not a number. The verdict is a probability, which is never 1."""
    return {value for name, value in values.items() if name != "verdict" and not math.isnan(value)}


def test_parallel_calls_are_one_step(tmp_path: Path) -> None:
    replies = [reply("Lima", "Oslo"), reply(text="Lima"), reply("Lima"), reply("Oslo"), reply(text="Oslo")]
    samples = [Sample(id="warm", input="Which is warmer?"), Sample(id="cold", input="Which is colder?")]
    references = [REFERENCE, {**REFERENCE, "id": "cold"}]
    log = run(tmp_path, samples, replies, trajectory(references))
    assert log.status == "success", log.error
    together, apart = score_of(log), score_of(log, "cold")
    assert known(together.value) == {1.0}
    assert together.answer == "Lima"
    assert "1.2 weather" in together.explanation
    assert (apart.value["recall"], apart.value["step_coherence"]) == (1.0, 0.5)
    assert log.results is not None
    metrics = {score.name: score.metrics for score in log.results.scores}
    assert metrics["step_coherence"]["mean"].value == 0.75
    assert metrics["step_coherence"]["stderr"].value == pytest.approx(0.25)
    assert set(metrics) == set(together.value)


def test_the_numbers_are_those_of_the_log(tmp_path: Path) -> None:
    replies = [reply("Lima", "Nowhere", "Oslo"), reply("Lima"), reply(text="Lima")]
    log = run(tmp_path, [Sample(id="warm", input="Which is warmer?")], replies, trajectory([REFERENCE]))
    value = score_of(log).value
    assert 0 < value["precision"] < 1
    report = m3.score(log.location, [REFERENCE])
    found = {name: getattr(report.aggregate, name) for name in value}
    assert {name: math.nan if one is None else one for name, one in found.items()} == pytest.approx(value, nan_ok=True)
    calls = m3.load_traces(log.location)[0]["steps"][0]["calls"]
    assert [call.get("is_error", False) for call in calls] == [False, True, False]


@pytest.mark.parametrize("form", ["file", "lines", "mapping", "metadata", "target"])
def test_references_in_every_form(tmp_path: Path, form: str) -> None:
    sample = Sample(id="warm", input="Which?")
    references: Any = None
    if form == "file":
        references = tmp_path / "references.json"
        references.write_text(json.dumps([REFERENCE]))
    elif form == "lines":
        references = tmp_path / "references.jsonl"
        references.write_text(f"{json.dumps(REFERENCE)}\n\n{json.dumps({**REFERENCE, 'id': 'other'})}\n")
    elif form == "mapping":
        references = {"warm": {"steps": REFERENCE["steps"]}}
    elif form == "metadata":
        sample.metadata = {"reference": REFERENCE}
    else:
        sample.target = json.dumps(REFERENCE)
    scorer = trajectory(references, metrics=["recall", "passes"], match="strict")
    log = run(tmp_path, [sample], [reply("Lima", "Oslo"), reply(text="Lima")], scorer)
    assert score_of(log).value == {"recall": 1.0, "passes": 1.0}


def test_a_sample_that_needs_no_call(tmp_path: Path) -> None:
    none = {"id": "warm", "steps": []}
    log = run(tmp_path, [Sample(id="warm", input="?")], [reply(text="no")], trajectory([none]))
    assert known(score_of(log).value) == {1.0}


def test_mistakes_are_told(tmp_path: Path) -> None:
    log = run(tmp_path, [Sample(id="other", input="?")], [reply(text="no")], trajectory([REFERENCE]))
    assert log.status == "error" and log.error is not None
    assert "the sample `other` has no reference; the references have the ids `warm`" in log.error.message
    log = run(tmp_path, [Sample(id="other", input="?", target="Lima")], [reply(text="no")], trajectory())
    assert log.error is not None and "has no reference: give `trajectory(references)`" in log.error.message
    with pytest.raises(m3.InputError, match="`recalls` is no metric"):
        trajectory([REFERENCE], metrics=["recalls"])
    with pytest.raises(m3.InputError, match="the reference `warm`"):
        trajectory({"warm": {"steps": [{"calls": [{"arguments": {}}]}]}})
    with pytest.raises(m3.InputError, match="no.file"):
        trajectory(tmp_path / "no.file")
