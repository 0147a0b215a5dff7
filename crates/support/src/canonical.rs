//! A text for each JSON value that is the same for equal values: what is compared and hashed instead of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Number, Value};

/// A text that is one for all equal values: the order of keys means nothing, and numbers are equal when they are the same
/// number.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => write_object(out, members.iter()),
    }
}

/// Adds the text of an object with these members.
pub fn write_object<'a>(out: &mut String, members: impl Iterator<Item = (&'a String, &'a Value)>) {
    // Sorted here: whether `Map` is depends on who else uses serde_json.
    let members: BTreeMap<&String, &Value> = members.collect();
    out.push('{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
}

fn write_number(out: &mut String, number: &Number) {
    // Writing to a string cannot fail.
    let _ = match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(value), ..) => write!(out, "{value}"),
        (None, Some(value), _) => write!(out, "{value}"),
        // Whole numbers digit by digit, so that they meet integers; zero without its sign.
        (None, None, Some(0.0)) => write!(out, "0"),
        (None, None, Some(value)) if value.fract() == 0.0 => write!(out, "{value:.0}"),
        (None, None, Some(value)) => write!(out, "{value:e}"),
        (None, None, None) => write!(out, "{number}"),
    };
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        // Only what would end the text early: this is for comparing, not for reading.
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}
