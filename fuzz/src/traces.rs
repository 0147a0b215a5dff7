//! Files of other programs, through the front door of `m3-traces`: what a file is, all that it holds, and each trajectory as JSON.

use m3_traces::{ReadError, Sink, Trace, recognize};
use m3_trajectory::json::Keys;
use m3_trajectory::{CallForms, Source, TrajectoryFile};

use crate::input::{Temporary, assert_line, assert_text};

/// Counts what comes.
#[derive(Default)]
struct Counts {
    bytes: usize,
    warnings: usize,
}

impl Counts {
    fn add(&mut self, trace: Trace) {
        assert!(trace.notes.iter().count() <= 300, "notes are bounded");
        for (note, _) in trace.notes.iter() {
            assert_line("a note", note, 1000);
        }
        for (_, inner) in &trace.nested {
            self.add(inner.clone());
        }
        let text = trace.into_trajectory("x".to_owned(), "x").to_json().to_text(Keys::AsRead);
        self.bytes += text.len();
        let written = TrajectoryFile::of_bytes("written", text.as_bytes(), CallForms::Understood, &[]);
        let again = written.map(|file| file.read(0).map(|again| again.to_json().to_text(Keys::AsRead)));
        assert!(
            matches!(&again, Ok(Ok(again)) if *again == text),
            "what is written is read again: {again:?} of {text}"
        );
    }
}

impl Sink for Counts {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.add(trace);
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, message: &str) {
        assert_line("a warning", message, 4000);
        self.warnings += 1;
    }
}

/// What is said is short and clean, and what is read may be told several times, but does not explode.
///
/// # Panics
/// If that does not hold.
pub fn check(bytes: &[u8]) {
    let file = Temporary::file("traces.jsonl", bytes);
    let Ok(source) = Source::open(file.path()) else { return };
    let Ok(Some(found)) = recognize(&source) else { return };
    let mut counts = Counts::default();
    if let Err(error) = found.read(&mut counts) {
        assert_text("an error", &error.to_string(), 4000);
    }
    assert!(counts.bytes <= 100_000 + 300 * bytes.len(), "{} bytes of {}", counts.bytes, bytes.len());
    assert!(counts.warnings <= 100 + bytes.len(), "{} warnings", counts.warnings);
}
