//! Whether a value has the type of its parameter, and is one of the accepted values.
//!
//! The rules and quirks are those of the published program's `ast_checker.py`: they are part of what it measures.

use std::borrow::Cow;

use m3_trajectory::json::Json;

use super::failure::Kind;
use super::python::equals;
use super::schema::Type;

/// How accepted values of the members of objects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The values are a list of accepted values, as in BFCL's possible answers.
    Listed,
    /// The value is the only accepted one.
    Only,
}

/// The accepted values of an argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct AcceptedValues<'a> {
    pub(super) values: &'a [Json],
    pub(super) form: Form,
}

/// Whether a value is the empty text, which says that an argument or a member may be left out.
fn is_empty_text(value: &Json) -> bool {
    value.as_str() == Some("")
}

impl<'a> AcceptedValues<'a> {
    /// A value of a reference as the only accepted one.
    pub(super) fn only(value: &'a Json) -> Self {
        Self { values: std::slice::from_ref(value), form: Form::Only }
    }

    pub(super) fn is_optional(&self) -> bool {
        self.values.iter().any(is_empty_text)
    }

    /// Whether `value` is accepted for a parameter of type `wanted`, whose items have the type `items`.
    pub(super) fn check(&self, value: &Json, wanted: Type, items: Option<Type>) -> Result<(), Kind> {
        if is_variable(value, self.values, wanted, items)? {
            self.check_equal(value)
        } else {
            self.check_value(value, items)
        }
    }

    /// Whether `value` is accepted where no type is known: the first accepted value decides the type.
    pub(super) fn check_without_type(&self, value: &Json) -> Result<(), Kind> {
        if type_of_gold(self.values).is_some_and(|gold| gold != Type::from_value(value)) {
            return self.check_equal(value);
        }
        let are_objects = |value: &Json| match value {
            Json::Array(items) => {
                !items.is_empty() && items.iter().all(|item| Type::from_value(item) == Type::Object)
            }
            _ => false,
        };
        let items = self.values.iter().any(are_objects).then_some(Type::Object);
        self.check_value(value, items)
    }

    fn check_equal(&self, value: &Json) -> Result<(), Kind> {
        self.values.iter().any(|accepted| equals(accepted, value)).then_some(()).ok_or(Kind::ValueOther)
    }

    /// Checks a value of the right type by the rules for this type.
    fn check_value(&self, value: &Json, items: Option<Type>) -> Result<(), Kind> {
        match value {
            Json::Object(members) => self.check_object(members),
            Json::Array(list) if items == Some(Type::Object) => self.check_objects(list),
            Json::Array(list) => self.check_list(list),
            Json::String(text) => self.check_text(text),
            _ => self.check_equal(value),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), Kind> {
        let text = standard(text);
        let mut accepted = self.values.iter().filter_map(Json::as_str);
        accepted.any(|accepted| standard(accepted) == text).then_some(()).ok_or(Kind::ValueText)
    }

    fn check_list(&self, list: &[Json]) -> Result<(), Kind> {
        let is_accepted = |accepted: &Json| {
            let Some(accepted) = items_of(accepted) else { return false };
            accepted.len() == list.len() && accepted.iter().zip(list).all(|(a, b)| equals_standard(a, b))
        };
        self.values.iter().any(is_accepted).then_some(()).ok_or(Kind::ValueList)
    }

    /// Checks an object; if no accepted object fits, the last one decides the error.
    fn check_object(&self, predicted: &[(String, Json)]) -> Result<(), Kind> {
        let mut kind = Kind::UnclearObject;
        for accepted in self.values.iter().filter(|accepted| !is_empty_text(accepted)) {
            let Json::Object(accepted) = accepted else { continue };
            match self.check_members(predicted, accepted) {
                Ok(()) => return Ok(()),
                Err(other) => kind = other,
            }
        }
        Err(kind)
    }

    /// Checks the members of an object: missing keys are reported before wrong values.
    fn check_members(&self, predicted: &[(String, Json)], accepted: &[(String, Json)]) -> Result<(), Kind> {
        let has_all = accepted.iter().all(|(key, values)| {
            predicted.iter().any(|(known, _)| known == key) || options(values, self.form).iter().any(is_empty_text)
                // In Python, the empty text is in every text.
                || (self.form == Form::Listed && values.as_str().is_some())
        });
        if !has_all {
            return Err(Kind::ValueKey);
        }
        for (key, value) in predicted {
            let (_, values) = accepted.iter().find(|(known, _)| known == key).ok_or(Kind::ValueKey)?;
            if !options(values, self.form).iter().any(|accepted| equals_standard(accepted, value)) {
                return Err(Kind::ValueMember);
            }
        }
        Ok(())
    }

    /// Checks a list of objects, as many and in the same order. If no accepted list fits, the last one decides the
    /// error.
    fn check_objects(&self, predicted: &[Json]) -> Result<(), Kind> {
        let mut kind = Kind::UnclearObjects;
        for accepted in self.values.iter().filter_map(items_of) {
            if accepted.len() != predicted.len() {
                kind = Kind::ValueObjectCount;
                continue;
            }
            let mut pairs = accepted.iter().zip(predicted);
            match pairs.try_for_each(|(accepted, predicted)| self.check_one_of_objects(accepted, predicted)) {
                Ok(()) => return Ok(()),
                Err(other) => kind = other,
            }
        }
        Err(kind)
    }

    fn check_one_of_objects(&self, accepted: &Json, predicted: &Json) -> Result<(), Kind> {
        let accepted = AcceptedValues { values: std::slice::from_ref(accepted), form: self.form };
        match predicted {
            Json::Object(members) => accepted.check_object(members),
            _ => Err(Kind::UnclearObject),
        }
    }
}

/// The accepted values of a member. A text in place of a list is read as the list of its characters, as the published
/// program does; one of its possible answers has such a text.
fn options(values: &Json, form: Form) -> Cow<'_, [Json]> {
    match form {
        Form::Listed => items_of(values).unwrap_or(Cow::Borrowed(std::slice::from_ref(values))),
        Form::Only => Cow::Borrowed(std::slice::from_ref(values)),
    }
}

/// The items of a list, or the characters of a text. The published program breaks off with anything else.
fn items_of(value: &Json) -> Option<Cow<'_, [Json]>> {
    match value {
        Json::Array(items) => Some(Cow::Borrowed(items)),
        Json::String(text) => Some(text.chars().map(|c| Json::String(c.to_string())).collect()),
        _ => None,
    }
}

fn type_of_gold(values: &[Json]) -> Option<Type> {
    values.iter().find(|value| !is_empty_text(value)).map(Type::from_value)
}

/// Whether a value stands for a variable; an error if it has neither the wanted type nor that of the accepted values.
/// Accepted values of another type than the parameter's are names of variables, so a value of their type is right, too.
fn is_variable(value: &Json, accepted: &[Json], wanted: Type, items: Option<Type>) -> Result<bool, Kind> {
    let (predicted, gold) = (Type::from_value(value), type_of_gold(accepted));
    if predicted != wanted {
        return if gold == Some(predicted) { Ok(true) } else { Err(Kind::TypeSimple) };
    }
    if have_types(value, accepted, items) {
        return Ok(gold.is_some_and(|gold| gold != wanted));
    }
    Err(if gold == Some(predicted) { Kind::TypeNested } else { Kind::TypeSimple })
}

/// Whether the items of a list have the wanted type, or that of the first item of any accepted list.
fn have_types(value: &Json, accepted: &[Json], items: Option<Type>) -> bool {
    let (Some(wanted), Json::Array(list)) = (items, value) else { return true };
    let mut accepted = accepted.iter();
    accepted.any(|accepted| match accepted {
        Json::Array(accepted) => list.iter().all(|item| is_variable(item, accepted, wanted, None).is_ok()),
        _ => true,
    })
}

/// Texts are equal in their standard form, other values as in Python.
fn equals_standard(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::String(a), Json::String(b)) => standard(a) == standard(b),
        _ => equals(a, b),
    }
}

/// A text in lower case, with one kind of quotes, and without blanks and some marks.
fn standard(text: &str) -> String {
    let kept = text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^'));
    kept.collect::<String>().to_lowercase().replace('\'', "\"")
}
