//! Whether a value is one of those that are accepted.

use m3_trajectory::json::Json;

use super::failure::Failure;

/// The members of an object.
pub(super) type Members = [(String, Json)];

/// A text as it is compared: without blanks and `,./-_*^`, in lower case, with double quotes.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^'));
    kept.collect::<String>().to_lowercase().replace('\'', "\"")
}

/// A value as it is compared: of texts only what [`plain`] keeps.
fn plain_value(value: &Json) -> Json {
    match value {
        Json::String(text) => Json::String(plain(text)),
        other => other.clone(),
    }
}

pub(super) fn find<'m>(members: &'m Members, name: &str) -> Option<&'m Json> {
    members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// Python's `==`: numbers by their value, true being 1; objects whatever the order of their members.
pub(super) fn is_equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| find(b, key).is_some_and(|b| is_equal(a, b)))
        }
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
    }
}

/// A number of which a float holds every digit.
#[derive(PartialEq)]
enum Number<'n> {
    Small(i64),
    Float(f64),
    Long(&'n str),
}

fn number(value: &Json) -> Option<Number<'_>> {
    /// Floats up to here are whole without loss.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    match value {
        Json::Bool(flag) => Some(Number::Small(i64::from(*flag))),
        Json::Integer(number) => Some(Number::Small(*number)),
        Json::LongInteger(digits) => Some(Number::Long(digits)),
        #[expect(clippy::cast_possible_truncation, clippy::float_cmp, reason = "it is whole and in range")]
        Json::Float(number) if number.abs() <= WHOLE && number.trunc() == *number => {
            Some(Number::Small(*number as i64))
        }
        Json::Float(number) => Some(Number::Float(*number)),
        _ => None,
    }
}

/// Whether a text is accepted.
pub(super) fn check_text(text: &str, accepted: &[Json]) -> Result<(), Failure> {
    let text = plain(text);
    let is_accepted = accepted.iter().filter_map(Json::as_str).any(|answer| plain(answer) == text);
    if is_accepted { Ok(()) } else { Err("value_error:string") }
}

/// Whether a list is accepted, in its order.
pub(super) fn check_list(list: &[Json], accepted: &[Json]) -> Result<(), Failure> {
    let found = Json::Array(list.iter().map(plain_value).collect());
    let is_accepted = accepted.iter().any(|answer| {
        let answer = match answer {
            Json::Array(items) => items.iter().map(plain_value).collect(),
            // The program takes a text for the list of its characters: the empty text accepts the empty list.
            Json::String(text) => text.chars().map(|c| Json::String(plain(&c.to_string()))).collect(),
            _ => return false,
        };
        is_equal(&found, &Json::Array(answer))
    });
    if is_accepted { Ok(()) } else { Err("value_error:list/tuple") }
}

/// Whether an object is accepted: each member has one of its accepted values, none is missing that must be there.
pub(super) fn check_object(object: &Members, accepted: &[Json]) -> Result<(), Failure> {
    let mut reason = Err("dict_checker:unclear");
    for answer in accepted.iter().filter(|answer| answer.as_str() != Some("")) {
        reason = fits(object, answer);
        if reason.is_ok() {
            return Ok(());
        }
    }
    reason
}

fn fits(object: &Members, answer: &Json) -> Result<(), Failure> {
    let Json::Object(answer) = answer else { return Err("value_error:dict_key") };
    let mut reason = Ok(());
    for (key, value) in object {
        let Some(accepted) = find(answer, key) else {
            reason = Err("value_error:dict_key");
            break;
        };
        let value = plain_value(value);
        if !values(accepted).iter().any(|accepted| is_equal(&value, &plain_value(accepted))) {
            reason = Err("value_error:dict_value");
            break;
        }
    }
    let is_missing = |(key, accepted): &(String, Json)| {
        find(object, key).is_none() && !values(accepted).iter().any(|value| value.as_str() == Some(""))
    };
    // The last reason is the one that the program tells.
    if answer.iter().any(is_missing) { Err("value_error:dict_key") } else { reason }
}

/// The accepted values of a member.
fn values(accepted: &Json) -> &[Json] {
    match accepted {
        Json::Array(values) => values,
        other => std::slice::from_ref(other),
    }
}

/// Whether a list of objects is accepted, in its order.
pub(super) fn check_objects(list: &[Json], accepted: &[Json]) -> Result<(), Failure> {
    let mut reason = Err("list_dict_checker:unclear");
    for answer in accepted {
        let answer = match answer {
            Json::Array(items) => items.as_slice(),
            _ => &[],
        };
        if list.len() != answer.len() {
            reason = Err("value_error:list_dict_count");
            continue;
        }
        reason = list.iter().zip(answer).try_for_each(|(item, answer)| match item {
            Json::Object(members) => check_object(members, std::slice::from_ref(answer)),
            _ => Err("value_error:dict_key"),
        });
        if reason.is_ok() {
            return Ok(());
        }
    }
    reason
}
