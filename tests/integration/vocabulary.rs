//! Names say what a thing is: few types, functions and variables of the sources are named by a participle or a
//! preposition alone. The table "Words" in `CONTRIBUTING.md` has what to write instead.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::root;

/// Participles of irregular verbs; those of the others end in `ed` or `en`.
const PARTICIPLES: [&str; 48] = [
    "Begun", "Borne", "Bought", "Bound", "Brought", "Built", "Caught", "Cut", "Done", "Drawn", "Fed",
    "Found", "Gone", "Heard", "Held", "Kept", "Known", "Laid", "Led", "Left", "Lent", "Lit", "Lost", "Made",
    "Meant", "Met", "Paid", "Put", "Ran", "Read", "Said", "Sent", "Set", "Shown", "Sought", "Sown", "Spent",
    "Split", "Spread", "Standing", "Stood", "Struck", "Taught", "Thrown", "Told", "Torn", "Won", "Worn",
];

/// Names of types that end like a participle, or look like one, but are other words.
const OTHER_WORDS: [&str; 5] = ["Pen", "Seed", "Spread", "Then", "Token"];

/// Variables that do not say what was found or told.
const VARIABLES: [&str; 3] = ["found", "said", "told"];

/// Functions that do not say what they make or return.
const FUNCTIONS: [&str; 4] = ["of", "found", "said", "told"];

/// The most names of each kind that the sources may still have. Lower a limit when names become better; raise none.
const MOST: [(&str, usize); 3] = [("type", 4), ("let", 39), ("fn", 53)];

/// The kind of a definition, and the name that it gives.
type Definition<'s> = (&'static str, &'s str);

/// The name after a keyword at the start of the words of a line, without what follows it.
fn name_after<'s>(line: &'s str, keywords: &[&str]) -> Option<&'s str> {
    let mut words = line.split_whitespace().skip_while(|word| !keywords.contains(word)).skip(1);
    let name = words.find(|word| *word != "mut")?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// Whether a type has one word as its name, and this is a participle.
fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(char::is_ascii_uppercase).count() == 1;
    let is_one = PARTICIPLES.contains(&name) || name.ends_with("ed") || name.ends_with("en");
    is_one_word && is_one && !OTHER_WORDS.contains(&name)
}

/// The definition in a line, if its name is to be avoided.
fn avoided(line: &str) -> Option<Definition<'_>> {
    let line = line.trim_start();
    if line.starts_with("//") {
        return None;
    }
    let kind = name_after(line, &["struct", "enum", "type", "trait"]).filter(|name| is_participle(name));
    let variable = || name_after(line, &["let"]).filter(|name| VARIABLES.contains(name));
    let function = || name_after(line, &["fn"]).filter(|name| FUNCTIONS.contains(name));
    kind.map(|name| ("type", name))
        .or_else(|| variable().map(|name| ("let", name)))
        .or_else(|| function().map(|name| ("fn", name)))
}

/// Calls `each` with the path and the lines before the tests of every source file.
fn walk(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() && !["tests", "benches", "examples"].contains(&&*name) {
            walk(&path, each);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            each(&path, text.split("\n#[cfg(test)]\nmod ").next().unwrap());
        }
    }
}

#[test]
fn names_are_nouns_and_verbs() {
    let mut places = Vec::new();
    for folder in ["crates", "src"] {
        walk(&root().join(folder), &mut |path, text| {
            for (line, number) in text.lines().zip(1..) {
                let place = || format!("{}:{number}", path.strip_prefix(root()).unwrap().display());
                places
                    .extend(avoided(line).map(|(kind, name)| (kind, format!("{} `{kind} {name}`", place()))));
            }
        });
    }
    let mut problems = String::new();
    for (kind, most) in MOST {
        let of_kind: Vec<&str> =
            places.iter().filter(|place| place.0 == kind).map(|place| place.1.as_str()).collect();
        if of_kind.len() > most {
            let list = of_kind.join("\n");
            write!(problems, "{} names of `{kind}`, and {most} are allowed:\n{list}\n", of_kind.len())
                .unwrap();
        }
    }
    assert!(problems.is_empty(), "the table \"Words\" in CONTRIBUTING.md has better names\n{problems}");
}

#[test]
fn names_to_avoid_are_recognized() {
    for (line, expected) in [
        ("pub(super) struct Told<'t> {", Some(("type", "Told"))),
        ("enum Escaped<'a>(&'a str);", Some(("type", "Escaped"))),
        ("    let mut found = Vec::new();", Some(("let", "found"))),
        ("    } else if let Some(found) = x {", None),
        ("    pub fn of(value: &Json) -> Self {", Some(("fn", "of"))),
        ("    fn said(&self) -> String {", Some(("fn", "said"))),
        ("struct ToldCall;", None),
        ("struct Token;", None),
        ("let found_tools = 1;", None),
        ("/// struct Told", None),
        ("fn of_text(text: &str) {", None),
    ] {
        assert_eq!(avoided(line), expected, "{line}");
    }
}
