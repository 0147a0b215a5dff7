"""Results beside each other: comparisons and leaderboards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ._engine import Path
from ._tables import Tables, framed, save


class Forms:
    """What a command says of results: its document, and other forms when they are asked for."""

    def __init__(self, document: bytes, ask: Callable[[str], str]) -> None:
        self.document = document
        self._ask = ask
        self._told: dict[str, str] = {}

    def __getitem__(self, form: str) -> str:
        if form not in self._told:
            self._told[form] = self._ask(form)
        return self._told[form]

    def __reduce__(self) -> tuple[Any, ...]:
        # What it asks stays here.
        told = {form: self[form] for form in ("html", "table", "markdown")}
        return (Forms, (self.document, told.__getitem__))


class Weighed(Tables):
    """Results beside each other, as a table, a text, a page and Markdown."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self.data: dict[str, Any] = json.loads(forms.document)
        """Everything, as in `--format json` of the command."""

    @property
    def html(self) -> str:
        """A page."""
        return self._forms["html"]

    def to_markdown(self) -> str:
        """The tables, for a pull request."""
        return self._forms["markdown"]

    def save(self, path: Path) -> None:
        """Writes the page."""
        save(self.html, path)

    def _repr_html_(self) -> str:
        return framed(self.html)

    def __repr__(self) -> str:
        return self._forms["table"]


class Comparison(Weighed):
    """What :func:`m3.compare` says: the differences of two results, with intervals."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each metric: both values, the difference, its interval and its p-value."""
        rows: list[dict[str, Any]] = self.data["differences"]
        return rows


class Leaderboard(Weighed):
    """What :func:`m3.leaderboard` says: the models by rank, with intervals."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each model, the best first: its rank, its metrics and their intervals."""
        return [self._row(model) for model in self.data["models"]]

    def _row(self, model: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {"model": model["model"], "rank": (model.get("rank") or {}).get("rank")}
        for name in self.data["columns"]:
            found = model["metrics"].get(name) or {}
            row |= {name: found.get("value"), f"{name}_low": found.get("low"), f"{name}_high": found.get("high")}
        return row
