//! HTTP by hand, for tests with servers that misbehave: they close connections, never end, or redirect.

use std::io::{BufRead, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A request as received.
pub struct RawRequest {
    /// The lines before the body.
    pub head: Vec<String>,
    pub body: Vec<u8>,
}

/// Listens on 127.0.0.1, and handles each connection on its own thread; they end with the test.
pub fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), serve)
}

/// Handles each connection to a listening socket on its own thread.
pub fn serve_on(listener: TcpListener, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    address
}

/// The lines of a request before its body; empty if the client has left.
pub fn head(reader: &mut impl BufRead) -> Vec<String> {
    let lines = reader.lines().map_while(Result::ok);
    lines.take_while(|line| !line.is_empty()).collect()
}

impl RawRequest {
    /// Reads a request to its end; `None` if the client leaves before.
    pub fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut request = Self { head: head(reader), body: Vec::new() };
        request.body = vec![0; request.header("content-length")?.parse().unwrap()];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        self.head.iter().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    }
}

/// Sends the last answer on this connection; ignores clients that have left.
pub fn answer(stream: &mut impl Write, status: u16, headers: &[(&str, String)], body: &str) {
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (headers, length) = (headers.concat(), body.len());
    let answer = format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    let _ = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
}
