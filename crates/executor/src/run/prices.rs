//! The cost of a run, by the user's table of prices. m3 has no prices of its own, because prices change.

use std::collections::HashMap;
use std::path::Path;

use m3_llm::Usage;
use m3_trajectory::{WholeFile, WholeFileError};
use serde::Deserialize;

/// Prices by model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices(HashMap<String, Price>);

/// The prices of a model, in dollars (or whatever the user counts in) for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of input tokens.
    pub input: f64,
    /// The price of input tokens read from the provider's cache; the same as `input` unless given.
    pub cached_input: Option<f64>,
    /// The price of output tokens.
    pub output: f64,
}

/// Why a table of prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// The file cannot be read, or is not JSON.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// The file does not have the shape of a table of prices.
    #[error(
        "`{path}` is no table of prices: {reason}\nhint: write {{\"gpt-5\": {{\"input\": 1.25, \"cached_input\": \
         0.125, \"output\": 10}}}}, for a million tokens"
    )]
    Shape {
        /// The file.
        path: String,
        /// What is wrong with the file.
        reason: String,
    },
}

/// The largest file that is read as a table of prices, in MiB.
const LARGEST: u64 = 16;

impl Prices {
    /// Reads a table: an object of models with `input`, `output` and, if wanted, `cached_input`.
    ///
    /// # Errors
    /// [`PricesError`].
    pub fn read(path: &Path) -> Result<Self, PricesError> {
        let file = WholeFile::read(path, LARGEST)?;
        let shape = |reason: String| PricesError::Shape { path: file.name.clone(), reason };
        let value = file.value.to_value().ok_or_else(|| shape("a number of it is infinite".to_owned()))?;
        let prices: HashMap<String, Price> =
            serde_json::from_value(value).map_err(|error| shape(error.to_string()))?;
        let is_wrong = |price: &Price| {
            [Some(price.input), price.cached_input, Some(price.output)].iter().flatten().any(|p| *p < 0.0)
        };
        if let Some((model, _)) = prices.iter().find(|(_, price)| is_wrong(price)) {
            return Err(shape(format!(
                "a price of `{}` is negative",
                m3_support::text::shortened(model, 100)
            )));
        }
        Ok(Self(prices))
    }

    /// The price of the first of these names that has one.
    #[must_use]
    pub fn of(&self, names: &[&str]) -> Option<Price> {
        names.iter().find_map(|name| self.0.get(*name)).copied()
    }
}

impl Price {
    /// The cost of these tokens. Tokens that were not reported cost nothing here.
    #[must_use]
    pub fn cost(self, usage: Usage) -> f64 {
        let input = usage.input_tokens.unwrap_or(0);
        let cached = usage.cached_input_tokens.unwrap_or(0).min(input);
        let price = (input - cached) as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input)
            + usage.output_tokens.unwrap_or(0) as f64 * self.output;
        price / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_by_hand() {
        let usage = Usage {
            input_tokens: Some(1_000_000),
            cached_input_tokens: Some(400_000),
            output_tokens: Some(50_000),
            reasoning_tokens: Some(10_000),
            ..Usage::default()
        };
        // 0.6 x 1.25 + 0.4 x 0.125 + 0.05 x 10
        let price = Price { input: 1.25, cached_input: Some(0.125), output: 10.0 };
        assert!((price.cost(usage) - 1.3).abs() < 1e-12);
        // 1 x 1.25 + 0.05 x 10
        assert!((Price { cached_input: None, ..price }.cost(usage) - 1.75).abs() < 1e-12);
        assert!(price.cost(Usage::default()).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.json");
        for text in [
            "[]",
            r#"{"m": 1}"#,
            r#"{"m": {"input": 1}}"#,
            r#"{"m": {"input": -1, "output": 1}}"#,
            r#"{"m": {"input": 1, "output": 1, "cached": 1}}"#,
            r#"{"m": {"input": Infinity, "output": 1}}"#,
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Prices::read(&path).unwrap_err().to_string();
            assert!(error.contains("is no table of prices"), "{text}: {error}");
        }
        std::fs::write(&path, r#"{"m": {"input": 1, "output": 2}}"#).unwrap();
        let price = Prices::read(&path).unwrap().of(&["openai:m", "m"]).unwrap();
        assert!((price.output - 2.0).abs() < 1e-12);
    }
}
