//! The tables of suites.

use m3_support::text::shortened;

use super::sheet::{Cell, Column, Sheet};
use super::{OWN_SUITE, ScoreSummary, SuiteGroupReport, SuiteMetricReport, SuiteReport};

/// The widest name of a group, in columns.
const NAME: usize = 48;

/// The most columns of values in a table of groups: a short name and as many fit into 80 columns.
const COLUMNS: usize = 4;

/// The most groups in a table: a benchmark may have hundreds of tools.
const GROUPS: usize = 20;

/// The tables of all suites.
pub(crate) fn suite_sheets(summary: &ScoreSummary) -> Vec<Sheet> {
    // M3-Bench has its own place in every form.
    let others = summary.suites.0.iter().filter(|(name, _)| name != OWN_SUITE);
    others.flat_map(|(name, suite)| sheets(name, suite)).collect()
}

fn sheets(name: &str, suite: &SuiteReport) -> Vec<Sheet> {
    let row = |(metric, value): &(String, Option<f64>)| {
        vec![Cell::new(metric.replace('_', " ")), Cell::new(shown(&suite.metrics, metric, *value))]
    };
    let whole = Sheet {
        title: format!("{} ({name})", suite.title),
        notes: suite.notes.clone(),
        columns: vec![Column::text("metric"), Column::number("value", "value")],
        rows: suite.aggregate.0.iter().map(row).collect(),
    };
    let groups = suite.groups.chunk_by(|a, b| a.by == b.by).filter(|groups| groups.len() > 1);
    std::iter::once(whole).chain(groups.map(|groups| groups_sheet(name, suite, groups))).collect()
}

fn groups_sheet(name: &str, suite: &SuiteReport, groups: &[SuiteGroupReport]) -> Sheet {
    let by = groups.first().map_or("", |group| &group.by);
    let mut metrics: Vec<&str> = Vec::new();
    for (metric, _) in groups.iter().flat_map(|group| &group.values.0) {
        if !metrics.contains(&metric.as_str()) && metrics.len() < COLUMNS {
            metrics.push(metric);
        }
    }
    let row = |group: &SuiteGroupReport| {
        let values = metrics.iter().map(|metric| {
            let value = group.values.get(metric).copied().flatten();
            Cell::new(shown(&suite.metrics, metric, value))
        });
        let first = [Cell::new(shortened(&group.name, NAME)), Cell::new(group.tasks.to_string())];
        first.into_iter().chain(values).collect()
    };
    let numbers = ["tasks"].into_iter().chain(metrics.iter().copied());
    let numbers = numbers.map(|metric| Column::number(metric, &metric.replace('_', " ")));
    let shown_groups = largest(groups);
    let (some, all) = (shown_groups.len(), groups.len());
    let notes = (some < all)
        .then(|| format!("the {some} of {all} with the most tasks; --format json has all"))
        .into_iter()
        .collect();
    Sheet {
        title: format!("{name}, by {by}"),
        notes,
        columns: std::iter::once(Column::text(by)).chain(numbers).collect(),
        rows: shown_groups.into_iter().map(row).collect(),
    }
}

/// The groups that a table shows, in their order: of too many, those with the most tasks, and of equals the first.
fn largest(groups: &[SuiteGroupReport]) -> Vec<&SuiteGroupReport> {
    let mut places: Vec<usize> = (0..groups.len()).collect();
    places.sort_by_key(|at| std::cmp::Reverse(groups[*at].tasks));
    places.truncate(GROUPS);
    places.sort_unstable();
    places.into_iter().map(|at| &groups[at]).collect()
}

/// A value in the digits of its unit; `-` where it is not defined.
pub(crate) fn shown(metrics: &[SuiteMetricReport], name: &str, value: Option<f64>) -> String {
    let is_of =
        |metric: &str| name.strip_prefix(metric).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    let known = metrics.iter().filter(|metric| is_of(&metric.name)).max_by_key(|metric| metric.name.len());
    match (value, known.map(|metric| metric.unit.as_str())) {
        (None, _) => "-".to_owned(),
        (Some(value), Some("percent")) => format!("{value:.2}"),
        (Some(value), Some("count")) => format!("{value:.0}"),
        (Some(value), _) => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Named;
    use super::*;

    #[test]
    fn a_table_of_many_groups_has_those_with_the_most_tasks() {
        let group = |number: usize| SuiteGroupReport {
            by: "tool".to_owned(),
            name: number.to_string(),
            tasks: if number == 30 { 9 } else { 1 },
            values: Named::default(),
        };
        let groups: Vec<SuiteGroupReport> = (0..31).map(group).collect();
        let names: Vec<usize> = largest(&groups).iter().map(|group| group.name.parse().unwrap()).collect();
        assert_eq!(names, (0..19).chain([30]).collect::<Vec<_>>());
    }
}
