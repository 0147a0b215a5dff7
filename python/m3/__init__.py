"""m3 evaluates the tool-calling trajectories of vision-language models, call by call.

The numbers are those of the command ``m3``, to the last digit: both are one library. Trajectories are files, lists of
dicts, or frames of pandas, polars, Arrow and Hugging Face ``datasets``.

>>> import m3
>>> report = m3.score("predictions.json", "references.json")  # doctest: +SKIP
>>> report.aggregate.recall  # doctest: +SKIP
0.9743589743589743

docs/python.md explains it with examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._commands import compare, leaderboard, load_traces, score
    from ._comparison import Comparison, Leaderboard
    from ._errors import InputError, InputWarning, Problem, UnavailableError
    from ._report import Aggregate, Audit, Report, Trajectory
    from ._scorer import ArgumentFidelity, Fidelity, Scorer, fidelity

# Where each name is: modules are imported when a name is asked for, so that `import m3` takes a few milliseconds.
_PLACES = {
    "Aggregate": "_report",
    "ArgumentFidelity": "_scorer",
    "Audit": "_report",
    "Comparison": "_comparison",
    "Fidelity": "_scorer",
    "InputError": "_errors",
    "InputWarning": "_errors",
    "Leaderboard": "_comparison",
    "Problem": "_errors",
    "Report": "_report",
    "Scorer": "_scorer",
    "Trajectory": "_report",
    "UnavailableError": "_errors",
    "compare": "_commands",
    "fidelity": "_scorer",
    "leaderboard": "_commands",
    "load_traces": "_commands",
    "score": "_commands",
}

# Modules for other programs; each needs the program that it is for.
_MODULES = ("evaluators", "inspect", "pytest_plugin", "ray", "rewards", "spark")

__all__ = [
    "Aggregate",
    "ArgumentFidelity",
    "Audit",
    "Comparison",
    "Fidelity",
    "InputError",
    "InputWarning",
    "Leaderboard",
    "Problem",
    "Report",
    "Scorer",
    "Trajectory",
    "UnavailableError",
    "compare",
    "fidelity",
    "leaderboard",
    "load_traces",
    "score",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from ._native import VERSION

        return VERSION
    from importlib import import_module

    if name in _MODULES:
        try:
            return import_module(f".{name}", __name__)
        except ImportError as error:
            raise AttributeError(f"module 'm3' has {name!r}, which cannot be imported here: {error}") from error
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'm3' has no attribute {name!r}")
    value = getattr(import_module(f".{place}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
