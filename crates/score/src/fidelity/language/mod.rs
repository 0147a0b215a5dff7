//! The parts of a language other than its thesaurus: texts in one writing, kinds of words, numbers in words.

mod fold;
pub(super) mod lexicon;
pub(super) mod numerals;

pub(super) use fold::fold;
