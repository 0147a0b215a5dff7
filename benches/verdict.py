"""Learns the weights of the verdict (crates/score/src/verdict.rs) and says how often it is right, each source left out.

    python3 benches/verdict.py target/release/m3 ../shared/data/validity/{tau1-airline-2024,workbench} workflows \\
        --measure ../shared/data/validity/{tau1-airline,bfcl-multi-turn} --same tau1-airline=tau1-airline-2024

A source is a folder with `references.json[.gz]`, `predictions-RUN.json[.gz]` and `labels.jsonl[.gz]` (a `run`, an `id`, a `success` on each
line), or what `cargo bench --bench flow -- --seed 1 --workflows 60 --out DIR` writes, which is taken with and without results. The first
folders are learned from, all of the same weight; those of `--measure` are not. `--same A=B` leaves B out as well where A is measured. Needs
numpy.
"""

import argparse
import gzip
import json
import subprocess
import tempfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np

NUMBERS = ("lowest_change", "lowest", "extra_changes", "artifacts", "bias")
BROKEN = ("infra_error", "broken", "error")
LOOSE = 0.5
"""What the sum is multiplied by where nothing binds the job to the reference's path."""


def text(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return file.read()


def read(path):
    return json.loads(text(path))


def one(folder, name):
    return next(path for path in (folder / name, folder / f"{name}.gz") if path.exists())


def scored(m3, predictions, references):
    """The trajectories of a score."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "score.json"
        command = [m3, "score", "--quiet", predictions, references, "--out", out]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 3):
            raise SystemExit(f"m3 score {predictions}: exit code {done.returncode}")
        return read(out)["trajectories"]


def row(run, trajectory, task, success):
    job = trajectory["job"]
    artifacts = 0.0 if job["artifacts"] is None else job["artifacts"] - 0.5
    numbers = [job["lowest_change"], job["lowest"], -job["extra_changes"], artifacts, 1.0]
    scale = 1.0 if job["is_bound"] else LOOSE
    average = trajectory["metrics"]["average"]
    return {"run": run, "task": task, "success": bool(success), "numbers": numbers, "scale": scale, "average": average}


def trials(m3, folder):
    """The rows of a folder, by the names of its sources."""
    if (folder / "variants.json.gz").exists():
        return {f"{folder.name} {name}": rows for name, rows in workflows(m3, folder)}
    lines = [json.loads(line) for line in text(one(folder, "labels.jsonl")).splitlines()]
    is_whole = lambda label: not any(label.get(key) in (True, "context_length_exceeded") for key in BROKEN) and label.get("has_trajectory", True)
    labels = {(label["run"], label["id"]): label["success"] for label in lines if is_whole(label)}
    rows = []
    for predictions in sorted(folder.glob("predictions-*.json*")):
        run = predictions.name.removeprefix("predictions-").removesuffix(".gz").removesuffix(".json")
        for trajectory in scored(m3, predictions, one(folder, "references.json")):
            label = labels.get((run, trajectory["id"]))
            if label is not None and trajectory["job"]:
                rows.append(row(run, trajectory, trajectory["id"], label))
    return {folder.name: rows}


def workflows(m3, folder):
    references = {task["id"]: task for task in read(folder / "references.json.gz")}
    variants, labels = read(folder / "variants.json.gz"), read(folder / "labels.json")
    bare = lambda call: {key: value for key, value in call.items() if key not in ("result", "is_error")}
    without = lambda task: {**task, "steps": [{**step, "calls": [bare(call) for call in step["calls"]]} for step in task["steps"]]}
    for name, shown in (("without results", without), ("with results", lambda task: task)):
        with tempfile.TemporaryDirectory() as files:
            paths = [Path(files) / "variants.json", Path(files) / "references.json"]
            paths[0].write_text(json.dumps([shown(task) for task in variants]), encoding="utf-8")
            own = [{**shown(references[task["id"].split("~")[0]]), "id": task["id"]} for task in variants]
            paths[1].write_text(json.dumps(own), encoding="utf-8")
            found = scored(m3, *paths)
        yield name, [row("", it, it["id"].split("~")[0], labels[it["id"]]) for it in found if it["job"]]


def table(rows):
    """Numbers, times their scale, and successes."""
    numbers = np.array([trial["numbers"] for trial in rows]) * np.array([[trial["scale"]] for trial in rows])
    return numbers, np.array([trial["success"] for trial in rows], float)


def learned(sources):
    """The weights, none but the bias below 0, by logistic regression with a penalty of 1 on the squares."""
    tables = [table(rows) for rows in sources]
    count = sum(len(success) for _, success in tables)
    numbers, success = np.vstack([it[0] for it in tables]), np.concatenate([it[1] for it in tables])
    each = np.concatenate([np.full(len(it[1]), count / len(tables) / len(it[1])) for it in tables])
    penalty = np.array([1.0] * (len(NUMBERS) - 1) + [0.0])
    least = np.array([0.0] * (len(NUMBERS) - 1) + [-np.inf])
    step = 1.0 / (0.25 * np.linalg.norm(numbers.T * each @ numbers, 2) + 2.0)
    weights = ahead = np.zeros(len(NUMBERS))
    for turn in range(5_000):
        slope = numbers.T @ ((1 / (1 + np.exp(-numbers @ ahead)) - success) * each) + 2 * penalty * ahead
        before, weights = weights, np.maximum(ahead - step * slope, least)
        ahead = weights + turn / (turn + 3) * (weights - before)
    return weights


def area(values, success):
    """How often one of success is higher; ties count half."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    _, same = np.unique(values, return_inverse=True)
    ranks = (np.bincount(same, ranks) / np.bincount(same))[same]
    good, bad = success.sum(), (1 - success).sum()
    return (ranks[success == 1].sum() - good * (good + 1) / 2) / (good * bad) if good and bad else float("nan")


def within(rows, values):
    """The area over pairs of one task."""
    tasks, right, pairs = defaultdict(list), 0.0, 0
    for trial, value in zip(rows, values):
        tasks[trial["task"]].append((trial["success"], value))
    for found in tasks.values():
        good, bad = ([value for success, value in found if success is wanted] for wanted in (True, False))
        right += sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
        pairs += len(good) * len(bad)
    return right / pairs if pairs else float("nan")


def order(rows, values):
    """Kendall's tau-b of the runs' means and their shares of success."""
    runs = defaultdict(list)
    for trial, value in zip(rows, values):
        runs[trial["run"]].append((trial["success"], value))
    means = [tuple(np.mean(found, axis=0)) for found in runs.values()]
    signs = np.array([np.sign([a[0] - b[0], a[1] - b[1]]) for a, b in combinations(means, 2)])
    if len(means) < 3:
        return float("nan")
    return (signs[:, 0] * signs[:, 1]).sum() / np.sqrt((signs[:, 0] ** 2).sum() * (signs[:, 1] ** 2).sum())


def line(name, rows, weights):
    numbers, success = table(rows)
    verdict = 1 / (1 + np.exp(-numbers @ weights))
    averages = np.array([trial["average"] for trial in rows])
    is_sure = (verdict >= 0.8) | (verdict < 0.2)
    right = ((verdict >= 0.5) == (success == 1))[is_sure].mean() if is_sure.any() else float("nan")
    bins = np.minimum((verdict * 10).astype(int), 9)
    error = sum(abs((success - verdict)[bins == at].sum()) for at in range(10)) / len(rows)
    found = [area(averages, success), area(verdict, success), within(rows, verdict), order(rows, verdict), order(rows, averages)]
    found += [is_sure.mean(), right, error]
    print(f"| {name} ({len(rows):,}) | " + " | ".join("-" if np.isnan(it) else f"{it:.3f}" for it in found) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("m3")
    parser.add_argument("learn", nargs="+", type=Path)
    parser.add_argument("--measure", nargs="*", type=Path, default=[])
    parser.add_argument("--same", action="append", default=[], metavar="A=B")
    args = parser.parse_args()
    same = dict(pair.split("=") for pair in args.same)
    taught = {name: rows for folder in args.learn for name, rows in trials(args.m3, folder).items()}
    measured = {name: rows for folder in args.measure for name, rows in trials(args.m3, folder).items()}
    family = lambda name: same.get(name, name).removesuffix(" with results").removesuffix(" without results")
    print("| left out | average | verdict | within tasks | order | order by average | decided | right | calibration error |")
    print("| --- |" + " --- |" * 8)
    for name, rows in {**measured, **taught}.items():
        others = [found for other, found in taught.items() if family(other) != family(name)]
        line(name, rows, learned(others))
    weights = learned(taught.values())
    print("\nweights: " + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(NUMBERS, weights)))


main()
