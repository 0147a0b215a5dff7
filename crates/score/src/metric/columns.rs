//! What the columns of a row are asked for by.

use super::{Averaged, Metric, Noted, ROWS, Row, Source, Sum, count_graded};

impl Metric {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// How many come from grades.
    pub const GRADED: usize = count_graded();

    /// Those that come from grades.
    pub fn of_grades() -> impl Iterator<Item = Metric> {
        Self::ALL.into_iter().filter(|metric| metric.is_graded())
    }

    /// Those that a score has: all but those that come from grades.
    pub fn of_scores() -> impl Iterator<Item = Metric> {
        Self::ALL.into_iter().filter(|metric| !metric.is_graded())
    }

    /// The columns of a leaderboard in their order, the average last.
    #[must_use]
    pub fn of_leaderboards() -> Vec<Metric> {
        let mut columns: Vec<Metric> =
            Self::ALL.into_iter().filter(|metric| metric.is_in_leaderboards()).collect();
        columns.sort_by_key(|metric| metric.row().column);
        columns
    }

    /// The metric of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Its place in [`Metric::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name in options, and the key in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// One sentence on what it is.
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

    /// The name in the filters of the audit's page: one word.
    #[must_use]
    pub fn filter(self) -> &'static str {
        self.row().filter
    }

    /// Whether narrow tables have a column for it.
    #[must_use]
    pub fn is_in_tables(self) -> bool {
        self.row().is_in_tables
    }

    /// Whether leaderboards have a column for it.
    #[must_use]
    pub fn is_in_leaderboards(self) -> bool {
        self.row().column.is_some()
    }

    /// Whether it has a part in the average.
    #[must_use]
    pub fn averaged(self) -> Averaged {
        self.row().averaged
    }

    /// Whether it comes from grades.
    #[must_use]
    pub fn is_graded(self) -> bool {
        matches!(self.row().source, Source::Grades)
    }

    /// Whether it stands beside the metrics of the paper, without a part in their average.
    #[must_use]
    pub fn is_beside(self) -> bool {
        self.sum().is_some() && self.row().averaged == Averaged::Never
    }

    /// What is added up for it over trajectories; none of the average, and of what comes from grades.
    #[must_use]
    pub fn sum(self) -> Option<Sum> {
        match self.row().source {
            Source::Alignment(sum, _) => Some(sum),
            Source::Grades | Source::Average => None,
        }
    }

    /// What the table of a score says beside the value; none if it has no line for it.
    #[must_use]
    pub fn note(self, set: &Noted<'_>) -> Option<String> {
        (self.row().note)(set)
    }

    pub(crate) fn source(self) -> &'static Source {
        &self.row().source
    }

    fn row(self) -> &'static Row {
        &ROWS[self.index()]
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
                row.name == other.name
                    || row.filter == other.filter
                    || (row.column.is_some() && row.column == other.column)
            };
            assert_eq!(Metric::ALL.iter().filter(is_same).count(), 1, "{metric:?}");
        }
    }

    /// M³-Bench, section 4.3: the average is of six.
    #[test]
    fn six_metrics_are_in_every_average() {
        let always = Metric::ALL.into_iter().filter(|metric| metric.averaged() == Averaged::Always);
        assert_eq!(always.count(), 6);
        assert_eq!(Metric::of_leaderboards().last(), Some(&Metric::Average));
    }
}
