"""Measures whole runs of `m3 score`: time from process start to the end of output, and peak memory.

    cargo build --release
    python3 benches/end_to_end.py [--runs N] [--m3 target/release/m3]

Prints a Markdown table for RESULTS.md. "empty cache" removes the embedding cache before each run; the encoder's
files stay. Uses the benchmark's data in ../shared/data where it is.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "open-m3-bench"


def run(command, environment):
    """Seconds and peak memory in MB of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{command} failed")
    return seconds, usage.ru_maxrss / (1024 if platform.system() == "Linux" else 1024 * 1024)


def synthetic(folder, calls, distinct=10_000):
    """Two JSON Lines files: six short calls a trajectory, one in twelve reworded, a third of them reordered."""
    generator = random.Random(7)
    paths = folder / f"references-{calls}.jsonl", folder / f"predictions-{calls}.jsonl"
    with open(paths[0], "w", encoding="utf-8") as references, open(paths[1], "w", encoding="utf-8") as predictions:
        for number in range(calls // 6):
            words = [generator.randrange(distinct) for _ in range(6)]
            made = [{"name": f"server/tool{word % 20}", "arguments": {"q": f"word{word}"}} for word in words]
            steps = [{"step": step + 1, "calls": made[2 * step:2 * step + 2]} for step in range(3)]
            trajectory = {"id": f"{number:08}", "type": f"type{number % 9}", "steps": steps}
            references.write(json.dumps(trajectory) + "\n")
            if generator.random() < 0.5:
                made[0]["arguments"] = {"q": f"word{generator.randrange(distinct)}"}
            if generator.random() < 0.3:
                steps.reverse()
            predictions.write(json.dumps(trajectory) + "\n")
    return [str(paths[1]), str(paths[0])]


def pair(folder):
    """One reference and one prediction of six calls."""
    def call(title):
        return {"name": "wiki/summary", "arguments": {"title": title}}
    for name, titles in (("one", ("American eel", "Sea trout", "Pike")), ("two", ("European eel", "Brown trout", "Perch"))):
        steps = [{"step": 1, "calls": [call(title) for title in titles]}]
        (folder / f"{name}.json").write_text(json.dumps([{"id": "a", "steps": steps}]), encoding="utf-8")
    return [str(folder / "two.json"), str(folder / "one.json")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--m3", default=str(ROOT / "target/release/m3"))
    options = parser.parse_args()
    user_cache = pathlib.Path(os.environ.get("M3_CACHE_DIR", pathlib.Path.home() / ".cache/m3"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        cache = folder / "cache"
        cache.mkdir()
        # The installed encoder, with an embedding cache of our own.
        for name in ("encoders", "onnxruntime"):
            (cache / name).symlink_to(user_cache / name)
        environment = {**os.environ, "M3_CACHE_DIR": str(cache)}
        score = [options.m3, "score", "--quiet"]
        cases = [("a single pair, 6 calls", score + pair(folder), True, options.runs)]
        if DATA.exists():
            strong = [str(DATA / "predictions/strong.json"), str(DATA / "references.json"), "--profile=open-m3-bench"]
            cases.append(("`strong.json`, 1355 reference calls", score + strong, True, options.runs))
            cases.append(("`strong.json`, 1355 reference calls", score + strong, False, options.runs))
        for calls in (100_000, 1_000_000):
            lines = score + synthetic(folder, calls) + ["--format=jsonl"]
            cases.append((f"{calls:,} synthetic calls", lines, True, 1))
            cases.append((f"{calls:,} synthetic calls", lines, False, 1))
        print("| what | cache | median | best | peak memory |\n| --- | --- | --- | --- | --- |")
        # The first run of all only warms up: digests of the encoder's files, the file system's cache.
        run(cases[0][1], environment)
        for name, command, is_empty, runs in cases:
            results = []
            for _ in range(runs):
                if is_empty:
                    for file in cache.glob("embeddings.sqlite*"):
                        file.unlink()
                results.append(run(command, environment))
            seconds = [result[0] for result in results]
            memory = max(result[1] for result in results)
            state = "empty" if is_empty else "full"
            print(f"| {name} | {state} | {statistics.median(seconds):.2f} s | {min(seconds):.2f} s | {memory:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
