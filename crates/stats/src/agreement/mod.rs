//! Agreement of raters, their mean score without the extremes, and the true rate behind an imperfect judge.
//!
//! | function | for |
//! | --- | --- |
//! | [`percent_agreement`] | two raters, without correction for chance |
//! | [`cohen_kappa`] | two raters and categories, weighted where these have an order |
//! | [`fleiss_kappa`] | any number of raters, the same number for every subject |
//! | [`kendall_tau`] | two rankings of the same things |
//! | [`SortedOutcomes`] | a value that should be higher for successes: the area under the ROC curve |
//! | [`krippendorff_alpha`] | any number of raters, with missing values, on any scale |
//! | [`trimmed_mean`] | one score from those of a panel |
//! | [`wilson`], [`double_sampled`] | a share with its interval; the true share behind a judge that errs |
//!
//! All of them are `None` if they are undefined: without ratings, or if everything is in one category and there is
//! nothing to agree about. An undefined value is never reported as 0 or 1.

mod alpha;
mod area;
mod cohen;
mod fleiss;
mod kendall;
mod rates;
mod trimmed;

pub use alpha::{Scale, krippendorff_alpha};
pub use area::{MixedPairs, Outcome, SortedOutcomes};
pub use cohen::{Weights, cohen_kappa, cohen_kappa_of_counts, percent_agreement};
pub use fleiss::fleiss_kappa;
pub use kendall::kendall_tau;
pub use rates::{Judgements, Share, double_sampled, share_interval, wilson};
pub use trimmed::{TrimmedMean, trimmed_mean};

#[cfg(test)]
fn near(found: Option<f64>, expected: f64, tolerance: f64) {
    let value = found.expect("it is defined");
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}
