//! Loads ONNX Runtime: once in a process, silent on standard error, and never a build that reports to its maker.

use std::error::Error as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use aho_corasick::AhoCorasick;
use ort::LoadDynamicError;
use ort::environment::Environment;
use ort::logging::LogLevel;

use super::{OnnxError, pins};

/// If this variable is `1` when the library is loaded, a build of ONNX Runtime with a collector of usage data does
/// not use the collector. Builds without a collector do not know the variable.
pub const NO_REPORTS: &str = "ORT_DISABLE_TELEMETRY";

/// The folder, below the user's cache folder, in which builds of ONNX Runtime with a collector keep an identifier of
/// the device and what they have gathered.
const GATHERED: &str = "Microsoft/DeveloperTools/.onnxruntime";

/// The folders that an earlier m3, which fetched a build of ONNX Runtime with a collector, has left on this machine:
/// the build, below this cache folder, and the collected data, in a folder that other programs with ONNX Runtime use
/// too.
#[must_use]
pub fn left_behind(cache_dir: &Path) -> Vec<PathBuf> {
    use etcetera::BaseStrategy as _;
    let user = etcetera::choose_base_strategy().ok().map(|strategy| strategy.cache_dir().join(GATHERED));
    let builds = std::fs::read_dir(cache_dir.join("onnxruntime")).into_iter().flatten().flatten();
    let earlier = builds.map(|build| build.path()).filter(|path| !path.ends_with(pins::RUNTIME_VERSION));
    earlier.chain(user).filter(|path| path.is_dir()).collect()
}

/// The environment of ONNX Runtime, which can be loaded only once in a process.
pub(super) fn environment(library: &Path) -> Result<Environment, OnnxError> {
    static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |message: String| OnnxError::Runtime { path: library.to_owned(), message };
    if let Some((_, environment)) = loaded.as_ref().filter(|(path, _)| path == library) {
        return Ok(environment.clone());
    }
    let is_off = std::env::var_os(NO_REPORTS).is_some_and(|value| value == "1");
    if !is_off && has_collector(library).map_err(|cause| failed(cause.to_string()))? {
        return Err(OnnxError::Reports { path: library.to_owned() });
    }
    if let Some((path, _)) = loaded.as_ref() {
        return Err(failed(format!("`{}` is loaded already, and only one can be", path.display())));
    }
    // Every error is also returned as a value: the runtime's line on standard error would repeat it.
    let silent = Arc::new(|_: LogLevel, _: &str, _: &str, _: &str, _: &str| ());
    let environment = ort::init_from(library)
        .map_err(|cause| OnnxError::of_runtime(of_loading(&cause), failed))?
        // Switches off the reports of builds for Windows to the system.
        .with_telemetry(false)
        .with_logger(silent)
        .build()
        .map_err(|cause| OnnxError::of_runtime(cause.to_string(), failed))?;
    // With a logger of ours, the runtime would start by writing a line about everything.
    environment.set_log_level(LogLevel::Fatal);
    *loaded = Some((library.to_owned(), environment.clone()));
    Ok(environment)
}

/// The reason why a library was not loaded, with the message of the system's loader.
fn of_loading(cause: &LoadDynamicError) -> String {
    let system = match cause {
        LoadDynamicError::Dlopen { error, .. } => error.source().map(ToString::to_string),
        _ => None,
    };
    // The loader's own message names the library and the reason; only this message tells a lack of memory.
    system.unwrap_or_else(|| cause.to_string())
}

/// Whether a library has a collector: it then contains the name of the variable that switches the collector off.
fn has_collector(library: &Path) -> io::Result<bool> {
    let switch = AhoCorasick::new([NO_REPORTS]).map_err(io::Error::other)?;
    switch.stream_find_iter(File::open(library)?).next().transpose().map(|found| found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_with_a_collector_is_known_by_its_switch() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("library");
        let mut bytes = vec![0; 200_000];
        std::fs::write(&library, &bytes).unwrap();
        assert!(!has_collector(&library).unwrap());
        // The name lies across the end of a buffer of 64 KiB.
        bytes[65_530..65_530 + NO_REPORTS.len()].copy_from_slice(NO_REPORTS.as_bytes());
        std::fs::write(&library, &bytes).unwrap();
        assert!(has_collector(&library).unwrap());
    }
}
