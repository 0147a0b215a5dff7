"""Makes `wordnet.bin`, the table of words that fidelity looks up, from WordNet's files and `names.txt`.

    python3 make.py FOLDER_WITH_WORDNET/dict

README.md says where WordNet comes from. `crates/score/src/wordnet.rs` reads the table; the layout is
described there.
"""

import re
import struct
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
BLOCK = 16
MOST_SENSES = 8

NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
ROMANS = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
NUMBER_OF = {word: str(number) for number, word in enumerate(NUMBERS)}
NUMBER_OF |= {word: str(number) for number, word in enumerate(ORDINALS, 1)}
NUMBER_OF |= ROMANS

# Relations of two synsets, in the three highest bits of the second.
ANTONYM, DERIVED, SIMILAR, PART, SAYS = range(5)
RELATIONS = {"!": ANTONYM, "+": DERIVED, "\\": DERIVED, "&": SIMILAR, "#p": PART}


def phrase(lemma):
    """A lemma as the words that a text of it has: lower case, numbers in digits, no articles and genitives."""
    text = re.sub(r"\((a|p|ip)\)$", "", lemma).lower().replace("_", " ")
    text = re.sub(r"'s?(?= |$)", "", text).replace(".", "").replace("'", "")
    words = re.findall(r"[a-z]+|[0-9]+", text)
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        words = words[1:]
    return " ".join(NUMBER_OF.get(word, word) for word in words)


def read(folder):
    """The synsets by part of speech and offset, each with its pointers, and the senses of lemmas in order."""
    synsets, senses, counts = {}, defaultdict(list), {}
    for name, part in PARTS.items():
        for line in (folder / f"data.{name}").read_text("latin1").splitlines():
            if line.startswith(" "):
                continue
            fields = line.partition("|")[0].split()
            at = 4 + 2 * int(fields[3], 16)
            pointers = []
            for place in range(at + 1, at + 1 + 4 * int(fields[at]), 4):
                kind, offset, other, _ = fields[place : place + 4]
                pointers.append((kind, ("a" if other == "s" else other, int(offset))))
            synsets[part, int(fields[0])] = pointers
    for line in (folder / "index.sense").read_text("latin1").splitlines():
        key, offset, _, count = line.split()
        lemma, _, rest = key.partition("%")
        part = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}[rest[0]]
        place = lemma, part, int(offset)
        counts[place] = max(counts.get(place, 0), int(count))
    for name, part in PARTS.items():
        for line in (folder / f"index.{name}").read_text("latin1").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split()
            for order, offset in enumerate(fields[6 + int(fields[3]) :]):
                count = counts.get((fields[0], part, int(offset)), 0)
                # Senses that were never met count less the later they stand.
                senses[phrase(fields[0])].append((count + 0.5 / (1 + order), (part, int(offset))))
    return synsets, senses


def names():
    """Groups of names of one thing that WordNet does not have, and what a name says already."""
    groups, said = [], []
    for line in (HERE / "names.txt").read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line:
            before, sign, behind = line.rpartition("<")
            found = [phrase(name.strip()) for name in behind.split(",")]
            said.append((phrase(before.strip()), found)) if sign else groups.append(found)
    return groups, said


def usual(found):
    """The senses of a lemma with how usual each is, from 3 (half of all uses) to 0."""
    shares = defaultdict(float)
    for weight, synset in found:
        shares[synset] += weight
    total = sum(shares.values())
    best = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:MOST_SENSES]
    for synset, weight in best:
        share = weight / total
        yield synset, 3 if share >= 0.5 else 2 if share >= 0.2 else 1 if share >= 0.05 else 0


def main():
    synsets, senses = read(Path(sys.argv[1]))
    members = defaultdict(set)
    for lemma, found in senses.items():
        for _, synset in found:
            members[synset].add(lemma)
    # Names of several words without another name say nothing to a comparison, unless turned round they are one as well,
    # or something else is known to be a part of them.
    wholes = {to for found in synsets.values() if any(kind == "@i" for kind, _ in found) for kind, to in found if kind == "#p"}
    turned = {" ".join(word[:4] for word in reversed(lemma.split(" "))) for lemma in senses if lemma.count(" ") == 1}
    for lemma in [lemma for lemma in senses if " " in lemma]:
        is_turned = " ".join(word[:4] for word in lemma.split(" ")) in turned
        is_whole = any(synset in wholes for _, synset in senses[lemma])
        if not is_turned and not is_whole and all(len(members[synset]) < 2 for _, synset in senses[lemma]):
            del senses[lemma]
    for lemma in [lemma for lemma in senses if lemma.split(" ")[0] in ("genus", "family", "order", "class")]:
        if lemma.count(" ") == 1:
            del senses[lemma]
    senses.pop("", None)
    numbers = {synset: number for number, synset in enumerate(sorted(synsets), 1)}
    lemmas = {lemma: [(numbers[synset], share) for synset, share in usual(found)] for lemma, found in senses.items()}
    parents = {numbers[synset]: pointers for synset, pointers in synsets.items()}
    last = len(numbers)
    groups, said = names()
    for group in groups:
        last += 1
        for lemma in group:
            # Behind what WordNet knows, as another sense.
            lemmas.setdefault(lemma, []).append((last, 2))
    relations = set()
    for lemma, kinds in said:
        if lemma not in lemmas:
            last += 1
            lemmas[lemma] = [(last, 3)]
        for kind in kinds:
            if kind not in lemmas:
                last += 1
                lemmas[kind] = [(last, 3)]
            relations |= {(by, what, SAYS) for by, _ in lemmas[lemma] for what, _ in lemmas[kind][:4]}
    assert last < 1 << 19

    hypernyms = bytearray(3)
    for number in range(1, last + 1):
        pointers = parents.get(number, [])
        above = [numbers[to] for kind, to in pointers if kind in ("@", "@i")]
        is_instance = any(kind == "@i" for kind, _ in pointers)
        hypernyms += struct.pack("<I", (above[0] if above else 0) | is_instance << 19)[:3]
        for kind, to in pointers:
            relation = RELATIONS.get(kind)
            if relation is None or (relation == PART and not is_instance):
                continue
            pair = (number, numbers[to])
            relations.add((*(pair if relation == PART else sorted(pair)), relation))

    blocks, records = [], bytearray()
    before = b""
    for place, lemma in enumerate(sorted(lemmas, key=str.encode)):
        text = lemma.encode()
        if place % BLOCK == 0:
            blocks.append(len(records))
            before = b""
        shared = 0
        while shared < min(len(before), len(text)) and before[shared] == text[shared]:
            shared += 1
        found = lemmas[lemma]
        records += bytes([shared, len(text) - shared]) + text[shared:] + bytes([len(found)])
        for number, share in found:
            records += struct.pack("<I", number | share << 19)[:3]
        before = text
    pairs = bytearray()
    for first, second, kind in sorted(relations, key=lambda pair: (pair[0], pair[1] | pair[2] << 19)):
        pairs += struct.pack("<I", first)[:3] + struct.pack("<I", second | kind << 19)[:3]
    verbs = min(number for (part, _), number in numbers.items() if part == "v")
    sizes = len(blocks), len(records), len(hypernyms), len(pairs)
    header = struct.pack("<6I", *sizes, verbs, len(numbers) + 1)
    table = header + struct.pack(f"<{len(blocks)}I", *blocks) + records + hypernyms + pairs
    (HERE / "wordnet.bin").write_bytes(table)
    print(f"{len(lemmas)} lemmas, {last} synsets, {len(relations)} relations, {len(table)} bytes")
    print(f"{len(blocks) * 4} {len(records)} {len(hypernyms)} {len(pairs)}")


main()
