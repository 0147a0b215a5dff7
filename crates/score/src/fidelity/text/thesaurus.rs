//! What the words of texts may mean, by `WordNet`.

pub(super) use crate::wordnet::{Relation, Sense, is_implied, is_instance, is_name, is_verb, relation};

use super::super::language::lexicon;

/// What a word or words may mean, of which the last may be inflected.
pub(super) fn meanings(words: &str) -> Vec<Sense> {
    crate::wordnet::meanings(words, lexicon::irregular)
}
