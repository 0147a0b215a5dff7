//! Reads results: `m3.score/1` as JSON or JSON Lines, and tables of finished numbers as CSV.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use m3_score::{Profile, Similarity};
use m3_stats::Trials;
use m3_support::files::is_gzip;
use m3_support::text::{shortened, visible};
use serde::Deserialize;

use super::kept::kept;
use super::plain_error::plain;
use super::repeats::by_task;
use super::{ModelResult, Numbers, Origin, Repeats, table};
use crate::InputsReport;
use crate::wire::UsageReport;
use crate::{
    AggregateReport, EncoderReport, LedgerReport, MatchReport, PanelGrades, RepeatsReport, SCORE_SCHEMA,
    TaskOutcomes, ThresholdsReport, ToolNamesReport, TrajectoryReport, UnmatchedReferenceReport,
};

/// A result larger than this is not read, in bytes; that of the real benchmark has 0.5 MB.
const MAX_BYTES: u64 = 4 << 30;

/// Why a result cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// It cannot be read.
    #[error("failed to read `{}`: {cause}", visible(&.path.display().to_string(), false))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// It is not a result, or contains an invalid value.
    #[error(
        "`{}` is no result: {}\nhint: `m3 score .. --format json --out FILE` writes one; a CSV file should have a \
         column `model` and columns named like the metrics",
        visible(&.path.display().to_string(), false), shortened(.message, 300)
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// Reads the models of one file: one for a score, one for each row of a CSV table. `name` is the name of a score's
/// model; the default is the file's name without its endings.
///
/// # Errors
/// [`ResultError`].
pub fn read_results(path: &Path, name: Option<&str>) -> Result<Vec<ModelResult>, ResultError> {
    let failed = |cause| ResultError::Read { path: path.to_owned(), cause };
    let wrong = |message: String| ResultError::Content { path: path.to_owned(), message };
    let reader = open(path).map_err(failed)?;
    let shown = path.display().to_string();
    let is_table = shown.trim_end_matches(".gz").to_lowercase().ends_with(".csv");
    if is_table {
        if let Some(name) = name {
            return Err(wrong(format!("a table has a name in each row, and cannot be called `{name}`")));
        }
        return table::read(reader, &shown).map_err(wrong);
    }
    let file_name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut stem = file_name.as_str();
    // Endings are removed one by one, because models' names contain dots: gemini-2.5-pro.json.
    for ending in [".gz", ".jsonl", ".ndjson", ".json"] {
        stem = stem.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(stem);
    }
    let stem = stem.to_owned();
    let numbers = score(reader).map_err(wrong)?;
    Ok(vec![ModelResult { name: name.map_or(stem, str::to_owned), file: shown, numbers }])
}

/// A file or, for `-`, standard input, decompressed if it is gzip (RFC 1952), without a byte order mark.
fn open(path: &Path) -> io::Result<impl BufRead> {
    let mut reader: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Box::new(BufReader::new(file))
    };
    if is_gzip(reader.fill_buf()?) {
        reader = Box::new(BufReader::new(MultiGzDecoder::new(reader)));
    }
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(reader.take(MAX_BYTES))
}

/// The summary of a score, the last line of JSON Lines, or one trajectory of JSON Lines, all read as one type so that
/// no tree of the whole document is built.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Entry {
    schema: Option<String>,
    profile: Option<String>,
    encoder: Option<EncoderReport>,
    similarity: Option<String>,
    #[serde(default)]
    no_images: bool,
    thresholds: Option<ThresholdsReport>,
    signature: Option<String>,
    inputs: Option<InputsReport>,
    tool_names: Option<ToolNamesReport>,
    ledger: Option<LedgerReport>,
    repeats: Option<RepeatsReport>,
    trajectories: Option<Vec<TrajectoryReport>>,
    id: Option<String>,
    repeat: Option<usize>,
    #[serde(rename = "type")]
    task_type: Option<String>,
    failure: Option<String>,
    metrics: Option<AggregateReport>,
    matches: Option<Vec<MatchReport>>,
    unmatched_references: Option<Vec<UnmatchedReferenceReport>>,
    grades: Option<PanelGrades>,
    usage: Option<UsageReport>,
    outcomes: Option<TaskOutcomes>,
}

/// The summary of a score.
struct Head {
    schema: String,
    profile: String,
    encoder: EncoderReport,
    similarity: Similarity,
    no_images: bool,
    thresholds: ThresholdsReport,
    tool_names: Option<ToolNamesReport>,
    origin: Origin,
    /// The trials of each task.
    trials: BTreeMap<String, Trials>,
}

impl Entry {
    fn into_head(self) -> Result<(Head, Vec<TrajectoryReport>), String> {
        // Earlier scores do not name the similarity, because there was only one.
        let similarity = match self.similarity.as_deref() {
            None => Similarity::Cosine,
            Some(name) => {
                Similarity::from_name(name).ok_or_else(|| format!("its similarity `{name}` is not known"))?
            }
        };
        let (repeats, trials) = self.repeats.map(Repeats::checked).transpose()?.unzip();
        let head = Head {
            schema: self.schema.ok_or_else(|| missing("schema"))?,
            profile: self.profile.ok_or_else(|| missing("profile"))?,
            encoder: self.encoder.ok_or_else(|| missing("encoder"))?,
            similarity,
            no_images: self.no_images,
            thresholds: self.thresholds.ok_or_else(|| missing("thresholds"))?,
            tool_names: self.tool_names,
            origin: Origin::new(self.signature, self.inputs, self.ledger, repeats),
            trials: trials.unwrap_or_default(),
        };
        Ok((head, self.trajectories.unwrap_or_default()))
    }

    fn into_trajectory(self) -> Result<TrajectoryReport, String> {
        Ok(TrajectoryReport {
            id: self.id.ok_or_else(|| missing("id"))?,
            repeat: self.repeat,
            task_type: self.task_type,
            failure: self.failure,
            metrics: self.metrics.ok_or_else(|| missing("metrics"))?,
            matches: self.matches.ok_or_else(|| missing("matches"))?,
            unmatched_references: self.unmatched_references.ok_or_else(|| missing("unmatched_references"))?,
            unmatched_predictions: Vec::new(),
            grades: self.grades,
            usage: self.usage,
            outcomes: self.outcomes,
        })
    }
}

fn missing(key: &str) -> String {
    format!("it has no `{key}`")
}

fn score(reader: impl BufRead) -> Result<Numbers, String> {
    let mut head: Option<Head> = None;
    let mut trajectories = Vec::new();
    for entry in serde_json::Deserializer::from_reader(reader).into_iter::<Entry>() {
        let entry = entry.map_err(|error| plain(&error))?;
        if entry.schema.is_some() {
            if head.is_some() {
                return Err("it has two heads; give each model a file of its own".to_owned());
            }
            let (found, mut of_head) = entry.into_head()?;
            trajectories.append(&mut of_head);
            head = Some(found);
        } else if entry.metrics.is_some() {
            trajectories.push(entry.into_trajectory()?);
        } else {
            return Err(format!("it has no `schema`; expected `{SCORE_SCHEMA}`"));
        }
    }
    let head = head.ok_or("it has no head with a `schema`; is it cut short?")?;
    if head.schema != SCORE_SCHEMA {
        return Err(format!("its schema is `{}`, and should be `{SCORE_SCHEMA}`", head.schema));
    }
    let profile = Profile::from_name(&head.profile);
    let profile = profile.ok_or_else(|| format!("its profile `{}` is not known", head.profile))?;
    let ThresholdsReport { weak, strong } = head.thresholds;
    let trajectories = trajectories.into_iter().map(|report| kept(report, strong));
    let trajectories = by_task(trajectories, &head.trials)?;
    let similarity = head.similarity;
    let conditions = format!(
        "encoder {} ({}), similarity {}, tau {weak} / {strong}{}",
        head.encoder.name,
        head.encoder.fingerprint,
        similarity.name(),
        head.tool_names.map_or_else(String::new, |names| names.condition())
    );
    let (thresholds, no_images, origin) = ((weak, strong), head.no_images, head.origin);
    Ok(Numbers::Trajectories { profile, similarity, no_images, conditions, thresholds, trajectories, origin })
}
