//! JSON as a validator reads it, where each look is counted.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value};

use super::budget::{count_name, count_steps, count_text};

/// The most items of an array that the validator compares pair by pair.
const MOST_COMPARED: usize = 16;

/// The representation of JSON whose reading is counted.
pub struct CountedJson;

/// A value whose reading is counted.
#[derive(Debug, Clone, Copy)]
pub struct CountedValue<'a>(pub &'a Value);

impl<'a> CountedValue<'a> {
    fn read(self) -> &'a Value {
        count_steps(1);
        self.0
    }
}

impl Json for CountedJson {
    type Node<'a> = CountedValue<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        SerdeJson::prepare_key(key)
    }

    fn with_string_node<T>(buffer: &mut Value, text: &str, run: impl FnOnce(CountedValue<'_>) -> T) -> T {
        SerdeJson::with_string_node(buffer, text, |value| run(CountedValue(value)))
    }
}

impl<'a> Node<'a, CountedJson> for CountedValue<'a> {
    type Object = CountedMembers<'a>;
    type Array = CountedItems<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<CountedMembers<'a>> {
        self.read().as_object().map(CountedMembers)
    }

    fn as_array(&self) -> Option<CountedItems<'a>> {
        self.read().as_array().map(|items| CountedItems(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.read().as_str()?;
        count_text(text);
        Some(Cow::Borrowed(text))
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.read().as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.read().as_bool()
    }

    fn is_null(&self) -> bool {
        self.read().is_null()
    }

    fn json_type(&self) -> JsonType {
        self.read().json_type()
    }

    fn string_length(&self) -> Option<u64> {
        self.as_string()?;
        self.0.string_length()
    }

    fn equals_value(&self, expected: &Value) -> bool {
        let value = self.read();
        if value.is_array() && expected.is_array() || value.is_object() && expected.is_object() {
            count_values(value);
        }
        value.equals_value(expected)
    }

    /// Errors copy the value that they are about.
    fn to_value(&self) -> Cow<'a, Value> {
        count_values(self.0);
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        self.read().identity()
    }
}

/// Counts all that a comparison of a value reads.
fn count_values(value: &Value) {
    count_steps(1);
    match value {
        Value::String(text) => count_steps(text.len() as u64 / 64),
        Value::Array(items) => items.iter().for_each(count_values),
        Value::Object(members) => members.values().for_each(count_values),
        _ => {}
    }
}

/// The members of an object that is read.
pub struct CountedMembers<'a>(&'a Map<String, Value>);

impl<'a> Object<'a, CountedJson> for CountedMembers<'a> {
    type Node = CountedValue<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<CountedValue<'a>> {
        count_steps(1);
        self.0.get(key).map(CountedValue)
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter(self.0.iter())
    }
}

/// Iterates over members, and counts each.
pub struct MembersIter<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, CountedValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        count_steps(1);
        let (key, value) = self.0.next()?;
        count_name(key);
        Some((key, CountedValue(value)))
    }
}

/// The items of an array that is read.
pub struct CountedItems<'a>(&'a [Value]);

impl<'a> Array<'a, CountedJson> for CountedItems<'a> {
    type Node = CountedValue<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        // A few items are compared with each other, many are hashed.
        for _ in 0..self.0.len().min(MOST_COMPARED) {
            self.0.iter().for_each(count_values);
        }
        Array::<SerdeJson>::is_unique(&self.0)
    }
}

/// Iterates over items, and counts each.
pub struct ItemsIter<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for ItemsIter<'a> {
    type Item = CountedValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        count_steps(1);
        self.0.next().map(CountedValue)
    }
}
