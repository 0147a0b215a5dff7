"""Values as calls of the Berkeley Function-Calling Leaderboard write them in the source of Java and JavaScript."""


def written(language, value, kind, items):
    """The ways to write a value in a call: itself in Python, as source in Java and JavaScript."""
    if language == "python":
        return [value]
    if isinstance(value, str) and kind not in ("String", "char"):
        return [value]
    return java(value, kind, items) if language == "java" else javascript(value, kind)


def java(value, kind, items):
    if kind == "Array" and isinstance(value, list):
        return [f"new {items}[]{{{', '.join(java(it, items, None)[0] for it in value)}}}"]
    if kind == "ArrayList" and isinstance(value, list):
        texts = [f'"{it}"' if items in ("String", "char") else java(it, items, None)[0] for it in value]
        adds = " ".join(f"add({it});" for it in texts)
        return [f"new ArrayList<>(Arrays.asList({', '.join(texts)}))", f"new ArrayList<>() {{{{ {adds} }}}}"]
    if kind == "HashMap" and isinstance(value, dict):
        puts = " ".join(f'put("{key}", {java_literal(it)});' for key, it in value.items())
        return [f"new HashMap<String, Object>() {{{{ {puts} }}}}"]
    if isinstance(value, bool):
        return [str(value).lower()]
    return [f"{value}{dict(long='L', float='f').get(kind, '')}"]


def java_literal(value):
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def javascript(value, kind):
    if isinstance(value, list):
        texts = ", ".join(javascript(it, None)[0] for it in value)
        return [f"[{texts}]", f"new Array({texts})"] if kind == "array" else [f"[{texts}]"]
    if isinstance(value, dict):
        return [f"{{{', '.join(f'{key!r}: {javascript(it, None)[0]}' for key, it in value.items())}}}"]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, str):
        return [f'"{value}"', f"'{value}'", value]
    return [f"{value}n" if kind == "Bigint" else str(value)]


# Texts of every kind of value, and the types of the functions.

SOURCES = {
    "java": [
        "12", "-7L", "1.5f", "2e3", "1_000", ".5", "true", "'c'", "abc", "nan", "9" * 25, "new int[]{1, 2, 3}",
        "new double[] { 1.5, 2 }", 'new String[]{"a", "b"}', "new long[]{1L, 2, 3l}", "new ArrayList<Integer>(Arrays.asList(1, 2))",
        'new ArrayList<>(Arrays.asList("a", "b"))', 'new ArrayList<String>() {{ add("x"); add("y"); }}', "new ArrayList<>()",
        'new HashMap<String, Object>() {{ put("a", 1); put("b", "c"); put("d", 2.5f); }}', "new HashMap<>()",
        'new HashMap<String, List<Integer>>() { { put("k",  true); put("k", 5L); } }', "new boolean[]{true, false, x}",
    ],
    "javascript": [
        "12", "-7n", "1.5", "2e3", "true", "'c'", '"x"', "abc", "[1, 2, 3]", "['a', \"b\", c]", "[[1, 2], [3, 4]]", "[ [ 1 ], [] ]",
        "new Array(1, 2)", "new Array([1, 2], ['x'])", "[1n, 2n]", "{'a': 1, \"b\": 'c', d: [1, 2], e: x}", "{}", "{a: {b: 1}, c: 2}",
        "{ a : 'x, y', b: 'p: q' , : 3}", "[{'a': 1}, {'b': 2}]", "[true, 'false', 1.5]", "{a: [[1,2],[3]], b: -5}", "[]", "[[]]",
    ],
}  # fmt: skip
KINDS = {
    "java": "byte short integer long float double boolean char Array ArrayList HashMap String any".split(),
    "javascript": "String integer float Bigint Boolean dict array any".split(),
}
