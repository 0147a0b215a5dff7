"""Compares the suite `bfcl` with the program of the Berkeley Function-Calling Leaderboard.

    pip install bfcl-eval==2026.3.23
    python3 crates/suites/compare/bfcl.py FOLDER [--perturbed 2000] [--seed 1] [--sample FILE]

For every task of the program's single-turn sets whose calls are compared, it writes the reference, predictions that take each
accepted value once, and perturbed predictions; asks the installed program and m3 for their verdicts; and lists every
difference. References, predictions and verdicts stay in FOLDER. A sample of the cases is written for the test suite.
Nothing is installed or fetched; m3 is built by cargo."""

import argparse
import collections
import copy
import importlib.metadata
import json
import pathlib
import random
import subprocess
import sys
import types

# The checker needs one flag of the models, and none of the libraries that they are asked with.
models = types.ModuleType("bfcl_eval.constants.model_config")
models.MODEL_CONFIG_MAPPING = {"model": types.SimpleNamespace(underscore_to_dot=False)}
sys.modules[models.__name__] = models

import bfcl_eval
from bfcl_eval.constants.enums import Language
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
from bfcl_eval.eval_checker.ast_eval.type_convertor.java_type_converter import java_type_converter
from bfcl_eval.eval_checker.ast_eval.type_convertor.js_type_converter import js_type_converter
from bfcl_eval.utils import is_empty_output, is_function_calling_format_output

import bfcl_cases as cases

LANGUAGES = {"python": Language.PYTHON, "java": Language.JAVA, "javascript": Language.JAVASCRIPT}
HERE = pathlib.Path(__file__).parent


def tasks():
    """All tasks: category, language, functions, accepted calls."""
    data = pathlib.Path(bfcl_eval.__file__).parent / "data"

    def lines(path):
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    for category in cases.CATEGORIES:
        name = f"BFCL_v4_{category}.json"
        answers = {answer["id"]: answer["ground_truth"] for answer in lines(data / "possible_answer" / name)}
        language = next((it for it in ("javascript", "java") if it in category), "python")
        for task in lines(data / name):
            yield cases.Task(task["id"], category, language, task["function"], answers.get(task["id"], []))


def published(case):
    """What the program says: an error type, nothing, or that it breaks off."""
    task = case.task
    output = [{name: arguments} for name, arguments in case.calls]
    if "relevance" in task.category:
        is_called = not is_empty_output(output)
        if "irrelevance" in task.category:
            return "irrelevance_error:decoder_success" if is_called else None
        return None if is_called else "relevance_error:decoder_failed"
    if not is_function_calling_format_output(output):
        return "ast_decoder:decoder_wrong_output_format"
    try:
        # The program may change what it is given.
        given = copy.deepcopy([task.functions, output, task.answers])
        verdict = ast_checker(*given, LANGUAGES[task.language], task.category, "model")
    except Exception as error:
        return f"raises {type(error).__name__}"
    return None if verdict["valid"] else verdict["error_type"]


def convert(language, text, kind, items):
    """The value that the program reads from source; the text itself where it breaks off."""
    converter = java_type_converter if language == "java" else js_type_converter
    try:
        return converter(text, kind, items)
    except Exception:
        return text


def reference(case):
    task = case.task
    calls = []
    for answer in task.answers:
        ((name, accepted),) = answer.items()
        chosen = {key: [it for it in values if it != ""][:1] for key, values in accepted.items()}
        arguments = {key: values[0] for key, values in chosen.items() if values}
        calls.append({"name": name, "arguments": arguments, "accepted": accepted})
    return {
        "id": case.id,
        "type": task.category,
        "language": task.language,
        # Without what the checker does not look at.
        "functions": [{"name": it["name"], "parameters": cases.plain(it["parameters"])} for it in task.functions],
        "steps": [{"calls": calls}],
    }


def prediction(case):
    calls = [{"name": name, "arguments": arguments} for name, arguments in case.calls]
    return {"id": case.id, "steps": [{"calls": calls}] if calls else []}


def ours(folder, all_cases):
    """What m3 says: an error type or nothing, by id."""
    paths = [folder / "references.jsonl", folder / "predictions.jsonl"]
    for path, form in zip(paths, (reference, prediction)):
        path.write_text("".join(json.dumps(form(case)) + "\n" for case in all_cases), encoding="utf-8")
    command = ["cargo", "run", "--quiet", "--locked", "-p", "m3-suites", "--example", "suite", "--", "bfcl", *paths]
    run = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, text=True, check=True)
    verdicts = {}
    for line in map(json.loads, run.stdout.splitlines()):
        if "id" in line:
            verdicts[line["id"]] = line["labels"].get("error_type")
            assert (line["values"]["ast"] == 1.0) == (verdicts[line["id"]] is None)
    return verdicts


def report(name, group, wanted, found):
    """Counts, and every difference."""
    raised = [case for case in group if str(wanted[case.id]).startswith("raises")]
    compared = [case for case in group if case not in raised]
    different = [case for case in compared if wanted[case.id] != found[case.id]]
    right = sum(wanted[case.id] is None for case in compared)
    print(f"{name}: {len(compared)} compared, {right} right by the program, {len(different)} different")
    for case in different:
        print(f"  {case.id}: {case.task.language} program {wanted[case.id]}, m3 {found[case.id]}: {json.dumps(case.calls)[:300]}")
    says = collections.Counter((wanted[case.id], str(found[case.id])) for case in raised)
    for (error, kind), count in sorted(says.items()):
        print(f"  the program breaks off, {error}; m3 says {kind}: {count}")
    return len(different)


def sample(path, source, all_cases, wanted, size):
    """A part of the cases that has every perturbation, every verdict and every language."""
    groups = collections.defaultdict(list)
    for case in all_cases:
        row = {"kind": case.kind, "reference": reference(case), "prediction": prediction(case), "verdict": wanted[case.id]}
        # Only the functions that are called.
        names = {call["name"] for call in row["reference"]["steps"][0]["calls"]}
        row["reference"]["functions"] = [it for it in row["reference"]["functions"] if it["name"] in names]
        text = json.dumps(row, ensure_ascii=False)
        if len(text) < 1500:
            groups[case.kind, case.task.language, wanted[case.id]].append(text)
    # From each group the first, then from each the second.
    rows = sorted((at, place) for place, group in enumerate(groups.values()) for at in range(len(group)))
    lines = [list(groups.values())[place][at] for at, place in rows[:size]]
    path.write_text("\n".join([json.dumps(source), *lines, ""]), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--perturbed", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=pathlib.Path)
    parser.add_argument("--sample-size", type=int, default=300)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    random.seed(arguments.seed)
    version = importlib.metadata.version("bfcl-eval")
    all_tasks = list(tasks())
    gold = [case for task in all_tasks for case in cases.accepted(task)]
    perturbed = list(cases.perturbed(all_tasks, arguments.perturbed, convert))
    wanted = {case.id: published(case) for case in gold + perturbed}
    verdicts = arguments.folder / "verdicts.json"
    verdicts.write_text(json.dumps(wanted, indent=0), encoding="utf-8")
    found = ours(arguments.folder, gold + perturbed)
    print(f"bfcl-eval {version}, seed {arguments.seed}, {len(all_tasks)} tasks")
    different = report("gold", gold, wanted, found) + report("perturbed", perturbed, wanted, found)
    for kind, count in sorted(collections.Counter(case.kind for case in perturbed).items()):
        print(f"  {kind}: {count}")
    if arguments.sample:
        source = {
            "source": f"bfcl-eval {version}: data and verdicts of its AST checker, https://pypi.org/project/bfcl-eval",
            "licence": "Apache-2.0",
            "made_by": f"compare/bfcl.py --perturbed {arguments.perturbed} --seed {arguments.seed}",
        }
        sample(arguments.sample, source, perturbed + gold, wanted, arguments.sample_size)
    sys.exit(1 if different else 0)


main()
