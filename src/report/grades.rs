//! A panel's grades as tables: measures with intervals, judges and their agreement, comparison with people, missing
//! answers.

use std::collections::BTreeMap;

use m3_judge::grade::{GradeReport, MeasureReport, MissingGrade, PeopleReport, RateReport};
use m3_llm::ModelName;
use m3_report::{Cell, Column, Sheet};
use m3_support::text::{counted, on_one_line, shortened};

/// The most missing answers that are listed one by one in a table; all of them are in the JSON.
const MISSING_SHOWN: usize = 20;

/// The most reasons for missing answers that are given below the table's title.
const REASONS_SHOWN: usize = 8;

/// The tables of a report. With `has_types`, also the measures by type of task.
pub(crate) fn grade_sheets(report: &GradeReport, has_types: bool) -> Vec<Sheet> {
    let mut sheets = vec![measures(report)];
    if has_types && !report.by_type.is_empty() {
        sheets.push(types(report));
    }
    sheets.push(judges(report));
    sheets.extend([agreement(report), pairs(report), without_judge(report), consistency(report)]);
    sheets.extend(report.people.iter().map(|of| people(report, of)));
    sheets.push(missing(report));
    sheets.retain(|sheet| !sheet.rows.is_empty());
    sheets
}

/// The judge's name in tables: without the wire and the address, if the rest distinguishes all judges.
fn short_name(report: &GradeReport, judge: &str) -> String {
    let model = |name: &str| ModelName::parse(name).map_or_else(|_| name.to_owned(), |name| name.model);
    let short = model(judge);
    let alike = report.judges.iter().filter(|other| model(&other.judge) == short).count();
    if alike > 1 { judge.to_owned() } else { short }
}

fn interval(low: Option<f64>, high: Option<f64>) -> Cell {
    Cell::new(match (low, high) {
        (Some(low), Some(high)) => format!("{low:.3} to {high:.3}"),
        _ => "-".to_owned(),
    })
}

fn rate(rate: Option<RateReport>) -> Cell {
    Cell::new(rate.map_or_else(
        || "-".to_owned(),
        |rate| format!("{:.3} ({:.3} to {:.3})", rate.value, rate.low, rate.high),
    ))
}

/// A measure in words, without the rubric's name in front, because the tables begin with it.
fn words(report: &GradeReport, name: &str) -> String {
    let words = name.replace('_', " ");
    let rubric = report.rubric.replace('-', " ") + " ";
    words.strip_prefix(&rubric).map_or_else(|| words.clone(), str::to_owned)
}

fn measure_row(report: &GradeReport, name: String, measure: &MeasureReport) -> Vec<Cell> {
    let mut row = vec![
        Cell::new(name),
        Cell::number(measure.mean),
        interval(measure.low, measure.high),
        Cell::new(measure.tasks.to_string()),
        Cell::new(measure.missing.to_string()),
    ];
    if !report.ledger.missing.is_empty() {
        // If no task is absent, both means are the same.
        row.push(Cell::number(measure.mean_with_absent_as_zero.or(measure.mean)));
        row.push(Cell::new(measure.absent.to_string()));
    }
    row
}

fn measure_columns(report: &GradeReport, head: &str) -> Vec<Column> {
    let mut columns = vec![
        Column::text(head),
        Column::number("mean", "mean"),
        Column::number("interval", "interval"),
        Column::number("tasks", "tasks"),
        Column::number("missing", "missing"),
    ];
    if !report.ledger.missing.is_empty() {
        columns.push(Column::number("mean with absent tasks as 0", "absent as 0"));
        columns.push(Column::number("tasks without a prediction", "absent"));
    }
    columns
}

fn measures(report: &GradeReport) -> Sheet {
    let mut notes = vec![format!(
        "Rubric {}, {}, {} each",
        report.rubric,
        counted(report.judges.len(), "judge"),
        counted(report.passes, "answer")
    )];
    notes.extend(report.notes.iter().cloned());
    Sheet {
        title: "Grades".to_owned(),
        notes,
        columns: measure_columns(report, "measure"),
        rows: report
            .measures
            .iter()
            .map(|(name, measure)| measure_row(report, words(report, name), measure))
            .collect(),
    }
}

fn types(report: &GradeReport) -> Sheet {
    let rows = report.by_type.iter().flat_map(|(name, measures)| {
        measures
            .iter()
            .map(move |(measure, of)| measure_row(report, format!("{name}: {}", words(report, measure)), of))
    });
    Sheet {
        title: "Grades by type of task".to_owned(),
        notes: Vec::new(),
        columns: measure_columns(report, "type and measure"),
        rows: rows.collect(),
    }
}

fn judges(report: &GradeReport) -> Sheet {
    let rows = report.judges.iter().flat_map(|judge| {
        // The number of the judge's missing answers for a measure.
        let missing = |measure: &str| {
            let is_of = |of: &&MissingGrade| of.judge == judge.judge && measure.starts_with(of.aspect.main());
            report.missing.iter().filter(is_of).count()
        };
        let row = |measure: String, mean: Option<f64>, deviation: Option<f64>, (tasks, missing)| {
            let eyes = if judge.sees_images { "yes" } else { "no" };
            vec![
                Cell::new(short_name(report, &judge.judge)),
                Cell::new(measure),
                Cell::number(mean),
                Cell::number(deviation),
                Cell::new(usize::to_string(&tasks)),
                Cell::new(usize::to_string(&missing)),
                Cell::new(eyes),
            ]
        };
        if judge.measures.is_empty() {
            return vec![row("-".to_owned(), None, None, (0, judge.missing))];
        }
        let rows = judge.measures.iter();
        rows.map(|(name, of)| {
            row(words(report, name), Some(of.mean), of.deviation, (of.tasks, missing(name)))
        })
        .collect()
    });
    Sheet {
        title: "Judges".to_owned(),
        notes: Vec::new(),
        columns: vec![
            Column::text("judge"),
            Column::text("measure"),
            Column::number("mean", "mean"),
            Column::number("standard deviation", "dev."),
            Column::number("tasks", "tasks"),
            Column::number("missing answers", "missing"),
            Column::text("images"),
        ],
        rows: rows.collect(),
    }
}

fn agreement(report: &GradeReport) -> Sheet {
    let rows = report.agreement.iter().filter(|of| !of.pairs.is_empty()).map(|of| {
        vec![
            Cell::new(words(report, &of.measure)),
            Cell::number(of.krippendorff_alpha),
            Cell::number(of.fleiss_kappa),
            Cell::new(of.graded_by_all.to_string()),
        ]
    });
    let mut notes = vec![format!("Fleiss' kappa is of passes, which begin at {}", report.pass_mark)];
    for of in report.agreement.iter().filter(|of| !of.left_out.is_empty()) {
        let judges: Vec<String> = of.left_out.iter().map(|judge| short_name(report, judge)).collect();
        notes.push(format!(
            "{}: without {}, which graded nothing",
            words(report, &of.measure),
            listed(&judges)
        ));
    }
    Sheet {
        title: "How far judges agree".to_owned(),
        notes,
        columns: vec![
            Column::text("measure"),
            Column::number("Krippendorff's alpha", "alpha"),
            Column::number("Fleiss' kappa", "Fleiss"),
            Column::number("tasks graded by all", "tasks"),
        ],
        rows: rows.collect(),
    }
}

fn pairs(report: &GradeReport) -> Sheet {
    let rows = report.agreement.iter().flat_map(|of| {
        of.pairs.iter().map(|pair| {
            vec![
                Cell::new(words(report, &of.measure)),
                Cell::new(short_name(report, &pair.first)),
                Cell::new(short_name(report, &pair.second)),
                Cell::number(pair.agreement),
                Cell::number(pair.cohen_kappa),
                Cell::number(pair.weighted_kappa),
            ]
        })
    });
    Sheet {
        title: "Judges two by two".to_owned(),
        notes: vec!["Cohen's kappa of passes, and of scores in tenths with quadratic weights".to_owned()],
        columns: vec![
            Column::text("measure"),
            Column::text("judge"),
            Column::text("other"),
            Column::number("agreement", "agree"),
            Column::number("Cohen's kappa", "kappa"),
            Column::number("weighted kappa", "weighted"),
        ],
        rows: rows.collect(),
    }
}

fn without_judge(report: &GradeReport) -> Sheet {
    let rows = report.without_judge.iter().map(|of| {
        vec![
            Cell::new(words(report, &of.measure)),
            Cell::new(short_name(report, &of.judge)),
            Cell::number(Some(of.mean)),
            Cell::new(format!("{:+.3}", of.change)),
        ]
    });
    Sheet {
        title: "Without one judge".to_owned(),
        notes: Vec::new(),
        columns: vec![
            Column::text("measure"),
            Column::text("left out"),
            Column::number("mean", "mean"),
            Column::number("change", "change"),
        ],
        rows: rows.collect(),
    }
}

fn consistency(report: &GradeReport) -> Sheet {
    let rows = report.consistency.iter().map(|of| {
        vec![
            Cell::new(words(report, &of.measure)),
            Cell::new(short_name(report, &of.judge)),
            Cell::number(Some(of.deviation)),
            Cell::new(format!("{:.1} %", 100.0 * of.same)),
            Cell::new(of.tasks.to_string()),
        ]
    });
    Sheet {
        title: "Judges asked again".to_owned(),
        notes: Vec::new(),
        columns: vec![
            Column::text("measure"),
            Column::text("judge"),
            Column::number("deviation within a task", "dev."),
            Column::number("all answers the same", "same"),
            Column::number("tasks", "tasks"),
        ],
        rows: rows.collect(),
    }
}

fn people(report: &GradeReport, people: &PeopleReport) -> Sheet {
    let shown =
        |value: Option<f64>| value.map_or_else(|| "not known".to_owned(), |value| format!("{value:.3}"));
    let mut notes = vec![
        format!(
            "{}, {}; people pass {} of them, and agree with one another by alpha {}",
            words(report, &people.measure),
            counted(people.tasks, "task"),
            shown(people.base_rate),
            shown(people.people_alpha)
        ),
        "Raw agreement is high where almost all tasks pass; kappa is what is left beyond chance".to_owned(),
    ];
    if !people.ties.is_empty() {
        notes.push(format!("Left out, people are even: {}", listed(&people.ties)));
    }
    if !people.unknown.is_empty() {
        notes.push(format!("Labelled, but not among the predictions: {}", listed(&people.unknown)));
    }
    let rows = people.raters.iter().map(|rater| {
        vec![
            Cell::new(short_name(report, &rater.rater)),
            Cell::number(rater.agreement),
            Cell::number(rater.cohen_kappa),
            Cell::number(rater.sensitivity),
            Cell::number(rater.specificity),
            rate(rater.rate),
            rate(rater.corrected_rate),
        ]
    });
    Sheet {
        title: "Judges beside people".to_owned(),
        notes,
        columns: vec![
            Column::text("rater"),
            Column::number("agreement", "agree"),
            Column::number("Cohen's kappa", "kappa"),
            Column::number("sensitivity", "sens."),
            Column::number("specificity", "spec."),
            Column::number("passed", "passed"),
            Column::number("passed, corrected", "corrected"),
        ],
        rows: rows.collect(),
    }
}

fn listed(ids: &[String]) -> String {
    let shown: Vec<String> = ids.iter().take(5).map(|id| shortened(id, 40)).collect();
    let more = ids.len().saturating_sub(shown.len());
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn missing(report: &GradeReport) -> Sheet {
    let row = |of: &MissingGrade| {
        vec![
            Cell::new(&of.id),
            Cell::new(short_name(report, &of.judge)),
            Cell::new(words(report, of.aspect.main())),
        ]
    };
    let more = report.missing.len().saturating_sub(MISSING_SHOWN);
    let mut notes = vec!["No missing answer counts as 0".to_owned()];
    if more > 0 {
        notes.push(format!("and {}, which the JSON lists", counted(more, "more missing answer")));
    }
    // The reasons are given as notes, because a table would cut them.
    let mut reasons: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for of in &report.missing {
        let named = format!("`{}` ", of.judge);
        let reason = of.reason.strip_prefix(named.as_str()).unwrap_or(&of.reason);
        reasons.entry(reason).or_insert((0, &of.id)).0 += 1;
    }
    let all = reasons.len();
    notes.extend(reasons.into_iter().take(REASONS_SHOWN).map(|(reason, (count, first))| {
        let of = if count == 1 {
            shortened(first, 40)
        } else {
            format!("{count}, such as {}", shortened(first, 40))
        };
        format!("{of}: {}", shortened(&on_one_line(reason), 300))
    }));
    if all > REASONS_SHOWN {
        notes.push(format!("and {}, which the JSON lists", counted(all - REASONS_SHOWN, "more reason")));
    }
    Sheet {
        title: "Missing answers".to_owned(),
        notes,
        columns: vec![Column::text("task"), Column::text("judge"), Column::text("asked")],
        rows: report.missing.iter().take(MISSING_SHOWN).map(row).collect(),
    }
}
