//! HTTP by hand, for servers that do what no well-behaved one does: they leave, they never end, they pass on.

use std::io::{BufRead, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A request as it came.
pub struct RawRequest {
    /// The lines before the body.
    pub head: Vec<String>,
    pub body: Vec<u8>,
}

/// Listens on 127.0.0.1, and deals with each connection on a thread of its own; they end with the test.
pub fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), serve)
}

/// Deals with each connection to a socket that listens already, on a thread of its own.
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

/// The lines of a request before its body; nothing if the client has left.
pub fn head(reader: &mut impl BufRead) -> Vec<String> {
    let lines = reader.lines().map_while(Result::ok);
    lines.take_while(|line| !line.is_empty()).collect()
}

impl RawRequest {
    /// Reads a request to its end; nothing if the client leaves before.
    pub fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut request = Self { head: head(reader), body: Vec::new() };
        request.body = vec![0; request.header("content-length")?.parse().unwrap()];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<String> {
        self.head.iter().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    }
}

/// Answers, as the last thing on this connection; a client that has left is not minded.
pub fn answer(stream: &mut impl Write, status: u16, headers: &[(&str, String)], body: &str) {
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (headers, length) = (headers.concat(), body.len());
    let answer = format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    let _ = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
}
