//! Counts of outcomes, and the three rates of MCP-Bench, section 5.1.

use super::check::ClassifiedCall;
use super::outcome::{Confidence, NotJudged, Outcome, Verdict};

/// Counts over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// All calls.
    pub calls: u64,
    /// Calls by outcome, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; 5],
    /// Calls without an outcome by reason, in the order of [`NotJudged::ALL`].
    pub not_judged: [u64; NotJudged::ALL.len()],
    /// Calls whose answer was used.
    pub answered: u64,
    /// Calls that fit their schema, or could not be checked, and were not executed: neither success nor failure.
    pub not_executed: u64,
    /// Calls whose answer was decided by a rule that is not sure.
    pub unsure: u64,
    names_known: u64,
    known: u64,
    /// Calls of known tools whose arguments were checked.
    checked: u64,
    fitting: u64,
}

/// A share of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The numerator.
    pub count: u64,
    /// The denominator.
    pub of: u64,
}

impl Rate {
    /// The share, in [0, 1]; `None` if the denominator is 0.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}

impl CallCounts {
    /// Counts one call.
    pub fn add(&mut self, call: &ClassifiedCall) {
        let classification = &call.classification;
        self.calls += 1;
        match classification.verdict() {
            Verdict::Outcome(outcome) => self.outcomes[outcome.index()] += 1,
            Verdict::NotExecuted => self.not_executed += 1,
            Verdict::NotJudged(why) => self.not_judged[why.index()] += 1,
        }
        self.answered += u64::from(classification.has_answer);
        self.unsure +=
            u64::from(classification.has_answer && classification.rule.confidence == Confidence::Unsure);
        self.names_known += u64::from(classification.is_known_tool.is_some());
        self.known += u64::from(classification.is_known_tool == Some(true));
        self.checked += u64::from(classification.fits_schema.is_some());
        self.fitting += u64::from(classification.fits_schema == Some(true));
    }

    /// Counts the calls of a trajectory.
    #[must_use]
    pub fn from_calls(calls: &[ClassifiedCall]) -> Self {
        let mut tally = Self::default();
        for call in calls {
            tally.add(call);
        }
        tally
    }

    /// Calls with an outcome. Together with those not executed and those not judged they are all calls.
    #[must_use]
    pub fn with_outcome(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// Calls without an outcome, for any reason of [`NotJudged`].
    #[must_use]
    pub fn unanswered(&self) -> u64 {
        self.not_judged.iter().sum()
    }

    /// Calls with this outcome.
    #[must_use]
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome.index()]
    }

    /// Calls without an outcome for this reason.
    #[must_use]
    pub fn without_outcome(&self, why: NotJudged) -> u64 {
        self.not_judged[why.index()]
    }

    /// Tool name validity, `|valid tool| / |E|`: calls of known tools among all whose tool could be judged.
    #[must_use]
    pub fn tool_name_validity(&self) -> Rate {
        Rate { count: self.known, of: self.names_known }
    }

    /// Schema compliance, `|valid tool and valid schema| / |valid tool|`, without calls whose arguments could not be checked.
    #[must_use]
    pub fn schema_compliance(&self) -> Rate {
        Rate { count: self.fitting, of: self.checked }
    }

    /// Execution success, `|success| / |E|`: calls that gave a normal result among all calls with an outcome. `None` if
    /// some calls were not executed.
    #[must_use]
    pub fn execution_success(&self) -> Option<Rate> {
        (self.not_executed == 0)
            .then(|| Rate { count: self.outcome(Outcome::Success), of: self.with_outcome() })
    }
}

impl std::ops::AddAssign for CallCounts {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        for (mine, others) in self.outcomes.iter_mut().zip(other.outcomes) {
            *mine += others;
        }
        for (mine, others) in self.not_judged.iter_mut().zip(other.not_judged) {
            *mine += others;
        }
        self.answered += other.answered;
        self.not_executed += other.not_executed;
        self.unsure += other.unsure;
        self.names_known += other.names_known;
        self.known += other.known;
        self.checked += other.checked;
        self.fitting += other.fitting;
    }
}
