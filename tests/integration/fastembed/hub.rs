//! A server that answers like the Hugging Face Hub: large files by a redirection to a store on another port.

use std::collections::BTreeMap;
use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};

use m3_support::text::hexadecimal;
use m3_testkit::raw_http;
use sha2::{Digest as _, Sha256};

/// fastembed's repository of the default encoder's weights.
pub(super) const REPOSITORY: &str = "Qdrant/all-MiniLM-L6-v2-onnx";

/// The commit that the server says.
pub(super) const COMMIT: &str = "5f1b8cd78bc4fb444dd171e59b18f3a3af89a079";

/// Larger files are in the store.
const LARGE: usize = 100_000;

/// A request that was answered.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) is_store: bool,
    pub(super) token: Option<String>,
    /// The range that was asked for.
    pub(super) start: u64,
    pub(super) end: Option<u64>,
}

/// How the server misbehaves.
#[derive(Clone, Default)]
pub(super) struct Faults {
    /// Bytes of a body after which the connection is closed.
    pub(super) cut_after: Option<usize>,
    /// Answers with this status.
    pub(super) status: Option<u16>,
    /// Sends this many bytes of an answer, and then nothing, for ever.
    pub(super) hang_after: Option<usize>,
    /// Says this digest of large files.
    pub(super) digest: Option<String>,
    /// Redirects to itself.
    pub(super) is_endless: bool,
}

pub(super) struct Hub {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    files: BTreeMap<String, Vec<u8>>,
    store: OnceLock<SocketAddr>,
    requests: Mutex<Vec<Request>>,
    faults: Mutex<Faults>,
}

impl Hub {
    pub(super) fn start<const N: usize>(files: [(&str, Vec<u8>); N]) -> Self {
        let files = files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
        let shared = Arc::new(Shared {
            files,
            store: OnceLock::new(),
            requests: Mutex::default(),
            faults: Mutex::default(),
        });
        let (hub, store) = (Arc::clone(&shared), Arc::clone(&shared));
        let store = raw_http::listen(move |stream| store.serve(stream, true));
        shared.store.set(store).unwrap();
        Self { address: raw_http::listen(move |stream| hub.serve(stream, false)), shared }
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    pub(super) fn set(&self, faults: Faults) {
        *self.shared.faults.lock().unwrap() = faults;
    }

    pub(super) fn cut_after(&self, bytes: Option<usize>) {
        self.set(Faults { cut_after: bytes, ..Faults::default() });
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream, is_store: bool) {
        let head = raw_http::head(&mut BufReader::new(stream.try_clone().unwrap()));
        let head = raw_http::RawRequest { head, body: Vec::new() };
        let Some(path) = head.head.first().and_then(|line| line.split(' ').nth(1)) else { return };
        let range = head.header("range").unwrap_or_default();
        let (start, end) = range.trim_start_matches("bytes=").split_once('-').unwrap_or_default();
        let (start, end) = (start.parse().unwrap_or(0), end.parse().ok());
        let token = head.header("authorization");
        self.requests.lock().unwrap().push(Request { is_store, token, start, end });
        let faults = self.faults.lock().unwrap().clone();
        let (status, headers, body) = self.answer(path, is_store, &faults, start, end);
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
        let limit = faults.cut_after.or(faults.hang_after).unwrap_or(usize::MAX).min(length);
        // The client may have left.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body[..limit]));
        let _ = stream.flush();
        while faults.hang_after.is_some() && limit < length {
            std::thread::park();
        }
    }

    /// Status, headers and body.
    fn answer(
        &self,
        path: &str,
        is_store: bool,
        faults: &Faults,
        start: u64,
        end: Option<u64>,
    ) -> (u16, String, &[u8]) {
        let name = if is_store {
            path.trim_start_matches('/').to_owned()
        } else {
            path.trim_start_matches(&format!("/{REPOSITORY}/resolve/main/")).to_owned()
        };
        let Some(content) = self.files.get(&name).filter(|_| faults.status.is_none()) else {
            return (faults.status.unwrap_or(404), String::new(), b"no such file");
        };
        if faults.is_endless {
            return (302, format!("location: {path}\r\n"), b"");
        }
        let digest = hexadecimal(&Sha256::digest(content));
        if content.len() > LARGE && !is_store {
            let digest = faults.digest.as_ref().unwrap_or(&digest);
            let store = self.store.get().unwrap();
            let (size, place) = (content.len(), format!("http://{store}/{name}"));
            let headers = format!(
                "location: {place}\r\nx-linked-etag: \"{digest}\"\r\nx-linked-size: {size}\r\nx-repo-commit: {COMMIT}\r\n"
            );
            return (302, headers, b"");
        }
        let start = usize::try_from(start).unwrap().min(content.len());
        let end = end.map_or(content.len(), |end| usize::try_from(end).unwrap() + 1).min(content.len());
        // Another validator than the Hub's for the same file, as stores have.
        let etag = format!("etag: \"{}\"\r\n", &digest[..40]);
        let commit = if is_store { String::new() } else { format!("x-repo-commit: {COMMIT}\r\n") };
        if (start, end) == (0, content.len()) {
            return (200, etag + &commit, content);
        }
        let range = format!("content-range: bytes {start}-{}/{}\r\n", end.max(1) - 1, content.len());
        (206, etag + &commit + &range, &content[start..end])
    }
}
