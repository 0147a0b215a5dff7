//! Shared parts of commands that ask language models: the name of the model, its key, cassettes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use m3_llm::{
    Cassette, CassetteError, Header, Model, ModelName, ModelOptions, Recorder, Retry, Settings, key_from,
};
use m3_support::text::{counted, on_one_line, shortened};

use crate::cli::common::failure::{Failure, Result};
use crate::cli::common::printer::Printer;

/// Options for the replies of language models.
#[derive(Debug, Args)]
pub(crate) struct ReplyArgs {
    /// Sampling temperature [default: the provider's]
    #[arg(long, value_name = "X", value_parser = parse_temperature)]
    temperature: Option<f64>,
    /// Longest reply, in tokens [default: the provider's; 8192 for Anthropic, which asks for a number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_output_tokens: Option<u32>,
}

impl ReplyArgs {
    pub(crate) fn settings(&self) -> Settings {
        let Self { temperature, max_output_tokens } = *self;
        Settings { max_output_tokens, temperature, ..Settings::default() }
    }
}

fn parse_temperature(text: &str) -> Result<f64, String> {
    let temperature: f64 = text.parse().map_err(|_| "it should be a number".to_owned())?;
    if (0.0..=10.0).contains(&temperature) {
        Ok(temperature)
    } else {
        Err("it should be in [0, 10]".to_owned())
    }
}

/// The longest reason of a failed try that is shown, in columns.
const REASON: usize = 300;

/// The message before `who` is asked again.
pub(crate) fn said_of_retry(who: &str, retry: &Retry) -> String {
    let reason = shortened(&on_one_line(&retry.reason), REASON);
    format!("asks {who} again in {:.1} s: {reason}", retry.wait.as_secs_f64())
}

/// The prefix of a cassette's path where a model's name may stand.
const REPLAY: &str = "replay:";

/// The file of the cassette that is replayed in place of a model.
pub(crate) fn played(llm: &str) -> Option<&Path> {
    llm.strip_prefix(REPLAY).map(Path::new)
}

/// The model that `--llm` names, and its cassette if it is replayed. Up to `workers` requests may be made at once, with
/// this number of `tries` for each, if any.
pub(crate) fn open_model(
    llm: &str,
    key_variable: Option<&str>,
    (workers, tries): (usize, Option<u32>),
    printer: Printer,
) -> Result<(Model, Option<Arc<Cassette>>)> {
    let (model, cassette) = if let Some(path) = played(llm) {
        let cassette = Arc::new(Cassette::open(path)?);
        warn_of_cut_lines(path, &cassette, printer);
        (Model::replay(Arc::clone(&cassette))?, Some(cassette))
    } else {
        let name = ModelName::parse(llm).map_err(Failure::input)?;
        let key = key_variable.map(key_from).transpose().map_err(Failure::unavailable)?;
        let mut options = ModelOptions { tries, key, ..ModelOptions::default() };
        options.concurrency = options.concurrency.max(workers);
        (Model::open(name, options)?, None)
    };
    for note in model.notes() {
        printer.warn(note);
    }
    Ok((model, cassette))
}

/// Warns if lines of a cassette are cut off, because its recording was killed or it is damaged.
fn warn_of_cut_lines(path: &Path, cassette: &Cassette, printer: Printer) {
    let cut = &cassette.summary().cut_lines;
    let Some(first) = cut.first() else { return };
    printer.warn(&format!(
        "`{}` has {} that {} before {} whole, the first is line {first}: the recording was interrupted there, or the \
         file is damaged; nothing of it is played",
        shortened(&path.display().to_string(), 200),
        counted(cut.len(), "line"),
        if cut.len() == 1 { "ends" } else { "end" },
        if cut.len() == 1 { "it is" } else { "they are" },
    ));
}

/// Refuses to record into the cassette that is replayed, whatever name is used.
pub(crate) fn check_record(path: Option<&PathBuf>, played: Option<&Cassette>) -> Result {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    match (path, played) {
        (Some(path), Some(played)) if real(path).is_some_and(|path| Some(path) == real(played.path())) => {
            Err(CassetteError::Played { path: path.clone() }.into())
        }
        _ => Ok(()),
    }
}

/// Records the model into the cassette `path`, if there is one.
pub(crate) fn record(model: Model, path: Option<&PathBuf>) -> Result<(Model, Option<Arc<Recorder>>)> {
    let Some(path) = path else { return Ok((model, None)) };
    let recorder = Arc::new(Recorder::create_or_append(path, Header::new(model.name()))?);
    Ok((model.recorded_by(Arc::clone(&recorder)), Some(recorder)))
}
