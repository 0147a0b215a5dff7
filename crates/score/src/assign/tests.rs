use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix as Costs;

use super::*;
use crate::metrics::{Pair, merge_purity, order_consistency, step_coherence};

/// Solves a bucket in which every call has its own class.
fn solve(similarity: &Matrix<f64>, steps: (&[usize], &[usize])) -> Vec<(usize, usize)> {
    let classes = |n: usize| (0..n).collect::<Vec<_>>();
    let (rows, columns) = (classes(similarity.rows()), classes(similarity.columns()));
    let references = Side { classes: &rows, steps: steps.0 };
    assign(similarity, 0.6, references, Side { classes: &columns, steps: steps.1 }).unwrap()
}

#[test]
fn the_cheapest_total_beats_the_greedy_choice() {
    // By hand: 0.95 + nothing (0.5 is below 0.6) against 0.9 + 0.8.
    let similarity = Matrix::from([[0.95, 0.9], [0.8, 0.5]]);
    assert_eq!(solve(&similarity, (&[0, 1], &[0, 1])), [(0, 1), (1, 0)]);
}

#[test]
fn more_pairs_beat_a_better_pair() {
    // By hand: one pair of cost 0 against two of cost 0.4 each; equation 1's penalty decides for two.
    let similarity = Matrix::from([[1.0, 0.6], [0.6, 0.0]]);
    assert_eq!(solve(&similarity, (&[0, 1], &[0, 1])), [(0, 1), (1, 0)]);
}

#[test]
fn more_references_than_predictions_and_the_reverse() {
    let tall = Matrix::from([[0.7], [0.9], [0.8]]);
    assert_eq!(solve(&tall, (&[0, 1, 2], &[0])), [(1, 0)]);
    let wide = Matrix::from([[0.7, 0.9, 0.8]]);
    assert_eq!(solve(&wide, (&[0], &[0, 1, 2])), [(0, 1)]);
    assert_eq!(solve(&Matrix::from_fn(0, 3, |_, _| 0.0), (&[], &[0, 0, 0])), []);
}

#[test]
fn equal_calls_keep_the_order_of_the_steps() {
    let equal = Matrix::from([[1.0; 3]; 3]);
    assert_eq!(solve(&equal, (&[0, 1, 2], &[4, 5, 9])), [(0, 0), (1, 1), (2, 2)]);
    assert_eq!(solve(&equal, (&[2, 1, 0], &[4, 5, 9])), [(0, 2), (1, 1), (2, 0)]);
    // One predicted call, equal to all three references: the earliest reference gets it.
    assert_eq!(solve(&Matrix::from([[1.0]; 3]), (&[1, 0, 2], &[7])), [(1, 0)]);
}

#[test]
fn nothing_below_the_threshold_is_paired() {
    assert_eq!(solve(&Matrix::from([[0.599_999, -1.0], [0.0, 0.6]]), (&[0, 0], &[0, 0])), [(1, 1)]);
}

/// Compared with trying every assignment, for all shapes up to 4 x 4 with few distinct values and therefore many
/// ties.
#[test]
fn agrees_with_exhaustive_search() {
    let mut seed = 12345_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from((seed >> 33) % below).unwrap()
    };
    for _ in 0..300 {
        let (rows, columns) = (random(4) + 1, random(4) + 1);
        let similarity = Matrix::from_fn(rows, columns, |_, _| [0.3, 0.6, 0.8, 1.0][random(4)]);
        let steps = |n: usize| (0..n).collect::<Vec<_>>();
        let pairs = solve(&similarity, (&steps(rows), &steps(columns)));
        let cost = |pairs: &[(usize, usize)]| pairs.iter().map(|&p| 1.0 - similarity[p]).sum::<f64>();
        let best = every_matching(&similarity, 0, &mut Vec::new());
        let most = best.iter().map(Vec::len).max().unwrap();
        let cheapest = best.iter().filter(|m| m.len() == most).map(|m| cost(m)).fold(f64::MAX, f64::min);
        assert_eq!(pairs.len(), most, "{similarity:?}");
        assert!((cost(&pairs) - cheapest).abs() < 1e-9, "{similarity:?}");
    }
}

fn every_matching(s: &Matrix<f64>, row: usize, taken: &mut Vec<usize>) -> Vec<Vec<(usize, usize)>> {
    if row == s.rows() {
        return vec![Vec::new()];
    }
    let mut all = every_matching(s, row + 1, taken);
    for column in 0..s.columns() {
        if s[(row, column)] >= 0.6 && !taken.contains(&column) {
            taken.push(column);
            let rest = every_matching(s, row + 1, taken);
            all.extend(rest.into_iter().map(|mut m| {
                m.push((row, column));
                m
            }));
            taken.pop();
        }
    }
    all
}

/// A random bucket with few classes, steps and similarities, so that there are many ties.
struct RandomBucket {
    similarity: Matrix<f64>,
    classes: [Vec<usize>; 2],
    steps: [Vec<usize>; 2],
}

impl RandomBucket {
    fn new(most: usize, values: &[f64], random: &mut impl FnMut(usize) -> usize) -> Self {
        let mut side = || {
            let (count, kinds) = (random(most) + 1, random(4) + 1);
            let classes: Vec<usize> = (0..count).map(|_| random(kinds)).collect();
            let mut steps: Vec<usize> = (0..count).map(|_| random(count + 2)).collect();
            steps.sort_unstable();
            (classes, steps, kinds)
        };
        let ((rows, row_steps, row_kinds), (columns, column_steps, column_kinds)) = (side(), side());
        let similarity = Matrix::from_fn(row_kinds, column_kinds, |_, _| values[random(values.len())]);
        Self { similarity, classes: [rows, columns], steps: [row_steps, column_steps] }
    }

    fn side(&self, side: usize) -> Side<'_> {
        Side { classes: &self.classes[side], steps: &self.steps[side] }
    }

    fn between(&self, (row, column): (usize, usize)) -> f64 {
        self.similarity[(self.classes[0][row], self.classes[1][column])]
    }

    fn bucket(&self) -> Bucket {
        Bucket {
            prices: self.similarity.map(|s| if s < 0.6 { NEVER } else { units(s) }),
            rows: nodes(self.side(0)),
            columns: nodes(self.side(1)),
        }
    }

    /// The solution from the matrix of all pairs, without classes.
    fn dense(&self) -> Vec<(usize, usize)> {
        let bucket = self.bucket();
        let (rows, columns) = (bucket.rows.len(), bucket.columns.len());
        let cost = |row: usize, column: usize| match bucket.price(row, column) {
            NEVER => 1_i128 << 96,
            price => {
                let product = bucket.rows[row].rank * bucket.columns[column].rank;
                (i128::from(price) << 40) + i128::from((1 << 23) - product)
            }
        };
        let is_wide = rows <= columns;
        let turned = |a: usize, b: usize| if is_wide { (a, b) } else { (b, a) };
        let matrix = Costs::from_fn(rows.min(columns), rows.max(columns), |(short, long)| {
            let (row, column) = turned(short, long);
            cost(row, column)
        });
        let assigned = kuhn_munkres_min(&matrix).1.into_iter().enumerate();
        let pairs = assigned.map(|(short, long)| turned(short, long));
        let mut pairs: Vec<_> = pairs.filter(|&pair| self.between(pair) >= 0.6).collect();
        pairs.sort_unstable();
        pairs
    }

    /// The number of pairs, their cost, and the sum of the products of their ranks.
    fn worth(&self, pairs: &[(usize, usize)]) -> (usize, i64, u64) {
        let bucket = self.bucket();
        let product = |&(row, column): &(usize, usize)| bucket.rows[row].rank * bucket.columns[column].rank;
        let cost = pairs.iter().map(|&(row, column)| bucket.price(row, column)).sum();
        (pairs.len(), cost, pairs.iter().map(product).sum())
    }

    /// The values that the metrics depend on.
    fn metrics(&self, pairs: &[(usize, usize)]) -> [f64; 3] {
        let pair = |&(row, column): &(usize, usize)| {
            Pair::new(self.steps[0][row], self.steps[1][column], self.between((row, column)))
        };
        let pairs: Vec<Pair> = pairs.iter().map(pair).collect();
        [order_consistency(&pairs), merge_purity(&pairs), step_coherence(&pairs)]
    }
}

fn generator(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).unwrap() % below
    }
}

/// Leaving out the calls that cannot matter changes no pair, ties included.
#[test]
fn what_is_left_out_changes_no_pair() {
    let mut random = generator(7);
    for _ in 0..4000 {
        let drawn = RandomBucket::new(9, &[0.3, 0.6, 0.8, 0.9, 1.0], &mut random);
        let pairs = assign(&drawn.similarity, 0.6, drawn.side(0), drawn.side(1)).unwrap();
        assert_eq!(pairs, drawn.dense(), "{:?} {:?} {:?}", drawn.similarity, drawn.classes, drawn.steps);
    }
}

/// Solving by class gives as many pairs as solving call by call, at the same cost and with the same sum of products;
/// so the metrics are the same, except where assignments with all this in common differ in them.
#[test]
fn classes_are_assigned_as_their_calls_are() {
    let mut random = generator(11);
    let mut settled = 0;
    for round in 0..4000 {
        let values: &[f64] = if round % 2 == 0 {
            &[0.3, 0.6, 0.8, 1.0]
        } else {
            &[0.5, 0.61, 0.67, 0.74, 0.83, 0.88, 0.97, 1.0]
        };
        let drawn = RandomBucket::new(if round % 4 < 2 { 5 } else { 14 }, values, &mut random);
        let mut pairs = drawn.bucket().assign_classes().unwrap();
        pairs.sort_unstable();
        let dense = drawn.dense();
        let case = format!("{:?} {:?} {:?}", drawn.similarity, drawn.classes, drawn.steps);
        assert_eq!(drawn.worth(&pairs), drawn.worth(&dense), "{case}");
        let (rows, columns) = (drawn.classes[0].len(), drawn.classes[1].len());
        if rows.max(columns) > 5 {
            continue;
        }
        let all = Matrix::from_fn(rows, columns, |row, column| drawn.between((row, column)));
        let mut every = every_matching(&all, 0, &mut Vec::new());
        every.retain(|pairs| drawn.worth(pairs) == drawn.worth(&dense));
        let metrics = drawn.metrics(&dense);
        let is_near = |other: [f64; 3]| other.iter().zip(metrics).all(|(a, b)| (a - b).abs() < 1e-12);
        if every.iter().all(|pairs| is_near(drawn.metrics(pairs))) {
            settled += 1;
            assert!(is_near(drawn.metrics(&pairs)), "{case}");
        }
    }
    assert!(settled > 1500, "{settled}");
}

/// By hand: of a loop, the earliest calls are matched in order; the others stay unmatched.
#[test]
fn a_loop_of_any_length_is_assigned() {
    let steps: Vec<usize> = (0..100_000).collect();
    let loop_of = |count: usize| (vec![0; count], &steps[..count]);
    for (rows, columns) in [(100_000, 100_000), (3_000, 100_000), (100_000, 3_000), (1, 100_000)] {
        let ((references, reference_steps), (predictions, predicted_steps)) =
            (loop_of(rows), loop_of(columns));
        let references = Side { classes: &references, steps: reference_steps };
        let predictions = Side { classes: &predictions, steps: predicted_steps };
        let pairs = assign(&Matrix::from([[0.9]]), 0.6, references, predictions).unwrap();
        assert!(pairs.iter().copied().eq((0..rows.min(columns)).map(|at| (at, at))), "{rows} x {columns}");
    }
}

/// Two loops that are on both sides, and a call for which nothing is left.
#[test]
fn loops_beside_other_calls_are_told_apart() {
    // By hand: each of 4,000 calls is matched with the equal call of its own step; the last reference is similar to
    // both classes, but all are taken.
    let classes: Vec<usize> = (0..4000).map(|at| at % 2).collect();
    let steps: Vec<usize> = (0..4001).collect();
    let references: Vec<usize> = classes.iter().copied().chain([2]).collect();
    let similarity = Matrix::from([[1.0, 0.7], [0.7, 1.0], [0.8, 0.9]]);
    let pairs = assign(
        &similarity,
        0.6,
        Side { classes: &references, steps: &steps },
        Side { classes: &classes, steps: &steps[..4000] },
    );
    assert!(pairs.unwrap().into_iter().eq((0..4000).map(|at| (at, at))));
}

#[test]
fn too_many_different_calls_are_refused() {
    let calls: Vec<usize> = (0..3000).collect();
    let side = Side { classes: &calls, steps: &calls };
    assert_eq!(assign(&Matrix::from_fn(3000, 3000, |_, _| 1.0), 0.6, side, side), Err(TooLarge));
}
