//! Keeps the last lines of a server's standard error, limited in size: they are often the only explanation of a failed
//! start.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use m3_support::text::shortened;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The most lines that are kept.
const MAX_LINES: usize = 40;

/// The most columns of a line that are kept.
const MAX_LINE: usize = 400;

/// The last lines of a stream.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    whole: VecDeque<String>,
    /// The line being written, cut to the columns that are kept.
    current: Vec<u8>,
}

impl Tail {
    /// Reads until the end of the stream, or until it fails.
    pub(super) async fn drain(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 8 << 10];
        loop {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => self.push(&buffer[..count]),
            }
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut lines = self.lock();
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            // A character takes at most four bytes.
            let room = (MAX_LINE * 4).saturating_sub(lines.current.len());
            lines.current.extend_from_slice(&text[..text.len().min(room)]);
            if part.ends_with(b"\n") {
                lines.end_line();
            }
        }
    }

    /// The last lines, with control characters escaped.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = self.lock();
        if !lines.current.is_empty() {
            lines.end_line();
        }
        lines.whole.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn end_line(&mut self) {
        let line = shortened(String::from_utf8_lossy(&self.current).trim_end(), MAX_LINE);
        self.current.clear();
        if self.whole.len() == MAX_LINES {
            self.whole.pop_front();
        }
        self.whole.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_lines_are_kept_and_no_line_is_long() {
        let tail = Tail::default();
        let lines: Vec<String> = (0..100).map(|index| format!("line {index}\r\n")).collect();
        let mut text = lines.concat();
        text += &"x".repeat(1 << 20);
        text += "\nno line break \u{1b}[31m";
        tail.drain(text.as_bytes()).await;
        let lines = tail.lines();
        assert_eq!(lines.len(), MAX_LINES);
        // 100 short lines, a long one and the unfinished one: the first that is kept is number 62.
        assert_eq!(lines[0], "line 62");
        assert!(lines[38].starts_with("xxx") && lines[38].ends_with('…') && lines[38].len() < 500);
        assert_eq!(lines[39], "no line break \\u{1b}[31m");
    }
}
