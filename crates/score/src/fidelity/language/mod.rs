//! What is known of a language without its thesaurus: texts in one writing, kinds of words, numbers in words.

mod fold;
pub(super) mod lexicon;
pub(super) mod numerals;

pub(super) use fold::fold;
