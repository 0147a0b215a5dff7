"""What m3 does from Python, in one go: `python examples/python_api.py`, from the top of the repository.

`mypy --strict` and `pyright` accept it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import m3

FOLDER = Path(__file__).parents[1] / "trajectories"


def report() -> m3.Report:
    """Scores files, and looks at the numbers."""
    found = m3.score(FOLDER / "predictions.json", FOLDER / "references.json")
    print(f"recall {found.aggregate.recall:.4f}, crop {found.by_type['crop'].average:.4f}")
    worst = min(found, key=lambda trajectory: trajectory.average)
    print(f"worst: {worst.id}, {worst.average:.4f}")
    for call in worst.calls():
        print(f"  {call['status']} {call['tool']}: {call['reason']}")
    return found


def rewards() -> list[float]:
    """Scores pair by pair, as a trainer does."""
    scorer = m3.Scorer(similarity="typed", match="superset")
    predictions = by_id(FOLDER / "predictions.json")
    references = by_id(FOLDER / "references.json")
    found: list[float] = []
    for id, reference in references.items():
        trajectory = scorer.score_one(predictions.get(id), reference)
        found.append(trajectory.average if trajectory.passes else 0.0)
    return found


def by_id(path: Path) -> dict[str, dict[str, Any]]:
    """Trajectories of a file."""
    return {it["id"]: it for it in json.loads(path.read_text(encoding="utf-8"))}


def mistakes() -> None:
    """What is wrong has a place."""
    try:
        m3.score([{"id": "a", "steps": 3}], [{"id": "a", "steps": []}])
    except m3.InputError as error:
        for problem in error.problems:
            print(f"row {problem.row}, {problem.pointer}: {problem.message}")


def main() -> None:
    """Runs all of it."""
    good = report()
    print(f"rewards: {sum(rewards()) / len(good):.4f} on average")
    same = m3.fidelity({"city": "NYC"}, {"city": "New York"})
    print(f"NYC, New York: {same.score:.2f}, {'the same' if same.is_same else 'another'}")
    poor = m3.score(FOLDER / "predictions-poor.json", FOLDER / "references.json")
    for row in m3.leaderboard({"good": good, "poor": poor}).rows():
        interval = f"{row['average_low']:.3f} to {row['average_high']:.3f}"
        print(f"{row['rank']}. {row['model']} {row['average']:.3f} ({interval})")
    mistakes()


if __name__ == "__main__":
    main()
