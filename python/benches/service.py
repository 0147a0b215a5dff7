"""How much `m3 serve score` takes: pairs a second, answers under overload, and what is lost when it is told to end.

    m3 serve score --http 127.0.0.1:8080
    python python/benches/service.py predictions.json references.json --port 8080 --clients 4 --batch 16 --seconds 8
    python python/benches/service.py predictions.json references.json --port 8080 --clients 64 --batch 128   # overload

Send SIGTERM to the server meanwhile: what is `broken` is lost, what is `refused` was never taken.
"""

from __future__ import annotations

import argparse
import http.client
import json
import threading
import time
from collections import Counter
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictions", type=Path)
    parser.add_argument("references", type=Path)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    predicted = {it["id"]: it for it in json.loads(options.predictions.read_bytes())}
    pairs = [
        {"prediction": predicted.get(it["id"]), "reference": it} for it in json.loads(options.references.read_bytes())
    ]
    batch = min(options.batch, len(pairs))
    starts = range(0, len(pairs) - batch + 1, batch)
    bodies = [json.dumps({"pairs": pairs[start : start + batch]}).encode() for start in starts]
    answers: Counter[str] = Counter()
    lock = threading.Lock()
    begin = time.monotonic()

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", options.port)
        while time.monotonic() - begin < options.seconds:
            number += 1
            try:
                connection.request("POST", "/score", bodies[number % len(bodies)])
                answer = connection.getresponse()
                answer.read()
                outcome = str(answer.status)
            except ConnectionRefusedError:
                outcome = "refused"
                connection.close()
                time.sleep(0.01)
            except (OSError, http.client.HTTPException):
                outcome = "broken"
                connection.close()
            with lock:
                answers[outcome] += 1

    clients = [threading.Thread(target=client, args=(number,)) for number in range(options.clients)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    took = time.monotonic() - begin
    print(f"{dict(answers)}, {answers['200'] * batch / took:.0f} pairs a second")


if __name__ == "__main__":
    main()
