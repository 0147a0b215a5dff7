//! The fidelity of arguments in the leaderboard and in comparisons.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{flipped_longitude, number};
use crate::support::{Folder, failure, json_of, m3, m3_bare, report, stdout};

/// A result with the wrong longitude, and a changed copy of it.
fn results(
    folder: &Folder,
    options: &[&str],
    name: &str,
    change: impl Fn(&mut Value),
) -> Option<[PathBuf; 2]> {
    let mut m3 = m3()?;
    let mut result = report(m3.arg("score").args(flipped_longitude(folder)).args(options));
    let first = folder.json("first.json", &result);
    change(&mut result);
    Some([first, folder.json(name, &result)])
}

/// Removes the fidelity, as in results of versions without it.
fn without_fidelity(result: &mut Value) {
    result.as_object_mut().unwrap().remove("similarity");
    let without = |numbers: &mut Value| {
        let numbers = numbers.as_object_mut().unwrap();
        numbers.retain(|name, _| !name.contains("_fidelity") && name != "wrong_arguments");
    };
    without(&mut result["aggregate"]);
    for trajectory in result["trajectories"].as_array_mut().unwrap() {
        without(&mut trajectory["metrics"]);
        trajectory["matches"].as_array_mut().unwrap().iter_mut().for_each(without);
    }
}

fn leaderboard(folder: &Folder, results: &[&Path]) -> Value {
    report(m3_bare(folder.path()).arg("leaderboard").args(results))
}

#[test]
fn the_leaderboard_has_the_fidelity_beside_the_average() {
    let folder = Folder::new();
    let Some([first, second]) = results(&folder, &[], "old.json", without_fidelity) else { return };
    let score: Value = json_of(&first);
    let board = leaderboard(&folder, &[&first]);
    for name in ["argument_fidelity", "argument_fidelity_covered", "average"] {
        let found = board["models"][0]["metrics"][name]["value"].as_f64().unwrap();
        assert!((found - number(&score, name)).abs() < 1e-12, "{name}: {found}");
        let of_type = board["types"][0]["models"][0]["metrics"][name].as_f64().unwrap();
        assert!((of_type - number(&score, name)).abs() < 1e-12, "{name}: {of_type}");
    }
    assert_eq!(board["average"]["metrics"].as_array().unwrap().len(), 6);
    // Without fidelity there is neither a column nor a zero; beside a result with fidelity the cell is empty.
    let old = leaderboard(&folder, &[&second]);
    assert!(!old["columns"].to_string().contains("fidelity"), "{}", old["columns"]);
    assert!(
        !old["models"].to_string().contains("fidelity") && !old["types"].to_string().contains("fidelity")
    );
    let both = leaderboard(&folder, &[&first, &second]);
    assert!(both["columns"].to_string().contains("argument_fidelity"));
    for model in both["models"].as_array().unwrap() {
        let has = model["metrics"].get("argument_fidelity").is_some();
        assert_eq!(has, model["model"] == "first", "{model}");
        assert_eq!(model["metrics"]["average"]["value"], board["models"][0]["metrics"]["average"]["value"]);
    }
    let table = stdout(m3_bare(folder.path()).arg("leaderboard").args([&first, &second]));
    let row = table.lines().find(|line| line.starts_with("old")).unwrap();
    let head = table.lines().find(|line| line.starts_with("model")).unwrap();
    let cell = |line: &str, column: usize| line.split_whitespace().nth(column).unwrap().to_owned();
    assert_eq!([cell(head, 5), cell(row, 5)], ["fid.", "-"], "{table}");
    assert!(table.contains("Argument fidelity is no part of the average"), "{table}");
    // A comparison has the metrics that both have.
    let compared = |second: &Path| {
        let found = report(m3_bare(folder.path()).arg("compare").args([&first, second]));
        let rows = found["differences"].as_array().unwrap().iter();
        rows.map(|row| row["metric"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(compared(&first).contains(&"argument_fidelity_covered".to_owned()));
    assert!(!compared(&second).iter().any(|metric| metric.contains("fidelity")));
}

#[test]
fn a_table_of_finished_numbers_may_have_the_fidelity() {
    let folder = Folder::new();
    let six = "recall,precision,argument similarity,step coherence,order consistency,merge purity";
    let table = folder.write(
        "t.csv",
        format!(
            "model,{six},Argument Fidelity\na,0.1,0.1,0.1,0.1,0.1,0.1,0.9\nb,0.2,0.2,0.2,0.2,0.2,0.2,-\n"
        ),
    );
    let board = leaderboard(&folder, &[&table]);
    assert_eq!(board["models"][0]["model"], "b", "the fidelity is no part of the average: {board}");
    assert_eq!(board["models"][1]["metrics"]["argument_fidelity"]["value"], 0.9);
    let average = board["models"][1]["metrics"]["average"]["value"].as_f64().unwrap();
    assert!((average - 0.1).abs() < 1e-12, "{average}");
}

#[test]
fn results_by_different_similarities_are_not_compared() {
    let folder = Folder::new();
    // The same thresholds, so that nothing else differs.
    let options = ["--similarity", "typed", "--tau-weak", "0.6", "--tau-strong", "0.8"];
    let as_cosine = |result: &mut Value| result["similarity"] = json!("cosine");
    let Some([typed, cosine]) = results(&folder, &options, "cosine.json", as_cosine) else { return };
    for command in ["leaderboard", "compare"] {
        let (code, message) = failure(m3_bare(folder.path()).arg(command).args([&typed, &cosine]));
        assert_eq!(code, 2, "{message}");
        for said in
            ["not scored in the same way", "similarity typed, tau 0.6 / 0.8", "similarity cosine, tau"]
        {
            assert!(message.contains(said), "{said}: {message}");
        }
        let table = stdout(m3_bare(folder.path()).arg(command).args([&typed, &typed]));
        assert!(table.contains("Profile paper, similarity typed, 1 task"), "{table}");
    }
    // A score that names no similarity is by cosine.
    let Some([_, old]) = results(&folder, &["--tau-weak", "0.6"], "old.json", without_fidelity) else {
        return;
    };
    assert_eq!(leaderboard(&folder, &[&cosine, &old])["similarity"], "cosine");
    let unknown = |result: &mut Value| result["similarity"] = json!("telepathy\u{1b}");
    let Some([_, unknown]) = results(&folder, &[], "unknown.json", unknown) else { return };
    let (code, message) = failure(m3_bare(folder.path()).arg("leaderboard").arg(&unknown));
    assert!(code == 2 && message.contains("similarity `telepathy\\u{1b}` is not known"), "{message}");
}
