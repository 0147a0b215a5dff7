//! What became of each argument of a match: the comparison that its fidelity is made of, with the values beside it.

use std::borrow::Cow;

use super::limits::KEPT_ARGUMENTS;
use super::{ArgumentAudit, MatchArguments, VerdictCounts};
use crate::score::fidelity::{ArgumentComparison, CallFidelity, Verdict};
use crate::trajectory::json::{Json, Keys};

/// Keys are cut to so many characters.
const KEY: usize = 1_000;

/// A text that a pointer leads into stands there once for each value it holds, so it is cut to so many characters.
const HOLDING: usize = 2_000;

impl MatchArguments {
    /// The arguments of a match in the order of their comparison. Where there are too many, those that are not equal
    /// are kept before the others.
    pub(super) fn new(fidelity: &CallFidelity, reference: Option<&Json>, predicted: Option<&Json>) -> Self {
        let all = &fidelity.arguments;
        let mut verdicts = VerdictCounts::default();
        all.iter().for_each(|argument| *verdicts.of(argument.verdict) += 1);
        let (equal, mut kept): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|&index| all[index].verdict == Verdict::Equal);
        kept.extend(equal);
        kept.truncate(KEPT_ARGUMENTS);
        kept.sort_unstable();
        Self {
            more: (all.len() - kept.len()) as u64,
            arguments: kept
                .into_iter()
                .map(|index| ArgumentAudit::new(&all[index], reference, predicted))
                .collect(),
            verdicts,
        }
    }
}

impl VerdictCounts {
    fn of(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Equal => &mut self.equal,
            Verdict::Equivalent => &mut self.equivalent,
            Verdict::Close => &mut self.close,
            Verdict::Different => &mut self.different,
            Verdict::Missing => &mut self.missing,
            Verdict::Extra => &mut self.extra,
        }
    }
}

impl ArgumentAudit {
    fn new(compared: &ArgumentComparison, reference: Option<&Json>, predicted: Option<&Json>) -> Self {
        let there = lookup(reference, &compared.path);
        let here = lookup(predicted, compared.other_path.as_deref().unwrap_or(&compared.path));
        // What is absent on a side may have a text around the place where it would be.
        let text = |place: &Place<'_>, absent: Verdict| match place.value {
            Some(value) if place.is_inside => {
                (compared.verdict != absent).then(|| cut(&value.to_text(Keys::Sorted), HOLDING).into_owned())
            }
            value => value.map(|value| value.to_text(Keys::Sorted)),
        };
        let (expected, made) = (text(&there, Verdict::Extra), text(&here, Verdict::Missing));
        let is_extra = compared.verdict == Verdict::Extra;
        let has_moved = compared.other_path.is_some() && !is_extra;
        let (argument, other) = if is_extra { (here.name, there.name) } else { (there.name, here.name) };
        Self {
            argument,
            predicted_argument: has_moved.then_some(other),
            kind: compared.kind.name().to_owned(),
            verdict: compared.verdict.name().to_owned(),
            reason: compared.reason.to_string(),
            score: compared.score,
            reference: expected,
            predicted: made,
        }
    }
}

/// What a JSON pointer leads to.
struct Place<'a> {
    /// For people: `location.lat`, `box[2]`.
    name: String,
    value: Option<&'a Json>,
    /// Whether the pointer goes on into the value, which is a text that holds others or stands for a list.
    is_inside: bool,
}

fn lookup<'a>(arguments: Option<&'a Json>, pointer: &str) -> Place<'a> {
    let mut place = Place { name: String::new(), value: arguments, is_inside: false };
    for segment in pointer.split('/').skip(1) {
        let key = unescaped(segment);
        match place.value {
            Some(Json::Object(members)) => {
                place.value = members.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
                add_member(&mut place.name, &key);
            }
            Some(Json::Array(items)) => {
                place.value = key.parse::<usize>().ok().and_then(|index| items.get(index));
                add_item(&mut place.name, &key);
            }
            within => {
                place.is_inside = within.is_some();
                let is_item = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
                if is_item { add_item(&mut place.name, &key) } else { add_member(&mut place.name, &key) }
            }
        }
    }
    place
}

/// A segment of a JSON pointer as the key that it is.
fn unescaped(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        segment.replace("~1", "/").replace("~0", "~").into()
    } else {
        segment.into()
    }
}

fn add_member(name: &mut String, key: &str) {
    if !name.is_empty() {
        name.push('.');
    }
    // An empty name would be that of the arguments as a whole.
    name.push_str(&if key.is_empty() { "\"\"".into() } else { cut(key, KEY) });
}

fn add_item(name: &mut String, index: &str) {
    name.push('[');
    name.push_str(&cut(index, KEY));
    name.push(']');
}

/// The start of a text.
fn cut(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        None => text.into(),
        Some((offset, _)) => format!("{}…", &text[..offset]).into(),
    }
}
