//! A text for each JSON value that is the same for equal values, used to compare and hash values.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Number, Value};

use crate::text::hash_of_bytes;

/// The hash of the canonical text of a value, which [`canonical`] describes.
pub fn hash_of(value: &impl Serialize) -> String {
    // Only a map whose keys are not texts can make this fail.
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    hash_of_bytes(canonical(&value).as_bytes())
}

/// A text that is equal for equal values: the order of keys does not matter, and numbers are equal if their values are.
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
    // Sorted here, because the order of `Map` depends on which features of serde_json are compiled in.
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
        // Whole numbers are written with all digits, so that they equal integers; zero is written without its sign.
        (None, None, Some(0.0)) => write!(out, "0"),
        (None, None, Some(value)) if value.fract() == 0.0 => write!(out, "{value:.0}"),
        (None, None, Some(value)) => write!(out, "{value:e}"),
        (None, None, None) => write!(out, "{number}"),
    };
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        // Only characters that would end the text early are escaped: this is for comparing, not for reading.
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}
