//! The findings of `m3 score` about arguments: their fidelity beside the similarity, which are wrong, and which pairs
//! only the embedding accepts; and alignment by fidelity.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Folder, call, follows_kept_schema, m3, report, run, stdout, text, trajectory};

mod leaderboard;

/// Three reference calls, two of which are predicted: one correctly, one with the longitude on the other side of the
/// world. To the embedding both are alike (`docs/fidelity.md`), so both are matched.
fn flipped_longitude(folder: &Folder) -> [PathBuf; 2] {
    let at = |lat: f64, lng: f64| call("air/now", json!({"lat": lat, "lng": lng}));
    let mail = call("mail/send", json!({"to": "me"}));
    let reference = trajectory("delft", &[&[at(52.08, 4.31), at(48.86, 2.35)], &[mail]]);
    let prediction = trajectory("delft", &[&[at(52.08, 4.31)], &[at(48.86, -2.35)]]);
    [folder.json("p.json", &json!([prediction])), folder.json("r.json", &json!([reference]))]
}

fn number(report: &Value, name: &str) -> f64 {
    report["aggregate"][name].as_f64().unwrap()
}

/// Fidelity is 1 for equal arguments and below 0.2 for another longitude, so that the mean of two pairs lies between 0.5
/// and 0.6; covered it is the sum over three reference calls, two thirds of that mean.
#[test]
fn a_flipped_longitude_shows_in_the_fidelity_alone() {
    let folder = Folder::new();
    for profile in ["paper", "open-m3-bench"] {
        let Some(mut m3) = m3() else { return };
        let report = report(m3.arg("score").args(flipped_longitude(&folder)).args(["--profile", profile]));
        assert_eq!(report["aggregate"]["matched"], 2);
        let fidelity = number(&report, "argument_fidelity");
        assert!((0.5..0.6).contains(&fidelity), "{fidelity}");
        let covered = number(&report, "argument_fidelity_covered");
        assert!((covered - fidelity * 2.0 / 3.0).abs() < 1e-12, "{covered}");
        let similar =
            number(&report, "argument_similarity") / if profile == "paper" { 1.0 } else { 2.0 / 3.0 };
        assert!(similar > 0.98, "{similar}");
        // The average is the mean of the paper's six.
        let six = [
            "recall",
            "precision",
            "argument_similarity",
            "step_coherence",
            "merge_purity",
            "order_consistency",
        ];
        let mean = six.iter().map(|name| number(&report, name)).sum::<f64>() / 6.0;
        assert!((number(&report, "average") - mean).abs() < 1e-12);
    }
}

/// Comparisons are kept in the cache, and results from there equal new ones to the last digit. The texts need the
/// encoder, and are new in the first run.
#[test]
fn what_the_cache_knows_is_what_would_be_compared() {
    let folder = Folder::new();
    let this = std::process::id();
    let side = |words: &str| {
        let query =
            call("web/search", json!({"q": format!("{words} near pier {this}"), "n": 5, "lat": 52.1}));
        trajectory("pier", &[&[query, call("web/open", json!({"url": "x.org/A"}))]])
    };
    let files = [
        folder.json("p.json", &json!([side("a tranquil seaside lodging")])),
        folder.json("r.json", &json!([side("some peaceful coastal accommodation")])),
    ];
    let score = |arguments: &[&str]| Some(report(m3()?.arg("score").args(&files).args(arguments)));
    let Some(anew) = score(&["--no-cache"]) else { return };
    assert!(anew["trajectories"][0]["matches"][0]["argument_fidelity"].as_f64().unwrap() < 1.0);
    for _ in 0..2 {
        assert_eq!(score(&[]).unwrap(), anew);
    }
}

#[test]
fn wrong_arguments_and_rejected_pairs_are_listed() {
    let folder = Folder::new();
    let Some(mut m3) = m3() else { return };
    let report = report(m3.arg("score").args(flipped_longitude(&folder)));
    follows_kept_schema("score", &report);
    let [wrong] = report["wrong_arguments"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!([&wrong["tool"], &wrong["argument"], &wrong["id"]], ["air/now", "lng", "delft"]);
    assert_eq!([&wrong["wrong"], &wrong["pairs"]], [1, 2]);
    assert!(wrong["reason"].as_str().unwrap().contains("sign"), "{wrong}");
    let rejected = &report["rejected_matches"];
    assert_eq!(rejected["count"], 1);
    let rejected = &rejected["matches"][0];
    assert_eq!([&rejected["id"], &rejected["tool"], &rejected["argument"]], ["delft", "air/now", "lng"]);
    assert_eq!(rejected["reference"], json!({"step": 0, "call": 1, "index": 1}));
    assert_eq!(rejected["predicted"], json!({"step": 1, "call": 0, "index": 1}));
    assert!(rejected["similarity"].as_f64().unwrap() >= 0.6, "the embedding accepts it: {rejected}");
    assert!(rejected["argument_fidelity"].as_f64().unwrap() < 0.5, "{rejected}");
    // The match in the trajectory reports it too; a match with equal arguments reports nothing.
    let matches = &report["trajectories"][0]["matches"];
    assert_eq!(matches[0]["argument_fidelity"], 1.0);
    assert!(matches[0].get("wrong_arguments").is_none());
    assert_eq!(matches[1]["argument_fidelity"], rejected["argument_fidelity"]);
    let wrong = &matches[1]["wrong_arguments"][0];
    assert_eq!([&wrong["argument"], &wrong["verdict"]], ["/lng", "different"]);
}

/// Of two matched calls one has equal arguments and the other a longitude of another sign; with recall it is two thirds of
/// the mean.
#[test]
fn tables_show_what_is_wrong() {
    let folder = Folder::new();
    let printed = |form: &str| {
        Some(stdout(m3()?.args(["score", "-q", "--format", form]).args(flipped_longitude(&folder))))
    };
    let Some(table) = printed("table") else { return };
    let found =
        number(&report(m3().unwrap().arg("score").args(flipped_longitude(&folder))), "argument_fidelity");
    let covered = format!("of matched calls; {:.4} incl. missed", found * 2.0 / 3.0);
    let start = format!("argument fidelity    {found:.4}  █████");
    assert!(table.lines().any(|line| line.starts_with(&start) && line.ends_with(&covered)), "{table}");
    for line in [
        "arguments most often wrong (1 of 1)",
        "1 of 2  air/now  lng       delft: 2.35 -> -2.35",
        "look alike, but arguments are wrong (1 of 2 pairs)",
        "0.9788  delft  1.2 -> 2.1  air/now  lng: 2.35 -> -2.35",
        "All: m3 score .. --format json. One task: m3 audit .. --id ID",
    ] {
        assert!(table.lines().any(|found| found == line), "{line}\n{table}");
    }
    assert!(table.contains("mean of the six, without fidelity"), "{table}");
    let markdown = printed("markdown").unwrap();
    assert!(markdown.contains(&format!("| argument fidelity | {found:.4} | {covered} |\n")), "{markdown}");
    for line in [
        "| 1 of 2 | air/now | lng | delft: 2.35 -> -2.35 |",
        "| 0.9788 | delft | 1.2 -> 2.1 | air/now | lng: 2.35 -> -2.35 |",
    ] {
        assert!(markdown.lines().any(|found| found == line), "{line}\n{markdown}");
    }
    let csv = printed("csv").unwrap();
    let mut csv = csv::Reader::from_reader(csv.as_bytes());
    let column = csv.headers().unwrap().iter().position(|name| name == "argument_fidelity").unwrap();
    assert_eq!(&csv.headers().unwrap()[column - 1], "argument_similarity_strong");
    assert_eq!(&csv.headers().unwrap()[column + 1], "argument_fidelity_covered");
    let all = csv.records().map(Result::unwrap).find(|row| &row[0] == "all").unwrap();
    let [fidelity, covered] = [column, column + 1].map(|column| all[column].parse::<f64>().unwrap());
    assert!((covered - fidelity * 2.0 / 3.0).abs() < 1e-12);
}

/// If nothing is wrong there is nothing to list. Without calls on both sides both numbers are 1, and if nothing
/// matched they are 0 (`docs/metrics.md`).
#[test]
fn degenerate_cases_are_those_of_the_documents() {
    let folder = Folder::new();
    let mail = || call("mail/send", json!({"to": "me"}));
    let file = |name: &str, calls: &[Value]| folder.json(name, &json!([trajectory("a", &[calls])]));
    let [none, one, other] =
        [file("none.json", &[]), file("one.json", &[mail()]), file("other.json", &[call("x/y", json!({}))])];
    for profile in ["paper", "open-m3-bench"] {
        for (prediction, reference, expected) in [
            (&none, &none, 1.0),
            (&one, &one, 1.0),
            (&none, &one, 0.0),
            (&other, &one, 0.0),
            (&one, &none, 0.0),
        ] {
            let Some(mut m3) = m3() else { return };
            let report = report(m3.arg("score").args([prediction, reference]).args(["--profile", profile]));
            for name in ["argument_fidelity", "argument_fidelity_covered"] {
                let found = number(&report, name);
                assert!(
                    (found - expected).abs() < f64::EPSILON,
                    "{name}, {profile}: {found}, not {expected}"
                );
            }
            assert_eq!(report["wrong_arguments"], json!([]));
            assert_eq!(report["rejected_matches"], json!({"count": 0, "matches": []}));
        }
    }
    let table = stdout(m3().unwrap().args(["score", "-q"]).args([&one, &one]));
    assert!(!table.contains("most often wrong") && !table.contains("rejected by"), "{table}");
}

#[test]
fn a_floor_below_the_fidelity_holds_and_one_above_does_not() {
    let folder = Folder::new();
    for (floor, expected) in [
        ("argument_fidelity=0.5", 0),
        ("argument_fidelity=0.8", 1),
        ("argument_fidelity_covered=0.3", 0),
        ("argument_fidelity_covered=0.5", 1),
    ] {
        let Some(mut m3) = m3() else { return };
        m3.args(["score", "-q", "--fail-under", floor]).args(flipped_longitude(&folder));
        let output = run(&mut m3);
        assert_eq!(output.status.code(), Some(expected), "{floor}");
        let name = floor.split('=').next().unwrap();
        let message = text(&output.stderr);
        assert_eq!(message.contains(&format!("{name} is 0.")), expected == 1, "{message}");
    }
}

/// Two dates, each written in two ways: the embedding matches those with the same spelling, the fidelity those with
/// the same meaning.
#[test]
fn alignment_by_fidelity_pairs_what_means_the_same() {
    let folder = Folder::new();
    let day = |date: &str| call("calendar/day", json!({"date": date}));
    let file = |name: &str, days: [&str; 2]| {
        folder.json(name, &json!([trajectory("a", &[&[day(days[0])], &[day(days[1])]])]))
    };
    let reference = file("r.json", ["2026-03-05", "March 5, 2025"]);
    let prediction = file("p.json", ["March 5, 2026", "2031-03-05"]);
    let score = |similarity: &str| {
        let mut m3 = m3()?;
        m3.arg("score").args([&prediction, &reference]).args(["--similarity", similarity]);
        Some(report(&mut m3))
    };
    let pairs = |report: &Value| -> Vec<[u64; 2]> {
        let matches = report["trajectories"][0]["matches"].as_array().unwrap().iter();
        matches.map(|m| ["reference", "predicted"].map(|side| m[side]["step"].as_u64().unwrap())).collect()
    };
    let Some(cosine) = score("cosine") else { return };
    assert_eq!(cosine["similarity"], "cosine");
    assert_eq!(pairs(&cosine), [[0, 1], [1, 0]]);
    assert_eq!(cosine["rejected_matches"]["count"], 2);
    let typed = score("typed").unwrap();
    follows_kept_schema("score", &typed);
    assert_eq!([&typed["similarity"], &typed["thresholds"]["weak"]], [&json!("typed"), &json!(0.5)]);
    assert_eq!(typed["thresholds"]["strong"], 0.85);
    assert_eq!(pairs(&typed), [[0, 0]]);
    // Its similarity is its fidelity; the call with the other date is unmatched.
    let found = &typed["trajectories"][0];
    assert_eq!(found["matches"][0]["similarity"], found["matches"][0]["argument_fidelity"]);
    assert_eq!(found["matches"][0]["strength"], "strong");
    for (side, step) in [("unmatched_references", 1), ("unmatched_predictions", 1)] {
        let [alone] = found[side].as_array().unwrap().as_slice() else { panic!("{found}") };
        assert_eq!([&alone["step"], &alone["reason"]], [&json!(step), &json!("below_threshold")]);
        assert!(alone["best"]["similarity"].as_f64().unwrap() < 0.5, "{alone}");
    }
    assert_eq!(typed["rejected_matches"]["count"], 0);
    let files = [&prediction, &reference];
    let table = stdout(m3().unwrap().args(["score", "-q", "--similarity", "typed"]).args(files));
    assert!(table.contains("similarity typed,\ntau 0.5 / 0.85\n"), "{table}");
    assert!(table.contains("mean fidelity of strong matches"), "{table}");
    // A lower threshold lets the wrong pair be matched, which is then reported.
    let options = ["score", "-q", "--similarity", "typed", "--tau-weak", "0"];
    let table = stdout(m3().unwrap().args(options).args(files));
    assert!(table.contains("matched, although fidelity rejects them (1 of 2 pairs)"), "{table}");
}

/// With the schemas of tools, a default means the same as no argument, in both profiles; in that of the published
/// program the similarity stays unchanged.
#[test]
fn schemas_are_for_the_fidelity_in_both_profiles() {
    let folder = Folder::new();
    let search = |arguments: Value| json!([trajectory("a", &[&[call("shop/search", arguments)]])]);
    let prediction = folder.json("p.json", &search(json!({"query": "red tea", "unit": "grams"})));
    let reference = folder.json("r.json", &search(json!({"query": "red tea"})));
    let properties = json!({"query": {"type": "string"}, "unit": {"type": "string", "default": "grams"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["query"]});
    let tool = json!({"name": "search", "inputSchema": schema});
    let catalog = folder.json("tools.json", &json!({"shop": {"tools": [tool]}}));
    for profile in ["paper", "open-m3-bench"] {
        let score = |options: &[&std::ffi::OsStr]| {
            let mut m3 = m3()?;
            m3.arg("score").args([&prediction, &reference]).args(["--profile", profile]).args(options);
            Some(report(&mut m3))
        };
        let Some(without) = score(&[]) else { return };
        let with = score(&["--tools".as_ref(), catalog.as_os_str()]).unwrap();
        assert_eq!(without["wrong_arguments"][0]["argument"], "unit");
        assert!(number(&without, "argument_fidelity") < 0.5, "{}", without["aggregate"]);
        assert_eq!(with["wrong_arguments"], json!([]));
        assert!(number(&with, "argument_fidelity") > 0.9, "{}", with["aggregate"]);
        let similarities = [&without, &with].map(|found| number(found, "argument_similarity"));
        assert_eq!(similarities[0] < similarities[1], profile == "paper", "{similarities:?}");
    }
}

/// Reasons quote values, and names of tools, arguments and trajectories come from the file.
#[test]
fn hostile_arguments_cannot_act_on_the_terminal() {
    let folder = Folder::new();
    let evil = "\u{1b}[2J\u{202e}\u{9b}evil|`<b>\nerror: forged ".repeat(20);
    let set = |word: &str| {
        let arguments =
            json!({evil.as_str(): format!("{word} {evil}"), "lng": if word == "red" { 1 } else { -90 }});
        json!([trajectory(&evil, &[&[call(&evil, arguments)]])])
    };
    let (prediction, reference) =
        (folder.json("p.json", &set("red")), folder.json("r.json", &set("seventeen")));
    for form in ["table", "markdown", "csv", "json", "jsonl"] {
        let Some(mut m3) = m3() else { return };
        m3.args(["score", "-q", "--tau-weak", "0", "--format", form]).args([&prediction, &reference]);
        let printed = stdout(&mut m3);
        assert!(!printed.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{printed:?}");
        assert!(!printed.lines().any(|line| line.starts_with("error: forged")), "{printed}");
        if form == "table" {
            assert!(printed.contains("arguments most often wrong"), "{printed}");
            let mut lines = printed.lines().filter(|line| !line.starts_with("m3|"));
            assert!(lines.all(|line| line.chars().count() <= 80), "{printed}");
        }
        if form == "markdown" {
            assert!(printed.contains("Arguments most often wrong") && !printed.contains("<b>"), "{printed}");
        }
    }
}
