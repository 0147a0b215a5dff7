#!/usr/bin/env python3
"""Fits the calibration of argument fidelity, and measures it on pairs that it was not fitted to.

    m3 fidelity pairs.json --format json --out pairs.report.json
    python3 benches/calibrate_fidelity.py pairs.report.json [..]

The curve CALIBRATION of crates/score/src/fidelity/constants.rs is taken out of the scores first. Its knots are then fitted to
the pairs of one half of the tools, by the logarithmic loss with both labels weighing the same, and measured on the
pairs of the other half; after that once for each kind of edit, on the pairs of all other kinds.
"""

import json
import math
import re
import sys
import zlib
from collections import defaultdict
from pathlib import Path

CONSTANTS = Path(__file__).resolve().parent.parent / "crates/score/src/fidelity/constants.rs"
# Pairs that a knot is taken to have beside those of the data, at the value of the knot before: few pairs lie in between.
PRIOR = 4.0


def known_curve():
    text = CONSTANTS.read_text()
    knots = re.search(r"CALIBRATION: \[\(f64, f64\); \d+\] =\s*\[(.*?)\];", text, re.S).group(1)
    return [tuple(map(float, pair)) for pair in re.findall(r"\(([\d.]+), ([\d.]+)\)", knots)]


def on_curve(curve, x):
    for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return curve[-1][1]


def loss(curve, pairs, start):
    """The logarithmic loss of both labels, each as if there were as many of them."""
    sums = {True: 0.0, False: 0.0}
    for kept, same in pairs:
        share = min(max(on_curve(curve, kept), 1e-3), 1 - 1e-3)
        sums[same] -= math.log(share if same else 1 - share)
    counts = {label: sum(1 for _, same in pairs if same == label) for label in sums}
    total = sum(sums[label] / max(counts[label], 1) for label in sums) * len(pairs) / 2
    for (_, y), (_, y0) in zip(curve[1:-1], start[1:-1]):
        total -= PRIOR * (y0 * math.log(max(y, 1e-3)) + (1 - y0) * math.log(max(1 - y, 1e-3)))
    return total


def fit(pairs, start):
    """Descends knot by knot, in hundredths, keeping the curve rising and its ends."""
    curve, step = list(start), 0.08
    best = loss(curve, pairs, start)
    while step >= 0.01:
        moved = False
        for at in range(1, len(curve) - 1):
            for change in (step, -step):
                y = round(curve[at][1] + change, 2)
                if not curve[at - 1][1] < y < curve[at + 1][1]:
                    continue
                other = curve[:at] + [(curve[at][0], y)] + curve[at + 1:]
                found = loss(other, pairs, start)
                if found < best - 1e-9:
                    curve, best, moved = other, found, True
        if not moved:
            step /= 2
    return curve


def measure(curve, pairs):
    scored = [(on_curve(curve, kept), same) for kept, same in pairs]
    count = lambda label, accepted: sum(1 for y, same in scored if same == label and (y >= 0.5) == accepted)
    share = lambda part, all_: f"{100 * part / all_:5.1f} %" if all_ else "      -"
    gap = 0.0
    for tenth in range(10):
        of_bin = [(y, same) for y, same in scored if min(int(y * 10), 9) == tenth]
        gap += abs(sum(y for y, _ in of_bin) - sum(same for _, same in of_bin))
    brier = sum((y - same) ** 2 for y, same in scored) / len(scored)
    accepted, rejected = count(False, True), count(True, False)
    return (
        f"accepted {share(accepted, accepted + count(False, False))}  "
        f"rejected {share(rejected, rejected + count(True, True))}  "
        f"Brier {brier:.3f}  calibration error {gap / len(scored):.3f}"
    )


def main():
    start = known_curve()
    inverse = [(y, x) for x, y in start]
    pairs = []
    for path in sys.argv[1:]:
        for pair in json.loads(Path(path).read_text())["pairs"]:
            pairs.append((pair["tool"], pair["edit"], on_curve(inverse, pair["score"]), bool(pair["same"])))
    if not pairs:
        sys.exit(__doc__)
    halves = {half: [(k, s) for tool, _, k, s in pairs if zlib.crc32(tool.encode()) % 2 == half] for half in (0, 1)}
    print(f"{len(pairs)} pairs; now      {measure(start, [(k, s) for _, _, k, s in pairs])}")
    fitted = fit(halves[0], start)
    print(f"fitted to {len(halves[0])} pairs of half the tools: {fitted}")
    print(f"on those           {measure(fitted, halves[0])}")
    print(f"on the other half  {measure(fitted, halves[1])}")
    by_edit = defaultdict(list)
    for _, edit, kept, same in pairs:
        by_edit[edit].append((kept, same))
    left_out = []
    for edit, of_edit in sorted(by_edit.items()):
        curve = fit([(k, s) for _, other, k, s in pairs if other != edit], start)
        left_out.extend((on_curve(curve, kept), same) for kept, same in of_edit)
    print(f"each kind of edit by the curve of the others: {measure([(0.0, 0.0), (1.0, 1.0)], left_out)}")


if __name__ == "__main__":
    main()
