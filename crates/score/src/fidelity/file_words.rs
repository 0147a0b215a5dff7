//! Words that stand for a file in the arguments of two calls where the files differ, whatever their names: `flow` writes them, the
//! comparison reads why.

use m3_trajectory::json::Json;

/// Around the words for a file; noncharacters, which no tool means anything by.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// How words for a file begin that is not left behind.
pub(crate) const LOSS: &str = "makes what";

/// Whether a reason says that what a call makes is not left behind.
pub(crate) fn is_of_loss(reason: &str) -> bool {
    reason.starts_with(LOSS)
}

/// The words as they stand in an argument.
pub(crate) fn file_words(words: &str) -> String {
    format!("{BEGIN}{words}{END}")
}

/// Takes the signs around such words out of a call's arguments, so that no call can write the words itself. Lengths in bytes
/// stay.
pub(crate) fn without_signs(value: &mut Json) {
    match value {
        Json::String(text) if text.contains([BEGIN, END]) => *text = text.replace([BEGIN, END], "\u{fffd}"),
        Json::Array(items) => items.iter_mut().for_each(without_signs),
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| without_signs(value)),
        _ => {}
    }
}

/// Why two values stand for different files; `None` where neither is one, or both are the same.
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
