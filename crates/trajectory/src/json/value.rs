//! Converts between this module's JSON and `serde_json`'s, which protocols use.

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::{Json, Keys};

impl Json {
    /// The value for protocols; `None` if it contains a number that standard JSON cannot express (`NaN`, infinities).
    /// Integers beyond 64 bits become the nearest double.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Integer(value) => Value::from(*value),
            Self::LongInteger(digits) => match digits.parse::<u64>() {
                Ok(value) => Value::from(value),
                Err(_) => Value::Number(Number::from_f64(digits.parse().ok()?)?),
            },
            Self::Float(value) => Value::Number(Number::from_f64(*value)?),
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_value).collect::<Option<_>>()?),
            Self::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, value)| Some((key.clone(), value.to_value()?)))
                    .collect::<Option<Map<_, _>>>()?,
            ),
        })
    }
}

impl Json {
    /// The value for protocols, in which each number that standard JSON cannot express is a text, such as `"NaN"`.
    #[must_use]
    pub fn to_value_with_numbers_as_text(&self) -> Value {
        match self {
            Self::Array(items) => items.iter().map(Self::to_value_with_numbers_as_text).collect(),
            Self::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, value)| (key.clone(), value.to_value_with_numbers_as_text()))
                    .collect(),
            ),
            value => value.to_value_or_text(),
        }
    }

    /// The value for protocols; as text where it contains a number that standard JSON cannot express.
    #[must_use]
    pub fn to_value_or_text(&self) -> Value {
        self.to_value().unwrap_or_else(|| Value::String(self.to_text(Keys::AsRead)))
    }

    /// The JSON that serde writes for a value, with its members in their order; null if JSON cannot hold the value,
    /// such as a map whose keys are not text.
    #[must_use]
    pub fn from_serde(value: &impl Serialize) -> Self {
        let text = serde_json::to_vec(value).unwrap_or_default();
        super::parse(&text).map_or(Json::Null, |(value, _)| value)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => Self::Integer(value),
                (None, Some(value)) => Self::LongInteger(value.to_string()),
                (None, None) => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(key, value)| (key.clone(), Self::from(value))).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn values_go_both_ways_and_what_json_cannot_say_does_not() {
        let json = |text: &str| parse(text.as_bytes()).unwrap().0;
        let whole = json(r#"{"a": [1, -2.5, 18446744073709551615, "x", null, true]}"#);
        assert_eq!(Json::from(&whole.to_value().unwrap()), whole);
        assert_eq!(json(r#"{"a": [NaN]}"#).to_value(), None);
        assert_eq!(json("Infinity").to_value(), None);
        // 10^21 is the nearest double to 10^21 + 1.
        assert_eq!(json("1000000000000000000001").to_value(), Some(serde_json::json!(1e21)));
    }
}
