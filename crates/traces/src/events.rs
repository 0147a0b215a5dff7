//! Server-sent events, in which replies are streamed: each has a name and data in JSON.

use m3_trajectory::json::{Json, parse};

use crate::head::Shape;
use crate::input::{Input, LONGEST, ReadError, Sink};
use crate::lines::each_line;

/// The data of all events that are JSON: a stream also has comments, and ends with `[DONE]`. Of a file that is JSON, its
/// records.
pub(crate) fn events(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Vec<Json>, ReadError> {
    if input.head.shape != Shape::Events {
        return input.list(sink);
    }
    let mut events = Vec::new();
    each_line::<ReadError>(input.source, LONGEST, |number, line| {
        let Some(data) = line.strip_prefix(b"data:").map(<[u8]>::trim_ascii) else { return Ok(()) };
        match parse(data) {
            Ok((data, _)) => events.push(data),
            Err(_) if data == b"[DONE]" => {}
            Err(error) => {
                sink.warn(Some(number), &format!("an event whose data are no JSON: {}", error.message));
            }
        }
        Ok(())
    })?;
    Ok(events)
}
