"""Makes the pictures of the README and of docs/ anew, from the small benchmark: run it after a change of the pages.

    cargo build --release && python3 docs/pictures.py

It needs chromium and Pillow (`images/requirements.txt`). M3 names another program than target/release/m3.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
M3 = Path(os.environ.get("M3", ROOT / "target/release/m3"))
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking"]


def m3(*words: str | Path) -> None:
    subprocess.run([M3, *words, "-q"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def shot(address: str, name: str, width: int, height: int, is_dark: bool = False, top: int = 0) -> None:
    """A screenshot, once the page has had its time to be drawn; `top` pixels are cut off above."""
    path = ROOT / "docs" / name
    with tempfile.TemporaryDirectory() as profile:
        scheme = ["--blink-settings=preferredColorScheme=0"] if is_dark else []
        more = [f"--user-data-dir={profile}", f"--window-size={width},{height}", "--virtual-time-budget=8000", f"--screenshot={path}"]
        subprocess.run(["chromium", *FLAGS, *scheme, *more, address], check=True, capture_output=True, timeout=120)
    keep(path, name, top)


def keep(path: Path, name: str, top: int = 0) -> None:
    """Keeps a picture in docs/, in 256 colours: a third of the bytes."""
    with Image.open(path) as image:
        shown = image.convert("RGB").crop((0, top, image.width, image.height))
        shown.quantize(256).save(ROOT / "docs" / name, optimize=True)
    print(f"docs/{name}")


def pages(folder: Path) -> Path:
    """A bundle of three runs of the small benchmark: one with results and pictures, a good one, a poor one."""
    given = folder / "given"
    m3("run", "trajectories/tasks.json", "--llm", "replay:trajectories/cassette.jsonl.gz", "-o", given / "replayed")
    for source, name in [("predictions", "good"), ("predictions-poor", "poor"), ("references", "references")]:
        shutil.copy(ROOT / f"trajectories/{source}.json", given / f"{name}.json")
    # In the order of names, as the pages have them.
    m3("view", given, "--images", "images", "--bundle", folder / "site")
    return folder / "site"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        handler = functools.partial(Quiet, directory=pages(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        shot(f"{address}#/task/replayed/00010001", "view.png", 1280, 1420)
        shot(f"{address}#/run/poor", "view-run.png", 1280, 1500)
        shot(f"{address}#/matrix", "view-matrix.png", 1280, 900)
        shot(f"{address}#/task/replayed/00050000", "view-narrow.png", 500, 1500, is_dark=True)
        server.shutdown()
        scores = []
        for name in ["good", "poor"]:
            scores.append(folder / f"{name}.json")
            m3("score", folder / f"given/{name}.json", "trajectories/references.json", "--duplicates", "last", "--out", scores[-1])
        m3("leaderboard", *scores, "--figures", folder / "figures")
        keep(folder / "figures/leaderboard.png", "leaderboard.png")
        audit = folder / "audit.html"
        m3("audit", "trajectories/predictions.json", "trajectories/references.json", "--images", "images", "--html", audit)
        shot(f"file://{audit}#00050000", "audit.png", 1280, 1900)
        shot(f"file://{audit}#/", "audit-overview.png", 1280, 1600)
        poor = folder / "poor.html"
        files = ["trajectories/predictions-poor.json", "trajectories/references.json"]
        m3("audit", *files, "--duplicates", "last", "--images", "images", "--html", poor)
        shot(f"file://{poor}#00050000", "failing.png", 1100, 1562, top=460)


if __name__ == "__main__":
    main()
