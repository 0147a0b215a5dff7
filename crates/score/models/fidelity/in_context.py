#!/usr/bin/env python3
"""Gives labelled pairs the context that calls have in practice: the question of the task, and the tool's schema.

    in_context.py PAIRS.json BENCHMARK OUT.json

BENCHMARK is a folder with `references.json` and `tools.json`, as Open-M3-Bench has them. A pair whose first call is among
the references gets that task's question, and every second one the schema of its tool as well. Other pairs are left out.
"""

import json
import sys


def main(pairs, benchmark, out):
    with open(f"{benchmark}/references.json", encoding="utf-8") as file:
        references = json.load(file)
    with open(f"{benchmark}/tools.json", encoding="utf-8") as file:
        catalog = json.load(file)
    questions = {}
    for task in references:
        for step in task["steps"]:
            for call in step["calls"]:
                key = call["name"], json.dumps(call.get("arguments", {}), sort_keys=True)
                # The first task of several that make the same call.
                questions.setdefault(key, task["question"])
    schemas = {
        f"{server}/{tool['name']}": tool.get("inputSchema")
        for server, listed in catalog.items()
        for tool in listed["tools"]
    }
    with open(pairs, encoding="utf-8") as file:
        labelled = json.load(file)
    found = []
    for index, pair in enumerate(labelled):
        question = questions.get((pair["tool"], json.dumps(pair["a"], sort_keys=True)))
        if question:
            schema = schemas.get(pair["tool"]) if index % 2 == 0 else None
            found.append({**pair, "question": question, **({"schema": schema} if schema else {})})
    with open(out, "w", encoding="utf-8") as file:
        json.dump(found, file)
    print(f"{len(found)} of {len(labelled)} pairs have a question", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
