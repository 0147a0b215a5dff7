//! Wrong and right variants of a reply, the same in each run. They know nothing of how replies are compared.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::replies::Task;
use crate::reword::reworded;

/// Numbers that only look random: a linear congruential generator.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: &str) -> Self {
        Self(Sha256::digest(seed)[..8].iter().fold(0, |seed, &byte| seed << 8 | u64::from(byte)))
    }

    /// A number below this one, or 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// The variants of a task's reply with their kinds, of which `reworded` alone is right.
pub(crate) fn variants(tasks: &[Task], at: usize) -> Vec<(&'static str, String)> {
    let (task, mut found) = (&tasks[at], Vec::new());
    for round in 0..3 {
        let mut dice = Dice::new(&format!("{} {at} {round}", task.id));
        found.extend(changed(&task.reply, &mut dice).map(|reply| ("changed", reply)));
        found.extend(exchanged(&task.reply, &mut dice).map(|reply| ("exchanged", reply)));
        found.extend(left_out(&task.reply, &mut dice).map(|reply| ("left out", reply)));
        found.extend(negated(&task.reply, &mut dice).map(|reply| ("negated", reply)));
        let other = &tasks[(at + 1 + dice.below(tasks.len() - 1)) % tasks.len()].reply;
        if *other != task.reply {
            found.push(("other task's", other.clone()));
        }
        let right = reworded(&task.reply, &mut dice);
        if right != task.reply {
            // A wrong reply need not have the reference's words otherwise.
            found.extend(changed(&right, &mut dice).map(|reply| ("both", reply)));
            found.push(("reworded", right));
        }
    }
    found.push(("silent", String::new()));
    found.push(("silent", "I am sorry, but I could not do this.".to_owned()));
    found
}

/// A value in a reply: where it is, and whether it is a name.
#[derive(Clone)]
pub(crate) struct Place {
    at: Range<usize>,
    is_name: bool,
}

/// Where the values of a reply are: words with a digit, and runs of words with a capital that begin no line or sentence and have no
/// colon behind them.
pub(crate) fn places(reply: &str) -> Vec<Place> {
    let (mut places, mut run) = (Vec::new(), None::<Range<usize>>);
    let mut is_first = true;
    for word in words(reply) {
        let text = &reply[word.clone()];
        let between = run.as_ref().map_or("", |run| &reply[run.end..word.start]);
        let is_capital = text.starts_with(char::is_uppercase) && !text.contains(|c: char| c.is_ascii_digit());
        let is_more = between == " " && is_capital && text.len() > 1;
        if is_more && let Some(run) = &mut run {
            run.end = word.end;
            continue;
        }
        places.extend(run.take().map(|at| Place { at, is_name: true }));
        let before = reply[..word.start].trim_end_matches([' ', '*', '(']);
        is_first |=
            before.is_empty() || before.ends_with(['\n', '.', '!', '?', '"', ':', '—', '-', '→', '+', '/']);
        if text.contains(|c: char| c.is_ascii_digit()) {
            // The number of a step or a list's item is no value.
            let is_mark =
                (before.is_empty() || before.ends_with('\n')) && reply[word.end..].starts_with(['.', ')']);
            if !is_mark && !before.to_lowercase().ends_with("step") {
                places.push(Place { at: word, is_name: false });
            }
        } else if is_capital && !is_first && text.len() > 3 {
            run = Some(word);
        }
        is_first = false;
    }
    places.extend(run.map(|at| Place { at, is_name: true }));
    places.retain(|place| !reply[place.at.end..].trim_start_matches('"').starts_with(':'));
    places
}

/// The words of a reply; what joins letters and digits is part of one.
fn words(reply: &str) -> Vec<Range<usize>> {
    let (mut words, mut begin) = (Vec::new(), None);
    for (at, c) in reply.char_indices().chain([(reply.len(), '\n')]) {
        let joins = || {
            let around = [reply[..at].chars().next_back(), reply[at + c.len_utf8()..].chars().next()];
            let is_inner = |c: &char| if matches!(c, ',' | ':') { false } else { c.is_alphanumeric() };
            let is_digit = |c: &char| c.is_ascii_digit();
            let all = |is: &dyn Fn(&char) -> bool| around.iter().all(|c| c.as_ref().is_some_and(is));
            if matches!(c, ',' | ':') { all(&is_digit) } else { all(&is_inner) }
        };
        if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ',' | '/' | ':' | '\'' | '’' | '&') && joins()
        {
            begin = begin.or(Some(at));
        } else if let Some(begin) = begin.take() {
            words.push(begin..at);
        }
    }
    words
}

fn replaced(reply: &str, place: &Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &reply[..place.start], &reply[place.end..])
}

const NAMES: [&str; 6] = ["Bergamo", "Kowalski", "Tuesday", "Norwich", "Alvarez", "Zenith"];

/// One value changed: a digit of a number or code, or a name.
fn changed(reply: &str, dice: &mut Dice) -> Option<String> {
    let places = places(reply);
    let place = places.get(dice.below(places.len()))?;
    if place.is_name {
        return Some(replaced(reply, &place.at, NAMES[dice.below(NAMES.len())]));
    }
    let word = &reply[place.at.clone()];
    let digits: Vec<usize> =
        word.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    // One of the first three, which no rounding leaves away.
    let first = digits.iter().position(|&at| word.as_bytes()[at] != b'0').unwrap_or(0);
    let digits = &digits[first..];
    let at = place.at.start + digits[dice.below(digits.len().min(3))];
    let digit = usize::from(reply.as_bytes()[at] - b'0');
    let other = (digit + 1 + dice.below(8)) % 10;
    let other = if at == place.at.start && other == 0 { if digit == 9 { 4 } else { 9 } } else { other };
    Some(replaced(reply, &(at..at + 1), &other.to_string()))
}

/// Two values of one kind exchanged, but not two in a row: the order of a list may not matter.
fn exchanged(reply: &str, dice: &mut Dice) -> Option<String> {
    let places = places(reply);
    let kind = |place: &Place| (place.is_name, reply[place.at.clone()].contains(|c: char| c.is_alphabetic()));
    for _ in 0..20 {
        let (a, b) = (places.get(dice.below(places.len()))?, places.get(dice.below(places.len()))?);
        let (a, b) = if a.at.start < b.at.start { (a, b) } else { (b, a) };
        let number = |place: &Place| reply[place.at.clone()].replace(',', "").parse::<f64>().ok();
        let is_same = reply[a.at.clone()].eq_ignore_ascii_case(&reply[b.at.clone()])
            || number(a).is_some() && number(a) == number(b);
        let has_words_between = || reply[a.at.end..b.at.start].contains(char::is_alphabetic);
        if kind(a) == kind(b) && !is_same && has_words_between() {
            let second = replaced(reply, &b.at, &reply[a.at.clone()]);
            return Some(replaced(&second, &a.at, &reply[b.at.clone()]));
        }
    }
    None
}

/// A line or sentence with a value left out.
fn left_out(reply: &str, dice: &mut Dice) -> Option<String> {
    let lines: Vec<&str> =
        reply.split_inclusive(['\n', ';']).flat_map(|line| line.split_inclusive(". ")).collect();
    let with_value: Vec<usize> = (0..lines.len()).filter(|&at| !places(lines[at]).is_empty()).collect();
    let &out = with_value.get(dice.below(with_value.len()))?;
    // What stands somewhere else as well is not left out.
    let rest: String = lines.iter().enumerate().filter(|&(at, _)| at != out).map(|(_, line)| *line).collect();
    let gone = places(lines[out]).iter().any(|place| !rest.contains(&lines[out][place.at.clone()]));
    (gone && !rest.trim().is_empty()).then_some(rest)
}

/// One statement denied, or one that denies made to claim.
fn negated(reply: &str, dice: &mut Dice) -> Option<String> {
    const VERBS: [&str; 12] = [
        " is ", " are ", " was ", " were ", " has ", " have ", " can ", " will ", " should ", " not ",
        " Yes", " No ",
    ];
    let verbs: Vec<(usize, &str)> = VERBS.iter().flat_map(|verb| reply.match_indices(verb)).collect();
    let &(at, verb) = verbs.get(dice.below(verbs.len()))?;
    let place = at..at + verb.len();
    if reply[place.end..].starts_with("not ") {
        return Some(replaced(reply, &(place.end..place.end + 4), ""));
    }
    Some(match verb {
        " not " => replaced(reply, &place, " "),
        " Yes" => replaced(reply, &place, " No"),
        " No " => replaced(reply, &place, " A "),
        verb => replaced(reply, &place, &format!("{verb}not ")),
    })
}
