//! Rewrites the arguments of two calls: names with the same meaning become equal, and others become words that say so.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use m3_flow::{Mention, Role, may_be_same_file};
use m3_support::pointer::segments;
use m3_trajectory::json::Json;

use super::tokens::{Meaning, ending, written};
use super::{Counterparts, PairFlow, part};
use crate::calls::Calls;
use crate::fidelity::constants::SAME_OTHERWISE;
use crate::fidelity::{ArgumentComparison, CallFidelity, Kind, Verdict};

/// Two calls' arguments, written for their comparison.
pub(crate) struct RewrittenPair {
    /// The reference's arguments.
    pub(crate) reference: Json,
    /// The prediction's arguments.
    pub(crate) predicted: Json,
    /// Which names of the prediction were changed, in its arguments.
    pub(crate) changes: Vec<NameChange>,
}

/// A name that was taken for another one, or that only one call has.
pub(crate) struct NameChange {
    /// The argument: a JSON pointer.
    pub(crate) pointer: String,
    /// Equal; equivalent for another kind of file; missing or extra where only one call has the name.
    pub(crate) verdict: Verdict,
    /// Why the names count as the same, in a few words.
    pub(crate) reason: &'static str,
}

impl RewrittenPair {
    /// Turns the comparison of the rewritten arguments into one of the original arguments: a changed name that is now
    /// equal gets its reason.
    pub(crate) fn explain(&self, mut fidelity: CallFidelity) -> CallFidelity {
        for NameChange { pointer, verdict, reason } in &self.changes {
            let reason = Cow::Borrowed(*reason);
            if matches!(verdict, Verdict::Missing | Verdict::Extra) {
                let (path, other_path, verdict) = (pointer.clone(), None, *verdict);
                let (kind, score) = (Kind::Made, SAME_OTHERWISE);
                let argument = ArgumentComparison { path, other_path, kind, score, verdict, reason };
                fidelity.arguments.push(argument);
                fidelity.score = fidelity.score.min(SAME_OTHERWISE);
                continue;
            }
            let is_of = |argument: &&mut ArgumentComparison| {
                let path = argument.other_path.as_deref().unwrap_or(&argument.path);
                let rest = pointer.strip_prefix(path);
                argument.verdict == Verdict::Equal
                    && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if let Some(argument) = fidelity.arguments.iter_mut().find(is_of) {
                argument.reason = reason;
                if *verdict == Verdict::Equivalent {
                    (argument.verdict, argument.score) = (Verdict::Equivalent, SAME_OTHERWISE);
                    fidelity.score = fidelity.score.min(SAME_OTHERWISE);
                }
            }
        }
        fidelity
    }
}

/// The inputs of a rewriting besides the arguments.
pub(crate) struct RewriteContext<'a> {
    pub(crate) calls: (&'a Calls, &'a Calls),
    pub(crate) pairing: Counterparts<'a>,
    /// Whether the tool must be given an argument of this name.
    pub(crate) is_required: &'a dyn Fn(&str) -> bool,
}

/// A mention of a file with its meaning and its text.
struct MeantMention<'m> {
    mention: &'m Mention,
    meaning: Meaning,
    text: &'m str,
}

/// A change of a text: the pointer to it, the range of bytes, and the new text.
pub(crate) type Change = (String, Range<usize>, String);

impl PairFlow {
    /// The arguments of a reference call and a predicted call under a pairing of calls; `None` where they stay as they are.
    pub(crate) fn rewrite(
        &self,
        (reference, predicted): (usize, usize),
        (a, b): (&Json, &Json),
        context: &RewriteContext<'_>,
    ) -> Option<RewrittenPair> {
        let mentions = (
            self.references.lineage.mentions.get(reference).map_or(&[][..], Vec::as_slice),
            self.predictions.lineage.mentions.get(predicted).map_or(&[][..], Vec::as_slice),
        );
        if mentions.0.is_empty() && mentions.1.is_empty() && !self.values.are_used_by(predicted) {
            return None;
        }
        let pairing = context.pairing;
        let mut wanted = named(mentions.0, a, |mention| self.reference_meaning(mention, pairing));
        let mut given = named(mentions.1, b, |mention| self.predicted_meaning(mention, pairing));
        if are_same_names(&wanted, &given) && !self.values.are_used_by(predicted) {
            return None;
        }
        self.forgive_losses(&wanted, &mut given);
        self.hold_to_question(&mut wanted, &mut given);
        let mut writer = Writer { flow: self, context, changes: Vec::new(), names: [Vec::new(), Vec::new()] };
        for name in &given {
            writer.predicted(name, &wanted, a);
        }
        for name in &wanted {
            writer.reference(name, &given, b);
        }
        let [of_reference, of_prediction] = writer.names;
        let mut changes = writer.changes;
        let is_renamed = !of_reference.is_empty() || !of_prediction.is_empty();
        if !is_renamed && !self.values.are_used_by(predicted) {
            return None;
        }
        let (own, mut given) = (replaced(a, of_reference), replaced(b, of_prediction));
        let values = self.values.put((reference, predicted), pairing, (a, &mut given));
        let is_changed = is_renamed || !values.is_empty();
        changes.extend(values.into_iter().map(|pointer| NameChange {
            pointer,
            verdict: Verdict::Equal,
            reason: "what the matched call made, by another value",
        }));
        is_changed.then_some(RewrittenPair { reference: own, predicted: given, changes })
    }

    /// Takes back that a file is lost or continued, unless the reference leaves its own file behind: of several that a
    /// call makes, the one at the same place.
    fn forgive_losses(&self, wanted: &[MeantMention<'_>], given: &mut [MeantMention<'_>]) {
        let left = |name: &MeantMention<'_>| match name.mention.role {
            Role::Writes(version) => Some(self.references.lineage.is_left(version)),
            _ => None,
        };
        let is_any_left = wanted.iter().any(|name| left(name) == Some(true));
        for name in
            given.iter_mut().filter(|name| matches!(name.meaning, Meaning::Lost(_) | Meaning::Continued(_)))
        {
            let Role::Writes(version) = name.mention.role else { continue };
            let slot = self.predictions.slot(version);
            let own = wanted.iter().find(|other| match other.mention.role {
                Role::Writes(version) => self.references.slot(version) == slot,
                _ => false,
            });
            match own {
                Some(own) if left(own) == Some(true) => {}
                Some(own) if own.meaning == written(&self.predictions, version) => {
                    name.meaning = own.meaning.clone();
                }
                Some(_) => name.meaning = Meaning::New(slot),
                None if is_any_left => {}
                None => name.meaning = Meaning::New(String::new()),
            }
        }
    }

    /// Names that the question asks for are compared as they stand.
    fn hold_to_question<'m>(&self, wanted: &mut Vec<MeantMention<'m>>, given: &mut Vec<MeantMention<'m>>) {
        let is_new = |name: &MeantMention<'_>| matches!(name.meaning, Meaning::New(_));
        let is_named_by_choice = |name: &MeantMention<'_>| {
            use Meaning::{Continued, Foreign, InPlace, New};
            matches!(name.meaning, New(_) | InPlace(_) | Foreign(_) | Continued(_))
        };
        let texts = |names: &[MeantMention<'_>]| -> Vec<(String, String)> {
            let chosen = names.iter().filter(|name| is_named_by_choice(name));
            chosen.map(|name| (name.mention.pointer.clone(), name.text.to_owned())).collect()
        };
        let (of_reference, of_prediction) = (texts(wanted), texts(given));
        let all = of_reference.iter().chain(&of_prediction);
        let asked: HashSet<&str> =
            all.filter(|(_, text)| self.asked.file(text)).map(|(pointer, _)| pointer.as_str()).collect();
        for name in wanted.iter_mut().chain(given.iter_mut()).filter(|name| is_named_by_choice(name)) {
            if asked.contains(name.mention.pointer.as_str()) {
                // The folder may be written in another way.
                let same = of_reference.iter().find(|(_, text)| may_be_same_file(text, name.text));
                name.meaning = Meaning::Asked(same.map_or(name.text, |(_, text)| text).to_owned());
            }
        }
        // If the question asks for a kind of file, another kind is another file.
        let asks = |name: &MeantMention<'_>| is_new(name) && self.asked.kind_of_file(ending(name.text));
        if wanted.iter().any(asks) {
            for name in wanted.iter_mut().chain(given.iter_mut()).filter(|name| is_new(name)) {
                name.meaning = Meaning::New(format!("/.{}", ending(name.text).to_lowercase()));
            }
        }
    }
}

fn named<'m>(
    mentions: &'m [Mention],
    arguments: &'m Json,
    meaning: impl Fn(&Mention) -> Meaning,
) -> Vec<MeantMention<'m>> {
    let name = |mention: &'m Mention| {
        let text = part(arguments.pointer(&mention.pointer)?.as_str()?, &mention.span);
        Some(MeantMention { mention, meaning: meaning(mention), text })
    };
    mentions.iter().filter_map(name).collect()
}

/// Whether two calls have the same names with the same meanings in the same arguments: then nothing is renamed. Their
/// place within a text does not matter, because names are only ever replaced by one another.
fn are_same_names(wanted: &[MeantMention<'_>], given: &[MeantMention<'_>]) -> bool {
    let is_same = |(a, b): (&MeantMention<'_>, &MeantMention<'_>)| {
        a.text == b.text && a.mention.pointer == b.mention.pointer && a.meaning == b.meaning
    };
    wanted.len() == given.len() && wanted.iter().zip(given).all(is_same)
}

/// Decides the replacement of each name.
struct Writer<'a> {
    flow: &'a PairFlow,
    context: &'a RewriteContext<'a>,
    changes: Vec<NameChange>,
    /// The changes of the reference's arguments, and of the prediction's.
    names: [Vec<Change>; 2],
}

impl Writer<'_> {
    /// Replaces a name of the prediction by the reference's name with the same meaning, or else by words.
    fn predicted(&mut self, name: &MeantMention<'_>, wanted: &[MeantMention<'_>], a: &Json) {
        let same = || wanted.iter().filter(|other| other.meaning == name.meaning);
        // A text may hold several names with one meaning: the same name is the surest.
        let here = || same().filter(|other| other.mention.pointer == name.mention.pointer);
        let own =
            here().find(|other| other.text == name.text).or_else(|| here().next()).or_else(|| same().next());
        let place = (name.mention.pointer.clone(), name.mention.span.clone());
        if let Some(own) = own {
            if own.text != name.text {
                let is_other_kind = ending(own.text) != ending(name.text);
                let (pointer, reason) = (name.mention.pointer.clone(), reason(&name.meaning, is_other_kind));
                let verdict = if is_other_kind { Verdict::Equivalent } else { Verdict::Equal };
                self.changes.push(NameChange { pointer, verdict, reason });
                self.names[1].push((place.0, place.1, own.text.to_owned()));
            }
        } else if is_answered(a, &name.mention.pointer) || matches!(name.meaning, Meaning::InPlaceOfTaskImage)
        {
            self.names[1].push((place.0, place.1, self.token(&name.meaning)));
        } else if self.is_free(name) {
            self.leave_out(1, name);
        }
    }

    /// Replaces a name of the reference by words, if the prediction has no name with its meaning.
    fn reference(&mut self, name: &MeantMention<'_>, given: &[MeantMention<'_>], b: &Json) {
        if given.iter().any(|other| other.meaning == name.meaning) {
            return;
        }
        if is_answered(b, &name.mention.pointer) {
            let token = self.token(&name.meaning);
            self.names[0].push((name.mention.pointer.clone(), name.mention.span.clone(), token));
        } else if self.is_free(name) {
            self.leave_out(0, name);
        }
    }

    fn token(&self, meaning: &Meaning) -> String {
        self.flow.token(meaning, self.context.calls, self.context.pairing)
    }

    /// Whether a name for a new file may be left to the tool: its argument is not required.
    fn is_free(&self, name: &MeantMention<'_>) -> bool {
        let key = segments(&name.mention.pointer).next();
        matches!(name.meaning, Meaning::New(_)) && key.is_some_and(|key| !(self.context.is_required)(&key))
    }

    /// Leaves an argument out on the side that has it, if it is a name and nothing else.
    fn leave_out(&mut self, side: usize, name: &MeantMention<'_>) {
        if segments(&name.mention.pointer).count() == 1 {
            let verdict = if side == 0 { Verdict::Missing } else { Verdict::Extra };
            let pointer = name.mention.pointer.clone();
            self.changes.push(NameChange { pointer, verdict, reason: DEFAULT_NAME });
            self.names[side].push((name.mention.pointer.clone(), 0..usize::MAX, String::new()));
        }
    }
}

/// The reason where only one call names what it makes.
const DEFAULT_NAME: &str = "only one call names what it makes, the other leaves the name to the tool";

fn reason(meaning: &Meaning, is_other_kind: bool) -> &'static str {
    match meaning {
        Meaning::Asked(_) => "the name that the question asks for, its folder written otherwise",
        Meaning::New(_) if is_other_kind => "another kind of file, and nothing says which is wanted",
        Meaning::New(_) => "the name of what the call makes is its own choice",
        Meaning::TaskImage => "the task's picture under another of its names",
        Meaning::InPlace(_) => "the same file under another name",
        _ => "what the matched call made, under another name",
    }
}

/// Whether the other call has the argument that a pointer leads into.
fn is_answered(other: &Json, pointer: &str) -> bool {
    segments(pointer).next().is_some_and(|key| other.get(&key).is_some())
}

/// The arguments after these changes; a range that ends at `usize::MAX` removes its argument.
pub(crate) fn replaced(arguments: &Json, mut changes: Vec<Change>) -> Json {
    let mut arguments = arguments.clone();
    // The last change of a text comes first, so that the ranges of the others stay right.
    changes.sort_by(|a, b| (&a.0, b.1.start).cmp(&(&b.0, a.1.start)));
    for (pointer, span, new) in changes {
        if span.end == usize::MAX {
            if let (Json::Object(members), Some(key)) = (&mut arguments, segments(&pointer).next()) {
                members.retain(|(name, _)| *name != key);
            }
        } else if let Some(Json::String(text)) = at_mut(&mut arguments, &pointer)
            && text.get(span.clone()).is_some()
        {
            text.replace_range(span, &new);
        }
    }
    arguments
}

/// The value that a pointer leads to.
pub(crate) fn at_mut<'j>(value: &'j mut Json, pointer: &str) -> Option<&'j mut Json> {
    segments(pointer).try_fold(value, |value, key| match value {
        Json::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        Json::Object(members) => members.iter_mut().find(|(name, _)| *name == key).map(|(_, value)| value),
        _ => None,
    })
}
