"""Commands of m3 as functions: score, compare, leaderboard, load_traces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Literal

from . import _engine
from ._comparison import Comparison, Forms, Leaderboard
from ._engine import Path
from ._errors import InputError, named
from ._inputs import Folder, Trajectories, to_json
from ._report import Audit, Report


class _Audited:
    """What was scored, and how, for who asks where the numbers come from; holds what was handed over."""

    def __init__(self, folder: Folder, arguments: list[str]) -> None:
        self._folder = folder
        self._arguments = arguments

    def audit(self, ids: Iterable[str], worst: int | None) -> Audit:
        memory = self._folder.prefix
        words = ["audit", *self._arguments, *_engine.options({"id": list(ids), "worst": worst})]
        pages = Folder()
        page = pages.path("audit.html")
        # Its warnings are those of the score.
        text = _engine.call(words, memory=memory, is_again=True).decode()
        _engine.call([*words, "--html", page], memory=memory, written=page, is_again=True)
        with open(page, encoding="utf-8") as file:
            html = file.read()
        return Audit(named(html, memory), named(text, memory))


def score(
    predictions: Trajectories,
    references: Trajectories,
    *,
    profile: Literal["paper", "open-m3-bench"] = "paper",
    similarity: Literal["cosine", "typed"] = "cosine",
    flow: Literal["on", "off"] = "on",
    results: Literal["auto", "off"] = "auto",
    tau_weak: float | None = None,
    tau_strong: float | None = None,
    tools: Path | Mapping[str, Any] | list[Any] | None = None,
    roles: Path | Mapping[str, str] | None = None,
    tool_names: Path | Mapping[str, str] | None = None,
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
    columns `id` and `steps`, lists or JSON text. The options are those of the command (`m3 score --help`). With
    `progress` a bar is shown, or a function is called with what is done, how much of it and how much there is.

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
            "flow": flow,
            "results": results,
            "tau_weak": tau_weak,
            "tau_strong": tau_strong,
            "tools": None if tools is None else folder.json_file(tools, "tools"),
            "roles": None if roles is None else folder.json_file(roles, "roles"),
            "tool_names": None if tool_names is None else folder.json_file(tool_names, "tool_names"),
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
    words = ["score", *arguments, *more, "--format=jsonl"]
    with _engine.bar(progress) as show:
        output = _engine.call(words, memory=folder.prefix, progress=show)
    lines = output.splitlines()
    if folder.prefix:
        lines[-1] = named(lines[-1].decode(), to_json(folder.prefix, "").decode()[1:-1]).encode()
    return Report(lines, _Audited(folder, arguments))


def _model(name: object) -> str:
    """The name of a model, which the command reads as `NAME=FILE`."""
    if not isinstance(name, str) or not name or "=" in name or name.startswith("-"):
        raise InputError(f"{name!r} cannot name a model: use text that is not empty, has no `=` and starts with no `-`")
    return name


def _results(results: Iterable[tuple[str, Path | Report]], folder: Folder) -> list[str]:
    """Results of scores as files, with the names of their models."""
    arguments = []
    for number, (name, result) in enumerate(results):
        if isinstance(result, Report):
            path = folder.path(f"{number}.json")
            result.save(path)
        elif isinstance(result, (str, PathLike)):
            path = _engine.path_of(result, name)
        else:
            kind = _engine.kind_of(result)
            raise InputError(f"`{name}` should be a report of m3.score or the path of one, and is {kind}")
        arguments.append(f"{_model(name)}={path}")
    return arguments


def _forms(words: list[str], folder: Folder) -> Forms:
    """The forms of a result: the document now, the others when they are asked for."""
    document = _engine.call([*words, "--format=json"], memory=folder.prefix)
    return Forms(
        document, lambda form: _engine.call([*words, f"--format={form}"], memory=folder.prefix, is_again=True).decode()
    )


def compare(
    first: Path | Report,
    second: Path | Report,
    *,
    names: tuple[str, str] = ("first", "second"),
    intersect: bool = False,
    allow_different_references: bool = False,
    resamples: int | None = None,
    seed: int | None = None,
) -> Comparison:
    """Compares two results task by task, as `m3 compare` does: differences of the second with their intervals.

    Both should be scored against the same references, handed over in the same way: a path, or the same dicts. With
    `allow_different_references` others are compared too; with `intersect` the tasks that both have.

    Raises:
        InputError: they cannot be compared.
    """
    if len(names) != 2:
        raise InputError(f"`names` should be two names, and is {names!r}")
    folder = Folder()
    words = ["compare", *_results(zip(names, (first, second), strict=True), folder)]
    words += _engine.options(
        {
            "intersect": intersect,
            "allow_different_references": allow_different_references,
            "resamples": resamples,
            "seed": seed,
        }
    )
    return Comparison(_forms(words, folder))


def leaderboard(
    results: Mapping[str, Path | Report],
    *,
    by_type: bool = False,
    beside: str | Iterable[str] = (),
    intersect: bool = False,
    allow_different_references: bool = False,
    resamples: int | None = None,
    seed: int | None = None,
) -> Leaderboard:
    """Ranks models by their results, as `m3 leaderboard` does.

    Raises:
        InputError: the results cannot be set beside each other; :func:`compare` says when.
    """
    if not isinstance(results, Mapping) or not results:
        found = "empty" if isinstance(results, Mapping) else _engine.kind_of(results)
        raise InputError(f"`results` should be a dict from names of models to their results, and is {found}")
    folder = Folder()
    words = ["leaderboard", *_results(results.items(), folder)]
    words += _engine.options(
        {
            "by_type": by_type,
            "beside": beside,
            "intersect": intersect,
            "allow_different_references": allow_different_references,
            "resamples": resamples,
            "seed": seed,
        }
    )
    return Leaderboard(_forms(words, folder))


def load_traces(
    *paths: Path,
    as_: Literal["predictions", "references"] = "predictions",
    from_: str | None = None,
    images: Path | None = None,
    progress: bool | _engine.Progress = False,
) -> list[dict[str, Any]]:
    """Reads traces of other programs as trajectories: message lists, inspect logs, OpenTelemetry, sessions.

    docs/import.md lists what is read; `from_` names the form, as `--from` of the command, where m3 cannot tell it.
    Pictures in them become files in the folder `images`; without it the
    trajectories hold no more than their names.

    Raises:
        InputError: nothing in them can be read, with every problem and its place.
    """
    if not paths:
        raise InputError("no path is given")
    folder = Folder()
    target = folder.path("predictions.json")
    named = [_engine.path_of(path, f"paths[{number}]") for number, path in enumerate(paths)]
    into = folder.path("images") if images is None else _engine.path_of(images, "images")
    arguments = ["import", *named, "--out", target, f"--images={into}", *_engine.options({"as": as_, "from": from_})]
    with _engine.bar(progress) as show:
        _engine.call(arguments, memory=folder.prefix, written=target, progress=show)
    with open(target, "rb") as file:
        found: list[dict[str, Any]] = json.load(file)
    return found
