//! Which values of the reference a reply has, and which it has another one in the place of.

use super::contexts::{Context, Vocabulary};
use super::tokens::Token;
use super::values::{Content, Value};
use super::words::stem;

/// How alike two contexts are at least that are the same place.
const SAME_PLACE: f64 = 0.4;

/// The same, where the reply says a value there that the reference has nowhere, though it has the reference's elsewhere.
const NEW_THERE: f64 = 0.6;

/// By how much one place must be more alike than another to be the better one.
const MARGIN: f64 = 0.12;

/// The same of names, which have less of a place: they are what other values are bound to.
const MARGIN_OF_NAMES: f64 = 0.18;

/// What a reply does with a value of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It has it.
    Kept,
    /// It has it nowhere.
    Missing,
    /// It has this one of its own values in its place.
    Replaced(usize),
}

/// A reply and its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) values: &'a [Value],
}

/// The fate of each of the reference's values.
pub(super) fn fates(reference: Side<'_>, reply: Side<'_>) -> Vec<Fate> {
    let vocabulary = Vocabulary::new(reference.tokens, reply.tokens);
    let contexts = |side: Side<'_>| -> Vec<Context> {
        side.values.iter().map(|value| Context::new(side.tokens, value, &vocabulary)).collect()
    };
    let (of_reference, of_reply) = (contexts(reference), contexts(reply));
    // How well each value of the reply stands where the reference has the same one.
    let own: Vec<Option<f64>> = (reply.values.iter().zip(&of_reply))
        .map(|(said, context)| {
            let same = reference.values.iter().zip(&of_reference).filter(|(known, _)| known.content.is_same(&said.content));
            same.map(|(_, known)| known.alike(context)).reduce(f64::max)
        })
        .collect();
    (reference.values.iter().zip(&of_reference))
        .map(|(known, context)| {
            let margin = if matches!(known.content, Content::Name(_)) { MARGIN_OF_NAMES } else { MARGIN };
            let (mut kept, mut rival) = (None::<f64>, None::<(f64, usize)>);
            for (at, (said, there)) in reply.values.iter().zip(&of_reply).enumerate() {
                let alike = context.alike(there);
                if known.content.is_same(&said.content) {
                    kept = Some(kept.map_or(alike, |kept| kept.max(alike)));
                } else if known.content.is_rival(&said.content) && own[at].is_none_or(|own| alike > own + margin) {
                    rival = rival.filter(|(best, _)| *best >= alike).or(Some((alike, at)));
                }
            }
            if kept.is_none() && has(reply.tokens, &known.content) {
                return Fate::Kept;
            }
            let least = |at: usize| match (kept, own[at]) {
                (None, _) => SAME_PLACE,
                (Some(kept), Some(_)) => f64::max(SAME_PLACE, kept + margin),
                (Some(kept), None) => f64::max(NEW_THERE, kept + 0.02),
            };
            match rival {
                Some((alike, at)) if alike >= least(at) => Fate::Replaced(at),
                _ if kept.is_some() => Fate::Kept,
                _ => Fate::Missing,
            }
        })
        .collect()
}

/// Whether a reply has the words of a name near one another, in whatever order and case.
pub(super) fn has(tokens: &[Token], content: &Content) -> bool {
    let Content::Name(words) = content else { return false };
    let Some(first) = words.first() else { return false };
    let is_at = |at: usize| {
        let near = &tokens[at.saturating_sub(words.len())..tokens.len().min(at + 2 * words.len())];
        words.iter().all(|word| near.iter().any(|token| stem(&token.text) == word))
    };
    tokens.iter().enumerate().any(|(at, token)| stem(&token.text) == first && is_at(at))
}
