//! The native half of Python's `m3`: turns Python's values into those of the library and back. It decides nothing.
//!
//! Work runs without the interpreter's lock. Commands run on a thread of their own, so that the caller hears signals.

mod json;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use m3::cli::{CommandResult, FidelityOfCalls, Pair, PairError, PairScorer as Scorer, Watch};
use m3_score::fidelity::CallPair;
use m3_score::{Metric, Profile};
use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Problem, Severity};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyTuple};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

create_exception!(_native, Failed, PyException, "(is_unavailable, message, problems)");

/// A problem in a file: file, line, id, pointer, message.
type ProblemRow = (String, Option<u64>, Option<String>, String, String);

/// Severity, text, problem.
type MessageRow = (&'static str, String, Option<ProblemRow>);

/// How often a waiting caller looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// How long a caller that wants no more waits for the command to end.
const LAST_WAIT: Duration = Duration::from_secs(2);

fn problem_row(problem: Problem) -> ProblemRow {
    let place = problem.place;
    (place.file, place.line, place.id, place.pointer, problem.message)
}

fn failed(error: PairError) -> PyErr {
    let problems: Vec<ProblemRow> = error.problems.into_iter().map(problem_row).collect();
    Failed::new_err((error.is_unavailable, error.message, problems))
}

/// Runs a command line as the last thing that this process does; returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| m3::cli::main_with(arguments))
}

/// Where the encoder's files and the command are.
#[pyfunction]
#[pyo3(signature = (encoder_dir, runtime_library, program))]
fn set_installed(encoder_dir: Option<PathBuf>, runtime_library: Option<PathBuf>, program: Vec<OsString>) {
    m3_encoder::InstalledFiles { encoder_dir, runtime_library }.set();
    m3_mcp::OwnProgram::set(program);
}

/// Runs a command in this process: its exit code, what it would have printed, what it said.
#[pyfunction]
#[pyo3(signature = (arguments, progress=None))]
fn call(
    py: Python<'_>,
    arguments: Vec<OsString>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u8, Py<PyBytes>, Vec<MessageRow>)> {
    let is_wanted = Arc::new(AtomicBool::new(true));
    let reached = Arc::new(Mutex::new(None));
    let watch: Arc<Watch> = {
        let (is_wanted, reached) = (Arc::clone(&is_wanted), Arc::clone(&reached));
        Arc::new(move |what: &str, done, total| {
            *reached.lock().unwrap_or_else(PoisonError::into_inner) = Some((what.to_owned(), done, total));
            is_wanted.load(Ordering::Relaxed)
        })
    };
    let (sender, receiver) = channel();
    // Waiting without the interpreter's lock asks for it; this thread alone waits.
    let receiver = Mutex::new(receiver);
    let worker = thread::Builder::new().name("m3".to_owned()).spawn(move || {
        // Nobody waits for the answer of a command that was given up.
        let _ = sender.send(m3::cli::call(arguments, watch));
    })?;
    let CommandResult { code, output, messages } = loop {
        let waited = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
        match waited {
            Ok(called) => break called,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("m3 has failed on a bug of its own"));
            }
            Err(RecvTimeoutError::Timeout) => {
                let shown = reached.lock().unwrap_or_else(PoisonError::into_inner).take();
                let told = py.check_signals().and_then(|()| match (&progress, shown) {
                    (Some(progress), Some(shown)) => progress.call1(py, shown).map(drop),
                    _ => Ok(()),
                });
                if let Err(stop) = told {
                    is_wanted.store(false, Ordering::Relaxed);
                    // It ends when it next says how far it is; what never does goes on in the background.
                    let receiver = || receiver.lock().unwrap_or_else(PoisonError::into_inner);
                    let _ = py.detach(|| receiver().recv_timeout(LAST_WAIT));
                    return Err(stop);
                }
            }
        }
    };
    // The answer is its last act.
    let _ = py.detach(|| worker.join());
    let last = reached.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Some(progress), Some(last)) = (&progress, last) {
        progress.call1(py, last)?;
    }
    let messages = messages.into_iter().map(|message| {
        let severity = match message.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        (severity, message.text, message.problem.map(problem_row))
    });
    Ok((code, PyBytes::new(py, &output).unbind(), messages.collect()))
}

/// A prediction, or none, and its reference, as JSON.
type PairOfBytes = (Option<PyBackedBytes>, PyBackedBytes);

/// What became of a pair: its report as JSON, or what is wrong with it.
type PairOutcome = (Option<String>, Option<(String, Vec<ProblemRow>)>);

/// Scores pairs of trajectories, from any thread.
#[pyclass(frozen, module = "m3._native")]
struct PairScorer(Scorer);

#[pymethods]
impl PairScorer {
    /// By options of `m3 score`.
    #[new]
    fn new(py: Python<'_>, options: Vec<OsString>) -> PyResult<Self> {
        py.detach(|| Scorer::new(options)).map(Self).map_err(failed)
    }

    /// The trajectories of a file as JSON.
    fn read_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
        py.detach(|| self.0.read_file(&path)).map_err(failed)
    }

    /// The report of each pair as JSON; a pair that cannot be read has an error instead, and none stops the others.
    fn score(&self, py: Python<'_>, pairs: Vec<PairOfBytes>) -> PyResult<Vec<PairOutcome>> {
        py.detach(|| {
            let outcomes = self.0.score_read(pairs.iter().map(|pair| read_pair(&self.0, pair)))?;
            let outcomes = outcomes.into_iter().map(|outcome| match outcome {
                Ok(pair) => (pair.to_json().ok(), None),
                Err(error) => {
                    let rows = error.problems.into_iter().map(problem_row).collect();
                    (None, Some((error.message, rows)))
                }
            });
            Ok(outcomes.collect())
        })
        .map_err(failed)
    }

    /// Where the numbers of a pair come from: as text, and as JSON.
    fn audit(&self, py: Python<'_>, pair: PairOfBytes) -> PyResult<(String, String)> {
        py.detach(|| {
            let (prediction, reference) = read_pair(&self.0, &pair)?;
            self.0.audit(prediction, reference)
        })
        .map_err(failed)
        .and_then(|(text, audit)| Ok((text, to_json(&audit)?)))
    }

    /// How far two calls of one tool ask for the same, as JSON; the arguments, the question and the schema are JSON.
    #[pyo3(signature = (tool, predicted, reference, question=None, schema=None))]
    fn fidelity(
        &self,
        py: Python<'_>,
        tool: &str,
        predicted: &[u8],
        reference: &[u8],
        question: Option<&str>,
        schema: Option<&[u8]>,
    ) -> PyResult<String> {
        let (predicted, reference) = (json(predicted)?, json(reference)?);
        let schema = schema.map(json).transpose()?;
        let pair =
            CallPair { tool, a: Some(&reference), b: Some(&predicted), question, schema: schema.as_ref() };
        let found = py.detach(|| self.0.fidelity(pair)).map_err(failed)?;
        to_json(&FidelityOfCalls::from(found))
    }
}

fn read_pair(scorer: &Scorer, (prediction, reference): &PairOfBytes) -> Result<Pair, PairError> {
    let prediction = prediction.as_deref().map(|bytes| scorer.read("prediction", bytes)).transpose()?;
    Ok((prediction, scorer.read("reference", reference)?))
}

fn json(bytes: &[u8]) -> PyResult<Json> {
    parse(bytes).map(|(value, _)| value).map_err(|error| PyValueError::new_err(error.message))
}

fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Adds up sums of trajectories.
#[pyfunction]
fn add_sums(py: Python<'_>, sums: Vec<String>) -> PyResult<String> {
    py.detach(|| m3::cli::add_sums(sums.iter().map(String::as_str)))
        .map(|sums| sums.to_string())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The metrics of a set from its sums, as JSON.
#[pyfunction]
fn aggregate(sums: &str, left_out: u64, profile: &str) -> PyResult<String> {
    let profile = [Profile::Paper, Profile::OpenM3Bench].into_iter().find(|known| known.name() == profile);
    let profile = profile.ok_or_else(|| PyValueError::new_err("no such profile: paper, open-m3-bench"))?;
    let sums = sums.parse().map_err(|error: m3_score::NotSums| PyValueError::new_err(error.to_string()))?;
    to_json(&m3::cli::aggregate(sums, left_out, profile))
}

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::json::plain_json;
    #[pymodule_export]
    use super::{Failed, PairScorer, add_sums, aggregate, call, main, set_installed};

    use super::{Bound, Metric, PyModule, PyModuleMethods as _, PyResult, PyTuple};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Adds the metrics of a score, in the order of the registry: Python's own lists of metrics come from these.
    #[pymodule_init]
    fn add_metrics(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add(
            "METRICS",
            PyTuple::new(module.py(), Metric::of_scores().map(Metric::name).collect::<Vec<_>>())?,
        )
    }
}
