//! A model's server that follows a script, one step for each request.

use std::collections::VecDeque;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use m3_testkit::raw_http::{RawRequest, answer, listen};
use serde_json::Value;

use super::completion;

/// The response to a request.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Status, further headers, body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// A 200 whose text is the header `authorization`, and that header in JSON and base64.
    Echo(u16),
    /// No answer, until the client leaves.
    Stall,
    /// The connection ends without an answer.
    Cut,
    /// The connection ends within the body.
    CutBody,
}

impl Step {
    /// A reply of the model.
    pub(super) fn reply(text: &str) -> Self {
        Self::Answer(200, Vec::new(), completion(text).to_string())
    }

    /// A failure, with a body.
    pub(super) fn failure(status: u16, body: &str) -> Self {
        Self::Answer(status, Vec::new(), body.to_owned())
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) path: String,
    pub(super) authorization: Option<String>,
    pub(super) body: Value,
}

/// The server; its threads end with the test.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Starts a server; the last step is repeated.
    pub(super) fn start(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps: Mutex<VecDeque<Step>> = Mutex::new(steps.into_iter().collect());
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        let address = listen(move |stream| serve(&stream, &steps, &seen));
        Self { address, received }
    }

    /// All requests so far.
    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn serve(mut stream: &TcpStream, steps: &Mutex<VecDeque<Step>>, seen: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream);
    let Some(request) = RawRequest::read(&mut reader) else { return };
    let authorization = request.header("authorization");
    seen.lock().unwrap().push(Received {
        path: request.head[0].split(' ').nth(1).unwrap().to_owned(),
        authorization: authorization.clone(),
        body: serde_json::from_slice(&request.body).unwrap(),
    });
    let step = {
        let mut steps = steps.lock().unwrap();
        if steps.len() > 1 { steps.pop_front().unwrap() } else { steps[0].clone() }
    };
    let (status, headers, body) = match step {
        Step::Answer(status, headers, body) => (status, headers, body),
        Step::Echo(200) => (200, Vec::new(), completion(&format!("{authorization:?}")).to_string()),
        Step::Echo(status) => (status, Vec::new(), super::error("bad", &format!("no: {authorization:?}"))),
        Step::Stall => {
            let _ = reader.read(&mut [0]);
            return;
        }
        Step::Cut => return,
        Step::CutBody => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\": [");
            return;
        }
    };
    answer(&mut stream, status, &headers, &body);
}
