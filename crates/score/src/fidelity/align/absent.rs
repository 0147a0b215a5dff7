//! Scores values that only one of two calls has: some values mean the same as no value.

use super::super::constants::{
    DEFAULT_OR_ABSENT, EMPTY_OR_ABSENT, EQUIVALENT, NOTHING, NULL_OR_ABSENT, OPTIONAL_OR_ABSENT,
    REQUIRED_OR_ABSENT, UNKNOWN_MEMBER, USUAL_OR_ABSENT,
};
use super::super::file_words::explain_difference;
use super::super::name::Name;
use super::super::{Finding, Kind, Verdict, readers};
use super::{Alignment, Presence, ValueLocation, compare};
use crate::schema::Schema;
use m3_trajectory::json::{Json, Keys, is_same};

/// The rules' reason for an optional argument that one call lacks.
pub(in crate::fidelity) const ONLY_ONE: &str = "only one call says it";

/// The reason for an argument that one call lacks and that changes the answer of the other.
pub(in crate::fidelity) const ORDERS_OR_NARROWS: &str =
    "only one call orders, counts or narrows what it asks for";

impl Alignment<'_> {
    /// Scores a value that only one side has.
    pub(super) fn absent(
        &mut self,
        at: &ValueLocation<'_>,
        value: &Json,
        presence: Presence,
        verdict: Verdict,
    ) {
        self.values += 1;
        if let Some(difference) = value.as_str().and_then(|text| explain_difference(None, Some(text))) {
            return self.push(&at.path, Finding::new(Kind::Written, NOTHING, difference));
        }
        let schema = at.context.schema;
        let is_as = |default: &Json| {
            let is_single = |value: &Json| !matches!(value, Json::Array(_) | Json::Object(_) | Json::Null);
            is_same(default, value)
                || is_single(default)
                    && is_single(value)
                    && compare(&at.context, self.words, default, value).score >= EQUIVALENT
        };
        let is_default =
            || schema.is_some_and(|schema| schema.defaults().any(is_as) || schema.describes_default(value));
        let says_default = schema.is_some_and(|schema| {
            schema.defaults().any(|default| *default != Json::Null) || schema.said_default().is_some()
        });
        // An empty text says nothing, but `false` says no where the default is yes.
        let has_default = matches!(value, Json::Bool(_)) && says_default;
        let (score, reason) = if *value == Json::Null {
            (NULL_OR_ABSENT, "null is the same as absent")
        } else if is_default() {
            (DEFAULT_OR_ABSENT, "the default is the same as absent")
        } else if presence == Presence::Required {
            (REQUIRED_OR_ABSENT, "required")
        } else if is_empty(value) && !has_default
            || is_nothing(value) && !schema.is_some_and(Schema::has_choices)
        {
            (EMPTY_OR_ABSENT, "says nothing")
        } else if !says_default && is_usual(&at.context.name, value) {
            (USUAL_OR_ABSENT, "what most tools have as their default")
        } else if presence == Presence::Unknown || schema.is_none() && at.context.name.is_of("reasons") {
            (UNKNOWN_MEMBER, "the tool does not know it")
        } else if at.context.name.changes_the_answer(readers::number::from_json(value)) {
            (OPTIONAL_OR_ABSENT, ORDERS_OR_NARROWS)
        } else {
            (OPTIONAL_OR_ABSENT, ONLY_ONE)
        };
        let (kind, reason) = (readers::kind_of(value), reason.into());
        self.push(&at.path, Finding { kind, score, verdict, reason });
    }
}

/// Whether most tools use a value as the default of an argument with this name.
fn is_usual(name: &Name, value: &Json) -> bool {
    let text = value.as_str().map_or_else(|| value.to_text(Keys::Sorted), |text| text.trim().to_lowercase());
    match text.as_str() {
        "default" | "auto" | "automatic" | "unspecified" | "n/a" => true,
        // For a filter, `all` means no filter; elsewhere it matters, as in deleting all.
        "all" | "any" | "none" => name.is_of("filters"),
        // One room, one guest; but nobody brings a child unless the call says so.
        "1" if name.is_count() => !name.is_of("children"),
        text => name.is_usual(text.strip_suffix(".0").unwrap_or(text)),
    }
}

pub(super) fn is_empty(value: &Json) -> bool {
    match value {
        Json::Bool(value) => !value,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Whether a text is the null value of a programming language, as it is printed.
pub(super) fn is_nothing(value: &Json) -> bool {
    value.as_str().is_some_and(|text| matches!(text.trim(), "null" | "NULL" | "None" | "nil" | "undefined"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::constants::THRESHOLD;
    use super::super::super::{CallPair, Fidelity};
    use super::*;

    /// The score of a call with one argument more than the reference has.
    fn with_more(key: &str, value: &serde_json::Value, question: &str) -> f64 {
        let reference = Json::from(&json!({"city": "Bergen"}));
        let mut prediction = json!({"city": "Bergen"});
        prediction[key] = value.clone();
        let prediction = Json::from(&prediction);
        let pair = CallPair {
            tool: "hotels/search",
            a: Some(&reference),
            b: Some(&prediction),
            question: Some(question),
            schema: None,
        };
        Fidelity::new(None).compare(pair).score
    }

    #[test]
    fn orders_counts_and_filters_give_another_answer() {
        let question = "Which hotels are there in Bergen?";
        for (key, value) in [
            ("sort_by", json!("price")),
            ("orderBy", json!("distance")),
            ("room_qty", json!(2)),
            ("numberOfGuests", json!("4")),
            ("max_price", json!(200)),
            ("filters", json!(["pool"])),
            ("travelers", json!(3)),
            ("children", json!(1)),
        ] {
            let score = with_more(key, &value, question);
            assert!(score < THRESHOLD, "{key}: {score}");
        }
        for (key, value) in [
            ("sort_by", json!("relevance")),
            ("sort", json!("best_match")),
            ("rooms", json!(1)),
            ("persons", json!(1)),
            ("min_price", json!(0)),
            ("max_results", json!(20)),
            ("filters", json!([])),
        ] {
            let score = with_more(key, &value, question);
            assert!(score >= THRESHOLD, "{key}: {score}");
        }
        let asked = with_more("room_qty", &json!(2), "Which hotels in Bergen have 2 rooms for us?");
        assert!(asked >= THRESHOLD, "{asked}");
    }

    #[test]
    fn names_that_only_begin_so_change_no_answer() {
        let changes = |key: &str, number: Option<f64>| Name::new(key).changes_the_answer(number);
        assert!(changes("sort", None) && changes("roomCount", Some(2.0)) && changes("numAdults", Some(2.0)));
        assert!(
            !changes("order", None)
                && !changes("room_number", Some(204.0))
                && !changes("filter_size", Some(3.0))
        );
        assert!(
            !changes("order_id", Some(7.0))
                && !changes("room_type", None)
                && !changes("max_results", Some(5.0))
        );
    }
}
