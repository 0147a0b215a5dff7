//! The meanings of words, by `WordNet`.

pub(super) use crate::wordnet::{Relation, Sense, is_implied, is_instance, is_name, is_verb, relation};

use super::super::language::lexicon;

/// The senses of a word, or of several words together, of which the last may be inflected.
pub(super) fn meanings(words: &str) -> Vec<Sense> {
    crate::wordnet::meanings(words, lexicon::irregular)
}
