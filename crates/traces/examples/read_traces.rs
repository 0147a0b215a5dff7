//! Reads files of traces and tells how long it took: for measuring, with `/usr/bin/time -v` around it.
//!
//! ```text
//! cargo run --release -p m3-traces --example read_traces -- FILE ..
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for measuring")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use m3_traces::{ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;
use m3_trajectory::json::Keys;

/// Counts what is read, after writing it as `m3 import` does.
#[derive(Default)]
struct CountingSink {
    format: &'static str,
    trajectories: u64,
    calls: usize,
    warnings: u64,
    written: usize,
}

impl Sink for CountingSink {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.trajectories += 1;
        self.calls += trace.call_count();
        let trajectory = trace.into_trajectory(String::new(), self.format);
        self.written += trajectory.into_json().to_text(Keys::AsRead).len();
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, _: &str) {
        self.warnings += 1;
    }
}

fn main() -> ExitCode {
    let (start, mut counted, mut bytes) = (Instant::now(), CountingSink::default(), 0);
    for name in std::env::args().skip(1) {
        let path = Path::new(&name);
        bytes += path.metadata().map_or(0, |metadata| metadata.len());
        let result = Source::open(path).map_err(ReadError::from).and_then(|source| {
            let Some(file) = recognize(&source)? else { return Ok(()) };
            counted.format = file.format.name;
            file.read(&mut counted)
        });
        if let Err(error) = result {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    let CountingSink { format, trajectories, calls, warnings, written } = counted;
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "millions of bytes")]
    let speed = bytes as f64 / 1e6 / seconds;
    println!(
        "{format}: {trajectories} trajectories, {calls} calls, {warnings} warnings, {written} bytes written; {seconds:.2} s, {speed:.0} MB/s"
    );
    ExitCode::SUCCESS
}
