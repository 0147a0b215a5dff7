"""Predictions for tasks of the Berkeley Function-Calling Leaderboard: right ones, and perturbed ones."""

import copy
import dataclasses
import random
import string

from bfcl_source import KINDS, SOURCES, written

CATEGORIES = """simple_python simple_java simple_javascript multiple parallel parallel_multiple irrelevance live_simple
live_multiple live_parallel live_parallel_multiple live_irrelevance live_relevance""".split()


@dataclasses.dataclass
class Task:
    id: str
    category: str
    language: str
    functions: list
    # Of each call {name: {argument: accepted values}}.
    answers: list

    def parameters(self, name):
        return next((it["parameters"] for it in self.functions if it["name"] == name), {"properties": {}})

    def types(self, name, argument):
        schema = self.parameters(name)["properties"].get(argument, {})
        return schema.get("type", "any"), schema.get("items", {}).get("type")


@dataclasses.dataclass
class Case:
    id: str
    task: Task
    kind: str
    # Names with arguments.
    calls: list


def plain(schema):
    """What the checker looks at of a schema."""
    properties = {}
    for name, it in schema["properties"].items():
        properties[name] = {"type": it["type"]}
        if "items" in it:
            properties[name]["items"] = {"type": it["items"].get("type")}
    return {"type": "dict", "properties": properties, "required": schema.get("required", [])}


# Values that are accepted.

LEFT_OUT = object()


def variants(value):
    """An accepted value, whose objects have lists of accepted values: the first of all, then each other one."""
    if isinstance(value, dict):
        choices = {key: list(choose(values)) for key, values in value.items()}
        first = {key: values[0] for key, values in choices.items() if values}
        yield {key: it for key, it in first.items() if it is not LEFT_OUT}
        for key, values in choices.items():
            for other in values[1:]:
                yield {name: it for name, it in {**first, key: other}.items() if it is not LEFT_OUT}
    elif isinstance(value, list) and any(isinstance(it, dict) for it in value):
        choices = [list(variants(it)) for it in value]
        yield [it[0] for it in choices]
        for place, values in enumerate(choices):
            for other in values[1:]:
                yield [other if at == place else it[0] for at, it in enumerate(choices)]
    else:
        yield value


def choose(values):
    values = values if isinstance(values, list) else [values]
    for value in sorted(values, key=lambda it: it == ""):
        yield from [LEFT_OUT] if value == "" else variants(value)


def accepted(task):
    """Predictions with accepted values only: the first of all arguments, then each other one."""
    choices = []
    for answer in task.answers:
        ((name, arguments),) = answer.items()
        of_name = {}
        for argument, values in arguments.items():
            types = task.types(name, argument)
            of_name[argument] = [
                text
                for value in choose(values)
                for text in ([value] if value is LEFT_OUT else written(task.language, value, *types))
            ]
        choices.append((name, of_name))

    def calls(at=None, argument=None, value=None):
        made = []
        for place, (name, of_name) in enumerate(choices):
            chosen = {key: values[0] for key, values in of_name.items() if values}
            if place == at:
                chosen[argument] = value
            made.append((name, {key: it for key, it in chosen.items() if it is not LEFT_OUT}))
        return made

    number = 0
    # Of a task that asks for any call, one is right.
    any_call = [(it["name"], {}) for it in task.functions[:1] if task.category == "live_relevance"]
    yield Case(f"{task.id}/{number}", task, "gold", any_call or calls())
    for place, (_, of_name) in enumerate(choices):
        for argument, values in of_name.items():
            for value in values[1:]:
                number += 1
                yield Case(f"{task.id}/{number}", task, "gold", calls(place, argument, value))


# Perturbations: each changes the calls of a case, or gives up.


class GiveUp(Exception):
    pass


def pick(values):
    values = list(values)
    if not values:
        raise GiveUp
    return random.choice(values)


def argument_of(case, is_wanted=lambda value: True):
    """Some argument: the arguments of its call, and its name."""
    objects = [arguments for _, arguments in case.calls if isinstance(arguments, dict)]
    return pick((arguments, key) for arguments in objects for key, value in arguments.items() if is_wanted(value))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def wrong_name(case):
    at = random.randrange(len(case.calls)) if case.calls else pick([])
    name, arguments = case.calls[at]
    names = [name + "s", name.upper(), name.replace(".", "_"), name.split(".")[-1], "", name + " "]
    case.calls[at] = (pick(names + [it["name"] for it in case.task.functions]), arguments)


def missing_required(case):
    required = ((arguments, key) for name, arguments in case.calls for key in case.task.parameters(name).get("required", []))
    arguments, key = pick(it for it in required if it[1] in it[0])
    del arguments[key]


def missing_argument(case):
    arguments, key = argument_of(case)
    del arguments[key]


def extra_argument(case):
    name, arguments = pick(case.calls)
    arguments[pick(["extra", "", "Location", *case.task.parameters(name)["properties"]])] = any_value()


def any_value():
    return copy.deepcopy(random.choice(
        ["", "text", "True", 0, 1, 5, -1, 2.5, 1.0, 1e300, 10**30, 10**400, True, False, None, [], [1, 2], ["a"], [[1.0]],
         {}, {"a": 1}, [{"a": "b"}], float("inf"), float("nan")]))  # fmt: skip


def wrong_type(case):
    arguments, key = argument_of(case)
    arguments[key] = any_value()


def other_type(case):
    """The same value, in another type."""
    arguments, key = argument_of(case)
    value = arguments[key]
    others = [str(value), [value], {key: value}]
    if is_number(value):
        others += [float(value), -value, value + 1]
        others += [int(value), bool(value)] if abs(value) < 1e300 else []
    if isinstance(value, bool):
        others += [int(value), float(value), not value]
    if isinstance(value, str):
        others += [[it] for it in value.split()] + [len(value), value.split(","), list(value)]
    if isinstance(value, list):
        others += [value[0] if value else None, [str(it) for it in value], [float(it) if is_number(it) else it for it in value]]
    arguments[key] = pick(others)


def other_accepted(case):
    case.calls[:] = copy.deepcopy(pick(list(accepted(case.task))).calls)


def mixed_accepted(case):
    """Of each call another prediction's."""
    all_cases = list(accepted(case.task))
    case.calls[:] = [copy.deepcopy(pick(all_cases).calls[at]) for at in range(len(case.task.answers))]


def reordered_calls(case):
    if len(case.calls) < 2:
        raise GiveUp
    random.shuffle(case.calls)


def missing_call(case):
    case.calls.remove(pick(case.calls))


def more_calls(case):
    added = pick([*case.calls, ("other", {}), (pick(it["name"] for it in case.task.functions), {})])
    case.calls.insert(random.randint(0, len(case.calls)), copy.deepcopy(added))


def no_calls(case):
    if random.random() < 0.7 and "relevance" not in case.task.category:
        raise GiveUp
    case.calls.clear()


def swapped_values(case):
    (one, a), (other, b) = argument_of(case), argument_of(case)
    one[a], other[b] = other[b], one[a]


def reordered_arguments(case):
    at = random.randrange(len(case.calls)) if case.calls else pick([])
    name, arguments = case.calls[at]
    case.calls[at] = (name, dict(random.sample(list(arguments.items()), len(arguments))))


def nested(case):
    """A change inside a list or an object."""
    arguments, key = argument_of(case, lambda value: isinstance(value, (list, dict)))
    value = arguments[key]
    inner = [it for it in value if isinstance(it, (dict, list))] if isinstance(value, list) else []
    if inner and random.random() < 0.7:
        value = pick(inner)
    if isinstance(value, list):
        place = random.randrange(len(value)) if value else 0
        change = random.randrange(6)
        if change == 0:
            value.reverse()
        elif change == 1:
            value.insert(place, any_value())
        elif change == 2:
            value[place:] = value[place + 1 :]
        elif change == 3:
            value[place : place + 1] = [marked(it) if isinstance(it, str) else it for it in value[place : place + 1]]
        elif change == 4:
            value[place : place + 1] = [float(it) if is_number(it) else it for it in value[place : place + 1]]
        else:
            value[place : place + 1] = [any_value()]
        return
    name = pick([*value, "extra"])
    if random.random() < 0.3:
        value.pop(name, None)
    elif isinstance(value.get(name), str) and random.random() < 0.6:
        value[name] = marked(value[name])
    else:
        value[name] = any_value()


def marked(text):
    """A text with other case, blanks and punctuation."""
    texts = [text.upper(), text.title(), text.replace(" ", "_"), text.replace("_", " "), text + ".", f" {text} ", text[:-1]]
    texts += [text.replace("'", '"'), text.replace('"', "'"), text.replace(",", ""), text + "!", text + "\n", f"'{text}'"]
    texts += ["-".join(text), text.replace("a", "ä"), text + "İ", text.replace(" ", "\t"), text.replace(" ", "\u00a0"), text + "Σ"]
    return random.choice(texts)


def text_marks(case):
    arguments, key = argument_of(case, lambda value: isinstance(value, str))
    arguments[key] = marked(arguments[key])


def int_or_float(case):
    arguments, key = argument_of(case, is_number)
    value = arguments[key]
    arguments[key] = pick([float(value), int(value), value + 0.5, value * 10**20])


def no_object(case):
    """Arguments that are no object."""
    at = random.randrange(len(case.calls)) if case.calls else pick([])
    case.calls[at] = (case.calls[at][0], random.choice(["x=1", [1], [], 5, True, "text"]))


def changed_source(case):
    """A few characters of a text in Java or JavaScript, or in Python."""
    if case.task.language == "python" and random.random() < 0.8:
        raise GiveUp
    arguments, key = argument_of(case, lambda value: isinstance(value, str))
    arguments[key] = mutated(arguments[key])


def mutated(text):
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(text))
        added = random.choice(["", "", *"[]{}()<>,:;'\"\\\n\t \x1c-_.eEfFlLn0", random.choice(string.printable), "new ", "[[", "ä"])
        text = text[:place] + added + text[place + random.randint(0, 2) :]
    return text


def source(convert):
    """A made-up function with one argument in source, and what the program reads from it as the accepted value."""
    language = random.choice(list(SOURCES))
    # Half of them lists and objects.
    deep = {"java": ["Array", "ArrayList", "HashMap"], "javascript": ["array", "dict"]}[language]
    kind, items = random.choice(random.choice([KINDS[language], deep])), random.choice(KINDS[language])
    has_items = kind in ("Array", "ArrayList", "array")
    text = random.choice(SOURCES[language])
    text = mutated(text) if random.random() < 0.8 else text
    value = convert(language, text, kind, items if has_items else None)
    # Accepted values of the members of objects are lists.
    listed = [{key: [it] for key, it in one.items()} if isinstance(one, dict) else one for one in (value if isinstance(value, list) else [])]
    value = {key: [it] for key, it in value.items()} if isinstance(value, dict) else listed if isinstance(value, list) else value
    schema = {"type": kind, "items": {"type": items}} if has_items else {"type": kind}
    function = {"name": "f", "parameters": {"type": "dict", "properties": {"x": schema}, "required": ["x"]}}
    task = Task("source", f"simple_{language}", language, [function], [{"f": {"x": [value]}}])
    return Case("", task, "source", [("f", {"x": text})])


PERTURBATIONS = [
    wrong_name, missing_required, missing_argument, extra_argument, wrong_type, other_type, other_accepted, mixed_accepted,
    reordered_calls, missing_call, more_calls, no_calls, swapped_values, reordered_arguments, nested, text_marks, int_or_float,
    no_object, changed_source,
]  # fmt: skip


def perturbed(tasks, count, convert):
    """As many perturbed cases, each kind as often as the others and each category too; some are changed twice."""
    by_category = {}
    for task in tasks:
        by_category.setdefault(task.category, []).append(task)
    changes = [*PERTURBATIONS, source]
    for number in range(count):
        change = changes[number % len(changes)]
        case = None
        while case is None:
            case = source(convert) if change is source else changed(random.choice(by_category[random.choice(CATEGORIES)]), change)
        case.id = f"p{number}"
        yield case


def changed(task, change):
    """A perturbed case of a task, or nothing if it cannot be changed so."""
    case = Case("", task, change.__name__, copy.deepcopy(next(accepted(task)).calls))
    if not case.calls and task.functions and random.random() < 0.5:
        case.calls = [(task.functions[0]["name"], {"x": any_value()})]
    try:
        change(case)
        if random.random() < 0.15:
            random.choice([text_marks, reordered_calls, int_or_float, missing_argument, nested])(case)
    except (GiveUp, OverflowError, ValueError):
        return None
    return case
