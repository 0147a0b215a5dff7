//! Reads results: `m3.score/1` as JSON or JSON Lines, and tables of finished numbers as CSV.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use m3_score::{Profile, Similarity};
use m3_support::unpack::unpacked_name;

use super::entry::Entry;
use super::kept::kept;
use super::plain_error::plain;
use super::repeats::by_task;
use super::{ModelResult, Numbers, Origin, Repeats, table};
use crate::unusable::{self, ExpectedFile, UnusableFile};
use crate::wire::start;
use crate::{EncoderReport, SCORE_SCHEMA, ScoreSummary, ThresholdsReport, TrajectoryReport};

const EXPECTED: ExpectedFile = ExpectedFile {
    not_met: "is no result",
    hint: "`m3 score .. --format json --out FILE` writes one; a CSV file should have a column `model` and columns named \
        like the metrics",
};

/// Reads the models of one file: one for a score, one for each row of a CSV table. `name` is the name of a score's
/// model; by default the file's name without its endings.
///
/// # Errors
/// [`UnusableFile`].
pub fn read_results(path: &Path, name: Option<&str>) -> Result<Vec<ModelResult>, UnusableFile> {
    open_result(path, |reader| {
        let file = path.display().to_string();
        if unpacked_name(&file).to_lowercase().ends_with(".csv") {
            return match name {
                Some(name) => Err(format!("a table has a name in each row, and cannot be called `{name}`")),
                None => table::read(reader, &file),
            };
        }
        let (head, trajectories) = read_entries(reader)?;
        let numbers = numbers(head, trajectories)?;
        let name = name.map_or_else(|| stem(path), str::to_owned);
        Ok(vec![ModelResult { name, file, published: None, numbers }])
    })
}

/// The name of a model, from the name of its file without the endings.
pub(crate) fn stem(path: &Path) -> String {
    let file_name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut stem = unpacked_name(&file_name);
    // Endings are removed one by one, because models' names contain dots: gemini-2.5-pro.json.
    for ending in [".jsonl", ".ndjson", ".json"] {
        stem = stem.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(stem);
    }
    stem.to_owned()
}

/// Opens a result and reads it.
///
/// # Errors
/// [`UnusableFile`], also with the message of `read`.
pub(crate) fn open_result<T>(
    path: &Path,
    read: impl FnOnce(Box<dyn BufRead>) -> Result<T, String>,
) -> Result<T, UnusableFile> {
    let reader = open(path).map_err(|cause| UnusableFile::Read { path: path.to_owned(), cause })?;
    read(reader).map_err(|message| UnusableFile::Content {
        path: path.to_owned(),
        expected: EXPECTED,
        message,
    })
}

/// A file or, for `-`, standard input.
fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        unusable::decompressed(Box::new(BufReader::new(io::stdin())))
    } else {
        unusable::open(path)
    }
}

/// The head and the trajectories of a score.
pub(crate) fn read_entries(reader: impl BufRead) -> Result<(ScoreSummary, Vec<TrajectoryReport>), String> {
    let mut head: Option<Box<ScoreSummary>> = None;
    let mut trajectories = Vec::new();
    let no_schema = || format!("it has no `schema`; expected `{SCORE_SCHEMA}`");
    for entry in serde_json::Deserializer::from_reader(reader).into_iter::<Entry>() {
        match entry.map_err(|error| plain(&error))? {
            Entry::Head(_) if head.is_some() => {
                return Err("it has two heads; give each model a file of its own".to_owned());
            }
            Entry::Head(mut found) => {
                trajectories.append(&mut found.trajectories);
                head = Some(found);
            }
            Entry::Trajectory(found) => trajectories.push(*found),
            Entry::Other => return Err(no_schema()),
        }
    }
    let head = head.ok_or("it has no head with a `schema`; is it cut short?")?;
    Ok((*head, trajectories))
}

/// The numbers of a score, if its head has all that a score needs.
fn numbers(head: ScoreSummary, trajectories: Vec<TrajectoryReport>) -> Result<Numbers, String> {
    let needed = [
        ("profile", !head.profile.is_empty()),
        ("encoder", head.encoder != EncoderReport::default()),
        ("thresholds", head.thresholds.is_known()),
    ];
    if let Some((key, _)) = needed.into_iter().find(|(_, is_there)| !is_there) {
        return Err(format!("it has no `{key}`"));
    }
    if head.schema != SCORE_SCHEMA {
        return Err(format!("its schema is `{}`, and should be `{SCORE_SCHEMA}`", head.schema));
    }
    let profile = Profile::from_name(&head.profile);
    let profile = profile.ok_or_else(|| format!("its profile `{}` is not known", head.profile))?;
    let similarity = Similarity::from_name(&head.similarity);
    let similarity =
        similarity.ok_or_else(|| format!("its similarity `{}` is not known", head.similarity))?;
    let (repeats, trials) = head.repeats.map(Repeats::checked).transpose()?.unzip();
    let ThresholdsReport { weak, strong } = head.thresholds;
    let trajectories = trajectories.into_iter().map(|report| kept(report, strong));
    let trajectories = by_task(trajectories, &trials.unwrap_or_default())?;
    let roles = head.inputs.roles.as_ref().map(|roles| format!(", roles {}", start(&roles.sha256)));
    let tool_names = Some(&head.tool_names.mode).filter(|mode| *mode != "off");
    let tool_names = tool_names.map(|mode| format!(", tool names {mode}"));
    let conditions = format!(
        "encoder {} ({}), similarity {}, tau {weak} / {strong}{}{}{}",
        head.encoder.name,
        head.encoder.fingerprint,
        similarity.name(),
        tool_names.unwrap_or_default(),
        if head.flow == "off" { ", flow off" } else { "" },
        roles.unwrap_or_default()
    );
    // A task may fail in each of its repetitions.
    let times = repeats.as_ref().map_or(1, |repeats| repeats.count as usize);
    let tasks = head.ledger.references.saturating_mul(times);
    let origin = Origin {
        signature: Some(head.signature).filter(|signature| !signature.is_empty()),
        references: Some(head.inputs.references).filter(|file| !file.sha256.is_empty()),
        tools: head.inputs.tools,
        failures: head.ledger.failures.map(|failures| (failures, tasks)),
        repeats,
        fidelity_model: head.fidelity_model,
        asked: head.asked.map(Box::new),
        are_results_evidence: head.results.is_some(),
        suites: head.suites,
    };
    let (thresholds, no_images) = ((weak, strong), head.no_images);
    Ok(Numbers::Trajectories { profile, similarity, no_images, conditions, thresholds, trajectories, origin })
}
