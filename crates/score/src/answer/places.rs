//! Which values of the reference a reply has, and which it replaces by others.

use super::contexts::{Contents, Context};
use super::tokens::Token;
use super::values::{Content, Value};
use super::words::stem;

/// The least likeness of two contexts that are the same place.
const SAME_PLACE: f64 = 0.4;

/// The least likeness for a value that only the reply has, in the place of a value that it has elsewhere.
const NEW_THERE: f64 = 0.6;

/// How much more alike the place of such a value must be than the place elsewhere.
const LITTLE: f64 = 0.02;

/// How much more alike a place must be than another to be the better one.
const MARGIN: f64 = 0.12;

/// The margin for names, whose places are less certain: other values are bound to them.
const MARGIN_OF_NAMES: f64 = 0.18;

/// What a reply does with a value of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The reply has the value.
    Present,
    /// The reply has the value nowhere.
    Missing,
    /// The reply has its own value with this index in the place.
    Replaced(usize),
}

/// A reply of either side and its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) values: &'a [Value],
    pub(super) contents: &'a Contents,
}

/// A value, its context, and the best likeness of the context to one of the same value on the other side.
struct Place<'a> {
    content: &'a Content,
    context: Context,
    home: Option<f64>,
}

impl<'a> Side<'a> {
    fn places(self) -> Vec<Place<'a>> {
        let place = |value: &'a Value| Place {
            content: &value.content,
            context: Context::new(self.tokens, value, self.contents),
            home: None,
        };
        self.values.iter().map(place).collect()
    }
}

/// The fate of each of the reference's values.
pub(super) fn fates(reference: Side<'_>, reply: Side<'_>) -> Vec<Fate> {
    let (mut ours, mut theirs) = (reference.places(), reply.places());
    let mut alike = vec![vec![0.0; theirs.len()]; ours.len()];
    for (our, alike) in ours.iter_mut().zip(&mut alike) {
        for (their, alike) in theirs.iter_mut().zip(alike) {
            let is_same = our.content.is_same(their.content);
            if !is_same && !our.content.is_rival(their.content) {
                continue;
            }
            *alike = our.context.alike(&their.context);
            if is_same {
                our.home = Some(our.home.map_or(*alike, |home| home.max(*alike)));
                their.home = Some(their.home.map_or(*alike, |home| home.max(*alike)));
            }
        }
    }
    let fate = |(our, alike): (&Place<'_>, &Vec<f64>)| match replacement(our, &theirs, alike) {
        Some(at) => Fate::Replaced(at),
        None if our.home.is_some() || has(reply.tokens, our.content) => Fate::Present,
        None => Fate::Missing,
    };
    ours.iter().zip(&alike).map(fate).collect()
}

/// The index of the reply's value that stands where this value of the reference should: their places are alike, and
/// more so than either is to a place of the same value.
fn replacement(our: &Place<'_>, theirs: &[Place<'_>], alike: &[f64]) -> Option<usize> {
    let margin = if matches!(our.content, Content::Name(_)) { MARGIN_OF_NAMES } else { MARGIN };
    let is_rival = |&at: &usize| {
        let their = &theirs[at];
        let is_away = their.home.is_none_or(|home| alike[at] > home + margin);
        is_away && our.content.is_rival(their.content) && !our.content.is_same(their.content)
    };
    let at = (0..theirs.len()).filter(is_rival).max_by(|&a, &b| alike[a].total_cmp(&alike[b]))?;
    let least = match (our.home, theirs[at].home) {
        (None, _) => SAME_PLACE,
        (Some(home), Some(_)) => f64::max(SAME_PLACE, home + margin),
        (Some(home), None) => f64::max(NEW_THERE, home + LITTLE),
    };
    (alike[at] >= least).then_some(at)
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
