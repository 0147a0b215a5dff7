//! Cuts and lays out texts that others wrote: by columns for a terminal, by characters for a page. The results
//! contain nothing that acts on a terminal.

use m3_support::text::{counted, shortened};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::visible;

/// Stands for text that was cut out.
const ELLIPSIS: char = '…';

/// How many characters of the common beginning and end stay beside a difference.
const CONTEXT: usize = 12;

/// The columns a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Both ends of a text, as much as fits into `columns`.
pub(super) fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let end = take(text.chars().rev(), kept / 2);
    let start = take(text.chars(), kept - kept / 2);
    start.into_iter().chain([ELLIPSIS]).chain(end.into_iter().rev()).collect()
}

/// The first characters that fit into `columns`.
fn take(characters: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    characters.take_while(fits).collect()
}

/// A text filled up with blanks to `columns`.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Both ends of a text by others, on one line of at most `columns`.
pub(super) fn line(text: &str, columns: usize) -> String {
    cut_middle(&visible(&bounded(text, columns), false), columns)
}

/// The start of a text by others, with a blank for each white space: there is no room for line breaks.
pub(crate) fn headline(text: &str, columns: usize) -> String {
    let start: String = text.chars().take(4 * columns).collect();
    let words: Vec<&str> = start.split_whitespace().collect();
    shortened(&words.join(" "), columns)
}

/// Breaks a text by others into lines of at most `columns`, at blanks if possible.
#[must_use]
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut current = String::new();
    for word in visible(text, false).split(' ').filter(|word| !word.is_empty()) {
        if !current.is_empty() && width(&current) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        for c in word.chars() {
            if width(&current) + c.width().unwrap_or(0) > columns {
                lines.push(std::mem::take(&mut current));
            }
            current.push(c);
        }
    }
    lines.push(current);
    lines
}

/// The two ends of a text that is longer than twice `characters`: the rest could not be shown anyway, and may be
/// megabytes long.
fn bounded(text: &str, characters: usize) -> String {
    let Some((start, end)) = ends(text, characters, characters) else { return text.to_owned() };
    format!("{start}{ELLIPSIS}{end}")
}

/// The first and the last characters of a text; `None` if they are the whole text.
fn ends(text: &str, first: usize, last: usize) -> Option<(&str, &str)> {
    let start = text.char_indices().nth(first).map(|(offset, _)| offset)?;
    let end = text.char_indices().rev().nth(last.saturating_sub(1)).map_or(text.len(), |(offset, _)| offset);
    (start < end).then(|| (&text[..start], &text[end..]))
}

/// A text by others for a page, of at most `characters`: lines are kept, and a note says how much of the middle was
/// cut out.
pub(crate) fn passage(text: &str, characters: usize) -> String {
    let Some((start, end)) = ends(text, characters - characters / 4, characters / 4) else {
        return visible(text, true).into_owned();
    };
    let cut = text.chars().count() - start.chars().count() - end.chars().count();
    let cut = counted(cut, "character");
    format!("{} {ELLIPSIS} [{cut} cut] {ELLIPSIS} {}", visible(start, true), visible(end, true))
}

/// Two values, each on one line of at most `columns`. If they are longer, their common beginning and end are cut
/// first, so that the difference stays visible.
pub(super) fn around_difference(a: &str, b: &str, columns: usize) -> (String, String) {
    let is_short = |text: &str| text.len() <= 4 * columns && width(&visible(text, false)) <= columns;
    if is_short(a) && is_short(b) {
        return (line(a, columns), line(b, columns));
    }
    let pairs = |a: &str, b: &str| -> usize {
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let start = pairs(a, b);
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let backwards = rest_a.chars().rev().zip(rest_b.chars().rev());
    let end: usize = backwards.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let shown = |text: &str| {
        let before = context_before(&text[..start]);
        let after = context_after(&text[text.len() - end..]);
        let room = columns.saturating_sub(width(&before) + width(&after)).max(columns / 4);
        shortened(&format!("{before}{}{after}", line(&text[start..text.len() - end], room)), columns)
    };
    (shown(a), shown(b))
}

/// The last characters before a difference.
fn context_before(text: &str) -> String {
    match text.char_indices().rev().nth(CONTEXT) {
        None => visible(text, false).into_owned(),
        Some((offset, c)) => format!("{ELLIPSIS}{}", visible(&text[offset + c.len_utf8()..], false)),
    }
}

/// The first characters after a difference.
fn context_after(text: &str) -> String {
    match text.char_indices().nth(CONTEXT) {
        None => visible(text, false).into_owned(),
        Some((offset, _)) => format!("{}{ELLIPSIS}", visible(&text[..offset], false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_not_characters() {
        assert_eq!(shortened("漢字漢字", 5), "漢字…");
        assert_eq!(cut_middle("漢字漢字漢字", 7), "漢…字");
        assert_eq!(cut_middle("abcdefgh", 5), "ab…gh");
        assert_eq!(cut_middle("abc", 3), "abc");
        assert_eq!(padded("漢", 4), "漢  ");
    }

    #[test]
    fn lines_break_at_blanks_and_in_long_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrapped("", 5), [""]);
    }

    #[test]
    fn headlines_have_one_line() {
        assert_eq!(headline(" one\n\ntwo\tthree ", 80), "one two three");
        assert_eq!(headline("one\u{1b}\ntwo", 12), "one\\u{1b} t…");
    }

    #[test]
    fn a_difference_stays_in_sight() {
        let long = |middle: &str| format!("\"{}{middle}{}\"", "a".repeat(500), "b".repeat(500));
        let (a, b) = around_difference(&long("one"), &long("two"), 60);
        assert_eq!(a, "…aaaaaaaaaaaaonebbbbbbbbbbbb…");
        assert_eq!(b, "…aaaaaaaaaaaatwobbbbbbbbbbbb…");
        let (a, b) = around_difference(&long(&"x".repeat(1000)), &long(""), 40);
        assert!(a.contains('x') && width(&a) <= 40 && width(&b) <= 40, "{a} {b}");
        assert_eq!(around_difference("1", "2", 10), ("1".to_owned(), "2".to_owned()));
        // The common end may overlap the common beginning.
        assert_eq!(around_difference("aaa", "aa", 2).1, "aa");
    }

    #[test]
    fn long_texts_say_what_was_cut() {
        assert_eq!(passage("short\n\u{202e}", 100), "short\n\\u{202e}");
        let cut = passage(&"x".repeat(10_000_000), 400);
        assert!(cut.chars().count() < 450 && cut.contains("[9999600 characters cut]"), "{cut}");
        assert!(line(&"\u{1b}".repeat(10_000_000), 30).starts_with("\\u{1b}"));
    }
}
