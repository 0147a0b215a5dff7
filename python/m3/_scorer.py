"""Scores pair by pair, from any thread and in any process: for trainers and servers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from . import _engine
from ._engine import Path
from ._errors import InputError, Problem
from ._inputs import Folder, one, to_json
from ._report import Aggregate, Trajectory

if TYPE_CHECKING:
    from ._native import PairScorer

OneTrajectory = Any
"""A trajectory as a dict, a message list of OpenAI or Anthropic, or JSON of either."""


@dataclass(frozen=True)
class ArgumentFidelity:
    """How far an argument says the same in both calls."""

    argument: str
    """Where it is in the reference's arguments (in the prediction's, where it is extra), as a JSON pointer."""
    other_argument: str | None
    """Where it is in the prediction's arguments, if that is another place."""
    kind: str
    """What it is compared as: `number`, `moment`, `place`, `text` .."""
    score: float
    """In [0, 1]; 1 for equal values only."""
    verdict: str
    """`equal`, `equivalent`, `close`, `different`, `missing` or `extra`."""
    reason: str
    """Why, in a few words. Hostile where it quotes a value."""


@dataclass(frozen=True)
class Fidelity:
    """How far two calls of one tool ask for the same (docs/fidelity.md)."""

    score: float
    """In [0, 1]: that of its least probable argument; 1 for equal arguments only."""
    is_same: bool
    """Whether it is accepted: from 0.5 on."""
    arguments: list[ArgumentFidelity] = field(default_factory=list)
    """Every argument that is equal, and every value that is not."""

    @property
    def worst(self) -> ArgumentFidelity | None:
        """The argument that does most harm, if any does."""
        harmful = [argument for argument in self.arguments if argument.score < 1]
        return min(harmful, key=lambda argument: argument.score, default=None)


class Scorer:
    """Scores pairs of a prediction and its reference.

    Threads share it: it works without the interpreter's lock. It goes on after `fork` and can be pickled for `spawn`.
    The options are those of :func:`m3.score`.

    >>> scorer = Scorer(similarity="typed")  # doctest: +SKIP
    >>> scorer.score_one(prediction, reference).average  # doctest: +SKIP
    0.9375

    Raises:
        InputError: an option is wrong, or a file that it names.
        UnavailableError: the encoder is missing.
    """

    def __init__(
        self,
        *,
        profile: Literal["paper", "open-m3-bench"] = "paper",
        similarity: Literal["cosine", "typed"] = "cosine",
        flow: Literal["on", "off"] = "on",
        results: Literal["auto", "off"] = "auto",
        tau_weak: float | None = None,
        tau_strong: float | None = None,
        tools: Path | Mapping[str, Any] | list[Any] | None = None,
        roles: Path | Mapping[str, str] | None = None,
        match: Literal["strict", "unordered", "subset", "superset"] | None = None,
        match_args: Literal["exact", "ignore", "subset", "superset"] | None = None,
        match_tool: Mapping[str, str] | None = None,
        fidelity_model: Path | None = None,
        encoder: Path | None = None,
        threads: int | None = None,
        cache: bool = True,
        cache_dir: Path | None = None,
    ) -> None:
        self._options: dict[str, Any] = {
            "profile": profile,
            "similarity": similarity,
            "flow": flow,
            "results": results,
            "tau_weak": tau_weak,
            "tau_strong": tau_strong,
            "tools": tools,
            "roles": roles,
            "match": match,
            "match_args": match_args,
            "match_tool": match_tool,
            "fidelity_model": fidelity_model,
            "encoder": encoder,
            "threads": threads,
            "no_cache": not cache,
            "cache_dir": cache_dir,
        }
        self.profile = profile
        self._native: PairScorer | None = None
        self._process = -1
        with _engine.inside():
            self._pairs()
            _engine.let_go_before_fork(self)

    def _pairs(self) -> PairScorer:
        """The native half, made anew after a fork. Used inside of `_engine.inside()`."""
        native = self._native
        if native is not None and self._process == os.getpid():
            return native
        if native is not None:
            # Made before a fork that nobody announced: its threads are not here, so it must not be taken apart.
            _KEPT.append(native)
        folder = Folder()
        files = {name: self._options[name] for name in ("tools", "roles")}
        named = {
            **self._options,
            **{name: None if file is None else folder.json_file(file, name) for name, file in files.items()},
        }
        try:
            made: PairScorer = _engine.native().PairScorer(_engine.options(named))
        except _engine.native().Failed as error:
            raise _engine.failed(error, folder.prefix) from None
        self._native, self._process = made, os.getpid()
        return made

    def read_file(self, path: Path) -> list[str]:
        """The trajectories of a file that `m3 score` reads, as JSON.

        Raises:
            InputError: it cannot be read, with every problem and its place.
        """
        try:
            with _engine.inside():
                return self._pairs().read_file(_engine.path_of(path, "path"))
        except _engine.native().Failed as error:
            raise _engine.failed(error) from None

    def let_go(self) -> None:
        """Closes what it holds open; the next pair opens it again. Called before a fork."""
        self._native = None

    def __reduce__(self) -> tuple[Any, ...]:
        options = {key: value for key, value in self._options.items() if key != "no_cache"}
        return (_scorer_of, ({**options, "cache": not self._options["no_cache"]},))

    def score_one(self, prediction: OneTrajectory | None, reference: OneTrajectory) -> Trajectory:
        """Scores one prediction, `None` for a missing one.

        Both are a dict in m3's form, a message list, or JSON of either; ids need not agree.

        Raises:
            InputError: one of them cannot be read; `problems` says where.
        """
        pair = (None if prediction is None else one(prediction, "prediction"), one(reference, "reference"))
        found = self.reports([pair])[0]
        if isinstance(found, InputError):
            raise found
        return Trajectory._of_json(found)

    def score_many(self, pairs: Iterable[tuple[OneTrajectory | None, OneTrajectory]]) -> list[Trajectory | InputError]:
        """Scores pairs together, which is faster than one by one.

        A pair that cannot be read has its error in its place, and stops no other.
        """
        given: list[tuple[bytes | None, bytes] | InputError] = []
        for row, (prediction, reference) in enumerate(pairs):
            try:
                read = None if prediction is None else one(prediction, f"predictions[{row}]")
                given.append((read, one(reference, f"references[{row}]")))
            except InputError as error:
                given.append(error)
        scored = iter(self.reports([pair for pair in given if not isinstance(pair, InputError)]))
        outcomes = (pair if isinstance(pair, InputError) else next(scored) for pair in given)
        return [it if isinstance(it, InputError) else Trajectory._of_json(it) for it in outcomes]

    def reports(self, pairs: list[tuple[bytes | None, bytes]]) -> list[str | InputError]:
        """The same of pairs of JSON, as JSON."""
        found: list[str | InputError] = []
        # Ctrl-C is heard in between.
        for start in range(0, len(pairs), _TOGETHER):
            try:
                with _engine.inside():
                    scored = self._pairs().score(pairs[start : start + _TOGETHER])
            except _engine.native().Failed as error:
                raise _engine.failed(error) from None
            found += [_outcome(pair) for pair in scored]
        return found

    def aggregate(self, trajectories: Iterable[Trajectory]) -> Aggregate:
        """The metrics of a set of trajectories that a scorer has scored, to the last digit those of `m3 score`.

        Raises:
            InputError: there is none, one of them could not be scored, or is of a report, which has no sums.
        """
        given = list(trajectories)
        if not given:
            raise InputError("there is no trajectory to add up")
        wrong = sum(not isinstance(it, Trajectory) for it in given)
        if wrong:
            raise InputError(f"{wrong} of {len(given)} are no scored trajectories, but errors or None; leave them out")
        for it in given:
            if it.to_dict().get("metrics") and not it.to_dict().get("sums"):
                raise InputError(
                    f"the trajectory `{it.id}` has no sums; only those that a scorer gives can be added up"
                )
        whole = aggregate((it.to_dict().get("sums") for it in given), self.profile)
        mode = self._options["match"]
        if mode is None:
            return whole
        verdicts = [it.passes for it in given if it.passes is not None]
        return Aggregate({**whole.to_dict(), "match": {"mode": mode, "passed": sum(verdicts), "of": len(verdicts)}})

    def audit(self, prediction: OneTrajectory | None, reference: OneTrajectory) -> str:
        """Where the numbers of a pair come from, call by call, as text.

        Raises:
            InputError: one of them cannot be read.
        """
        return self._audit(prediction, reference)[0]

    def explain(self, prediction: OneTrajectory | None, reference: OneTrajectory) -> dict[str, Any]:
        """The same as data, as in `m3 audit --format json` (`m3 schema audit`)."""
        found: dict[str, Any] = json.loads(self._audit(prediction, reference)[1])
        return found

    def _audit(self, prediction: OneTrajectory | None, reference: OneTrajectory) -> tuple[str, str]:
        pair = (None if prediction is None else one(prediction, "prediction"), one(reference, "reference"))
        try:
            with _engine.inside():
                return self._pairs().audit(pair)
        except _engine.native().Failed as error:
            raise _engine.failed(error) from None

    def fidelity(
        self,
        predicted: Mapping[str, Any],
        reference: Mapping[str, Any],
        *,
        tool: str = "",
        question: str | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Fidelity:
        """How far the arguments of two calls of one tool ask for the same.

        `question` is what the user asked, `schema` the JSON Schema of the arguments.

        Raises:
            InputError: the arguments or the schema are no JSON, the question or the tool no text.
        """
        read = [to_json(value, name) for value, name in ((predicted, "predicted"), (reference, "reference"))]
        _check_text(tool, "tool")
        if question is not None:
            _check_text(question, "question")
        read_schema = None if schema is None else to_json(schema, "schema")
        try:
            with _engine.inside():
                found = json.loads(self._pairs().fidelity(tool, read[0], read[1], question, read_schema))
        except _engine.native().Failed as error:
            raise _engine.failed(error) from None
        arguments = [ArgumentFidelity(**argument) for argument in found["arguments"]]
        return Fidelity(found["score"], found["is_same"], arguments)


_KEPT: list[PairScorer] = []
_TOGETHER = 32


def _scorer_of(options: dict[str, Any]) -> Scorer:
    return Scorer(**options)


def _check_text(text: object, name: str) -> None:
    if not isinstance(text, str):
        raise InputError(f"`{name}` should be text, and is {_engine.kind_of(text)}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"`{name}` has half of a surrogate pair, and is no text: {text!a}") from None


def _outcome(outcome: tuple[str | None, tuple[str, list[Any]] | None]) -> str | InputError:
    report, problem = outcome
    if problem is not None:
        return InputError(problem[0], [Problem._of(row) for row in problem[1]])
    return report or "{}"


def aggregate(sums: Iterable[str | None], profile: str) -> Aggregate:
    """The metrics of a set from the sums of its trajectories; `None` stands for one that the profile leaves out."""
    given = list(sums)
    known = [text for text in given if text is not None]
    return aggregate_sums(_engine.native().add_sums(known), len(given) - len(known), profile)


def aggregate_sums(sums: str, left_out: int, profile: str) -> Aggregate:
    """The metrics of a set from its added sums, and the number of those that the profile leaves out."""
    return Aggregate(json.loads(_engine.native().aggregate(sums, left_out, profile)))


_SHARED: dict[str, Scorer] = {}
_SHARED_AT_MOST = 16


def shared(**options: Any) -> Scorer:
    """The scorer of this process with these options: making one takes a third of a second. The oldest are let go."""
    key = repr(sorted(options.items()))
    found = _SHARED.get(key)
    if found is None:
        # No lock, which a fork could copy while it is held: two threads may both make one, and the first is kept.
        found = _SHARED.setdefault(key, Scorer(**options))
        for old in list(_SHARED)[:-_SHARED_AT_MOST]:
            _SHARED.pop(old, None)
    return found


def fidelity(
    predicted: Mapping[str, Any],
    reference: Mapping[str, Any],
    *,
    tool: str = "",
    question: str | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Fidelity:
    """How far the arguments of two calls of one tool ask for the same: score, verdict and reason of each argument.

    >>> fidelity({"city": "NYC"}, {"city": "New York"}).is_same  # doctest: +SKIP
    True

    Raises:
        InputError: the arguments or the schema are no JSON.
        UnavailableError: the encoder is missing.
    """
    return shared().fidelity(predicted, reference, tool=tool, question=question, schema=schema)
