//! Repetitions of the same tasks, added up.

use std::collections::HashSet;

use super::Ledger;
use super::scored::Summary;

impl Summary {
    /// Adds the summary of a further repetition, with the number `repeat`, against the same references: numbers are
    /// added up, and lists name each id once.
    pub fn add_repetition(&mut self, other: Summary, repeat: usize) {
        let Summary { ledger, aggregate, by_type, findings, by_tool, survey } = other;
        self.survey.add_repetition(survey);
        self.ledger.add_repetition(ledger);
        self.aggregate += aggregate;
        for (name, sums) in by_type {
            *self.by_type.entry(name).or_default() += sums;
        }
        self.findings.add_repetition(findings, repeat);
        self.by_tool.add_repetition(by_tool);
    }
}

impl Ledger {
    fn add_repetition(&mut self, mut other: Ledger) {
        // The references are the same ones, so their number is not added.
        self.predictions += other.predictions;
        self.malformed_calls += other.malformed_calls;
        self.scored += other.scored;
        for (class, count) in std::mem::take(&mut other.failures) {
            *self.failures.entry(class).or_default() += count;
        }
        for (mine, others) in self.lists().into_iter().zip(other.lists()) {
            let known: HashSet<String> = mine.iter().cloned().collect();
            mine.extend(others.drain(..).filter(|id| !known.contains(id)));
        }
    }

    /// The lists of ids.
    fn lists(&mut self) -> [&mut Vec<String>; 7] {
        // Named without `..`, so that a new member is not forgotten here or above.
        let Self {
            references: _,
            predictions: _,
            scored: _,
            malformed_calls: _,
            failures: _,
            missing,
            extra,
            duplicate,
            empty,
            errored,
            unfinished,
            too_large,
        } = self;
        [missing, extra, duplicate, empty, errored, unfinished, too_large]
    }
}
