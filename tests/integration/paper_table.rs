//! The paper's table 2 through `m3 leaderboard`: its order and its averages.

use m3_testkit::root;

use crate::leaderboard::own_results;
use crate::support::{Folder, failure, follows_kept_schema, m3_bare, report, stdout};

/// The columns of table 2 of M³-Bench as the program has them: model, the eight metrics, and the average as printed.
fn table() -> Vec<(String, Vec<f64>, f64)> {
    let csv = std::fs::read_to_string(root().join("crates/report/tables/m3-bench.csv")).unwrap();
    let row = |line: &str| {
        let mut cells = line.split(',');
        let model = cells.next().unwrap().to_owned();
        let mut numbers: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
        let average = numbers.pop().unwrap();
        (model, numbers, average)
    };
    csv.lines().skip(1).map(row).collect()
}

/// Table 2 as CSV, in another order, with or without the printed average.
pub(crate) fn table_2(folder: &Folder, has_average: bool) -> std::path::PathBuf {
    let mut csv = "Model,Recall,Precision,Argument Similarity,Step Coherence,Order Consistency,Merge Purity,\
        Task Completion,Information Grounding"
        .to_owned();
    csv += if has_average { ",Average Score\n" } else { "\n" };
    let (even, odd): (Vec<_>, Vec<_>) =
        table().into_iter().enumerate().partition(|(index, _)| index % 2 == 0);
    for (_, (model, metrics, average)) in even.into_iter().chain(odd) {
        let numbers = metrics.iter().chain(Some(&average).filter(|_| has_average));
        let metrics: Vec<String> = numbers.map(ToString::to_string).collect();
        csv.extend([&model, ",", &metrics.join(","), "\n"]);
    }
    folder.write("table2.csv", csv)
}

/// The first and the last row as the paper prints them.
#[test]
fn the_table_is_the_paper_s() {
    let table = table();
    assert_eq!(table.len(), 14);
    let first = ("GLM 4.5v".to_owned(), vec![0.013, 0.023, 0.011, 0.012, 0.000, 0.013, 0.285, 0.130], 0.029);
    let last = ("GPT-5".to_owned(), vec![0.627, 0.264, 0.583, 0.502, 0.290, 0.453, 0.671, 0.657], 0.482);
    assert_eq!((&table[0], &table[13]), (&first, &last));
}

#[test]
fn own_models_stand_beside_the_published_ones() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let board = || {
        let mut m3 = m3_bare(folder.path());
        m3.arg("leaderboard").args(&results).args(["--beside", "m3-bench", "--beside", "m3-bench"]);
        m3
    };
    let found = report(&mut board());
    follows_kept_schema("leaderboard", &found);
    let models = found["models"].as_array().unwrap();
    assert_eq!(models.len(), 3 + 14);
    for model in models {
        let is_published = model["published"].as_str().is_some();
        assert_eq!(is_published, model["group"].is_null(), "{model}");
        assert_eq!(is_published, model["metrics"]["recall"]["low"].is_null(), "{model}");
    }
    // Own results have no grades here, so the average is that of six: for GPT-5
    // (0.627 + 0.264 + 0.583 + 0.502 + 0.290 + 0.453) / 6.
    let gpt_5 = models.iter().find(|model| model["model"] == "GPT-5").unwrap();
    let average = gpt_5["metrics"]["average"]["value"].as_f64().unwrap();
    assert!((average - 2.719 / 6.0).abs() < 1e-12, "{average}");
    let notes = found["notes"].to_string();
    for said in
        ["published (M3-Bench, arXiv 2511.17729, table 2)", "own results have 15", "--profile open-m3-bench"]
    {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    let table = stdout(&mut board());
    assert!(table.contains("\nGPT-5\u{2020} ") && table.contains("\nperfect "), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let (code, message) =
        failure(m3_bare(folder.path()).arg("leaderboard").args(&results).args(["--beside", "mmm"]));
    assert!(
        code == 2 && message.contains("no published table is called `mmm`; there are: m3-bench"),
        "{message}"
    );
}

#[test]
fn the_table_of_the_paper_gives_its_order_and_averages() {
    let folder = Folder::new();
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(table_2(&folder, true)));
    let models = board["models"].as_array().unwrap();
    assert_eq!(models.len(), 14);
    for (place, (found, (model, _, average))) in models.iter().zip(table().iter().rev()).enumerate() {
        assert_eq!(found["model"], *model);
        assert_eq!(found["rank"]["rank"], place + 1);
        assert_eq!(found["metrics"]["average"]["value"], *average);
    }
    // (0.200 + 0.173 + 0.168 + 0.179 + 0.030 + 0.152 + 0.241) / 7 = 0.163; the printed 0.180 is the mean of all eight
    // columns, unlike in every other row of the table.
    let notes = board["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].as_str().unwrap().starts_with("Gemini 2.5 Flash Lite: the table gives an average of 0.180")
    );
}

#[test]
fn averages_that_a_table_does_not_give_are_the_paper_s_mean_of_seven() {
    let folder = Folder::new();
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(table_2(&folder, false)));
    assert!(board["average"]["description"].as_str().unwrap().contains("seven"));
    let models = board["models"].as_array().unwrap();
    let table = table();
    let expected = table.iter().rev().filter(|(model, ..)| *model != "Gemini 2.5 Flash Lite");
    let found = models.iter().filter(|found| found["model"] != "Gemini 2.5 Flash Lite");
    for (found, (model, _, average)) in found.zip(expected) {
        assert_eq!(found["model"], *model);
        let value = found["metrics"]["average"]["value"].as_f64().unwrap();
        // The paper's averages are computed from columns with more digits than it prints.
        assert!((value - average).abs() <= 1e-3, "{model}: {value}, printed {average}");
    }
}

#[test]
fn the_table_of_the_paper_prints_like_this() {
    let folder = Folder::new();
    insta::assert_snapshot!(stdout(m3_bare(folder.path()).arg("leaderboard").arg(table_2(&folder, true))));
}

#[test]
fn tables_at_the_terminal_fit_into_80_columns() {
    let folder = Folder::new();
    let printed = stdout(m3_bare(folder.path()).arg("leaderboard").arg(table_2(&folder, true)));
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
}
