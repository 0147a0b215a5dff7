//! Holds what the rules make of a list of pairs against what this version of them is known to make of it.
//!
//! A change of results that no pair of `tests/rules/pairs.jsonl` shows is not noticed here: who makes one adds a pair.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use m3_embedding::{Embedder, Embedding, Encoder, EncoderError, Identity};
use m3_support::text::hexadecimal;
use m3_trajectory::json::{Json, parse};
use sha2::{Digest as _, Sha256};

use super::super::model::BUILT_IN_DIGEST;
use super::super::{CallFidelity, CallPair, Fidelity, Kind};
use super::RULES_VERSION;

/// Set to write the results of a new version.
const RENEW: &str = "M3_RENEW_RULES";

const ALL_KINDS: [Kind; 21] = [
    Kind::Number,
    Kind::Coordinate,
    Kind::BoxSide,
    Kind::Moment,
    Kind::Quantity,
    Kind::Boolean,
    Kind::Choice,
    Kind::Standard,
    Kind::Color,
    Kind::Verbatim,
    Kind::Code,
    Kind::Path,
    Kind::Url,
    Kind::Contact,
    Kind::Place,
    Kind::Made,
    Kind::Written,
    Kind::Text,
    Kind::List,
    Kind::Object,
    Kind::Null,
];

/// Counts letters and digits: words with many letters in common are near, the same ones on every machine.
struct LetterCounts(Identity);

impl Encoder for LetterCounts {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
        done(texts.len());
        let count = |text: &str| {
            let mut counts = vec![0.0_f32; 36];
            text.chars().filter_map(|c| c.to_digit(36)).for_each(|digit| counts[digit as usize] += 1.0);
            counts
        };
        Ok(texts.iter().map(|text| count(text)).collect())
    }
}

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "rules", name].iter().collect()
}

/// The pairs, each an object with the members of a [`CallPair`].
fn pairs() -> Vec<Json> {
    let text = std::fs::read_to_string(path("pairs.jsonl")).unwrap();
    text.lines().map(|line| parse(line.as_bytes()).unwrap().0).collect()
}

fn compare(pairs: &[Json]) -> Vec<CallFidelity> {
    let identity =
        Identity { name: "letters".into(), fingerprint: "1".into(), dimensions: 36, max_tokens: 256 };
    let mut embedder = Embedder::new(Box::new(LetterCounts(identity)), None);
    let mut results = vec![CallFidelity::default(); pairs.len()];
    let pair = |at: usize| CallPair {
        tool: pairs[at].get("tool").and_then(Json::as_str).unwrap(),
        a: pairs[at].get("a"),
        b: pairs[at].get("b"),
        question: pairs[at].get("question").and_then(Json::as_str),
        schema: pairs[at].get("schema"),
    };
    Fidelity::new(None)
        .with_evidence()
        .compare_all(pairs.len(), &pair, &mut embedder, &mut |_, _| (), &mut |at, result| {
            results[at] = result;
        })
        .unwrap();
    results
}

/// One line for each result: the score, and a digest of everything else. Nine digits are the same on every machine.
fn written(results: &[CallFidelity]) -> String {
    let mut lines = format!("rules {RULES_VERSION}, model {BUILT_IN_DIGEST}\n");
    for CallFidelity { score, arguments, evidence, settled, regions } in results {
        let mut rest = format!("{settled:.9}");
        for argument in arguments {
            let (kind, verdict) = (argument.kind.name(), argument.verdict.name());
            let at = (&argument.path, &argument.other_path);
            write!(rest, "|{at:?} {kind} {verdict} {:.9} {}", argument.score, argument.reason).unwrap();
        }
        for evidence in evidence {
            evidence.numbers().iter().for_each(|number| write!(rest, " {number:.9}").unwrap());
        }
        for region in &regions.each {
            let at = (&region.reference, &region.predicted);
            write!(rest, "|{at:?} {} {:.9}", region.shape, region.overlap).unwrap();
        }
        write!(rest, "|{:.9} {}", regions.overlaps.sum, regions.overlaps.count).unwrap();
        let digest = hexadecimal(&Sha256::digest(rest)[..8]);
        writeln!(lines, "{score:.9} {digest}").unwrap();
    }
    lines
}

/// What to do where the results are not those of the file, by the first lines of both.
fn advice(before: &str, now: &str) -> String {
    let changed = before.lines().zip(now.lines()).skip(1).position(|(before, now)| before != now);
    let place = changed.map_or_else(String::new, |at| format!(", line {} of pairs.jsonl the first", at + 1));
    let renew =
        format!("`{RENEW}=1 cargo test -p m3-score rules_version` writes tests/rules/results.txt anew");
    if before.lines().next() == now.lines().next() {
        format!(
            "comparisons have other results than version {RULES_VERSION} of the rules gives{place}. If that is \
             meant, raise RULES_VERSION in src/fidelity/rules_version/mod.rs, so that no cached comparison of the \
             rules before is used; then {renew}"
        )
    } else {
        format!("tests/rules/results.txt is of another version of the rules or another model: {renew}")
    }
}

#[test]
fn other_results_have_another_version() {
    let now = written(&compare(&pairs()));
    let before = std::fs::read_to_string(path("results.txt")).unwrap_or_default();
    let is_other = before.lines().next() != now.lines().next();
    if is_other && std::env::var_os(RENEW).is_some() {
        std::fs::write(path("results.txt"), now).unwrap();
    } else {
        assert!(before == now, "{}", advice(&before, &now));
    }
}

#[test]
fn the_advice_follows_from_what_has_changed() {
    let before = "rules 1, model a\n0.5 x\n0.5 y\n";
    let said = advice(before, "rules 1, model a\n0.5 x\n0.6 y\n");
    assert!(said.contains("raise RULES_VERSION") && said.contains("line 2 of pairs.jsonl"), "{said}");
    let said = advice(before, "rules 2, model a\n0.5 x\n0.6 y\n");
    assert!(!said.contains("raise RULES_VERSION") && said.contains(RENEW), "{said}");
}

/// A kind that no pair has could be read by other rules without anybody noticing.
#[test]
fn the_pairs_have_values_of_every_kind() {
    let results = compare(&pairs());
    let arguments = results.iter().flat_map(|result| &result.arguments);
    let kinds: BTreeSet<Kind> = arguments.map(|argument| argument.kind).collect();
    let missing: Vec<Kind> = ALL_KINDS.into_iter().filter(|kind| !kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(results.iter().any(|result| !result.regions.each.is_empty()));
}
