//! The connection to a child process, as rmcp's service uses it: requests to its standard input, messages from its
//! standard output (`LineReader` reads them).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, OwnedMutexGuard, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::lines::{LineReader, RefusedAnswers};
use super::process::{Launch, ServerProcess};
use super::status::{Events, StartError};

/// The most messages that may wait to be written: a server that sends requests but reads no answers is cut off.
const MAX_UNSENT: usize = 10_000;

/// A server's standard input; `None` once it is closed.
#[derive(Debug, Clone)]
pub(super) struct Stdin(Arc<Mutex<Option<ChildStdin>>>);

impl Stdin {
    /// Closes the input, unless a write is blocked because the server does not read.
    pub(super) async fn close(&self) {
        if let Ok(mut stdin) = tokio::time::timeout(Duration::from_millis(100), self.0.lock()).await {
            stdin.take();
        }
    }

    /// Waits for the right to write. The place in the queue is taken by this call and not when the future is first polled,
    /// so messages are written in the order in which they were sent, whichever of rmcp's tasks runs first.
    fn turn(&self) -> impl Future<Output = OwnedMutexGuard<Option<ChildStdin>>> + use<> {
        let mut lock = Box::pin(Arc::clone(&self.0).lock_owned());
        let first = lock.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        async move {
            match first {
                Poll::Ready(stdin) => stdin,
                Poll::Pending => lock.await,
            }
        }
    }
}

async fn write(mut stdin: OwnedMutexGuard<Option<ChildStdin>>, line: &[u8]) -> io::Result<()> {
    match stdin.as_mut() {
        Some(stdin) => {
            stdin.write_all(line).await?;
            stdin.flush().await
        }
        None => Err(io::Error::from(io::ErrorKind::NotConnected)),
    }
}

/// A server's child process: the process, its standard input, and the tasks that watch it.
pub(super) struct StdioChild {
    pub(super) process: ServerProcess,
    pub(super) stdin: Stdin,
    _reader: AbortOnDropHandle<()>,
    _watcher: AbortOnDropHandle<()>,
}

/// Starts a server's process and the readers of its output.
///
/// # Errors
/// [`StartError`] if it cannot be started.
pub(super) fn start(
    launch: &Launch<'_>,
    server: &str,
    events: &Events,
    noise: &Arc<AtomicU64>,
    refused: &Arc<RefusedAnswers>,
) -> Result<(StdioChild, StdioTransport), StartError> {
    let (process, stdin, stdout) = launch.start()?;
    let stdin = Stdin(Arc::new(Mutex::new(Some(stdin))));
    let (sender, messages) = mpsc::channel(64);
    let reader = LineReader {
        server: server.to_owned(),
        events: Arc::clone(events),
        noise: Arc::clone(noise),
        refused: Arc::clone(refused),
        messages: sender,
        has_left: CancellationToken::new(),
        writes_headers: CancellationToken::new(),
    };
    let writes_headers = reader.writes_headers.clone();
    let (has_left, process_ended) = (reader.has_left.clone(), process.ended());
    let reader = tokio::spawn(reader.run(stdout));
    let ended = CancellationToken::new();
    let watcher = tokio::spawn(async move {
        process_ended.await;
        has_left.cancel();
    });
    let unsent = Arc::default();
    let transport = StdioTransport { stdin: stdin.clone(), messages, ended, unsent, writes_headers };
    let (reader, watcher) = (AbortOnDropHandle::new(reader), AbortOnDropHandle::new(watcher));
    Ok((StdioChild { process, stdin, _reader: reader, _watcher: watcher }, transport))
}

/// The transport that rmcp reads from and writes to.
pub(super) struct StdioTransport {
    pub(super) stdin: Stdin,
    pub(super) messages: mpsc::Receiver<ServerJsonRpcMessage>,
    /// Cancelled when the server's standard output has ended, after all its messages were passed on.
    pub(super) ended: CancellationToken,
    pub(super) unsent: Arc<AtomicUsize>,
    /// Cancelled when the server writes the headers of language servers.
    pub(super) writes_headers: CancellationToken,
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let turn = self.stdin.turn();
        let unsent = Arc::clone(&self.unsent);
        unsent.fetch_add(1, Ordering::Relaxed);
        let line = serde_json::to_vec(&message).map(|mut line| {
            line.push(b'\n');
            line
        });
        async move {
            let written = match line {
                Ok(line) => write(turn.await, &line).await,
                Err(error) => Err(error.into()),
            };
            unsent.fetch_sub(1, Ordering::Relaxed);
            written
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        if self.unsent.load(Ordering::Relaxed) > MAX_UNSENT {
            self.ended.cancel();
            return None;
        }
        let message = self.messages.recv().await;
        if message.is_none() {
            self.ended.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.stdin.close().await;
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}
