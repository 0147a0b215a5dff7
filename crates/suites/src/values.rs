//! The values of a suite, by the names of its metrics.

use std::borrow::Cow;

/// Values by name, in the order of reports. A value that is not defined is `None`: it is not 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    numbers: Vec<(Cow<'static, str>, Option<f64>)>,
    labels: Vec<(&'static str, Option<String>)>,
}

impl Values {
    /// Adds a value.
    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Option<f64>) {
        self.numbers.push((name.into(), value));
    }

    /// The value with this name, if it is defined.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| known == name)?.1
    }

    /// All values, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<f64>)> {
        self.numbers.iter().map(|(name, value)| (&**name, *value))
    }

    /// Adds a label: a text beside the values, such as why a trial has the value 0; `None` if there is nothing to add.
    /// It may quote what a model wrote.
    pub fn push_label(&mut self, name: &'static str, text: Option<String>) {
        self.labels.push((name, text));
    }

    /// The label with this name.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| *known == name)?.1.as_deref()
    }

    /// All labels.
    pub fn labels(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        self.labels.iter().map(|(name, text)| (*name, text.as_deref()))
    }
}

impl<const N: usize> From<[(&'static str, Option<f64>); N]> for Values {
    fn from(values: [(&'static str, Option<f64>); N]) -> Self {
        let numbers = values.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { numbers, labels: Vec::new() }
    }
}
