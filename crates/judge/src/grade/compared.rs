//! Compares graders with people: raw agreement, agreement beyond chance, and the true rate behind a grader that errs.

use std::collections::{BTreeMap, HashSet};

use m3_stats::LEVEL;
use m3_stats::agreement::{
    Judgements, Scale, Share, Weights, cohen_kappa, double_sampled, krippendorff_alpha, percent_agreement,
    wilson,
};

use super::agreement::passes;
use super::collected::{CollectedGrades, mean};
use super::people::{PeopleLabels, PersonSays, majority, verdict};
use super::report::{PeopleRater, PeopleReport, RateReport};

/// The people's common label for one trajectory.
struct Truth {
    subject: usize,
    pass: bool,
    score: Option<f64>,
}

/// Compares the panel and each grader with people, on each measure that people have labelled. Labels that name no
/// measure belong to the main measure of the rubric's first aspect.
pub(super) fn compare(
    collected: &CollectedGrades<'_>,
    labels: &PeopleLabels,
    mark: f64,
) -> Vec<PeopleReport> {
    let first = collected.rubric().aspects().next().map_or("", |aspect| aspect.main());
    let of_measure = |measure: &'static str| {
        let labels_of_measure = labels.of_measure(measure, measure == first);
        (!labels_of_measure.is_empty()).then(|| compare_measure(collected, measure, &labels_of_measure, mark))
    };
    collected.measures().filter_map(of_measure).collect()
}

/// The people's labels of one measure, by the trajectory's id.
type LabelsByTrajectory<'a> = BTreeMap<&'a str, Vec<&'a PersonSays>>;

fn compare_measure(
    collected: &CollectedGrades<'_>,
    measure: &'static str,
    labels: &LabelsByTrajectory<'_>,
    mark: f64,
) -> PeopleReport {
    let (mut truths, mut ties) = (Vec::new(), Vec::new());
    for (subject, graded) in collected.subjects().iter().enumerate() {
        let Some(says) = labels.get(graded.id.as_str()) else { continue };
        match majority(says, mark) {
            Some(pass) => {
                let scores: Vec<f64> = says.iter().filter_map(|says| says.score).collect();
                truths.push(Truth { subject, pass, score: mean(&scores) });
            }
            None => ties.push(graded.id.clone()),
        }
    }
    let known: HashSet<&str> = collected.subjects().iter().map(|graded| graded.id.as_str()).collect();
    let unknown = labels.keys().filter(|id| !known.contains(*id)).map(|id| (*id).to_owned());
    let panel = |subject: usize| collected.panel_score(subject, measure, None).map(|score| score.value);
    truths.retain(|truth| panel(truth.subject).is_some());
    let passed = truths.iter().filter(|truth| truth.pass).count();
    let mut raters = vec![rater("panel", collected, &truths, mark, &panel)];
    for grader in 0..collected.panel.graders.len() {
        let score = |subject: usize| collected.score(subject, grader, measure);
        raters.push(rater(collected.grader_name(grader), collected, &truths, mark, &score));
    }
    PeopleReport {
        measure: measure.to_owned(),
        tasks: truths.len(),
        base_rate: (!truths.is_empty()).then(|| passed as f64 / truths.len() as f64),
        people_alpha: people_alpha(labels, mark),
        raters,
        ties,
        unknown: unknown.collect(),
    }
}

impl From<Share> for RateReport {
    fn from(Share { value, low, high }: Share) -> Self {
        Self { value, low, high }
    }
}

/// The agreement of people with one another. A nominal alpha does not depend on who gave which label.
fn people_alpha(labels: &LabelsByTrajectory<'_>, mark: f64) -> Option<f64> {
    let of = |says: &Vec<&PersonSays>| -> Vec<Option<f64>> {
        says.iter().map(|says| verdict(says, mark).map(|pass| f64::from(u8::from(pass)))).collect()
    };
    krippendorff_alpha(&labels.values().map(of).collect::<Vec<_>>(), Scale::Nominal)
}

fn rater(
    name: &str,
    collected: &CollectedGrades<'_>,
    truths: &[Truth],
    mark: f64,
    score: &dyn Fn(usize) -> Option<f64>,
) -> PeopleRater {
    let compared: Vec<(&Truth, f64)> =
        truths.iter().filter_map(|truth| Some((truth, score(truth.subject)?))).collect();
    let pairs: Vec<(usize, usize)> = compared
        .iter()
        .map(|(truth, score)| (usize::from(truth.pass), usize::from(passes(*score, mark))))
        .collect();
    let count = |pair: (usize, usize)| pairs.iter().filter(|found| **found == pair).count() as u64;
    let known = Judgements {
        true_positives: count((1, 1)),
        false_negatives: count((1, 0)),
        true_negatives: count((0, 0)),
        false_positives: count((0, 1)),
    };
    let graded: Vec<bool> = (0..collected.subjects().len())
        .filter_map(|subject| score(subject).map(|score| passes(score, mark)))
        .collect();
    let (passed, judged) = (graded.iter().filter(|pass| **pass).count() as u64, graded.len() as u64);
    let share = |count: u64, of: u64| (of > 0).then(|| count as f64 / of as f64);
    let differences: Vec<f64> =
        compared.iter().filter_map(|(truth, score)| Some((truth.score? - score).abs())).collect();
    PeopleRater {
        rater: name.to_owned(),
        tasks: compared.len(),
        agreement: percent_agreement(&pairs),
        cohen_kappa: cohen_kappa(&pairs, Weights::None),
        sensitivity: share(known.true_positives, known.positives()),
        specificity: share(known.true_negatives, known.negatives()),
        rate: wilson(passed, judged, LEVEL).map(RateReport::from),
        corrected_rate: double_sampled(passed, judged, &known, LEVEL).map(RateReport::from),
        mean_difference: mean(&differences),
    }
}
