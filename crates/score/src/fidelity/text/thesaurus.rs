//! What the words of texts may mean, by `WordNet`.

pub(super) use m3_wordnet::{Relation, Sense, is_implied, is_instance, is_name, is_verb, relation};

use super::super::language::lexicon;

/// What a word or words may mean, of which the last may be inflected.
pub(super) fn meanings(words: &str) -> Vec<Sense> {
    m3_wordnet::meanings(words, lexicon::irregular)
}
