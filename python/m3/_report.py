"""What a score says, as objects: metrics by attribute, calls, tables, and where the numbers come from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._engine import Path
from ._errors import InputError
from ._native import METRICS as SCORE_METRICS
from ._tables import Tables, framed, html_table, save

if TYPE_CHECKING:
    import pandas

    from ._commands import _Audited

BESIDE = ("argument_similarity_strong", "argument_fidelity_covered")
"""The metrics that stand beside their own ones and have no column in tables."""

METRICS = tuple(name for name in SCORE_METRICS if name not in BESIDE)
"""The metrics of tables, each in [0, 1] or unknown (`None`); docs/metrics.md has their equations."""


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _known(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """The metrics of tables that some of these know."""
    return [name for name in METRICS if any(group.get(name) is not None for group in groups)]


class _Numbers:
    """Members of an object of JSON as attributes."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    def to_dict(self) -> dict[str, Any]:
        """Everything, as in `m3 score --format json`."""
        return dict(self._members)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._members[name]
        except KeyError:
            known = ", ".join(self._members)
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._members]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._members == other._members

    def __hash__(self) -> int:
        return hash(json.dumps(self._members, sort_keys=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._members,))


class Aggregate(_Numbers):
    """Counts and metrics of a set of trajectories; metrics are in [0, 1] (M3-Bench, section 4.3)."""

    __slots__ = ()

    trajectories: int
    reference_calls: int
    predicted_calls: int
    matched: int
    verdict: float | None
    recall: float
    precision: float
    argument_similarity: float
    argument_similarity_strong: float
    argument_fidelity: float
    argument_fidelity_covered: float
    region_overlap: float | None
    artifact_agreement: float | None
    answer_agreement: float | None
    change_recall: float | None
    change_precision: float | None
    change_fidelity: float | None
    step_coherence: float
    merge_purity: float
    order_consistency: float
    average: float
    average_steps: float
    average_calls: float

    def __repr__(self) -> str:
        shown = (f"{name}={_shown(self._members[name])}" for name in _known([self._members]))
        return f"Aggregate({', '.join(shown)})"


class Trajectory(_Numbers):
    """A scored trajectory: its metrics by name, which calls are matched, and why the others are not."""

    __slots__ = ("_text",)

    id: str
    type: str | None
    job: dict[str, Any] | None
    matches: list[dict[str, Any]]
    unmatched_references: list[dict[str, Any]]
    unmatched_predictions: list[dict[str, Any]]
    verdict: float | None
    recall: float
    precision: float
    argument_similarity: float
    argument_similarity_strong: float
    argument_fidelity: float
    argument_fidelity_covered: float
    region_overlap: float | None
    artifact_agreement: float | None
    answer_agreement: float | None
    change_recall: float | None
    change_precision: float | None
    change_fidelity: float | None
    step_coherence: float
    merge_purity: float
    order_consistency: float
    average: float
    _text: str | bytes

    @classmethod
    def _of_json(cls, text: str | bytes) -> Trajectory:
        """From JSON, which is read when something of it is asked for: it may be in another thread, or never."""
        made = cls.__new__(cls)
        made._text = text
        return made

    @property
    def metrics(self) -> Aggregate:
        """The metrics of a set with nothing but this trajectory."""
        return Aggregate(self._members.get("metrics") or {})

    @property
    def failure(self) -> str | None:
        """Why the task failed, if it did: `missing`, `provider`, `limit` .."""
        found: str | None = self._members.get("failure")
        return found

    @property
    def passes(self) -> bool | None:
        """Whether it passes, where the scorer has a `match`."""
        verdict = self._members.get("match")
        return None if verdict is None else bool(verdict["passed"])

    def __getattr__(self, name: str) -> Any:
        if name == "_members":
            # Not set yet.
            self._members = json.loads(self._text)
            return self._members
        if name.startswith("_"):
            raise AttributeError(name)
        metrics = self._members.get("metrics") or {}
        if name in metrics:
            return metrics[name]
        if not metrics and (name in SCORE_METRICS or name in self.__annotations__):
            raise AttributeError(f"the profile leaves this trajectory out: {self.failure}")
        return super().__getattr__(name)

    def __repr__(self) -> str:
        average = (self._members.get("metrics") or {}).get("average")
        return f"Trajectory(id={self._members.get('id')!r}, average={average})"

    def row(self) -> dict[str, Any]:
        """A row of a table: id, type, failure, counts and metrics."""
        head = {"id": self._members.get("id"), "type": self._members.get("type"), "failure": self.failure}
        return {**head, **{key: value for key, value in self.metrics.to_dict().items() if not isinstance(value, dict)}}

    def calls(self) -> list[dict[str, Any]]:
        """A row for each matched pair, each missing and each extra call, places counted from 0."""
        id = self._members.get("id")
        rows = [_call_row(id, "matched", found["tool"], found) for found in self._members.get("matches", ())]
        for status, key in (("missing", "unmatched_references"), ("extra", "unmatched_predictions")):
            rows += [_call_row(id, status, found["tool"], found) for found in self._members.get(key, ())]
        return rows


def _call_row(id: object, status: str, tool: str, found: Mapping[str, Any]) -> dict[str, Any]:
    wrong = "; ".join(f"{it['argument'] or '/'}: {it['reason']}" for it in found.get("wrong_arguments", ()))
    place = (found.get("step"), found.get("call"))
    reference = found.get("reference") or {}
    predicted = found.get("predicted") or {}
    best = (found.get("best") or {}).get("similarity")
    return {
        "id": id,
        "status": status,
        "tool": tool,
        "reference_step": place[0] if status == "missing" else reference.get("step"),
        "reference_call": place[1] if status == "missing" else reference.get("call"),
        "predicted_step": place[0] if status == "extra" else predicted.get("step"),
        "predicted_call": place[1] if status == "extra" else predicted.get("call"),
        "similarity": found.get("similarity", best),
        "strength": found.get("strength"),
        "argument_fidelity": found.get("argument_fidelity"),
        "region_overlap": (found.get("regions") or {}).get("overlap"),
        "reason": wrong or found.get("reason"),
    }


class Audit:
    """Where the numbers of trajectories come from, as a page: shown in a notebook, or written by `save`."""

    def __init__(self, html: str, text: str) -> None:
        self.html = html
        """One page with everything in it, which asks for nothing elsewhere."""
        self.text = text
        """The same for a terminal."""

    def save(self, path: Path) -> None:
        """Writes the page."""
        save(self.html, path)

    def _repr_html_(self) -> str:
        return framed(self.html)

    def __repr__(self) -> str:
        return self.text


class Report(Tables):
    """What :func:`m3.score` says. In a notebook it shows its metrics."""

    def __init__(self, lines: Sequence[bytes], audited: _Audited | None) -> None:
        self._lines = lines[:-1]
        self._end = lines[-1]
        self._audited = audited
        self._read: list[Trajectory] | None = None
        self.summary: dict[str, Any] = json.loads(lines[-1])
        """Everything but the trajectories, as in `m3 score --format json` (`m3 schema score`)."""

    @property
    def aggregate(self) -> Aggregate:
        """All trajectories together."""
        return Aggregate(self.summary["aggregate"])

    @property
    def by_type(self) -> dict[str, Aggregate]:
        """The trajectories of each type."""
        return {name: Aggregate(members) for name, members in self.summary["by_type"].items()}

    @property
    def suites(self) -> dict[str, Any]:
        """What other benchmarks say, with `suite=`."""
        return dict(self.summary.get("suites", {}))

    @property
    def trajectories(self) -> Sequence[Trajectory]:
        """Every scored trajectory, in the order of the references."""
        # Read when they are asked for: many want nothing but the aggregate.
        if self._read is None:
            self._read = [Trajectory._of_json(line) for line in self._lines]
        return self._read

    def __reduce__(self) -> tuple[Any, ...]:
        return (Report, ([*self._lines, self._end], None))

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.trajectories)

    def __getitem__(self, id: str) -> Trajectory:
        found = next((it for it in self.trajectories if it.id == id), None)
        if found is None:
            raise KeyError(id)
        return found

    def rows(self) -> list[dict[str, Any]]:
        """A row for each trajectory."""
        return [trajectory.row() for trajectory in self.trajectories]

    def call_rows(self) -> list[dict[str, Any]]:
        """A row for each matched pair, each missing and each extra call."""
        return [row for trajectory in self.trajectories for row in trajectory.calls()]

    def calls(self) -> pandas.DataFrame:
        """The calls as a frame of pandas: partner, similarity, fidelity, reason."""
        import pandas

        return pandas.DataFrame(self.call_rows(), columns=list(_call_row(None, "", "", {})))

    def to_json(self) -> str:
        """The document that `m3 score --format json` writes, for `m3 compare` and `m3 leaderboard`."""
        trajectories = b",\n    ".join(line.strip() for line in self._lines).decode()
        head = json.dumps(self.summary, indent=2, ensure_ascii=False).removesuffix("\n}")
        return f'{head},\n  "trajectories": [\n    {trajectories}\n  ]\n}}\n'

    def save(self, path: Path) -> None:
        """Writes that document."""
        save(self.to_json(), path)

    def audit(self, *ids: str, worst: int | None = None) -> Audit:
        """Where the numbers come from: of these trajectories, of the `worst` that cost most, or of all.

        Files are read again, so it shows what they hold now. What was handed over is kept for it.

        Raises:
            InputError: an id is not there, a file has gone, or the report was pickled, which leaves the inputs behind.
        """
        if self._audited is None:
            raise InputError("a report that was pickled has no inputs; audit it where it was made")
        known = {trajectory.id for trajectory in self.trajectories}
        for id in ids:
            if id not in known:
                raise InputError(f"no scored trajectory has the id {id!r}")
        return self._audited.audit(ids, worst)

    def __repr__(self) -> str:
        metrics = self.summary["aggregate"]
        lines = [f"{name.replace('_', ' '):<20} {_shown(metrics[name])}" for name in _known([metrics])]
        ledger = self.summary["ledger"]
        counted = [
            ("scored", len(self)),
            ("missing", len(ledger["missing"])),
            ("without a reference", len(ledger["extra"])),
        ]
        shown = ", ".join(f"{count} {what}" for what, count in counted if count or what == "scored")
        return "\n".join([*lines, "", shown, self.summary["signature"]])

    def _repr_html_(self) -> str:
        groups = [("all", self.summary["aggregate"]), *self.summary["by_type"].items()]
        metrics = _known([group for _, group in groups])
        rows = [
            [name, str(group["trajectories"]), *(_shown(group[metric]) for metric in metrics)] for name, group in groups
        ]
        return html_table(["", "trajectories", *metrics], rows, self.summary["signature"])
