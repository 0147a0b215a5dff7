"""What m3 costs from Python: import, reports beside the command, pairs, threads, memory.

    python python/benches/latency.py [--data ../shared/data/open-m3-bench] [--pairs 100000]

Prints each figure with its goal. Everything is measured warm: the embeddings are cached before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import m3
from m3 import _engine

ROOT = Path(__file__).parents[2]
PACKAGES = str(Path(m3.__file__).parents[1])
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (PACKAGES, os.environ.get("PYTHONPATH"))))}

Pair = tuple[dict[str, Any] | None, dict[str, Any]]


def seconds(work: Callable[[], object], times: int) -> float:
    """The median time of some work."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def run(*words: str) -> None:
    subprocess.run(words, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def imported() -> float:
    """The time of `import m3` in a new process, without that of Python itself."""
    python = sys.executable
    run(python, "-c", "import m3")
    return seconds(lambda: run(python, "-c", "import m3"), 10) - seconds(lambda: run(python, "-c", "pass"), 10)


def pairs_of(folder: Path) -> list[Pair]:
    predictions = {it["id"]: it for it in json.loads((folder / "predictions/strong.json").read_bytes())}
    references = {it["id"]: it for it in json.loads((folder / "references.json").read_bytes())}
    return [(predictions.get(id), reference) for id, reference in references.items()]


def threads(scorer: m3.Scorer, pairs: list[Pair], count: int) -> tuple[float, float]:
    """How many pairs a second some threads score, and how many cores they were given for it."""

    def work(_: int) -> None:
        for pair in pairs:
            scorer.score_one(*pair)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))
        cpu, start = time.process_time(), time.perf_counter()
        for _ in range(10):
            list(pool.map(work, range(count)))
        taken = time.perf_counter() - start
        return 10 * count * len(pairs) / taken, (time.process_time() - cpu) / taken


def resident() -> float:
    """Memory of this process in MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def shown(name: str, value: str, goal: str = "") -> None:
    print(f"{name:<44} {value:>16}  {goal}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/open-m3-bench")
    options.add_argument("--pairs", type=int, default=100_000, help="calls of score_one for the growth of memory")
    given = options.parse_args()
    warnings.simplefilter("ignore", m3.InputWarning)
    strong, references = (str(given.data / name) for name in ("predictions/strong.json", "references.json"))

    shown("import m3", f"{imported() * 1e3:.1f} ms", "goal: at most 50 ms")

    installed = Path(sys.executable).with_name("m3")
    program = (str(installed),) if installed.exists() else (sys.executable, "-m", "m3")
    words = (*program, "score", strong, references, "--duplicates", "last", "--format", "json")
    run(*words)
    command = seconds(lambda: run(*words), 15)
    report = seconds(lambda: m3.score(strong, references, duplicates="last"), 15)
    whole = seconds(lambda: m3.score(strong, references, duplicates="last").trajectories, 15)
    native = seconds(lambda: _engine.native().call(["score", *words[len(program) + 1 :]], None), 15)
    shown("the command, a process with Python's start", f"{command * 1e3:.0f} ms")
    shown("the command's work alone, in this process", f"{native * 1e3:.0f} ms")
    goal = f"{report / command:.2f} x and {report / native:.2f} x; goal: at most 1.2 x"
    shown("m3.score of the same files", f"{report * 1e3:.0f} ms", goal)
    shown("with every trajectory read", f"{whole * 1e3:.0f} ms")

    scorer, pairs = m3.Scorer(), pairs_of(given.data)
    scorer.score_many(pairs)
    one = [seconds(lambda: scorer.score_one(*pair), 5) for pair in pairs]  # noqa: B023
    shown("score_one, median of pairs", f"{statistics.median(one) * 1e3:.3f} ms", "goal: at most 1 ms")
    shown("score_one, 99th percentile", f"{statistics.quantiles(one, n=100)[98] * 1e3:.3f} ms")
    together = seconds(lambda: scorer.score_many(pairs), 5) / len(pairs)
    shown("score_many, a pair", f"{together * 1e3:.3f} ms")
    single, one_core = threads(scorer, pairs, 1)
    double, two_cores = threads(scorer, pairs, 2)
    shown("pairs a second, one thread", f"{single:.0f}", f"on {one_core:.2f} cores")
    goal = "goal: at least 1.7 x where two cores are free"
    shown("pairs a second, two threads", f"{double:.0f}", f"{double / single:.2f} x, on {two_cores:.2f} cores; {goal}")

    before = resident()
    for number in range(given.pairs):
        scorer.score_one(*pairs[number % len(pairs)])
    after = resident()
    shown(f"memory over {given.pairs} calls", f"{before:.0f} -> {after:.0f} MB", "goal: no growth")


if __name__ == "__main__":
    main()
