//! Makes a model from labelled pairs of several sources.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;

use crate::boost::{Growth, Row, Sign, WeighedSum, boost, isotonic, on_curve, sigmoid};

use super::file::SourceFigures;
use super::{Model, balanced_threshold};
use crate::fidelity::constants::THRESHOLD;
use crate::fidelity::evidence::{Evidence, SIGNS};

/// A labelled pair of calls: the evidence of each argument that differs, and whether they ask for the same.
#[derive(Debug, Clone)]
pub struct Example {
    /// The evidence of each argument that is not equal and that no rule settles.
    pub arguments: Vec<Evidence>,
    /// The least score of the arguments that a rule settles, in [0, 1]; 1 if there are none.
    pub settled: f64,
    /// The label: whether the calls ask for the same.
    pub is_same: bool,
    /// Whether the label depends on something that the pair does not say: such a pair is not learned as the same.
    pub is_doubtful: bool,
}

impl Example {
    /// Whether a rule says that the calls differ. Their other arguments may be the same, so nothing is learned from
    /// them as different.
    fn is_settled(&self) -> bool {
        !self.is_same && self.settled < THRESHOLD
    }

    /// Whether the model may learn from this pair.
    fn is_learned(&self) -> bool {
        !(self.arguments.is_empty() || self.is_settled() || self.is_doubtful && self.is_same)
    }
}

/// Pairs of one origin, which are left out together.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name of the source.
    pub name: String,
    /// The pairs.
    pub examples: Vec<Example>,
}

/// The growth of the trees of a new model.
const ANEW: Growth = Growth { trees: 300, leaves: 31, least_rows: 25, rate: 0.04 };

/// The growth of trees that some hundreds of pairs add to a model: few and small, so that they change only what many
/// pairs agree on.
const MORE: Growth = Growth { trees: 60, leaves: 5, least_rows: 10, rate: 0.08 };

/// The seed of the random choice of rows and numbers: the same pairs give the same model.
const SEED: u64 = 1;

/// The forests of a new model, each from other rows and numbers: their mean depends less on the random choice.
const FORESTS: u64 = 2;

/// The number of pairs above which a source weighs no more.
const MOST_OF_A_SOURCE: usize = 1200;

/// Trains a model: trees from all sources, calibrated on the scores that each source gets from trees of the others.
/// Deterministic. Returns the model, and the score of each pair by the model of the other sources.
#[must_use]
pub fn train(sources: &[Source], progress: &mut dyn FnMut(usize, usize)) -> (Model, Vec<Vec<f64>>) {
    let steps = sources.len() + 1;
    let unseen = |source: &Source| -> Vec<f64> {
        let others: Vec<&Source> = sources.iter().filter(|other| other.name != source.name).collect();
        let model = fit(&others);
        source.examples.iter().map(|example| least(&model, example)).collect()
    };
    let mut out_of_source: Vec<Vec<f64>> = Vec::new();
    for some in sources.chunks(thread::available_parallelism().map_or(1, usize::from)) {
        progress(out_of_source.len(), steps);
        out_of_source.extend(thread::scope(|scope| {
            let scored: Vec<_> = some.iter().map(|source| scope.spawn(|| unseen(source))).collect();
            // A thread fails only because of a bug; its panic is passed on.
            let joined = scored.into_iter().map(|of| of.join().unwrap_or_else(|bug| resume_unwind(bug)));
            joined.collect::<Vec<_>>()
        }));
    }
    progress(sources.len(), steps);
    let mut model = fit(&sources.iter().collect::<Vec<_>>());
    model.calibration = calibration(sources, &out_of_source);
    progress(steps, steps);
    let curve = &model.calibration;
    let probability = |sum: f64| if sum.is_infinite() { 1.0 } else { sigmoid(on_curve(curve, sum)) };
    let score = |(example, &sum): (&Example, &f64)| probability(sum).min(example.settled);
    let scores = sources.iter().zip(&out_of_source);
    let scores = scores.map(|(source, sums)| source.examples.iter().zip(sums).map(score).collect()).collect();
    (model, scores)
}

/// The curve from sums to log-odds: all sources weigh the same, and the curve is shifted so that the errors of both
/// kinds are balanced at a probability of one half.
fn calibration(sources: &[Source], sums: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let mut scored: BTreeMap<&str, Vec<(f64, bool)>> = BTreeMap::new();
    for (source, sums) in sources.iter().zip(sums) {
        let pairs = source.examples.iter().zip(sums);
        let sure =
            pairs.filter(|(example, sum)| !example.is_doubtful && !example.is_settled() && sum.is_finite());
        // Sources of one name hold the same pairs in another context, and count as one source.
        scored.entry(&source.name).or_default().extend(sure.map(|(example, &sum)| (sum, example.is_same)));
    }
    let mut weighed: Vec<WeighedSum> = Vec::new();
    for pairs in scored.values() {
        let count = |label: bool| pairs.iter().filter(|pair| pair.1 == label).count().max(1) as f64;
        let weights = [1.0 / count(false), 1.0 / count(true)];
        weighed.extend(pairs.iter().map(|&(sum, label)| (sum, label, 100.0 * weights[usize::from(label)])));
    }
    let curve = isotonic(&weighed);
    let probabilities: Vec<Vec<(f64, bool)>> = scored
        .values()
        .map(|pairs| pairs.iter().map(|&(sum, label)| (sigmoid(on_curve(&curve, sum)), label)).collect())
        .collect();
    let threshold = balanced_threshold(&probabilities);
    let shift = (threshold / (1.0 - threshold)).ln();
    curve.into_iter().map(|(sum, log_odds)| (sum, ((log_odds - shift) * 1e4).round() / 1e4)).collect()
}

/// The sum of the least probable argument; infinite without arguments.
fn least(model: &Model, example: &Example) -> f64 {
    example.arguments.iter().map(|evidence| model.sum(evidence.numbers())).fold(f64::INFINITY, f64::min)
}

/// The weight of calls that are wrong only by extra arguments. They are rarer in practice than among pairs made for
/// training: models add many arguments, and nearly all of them restrict nothing.
const EXTRA_IN_PRACTICE: f64 = 0.4;

/// The weight of a pair with its question: real calls come with one.
const WITH_QUESTION: f64 = 2.0;

fn share_in_practice(example: &Example) -> f64 {
    let is_extra = !example.is_same && example.arguments.iter().all(Evidence::is_extra);
    let of_kind = if is_extra { EXTRA_IN_PRACTICE } else { 1.0 };
    if example.arguments.iter().any(Evidence::has_question) { of_kind * WITH_QUESTION } else { of_kind }
}

/// Grows trees from some sources. Of a wrong call with several arguments that differ, only the least likely one is
/// learned: first the one with the lowest score by the rules, then the one with the lowest sum of a first model.
fn fit(sources: &[&Source]) -> Model {
    let mut certain: Vec<Row<'_>> = Vec::new();
    let mut several: Vec<(&Example, f64)> = Vec::new();
    for source in sources {
        let used: Vec<&Example> = source.examples.iter().filter(|example| example.is_learned()).collect();
        let same = used.iter().filter(|example| example.is_same).count();
        let (all, of_all) = (used.len().max(1) as f64, used.len());
        let of_source = (used.len().min(MOST_OF_A_SOURCE) as f64).sqrt() * 30.0 / all;
        for example in used {
            let of_label = if example.is_same { same } else { of_all - same };
            let weight = of_source * (0.5 * all / of_label.max(1) as f64).min(6.0);
            let weight = weight * share_in_practice(example);
            if example.is_same || example.arguments.len() == 1 {
                certain.extend(rows_of(example.arguments.iter().collect(), example.is_same, weight));
            } else {
                several.push((example, weight));
            }
        }
    }
    let rows_by = |sum: &dyn Fn(&Evidence) -> f64| -> Vec<Row<'_>> {
        let wrong = several.iter().filter_map(|&(example, weight)| {
            let worst = example.arguments.iter().min_by(|x, y| sum(x).total_cmp(&sum(y)))?;
            Some(Row { numbers: worst.numbers(), label: false, weight })
        });
        certain.iter().cloned().chain(wrong).collect()
    };
    let first = grown(&rows_by(&Evidence::rule));
    if several.is_empty() { first } else { grown(&rows_by(&|evidence| first.sum(evidence.numbers()))) }
}

/// Grows the trees of a new model, from the log-odds of "the same" among the rows.
fn grown(rows: &[Row<'_>]) -> Model {
    let weight =
        |label: bool| rows.iter().filter(|row| row.label == label).map(|row| row.weight).sum::<f64>();
    let base = (weight(true).max(1e-9) / weight(false).max(1e-9)).ln();
    let forest = |number: u64| boost(rows, &vec![base; rows.len()], &signs(), ANEW, SEED + number);
    let share = 1.0 / FORESTS as f64;
    let trees = (0..FORESTS).flat_map(forest).map(|tree| tree.scaled(share)).collect();
    Model { trees, base, ..Model::default() }
}

/// The rows of some arguments of one pair of calls, which share its weight.
fn rows_of(arguments: Vec<&Evidence>, label: bool, weight: f64) -> impl Iterator<Item = Row<'_>> {
    let weight = weight / arguments.len() as f64;
    arguments.into_iter().map(move |argument| Row { numbers: argument.numbers(), label, weight })
}

fn signs() -> Vec<Sign> {
    SIGNS.iter().map(|(_, sign)| *sign).collect()
}

impl Model {
    /// The model with more trees, made from pairs like those that it will be used for. Deterministic.
    #[must_use]
    pub fn adapted(&self, examples: &[Example]) -> Self {
        let sum = |evidence: &Evidence| self.log_odds(evidence.numbers());
        let used: Vec<&Example> = examples.iter().filter(|example| example.is_learned()).collect();
        let count =
            |label: bool| used.iter().filter(|example| example.is_same == label).count().max(1) as f64;
        let mut rows: Vec<Row<'_>> = Vec::new();
        for example in &used {
            let weight = 0.5 * used.len() as f64 / count(example.is_same);
            let arguments: Vec<&Evidence> = if example.is_same {
                example.arguments.iter().collect()
            } else {
                example.arguments.iter().min_by(|x, y| sum(x).total_cmp(&sum(y))).into_iter().collect()
            };
            rows.extend(rows_of(arguments, example.is_same, weight));
        }
        let base: Vec<f64> = rows.iter().map(|row| self.log_odds(row.numbers)).collect();
        // Trees of earlier adaptations stay.
        let more = [self.more.clone(), boost(&rows, &base, &signs(), MORE, SEED)].concat();
        Self { more, ..self.clone() }
    }

    /// The probability that a pair asks for the same: the least of its arguments' probabilities and of `settled`.
    #[must_use]
    pub fn of_example(&self, example: &Example) -> f64 {
        example.arguments.iter().map(|evidence| self.probability(evidence)).fold(example.settled, f64::min)
    }

    /// The model with the sources that it was made from, and the digest of its file.
    #[must_use]
    pub fn with_sources(self, sources: Vec<SourceFigures>) -> Self {
        Self { sources, ..self }.digested()
    }
}
