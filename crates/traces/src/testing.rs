//! Small files for tests, read as a user's files are.

use m3_trajectory::Source;
use m3_trajectory::json::Json;

use crate::input::{ReadError, Sink};
use crate::recognize;
use crate::trace::{Trace, TracedCall};

/// A sink that keeps all traces, tools and warnings.
#[derive(Debug, Default)]
pub(crate) struct CollectingSink {
    pub(crate) traces: Vec<Trace>,
    pub(crate) tools: Vec<(Option<String>, Json)>,
    pub(crate) warnings: Vec<String>,
    /// The format, where it is not the one that was recognized.
    pub(crate) format: Option<&'static str>,
}

impl Sink for CollectingSink {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.traces.push(trace);
        Ok(())
    }

    fn tool(&mut self, server: Option<&str>, tool: Json) {
        self.tools.push((server.map(str::to_owned), tool));
    }

    fn format(&mut self, name: &'static str) {
        self.format = Some(name);
    }

    fn warn(&mut self, _: Option<u64>, message: &str) {
        self.warnings.push(message.to_owned());
    }
}

/// Reads a file, and returns the name of its format and its content; the error is the reason why it is refused.
pub(crate) fn read_file(path: &std::path::Path) -> Result<(&'static str, CollectingSink), String> {
    let source = Source::open(path).unwrap();
    let file = recognize(&source).unwrap().ok_or("not recognized")?;
    let mut sink = CollectingSink::default();
    file.read(&mut sink).map_err(|error| error.to_string())?;
    Ok((file.format.name, sink))
}

/// Reads a text of JSON as `m3 import` does: by signs, if no call can be read otherwise.
pub(crate) fn guess_text(text: &str) -> Result<CollectingSink, String> {
    let source = Source::of_bytes("file.json", text.as_bytes()).unwrap();
    let file = recognize(&source).unwrap().ok_or("not recognized")?;
    let mut sink = CollectingSink::default();
    file.read_or_guess(&mut sink).map_err(|error| error.to_string())?;
    Ok(sink)
}

/// Reads a text as a file with this name.
pub(crate) fn read_text(name: &str, text: &str) -> Result<(&'static str, CollectingSink), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    read_file(&path)
}

/// The steps in short: `tool(arguments)=result`, with `!` for a failure.
pub(crate) fn shown(trace: &Trace) -> Vec<String> {
    let text = |json: &Option<Json>| json.as_ref().map_or_else(|| "-".to_owned(), Json::to_plain_text);
    let call = |call: &TracedCall| {
        format!(
            "{}({})={}{}",
            call.tool,
            text(&call.arguments),
            text(&call.result),
            if call.is_error { "!" } else { "" }
        )
    };
    trace.steps.iter().map(|step| step.iter().map(call).collect::<Vec<_>>().join(" ")).collect()
}
