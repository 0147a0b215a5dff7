//! The cause of a failed call: the first rule of `tables/mcptoolbenchpp_causes.txt` that applies decides. The published
//! program collects messages only; its authors grouped them by asking a model (paper, section 4.3).

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::outcome::{CallOutcome, Outcome};

/// The cause of a call that fits no rule.
const OTHER: &str = "other";

/// A line of the table.
#[derive(Debug)]
struct Rule {
    cause: &'static str,
    evidence: Evidence,
}

/// The pattern of a rule.
#[derive(Debug, PartialEq)]
enum Evidence {
    UnknownTool,
    Schema,
    Status(RangeInclusive<i64>),
    Empty,
    Words { with: Vec<&'static str>, without: Vec<&'static str> },
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let lines = include_str!("../../tables/mcptoolbenchpp_causes.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).filter_map(Rule::read).collect()
});

/// The facts of a call that failed or was empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure<'a> {
    pub(super) ended: &'a CallOutcome,
    /// Whether there is no such tool, by the catalog or by the recorded outcome.
    pub(super) is_unknown: bool,
    /// Whether the tool's schema, if there is one, refuses the arguments.
    pub(super) is_refused: bool,
}

impl Failure<'_> {
    /// The cause of the failure.
    pub(super) fn cause(&self) -> &'static str {
        let message = self.ended.message.to_lowercase();
        RULES.iter().find(|rule| self.has(&rule.evidence, &message)).map_or(OTHER, |rule| rule.cause)
    }

    fn has(&self, evidence: &Evidence, message: &str) -> bool {
        match evidence {
            Evidence::UnknownTool => self.is_unknown,
            Evidence::Schema => self.is_refused,
            Evidence::Status(range) => self.ended.status.is_some_and(|status| range.contains(&status)),
            Evidence::Empty => self.ended.outcome == Outcome::Empty,
            Evidence::Words { with, without } => {
                with.iter().all(|words| has_words(message, words))
                    && !without.iter().any(|words| has_words(message, words))
            }
        }
    }
}

impl Rule {
    fn read(line: &'static str) -> Option<Self> {
        let (cause, evidence) = line.split_once(": ")?;
        Some(Self { cause, evidence: Evidence::read(evidence.trim())? })
    }
}

impl Evidence {
    fn read(text: &'static str) -> Option<Self> {
        if let Some(range) = text.strip_prefix("@status ") {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            return Some(Self::Status(low.parse().ok()?..=high.parse().ok()?));
        }
        match text {
            "@unknown_tool" => Some(Self::UnknownTool),
            "@schema" => Some(Self::Schema),
            "@empty" => Some(Self::Empty),
            text if text.starts_with('@') => None,
            words => {
                let mut parts = words.split(" - ");
                let with = parts.next()?.split(" + ").collect();
                Some(Self::Words { with, without: parts.collect() })
            }
        }
    }
}

/// Whether a text has these words, and not as a part of longer ones.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, found)| {
        let (before, after) = (text.get(..at), text.get(at + found.len()..));
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !is_letter(before.and_then(|text| text.chars().next_back()))
            && !is_letter(after.and_then(|text| text.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use m3_trajectory::Call;
    use m3_trajectory::json::Json;

    use super::*;

    fn cause(call: &Call) -> &'static str {
        let ended = CallOutcome::from_call(call);
        Failure { ended: &ended, is_unknown: false, is_refused: false }.cause()
    }

    fn failed(message: &str) -> Call {
        let result = Some(Json::String(message.to_owned()));
        let extra = vec![("is_error".to_owned(), Json::Bool(true))];
        Call { tool: "t".to_owned(), arguments: None, result, extra }
    }

    #[test]
    fn every_line_of_the_table_is_a_rule() {
        let lines = include_str!("../../tables/mcptoolbenchpp_causes.txt").lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(lines.clone().count(), RULES.len());
        assert!(lines.clone().all(|line| line.to_lowercase() == line), "words are compared in lower case");
        let mut causes: Vec<&str> = RULES.iter().map(|rule| rule.cause).collect();
        causes.dedup();
        assert_eq!(causes.len(), 13, "each cause is one block: {causes:?}");
    }

    /// Table 4 of the paper's appendix A.3, with the cause by our rules. Where the paper has another, it is because the
    /// first rule wins: it lists an API error with a 404 among API errors.
    #[test]
    fn messages_of_the_paper_have_their_causes() {
        for (message, wanted) in [
            (
                "Failed to initialize browser: browserType.launch: Executable doesn't exist at ./x/chrome",
                "environment",
            ),
            ("Failed to end codegen session: Session sessionXYZ not found", "session"),
            ("all values empty, missing values", "parameters_missing_or_type"),
            ("Error: Could not find exact match for edit: Project Overview", "edit_does_not_apply"),
            ("Error: ENOENT: no such file or directory, open './data/test_file.txt'", "no_such_file"),
            ("read() called while another coroutine is already waiting for incoming data", "runtime"),
            ("Tavily API error: Request failed with status code 432", "api_error"),
            (
                "Error during query to tavily-mcp: Separator is not found, and chunk exceed the limit",
                "api_error",
            ),
            ("Input validation error: 'url' is a required property", "parameters_missing_or_type"),
            ("origin or destination is invalid", "parameters_invalid_value"),
            (
                "Geocoding API error: input 'origin' invalid, please reinput more detail address",
                "parameters_invalid_value",
            ),
            ("API response error: unkown error", "api_error"),
            ("The range of input latitude and longitude is invalid", "parameters_out_of_range"),
            (
                "Error: request to https://maps.googleapis.com/x failed, reason: Client network socket \
                 disconnected before secure TLS connection was established",
                "http_or_network",
            ),
            ("PayPal API error (404): [object Object]", "resource_not_found"),
            ("PayPal API error (400): [object Object]", "api_error"),
            ("Request failed with status code 400, type: paypal_error", "api_error"),
            ("Converting circular structure to JSON", "parameters_missing_or_type"),
            ("The specified resource does not exist", "resource_not_found"),
            ("Connection Timeout", "http_or_network"),
            ("Something else", "other"),
        ] {
            assert_eq!(cause(&failed(message)), wanted, "{message}");
        }
    }

    #[test]
    fn what_is_recorded_comes_before_words() {
        let with = |key: &str, value: Json| Call { extra: vec![(key.to_owned(), value)], ..failed("x") };
        assert_eq!(cause(&with("status_code", Json::Integer(404))), "resource_not_found");
        assert_eq!(cause(&with("status_code", Json::Integer(500))), "api_error");
        assert_eq!(cause(&with("status_code", Json::Integer(302))), "other");
        let empty = Call { result: Some(Json::Array(Vec::new())), extra: Vec::new(), ..failed("") };
        assert_eq!(cause(&empty), "empty_result");
        let call = failed("no such file");
        let ended = CallOutcome::from_call(&call);
        let failure = Failure { ended: &ended, is_unknown: false, is_refused: true };
        assert_eq!(failure.cause(), "parameters_missing_or_type");
        assert_eq!(Failure { is_unknown: true, ..failure }.cause(), "unknown_tool");
    }

    #[test]
    fn words_are_whole() {
        assert!(has_words("a 404: b", "404") && has_words("(404)", "404") && has_words("404", "404"));
        assert!(!has_words("14041", "404") && !has_words("arrange", "range") && !has_words("", "range"));
    }
}
