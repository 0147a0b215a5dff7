//! `m3 audit`: what it chooses, prints and writes, and how it handles hostile input.

mod arguments;
mod flow;
mod size;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::support::{Folder, failure, json_of, m3, m3_bare, report, root, run, stdout, text};

const REFERENCES: &str = "trajectories/references.json";
const GOOD: &str = "trajectories/predictions.json";
const POOR: &str = "trajectories/predictions-poor.json";

/// An audit of chosen trajectories in the form for people.
fn audit(predictions: &str, options: &[&str]) -> Option<String> {
    Some(stdout(m3()?.args(["audit", "-q", predictions, REFERENCES]).args(options)))
}

#[test]
fn the_worst_of_poor_predictions_print_this() {
    let Some(printed) = audit(POOR, &["--duplicates", "last"]) else { return };
    insta::assert_snapshot!(printed);
}

#[test]
fn every_poor_prediction_prints_this() {
    let Some(printed) = audit(POOR, &["--duplicates", "last", "--worst", "100"]) else { return };
    insta::assert_snapshot!(printed);
    for line in printed.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(!printed.contains('\u{1b}'));
}

/// Split, merged and inverted steps, and arguments that differ.
#[test]
fn structure_is_said_in_words() {
    let options = ["--id", "00050000", "--id", "00010001", "--id", "00020001", "--id", "00060001"];
    let Some(printed) = audit(GOOD, &options) else { return };
    insta::assert_snapshot!(printed);
}

#[test]
fn json_follows_its_schema() {
    let Some(mut m3) = m3() else { return };
    let found = report(m3.args(["audit", POOR, REFERENCES, "--duplicates", "last", "--worst", "100"]));
    let schema: Value = serde_json::from_str(
        &std::fs::read_to_string(root().join("docs/schemas/audit.schema.json")).unwrap(),
    )
    .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&found).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(found["schema"], "m3.audit/1");
    let trajectories = found["trajectories"].as_array().unwrap();
    assert_eq!(trajectories.len(), 15);
    let costs: Vec<f64> = trajectories.iter().map(|audit| audit["cost"].as_f64().unwrap()).collect();
    assert!(costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
}

/// The cost of a trajectory is the average of the others minus that of all; here the set is scored again without it.
#[test]
fn the_cost_is_what_the_set_gains_without_it() {
    let Some(mut all) = m3() else { return };
    let found = report(all.args(["audit", POOR, REFERENCES, "--duplicates", "last", "--worst", "1"]));
    let (worst, average) = (&found["trajectories"][0], &found["score"]["aggregate"]["average"]);
    let mut references = json_of(root().join(REFERENCES)).as_array().unwrap().clone();
    references.retain(|reference| reference["id"] != worst["id"]);
    let folder = Folder::new();
    let path = folder.json("references.json", &Value::Array(references));
    let Some(mut others) = m3() else { return };
    let others = report(others.args(["score", POOR]).arg(path).args(["--duplicates", "last"]));
    let gain = others["aggregate"]["average"].as_f64().unwrap() - average.as_f64().unwrap();
    assert!((gain - worst["cost"].as_f64().unwrap()).abs() < 1e-9);
}

#[test]
fn an_unknown_id_names_the_nearest() {
    let Some(mut m3) = m3() else { return };
    let (code, message) = failure(m3.args(["audit", GOOD, REFERENCES, "--id", "0005000O"]));
    assert_eq!(code, 2);
    assert!(message.contains("`0005000O`") && message.contains("nearest are `00050000`"), "{message}");
}

#[test]
fn a_page_holds_what_was_chosen() {
    let ids = |options: &[&str]| -> Option<usize> {
        let folder = Folder::new();
        let path = folder.path().join("audit.html");
        let output = run(m3()?.args(["audit", GOOD, REFERENCES, "--html"]).arg(&path).args(options));
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
        Some(std::fs::read_to_string(path).unwrap().matches("data-path=\"task/").count())
    };
    let Some(all) = ids(&[]) else { return };
    assert_eq!(all, 15);
    assert_eq!(ids(&["--worst", "2"]), Some(2));
    assert_eq!(ids(&["--id", "00050000"]), Some(1));
}

#[test]
fn a_page_and_json_can_be_had_at_once() {
    let Some(mut m3) = m3() else { return };
    let folder = Folder::new();
    let (page, json) = (folder.path().join("audit.html"), folder.path().join("audit.json"));
    let arguments = ["audit", "-q", GOOD, REFERENCES, "--worst", "1", "--html"];
    stdout(m3.args(arguments).arg(&page).arg("--out").arg(&json));
    let found: Value = json_of(json);
    assert_eq!(found["trajectories"].as_array().unwrap().len(), 1);
    assert!(page.is_file());
}

#[test]
fn a_page_and_json_in_one_file_are_refused() {
    let Some(mut m3) = m3() else { return };
    let folder = Folder::new();
    let page = folder.path().join("audit.html");
    let same = folder.path().join(".").join("audit.html");
    let (code, message) =
        failure(m3.args(["audit", GOOD, REFERENCES, "--html"]).arg(&page).arg("--out").arg(&same));
    assert_eq!(code, 2);
    assert!(message.contains("--html and --out would both write to"), "{message}");
    assert!(!page.exists());
}

#[test]
fn the_only_trajectory_has_no_cost() {
    let folder = Folder::new();
    let calls =
        |tool: &str| json!([{"id": "", "steps": [{"step": 1, "calls": [{"name": tool, "arguments": {}}]}]}]);
    let files =
        [folder.json("predictions.json", &calls("a/b")), folder.json("references.json", &calls("a/c"))];
    let Some(mut table) = m3() else { return };
    let printed = stdout(table.args(["audit", "-q"]).args(&files));
    assert!(printed.contains("average") && !printed.contains("without it"), "{printed}");
    let Some(mut json) = m3() else { return };
    let found = report(json.args(["audit"]).args(&files));
    assert_eq!(found["trajectories"][0]["cost"], 0.0);
}

/// Many calls of one tool and of many tools, many empty steps, many differences: a page and a terminal show the first
/// ones and report how many are left out.
#[test]
fn long_trajectories_are_cut() {
    let trajectories = |word: &str| {
        let same = (0..300).map(|n| json!({"name": "a/b", "arguments": {"n": n, word: vec![n; 150]}}));
        let others = (0..500).map(|n| json!({"name": format!("{word}/{n}"), "arguments": {}}));
        let mut steps = vec![json!({"step": 1, "calls": []}); 1_000];
        steps[0]["calls"] = Value::Array(same.chain(others).collect());
        json!([{"id": "1", "steps": steps}])
    };
    let folder = Folder::new();
    let files = [
        folder.json("predictions.json", &trajectories("made")),
        folder.json("references.json", &trajectories("wanted")),
    ];
    let path = folder.path().join("page.html");
    let Some(mut page) = m3() else { return };
    stdout(page.args(["audit", "-q", "--tau-weak", "0"]).args(&files).arg("--html").arg(&path));
    let page = std::fs::read_to_string(path).unwrap();
    for cut in ["\"more_calls\":300", "\"more_steps\":500", "the first 64 of 300 rows and 64 of 300 columns"]
    {
        assert!(page.contains(cut), "{cut}");
    }
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    let Some(mut table) = m3() else { return };
    let printed = stdout(table.args(["audit", "-q", "--tau-weak", "0"]).args(&files));
    for cut in [
        "600 more calls are not shown",
        "100 more matches are not shown",
        "800 more unmatched calls are not shown",
    ] {
        assert!(printed.contains(cut), "{cut}\n{printed}");
    }
    assert!(printed.lines().count() < 10_000);
}

/// Hostile texts for a prediction.
pub(crate) const HOSTILE: [&str; 9] = [
    "<script>window.hostile=1</script>",
    "\"><img src=x onerror=\"window.hostile=1;alert(1)\">",
    "'><svg/onload=window.hostile=1>",
    "javascript:window.hostile=1",
    "</script><script>window.hostile=1</script>",
    "</template></style></title><script>window.hostile=1</script><!--",
    "{{ 7 * 7 }} {% raw %} %3Cscript%3E&lt;script&gt;",
    "\u{202e}tpircs\u{202c}\u{200b} \u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\r",
    "LONG",
];

/// Writes references and predictions that are hostile in every place.
fn hostile_files(folder: &Folder) -> [PathBuf; 2] {
    let long = |length: usize| "<b>long</b> ".repeat(length / 12);
    let (longest, long) = (long(10_000_000), long(100_000));
    let trajectories = |is_prediction: bool| {
        let trajectory = |(index, &text): (usize, &&str)| {
            let (longest, text) =
                if text == "LONG" { (longest.as_str(), long.as_str()) } else { (text, text) };
            let key: String = text.chars().take(1000).collect();
            let value = if is_prediction { format!("{longest}!") } else { longest.to_owned() };
            let mut arguments = serde_json::Map::new();
            arguments.insert(key.clone(), json!(value));
            arguments.insert(format!("{key}{is_prediction}"), json!([text]));
            // The reason of its verdict quotes it.
            arguments
                .insert("query".to_owned(), json!(if is_prediction { text } else { "harmless fishing" }));
            arguments.insert(format!("list {key}"), json!({key.clone(): [is_prediction, text, text]}));
            let calls = json!([
                {"name": key, "arguments": arguments},
                {"name": format!("{key}/{is_prediction}"), "arguments": {"url": text}}
            ]);
            json!({
                "id": format!("{text}{index}"), "type": key, "image": text, "question": longest,
                "final_reply": longest, "steps": [{"step": 1, "calls": calls}]
            })
        };
        Value::Array(HOSTILE.iter().enumerate().map(trajectory).collect())
    };
    [
        folder.json("predictions.json", &trajectories(true)),
        folder.json("references.json", &trajectories(false)),
    ]
}

/// A page of hostile trajectories, the same for all tests.
pub(crate) fn hostile_page() -> Option<&'static Path> {
    static PAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let folder = Folder::new();
        let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile.html");
        let files = hostile_files(&folder);
        stdout(m3()?.args(["audit", "-q"]).args(files).arg("--html").arg(&page));
        Some(page)
    });
    page.as_deref()
}

/// A document that stands in a page.
pub(crate) fn embedded(page: &str, path: &str) -> Value {
    let start = format!("<script type=\"application/json\" data-path=\"{path}\">");
    let rest = page.split_once(&start).unwrap().1;
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// True for what acts on a terminal or hides on a page.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
}

#[test]
fn hostile_trajectories_are_text_in_a_page() {
    let Some(path) = hostile_page() else { return };
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.len() < 3_000_000, "10 MB strings and an id of 100 kB make {} bytes", page.len());
    assert!(page.contains("\\u003cscript>window.hostile=1\\u003c/script>"));
    // It has only its own tags: its script, and documents, which are data.
    let documents = page.matches("<script type=\"application/json\" data-path=\"").count();
    assert_eq!(documents, 3 + HOSTILE.len());
    assert_eq!(page.matches("<script").count(), 1 + documents);
    assert_eq!(page.matches("</script").count(), 1 + documents);
    assert_eq!(page.matches("<style").count(), 1);
    for harm in ["<img src=x", "<svg/onload", "href=\"javascript", "<b>long", "<!--", "<template"] {
        assert!(!page.contains(harm), "{harm}");
    }
    for line in page.lines() {
        assert!(!line.chars().any(acts), "{line:?}");
    }
}

#[test]
fn hostile_trajectories_are_text_at_the_terminal() {
    let folder = Folder::new();
    let files = hostile_files(&folder);
    let Some(mut m3) = m3() else { return };
    let printed = stdout(m3.args(["audit", "-q"]).args(files).args(["--worst", "100"]));
    assert!(!printed.chars().any(acts));
    assert!(printed.contains("\\u{1b}[31m") && printed.contains("\\u{202e}"));
    for line in printed.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Otherwise a prediction could name any file beside the references.
#[test]
fn images_that_predictions_name_are_not_shown() {
    let folder = Folder::new();
    folder.write("clock.png", std::fs::read(root().join("images/clock.png")).unwrap());
    let trajectory = |image: Option<&str>| json!([{"id": "1", "image": image, "steps": []}]);
    let references = folder.json("references.json", &trajectory(None));
    let predictions = folder.json("predictions.json", &trajectory(Some("clock.png")));
    let page = folder.path().join("page.html");
    let Some(mut m3) = m3() else { return };
    stdout(m3.args(["audit", "-q"]).args([predictions, references]).arg("--html").arg(&page));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(!page.contains("data:image/") && !page.contains("clock.png"));
}

/// The pictures on a page for images with these paths.
fn page_with_images(folder: &Folder, images: &[&str], options: &[&Path]) -> Option<String> {
    let trajectory = |(index, image): (usize, &&str)| {
        let calls = json!([{"name": "a/b", "arguments": {}}]);
        json!({"id": index.to_string(), "image": image, "steps": [{"step": 1, "calls": calls}]})
    };
    let file = Value::Array(images.iter().enumerate().map(trajectory).collect());
    let (references, page) = (folder.json("set/references.json", &file), folder.path().join("page.html"));
    let mut m3 = m3()?;
    m3.args(["audit", "-q"]).args([&references, &references]).arg("--html").arg(&page);
    if let [images] = options {
        m3.arg("--images").arg(images);
    }
    stdout(&mut m3);
    Some(std::fs::read_to_string(page).unwrap())
}

#[test]
fn images_are_embedded_from_the_image_folder_only() {
    let folder = Folder::new();
    for name in ["set", "set/images", "elsewhere"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let image = std::fs::read(root().join("images/clock.png")).unwrap();
    for name in ["set/images/clock.png", "above.png", "elsewhere/secret.png"] {
        folder.write(name, &image);
    }
    let secret = folder.path().join("elsewhere/secret.png");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, folder.path().join("set/images/link.png")).unwrap();
    let count = |paths: &[&str], options: &[&Path]| {
        page_with_images(&folder, paths, options).map(|page| page.matches("\"data:image/").count())
    };
    let Some(beside) = count(&["images/clock.png"], &[]) else { return };
    assert_eq!(beside, 1);
    assert_eq!(count(&["above.png"], &[]), Some(1));
    let images = folder.path().join("set/images");
    assert_eq!(count(&["clock.png"], &[&images]), Some(1));
    // Naming the folder itself or the one above it means the same.
    assert_eq!(count(&["images/clock.png"], &[&images]), Some(1));
    assert_eq!(count(&["images/clock.png"], &[&folder.path().join("set")]), Some(1));
    let hostile = [
        "link.png",
        "../../elsewhere/secret.png",
        secret.to_str().unwrap(),
        "file:///etc/passwd",
        "../clock.png",
    ];
    assert_eq!(count(&hostile, &[&images]), Some(0));
    let page = page_with_images(&folder, &hostile, &[&images]).unwrap();
    assert_eq!(page.matches("leads out of the image folder and was not followed").count(), 4);
}

/// Without an error the result would be a page without images.
#[test]
fn a_folder_of_images_that_is_not_there_is_an_error_everywhere() {
    let folder = Folder::new();
    let [predictions, references, tasks] =
        ["predictions", "references", "tasks"].map(|name| format!("trajectories/{name}.json"));
    // Copied, because decisions are kept beside the file.
    let copy = folder.write("references.json", std::fs::read(root().join(&references)).unwrap());
    let copy = copy.display().to_string();
    let page = folder.path().join("page.html").display().to_string();
    let (out, file) = (folder.path().join("out"), folder.path().join("r.json"));
    let (out, file) = (out.to_str().unwrap(), file.to_str().unwrap());
    let cassette = "replay:trajectories/cassette.jsonl.gz";
    for command in [
        vec!["audit", &predictions, &references, "--html", &page],
        vec!["review", &copy, "--no-open"],
        vec!["run", &tasks, "--llm", cassette, "-o", out],
        vec!["judge", &predictions, "--llm", cassette, "-o", file],
        vec!["grade", &predictions, &references, "--llm", cassette],
        vec!["outcomes", &predictions, "--servers", "servers/local.json"],
    ] {
        let mut m3 = m3_bare(folder.path());
        let (code, said) = failure(m3.args(&command).args(["--images", "/nonexistent/images"]));
        assert_eq!(code, 2, "{command:?}: {said}");
        assert!(said.contains("`/nonexistent/images` is no folder"), "{command:?}: {said}");
    }
}

/// `--out page.html` looks as if it wrote a page.
#[test]
fn a_page_is_asked_for_by_html() {
    let folder = Folder::new();
    let Some(mut m3) = m3() else { return };
    let target = folder.path().join("page.html");
    m3.args(["audit", GOOD, REFERENCES, "--out"]).arg(&target);
    let (code, message) = failure(&mut m3);
    assert!(code == 2 && message.contains("--html FILE"), "{message}");
    assert!(!target.exists());
}
