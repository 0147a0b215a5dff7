//! Tables that benchmarks published: their models can stand beside one's own.

use m3_score::Profile;

use super::{ModelResult, Selection, table};

/// A published table.
#[derive(Debug, PartialEq, Eq)]
pub struct PublishedTable {
    /// The name in options.
    pub name: &'static str,
    /// Where the table was published.
    pub source: &'static str,
    /// The number of tasks in the references that were published with the table.
    pub tasks: usize,
    /// A CSV table of finished numbers.
    csv: &'static str,
}

/// All tables.
pub static PUBLISHED: [PublishedTable; 1] = [PublishedTable {
    name: "m3-bench",
    source: "M3-Bench, arXiv 2511.17729, table 2",
    tasks: 208,
    csv: include_str!("../../tables/m3-bench.csv"),
}];

impl PublishedTable {
    /// The table with this name.
    ///
    /// # Errors
    /// A message with the names of all tables.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        let names = || PUBLISHED.iter().map(|table| table.name).collect::<Vec<_>>().join(", ");
        PUBLISHED
            .iter()
            .find(|table| table.name == name)
            .ok_or_else(|| format!("no published table is called `{name}`; there are: {}", names()))
    }

    /// The models of the table.
    ///
    /// # Errors
    /// What is wrong with the table, which a test rules out.
    pub fn models(&self) -> Result<Vec<ModelResult>, String> {
        let mut models = table::read(self.csv.as_bytes(), self.name)?;
        for model in &mut models {
            model.published = Some(self.source);
        }
        Ok(models)
    }
}

/// The mark of models from published tables.
pub(crate) const MARK: &str = "\u{2020}";

/// Notes on how one's own models compare with those that were published in `sources`.
pub(super) fn notes(sources: &[&str], selection: Option<&Selection<'_>>) -> Vec<String> {
    let Some(selection) = selection else { return Vec::new() };
    let tables = PUBLISHED.iter().filter(|table| sources.contains(&table.source));
    let note = |PublishedTable { name, source, tasks, .. }: &PublishedTable| {
        let mut notes = vec![format!(
            "{MARK} published ({source}): no intervals and no tests; averages are over the metrics that all models have"
        )];
        let own = selection.ids.len();
        if own != *tasks {
            notes.push(format!(
                "Not on the same tasks: own results have {own}, the references published with {name} {tasks}"
            ));
        }
        if selection.profile != Profile::OpenM3Bench {
            notes.push(format!(
                "The table of {name} seems to come from its program, since argument similarity never exceeds recall there: \
                 `m3 score --profile open-m3-bench` computes what it does"
            ));
        }
        notes
    };
    tables.flat_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_read() {
        for table in &PUBLISHED {
            assert!(!PublishedTable::named(table.name).unwrap().models().unwrap().is_empty());
        }
        assert!(PublishedTable::named("m4").unwrap_err().contains("m3-bench"));
    }
}
