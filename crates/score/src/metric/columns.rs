//! Access to the registry: the facts about each metric, and lists of metrics.

use super::{Metric, NoteContext, PartOfAverages, ROWS, Row, Source, Sum};

impl Metric {
    /// The number of metrics.
    pub const COUNT: usize = Self::ALL.len();

    /// The number of metrics that come from grades.
    pub const GRADED: usize = count(Self::COUNT, true);

    /// The number of metrics that may be unknown.
    pub const MEANS: usize = count(Self::COUNT, false);

    /// The metrics that come from grades.
    pub fn of_grades() -> impl Iterator<Item = Metric> {
        Self::ALL.into_iter().filter(|metric| metric.is_graded())
    }

    /// The metrics that a score contains: all but those that come from grades.
    pub fn of_scores() -> impl Iterator<Item = Metric> {
        Self::ALL.into_iter().filter(|metric| !metric.is_graded())
    }

    /// The metrics that may be unknown.
    pub fn of_means() -> impl Iterator<Item = Metric> {
        Self::ALL.into_iter().filter(|metric| metric.may_be_unknown())
    }

    /// The metrics with a column in leaderboards, in their order, the average last.
    #[must_use]
    pub fn of_leaderboards() -> Vec<Metric> {
        let mut columns: Vec<Metric> =
            Self::ALL.into_iter().filter(|metric| metric.is_in_leaderboards()).collect();
        columns.sort_by_key(|metric| metric.row().column);
        columns
    }

    /// The metric with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// The place of the metric in [`Metric::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name in options, and the key in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The meaning of the metric in one sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// The name in a list.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// The name above a column: nine of them and a name fit into 80 characters.
    #[must_use]
    pub fn heading(self) -> &'static str {
        self.row().heading
    }

    /// Whether narrow tables have a column for the metric.
    #[must_use]
    pub fn is_in_tables(self) -> bool {
        self.row().is_in_tables
    }

    /// Whether leaderboards have a column for the metric.
    #[must_use]
    pub fn is_in_leaderboards(self) -> bool {
        self.row().column.is_some()
    }

    /// The averages that the metric is part of.
    #[must_use]
    pub fn averaged(self) -> PartOfAverages {
        self.row().averaged
    }

    /// Whether the metric comes from grades.
    #[must_use]
    pub fn is_graded(self) -> bool {
        matches!(self.row().source, Source::Grades)
    }

    /// Whether the metric is reported beside the paper's metrics and not part of their average.
    #[must_use]
    pub fn is_beside(self) -> bool {
        self.sum().is_some() && self.row().averaged == PartOfAverages::Never
    }

    /// Whether the metric may be unknown for a set: it is a mean, and there may be nothing to take the mean of.
    #[must_use]
    pub fn may_be_unknown(self) -> bool {
        self.row().is_mean()
    }

    /// The place of the metric among those that may be unknown; `None` for others.
    #[must_use]
    pub fn mean_index(self) -> Option<usize> {
        self.may_be_unknown().then(|| count(self.index(), false))
    }

    /// The sum over trajectories behind the metric; `None` for the average and for metrics that come from grades.
    #[must_use]
    pub fn sum(self) -> Option<Sum> {
        match self.row().source {
            Source::Alignment(sum, _) => Some(sum),
            Source::Grades | Source::Average => None,
        }
    }

    /// The note beside the metric's value in the table of a score; `None` if the metric has no line there.
    #[must_use]
    pub fn note(self, set: &NoteContext<'_>) -> Option<String> {
        (self.row().note)(set)
    }

    pub(crate) fn source(self) -> &'static Source {
        &self.row().source
    }

    fn row(self) -> &'static Row {
        &ROWS[self.index()]
    }
}

/// The number of metrics before this place that come from grades, or else that are means of their own counts.
const fn count(end: usize, of_grades: bool) -> usize {
    let (mut index, mut count) = (0, 0);
    while index < end {
        let row = &ROWS[index];
        let is_graded = matches!(row.source, Source::Grades);
        count += (if of_grades { is_graded } else { row.is_mean() }) as usize;
        index += 1;
    }
    count
}

impl Row {
    const fn is_mean(&self) -> bool {
        matches!(self.source, Source::Alignment(sum, _) if sum.is_of_mean())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_columns_are_unique() {
        for (index, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric.index(), index);
            let is_same = |other: &&Metric| {
                let (row, other) = (metric.row(), other.row());
                row.name == other.name || (row.column.is_some() && row.column == other.column)
            };
            assert_eq!(Metric::ALL.iter().filter(is_same).count(), 1, "{metric:?}");
        }
    }

    /// M³-Bench, section 4.3: the average is taken over six metrics.
    #[test]
    fn six_metrics_are_in_every_average() {
        let always = Metric::ALL.into_iter().filter(|metric| metric.averaged() == PartOfAverages::Always);
        assert_eq!(always.count(), 6);
        assert_eq!(Metric::of_leaderboards().last(), Some(&Metric::Average));
    }
}
