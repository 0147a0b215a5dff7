"""Commands of m3 as functions: score, compare, leaderboard, load_traces."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Literal

from . import _engine
from ._errors import InputError
from ._inputs import Folder, Trajectories, to_json
from ._report import Audit, Comparison, Leaderboard, Report

Path = str | PathLike[str]


class _Audited:
    """What was scored, and how, for who asks where the numbers come from; holds what was handed over."""

    def __init__(self, folder: Folder, arguments: list[str]) -> None:
        self._folder = folder
        self._arguments = arguments

    def audit(self, ids: Iterable[str], worst: int | None) -> Audit:
        named = [*self._arguments, *_engine.options({"id": list(ids), "worst": worst})]
        call = lambda *more: _engine.call(["audit", *named, *more], memory=self._folder.prefix)  # noqa: E731
        page = self._folder.path("audit.html") if self._folder.prefix else None
        if page is None:
            self._folder = Folder()
            page = self._folder.path("audit.html")
        call("--html", page)
        with open(page, encoding="utf-8") as file:
            html = file.read()
        os.unlink(page)
        return Audit(html.replace(self._folder.prefix or "\0", ""), call().decode())


def score(
    predictions: Trajectories,
    references: Trajectories,
    *,
    profile: Literal["paper", "open-m3-bench"] = "paper",
    similarity: Literal["cosine", "typed"] = "cosine",
    tau_weak: float | None = None,
    tau_strong: float | None = None,
    tools: Path | Mapping[str, Any] | list[Any] | None = None,
    tool_names: Path | Mapping[str, str] = "off",
    duplicates: Literal["error", "last"] | None = None,
    by: Literal["type", "class"] = "type",
    suite: str | Iterable[str] = (),
    match: Literal["strict", "unordered", "subset", "superset"] | None = None,
    match_args: Literal["exact", "ignore", "subset", "superset"] | None = None,
    match_tool: Mapping[str, str] | None = None,
    fidelity_model: Path | None = None,
    encoder: Path | None = None,
    threads: int | None = None,
    cache: bool = True,
    cache_dir: Path | None = None,
    progress: bool | _engine.Progress = False,
) -> Report:
    """Scores predictions against references, as `m3 score` does.

    Both are a path, a list of dicts (or a mapping from ids), or a frame of pandas, polars, Arrow or `datasets` with the
    columns `id` and `steps`. The options are those of the command (`m3 score --help`). With `progress` a bar is
    shown, or a function is called with what is done, how much of it and how much there is.

    Raises:
        InputError: the input or an option is wrong; `problems` has every problem with its place.
        UnavailableError: the encoder is missing.
    """
    folder = Folder()
    files = [folder.file(predictions, "predictions"), folder.file(references, "references")]
    arguments = files + _engine.options(
        {
            "profile": profile,
            "similarity": similarity,
            "tau_weak": tau_weak,
            "tau_strong": tau_strong,
            "tools": None if tools is None else folder.json_file(tools, "tools"),
            "tool_names": folder.json_file(tool_names, "tool-names"),
            "duplicates": duplicates,
            "by": by,
            "match": match,
            "match_args": match_args,
            "match_tool": match_tool,
            "fidelity_model": fidelity_model,
            "encoder": encoder,
            "threads": threads,
            "no_cache": not cache,
            "cache_dir": cache_dir,
        }
    )
    more = _engine.options({"suite": suite})
    output = _engine.call(
        ["score", *arguments, *more, "--format=jsonl"], memory=folder.prefix, progress=_engine.bar(progress)
    )
    lines = output.splitlines()
    if folder.prefix:
        lines[-1] = lines[-1].replace(to_json(folder.prefix, "")[1:-1], b"")
    return Report(lines, _Audited(folder, arguments))


def _results(results: Iterable[tuple[str, Path | Report]], folder: Folder) -> list[str]:
    """Results of scores as files, with the names of their models."""
    arguments = []
    for number, (name, result) in enumerate(results):
        if isinstance(result, Report):
            path = folder.path(f"{number}.json")
            result.save(path)
        elif isinstance(result, (str, PathLike)):
            path = os.fspath(result)
        else:
            kind = _engine.kind_of(result)
            raise InputError(f"`{name}` should be a report of m3.score or the path of one, and is {kind}")
        arguments.append(f"{name}={path}")
    return arguments


def _forms(command: str, arguments: list[str], folder: Folder, progress: _engine.Progress | None) -> list[bytes]:
    forms = []
    for form in ("json", "html", "table"):
        forms.append(_engine.call([command, *arguments, f"--format={form}"], memory=folder.prefix, progress=progress))
    return forms


def compare(
    first: Path | Report,
    second: Path | Report,
    *,
    names: tuple[str, str] = ("first", "second"),
    resamples: int | None = None,
    seed: int | None = None,
) -> Comparison:
    """Compares two results task by task, as `m3 compare` does: differences of the second with their intervals.

    Raises:
        InputError: they cannot be compared.
    """
    folder = Folder()
    arguments = _results(zip(names, (first, second), strict=True), folder)
    arguments += _engine.options({"resamples": resamples, "seed": seed})
    return Comparison(*_forms("compare", arguments, folder, None))


def leaderboard(
    results: Mapping[str, Path | Report],
    *,
    by_type: bool = False,
    beside: str | Iterable[str] = (),
    resamples: int | None = None,
    seed: int | None = None,
) -> Leaderboard:
    """Ranks models by their results, as `m3 leaderboard` does.

    Raises:
        InputError: the results cannot be set beside each other.
    """
    folder = Folder()
    arguments = _results(results.items(), folder)
    arguments += _engine.options({"by_type": by_type, "beside": beside, "resamples": resamples, "seed": seed})
    return Leaderboard(*_forms("leaderboard", arguments, folder, None))


def load_traces(
    *paths: Path,
    as_: Literal["predictions", "references"] = "predictions",
    progress: bool | _engine.Progress = False,
) -> list[dict[str, Any]]:
    """Reads traces of other programs as trajectories: message lists, inspect logs, OpenTelemetry, sessions.

    docs/import.md lists what is read.

    Raises:
        InputError: nothing in them can be read, with every problem and its place.
    """
    folder = Folder()
    target = folder.path("predictions.json")
    named = [os.fspath(path) for path in paths]
    # No path is an option.
    named = [os.path.join(".", path) if path.startswith("-") else path for path in named]
    arguments = ["import", *named, "--out", target, *_engine.options({"as": as_})]
    _engine.call(arguments, memory=folder.prefix, progress=_engine.bar(progress))
    with open(target, "rb") as file:
        found: list[dict[str, Any]] = json.load(file)
    return found
