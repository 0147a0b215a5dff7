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

/// Where the values of a reply are: words with a digit, and words with a capital that begin no line or sentence.
pub(crate) fn places(reply: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let (mut begin, mut is_first) = (None, true);
    for (at, c) in reply.char_indices().chain([(reply.len(), '\n')]) {
        let is_part = c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ',' | '/' | ':') && {
            let mut around = (reply[..at].chars().next_back(), reply[at + c.len_utf8()..].chars().next());
            // A comma or colon is within a number only.
            if matches!(c, ',' | ':') {
                around = (around.0.filter(char::is_ascii_digit), around.1.filter(char::is_ascii_digit));
            }
            around.0.is_some_and(char::is_alphanumeric) && around.1.is_some_and(char::is_alphanumeric)
        };
        if is_part {
            begin = begin.or(Some(at));
            continue;
        }
        if let Some(begin) = begin.take() {
            let word = &reply[begin..at];
            let is_name = !is_first && word.len() > 2 && word.starts_with(char::is_uppercase) && c != ':';
            if word.contains(|c: char| c.is_ascii_digit()) || is_name {
                places.push(begin..at);
            }
            is_first = false;
        }
        if matches!(c, '\n' | '.' | '!' | '?' | '"' | ':' | '—' | '-') {
            is_first = true;
        }
    }
    // The number of a step or a list's item is no value.
    places.retain(|place| {
        let before = reply[..place.start].trim_end_matches(' ');
        let is_mark = (before.is_empty() || before.ends_with('\n')) && reply[place.end..].starts_with(['.', ')']);
        !is_mark && !before.ends_with("Step") && !before.ends_with("step")
    });
    places
}

fn replaced(reply: &str, place: &Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &reply[..place.start], &reply[place.end..])
}

const NAMES: [&str; 6] = ["Bergamo", "Kowalski", "Tuesday", "Norwich", "Alvarez", "Zenith"];

/// One value changed: a digit of a number or code, or a name.
fn changed(reply: &str, dice: &mut Dice) -> Option<String> {
    let places = places(reply);
    let place = places.get(dice.below(places.len()))?;
    let word = &reply[place.clone()];
    let digits: Vec<usize> = word.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    if digits.is_empty() {
        return Some(replaced(reply, place, NAMES[dice.below(NAMES.len())]));
    }
    // One of the first three, which no rounding leaves away.
    let at = place.start + digits[dice.below(digits.len().min(3))];
    let digit = u32::from(reply.as_bytes()[at] - b'0');
    let other = (digit + 1 + u32::try_from(dice.below(8)).unwrap()) % 10;
    let other = if at == place.start && other == 0 { if digit == 9 { 4 } else { 9 } } else { other };
    Some(replaced(reply, &(at..at + 1), &other.to_string()))
}

/// Two values of one kind exchanged.
fn exchanged(reply: &str, dice: &mut Dice) -> Option<String> {
    let places = places(reply);
    let kind = |place: &Range<usize>| {
        let word = &reply[place.clone()];
        (word.contains(|c: char| c.is_ascii_digit()), word.contains(|c: char| c.is_alphabetic()))
    };
    for _ in 0..20 {
        let (a, b) = (places.get(dice.below(places.len()))?, places.get(dice.below(places.len()))?);
        let (a, b) = if a.start < b.start { (a, b) } else { (b, a) };
        let number = |place: &Range<usize>| reply[place.clone()].replace(',', "").parse::<f64>().ok();
        let is_same = reply[a.clone()].eq_ignore_ascii_case(&reply[b.clone()]) || number(a).is_some() && number(a) == number(b);
        if kind(a) == kind(b) && !is_same {
            let second = replaced(reply, b, &reply[a.clone()]);
            return Some(replaced(&second, a, &reply[b.clone()]));
        }
    }
    None
}

/// A line or sentence with a value left out.
fn left_out(reply: &str, dice: &mut Dice) -> Option<String> {
    let lines: Vec<&str> = reply.split_inclusive(['\n', ';']).flat_map(|line| line.split_inclusive(". ")).collect();
    let with_value: Vec<usize> = (0..lines.len()).filter(|&at| !places(lines[at]).is_empty()).collect();
    let &out = with_value.get(dice.below(with_value.len()))?;
    // What stands somewhere else as well is not left out.
    let rest: String = lines.iter().enumerate().filter(|&(at, _)| at != out).map(|(_, line)| *line).collect();
    let gone = places(lines[out]).iter().any(|place| !rest.contains(&lines[out][place.clone()]));
    (gone && !rest.trim().is_empty()).then_some(rest)
}

/// One statement denied, or one that denies made to claim.
fn negated(reply: &str, dice: &mut Dice) -> Option<String> {
    const VERBS: [&str; 12] =
        [" is ", " are ", " was ", " were ", " has ", " have ", " can ", " will ", " should ", " not ", " Yes", " No "];
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
