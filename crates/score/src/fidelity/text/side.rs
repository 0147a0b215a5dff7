//! One of two texts that are aligned.

use std::ops::Range;

use super::super::constants::REQUEST_WORD;
use super::thesaurus::{self, Sense};
use super::token::Token;

/// One of two texts, and the part of it that is not yet aligned.
pub(super) struct Side {
    pub(super) tokens: Vec<Token>,
    /// How much of each token is left over, from 1 to 0.
    pub(super) left: Vec<f64>,
    /// The token of the other text that each is aligned with as the same word.
    pub(super) partner: Vec<Option<usize>>,
}

impl Side {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { left: vec![1.0; tokens.len()], partner: vec![None; tokens.len()], tokens }
    }

    /// Sets how much of some tokens is left over.
    pub(super) fn settle(&mut self, places: &[usize], left: f64) {
        for &at in places {
            self.left[at] = left;
        }
    }

    /// The left-over tokens that have content.
    pub(super) fn content_left_over(&self) -> Vec<usize> {
        let mut places = self.left_over();
        places.retain(|&at| self.tokens[at].weight > REQUEST_WORD);
        places
    }

    /// The senses of neighbouring tokens as one name.
    pub(super) fn meanings(&self, places: Range<usize>) -> Vec<Sense> {
        let words: Vec<&str> = self.tokens[places].iter().map(Token::lemma).collect();
        thesaurus::meanings(&words.join(" "))
    }

    /// The tokens that are left over as a whole.
    pub(super) fn left_over(&self) -> Vec<usize> {
        (0..self.tokens.len()).filter(|&at| self.left[at] >= 1.0).collect()
    }

    /// The weight of everything that is left over; a whole word of content weighs 1.
    pub(super) fn loss(&self) -> f64 {
        self.tokens.iter().zip(&self.left).map(|(token, left)| token.weight * left).sum()
    }

    pub(super) fn content(&self) -> f64 {
        self.tokens.iter().map(|token| token.weight).sum()
    }
}
