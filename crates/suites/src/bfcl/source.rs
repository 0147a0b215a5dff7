//! Values that calls write as Java's or JavaScript's source.

use std::borrow::Cow;

use m3_trajectory::json::Json;

use super::failure::Kind;
use super::schema::{Language, Parameter};
use super::{java, javascript};

/// The value as it is compared. A call in Python contains the value itself; whole numbers become floats where the type
/// is a float. In Java and JavaScript it is converted from its source text, and a text that is not a value of the
/// wanted type stays a text.
pub(super) fn value<'v>(
    value: &'v Json,
    parameter: &Parameter<'_>,
    language: Language,
) -> Result<Cow<'v, Json>, Kind> {
    let items = parameter.items.map(|items| items.name);
    let (convert, kind): (fn(_, _, _) -> _, _) = match language {
        Language::Python => return Ok(python(value, parameter.own.name)),
        Language::Java => (java::convert, Kind::TypeJava),
        Language::JavaScript => (javascript::convert, Kind::TypeJavaScript),
    };
    let text = value.as_str().ok_or(kind)?;
    Ok(convert(text, parameter.own.name, items).map_or(Cow::Borrowed(value), Cow::Owned))
}

fn python<'v>(value: &'v Json, wanted: &str) -> Cow<'v, Json> {
    if !matches!(wanted, "float" | "number") {
        return Cow::Borrowed(value);
    }
    match value {
        Json::Integer(whole) => Cow::Owned(Json::Float(*whole as f64)),
        // The program breaks off where a number is too large for a float; here it stays what it is.
        Json::LongInteger(digits) => {
            let float = digits.parse().ok().filter(|float: &f64| float.is_finite());
            float.map_or(Cow::Borrowed(value), |float| Cow::Owned(Json::Float(float)))
        }
        _ => Cow::Borrowed(value),
    }
}
