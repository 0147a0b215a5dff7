//! The paper's table 2 through `m3 leaderboard`: its order and its averages.

use crate::support::{Folder, m3_bare, report, stdout};

/// The columns of table 2 of M³-Bench: model, recall, precision, argument similarity, step coherence, order
/// consistency, merge purity, task completion, information grounding; and the average as printed.
const TABLE_2: [(&str, [f64; 8], f64); 14] = [
    ("GLM 4.5v", [0.013, 0.023, 0.011, 0.012, 0.000, 0.013, 0.285, 0.130], 0.029),
    ("Qwen2.5-VL-72B", [0.143, 0.073, 0.125, 0.125, 0.022, 0.112, 0.303, 0.388], 0.141),
    ("InternVL 3.5", [0.224, 0.143, 0.193, 0.191, 0.048, 0.161, 0.325, 0.298], 0.179),
    ("Gemini 2.5 Flash Lite", [0.200, 0.173, 0.168, 0.179, 0.030, 0.152, 0.299, 0.241], 0.180),
    ("Claude 4.5 Haiku", [0.193, 0.480, 0.166, 0.190, 0.053, 0.108, 0.412, 0.246], 0.205),
    ("GPT-5 Nano", [0.287, 0.103, 0.276, 0.228, 0.045, 0.258, 0.551, 0.529], 0.247),
    ("Llama-4-Scout-17B16E", [0.367, 0.176, 0.325, 0.286, 0.068, 0.290, 0.367, 0.335], 0.264),
    ("Grok-4 Fast", [0.343, 0.359, 0.309, 0.284, 0.122, 0.289, 0.501, 0.378], 0.298),
    ("Claude 4.5 Sonnet", [0.395, 0.361, 0.354, 0.389, 0.127, 0.257, 0.535, 0.451], 0.333),
    ("Gemini 2.5 Flash", [0.454, 0.397, 0.409, 0.357, 0.211, 0.412, 0.530, 0.474], 0.388),
    ("GPT-5 Mini", [0.481, 0.238, 0.462, 0.392, 0.199, 0.360, 0.652, 0.633], 0.395),
    ("Grok 4 (0709)", [0.465, 0.387, 0.408, 0.415, 0.177, 0.390, 0.664, 0.638], 0.411),
    ("Gemini 2.5 Pro", [0.501, 0.449, 0.433, 0.464, 0.249, 0.424, 0.520, 0.438], 0.423),
    ("GPT-5", [0.627, 0.264, 0.583, 0.502, 0.290, 0.453, 0.671, 0.657], 0.482),
];

/// Table 2 as CSV, in another order, with or without the printed average.
pub(crate) fn table_2(folder: &Folder, has_average: bool) -> std::path::PathBuf {
    let mut csv = "Model,Recall,Precision,Argument Similarity,Step Coherence,Order Consistency,Merge Purity,\
        Task Completion,Information Grounding"
        .to_owned();
    csv += if has_average { ",Average Score\n" } else { "\n" };
    let (even, odd): (Vec<_>, Vec<_>) = TABLE_2.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    for (_, (model, metrics, average)) in even.into_iter().chain(odd) {
        let numbers = metrics.iter().chain(Some(average).filter(|_| has_average));
        let metrics: Vec<String> = numbers.map(ToString::to_string).collect();
        csv.extend([model, ",", &metrics.join(","), "\n"]);
    }
    folder.write("table2.csv", csv)
}

#[test]
fn the_table_of_the_paper_gives_its_order_and_averages() {
    let folder = Folder::new();
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(table_2(&folder, true)));
    let models = board["models"].as_array().unwrap();
    assert_eq!(models.len(), 14);
    for (place, (found, (model, _, average))) in models.iter().zip(TABLE_2.iter().rev()).enumerate() {
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
    let expected = TABLE_2.iter().rev().filter(|(model, ..)| *model != "Gemini 2.5 Flash Lite");
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
