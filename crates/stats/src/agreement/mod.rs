//! How far raters agree, what is left of their scores without the extremes, and which rate lies behind an imperfect
//! judge.
//!
//! | function | for |
//! | --- | --- |
//! | [`percent_agreement`] | two raters, without correction for chance |
//! | [`cohen_kappa`] | two raters and categories, weighted where these have an order |
//! | [`fleiss_kappa`] | any number of raters, as many for every subject |
//! | [`krippendorff_alpha`] | any number of raters, with missing values, on any scale |
//! | [`trimmed_mean`] | one score from those of a panel |
//! | [`wilson`], [`double_sampled`] | a share with its interval; the true share behind a judge that errs |
//!
//! All of them are `None` where they are not defined: without ratings, or where everything is in one category and
//! there is nothing to agree about. A value that is not defined is never 0 and never 1.

mod alpha;
mod cohen;
mod fleiss;
mod rates;
mod trimmed;

pub use alpha::{Scale, krippendorff_alpha};
pub use cohen::{Weights, cohen_kappa, percent_agreement};
pub use fleiss::fleiss_kappa;
pub use rates::{Judgements, Share, double_sampled, wilson};
pub use trimmed::{TrimmedMean, trimmed_mean};

#[cfg(test)]
fn near(found: Option<f64>, expected: f64, tolerance: f64) {
    let found = found.expect("it is defined");
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}
