//! Writes the imported trajectories, references, tasks and tools into their files.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::str::FromStr;

use m3_support::text::counted;
use m3_traces::Ids;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, Keys, parse};
use m3_trajectory::tool_names::{NameMapping, RecognizedNames, Vocabulary, read_names, recognize};

use crate::cli::common::{Failure, Output, Printer, Result, ToolNamesArg, warn_of_open};
use crate::cli::import::ImportArgs;
use crate::import::{FileImport, ImportedFiles, Role, Spool, SpoolReader, SpooledTrajectory};

/// The bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// Writes all files, each with its content; returns the number of records in each.
pub(super) fn write(
    args: &ImportArgs,
    written: &[(Role, &Path)],
    imported: ImportedFiles,
    outputs: &mut [Output],
    printer: Printer,
) -> Result<Vec<u64>> {
    let ImportedFiles { files, spooled, spools, tools, offered, .. } = imported;
    if offered.differing > 0 {
        let count = counted(usize::try_from(offered.differing).unwrap_or(usize::MAX), "time");
        printer
            .note(&format!("{count} a tool came again with another description or schema: the first counts"));
    }
    let spools: io::Result<Vec<_>> = spools.into_iter().map(Spool::into_reader).collect();
    let spools = spools?;
    let names = names(args, &tools, printer)?;
    let mut records = Records { args, files: &files, spooled: &spooled, spools, names };
    let mut catalog = Some(offered);
    let mut counts = Vec::new();
    for ((what, path), out) in written.iter().zip(outputs) {
        let is_lines = path.extension().is_some_and(|ending| ending == "jsonl" || ending == "ndjson");
        let out = BufWriter::with_capacity(BUFFER, out);
        let done = match what {
            Role::Tools => {
                let (mut out, catalog) = (out, catalog.take().unwrap_or_default());
                let count = catalog.len() as u64;
                let text = catalog.into_json().to_text(Keys::AsRead);
                writeln!(out, "{text}").and_then(|()| out.flush()).map(|()| count)
            }
            role => records.write(*role, is_lines, out),
        };
        counts.push(done?);
    }
    Ok(counts)
}

/// The imported records, which wait to be written.
struct Records<'r> {
    args: &'r ImportArgs,
    files: &'r [FileImport],
    spooled: &'r [Vec<SpooledTrajectory>],
    spools: Vec<SpoolReader>,
    names: NameMapping,
}

impl Records<'_> {
    /// The tasks by their ids; of several tasks with one id, the first.
    fn tasks(&self) -> HashMap<String, SpooledTrajectory> {
        let mut tasks = HashMap::new();
        for (file, spooled) in self.files.iter().zip(self.spooled) {
            let format = file.format.as_deref().unwrap_or_default();
            for spooled in spooled.iter().filter(|spooled| spooled.role == Role::Task) {
                let id = self.args.id.fill(&file.stem, spooled.sample.as_deref(), format);
                tasks.entry(id).or_insert_with(|| spooled.clone());
            }
        }
        tasks
    }

    /// The text of a record. A reference gets the further members of its task, which may stand in another file.
    fn text(
        &mut self,
        spooled: &SpooledTrajectory,
        id: &str,
        task: Option<&SpooledTrajectory>,
    ) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        SpoolReader::write(&mut self.spools, spooled, id, &self.names, &mut text)?;
        let Some(task) = task else { return Ok(text) };
        let mut more = Vec::new();
        SpoolReader::write(&mut self.spools, task, id, &self.names, &mut more)?;
        let (Ok((Json::Object(mut members), _)), Ok((Json::Object(of_task), _))) =
            (parse(&text), parse(&more))
        else {
            return Ok(text);
        };
        for (key, value) in of_task {
            if members.iter().all(|(known, _)| *known != key) {
                members.push((key, value));
            }
        }
        Ok(Json::Object(members).to_text(Keys::AsRead).into_bytes())
    }

    /// Writes all records of a role, each with its id. References and tasks that occur again unchanged, as in every run
    /// of a benchmark, are written once.
    fn write(&mut self, role: Role, is_lines: bool, mut out: BufWriter<&mut Output>) -> io::Result<u64> {
        let (mut ids, mut known) = (Ids::default(), HashMap::<String, u64>::new());
        let tasks = if role == Role::Reference { self.tasks() } else { HashMap::new() };
        let mut count = 0;
        for (file, spooled) in self.files.iter().zip(self.spooled) {
            let format = file.format.as_deref().unwrap_or_default();
            for spooled in spooled.iter().filter(|spooled| spooled.role == role) {
                let id = self.args.id.fill(&file.stem, spooled.sample.as_deref(), format);
                // Predictions are copied; the text of a reference or task is kept, to see whether it occurs again.
                let held = match role {
                    Role::Trajectory => None,
                    _ => Some(self.text(spooled, &id, tasks.get(&id))?),
                };
                if held.as_ref().is_some_and(|text| is_known(&mut known, &id, text)) {
                    continue;
                }
                let unique = ids.unique(id.clone());
                let before = match (is_lines, count) {
                    (true, _) => "",
                    (false, 0) => "[\n",
                    (false, _) => ",\n",
                };
                count += 1;
                out.write_all(before.as_bytes())?;
                match held {
                    Some(text) if unique == id => out.write_all(&text)?,
                    Some(_) => out.write_all(&self.text(spooled, &unique, tasks.get(&id))?)?,
                    None => SpoolReader::write(&mut self.spools, spooled, &unique, &self.names, &mut out)?,
                }
                out.write_all(if is_lines { b"\n" } else { b"" })?;
            }
        }
        out.write_all(if is_lines || count == 0 { b"" } else { b"\n]\n" })?;
        out.flush()?;
        Ok(count)
    }
}

/// Whether the first record with this id has the same text.
fn is_known(known: &mut HashMap<String, u64>, id: &str, text: &[u8]) -> bool {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    let is_new = !known.contains_key(id);
    let first = *known.entry(id.to_owned()).or_insert(hash);
    first == hash && !is_new
}

/// The names that `--tool-names` gives to tools.
fn names(args: &ImportArgs, tools: &Vocabulary, printer: Printer) -> Result<NameMapping> {
    let names = match (&args.tool_names, args.catalog()) {
        (ToolNamesArg::Off, _) => return Ok(NameMapping::new()),
        (ToolNamesArg::File(path), _) => read_names(path).map_err(Failure::input)?,
        (ToolNamesArg::Auto, None) => {
            return Err(Failure::input(
                "`--tool-names auto` completes names by a catalog\nhint: `--tools FILE` names it",
            ));
        }
        (ToolNamesArg::Auto, Some(path)) => {
            let mut known = Vocabulary::default();
            Catalog::open(path)?.names().for_each(|name| known.add(name));
            let RecognizedNames { mapping, ambiguous } = recognize(tools, &known, &Vocabulary::default());
            warn_of_open(ambiguous, printer);
            mapping
        }
    };
    let used = names.keys().filter(|name| tools.has(name)).count();
    printer.note(&format!("{} renamed", counted(used, "tool")));
    Ok(names)
}

/// The template of an id: text with `{file}`, the name of the file without its ending, `{sample}`, the id in the file,
/// and `{format}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdTemplate(String);

/// The names that a template may have.
const NAMES: [&str; 3] = ["file", "sample", "format"];

impl FromStr for IdTemplate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or("a `{` without a `}`")?;
            if !NAMES.contains(&name) {
                return Err(format!("`{{{name}}}` is none of {{file}}, {{sample}} and {{format}}"));
            }
            rest = after;
        }
        if text.is_empty() { Err("an id should not be empty".to_owned()) } else { Ok(Self(text.to_owned())) }
    }
}

impl IdTemplate {
    /// The id of a trajectory; `{sample}` is the name of the file if the file gives no id.
    pub(crate) fn fill(&self, file: &str, sample: Option<&str>, format: &str) -> String {
        let mut out = String::new();
        let mut rest = self.0.as_str();
        // Names are filled in one pass: an id may hold `{file}` itself.
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(match name {
                "file" => file,
                "format" => format,
                _ => sample.unwrap_or(file),
            });
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_once() {
        let template: IdTemplate = "{file}/{sample}".parse().unwrap();
        assert_eq!(template.fill("log", Some("{file}"), "x"), "log/{file}");
        assert_eq!(template.fill("log", None, "x"), "log/log");
        for wrong in ["{", "{x}", ""] {
            assert!(wrong.parse::<IdTemplate>().is_err(), "{wrong}");
        }
    }
}
