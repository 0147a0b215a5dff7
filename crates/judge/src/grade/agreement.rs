//! The agreement of graders with one another and with themselves, and the influence of each of them.

use m3_stats::agreement::{Scale, Weights, cohen_kappa, fleiss_kappa, krippendorff_alpha, percent_agreement};

use super::collected::{CollectedGrades, deviation, mean};
use super::report::{AgreementReport, ConsistencyReport, PairReport, WithoutGrader};
use super::rubric::Aspect;

/// Scores that differ only by rounding count as the same.
const ROUNDING: f64 = 1e-9;

/// Whether a score is a pass.
pub(super) fn passes(score: f64, mark: f64) -> bool {
    score >= mark - ROUNDING
}

/// The category of a score in [0, 1] rounded to tenths.
fn tenths(score: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to 10")]
    let tenths = (score * 10.0).round().clamp(0.0, 10.0) as usize;
    tenths
}

/// The agreement of graders on the main measure of an aspect.
pub(super) fn agreement(collected: &CollectedGrades<'_>, aspect: Aspect, mark: f64) -> AgreementReport {
    let graders = collected.panel.graders.len();
    let measure = aspect.main();
    let units: Vec<Vec<Option<f64>>> = (0..collected.subjects().len())
        .map(|subject| (0..graders).map(|grader| collected.score(subject, grader, measure)).collect())
        .collect();
    // A grader that cannot be asked has no opinion to agree with.
    let (voices, silent): (Vec<usize>, Vec<usize>) =
        (0..graders).partition(|grader| units.iter().any(|unit| unit[*grader].is_some()));
    let whole: Vec<Vec<f64>> = units
        .iter()
        .filter_map(|unit| voices.iter().map(|grader| unit[*grader]).collect::<Option<Vec<f64>>>())
        .filter(|unit| !unit.is_empty())
        .collect();
    let counts: Vec<Vec<u32>> = whole
        .iter()
        .map(|unit| {
            let (passed, failed) = unit.iter().partition::<Vec<f64>, _>(|score| passes(**score, mark));
            [passed, failed].map(|of| u32::try_from(of.len()).unwrap_or(u32::MAX)).to_vec()
        })
        .collect();
    let scale = if aspect.is_verdict() { Scale::Nominal } else { Scale::Interval };
    let pairs = (0..graders).flat_map(|first| (first + 1..graders).map(move |second| (first, second)));
    AgreementReport {
        measure: measure.to_owned(),
        krippendorff_alpha: krippendorff_alpha(&units, scale),
        fleiss_kappa: fleiss_kappa(&counts),
        graded_by_all: whole.len(),
        left_out: silent.into_iter().map(|grader| collected.grader_name(grader).to_owned()).collect(),
        pairs: pairs.map(|pair| pair_report(collected, aspect, &units, pair, mark)).collect(),
    }
}

fn pair_report(
    collected: &CollectedGrades<'_>,
    aspect: Aspect,
    units: &[Vec<Option<f64>>],
    (first, second): (usize, usize),
    mark: f64,
) -> PairReport {
    let both: Vec<(f64, f64)> = units.iter().filter_map(|unit| unit[first].zip(unit[second])).collect();
    let in_categories = |category: &dyn Fn(f64) -> usize| -> Vec<(usize, usize)> {
        both.iter().map(|(a, b)| (category(*a), category(*b))).collect()
    };
    let verdicts = in_categories(&|score| usize::from(passes(score, mark)));
    let graded = in_categories(&tenths);
    PairReport {
        first: collected.grader_name(first).to_owned(),
        second: collected.grader_name(second).to_owned(),
        tasks: both.len(),
        agreement: percent_agreement(&verdicts),
        cohen_kappa: cohen_kappa(&verdicts, Weights::None),
        weighted_kappa: if aspect.is_verdict() { None } else { cohen_kappa(&graded, Weights::Quadratic) },
    }
}

/// The main measure of an aspect without each grader in turn; empty if there is only one.
pub(super) fn without_grader(collected: &CollectedGrades<'_>, aspect: Aspect) -> Vec<WithoutGrader> {
    let measure = aspect.main();
    let without = |grader: usize| {
        let both: Vec<(f64, f64)> = (0..collected.subjects().len())
            .filter_map(|subject| {
                let with = collected.panel_score(subject, measure, None)?;
                Some((with.value, collected.panel_score(subject, measure, Some(grader))?.value))
            })
            .collect();
        let (with, without): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
        let value = mean(&without)?;
        Some(WithoutGrader {
            judge: collected.grader_name(grader).to_owned(),
            measure: measure.to_owned(),
            mean: value,
            change: value - mean(&with)?,
        })
    };
    (0..collected.panel.graders.len()).filter_map(without).collect()
}

/// The agreement of each grader with itself on the main measure of an aspect.
pub(super) fn consistency(collected: &CollectedGrades<'_>, aspect: Aspect) -> Vec<ConsistencyReport> {
    let measure = aspect.main();
    let of_grader = |grader: usize| {
        let repeated: Vec<&[f64]> = (0..collected.subjects().len())
            .map(|subject| collected.answers(subject, grader, measure))
            .filter(|answers| answers.len() > 1)
            .collect();
        let deviations: Vec<f64> = repeated.iter().filter_map(|answers| deviation(answers)).collect();
        let is_same = |answers: &&&[f64]| answers.iter().all(|score| (score - answers[0]).abs() < ROUNDING);
        Some(ConsistencyReport {
            judge: collected.grader_name(grader).to_owned(),
            measure: measure.to_owned(),
            tasks: repeated.len(),
            deviation: mean(&deviations)?,
            same: repeated.iter().filter(is_same).count() as f64 / repeated.len() as f64,
        })
    };
    (0..collected.panel.graders.len()).filter_map(of_grader).collect()
}
