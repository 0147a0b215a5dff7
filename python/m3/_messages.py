"""What models and other programs write, as messages that the importer reads: LangChain's, tool calls within text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Message = dict[str, Any]
Call = dict[str, Any]
"""`name` and `arguments`."""

_ROLES = {"ai": "assistant", "AIMessageChunk": "assistant", "human": "user", "model": "assistant"}


class Unreadable(ValueError):
    """What a model wrote is no call, though it should be one."""


def plain(message: Any) -> Message:
    """A message as a dict in OpenAI's form: a dict, or a message of LangChain."""
    if isinstance(message, Mapping):
        found = dict(message)
        kind = found.get("role", found.get("type"))
    elif hasattr(message, "content") and hasattr(message, "type"):
        made = [_list_of(getattr(message, name, None)) for name in ("tool_calls", "invalid_tool_calls")]
        found = {"content": message.content, "tool_calls": [*made[0], *made[1]]}
        if getattr(message, "tool_call_id", None) is not None:
            found["tool_call_id"] = message.tool_call_id
        kind = message.type
    else:
        raise Unreadable(f"a message should be a dict or a message of LangChain, and is {type(message).__name__}")
    found["role"] = _ROLES.get(str(kind), kind)
    calls = _list_of(found.pop("tool_calls", None))
    if calls:
        found["tool_calls"] = [_as_function(call) for call in calls]
        # Providers repeat the calls in the content.
        if isinstance(found.get("content"), list):
            found["content"] = [part for part in found["content"] if not _is_block(part, "tool_use")]
    if found.get("content") is None:
        found["content"] = ""
    return found


def _list_of(calls: Any) -> Sequence[Any]:
    if calls is not None and not isinstance(calls, (list, tuple)):
        raise Unreadable(f"`tool_calls` is no list but {type(calls).__name__}")
    return calls or ()


def _as_function(call: Any) -> Any:
    """A call of LangChain as one of OpenAI."""
    if not isinstance(call, Mapping) or "function" in call or "args" not in call:
        return call
    return {"id": call.get("id"), "type": "function", "function": {"name": call.get("name"), "arguments": call["args"]}}


def _is_block(part: object, kind: str) -> bool:
    return isinstance(part, Mapping) and part.get("type") == kind


def shape(messages: Iterable[Message]) -> list[tuple[Any, bool]]:
    """The role of each message and whether it has calls; results within a message of the user are messages."""
    found: list[tuple[Any, bool]] = []
    for message in messages:
        parts = message["content"] if isinstance(message["content"], list) else []
        results = sum(_is_block(part, "tool_result") for part in parts)
        found += [("tool", False)] * results
        if not results or len(parts) > results:
            has_calls = bool(message.get("tool_calls")) or any(_is_block(part, "tool_use") for part in parts)
            found.append((message["role"], has_calls))
    return found


def divided(messages: Sequence[Message]) -> list[Message]:
    """With an empty message of the user between two replies, which would be one step without it."""
    found: list[Message] = []
    for message in messages:
        if found and found[-1]["role"] == message["role"] == "assistant":
            found.append({"role": "user", "content": ""})
        found.append(message)
    return found


def of_steps(steps: Sequence[Sequence[Call]]) -> Any:
    """Steps as messages; an empty trajectory where there are none."""
    messages: list[Message] = []
    for calls in steps:
        made = [{"type": "function", "function": call} for call in calls]
        messages += [{"role": "assistant", "content": "", "tool_calls": made}, {"role": "user", "content": ""}]
    return messages or {"steps": []}


_RESPONSE = re.compile(r"<tool_response>.*?(?:</tool_response>|\Z)", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_BLOCK = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)


def steps_of_text(text: str) -> list[list[Call]]:
    """The calls in what a model wrote: blocks of `<tool_call>`, or JSON and nothing else.

    Thoughts are left out. Blocks with a result between them are different steps.

    Raises:
        Unreadable: a block, or the JSON, is no call.
    """
    steps = []
    parts = [_without_thoughts(part) for part in _RESPONSE.split(text)]
    for part in parts:
        blocks = [_call(_json(block)) for block in _BLOCK.findall(part)]
        if blocks:
            steps.append(blocks)
    return steps or _of_json(parts[-1].strip())


def _without_thoughts(text: str) -> str:
    # Templates that begin the thought themselves leave its end alone.
    return _THOUGHT.sub("", text).rpartition("</think>")[2]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from None


def _of_json(text: str) -> list[list[Call]]:
    """The calls of a text that is JSON and nothing else; none if it is an answer."""
    if len(text) >= 6 and text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    if not re.match(r"\{|\[\s*(\{|\])", text):
        return []
    value = _json(text)
    if isinstance(value, dict) and isinstance(value.get("steps"), list):
        return [_calls(step.get("calls") if isinstance(step, dict) else step) for step in value["steps"]]
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    if isinstance(value, dict):
        value = [value]
    if not value or not all(isinstance(it, dict) and _looks_like_a_call(it) for it in value):
        return []
    return [_calls(value)]


def _looks_like_a_call(value: Mapping[str, Any]) -> bool:
    return "function" in value or "name" in value and ("arguments" in value or "parameters" in value)


def _calls(values: Any) -> list[Call]:
    if not isinstance(values, (list, tuple)):
        raise Unreadable("the calls are no list")
    return [_call(value) for value in values]


def _call(value: Any) -> Call:
    """A call, flat or as OpenAI writes it."""
    inner = value.get("function") if isinstance(value, Mapping) else None
    call = inner if isinstance(inner, Mapping) else value
    name = call.get("name") if isinstance(call, Mapping) else None
    if not isinstance(name, str) or not name:
        raise Unreadable("a call without a name")
    arguments = call.get("arguments", call.get("parameters"))
    if arguments is not None and not isinstance(arguments, (Mapping, str)):
        raise Unreadable(f"the arguments of `{name}` are neither an object nor text")
    return {"name": name, "arguments": {} if arguments is None else arguments}


def steps_of_completion(completion: Any) -> list[list[Call]]:
    """The calls of what a model wrote: text, a message, or a list of messages with the results between them.

    Raises:
        Unreadable: it is none of these, or what should be a call is none.
    """
    if isinstance(completion, str):
        return steps_of_text(completion)
    messages = [completion] if isinstance(completion, Mapping) else completion
    if not isinstance(messages, (list, tuple)):
        raise Unreadable(f"neither text nor messages: {type(completion).__name__}")
    steps: list[list[Call]] = []
    for message in messages:
        if not isinstance(message, Mapping):
            raise Unreadable(f"a message should be a dict, and is {type(message).__name__}")
        if message.get("role", "assistant") == "assistant":
            calls = message.get("tool_calls")
            steps += [_calls(calls)] if calls else steps_of_text(_text(message.get("content")))
    return steps


def _text(content: Any) -> str:
    if isinstance(content, (list, tuple)):
        return "".join(str(part.get("text", "")) for part in content if _is_block(part, "text"))
    return content if isinstance(content, str) else ""
