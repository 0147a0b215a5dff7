//! What scoring costs beside the encoder: `cargo bench`. Whole runs are measured by `end_to_end.py`.

use divan::{Bencher, black_box};
use m3_score::metrics::{Pair, merge_purity, order_consistency, step_coherence};
use m3_score::{Matrix, Profile, Serializer, Side, assign, cosine};
use m3_trajectory::json;

fn main() {
    divan::main();
}

/// Numbers that are the same on every run (Knuth's linear congruential generator).
fn random() -> impl FnMut(u64) -> u64 {
    let mut seed = 42_u64;
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

/// A bucket of n different calls on each side, similarities like real ones: most between 0.6 and 1.
#[divan::bench(args = [4, 16, 64, 256])]
fn assignment(bencher: Bencher<'_, '_>, n: usize) {
    let mut random = random();
    let similarity = Matrix::from_fn(n, n, |_, _| 0.5 + random(500) as f64 / 1000.0);
    let steps: Vec<usize> = (0..n).map(|index| index / 3).collect();
    let classes: Vec<usize> = (0..n).collect();
    let side = Side { classes: &classes, steps: &steps };
    bencher.bench(|| assign(black_box(&similarity), 0.6, side, side));
}

/// n equal calls on each side: every assignment costs the same.
#[divan::bench(args = [4, 16, 64, 256])]
fn assignment_of_equal_calls(bencher: Bencher<'_, '_>, n: usize) {
    let similarity = Matrix::from([[1.0]]);
    let steps: Vec<usize> = (0..n).collect();
    let side = Side { classes: &vec![0; n], steps: &steps };
    bencher.bench(|| assign(black_box(&similarity), 0.6, side, side));
}

#[divan::bench(args = [10, 1_000, 100_000])]
fn metrics(bencher: Bencher<'_, '_>, matches: usize) {
    let mut random = random();
    let steps = (matches as u64 / 3).max(2);
    let pairs: Vec<Pair> = (0..matches)
        .map(|_| Pair {
            reference_step: usize::try_from(random(steps)).unwrap_or_default(),
            predicted_step: usize::try_from(random(steps)).unwrap_or_default(),
            similarity: 0.6 + random(400) as f64 / 1000.0,
        })
        .collect();
    bencher.bench(|| {
        let pairs = black_box(&pairs);
        (step_coherence(pairs), merge_purity(pairs), order_consistency(pairs))
    });
}

#[divan::bench]
fn cosine_of_384_dimensions(bencher: Bencher<'_, '_>) {
    let mut random = random();
    let mut vector = || (0..384).map(|_| random(2000) as f32 / 1000.0 - 1.0).collect::<Vec<f32>>();
    let (a, b) = (vector(), vector());
    bencher.bench(|| cosine(black_box(&a), black_box(&b)));
}

const ARGUMENTS: &str = r#"{"origin": "Brandenburg Gate, Berlin", "destination": "Neues Museum, Berlin", "travel_mode":
    "WALK", "waypoints": ["Museum Island", "Unter den Linden"], "departure": {"lat": 52.5163, "lng": 13.3777}}"#;

#[divan::bench]
fn parse_arguments() -> bool {
    json::parse(black_box(ARGUMENTS).as_bytes()).is_ok()
}

#[divan::bench]
fn serialize_arguments(bencher: Bencher<'_, '_>) {
    let Ok((arguments, _)) = json::parse(ARGUMENTS.as_bytes()) else { return };
    let serializer = Serializer::new(Profile::Paper, None);
    bencher.bench(|| serializer.text("google-maps/compute_route", Some(black_box(&arguments))));
}
