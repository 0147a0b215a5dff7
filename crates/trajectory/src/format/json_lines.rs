//! m3's own trajectories as JSON Lines: one on every line.

use super::{Format, ReadFormat, Start};
use crate::split::split_lines;

/// JSON Lines by the name of the file. With another name, the reader of JSON recognizes them.
pub(super) const FORMAT: Format = Format {
    name: "json-lines",
    title: "trajectories of m3 as JSON Lines",
    recognizes,
    read: ReadFormat::InPlace(split_lines),
};

fn recognizes(start: &Start<'_>) -> bool {
    let name = start.name.to_lowercase();
    let name = m3_support::unpack::unpacked_name(&name);
    [".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending)) && !is_one_value(start.bytes)
}

/// Whether a file is a list, or a value written over several lines, and not JSON Lines, whatever its name: no line with
/// a trajectory begins with `[` or is a single `{`.
fn is_one_value(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    start.starts_with(b"[") || (line.trim_ascii() == b"{" && line.len() < start.len())
}
