//! The values of a suite, by the names of its metrics.

use std::borrow::Cow;

/// Values by name, in the order of reports. A value that is not defined is `None`: it is not 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(Vec<(Cow<'static, str>, Option<f64>)>);

impl Values {
    /// Adds a value.
    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Option<f64>) {
        self.0.push((name.into(), value));
    }

    /// The value with this name, if it is defined.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name)?.1
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<f64>)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }
}

impl<const N: usize> From<[(&'static str, Option<f64>); N]> for Values {
    fn from(values: [(&'static str, Option<f64>); N]) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}
