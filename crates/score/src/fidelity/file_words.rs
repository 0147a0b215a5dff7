//! Words that replace the name of a file in the arguments of two calls that use different files, whatever the names:
//! `flow` writes the words, and the comparison makes its reason from them.

use m3_trajectory::json::Json;

/// The signs around the words for a file: noncharacters, which no tool uses.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// The start of the words for a file that is not left behind.
pub(crate) const LOSS: &str = "makes what";

/// Whether a reason says that what a call makes is not left behind.
pub(crate) fn is_of_loss(reason: &str) -> bool {
    reason.starts_with(LOSS)
}

/// Puts the signs around words for a file, as they then stand in an argument.
pub(crate) fn file_words(words: &str) -> String {
    format!("{BEGIN}{words}{END}")
}

/// Replaces these signs in a call's own arguments, so that no call can write such words itself. Lengths in bytes stay
/// the same.
pub(crate) fn without_signs(value: &mut Json) {
    match value {
        Json::String(text) if text.contains([BEGIN, END]) => *text = text.replace([BEGIN, END], "\u{fffd}"),
        Json::Array(items) => items.iter_mut().for_each(without_signs),
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| without_signs(value)),
        _ => {}
    }
}

/// The reason why two values stand for different files; `None` where neither stands for a file, or both for the same.
pub(crate) fn explain_difference(reference: Option<&str>, predicted: Option<&str>) -> Option<String> {
    let words = |text: Option<&str>| -> Vec<String> {
        let parts = text.unwrap_or_default().split(BEGIN).skip(1);
        parts.filter_map(|part| Some(part.split_once(END)?.0.to_owned())).collect()
    };
    let (wanted, read) = (words(reference), words(predicted));
    if wanted == read {
        return None;
    }
    let at = wanted.iter().zip(&read).position(|(a, b)| a != b).unwrap_or(wanted.len().min(read.len()));
    let object = |words: &str| words.split_once(' ').map_or(words, |(_, object)| object).to_owned();
    Some(match (wanted.get(at), read.get(at)) {
        (Some(wanted), Some(read)) => format!("{read}, not {}", object(wanted)),
        (None, Some(read)) => format!("{read}, not another file"),
        (Some(wanted), None) if !wanted.starts_with("reads") => {
            format!("{wanted}, which the prediction does not")
        }
        (Some(wanted), None) => format!("reads another file, not {}", object(wanted)),
        (None, None) => return None,
    })
}
