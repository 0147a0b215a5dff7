//! Servers that misbehave as often as asked: late answers, failures, crashes, hangs.
//!
//! The fate of a call is drawn from the seed, the call, and how often this instance got the same call before: so a
//! run can be repeated in any order of its parallel calls, and a retry may succeed.

use std::time::Duration;

use super::canonical::CallKey;
use crate::seed::{Seed, Stream};

/// How often a server misbehaves, and how late it answers. A rate is the probability, in [0, 1], for a single call; a
/// call suffers at most one of the three faults, so the rates add up to at most 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    /// The delay before every answer and every crash.
    pub delay: Delay,
    /// The rate of calls that are answered with a failure.
    pub failure_rate: f64,
    /// The rate of calls at which the server dies.
    pub crash_rate: f64,
    /// The rate of calls that are never answered.
    pub hang_rate: f64,
}

/// How late answers are, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Delay {
    /// There is no delay.
    #[default]
    None,
    /// The delay is exponentially distributed with this mean, and limited to ten times the mean.
    Mean(f64),
    /// The delay is evenly distributed between these two values.
    Between(f64, f64),
}

/// A fault of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// A failure, in one of three forms.
    Failure(FailureForm, &'static str),
    /// The server dies.
    Crash,
    /// The call is never answered.
    Hang,
}

/// How a failing tool reports its failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureForm {
    /// By setting `isError`.
    Signalled,
    /// Only in its text.
    Told,
    /// The failure is not reported: the content is empty.
    Silent,
}

/// The longest allowed delay, in seconds; it also limits each single draw.
pub const MAX_DELAY: f64 = 3_600.0;

/// The forms of a failure and their weights: without a network, 38 of 138 tools of the benchmark signalled an error, 74
/// answered with a text that says error, 26 answered with nothing.
const FORMS: [(FailureForm, u64); 3] =
    [(FailureForm::Signalled, 38), (FailureForm::Told, 74), (FailureForm::Silent, 26)];

/// Messages of tools whose service fails; the caller is never at fault.
const TEXTS: [&str; 6] = [
    "Error: request failed with status code 500",
    "Error: HTTP 503 Service Unavailable",
    "Error: connection refused",
    "Error: request timed out after 10 seconds",
    "Error: HTTP 429 Too Many Requests, rate limit exceeded",
    "Error: failed to fetch data from the API",
];

impl Faults {
    /// True if nothing goes wrong; answers may still be late.
    #[must_use]
    pub fn never(&self) -> bool {
        self.failure_rate <= 0.0 && self.crash_rate <= 0.0 && self.hang_rate <= 0.0
    }

    /// Why these rates and delays cannot be used; `None` if they can.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let rates = [
            ("failure_rate", self.failure_rate),
            ("crash_rate", self.crash_rate),
            ("hang_rate", self.hang_rate),
        ];
        for (name, rate) in rates {
            if !(0.0..=1.0).contains(&rate) {
                return Some(format!("`{name}` is {rate}, and should be between 0 and 1"));
            }
        }
        let sum: f64 = rates.iter().map(|(_, rate)| rate).sum();
        // The sum of three rounded numbers may be wrong in its last digit.
        if sum > 1.0 + 1e-9 {
            return Some(format!(
                "the rates of failures, crashes and hangs add up to {sum}, and at most one befalls a call"
            ));
        }
        let (low, high) = match self.delay {
            Delay::None => return None,
            Delay::Mean(mean) => (mean, mean),
            Delay::Between(low, high) => (low, high),
        };
        let is_right = (0.0..=MAX_DELAY).contains(&low) && (low..=MAX_DELAY).contains(&high);
        (!is_right).then(|| {
            format!("`delay` should be seconds between 0 and {MAX_DELAY}, a range with its smaller end first")
        })
    }

    /// The delay of a call, and its fault, if any; `number` is how many equal calls came before.
    pub(super) fn draw(&self, seed: &Seed, call: &CallKey, number: u64) -> (Duration, Option<Fault>) {
        let mut stream = seed.child("fault").child(call.bytes()).child(number.to_le_bytes()).stream();
        // Both are always drawn, in this order, so that one setting does not affect the other.
        let (which, late) = (stream.unit(), stream.unit());
        (self.delay.draw(late), self.fault(which, &mut stream))
    }

    fn fault(&self, which: f64, stream: &mut Stream) -> Option<Fault> {
        if which < self.crash_rate {
            return Some(Fault::Crash);
        }
        if which < self.crash_rate + self.hang_rate {
            return Some(Fault::Hang);
        }
        (which < self.crash_rate + self.hang_rate + self.failure_rate).then(|| {
            let mut ticket = stream.below(FORMS.iter().map(|(_, weight)| weight).sum());
            let form = FORMS.iter().find(|(_, weight)| {
                let is_here = ticket < *weight;
                ticket = ticket.saturating_sub(*weight);
                is_here
            });
            let form = form.map_or(FailureForm::Told, |(form, _)| *form);
            Fault::Failure(form, TEXTS[stream.index(TEXTS.len())])
        })
    }
}

impl Delay {
    /// The delay for a number in [0, 1).
    fn draw(self, late: f64) -> Duration {
        let seconds = match self {
            Self::None => 0.0,
            // The inverse of the exponential distribution function.
            Self::Mean(mean) => (-(-late).ln_1p() * mean).min(10.0 * mean),
            Self::Between(low, high) => low + (high - low) * late,
        };
        // In whole microseconds, because the last digit of logarithms may differ between machines.
        let microseconds = (seconds.clamp(0.0, MAX_DELAY) * 1e6).round();
        Duration::try_from_secs_f64(microseconds / 1e6).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::super::canonical::Defaults;
    use super::*;

    fn draws(faults: Faults, seed: u64, count: u64) -> Vec<(Duration, Option<Fault>)> {
        let call = CallKey::new("s", "t", &Map::new(), &Defaults::default());
        (0..count).map(|number| faults.draw(&Seed::new(seed), &call, number)).collect()
    }

    #[test]
    fn rates_are_what_was_asked_for() {
        let faults = Faults { failure_rate: 0.3, crash_rate: 0.1, hang_rate: 0.05, ..Faults::default() };
        let drawn = draws(faults, 7, 10_000);
        let count =
            |is: fn(&Fault) -> bool| drawn.iter().filter(|(_, fault)| fault.as_ref().is_some_and(is)).count();
        // Binomial with n = 10,000: five standard deviations, sqrt(n p (1 - p)), around n p are
        // 3000 +- 5 * 45.8, 1000 +- 5 * 30.0 and 500 +- 5 * 21.8.
        let failures = count(|fault| matches!(fault, Fault::Failure(..)));
        assert!((2_771..=3_229).contains(&failures), "{failures}");
        let crashes = count(|fault| *fault == Fault::Crash);
        assert!((850..=1_150).contains(&crashes), "{crashes}");
        let hangs = count(|fault| *fault == Fault::Hang);
        assert!((391..=609).contains(&hangs), "{hangs}");
    }

    #[test]
    fn failures_come_in_the_forms_that_were_seen() {
        let drawn = draws(Faults { failure_rate: 1.0, ..Faults::default() }, 7, 13_800);
        let count = |wanted| {
            drawn
                .iter()
                .filter(|(_, fault)| matches!(fault, Some(Fault::Failure(form, _)) if *form == wanted))
                .count()
        };
        // 13,800 times 38, 74 and 26 of 138, with five standard deviations: 3800 +- 5 * 52.5,
        // 7400 +- 5 * 58.6, 2600 +- 5 * 45.9.
        assert!((3_538..=4_062).contains(&count(FailureForm::Signalled)));
        assert!((7_107..=7_693).contains(&count(FailureForm::Told)));
        assert!((2_371..=2_829).contains(&count(FailureForm::Silent)));
    }

    #[test]
    fn rates_of_nothing_and_of_everything_are_exact() {
        assert!(draws(Faults::default(), 1, 1_000).iter().all(|draw| *draw == (Duration::ZERO, None)));
        let crash = Faults { crash_rate: 1.0, ..Faults::default() };
        assert!(draws(crash, 1, 1_000).iter().all(|(_, fault)| *fault == Some(Fault::Crash)));
        let halves = Faults { hang_rate: 0.5, failure_rate: 0.5, ..Faults::default() };
        assert!(draws(halves, 1, 1_000).iter().all(|(_, fault)| fault.is_some()));
    }

    #[test]
    fn draws_repeat_and_depend_on_seed_call_and_number() {
        let faults = Faults { failure_rate: 0.5, delay: Delay::Between(0.0, 1.0), ..Faults::default() };
        assert_eq!(draws(faults, 3, 50), draws(faults, 3, 50));
        assert_ne!(draws(faults, 3, 50), draws(faults, 4, 50));
        let other = CallKey::new("s", "u", &Map::new(), &Defaults::default());
        let others: Vec<_> = (0..50).map(|number| faults.draw(&Seed::new(3), &other, number)).collect();
        assert_ne!(draws(faults, 3, 50), others);
    }

    #[test]
    fn delays_have_their_mean_and_their_range() {
        let mean = |delay| {
            let drawn = draws(Faults { delay, ..Faults::default() }, 5, 10_000);
            drawn.iter().map(|(delay, _)| delay.as_secs_f64()).sum::<f64>() / 10_000.0
        };
        // The exponential distribution's standard deviation is its mean: 2 / sqrt(10,000) = 0.02, times five.
        assert!((mean(Delay::Mean(2.0)) - 2.0).abs() < 0.1);
        // (3 - 1) / sqrt(12) / 100 = 0.0058, times five.
        assert!((mean(Delay::Between(1.0, 3.0)) - 2.0).abs() < 0.029);
        let drawn = draws(Faults { delay: Delay::Between(1.0, 3.0), ..Faults::default() }, 5, 1_000);
        assert!(drawn.iter().all(|(delay, _)| (1.0..=3.0).contains(&delay.as_secs_f64())));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let problem = |faults: Faults| faults.problem().unwrap_or_default();
        assert!(problem(Faults { crash_rate: 1.5, ..Faults::default() }).contains("`crash_rate` is 1.5"));
        assert!(problem(Faults { hang_rate: f64::NAN, ..Faults::default() }).contains("NaN"));
        assert!(problem(Faults { hang_rate: 0.6, failure_rate: 0.6, ..Faults::default() }).contains("1.2"));
        assert!(problem(Faults { delay: Delay::Between(2.0, 1.0), ..Faults::default() }).contains("delay"));
        assert!(problem(Faults { delay: Delay::Mean(f64::INFINITY), ..Faults::default() }).contains("delay"));
        let most = Faults { failure_rate: 0.7, crash_rate: 0.2, hang_rate: 0.1, ..Faults::default() };
        assert_eq!(most.problem(), None);
    }
}
