//! One of two texts that are aligned.

use std::ops::Range;

use super::super::constants::REQUEST_WORD;
use super::thesaurus::{self, Sense};
use super::token::Token;

/// One of two texts, with what of it is not yet aligned.
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

    /// Says how much of some tokens is left over.
    pub(super) fn settle(&mut self, places: &[usize], left: f64) {
        for &at in places {
            self.left[at] = left;
        }
    }

    /// The tokens that are left over and carry something.
    pub(super) fn content_left_over(&self) -> Vec<usize> {
        let mut places = self.left_over();
        places.retain(|&at| self.tokens[at].weight > REQUEST_WORD);
        places
    }

    /// What neighbouring tokens may mean together.
    pub(super) fn meanings(&self, places: Range<usize>) -> Vec<Sense> {
        let words: Vec<&str> = self.tokens[places].iter().map(Token::lemma).collect();
        thesaurus::meanings(&words.join(" "))
    }

    /// The tokens of which anything is left over.
    pub(super) fn left_over(&self) -> Vec<usize> {
        (0..self.tokens.len()).filter(|&at| self.left[at] >= 1.0).collect()
    }

    /// What is left over, in words of content.
    pub(super) fn loss(&self) -> f64 {
        self.tokens.iter().zip(&self.left).map(|(token, left)| token.weight * left).sum()
    }

    pub(super) fn content(&self) -> f64 {
        self.tokens.iter().map(|token| token.weight).sum()
    }
}
