//! Comparisons in the cache: two calls that were compared before are looked up, not compared again.
//!
//! A key covers everything that a comparison depends on, except the encoder, which the cache knows: the rules (by their
//! version), the model, the tool with its schema, the question, and both arguments.

use m3_embedding::{InputKey, text_key};
use m3_trajectory::json::Json;
use sha2::{Digest as _, Sha256};

use super::regions::Shape;
use super::rules_version::RULES_VERSION;
use super::{ArgumentComparison, CallFidelity, CallPair, Kind, RegionOverlap, Regions, Verdict};
use crate::SumAndCount;

/// The most bytes of a comparison that is kept.
const LONGEST: usize = 1 << 16;

/// A comparison as it is kept: its arguments, its regions, the bits of the sum of their overlaps, and their number.
type StoredComparison = (Vec<KeptArgument>, Vec<KeptRegion>, u64, u64);

/// An argument as it is kept: path, other path, kind, verdict, the bits of its score, the reason.
type KeptArgument = (String, Option<String>, Kind, Verdict, u64, String);

/// A region as it is kept: its place in the reference and in the prediction, its shape, the bits of its overlap.
type KeptRegion = (Option<String>, Option<String>, String, u64);

/// The key of a comparison. `schema` and `question` are the keys of the schema and the question, `model` is a digest.
pub(super) fn key(pair: CallPair<'_>, schema: &InputKey, question: &InputKey, model: &str) -> InputKey {
    hashed(|digest| {
        digest.feed(&RULES_VERSION.to_le_bytes());
        digest.feed_text(model);
        digest.feed(schema);
        digest.feed_calls(pair, question);
    })
}

/// The key of a question, which is longer than most calls and the same for all calls of a trajectory.
pub(super) fn question_key(question: Option<&str>) -> InputKey {
    text_key(question.unwrap_or_default())
}

/// The key of a pair of calls, however they are compared: the tool, the question and both arguments.
pub(super) fn calls_key(pair: CallPair<'_>) -> InputKey {
    hashed(|digest| digest.feed_calls(pair, &question_key(pair.question)))
}

/// The key of a schema.
pub(super) fn schema_key(schema: Option<&Json>) -> InputKey {
    hashed(|digest| schema.into_iter().for_each(|schema| digest.feed_value(schema)))
}

/// The most bytes that wait for one call of the hash function: a call costs more than most of the values.
const AT_ONCE: usize = 1 << 12;

/// A SHA-256 hash of values, which collects short ones.
#[derive(Default)]
struct Digest {
    digest: Sha256,
    waiting: Vec<u8>,
}

/// The first 16 bytes of the hash of what is fed to it.
fn hashed(feed: impl FnOnce(&mut Digest)) -> InputKey {
    let mut digest = Digest::default();
    feed(&mut digest);
    let mut key = InputKey::default();
    key.copy_from_slice(&digest.digest.chain_update(&digest.waiting).finalize()[..16]);
    key
}

impl Digest {
    fn feed(&mut self, bytes: &[u8]) {
        if self.waiting.len() + bytes.len() > AT_ONCE {
            self.digest.update(&self.waiting);
            self.waiting.clear();
        }
        if bytes.len() > AT_ONCE {
            self.digest.update(bytes);
        } else {
            self.waiting.extend_from_slice(bytes);
        }
    }

    fn feed_calls(&mut self, pair: CallPair<'_>, question: &InputKey) {
        self.feed(question);
        self.feed_text(pair.tool);
        for side in [pair.a, pair.b] {
            self.feed_value(side.unwrap_or(&Json::Object(Vec::new())));
        }
    }

    fn feed_count(&mut self, count: usize) {
        self.feed(&(count as u64).to_le_bytes());
    }

    fn feed_text(&mut self, text: &str) {
        self.feed_count(text.len());
        self.feed(text.as_bytes());
    }

    /// Feeds a value so that no two values give the same bytes: kinds are marked, and lengths come first.
    fn feed_value(&mut self, value: &Json) {
        match value {
            Json::Null => self.feed(&[0]),
            Json::Bool(value) => self.feed(&[1, u8::from(*value)]),
            Json::Integer(value) => {
                self.feed(&[2]);
                self.feed(&value.to_le_bytes());
            }
            Json::Float(value) => {
                self.feed(&[3]);
                self.feed(&value.to_bits().to_le_bytes());
            }
            Json::LongInteger(digits) => {
                self.feed(&[4]);
                self.feed_text(digits);
            }
            Json::String(text) => {
                self.feed(&[5]);
                self.feed_text(text);
            }
            Json::Array(items) => {
                self.feed(&[6]);
                self.feed_count(items.len());
                for item in items {
                    self.feed_value(item);
                }
            }
            Json::Object(members) => {
                self.feed(&[7]);
                self.feed_count(members.len());
                for (key, value) in members {
                    self.feed_text(key);
                    self.feed_value(value);
                }
            }
        }
    }
}

/// A comparison as bytes; `None` if it is too long to be kept.
pub(super) fn encode(fidelity: &CallFidelity) -> Option<Vec<u8>> {
    let argument = |argument: &ArgumentComparison| -> KeptArgument {
        let ArgumentComparison { path, other_path, kind, score, verdict, reason, .. } = argument.clone();
        (path, other_path, kind, verdict, score.to_bits(), reason.into_owned())
    };
    let region = |region: &RegionOverlap| -> KeptRegion {
        let RegionOverlap { reference, predicted, shape, overlap } = region.clone();
        (reference, predicted, shape.to_owned(), overlap.to_bits())
    };
    let Regions { each, overlaps } = &fidelity.regions;
    let arguments = fidelity.arguments.iter().map(argument).collect();
    let kept: StoredComparison =
        (arguments, each.iter().map(region).collect(), overlaps.sum.to_bits(), overlaps.count);
    serde_json::to_vec(&kept).ok().filter(|bytes| bytes.len() <= LONGEST)
}

/// Reads a comparison from its bytes; `None` if they are damaged.
pub(super) fn decode(bytes: &[u8]) -> Option<CallFidelity> {
    let (arguments, each, sum, count): StoredComparison = serde_json::from_slice(bytes).ok()?;
    let unit = |bits: u64| Some(f64::from_bits(bits)).filter(|value| (0.0..=1.0).contains(value));
    let argument = |(path, other_path, kind, verdict, score, reason): KeptArgument| {
        let (score, reason) = (unit(score)?, reason.into());
        Some(ArgumentComparison { path, other_path, kind, score, verdict, reason })
    };
    let region = |(reference, predicted, shape, overlap): KeptRegion| {
        let shape = Shape::NAMES.into_iter().find(|name| *name == shape)?;
        Some(RegionOverlap { reference, predicted, shape, overlap: unit(overlap)? })
    };
    let sum = Some(f64::from_bits(sum)).filter(|sum| (0.0..=count as f64).contains(sum))?;
    let regions = Regions {
        each: each.into_iter().map(region).collect::<Option<_>>()?,
        overlaps: SumAndCount { sum, count },
    };
    Some(CallFidelity::new(arguments.into_iter().map(argument).collect::<Option<_>>()?, regions))
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;
    use proptest::prelude::*;

    use super::super::{Fidelity, tests::two};
    use super::*;

    proptest! {
        /// Nothing of a comparison is lost or changed in the cache, to the last bit.
        #[test]
        fn what_is_kept_is_what_was_compared((a, b) in two()) {
            let fidelity = Fidelity::new(None).compare(CallPair { tool: "s/t", a: Some(&a), b: Some(&b), question: None, schema: None });
            prop_assert_eq!(decode(&encode(&fidelity).unwrap()).unwrap(), fidelity);
        }
    }

    /// The number of bytes that are hashed at once changes no key.
    #[test]
    fn long_values_have_the_key_of_their_bytes() {
        for length in [AT_ONCE - 9, AT_ONCE - 8, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE] {
            let text = "x".repeat(length);
            let key = hashed(|digest| {
                digest.feed(b"before");
                digest.feed_text(&text);
                digest.feed(b"after");
            });
            let bytes = [&b"before"[..], &(length as u64).to_le_bytes(), text.as_bytes(), b"after"].concat();
            assert_eq!(key, Sha256::digest(bytes)[..16], "{length}");
        }
    }

    #[test]
    fn other_calls_have_other_keys() {
        let none = schema_key(None);
        let key_of = |tool: &str, a: &str, b: &str, schema: &InputKey| {
            let (a, b) = (parse(a.as_bytes()).unwrap().0, parse(b.as_bytes()).unwrap().0);
            let pair = CallPair { tool, a: Some(&a), b: Some(&b), question: None, schema: None };
            key(pair, schema, &question_key(None), "model")
        };
        let mut keys: Vec<InputKey> = [
            ("t", r#"{"a": 1}"#, r#"{"a": 2}"#),
            ("t", r#"{"a": 2}"#, r#"{"a": 1}"#),
            ("t", r#"{"a": 1.0}"#, r#"{"a": 2}"#),
            ("t", r#"{"a": "1"}"#, r#"{"a": 2}"#),
            ("t", r#"{"a": [1]}"#, r#"{"a": 2}"#),
            ("t", r#"{"a": [[]]}"#, r#"{"a": [[], []]}"#),
            ("u", r#"{"a": 1}"#, r#"{"a": 2}"#),
        ]
        .map(|(tool, a, b)| key_of(tool, a, b, &none))
        .to_vec();
        keys.push(key_of("t", r#"{"a": 1}"#, r#"{"a": 2}"#, &schema_key(Some(&Json::Object(Vec::new())))));
        let one = Json::Object(vec![("a".to_owned(), Json::Integer(1))]);
        let asked = CallPair { tool: "t", a: Some(&one), b: None, question: Some("what"), schema: None };
        keys.push(key(asked, &none, &question_key(asked.question), "model"));
        keys.push(key(CallPair { question: None, ..asked }, &none, &question_key(None), "model"));
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn damaged_bytes_are_no_comparison() {
        for bytes in [
            &b""[..],
            b"[",
            b"{}",
            b"[1]",
            b"[[],[[null,null,\"star\",0]],0,0]",
            br#"[[["/a",null,"Number","Equal",18446744073709551615,"x"]],[],0,0]"#,
        ] {
            assert!(decode(bytes).is_none());
        }
        assert_eq!(decode(b"[[],[],0,0]"), Some(CallFidelity::default()));
    }
}
