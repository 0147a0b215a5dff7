//! A panel's grades as tables: measures with intervals, judges and their agreement, comparison with people, missing
//! answers.

use std::collections::BTreeMap;

use m3_judge::grade::{GradeReport, MeasureReport, MissingGrade, PeopleReport, RateReport};
use m3_llm::ModelName;
use m3_report::Sheet;
use m3_support::text::{counted, on_one_line, shortened};

use crate::report::Table;

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

fn interval(low: Option<f64>, high: Option<f64>) -> String {
    low.zip(high).map_or_else(|| "-".to_owned(), |(low, high)| format!("{low:.3} to {high:.3}"))
}

fn rate(rate: Option<RateReport>) -> String {
    let in_words = |rate: RateReport| format!("{:.3} ({:.3} to {:.3})", rate.value, rate.low, rate.high);
    rate.map_or_else(|| "-".to_owned(), in_words)
}

/// A measure in words, without the rubric's name in front, because the tables begin with it.
fn words(report: &GradeReport, name: &str) -> String {
    let words = name.replace('_', " ");
    let rubric = report.rubric.replace('-', " ") + " ";
    words.strip_prefix(&rubric).map_or_else(|| words.clone(), str::to_owned)
}

/// A table of measures, each with its name.
fn measure_table<'r>(
    report: &GradeReport,
    head: &str,
    measures: impl IntoIterator<Item = (String, &'r MeasureReport)>,
) -> Table<(String, &'r MeasureReport)> {
    let table = Table::new(measures)
        .text(head, |(name, _)| name.clone())
        .value("mean", "mean", |(_, of)| of.mean)
        .number("interval", "interval", |(_, of)| interval(of.low, of.high))
        .number("tasks", "tasks", |(_, of)| of.tasks.to_string())
        .number("missing", "missing", |(_, of)| of.missing.to_string());
    if report.ledger.missing.is_empty() {
        return table;
    }
    // If no task is absent, both means are the same.
    let with_absent = |(_, of): &(String, &MeasureReport)| of.mean_with_absent_as_zero.or(of.mean);
    table.value("mean with absent tasks as 0", "absent as 0", with_absent).number(
        "tasks without a prediction",
        "absent",
        |(_, of)| of.absent.to_string(),
    )
}

fn measures(report: &GradeReport) -> Sheet {
    let mut notes = vec![format!(
        "Rubric {}, {}, {} each",
        report.rubric,
        counted(report.judges.len(), "judge"),
        counted(report.passes, "answer")
    )];
    notes.extend(report.notes.iter().cloned());
    let measures = report.measures.iter().map(|(name, measure)| (words(report, name), measure));
    measure_table(report, "measure", measures).sheet("Grades", notes)
}

fn types(report: &GradeReport) -> Sheet {
    let measures = report.by_type.iter().flat_map(|(name, measures)| {
        measures.iter().map(move |(measure, of)| (format!("{name}: {}", words(report, measure)), of))
    });
    measure_table(report, "type and measure", measures).sheet("Grades by type of task", Vec::new())
}

fn judges(report: &GradeReport) -> Sheet {
    // A judge without grades has a row too.
    let rows = report.judges.iter().flat_map(|judge| {
        let measures = judge.measures.iter().map(|(name, of)| Some((name, of)));
        let none = judge.measures.is_empty().then_some(None);
        measures.chain(none).map(move |measure| (judge, measure))
    });
    // The number of the judge's missing answers for a measure.
    let missing = |judge: &str, measure: &str| {
        let is_of = |of: &&MissingGrade| of.judge == judge && measure.starts_with(of.aspect.main());
        report.missing.iter().filter(is_of).count()
    };
    Table::new(rows)
        .text("judge", |(judge, _)| short_name(report, &judge.judge))
        .text("measure", |(_, of)| of.map_or_else(|| "-".to_owned(), |(name, _)| words(report, name)))
        .value("mean", "mean", |(_, of)| of.map(|(_, of)| of.mean))
        .value("standard deviation", "dev.", |(_, of)| of.and_then(|(_, of)| of.deviation))
        .number("tasks", "tasks", |(_, of)| of.map_or(0, |(_, of)| of.tasks).to_string())
        .number("missing answers", "missing", |(judge, of)| {
            of.map_or(judge.missing, |(name, _)| missing(&judge.judge, name)).to_string()
        })
        .text("images", |(judge, _)| if judge.sees_images { "yes" } else { "no" }.to_owned())
        .sheet("Judges", Vec::new())
}

fn agreement(report: &GradeReport) -> Sheet {
    let mut notes = vec![format!("Fleiss' kappa is of passes, which begin at {}", report.pass_mark)];
    for of in report.agreement.iter().filter(|of| !of.left_out.is_empty()) {
        let judges: Vec<String> = of.left_out.iter().map(|judge| short_name(report, judge)).collect();
        notes.push(format!(
            "{}: without {}, which graded nothing",
            words(report, &of.measure),
            listed(&judges)
        ));
    }
    Table::new(report.agreement.iter().filter(|of| !of.pairs.is_empty()))
        .text("measure", |of| words(report, &of.measure))
        .value("Krippendorff's alpha", "alpha", |of| of.krippendorff_alpha)
        .value("Fleiss' kappa", "Fleiss", |of| of.fleiss_kappa)
        .number("tasks graded by all", "tasks", |of| of.graded_by_all.to_string())
        .sheet("How far judges agree", notes)
}

fn pairs(report: &GradeReport) -> Sheet {
    let note = "Cohen's kappa of passes, and of scores in tenths with quadratic weights";
    Table::new(report.agreement.iter().flat_map(|of| of.pairs.iter().map(move |pair| (of, pair))))
        .text("measure", |(of, _)| words(report, &of.measure))
        .text("judge", |(_, pair)| short_name(report, &pair.first))
        .text("other", |(_, pair)| short_name(report, &pair.second))
        .value("agreement", "agree", |(_, pair)| pair.agreement)
        .value("Cohen's kappa", "kappa", |(_, pair)| pair.cohen_kappa)
        .value("weighted kappa", "weighted", |(_, pair)| pair.weighted_kappa)
        .sheet("Judges two by two", vec![note.to_owned()])
}

fn without_judge(report: &GradeReport) -> Sheet {
    Table::new(&report.without_judge)
        .text("measure", |of| words(report, &of.measure))
        .text("left out", |of| short_name(report, &of.judge))
        .value("mean", "mean", |of| Some(of.mean))
        .number("change", "change", |of| format!("{:+.3}", of.change))
        .sheet("Without one judge", Vec::new())
}

fn consistency(report: &GradeReport) -> Sheet {
    Table::new(&report.consistency)
        .text("measure", |of| words(report, &of.measure))
        .text("judge", |of| short_name(report, &of.judge))
        .value("deviation within a task", "dev.", |of| Some(of.deviation))
        .number("all answers the same", "same", |of| format!("{:.1} %", 100.0 * of.same))
        .number("tasks", "tasks", |of| of.tasks.to_string())
        .sheet("Judges asked again", Vec::new())
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
    Table::new(&people.raters)
        .text("rater", |rater| short_name(report, &rater.rater))
        .value("agreement", "agree", |rater| rater.agreement)
        .value("Cohen's kappa", "kappa", |rater| rater.cohen_kappa)
        .value("sensitivity", "sens.", |rater| rater.sensitivity)
        .value("specificity", "spec.", |rater| rater.specificity)
        .number("passed", "passed", |rater| rate(rater.rate))
        .number("passed, corrected", "corrected", |rater| rate(rater.corrected_rate))
        .sheet("Judges beside people", notes)
}

fn listed(ids: &[String]) -> String {
    let shown: Vec<String> = ids.iter().take(5).map(|id| shortened(id, 40)).collect();
    let more = ids.len().saturating_sub(shown.len());
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn missing(report: &GradeReport) -> Sheet {
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
    Table::new(report.missing.iter().take(MISSING_SHOWN))
        .text("task", |of| of.id.clone())
        .text("judge", |of| short_name(report, &of.judge))
        .text("asked", |of| words(report, of.aspect.main()))
        .sheet("Missing answers", notes)
}
