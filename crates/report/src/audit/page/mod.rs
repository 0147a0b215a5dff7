//! An audit as a page: a single file that loads nothing else and runs no script but its own.
//!
//! The templates beside this file are checked and escaped when they are compiled (`askama`); `page.css` and `page.js`
//! are copied into the page unchanged, and its content security policy names their hashes. Each trajectory is in an
//! inert `<template>` until it is chosen.

mod arguments;
mod detail;
mod overview;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::LazyLock;

use askama::Template;
use detail::Detail;
use m3_score::Metric;
use m3_support::pages::{BASE_STYLE, source_of};
use overview::OverviewView;

use super::text::passage;
use super::{Overview, Picture, TrajectoryAudit};
use crate::{AggregateReport, ScoreSummary};

static STYLE: LazyLock<String> = LazyLock::new(|| [BASE_STYLE, include_str!("page.css")].concat());
const SCRIPT: &str = include_str!("page.js");

/// The most characters of names (ids, tools, types).
const NAME: usize = 200;

/// The interval of each metric of the whole set, if known; each bound in [0, 1].
pub type MetricIntervals = BTreeMap<Metric, (f64, f64)>;

/// Gathers trajectories and writes the page.
#[derive(Debug, Default)]
pub struct AuditPage {
    details: Vec<Detail>,
    intervals: MetricIntervals,
}

/// The whole page.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    policy: String,
    style: &'static str,
    script: &'static str,
    overview: OverviewView,
    details: &'a [Detail],
    /// The types of task, for the filter.
    types: Vec<String>,
    reasons: Vec<&'static str>,
    findings: Vec<&'static str>,
}

impl AuditPage {
    /// A page without trajectories.
    #[must_use]
    pub fn new(intervals: MetricIntervals) -> Self {
        Self { details: Vec::new(), intervals }
    }

    /// Adds a trajectory. `picture` is its image, or why it is not shown, if it has one.
    pub fn add(&mut self, audit: &TrajectoryAudit, picture: Option<Picture>) {
        self.details.push(Detail::new(audit, picture));
    }

    /// The number of trajectories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.details.len()
    }

    /// True without trajectories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.details.is_empty()
    }

    /// The addresses of its trajectories.
    fn links(&self) -> BTreeSet<&str> {
        self.details.iter().map(|detail| detail.fragment.as_str()).collect()
    }

    /// Writes the page.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn write(
        &self,
        summary: &ScoreSummary,
        overview: &Overview,
        mut writer: impl Write,
    ) -> io::Result<()> {
        let mut types: Vec<String> = self.details.iter().map(|detail| detail.task_type.clone()).collect();
        let mut reasons: Vec<&'static str> =
            self.details.iter().flat_map(|detail| detail.reasons.clone()).collect();
        let is_found =
            |finding: &&'static str| self.details.iter().any(|detail| detail.findings.contains(finding));
        types.sort();
        types.dedup();
        types.retain(|name| !name.is_empty());
        reasons.sort_unstable();
        reasons.dedup();
        let page = Page {
            policy: policy(),
            style: &STYLE,
            script: SCRIPT,
            overview: OverviewView::new(summary, overview, &self.intervals, &self.links()),
            details: &self.details,
            types,
            reasons,
            findings: arguments::FINDINGS.into_iter().filter(is_found).collect(),
        };
        page.write_into(&mut writer)?;
        writer.flush()
    }
}

/// Allows only the page's own style and script, and images inside the page; nothing else.
fn policy() -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; \
         form-action 'none'",
        source_of(SCRIPT),
        source_of(&STYLE)
    )
}

/// A metric in the page's view.
#[derive(Debug, Clone, PartialEq)]
struct MetricView {
    label: &'static str,
    /// Its name in the attributes and filters of the list.
    key: &'static str,
    /// Its value with four digits.
    value: String,
    /// The length of its bar, in per cent.
    percent: String,
    interval: Option<String>,
}

/// The average, then the metrics that tables show.
fn metrics(report: &AggregateReport, intervals: &MetricIntervals) -> Vec<MetricView> {
    let view = |metric: Metric| {
        let value = report.metrics[metric];
        MetricView {
            label: metric.label(),
            key: metric.filter(),
            value: format!("{value:.4}"),
            percent: format!("{:.1}", 100.0 * value),
            interval: intervals.get(&metric).map(|(low, high)| format!("{low:.4} to {high:.4}")),
        }
    };
    let others = Metric::of_scores().filter(|metric| metric.is_in_tables() && *metric != Metric::Average);
    [Metric::Average].into_iter().chain(others).map(view).collect()
}

/// A name from others: made safe to show, and cut if it is long.
fn name(text: &str) -> String {
    passage(text, NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An end tag inside a style or script would end it early, and its hash would no longer match.
    #[test]
    fn style_and_script_hold_no_end_tag() {
        for text in [STYLE.as_str(), SCRIPT] {
            assert!(!text.contains("</") && !text.contains("<!--") && !text.contains('\r'));
        }
    }

    #[test]
    fn the_policy_allows_nothing_from_elsewhere() {
        let policy = policy();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"));
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'));
    }
}
