//! Each argument of a match: the comparison behind its fidelity, with the values beside it.

use m3_score::fidelity::place::{Place, cut};
use m3_score::fidelity::{ArgumentComparison, CallFidelity, Verdict};
use m3_trajectory::json::{Json, Keys};

use super::limits::KEPT_ARGUMENTS;
use super::{ArgumentAudit, MatchArguments, VerdictCounts};

/// The most characters of a text that several pointers lead into: it is repeated for each value in it.
const HOLDING: usize = 2_000;

impl MatchArguments {
    /// The arguments of a match in the order of their comparison. If there are too many, unequal ones are preferred.
    pub(super) fn new(fidelity: &CallFidelity, reference: Option<&Json>, predicted: Option<&Json>) -> Self {
        let all = &fidelity.arguments;
        let mut verdicts = VerdictCounts::default();
        for argument in all {
            *verdicts.of(argument.verdict) += 1;
        }
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
        let there = Place::of(reference, &compared.path);
        let here = Place::of(predicted, compared.other_path.as_deref().unwrap_or(&compared.path));
        // A value that is missing on a side may belong inside a text there.
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

#[cfg(test)]
mod tests {
    use m3_score::fidelity::{CallPair, Fidelity};
    use m3_trajectory::json;

    use super::*;

    fn parse(text: &str) -> Json {
        json::parse(text.as_bytes()).unwrap().0
    }

    fn between(reference: &Json, predicted: &Json) -> MatchArguments {
        let pair =
            CallPair { tool: "a/b", a: Some(reference), b: Some(predicted), question: None, schema: None };
        MatchArguments::new(&Fidelity::new(None).compare(pair), Some(reference), Some(predicted))
    }

    /// Each argument as `mark name reference predicted`.
    fn lines(reference: &str, predicted: &str) -> Vec<String> {
        let found = between(&parse(reference), &parse(predicted));
        let line = |argument: &ArgumentAudit| {
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
            let other = argument.predicted_argument.as_ref().map(|name| format!(" at {name}"));
            format!(
                "{} {}{} {} {}",
                argument.mark(),
                argument.argument,
                other.unwrap_or_default(),
                text(&argument.reference),
                text(&argument.predicted)
            )
        };
        found.arguments.iter().map(line).collect()
    }

    #[test]
    fn arguments_have_names_marks_and_values() {
        assert_eq!(
            lines(
                r#"{"at": {"lat": 52.08, "lng": 4.3}, "zoom": 12, "size": [640, 480], "n": 5}"#,
                r#"{"at": {"lat": -52.08, "lng": 4.3}, "zoom": 12, "size": [640, 1480], "page": 3}"#
            ),
            [
                "≠ at.lat 52.08 -52.08",
                "= zoom 12 12",
                "≠ size[1] 480 1480",
                "- n 5 absent",
                "+ page absent 3"
            ]
        );
        assert_eq!(
            lines(r#"{"n": 5, "a": null}"#, r#"{"n": "5", "b": null}"#),
            ["≈ n 5 \"5\"", "- a null absent", "+ b absent null"]
        );
        assert_eq!(
            lines(r#"{"": 1, "a/b": {"~1": 1}}"#, r#"{"": 2, "a/b": {"~1": 2}}"#),
            ["≠ \"\" 1 2", "≠ a/b.~1 1 2"]
        );
        // Digits are a key if the value is an object.
        assert_eq!(lines(r#"{"a": {"7": 1}}"#, r#"{"a": {"7": 2}}"#), ["≠ a.7 1 2"]);
    }

    #[test]
    fn sets_in_another_order_are_equivalent_and_their_items_meet_where_they_are() {
        let tags = lines(r#"{"tags": ["fishing", "boats"]}"#, r#"{"tags": ["boats", "fishing"]}"#);
        assert_eq!(tags, [r#"≈ tags ["fishing","boats"] ["boats","fishing"]"#]);
        let moved = lines(
            r#"{"markers": [{"city": "Oslo", "lat": 59.91}, {"city": "Rome", "lat": 41.9}]}"#,
            r#"{"markers": [{"city": "Rome", "lat": -41.9}, {"city": "Oslo", "lat": 59.91}]}"#,
        );
        assert_eq!(moved, ["≠ markers[1].lat at markers[0].lat 41.9 -41.9"]);
    }

    #[test]
    fn an_extra_member_of_an_item_is_found_where_the_prediction_has_it() {
        let found = lines(
            r#"{"markers": [{"city": "Oslo"}, {"city": "Rome"}]}"#,
            r#"{"markers": [{"city": "Rome", "nights": 3}, {"city": "Oslo"}]}"#,
        );
        assert_eq!(found, ["+ markers[0].nights absent 3"]);
    }

    #[test]
    fn a_text_that_holds_values_is_shown_itself() {
        assert_eq!(
            lines(r#"{"f": {"a": 1, "b": 2}}"#, r#"{"f": "{\"a\": 1000}"}"#),
            [r#"≠ f.a 1 "{\"a\": 1000}""#, "- f.b 2 absent"]
        );
        assert_eq!(
            lines(r#"{"f": "{\"a\": 1}"}"#, r#"{"f": "{\"a\": 1000}"}"#),
            [r#"≠ f.a "{\"a\": 1}" "{\"a\": 1000}""#]
        );
        let long = format!(r#"{{"f": "{{\"a\": 1, \"b\": \"{}\"}}"}}"#, "x".repeat(10_000));
        let found = between(&parse(&long), &parse(&long.replace(": 1,", ": 1000,")));
        assert!(found.arguments[0].reference.as_ref().unwrap().chars().count() == HOLDING + 1);
    }

    #[test]
    fn no_arguments_are_none() {
        let fidelity = Fidelity::new(None).compare(CallPair {
            tool: "a/b",
            a: None,
            b: Some(&Json::Null),
            question: None,
            schema: None,
        });
        let found = MatchArguments::new(&fidelity, None, Some(&Json::Null));
        assert_eq!(found.verdicts.different + found.verdicts.missing + found.verdicts.extra, 0);
        assert_eq!(lines("{}", r#"{"a": 1}"#), ["+ a absent 1"]);
    }

    /// Unequal arguments are kept wherever they are.
    #[test]
    fn more_than_a_hundred_are_counted() {
        let object = |last: i64| {
            let members =
                (0..1_000).map(|n| (format!("k{n}"), Json::Integer(if n == 999 { last } else { n })));
            Json::Object(members.collect())
        };
        let found = between(&object(5), &object(7));
        assert_eq!((found.arguments.len(), found.more), (100, 900));
        assert_eq!((found.verdicts.equal, found.verdicts.different), (999, 1));
        assert_eq!(found.arguments[99].argument, "k999");
        let items =
            |item: i64| Json::Object(vec![("n".to_owned(), Json::Array(vec![Json::Integer(item); 1_000]))]);
        let found = between(&items(1), &items(7));
        assert_eq!((found.arguments.len(), found.more, found.verdicts.different), (100, 900, 1_000));
        assert_eq!(found.arguments[99].argument, "n[99]");
    }

    #[test]
    fn long_keys_are_cut() {
        let key = "k".repeat(10_000_000);
        let of = |value: i64| Json::Object(vec![(key.clone(), Json::Integer(value))]);
        let found = between(&of(1), &of(7));
        assert_eq!(found.arguments[0].predicted.as_deref(), Some("7"));
        assert_eq!(found.arguments[0].argument.chars().count(), 1_001);
    }
}
