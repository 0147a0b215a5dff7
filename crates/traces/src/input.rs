//! A file that is read as traces: its values, its conversations, the document.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use m3_trajectory::Source;
use m3_trajectory::json::Json;

use crate::call_signs::count_signs;
use crate::conversation_rows::each_conversation_of_rows;
use crate::fields::role;
use crate::head::{Head, Shape, is_conversation};
use crate::lines::each_line;
use crate::lost::{checked, leave_out, message};
use crate::message_events::is_conversation_event;
use crate::parallel::in_order;
use crate::pieces::{Items, Lines, Part, not_json};
pub(crate) use crate::sink::{At, LONGEST, ReadError, Sink};
use crate::sink_buffer::SinkBuffer;
use crate::values::{each_value, value};

/// A file that is read as traces.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    pub(crate) source: &'a Source,
    pub(crate) head: &'a Head,
    is_checked: AtomicBool,
}

/// A value of a file: a line, an item of its list, or the whole document.
#[derive(Debug)]
pub(crate) struct Record {
    /// The number of the record in the file, from 0.
    pub(crate) index: u64,
    /// The line, from 1, if every line has a value.
    pub(crate) line: Option<u64>,
    /// The value.
    pub(crate) value: Json,
}

impl<'a> Input<'a> {
    pub(crate) fn new(source: &'a Source, head: &'a Head) -> Self {
        Self { source, head, is_checked: AtomicBool::new(false) }
    }

    /// Whether each record was checked for calls that were not read.
    pub(crate) fn is_checked(&self) -> bool {
        self.is_checked.load(Ordering::Relaxed)
    }

    pub(crate) fn set_checked(&self) {
        self.is_checked.store(true, Ordering::Relaxed);
    }
}

impl Input<'_> {
    /// The whole document.
    pub(crate) fn document(&self) -> Result<Json, ReadError> {
        let bytes = self.source.start(LONGEST)?;
        if self.source.length() > LONGEST {
            return Err(ReadError::refused(
                "one JSON value of more than 256 MB; export it as JSON Lines, a record on each line",
            ));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        match value(bytes.trim_ascii()) {
            Ok(value) => Ok(value),
            Err(error) => Err(not_json(self.source, error.offset as u64, &error.message)),
        }
    }

    /// Refuses a file without calls that has members named like calls or results.
    ///
    /// # Errors
    /// [`ReadError::Refused`], with these names; [`ReadError::Source`] if the file cannot be read again.
    pub(crate) fn refuse_lost_calls(&self) -> Result<(), ReadError> {
        let mut names = BTreeMap::new();
        let mut count = |value: Option<Json>| {
            if let Some(value) = value {
                count_signs(&value, &mut names);
            }
            Ok(())
        };
        match self.head.shape {
            _ if self.is_checked() => {}
            Shape::Lines => each_line(self.source, LONGEST, |_, line| count(value(line).ok()))?,
            Shape::Document => count(Some(self.document()?))?,
            Shape::Values => each_value(self.source, |_, value| count(value.ok()))?,
            Shape::Events => each_line(self.source, LONGEST, |_, line| {
                count(line.strip_prefix(b"data:").and_then(|data| value(data.trim_ascii()).ok()))
            })?,
            Shape::Zip | Shape::Text => {}
        }
        let refused = |message| format!("{message} (docs/import.md has the dialects that are known)");
        message(&names).map_or(Ok(()), |message| Err(ReadError::refused(refused(message))))
    }

    /// Calls `each` with the value of each line, or with the whole document, in order. Lines that are not JSON are
    /// reported.
    pub(crate) fn values(
        &self,
        sink: &mut dyn Sink,
        mut each: impl FnMut(&mut dyn Sink, Record) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if self.head.shape == Shape::Values {
            let mut index = 0;
            return each_value(self.source, |line, value| match value {
                Ok(value) => {
                    index += 1;
                    each(sink, Record { index: index - 1, line: Some(line), value })
                }
                Err(message) => sink.skip(Some(line), &format!("not JSON, left out: {message}")),
            });
        }
        if self.head.shape != Shape::Lines {
            return each(sink, Record { index: 0, line: None, value: self.document()? });
        }
        let parsed =
            |part: Part| -> Vec<_> { part.pieces().map(|piece| (piece.at, value(piece.text))).collect() };
        self.lines(sink, parsed, |sink, values| {
            values.into_iter().try_for_each(|(At { index, line }, value)| match value {
                Ok(value) => each(sink, Record { index: index.unwrap_or_default(), line, value }),
                Err(error) => sink.skip(line, &format!("not JSON, left out: {}", error.message)),
            })
        })
    }

    /// Does `work` on the lines on all cores; `give` gets the results in their order.
    pub(crate) fn lines<T: Send>(
        &self,
        sink: &mut dyn Sink,
        work: impl Fn(Part) -> T + Sync,
        give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut lines = Lines::new(self.source.reader()?);
        let total = self.source.length();
        let next = |sink: &mut dyn Sink| {
            sink.progress(lines.offset(), total)?;
            let part = lines.next().map_err(|cause| self.source.error(cause))?;
            Ok(part.map(|part| (part.size(), part)))
        };
        in_order(sink, next, work, give)
    }

    /// Does `work` on the items of a document that is a list, on all cores; `give` gets the results in their order.
    fn items<T: Send>(
        &self,
        sink: &mut dyn Sink,
        work: impl Fn(Part) -> T + Sync,
        give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut items = Items::new(self.source, self.source.reader()?)?;
        let total = self.source.length();
        let next = |sink: &mut dyn Sink| {
            sink.progress(items.offset(), total)?;
            Ok(items.next()?.map(|part| (part.size(), part)))
        };
        in_order(sink, next, work, give)
    }

    /// Does `work` on the lines or the items, on all cores; returns false if the file has neither.
    pub(crate) fn parts<T: Send>(
        &self,
        sink: &mut dyn Sink,
        work: impl Fn(Part) -> T + Sync,
        give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError> {
        match self.head.values.first() {
            _ if self.head.shape == Shape::Lines => self.lines(sink, work, give).map(|()| true),
            Some(Json::Array(_)) => self.items(sink, work, give).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Reads each record on all cores: a line, an item of a list, or the document. `each` gets the records in any
    /// order; the traces are given in the order of the records.
    pub(crate) fn records(
        &self,
        sink: &mut dyn Sink,
        each: impl Fn(&mut dyn Sink, At, &Json) -> Result<(), ReadError> + Sync,
    ) -> Result<(), ReadError> {
        self.set_checked();
        let each = |sink: &mut dyn Sink, at: At, value: &Json| checked(sink, at, value, &each);
        let each_record = |sink: &mut dyn Sink, at: At, value: &Json| match value {
            Json::Array(items) if at.line.is_some() => (0..)
                .zip(items)
                .try_for_each(|(index, value)| each(sink, At { index: Some(index), ..at }, value)),
            value => each(sink, at, value),
        };
        if self.each_piece(sink, each_record)? {
            Ok(())
        } else {
            each(sink, At::default(), &self.document()?)
        }
    }

    /// Calls `each` with the value of each line or item; returns false if the file has neither. A line that is not
    /// JSON is reported, an item that is not ends the reading.
    fn each_piece(
        &self,
        sink: &mut dyn Sink,
        each: impl Fn(&mut dyn Sink, At, &Json) -> Result<(), ReadError> + Sync,
    ) -> Result<bool, ReadError> {
        let work = |part: Part| {
            SinkBuffer::collect(&part, |buffer, piece| match value(piece.text) {
                Ok(value) => each(buffer, piece.at, &value),
                Err(error) if piece.at.line.is_some() => {
                    buffer.warn(piece.at.line, &format!("not JSON, left out: {}", error.message));
                    Ok(())
                }
                Err(error) => {
                    buffer.not_json = Some((piece.offset + error.offset as u64, error.message));
                    Err(ReadError::Stopped)
                }
            })
        };
        self.parts(sink, work, |sink, buffer| {
            let error = buffer.not_json.as_ref().map(|(offset, text)| not_json(self.source, *offset, text));
            match (buffer.give(sink), error) {
                (Ok(()) | Err(ReadError::Stopped), Some(error)) => Err(error),
                (given, _) => given,
            }
        })
    }

    /// All values of the lines, or the whole document.
    pub(crate) fn all(&self, sink: &mut dyn Sink) -> Result<Vec<Json>, ReadError> {
        let mut all = Vec::new();
        self.values(sink, |_, record| {
            all.push(record.value);
            Ok(())
        })?;
        Ok(all)
    }

    /// All records: the values of the lines, or the items of the document if it is a list.
    pub(crate) fn list(&self, sink: &mut dyn Sink) -> Result<Vec<Json>, ReadError> {
        let mut all = self.all(sink)?;
        match &mut all[..] {
            [Json::Array(items)] => Ok(std::mem::take(items)),
            _ => Ok(all),
        }
    }

    /// Each conversation of a file: a line, an item of a list, or the document, if it holds a list of messages; all lines
    /// together if each is one message. They are read as [`Input::records`] are.
    pub(crate) fn conversations(
        &self,
        sink: &mut dyn Sink,
        each: impl Fn(&mut dyn Sink, At, &Json) -> Result<(), ReadError> + Sync,
    ) -> Result<(), ReadError> {
        self.set_checked();
        let each = |sink: &mut dyn Sink, at: At, value: &Json| checked(sink, at, value, &each);
        let is_event = |value: &Json| role(value).is_some() || is_conversation_event(value);
        let is_single_message = |value: &Json| is_event(value) && !is_conversation(value);
        let each_conversation = |sink: &mut dyn Sink, at: At, value: &Json| {
            // Facts of the file, or a conversation in which nothing was written yet.
            if !is_conversation(value) && !is_event(value) {
                return leave_out(sink, at.line, value, "a record without messages is left out");
            }
            each(sink, at, value)
        };
        if self.head.shape == Shape::Lines {
            let has_conversations = match &self.head.values[..] {
                // The first line may say what the file is.
                [first, second, ..] if !is_conversation(first) => !is_event(first) && is_conversation(second),
                all => all.first().is_some_and(is_conversation),
            };
            if has_conversations {
                return self.each_piece(sink, each_conversation).map(drop);
            }
            let all = Json::Array(self.all(sink)?);
            return each_conversation_of_rows(sink, &all, each);
        }
        match self.head.values.first() {
            Some(Json::Array(items))
                if self.head.whole(items).iter().any(is_conversation)
                    && !self.head.whole(items).iter().any(is_single_message) =>
            {
                self.each_piece(sink, each_conversation).map(drop)
            }
            _ => each_conversation_of_rows(sink, &self.document()?, each),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::PART;
    use crate::recognize;
    use crate::testing::{CollectingSink, read_text};
    use crate::trace::Trace;

    /// A conversation of a few thousand bytes.
    fn conversation(number: usize) -> String {
        let call = r#"{"id": "1", "function": {"name": "a", "arguments": "{}"}}"#;
        let text = "x".repeat(4000);
        format!(
            r#"{{"id": "c{number}", "messages": [{{"role": "user", "content": "{text}"}}, {{"role": "assistant", "tool_calls": [{call}]}}]}}"#
        )
    }

    fn ids(kept: &CollectingSink) -> Vec<String> {
        kept.traces.iter().map(|trace| trace.id.clone().unwrap_or_default()).collect()
    }

    #[test]
    fn a_file_of_several_parts_keeps_its_order() {
        let all: Vec<String> = (0..4 * PART / 4000).map(conversation).collect();
        let expected: Vec<String> = (0..all.len()).map(|number| format!("c{number}")).collect();
        let (_, of_lines) = read_text("a.jsonl", &all.join("\n")).unwrap();
        let (_, of_list) = read_text("a.json", &format!("[{}]", all.join(", "))).unwrap();
        assert_eq!((ids(&of_lines), ids(&of_list)), (expected.clone(), expected));
        let cut = format!("{}\n{{\"id\": 1,\n{}", all.join("\n"), all[0]);
        let (_, kept) = read_text("a.jsonl", &cut).unwrap();
        assert_eq!((kept.traces.len(), kept.warnings.len()), (all.len() + 1, 1));
        let reason = read_text("a.json", &format!("[{},\n {{\"id\": 1", all.join(", "))).unwrap_err();
        assert!(reason.starts_with("line 2, column") && reason.contains("not JSON"), "{reason}");
    }

    /// Stops before the first trajectory.
    struct Stopping;

    impl Sink for Stopping {
        fn trace(&mut self, _: Option<u64>, _: Trace) -> Result<(), ReadError> {
            panic!("it was to stop before")
        }

        fn warn(&mut self, _: Option<u64>, _: &str) {}

        fn progress(&mut self, done: u64, _: u64) -> Result<(), ReadError> {
            if done > 0 { Err(ReadError::Stopped) } else { Ok(()) }
        }
    }

    #[test]
    fn a_first_pass_over_spans_or_a_log_can_be_stopped() {
        let text = "x".repeat(4000);
        let span = format!(
            r#"{{"traceId": "t", "spanId": "s", "attributes": [{{"key": "gen_ai.tool.name", "value": {{"stringValue": "{text}"}}}}]}}"#
        );
        let spans = vec![span; 4 * PART / 4000].join(",");
        let document = format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{spans}]}}]}}]}}"#);
        let exchange = format!(
            r#"{{"request": {{"messages": ["{text}"]}}, "response": {{"choices": [{{"message": {{}}}}]}}}}"#
        );
        for text in [document, vec![exchange; 4 * PART / 4000].join("\n")] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            let source = Source::open(file.path()).unwrap();
            let file = recognize(&source).unwrap().unwrap();
            assert!(matches!(file.read(&mut Stopping), Err(ReadError::Stopped)));
        }
    }
}
