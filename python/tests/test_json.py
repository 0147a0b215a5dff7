"""The native writer of JSON says what Python's says, or leaves it to Python."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict
from typing import Any

import pytest
from m3 import _engine
from m3._inputs import to_json


class Color(str, enum.Enum):
    RED = "red"


VALUES: list[Any] = [
    {"a": [1, -(2**63), 2**63 - 1, 0.1, 1e16, 1e-7, -0.0, 5e-324, 1e308, True, False, None]},
    {'"\\/\b\f\n\r\t\x00\x1f\x7f': "é ü 漢 😀 \u2028", "": {}},
    [[], {}, "", [[["deep"]]]],
]

LEFT_TO_PYTHON: list[Any] = [
    float("nan"),
    [float("inf")],
    2**63,
    {1: "a"},
    ("a",),
    OrderedDict(a=1),
    Color.RED,
    "\ud800",
    {"\udfff": 1},
    {"a": b"x"},
    b"x",
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_plain_values_are_written_as_python_writes_them(value: Any) -> None:
    written = _engine.native().plain_json(value)
    # The digits of numbers too: they are part of the text that is embedded.
    assert written.decode() == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json.loads(written) == value


@pytest.mark.parametrize("value", LEFT_TO_PYTHON, ids=range(len(LEFT_TO_PYTHON)))
def test_what_is_not_plain_is_left_to_python(value: Any) -> None:
    assert _engine.native().plain_json(value) is None


def test_deep_values_are_left_to_python() -> None:
    value: Any = 1
    for _ in range(150):
        value = [value]
    assert _engine.native().plain_json(value) is None
    assert to_json(value, "value") == b"[" * 150 + b"1" + b"]" * 150
