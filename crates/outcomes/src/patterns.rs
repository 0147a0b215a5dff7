//! The patterns of the rules, each built from alternatives when it is first used, and the parts of texts that they
//! are applied to: the first sentence, the beginning, the words around a place.

use std::sync::LazyLock;

use m3_support::text::head;
use regex::{Regex, RegexBuilder};

use super::rules::{ANSWER_RULES, AnswerRule, Where};

/// Beginnings of texts about a failure.
const STARTS: &[&str] = &[
    r"\[[\w ]{0,30}(error|failed|failure)\]",
    r"[\w.]*(error|exception|failure)s?\s*([:!(\[–—]|-\s|while\b|when\b|occurred\b|code\b|during\b|\d|$)",
    r"[\w.]*(error|exception|failure)s? ((in|on|from)\b.{0,100}:|on line \d|in thread\b|(in|on|from) [\w./-]+$)",
    // The participles are listed, because "error handling", "error reporting" and the like mean something else.
    r"[\w.]*(error|exception)s? (executing|calling|invoking|running|performing|processing|fetching|searching|finding|listing|looking|querying|retrieving|getting|loading|reading|opening|parsing|converting|decoding|writing|saving|creating|generating|adding|updating|deleting|removing|sending|making|connecting|accessing|downloading|uploading|extracting|analyzing|validating|initializing)\b",
    r"[\w.]*(error|exception)s? handling (the |a |your )?(request|tool|call|query|message|response)\b",
    r"failed( to| with| due| because| \w+ing)\b",
    r"failed\s*([:!.(]|-\s|$)",
    r"(unable to|cannot|could ?n[o']t|could not)\b",
    r"can't (open|read|access|load|parse|connect|resolve|fetch|convert|create|determine|find)\b",
    r"traceback \(",
    r"fatal( error)?\s*[:!]|fatal (error|exception)\b",
    r"(an?|the|some|\d+)? ?([\w-]+ ){0,3}(error|exception)s? (has )?(occurred\b|executing\b|while\b|for [\w./-]+\b)",
    r"([\w-]+ ){1,3}error:",
    r"MCP error -?\d",
    r"HTTP(/\d\S*)?( status| error)?( code)?[ :]{0,3}[45]\d\d\b",
    r"[45]\d\d[ :,-]{1,3}(client error|server error|not found|bad request|unauthorized|forbidden|unprocessable|internal server|too many|service unavailable|bad gateway|gateway time)",
    r"(the )?([\w-]+ ){0,4}(API|server|request|endpoint|service|backend|call|query)( \w+)? (returned|responded)\b.{0,40}([45]\d\d\b|error\b|failed\b|failure\b)",
    r"(the )?([\w-]+ ){0,4}(API|server|request|endpoint|service|backend|call|query)( \w+)? (failed|timed out|error)\b.{0,40}([45]\d\d\b|error\b|failed\b|failure\b|$)",
    r"([\w-]+ ){0,4}(request|call|search|download|upload|query|operation|lookup|fetch) (failed|timed out)\b",
    r"unknown tool\b",
    r"tool .{1,100} not found\b",
    r"invalid (arguments?|parameters?|input|request)\b",
    r"bad request\s*([:!.(]|-\s|$)",
    r"missing required\b",
    r"(permission|access) denied\b",
    r"(no such file|file not found)\b",
    // Messages that operating systems and languages give without a word for an error.
    r"\[(errno|winerror) -?\d+\]",
    r"(spawn \S{1,200} )?E(NOENT|ACCES|PERM|EXIST|ISDIR|NOTDIR|CONNREFUSED|CONNRESET|TIMEDOUT|PIPE|MFILE|INVAL)\b",
    r"'?\w{1,60}'? object (has no attribute|is not (subscriptable|iterable|callable))\b",
    r"invalid literal for\b",
    r"unsupported operand type",
    // The word for an error in Chinese, Japanese, Korean, French, German, Russian, Italian, Spanish and Portuguese.
    r"(错误|錯誤|エラー|오류|erreur|fehler|ошибка|errore|erro)\s*[:：]",
];

/// Beginnings of texts that count failures and have none.
const NO_FAILURES: &str = r"^\W{0,3}(errors|exceptions|failed|failures)\s*[:=]\s*(0|none)\s*([,;|\n]|$)";

/// Patterns of texts that name a status code; a group captures the code.
const STATUSES: &[&str] = &[
    r#"\bHTTP(?:S|/\d(?:\.\d)?)?(?: status| error| response)?(?: code)?["']?[\s:=(#]{0,3}([45]\d\d)\b"#,
    r#"\bstatus[ _-]?(?:code)?["']?(?: of| is| was)?[\s:=(#]{0,3}([45]\d\d)\b"#,
    r"\b(?:returned|responded with|failed with|got|received)(?: an?)?(?: http)?(?: status| error| response)?(?: code)?[\s:=(#]{0,3}([45]\d\d)\b",
    r"\berror(?: code)?[\s:=(#]{0,3}([45]\d\d)\b",
    r"\b([45]\d\d)[ :,-]{1,3}(?:client error|server error|not found|bad request|unauthorized|forbidden|unprocessable|internal server|too many|service unavailable|bad gateway|gateway time|method not allowed|gone\b)",
];

/// Words that a normal answer rarely has near its beginning. The first pattern skips members that report no failure:
/// `"error": null` means that there was no error, and a fraction is a measure.
const WORDS: &[&str] = &[
    r#""(errors?|exception|failed|failures?)"\s*:\s*(null|false|0|""|\[\]|\{\}|-?\d+\.\d)"#,
    r"\b(?<word>errors?|exception|failed|failure|not found|invalid|denied|unavailable|does not exist)\b",
];

/// Words that may come before a phrase of failure.
const BEFORE_PHRASE: &str =
    r"^\W{0,3}((sorry|oops|unfortunately|apologies)\W{1,3})?((the|your|an?|you are|(the )?user is) )?";

/// Phrases by which a backend says that it does not return what was asked for. Each is matched by a rule as well.
const PHRASES: &[&str] = &[
    r"(network )?connection (refused|reset|error|aborted|failed|closed|timed ?out)( by (the )?(peer|server|host))?",
    r"network (is )?(error|unreachable)",
    r"((request|read|connect|connection|operation|gateway|server) )?time[ -]?out( error| exceeded| reached)?",
    r"((request|read|operation|server|search) )?(has )?timed[ -]out",
    r"(access )?forbidden",
    r"(unauthori[sz]ed|unauthenticated|not authori[sz]ed|not permitted|not logged in)( access| request)?",
    r"not (authori[sz]ed|permitted) to [^.:;]{1,80}",
    r"(authentication|credentials|api key|access token|subscription) (is )?(required|failed|missing|expired|invalid)",
    r"(invalid|missing|expired|no) (credentials|api key|access token)",
    r"((api|request) )?rate[ -]?limit(ed|s)?( (has been |was )?(exceeded|reached|hit))?",
    r"too many requests",
    r"(([\w-]+ )?quota|([\w-]+ )?limit) (has been |was )?exceeded",
    r"([\w-]+ )?quota (has been |was )?(exhausted|reached|used up)",
    r"you('ve| have) (exceeded|reached|hit|used up) (your|the) ([\w-]+ ){0,2}(quota|rate limit)",
    r"(request )?throttled",
    r"something went wrong",
    r"internal (server )?error",
    r"(service|server|temporarily|currently) (is )?(temporarily |currently )?(unavailable|down|overloaded)",
    r"bad gateway",
    r"(please )?try again later",
    r"((list|string|tuple|array|pop) )?(assignment )?index out of (range|bounds)",
    r"((this|the) )?(operation|request) was aborted( due to ([\w-]+ )?time-?out)?",
];

/// Words that may follow one of the [`PHRASES`] at the end of an answer.
const AFTER_PHRASE: &str = r"( (after|in) \d+([.,]\d+)? ?\w{1,12}| for (today|now|this \w+|the (day|month|hour))| (today|again)|[,;:]? (please )?try again( later)?)?\W{0,3}$";

/// Words that follow one of the [`PHRASES`] in an answer that goes on and may still report a failure.
const GOES_ON: &str =
    r"(\s*[:;,!(]|\s+[–—-]\s|\s+(after|for|by|from|at|on|while|until|with|in|when|because|due|please|try)\b)";

/// Beginnings of answers that report that nothing was found.
const NOTHING_YET: &str = r"^\W{0,3}(sorry,? )?((there (are|were|is|was) )?(no|zero|0) ([\w'-]+ ){0,3}(found|available|returned)\b|(no|zero|0) (results?|matches|hits)\s*([.,:;]|$)|(nothing (was )?|not )found\b)";

/// Words about the search that may follow a phrase. They replace `<about>` in rules over short answers.
const ABOUT: &str = r"((,? please|,? try| for| in| on| at| with| within| near| matching| that| to| from| of| by| under| here| yet| today| containing| between| around)\b.*|\W{1,3}[`'\x22].*)?";

/// Matches the beginning of a text that reports its failure.
pub(super) static FAILURE_START: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!(r"^\W{{0,3}}({})", STARTS.join("|"))));

/// Matches the beginning of a text that counts failures and has none.
pub(super) static COUNTS_NO_FAILURE: LazyLock<Regex> = LazyLock::new(|| compiled(NO_FAILURES));

/// Matches a whole sentence that only reports a failure.
pub(super) static FAILURE_PHRASE: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!("{BEFORE_PHRASE}({}){AFTER_PHRASE}", PHRASES.join("|"))));

/// Matches a sentence that begins with a phrase of failure and goes on, or that says that nothing was found.
pub(super) static PHRASE_START: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!("{BEFORE_PHRASE}({}){GOES_ON}|{NOTHING_YET}", PHRASES.join("|"))));

/// Matches the beginning of an answer that has none of the things whose absence is good news, such as `no errors`.
pub(super) static GOOD_NEWS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^\W{0,3}(there (are|were|is|was) )?(no|zero|0) ([\w'-]+ ){0,2}(errors?|exceptions?|issues?|problems?|warnings?|failures?|vulnerabilit(y|ies)|bugs?|conflicts?|changes?|differences?|violations?|mistakes?|virus(es)?|threats?|duplicates?)\b",
    )
});

static STATUS: LazyLock<Regex> = LazyLock::new(|| compiled(&STATUSES.join("|")));

static FAILURE_WORDS: LazyLock<Regex> = LazyLock::new(|| compiled(&WORDS.join("|")));

static ADVICE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"^(please|try|retry|wait|check|consider|contact|make sure)\b[^\n]{0,160}$"));

/// The rules with their patterns.
pub(super) static RULES: LazyLock<Vec<(&'static AnswerRule, Option<Regex>)>> = LazyLock::new(|| {
    let compile = |rule: &'static AnswerRule| match rule.looks_at {
        Where::Status(_) => (rule, None),
        Where::Failure(patterns) => (rule, Some(compiled(&patterns.join("|")))),
        Where::Short(patterns) => {
            let all = patterns.join("|").replace("<about>", ABOUT);
            (rule, Some(compiled(&format!(r"^\W{{0,3}}({all})\W{{0,3}}$"))))
        }
    };
    ANSWER_RULES.iter().map(compile).collect()
});

/// Compiles the patterns that most answers need, which takes milliseconds. Call this before waiting for the first
/// answer.
pub fn prepare() {
    for pattern in [
        &FAILURE_START,
        &COUNTS_NO_FAILURE,
        &FAILURE_PHRASE,
        &PHRASE_START,
        &GOOD_NEWS,
        &STATUS,
        &FAILURE_WORDS,
        &ADVICE,
    ] {
        LazyLock::force(pattern);
    }
    LazyLock::force(&RULES);
}

/// The characters of `\w`, which is replaced by them: the patterns' words are English, and compiling the letters of all
/// alphabets in a hundred places would take tens of milliseconds.
const WORD: &str = "0-9A-Za-z_";

/// Replaces `\W`: everything except the characters of [`WORD`] and the blocks that hold letters of other alphabets.
/// This leaves punctuation, arrows, signs and emoji.
const NOT_WORD: &str = r"[^0-9A-Za-z_\u{AA}\u{B5}\u{BA}\u{C0}-\u{1FFF}\u{2C00}-\u{2DFF}\u{3040}-\u{D7FF}\u{F900}-\u{FDFF}\u{FE20}-\u{FEFE}\u{FF10}-\u{FFDF}\u{10000}-\u{1EFFF}\u{20000}-\u{3FFFF}]";

/// Compiles a pattern of this program; a test compiles all of them.
#[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles each")]
fn compiled(pattern: &str) -> Regex {
    RegexBuilder::new(&narrowed(pattern))
        .case_insensitive(true)
        .build()
        .expect("a pattern of ours is wrong; this is a bug")
}

/// A pattern with [`WORD`], [`NOT_WORD`] and ASCII digits instead of `\w`, `\W` and `\d`.
fn narrowed(pattern: &str) -> String {
    let mut narrowed = String::with_capacity(2 * pattern.len());
    let (mut is_in_brackets, mut characters) = (false, pattern.chars());
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        match (character, escaped, is_in_brackets) {
            ('\\', Some('w'), true) => narrowed.push_str(WORD),
            ('\\', Some('w'), false) => narrowed.extend(["[", WORD, "]"]),
            ('\\', Some('d'), true) => narrowed.push_str("0-9"),
            ('\\', Some('d'), false) => narrowed.push_str("[0-9]"),
            ('\\', Some('W'), _) => narrowed.push_str(NOT_WORD),
            _ => {
                narrowed.push(character);
                narrowed.extend(escaped);
                is_in_brackets = match (character, is_in_brackets) {
                    ('[', false) => true,
                    (']', true) => false,
                    _ => is_in_brackets,
                };
            }
        }
    }
    narrowed
}

/// The first status code in a message, and its position.
pub(super) fn status(message: &str) -> Option<(u16, usize)> {
    let captures = STATUS.captures(message)?;
    let code = captures.iter().skip(1).flatten().next()?;
    Some((code.as_str().parse().ok()?, code.start()))
}

/// The position where a text first mentions a failure.
pub(super) fn mention(text: &str) -> Option<usize> {
    FAILURE_WORDS.captures_iter(text).find_map(|found| found.name("word")).map(|word| word.start())
}

/// Whether the text after a failure is empty, or advice about it.
pub(super) fn is_advice(rest: &str) -> bool {
    rest.is_empty() || ADVICE.is_match(rest)
}

/// The first sentence of a text, or its first line if that is shorter.
pub(super) fn first_sentence(text: &str) -> &str {
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        let ends = char == '\n' || (char.is_whitespace() && matches!(before, '.' | '!' | '?'));
        if ends {
            return &text[..at];
        }
        before = char;
    }
    text
}

/// The main statement of a text that begins like an error: its first sentence or line, with the next one if the first
/// is a single word or announces it; the last line of a traceback.
pub(super) fn first_statement(text: &str) -> &str {
    if head(text, 20).to_lowercase().contains("traceback (") {
        return text.lines().next_back().unwrap_or(text);
    }
    let first = first_sentence(text);
    let is_heading = first.trim_end().ends_with(':') || !first.trim().contains(' ');
    let rest = text[first.len()..].trim_start();
    if is_heading && !rest.is_empty() {
        let skipped = text.len() - rest.len();
        return &text[..skipped + first_sentence(rest).len()];
    }
    first
}

/// The text around a position: some words before it and the text after it.
pub(super) fn around(text: &str, at: usize) -> String {
    const BEFORE: usize = 60;
    if at <= BEFORE {
        return text.to_owned();
    }
    format!("…{}", &text[text.floor_char_boundary(at - BEFORE)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_of_ascii_and_letters_of_other_alphabets_still_belong_to_words() {
        assert_eq!(narrowed(r"\[[\w.-]{2}\w\d[\d]\]"), r"\[[0-9A-Za-z_.-]{2}[0-9A-Za-z_][0-9][0-9]\]");
        let not_word = compiled(r"^\W$");
        for (text, expected) in [
            ("!", true),
            ("\u{2014}", true),
            ("\u{3002}", true),
            ("\u{274c}", true),
            // This character follows signs that are to be drawn as emoji.
            ("\u{fe0f}", true),
            ("\u{1f6a8}", true),
            ("a", false),
            ("_", false),
            ("7", false),
            ("\u{e9}", false),
            ("\u{434}", false),
            ("\u{932f}", false),
            ("\u{20bb7}", false),
        ] {
            assert_eq!(not_word.is_match(text), expected, "{text}");
        }
    }
}
