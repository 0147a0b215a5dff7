//! The registry of suites, and how they are named.

use std::str::FromStr;

use m3_trajectory::catalog::Catalog;

use crate::suite::{Scorer, Setting, Suite, Variant};
use crate::{bfcl, mcp_agentbench, mcp_bench, mcpagentbench, mcptoolbenchpp};

/// All suites but `m3` itself.
pub static SUITES: [&Suite; 5] =
    [&bfcl::SUITE, &mcpagentbench::SUITE, &mcptoolbenchpp::SUITE, &mcp_bench::SUITE, &mcp_agentbench::SUITE];

/// A suite as it was asked for: `NAME` or `NAME:VARIANT`.
#[derive(Debug, Clone, Copy)]
pub struct ChosenSuite {
    /// The suite.
    pub suite: &'static Suite,
    /// The definition of the suite that is used.
    pub variant: Variant,
}

impl ChosenSuite {
    /// The name in results: that of the suite, with the variant unless it is the paper's.
    #[must_use]
    pub fn name(&self) -> String {
        match self.variant {
            Variant::Paper => self.suite.name.to_owned(),
            Variant::Published => format!("{}:{}", self.suite.name, self.variant.name()),
        }
    }

    /// Starts a scorer of the suite.
    #[must_use]
    pub fn open<'c>(&self, catalog: Option<&'c Catalog>) -> Box<dyn Scorer + 'c> {
        (self.suite.open)(&Setting { variant: self.variant, catalog })
    }
}

impl FromStr for ChosenSuite {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, variant) = text.split_once(':').unwrap_or((text, "paper"));
        let names = || SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ");
        let suite = SUITES.iter().find(|suite| suite.name == name);
        let suite =
            *suite.ok_or_else(|| format!("there is no suite `{name}`; there are: m3, {}", names()))?;
        let variant = match variant {
            "paper" => Variant::Paper,
            "published" if suite.has_published => Variant::Published,
            "published" => {
                return Err(format!("no program was published with `{name}` that differs from its paper"));
            }
            other => return Err(format!("`{other}` is no variant; these are: paper, published")),
        };
        Ok(Self { suite, variant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_chosen_by_name_and_variant() {
        let name = |text: &str| text.parse::<ChosenSuite>().map(|chosen| chosen.name());
        assert_eq!(name("mcpagentbench"), Ok("mcpagentbench".to_owned()));
        assert_eq!(name("mcpagentbench:paper"), Ok("mcpagentbench".to_owned()));
        assert_eq!(name("mcpagentbench:published"), Ok("mcpagentbench:published".to_owned()));
        for wrong in ["", "m4", "mcpagentbench:", "mcpagentbench:mine"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }

    /// `m3 agree` takes the first share of a suite.
    #[test]
    fn a_trial_has_a_share_of_every_suite() {
        use m3_trajectory::Trajectory;

        use crate::suite::{Trial, Unit};

        for suite in SUITES {
            let mut scorer = (suite.open)(&Setting::default());
            let values = scorer.trial(&Trial::new(&Trajectory::default(), Some(&Trajectory::default()), 1));
            let is_share = |unit| matches!(unit, Unit::Share | Unit::Percent);
            let mut shares = suite.metrics.iter().filter(|metric| is_share(metric.unit));
            let first = shares.next().map(|metric| metric.name);
            assert!(values.iter().any(|(name, _)| Some(name) == first), "{}: {first:?}", suite.name);
        }
    }

    #[test]
    fn names_are_unique() {
        for (index, suite) in SUITES.iter().enumerate() {
            assert!(SUITES[..index].iter().all(|other| other.name != suite.name));
            for (index, metric) in suite.metrics.iter().enumerate() {
                assert!(suite.metrics[..index].iter().all(|other| other.name != metric.name));
            }
        }
    }
}
