"""Sets the suite `bfcl` beside the installed `bfcl-eval` (2026.3.23, Apache-2.0).

    pip install bfcl-eval==2026.3.23
    cargo build -p m3-suites --example check_calls
    python crates/suites/compare/bfcl.py target/debug/examples/check_calls [PERTURBED] [SEED] [SAMPLE]

For all gold of the single-turn sets in Python it makes a prediction of each first accepted value, and PERTURBED (2,000) further
ones with a call or an argument changed; both checkers judge each, and every difference is printed. Java and JavaScript are not
compared: the suite does not read them. SAMPLE is a file for 300 of the cases with the program's answers, which a test reads.
"""

import copy
import json
import random
import subprocess
import sys
import types
from pathlib import Path

# The checker asks the table of models only whether dots in names are replaced; that table needs every provider's package.
stub = types.ModuleType("bfcl_eval.constants.model_config")


class _Models(dict):
    def __missing__(self, key):
        return types.SimpleNamespace(underscore_to_dot=False)


stub.MODEL_CONFIG_MAPPING = _Models()
sys.modules["bfcl_eval.constants.model_config"] = stub

import bfcl_eval  # noqa: E402
from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402

SETS = [
    "simple_python", "multiple", "parallel", "parallel_multiple",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple",
]
DATA = Path(bfcl_eval.__file__).parent / "data"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def first(accepted):
    """The first value that is accepted and not left out, with the values of objects in it chosen likewise."""
    value = next((value for value in accepted if value != ""), accepted[0] if accepted else None)
    return chosen(value)


def chosen(value):
    if isinstance(value, dict):
        return {key: first(inner) for key, inner in value.items() if isinstance(inner, list) and inner and inner[0] != ""}
    if isinstance(value, list):
        return [chosen(item) for item in value]
    return value


def predictions(truth):
    return [{name: {key: first(values) for key, values in arguments.items() if any(v != "" for v in values)}}
            for call in truth for name, arguments in call.items()]


def changed(value, dice):
    """Another value like this one."""
    kind = dice.randrange(6)
    if isinstance(value, bool):
        return [not value, str(value), int(value), value, None, [value]][kind]
    if isinstance(value, int):
        return [value + 1, float(value), str(value), value, value + 0.5, [value]][kind]
    if isinstance(value, float):
        return [value + 1, int(value), str(value), value, -value, None][kind]
    if isinstance(value, str):
        return [value.upper(), value + ".", value.replace(" ", ""), value + " more", 5, value.replace("'", '"')][kind]
    if isinstance(value, list):
        items = copy.deepcopy(value)
        if kind == 0:
            items.reverse()
        elif kind == 1 and items:
            items.pop()
        elif kind == 2 and items:
            at = dice.randrange(len(items))
            items[at] = changed(items[at], dice)
        elif kind == 3:
            items.append(items[0] if items else 1)
        elif kind == 4:
            return str(value)
        else:
            items = [str(item) for item in items]
        return items
    if isinstance(value, dict):
        members = copy.deepcopy(value)
        if kind < 3 and members:
            key = dice.choice(sorted(members))
            members[key] = changed(members[key], dice)
        elif kind == 3 and members:
            members.pop(dice.choice(sorted(members)))
        elif kind == 4:
            members["zz"] = 1
        else:
            return json.dumps(value)
        return members
    return "x"


def perturbed(calls, functions, dice):
    calls = copy.deepcopy(calls)
    kind = dice.randrange(8)
    if not calls or kind == 0:
        calls.append(copy.deepcopy(calls[0]) if calls else {functions[0]["name"]: {}})
        return calls
    at = dice.randrange(len(calls))
    (name, arguments), = calls[at].items()
    if kind == 1:
        calls.pop(at)
    elif kind == 2:
        calls[at] = {dice.choice([name.upper(), name + "_", functions[-1]["name"]]): arguments}
    elif kind == 3 and arguments:
        arguments.pop(dice.choice(sorted(arguments)))
    elif kind == 4:
        known = [key for function in functions for key in function["parameters"]["properties"]]
        arguments[dice.choice(known + ["zz"])] = dice.choice([1, "x", True, [], {}])
    elif kind == 5:
        dice.shuffle(calls)
    elif arguments:
        key = dice.choice(sorted(arguments))
        arguments[key] = changed(arguments[key], dice)
    return calls


def case(task, truth, calls):
    accepted = [{"name": name, "arguments": predictions([call])[0][name], "accepted": arguments}
                for call in truth for name, arguments in call.items()]
    reference = {"id": task["id"], "type": task["set"], "functions": task["function"], "steps": [{"calls": accepted}]}
    found = [{"name": name, "arguments": arguments} for call in calls for name, arguments in call.items()]
    return {"reference": reference, "prediction": {"id": task["id"], "steps": [{"calls": found}] if found else []}}


def published(task, truth, calls):
    try:
        result = ast_checker(task["function"], copy.deepcopy(calls), truth, Language.PYTHON, task["set"], "none")
    except Exception as error:  # The program breaks off.
        return "raises", type(error).__name__
    return ("1", "") if result["valid"] else ("0", result["error_type"])


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 2026)
    tasks = []
    for name in SETS:
        truths = {row["id"]: row["ground_truth"] for row in lines(DATA / "possible_answer" / f"BFCL_v4_{name}.json")}
        for task in lines(DATA / f"BFCL_v4_{name}.json"):
            tasks.append(({**task, "set": name}, truths[task["id"]]))
    cases = [(task, truth, predictions(truth)) for task, truth in tasks]
    gold = len(cases)
    for _ in range(count):
        task, truth = dice.choice(tasks)
        cases.append((task, truth, perturbed(predictions(truth), task["function"], dice)))
    text = "".join(json.dumps(case(*one)) + "\n" for one in cases)
    output = subprocess.run([program, "bfcl"], input=text, capture_output=True, text=True, check=True).stdout
    differences = raises = right = 0
    sample = open(sys.argv[4], "w") if len(sys.argv) > 4 else None
    every = len(cases) // 300
    for number, ((task, truth, calls), line) in enumerate(zip(cases, output.splitlines(), strict=True)):
        verdict, error = line.partition(" ")[::2]
        wanted, why = published(task, truth, calls)
        if wanted == "raises":
            raises += 1
            continue
        right += wanted == "1"
        if sample and number % every == 0:
            one = case(task, truth, calls)
            for function in one["reference"]["functions"]:
                for described in [function, *function["parameters"]["properties"].values()]:
                    described.pop("description", None)
            print(json.dumps({**one, "right": wanted == "1", "error": why}), file=sample)
        if (verdict, error) != (f"ast={wanted}", why):
            differences += 1
            if differences <= 40:
                print(task["id"], "m3:", line, "| bfcl-eval:", wanted, why, json.dumps(calls)[:300], json.dumps(truth)[:300])
    print(f"{gold} gold, {count} perturbed, {right} right, {raises} break off, {differences} differ")


if __name__ == "__main__":
    main()
