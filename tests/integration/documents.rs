//! Tests that the documents are true.

use m3_testkit::sequence::blocks;
use serde_json::Value;

use crate::support::{Folder, m3, m3_bare, python_with, report, root, stdout};

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The worked example of `docs/metrics.md`: its two trajectories are scored, and the result is compared with its
/// table, which was computed by hand.
#[test]
fn the_worked_example_of_the_metrics_is_right() {
    let document = read("docs/metrics.md");
    let example = document.split("## A worked example").nth(1).unwrap();
    let trajectories = blocks(example, "json");
    let [reference, prediction] = trajectories.as_slice() else { panic!("two trajectories") };
    let folder = Folder::new();
    let (reference, prediction) = (folder.write("r.json", reference), folder.write("p.json", prediction));
    for (profile, column) in [("paper", 2), ("open-m3-bench", 3)] {
        let Some(mut m3) = m3() else { return };
        let found = report(m3.arg("score").args([&prediction, &reference]).args(["--profile", profile]));
        let mut rows = 0;
        for line in example.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let name = cells[1].trim_matches('`');
            let expected: f64 = cells[column].parse().unwrap();
            let value = found["aggregate"][name].as_f64().unwrap();
            assert!(
                (value - expected).abs() < 5e-5,
                "{name} in {profile} is {value}, the document says {expected}"
            );
            rows += 1;
        }
        assert_eq!(rows, 11);
    }
}

/// The example of region overlap in `docs/metrics.md`, computed by hand there.
#[test]
fn the_example_of_region_overlap_is_right() {
    let document = read("docs/metrics.md");
    let section = document.split("## Region overlap").nth(1).unwrap().split("\n## ").next().unwrap();
    let trajectories = blocks(section, "json");
    let [reference, prediction] = trajectories.as_slice() else { panic!("two trajectories") };
    let folder = Folder::new();
    let (reference, prediction) = (folder.write("r.json", reference), folder.write("p.json", prediction));
    let Some(mut m3) = m3() else { return };
    let found = report(m3.arg("score").args([&prediction, &reference]));
    let of = |name: &str| -> f64 {
        let row = section.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        row.trim_end_matches(['|', ' ']).rsplit([' ', '=']).next().unwrap().parse().unwrap()
    };
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - expected).abs() < 5e-5, "{value}, the document says {expected}");
    };
    near(&found["aggregate"]["region_overlap"], of("`region_overlap`"));
    let matches = &found["trajectories"][0]["matches"];
    for (place, region, name) in
        [(0, 0, "crop"), (1, 0, "first circle"), (1, 1, "second circle"), (2, 0, "click")]
    {
        near(&matches[place]["regions"]["each"][region]["overlap"], of(name));
    }
    // By tool: the two circles.
    let tools = found["by_tool"].as_array().unwrap();
    let circles = tools.iter().find(|tool| tool["tool"] == "image/draw_circles").unwrap();
    near(&circles["region_overlap"], of("first circle") / 2.0);
}

/// The output in `docs/score.md` is what the README's first command prints, and the README shows its beginning.
#[test]
fn the_output_in_the_documents_is_real() {
    let Some(mut m3) = m3() else { return };
    let output =
        stdout(m3.args(["score", "-q", "trajectories/predictions.json", "trajectories/references.json"]));
    let whole = blocks(&read("docs/score.md"), "text");
    assert!(
        whole.iter().any(|block| block.trim_end() == output.trim_end()),
        "docs/score.md should show:\n{output}"
    );
    let beginning = |block: &String| block.lines().count() >= 10 && output.starts_with(block.trim_end());
    assert!(
        blocks(&read("README.md"), "text").iter().any(beginning),
        "the README should show the beginning of:\n{output}"
    );
}

/// The failing task that the README begins with: its verdict is what the audit prints.
#[test]
fn the_failing_task_of_the_readme_is_real() {
    let files = ["trajectories/predictions-poor.json", "trajectories/references.json"];
    let Some(mut m3) = m3() else { return };
    let output =
        stdout(m3.args(["audit", "-q", "--duplicates", "last"]).args(files).args(["--id", "00050000"]));
    let shown = blocks(&read("README.md"), "text");
    assert!(
        shown.iter().any(|block| block.lines().count() >= 5 && output.starts_with(block.trim_end())),
        "the README should show the beginning of:\n{output}"
    );
}

/// The audit in `docs/audit.md` is real too.
#[test]
fn the_audit_in_the_documents_is_real() {
    let files = ["trajectories/predictions.json", "trajectories/references.json"];
    let Some(mut m3) = m3() else { return };
    let output = stdout(m3.args(["audit", "-q"]).args(files).args(["--id", "00050000"]));
    let shown = blocks(&read("docs/audit.md"), "text");
    assert!(
        shown.iter().any(|block| block.trim_end() == output.trim_end()),
        "docs/audit.md should show:\n{output}"
    );
}

/// The documents that people read, by their paths in the repository.
fn documents() -> Vec<String> {
    let documents = std::fs::read_dir(root().join("docs")).unwrap().flatten().filter_map(|entry| {
        let is_document = entry.path().extension().is_some_and(|extension| extension == "md");
        is_document.then(|| format!("docs/{}", entry.file_name().into_string().unwrap()))
    });
    let top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned);
    let all: Vec<String> = top.into_iter().chain(documents).collect();
    assert!(all.iter().any(|name| name == "docs/models.md"), "{all:?}");
    all
}

/// The paragraphs of a document with the numbers of their first lines. An item of a list is a paragraph; code, tables,
/// headings and pictures are not.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.is_empty() || line.starts_with(['|', '#']) || line.starts_with("![") {
            is_open = false;
            continue;
        }
        let digits = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let is_item =
            line.starts_with("- ") || line.starts_with("* ") || digits != line && digits.starts_with(". ");
        match found.last_mut().filter(|_| is_open && !is_item) {
            Some((_, paragraph)) => *paragraph = format!("{paragraph} {line}"),
            None => found.push((number + 1, line.to_owned())),
        }
        is_open = true;
    }
    found
}

/// The most words of a paragraph.
const LONGEST_PARAGRAPH: usize = 110;

#[test]
fn no_paragraph_of_a_document_is_longer_than_people_read() {
    for name in documents() {
        for (line, paragraph) in paragraphs(&read(&name)) {
            let words = paragraph.split_whitespace().count();
            assert!(words <= LONGEST_PARAGRAPH, "{name}:{line}: a paragraph of {words} words: {paragraph}");
        }
    }
}

/// The measure of the test above finds the paragraphs that people see.
#[test]
fn paragraphs_end_at_blank_lines_items_tables_and_code() {
    let text =
        "# Head\n\none two\nthree\n\n- four\n  five\n- six\n1. seven\n| a | b |\n```sh\nnot one\n```\neight";
    let expected = [(3, "one two three"), (6, "- four five"), (8, "- six"), (9, "1. seven"), (14, "eight")];
    assert_eq!(paragraphs(text), expected.map(|(line, words)| (line, words.to_owned())));
}

#[test]
fn the_readme_is_a_front_door() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 160, "the README has {lines} lines: what is more belongs into docs/");
}

/// Every document stands on one shelf of the index, once, with the question that it answers.
#[test]
fn every_document_is_in_the_index_once() {
    let index = read("docs/README.md");
    assert!(read("README.md").contains("](docs/README.md)"), "the README should link to the index");
    for name in documents() {
        let Some(file) = name.strip_prefix("docs/").filter(|file| *file != "README.md") else { continue };
        let rows = index.lines().filter(|line| line.starts_with(&format!("| [{file}]({file}) | ")));
        assert_eq!(rows.count(), 1, "docs/README.md should have one row for {file}");
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    for name in documents() {
        let text = read(&name);
        let folder = root().join(&name).parent().unwrap().to_owned();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if !link.starts_with("http") && !link.starts_with('#') {
                let path = link.split('#').next().unwrap();
                assert!(folder.join(path).exists(), "{name} links to {link}");
            }
        }
    }
}

/// Every rule for outcomes is explained, with the outcome it has in the program.
#[test]
fn the_rules_in_the_documents_are_those_of_the_program() {
    let document = read("docs/outcomes.md");
    for rule in m3_outcomes::all_rules() {
        let verdict = match rule.verdict {
            m3_outcomes::Verdict::NotJudged(_) => "not judged".to_owned(),
            known => known.name().replace('_', " "),
        };
        let confidence = match rule.confidence {
            m3_outcomes::Confidence::Sure => String::new(),
            other => format!(", {}", other.name()),
        };
        let row = format!("| `{}` | {verdict}{confidence} | {} |", rule.name, rule.applies);
        assert!(document.contains(&row), "docs/outcomes.md should have\n{row}");
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = read("Cargo.toml");
    let reasons = read("docs/dependencies.md");
    let mut is_dependency = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            // The crates name the dependencies of the workspace.
            is_dependency = line == "[workspace.dependencies]";
        } else if let Some((name, _)) = line
            .split_once(" = ")
            .filter(|_| is_dependency && !line.starts_with('#') && !line.starts_with("m3-"))
        {
            assert!(reasons.contains(&format!("`{name}`")), "{name} is not in docs/dependencies.md");
        }
    }
}

/// The committed images show what the committed script draws.
#[test]
fn the_images_are_what_their_script_draws() {
    let Some(python) = python_with("images/requirements.txt") else { return };
    let folder = Folder::new();
    let status = python.command().arg(root().join("images/make.py")).arg(folder.path()).status().unwrap();
    assert!(status.success());
    let compare = "import sys, pathlib\nfrom PIL import Image\n\
        for new in sorted(pathlib.Path(sys.argv[1]).glob('*.png')):\n\
        \x20   old = pathlib.Path(sys.argv[2]) / new.name\n\
        \x20   assert list(Image.open(new).convert('RGB').tobytes()) == list(Image.open(old).convert('RGB').tobytes()), new.name\n";
    let status =
        python.command().args(["-c", compare]).arg(folder.path()).arg(root().join("images")).status();
    assert!(status.unwrap().success());
    let count = |path: &std::path::Path| {
        let files = std::fs::read_dir(path).unwrap().flatten();
        files.filter(|file| file.path().extension().is_some_and(|ending| ending == "png")).count()
    };
    assert_eq!(count(folder.path()), count(&root().join("images")));
}

#[test]
fn the_schemas_in_docs_are_those_of_the_program() {
    let folder = Folder::new();
    let mut stale = Vec::new();
    for entry in std::fs::read_dir(root().join("docs/schemas")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        let name = file.strip_suffix(".schema.json").unwrap();
        let printed = stdout(m3_bare(folder.path()).args(["schema", name]));
        if std::fs::read_to_string(&path).unwrap() != printed {
            stale.push(format!("m3 schema {name} > docs/schemas/{file}"));
        }
    }
    assert!(stale.is_empty(), "schemas have changed; renew them:\n{}", stale.join("\n"));
}
