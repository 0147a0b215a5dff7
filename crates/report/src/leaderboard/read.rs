//! Reads results: `m3.score/1` as JSON or JSON Lines, and tables of finished numbers as CSV.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use m3_score::{Profile, Similarity, Sums};
use m3_stats::Trials;
use m3_support::text::{shortened, visible};
use serde::Deserialize;

use super::origin::{InputsPart, LedgerPart, ReferenceCalls, ToolNamesPart};
use super::plain_error::plain;
use super::repeats::{RepeatsPart, by_task};
use super::result::OutcomesPart;
use super::{Grades, ModelResult, Numbers, Origin, Outcomes, TrajectoryResult, Usage, table};
use crate::SCORE_SCHEMA;

/// A result larger than this is not read, in bytes; that of the real benchmark has 0.5 MB.
const MAX_BYTES: u64 = 4 << 30;

/// A result cannot be used.
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
    /// It is something else, or has something in it that cannot be.
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

/// Reads the models of one file: one for a score, one for each row of a CSV table. `name` is what the model of
/// a score is called; by default the file's name without its endings.
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
    // Dots are part of models' names: gemini-2.5-pro.json.
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
    if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        reader = Box::new(BufReader::new(MultiGzDecoder::new(reader)));
    }
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(reader.take(MAX_BYTES))
}

/// A head, with JSON Lines the last line, or one trajectory of JSON Lines: read as one type, so that no tree of
/// the whole is made first.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Entry {
    schema: Option<String>,
    profile: Option<String>,
    encoder: Option<EncoderPart>,
    similarity: Option<String>,
    #[serde(default)]
    no_images: bool,
    thresholds: Option<ThresholdsPart>,
    signature: Option<String>,
    inputs: Option<InputsPart>,
    tool_names: Option<ToolNamesPart>,
    ledger: Option<LedgerPart>,
    repeats: Option<RepeatsPart>,
    trajectories: Option<Vec<TrajectoryPart>>,
    id: Option<String>,
    repeat: Option<u32>,
    #[serde(rename = "type")]
    task_type: Option<String>,
    failure: Option<String>,
    metrics: Option<MetricsPart>,
    matches: Option<Vec<MatchPart>>,
    unmatched_references: Option<Vec<UnmatchedPart>>,
    grades: Option<Grades>,
    usage: Option<UsagePart>,
    outcomes: Option<OutcomesPart>,
}

/// The head of a score.
struct Head {
    schema: String,
    profile: String,
    encoder: EncoderPart,
    similarity: Similarity,
    no_images: bool,
    thresholds: ThresholdsPart,
    tool_names: Option<ToolNamesPart>,
    origin: Origin,
    /// The trials of each task.
    trials: BTreeMap<String, Trials>,
}

impl Entry {
    fn into_head(self) -> Result<(Head, Vec<TrajectoryPart>), String> {
        // Scores that were made before there was a choice name none.
        let similarity = match self.similarity.as_deref() {
            None => Similarity::Cosine,
            Some(name) => [Similarity::Cosine, Similarity::Typed]
                .into_iter()
                .find(|known| known.name() == name)
                .ok_or_else(|| format!("its similarity `{name}` is not known"))?,
        };
        let (repeats, trials) = self.repeats.map(RepeatsPart::checked).transpose()?.unzip();
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

    fn into_trajectory(self) -> Result<TrajectoryPart, String> {
        Ok(TrajectoryPart {
            id: self.id.ok_or_else(|| missing("id"))?,
            repeat: self.repeat,
            task_type: self.task_type,
            failure: self.failure,
            metrics: self.metrics.ok_or_else(|| missing("metrics"))?,
            matches: self.matches.ok_or_else(|| missing("matches"))?,
            unmatched_references: self.unmatched_references.ok_or_else(|| missing("unmatched_references"))?,
            grades: self.grades,
            usage: self.usage,
            outcomes: self.outcomes,
        })
    }
}

fn missing(key: &str) -> String {
    format!("it has no `{key}`")
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct EncoderPart {
    name: String,
    fingerprint: String,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ThresholdsPart {
    weak: f64,
    strong: f64,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct TrajectoryPart {
    id: String,
    repeat: Option<u32>,
    #[serde(rename = "type")]
    task_type: Option<String>,
    /// Why it came to nothing. Scores that were made without it have none.
    failure: Option<String>,
    metrics: MetricsPart,
    matches: Vec<MatchPart>,
    unmatched_references: Vec<UnmatchedPart>,
    grades: Option<Grades>,
    usage: Option<UsagePart>,
    outcomes: Option<OutcomesPart>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct MetricsPart {
    reference_calls: u32,
    predicted_calls: u32,
    /// Scores that were made without it have none.
    argument_fidelity: Option<f64>,
    step_coherence: f64,
    merge_purity: f64,
    order_consistency: f64,
    average_steps: f64,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct MatchPart {
    tool: Option<String>,
    similarity: f64,
    /// Likewise.
    argument_fidelity: Option<f64>,
    reference: Option<PlacePart>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct PlacePart {
    step: usize,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct UnmatchedPart {
    tool: Option<String>,
    step: Option<usize>,
    best: Option<BestPart>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct BestPart {
    similarity: f64,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct UsagePart {
    input_tokens: u64,
    output_tokens: u64,
}

fn score(reader: impl BufRead) -> Result<Numbers, String> {
    let mut head: Option<Head> = None;
    let mut parts = Vec::new();
    for entry in serde_json::Deserializer::from_reader(reader).into_iter::<Entry>() {
        let entry = entry.map_err(|error| plain(&error))?;
        if entry.schema.is_some() {
            if head.is_some() {
                return Err("it has two heads; give each model a file of its own".to_owned());
            }
            let (found, mut trajectories) = entry.into_head()?;
            parts.append(&mut trajectories);
            head = Some(found);
        } else if entry.metrics.is_some() {
            parts.push(entry.into_trajectory()?);
        } else {
            return Err(format!("it has no `schema`; expected `{SCORE_SCHEMA}`"));
        }
    }
    let head = head.ok_or("it has no head with a `schema`; is it cut short?")?;
    if head.schema != SCORE_SCHEMA {
        return Err(format!("its schema is `{}`, and should be `{SCORE_SCHEMA}`", head.schema));
    }
    let profile =
        [Profile::Paper, Profile::OpenM3Bench].into_iter().find(|known| known.name() == head.profile);
    let profile = profile.ok_or_else(|| format!("its profile `{}` is not known", head.profile))?;
    let ThresholdsPart { weak, strong } = head.thresholds;
    let read = parts.into_iter().map(|part| {
        let (id, repeat) = (part.id.clone(), part.repeat);
        let found = trajectory(part, strong).map_err(|message| format!("trajectory `{id}`: {message}"))?;
        Ok((id, repeat, found))
    });
    let trajectories = by_task(read, &head.trials)?;
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

/// Step and tool of each call of the reference, matched or not, where the result says them.
fn reference_calls(part: &TrajectoryPart) -> Option<Vec<(usize, &str)>> {
    let matched =
        part.matches.iter().map(|pair| Some((pair.reference.as_ref()?.step, pair.tool.as_deref()?)));
    let alone = part.unmatched_references.iter().map(|alone| Some((alone.step?, alone.tool.as_deref()?)));
    matched.chain(alone).collect()
}

fn share(name: &str, value: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("`{name}` is {value}, and should be in [0, 1]"))
    }
}

/// The sums behind the metrics of one trajectory. Covered metrics times the reference calls are N_ref r F.
fn sums(
    part: &TrajectoryPart,
    similarities: &[f64],
    fidelities: &[f64],
    strong: f64,
) -> Result<Sums, String> {
    let metrics = &part.metrics;
    let references = f64::from(metrics.reference_calls);
    let covered = |name, value| share(name, value).map(|value| value * references);
    for (name, values) in [("similarity", similarities), ("argument_fidelity", fidelities)] {
        values.iter().try_for_each(|&value| share(name, value).map(|_| ()))?;
    }
    let of_strong = || similarities.iter().filter(|similarity| **similarity >= strong);
    let sums = Sums {
        trajectories: 1.0,
        failed: f64::from(u8::from(part.failure.is_some())),
        reference_calls: references,
        predicted_calls: f64::from(metrics.predicted_calls),
        matched: similarities.len() as f64,
        strong: of_strong().count() as f64,
        similarity: similarities.iter().sum(),
        strong_similarity: of_strong().sum(),
        fidelity: fidelities.iter().sum(),
        coherence: covered("step_coherence", metrics.step_coherence)?,
        purity: covered("merge_purity", metrics.merge_purity)?,
        order: covered("order_consistency", metrics.order_consistency)?,
    };
    if sums.matched > sums.reference_calls.min(sums.predicted_calls) {
        return Err("it has more matches than calls".to_owned());
    }
    Ok(sums)
}

fn trajectory(part: TrajectoryPart, strong: f64) -> Result<TrajectoryResult, String> {
    let similarities: Vec<f64> = part.matches.iter().map(|pair| pair.similarity).collect();
    let fidelities: Vec<f64> = part.matches.iter().filter_map(|pair| pair.argument_fidelity).collect();
    let sums = sums(&part, &similarities, &fidelities, strong)?;
    let metrics = &part.metrics;
    if !(metrics.average_steps >= 0.0 && metrics.average_steps.is_finite()) {
        return Err(format!("`average_steps` is {}", metrics.average_steps));
    }
    let grade = |name: &str, grade: Option<f64>| grade.map(|grade| share(name, grade)).transpose();
    let grades = part.grades.unwrap_or_default();
    let grades = Grades {
        task_completion: grade("task_completion", grades.task_completion)?,
        information_grounding: grade("information_grounding", grades.information_grounding)?,
    };
    Ok(TrajectoryResult {
        reference: ReferenceCalls::new(metrics.reference_calls, reference_calls(&part)),
        failures: part.failure.into_iter().map(|class| (class, 1)).collect(),
        task_type: part.task_type,
        repetitions: 1,
        trials: Trials::default(),
        sums,
        has_fidelity: metrics.argument_fidelity.is_some() && fidelities.len() == similarities.len(),
        steps: metrics.average_steps,
        candidates: part
            .unmatched_references
            .iter()
            .filter_map(|alone| Some(alone.best.as_ref()?.similarity))
            .collect(),
        similarities,
        grades,
        usage: part.usage.map(|usage| Usage {
            input_tokens: usage.input_tokens as f64,
            output_tokens: usage.output_tokens as f64,
        }),
        outcomes: part.outcomes.map(Outcomes::from),
    })
}
