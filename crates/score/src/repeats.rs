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
    fn add_repetition(&mut self, other: Ledger) {
        // The references are the same ones, so their number is not added.
        let Ledger {
            references: _,
            predictions,
            scored,
            missing,
            extra,
            duplicate,
            empty,
            errored,
            unfinished,
            too_large,
            malformed_calls,
            failures,
        } = other;
        self.predictions += predictions;
        self.malformed_calls += malformed_calls;
        self.scored += scored;
        for (class, count) in failures {
            *self.failures.entry(class).or_default() += count;
        }
        for (mine, others) in [
            (&mut self.missing, missing),
            (&mut self.extra, extra),
            (&mut self.duplicate, duplicate),
            (&mut self.empty, empty),
            (&mut self.errored, errored),
            (&mut self.unfinished, unfinished),
            (&mut self.too_large, too_large),
        ] {
            let known: HashSet<String> = mine.iter().cloned().collect();
            mine.extend(others.into_iter().filter(|id| !known.contains(id)));
        }
    }
}
