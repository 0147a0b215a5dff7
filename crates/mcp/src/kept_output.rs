//! A server's standard output that was kept, read as the host reads it while the server runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::lines::LineReader;
use super::status::Events;

/// The standard output of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeptOutput {
    /// The server's messages in JSON-RPC, in order. Results are as the server wrote them. An answer that the host
    /// refuses, because it is too long or cannot be read, is replaced by the error that ends its call.
    pub messages: Vec<Value>,
    /// The number of lines that are not messages.
    pub noise: u64,
}

impl KeptOutput {
    /// Reads the output of a server to its end. Until the first answer has come, a handshake is expected. `events`
    /// receives the first lines that are not messages, and messages that are too long.
    pub async fn read(output: impl AsyncRead + Unpin, server: &str, events: Events) -> Self {
        let (sender, mut receiver) = mpsc::channel(64);
        let noise = Arc::new(AtomicU64::new(0));
        let reader = LineReader {
            server: server.to_owned(),
            events,
            noise: Arc::clone(&noise),
            refused: Arc::default(),
            messages: sender,
            writes_headers: CancellationToken::new(),
            has_left: CancellationToken::new(),
        };
        let collect = async {
            let mut messages = Vec::new();
            while let Some(message) = receiver.recv().await {
                messages.extend(serde_json::to_value(message));
            }
            messages
        };
        let ((), messages) = tokio::join!(reader.run(output), collect);
        Self { messages, noise: noise.load(Ordering::Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::HostEvent;

    #[tokio::test]
    async fn what_was_kept_is_read_as_it_is_while_the_server_runs() {
        let output = "Starting ..\n\
            {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\"}}\n\
            {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\
            {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"odd\",\"n\":1e2}]}}\n\
            {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[\n";
        let heard = Arc::new(Mutex::new(Vec::new()));
        let events = Arc::clone(&heard);
        let events: Events = Arc::new(move |event| events.lock().unwrap().push(event));
        let kept = KeptOutput::read(output.as_bytes(), "s", events).await;
        let [handshake, _, result, refused] = kept.messages.as_slice() else { panic!("{kept:?}") };
        assert_eq!(handshake["result"]["serverInfo"]["name"], "");
        assert_eq!(result["result"], json!({"content": [{"type": "odd", "n": 1e2}]}));
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32700)));
        // The answer that breaks off is a line that is no message too.
        assert_eq!(kept.noise, 2);
        let first = HostEvent::Noise { server: "s".to_owned(), line: "Starting ..".to_owned() };
        assert_eq!(heard.lock().unwrap().first(), Some(&first));
    }
}
