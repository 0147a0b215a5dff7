//! Requests to an endpoint, and the bodies they are answered with: rmcp's worker decides what is sent when, and this
//! module sends it. rmcp's own client would read bodies of 16 MiB at most, and parse them into types that lose
//! unknown keys.

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::http::{HeaderName, HeaderValue};
use m3_support::retry_after::retry_after;
use m3_support::text::shortened;
use m3_support::unpack::UnpackedReader;
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode, redirect};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};

use super::super::call_failure::CallFailure;
use super::super::lines::{MAX_MESSAGE, MAX_RESULT};
use super::super::message::{Incoming, read_line};
use super::answers::{Answers, AwaitedRequest, answer_to, read_apart};
use super::events;

/// The most bytes that are read of the body of a failure.
const MAX_FAILURE: usize = 64 << 10;

/// The wait before a request is sent again, if the server does not say how long; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The last of these waits: after it, the server's failure is the answer.
const LAST_WAIT: Duration = Duration::from_secs(4);

/// The longest wait that a server may ask for: the limits of time of a call are longer.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 10;

type Failure = StreamableHttpError<reqwest::Error>;

/// Sends requests to an endpoint.
#[derive(Clone)]
pub(super) struct Requests {
    client: reqwest::Client,
    answers: Arc<Answers>,
}

impl Requests {
    /// # Errors
    /// The system's certificates cannot be used.
    pub(super) fn new(answers: Arc<Answers>) -> Result<Self, reqwest::Error> {
        // A reused connection might wait for the rest of the last answer, so none is kept.
        let client = reqwest::Client::builder().pool_max_idle_per_host(0).redirect(same_origin()).build()?;
        Ok(Self { client, answers })
    }

    async fn read(
        &self,
        response: Response,
        awaited: Option<AwaitedRequest>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        if !status.is_success() {
            return self.read_failure(response, awaited).await;
        }
        let Some(awaited) = awaited else { return Ok(StreamableHttpPostResponse::Accepted) };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = text_of(&response, HEADER_SESSION_ID);
        let kind = text_of(&response, CONTENT_TYPE.as_str());
        let is = |name: &str| kind.as_deref().is_some_and(|kind| kind.to_ascii_lowercase().starts_with(name));
        if is(EVENT_STREAM_MIME_TYPE) {
            let events = events::answering(response, awaited, Arc::clone(&self.answers));
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        // Some servers name another type, or none, and answer in JSON all the same.
        let mut answer = self.read_answer(response, &awaited).await?;
        self.answers.keep(&mut answer);
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }

    /// Reads the answer to a request from a body in JSON.
    async fn read_answer(
        &self,
        mut response: Response,
        awaited: &AwaitedRequest,
    ) -> Result<ServerJsonRpcMessage, Failure> {
        let mut body = Vec::new();
        let is_packed =
            text_of(&response, CONTENT_ENCODING.as_str()).is_some_and(|coding| coding.contains("gzip"));
        let is_announced = response.content_length().is_some_and(|length| length > MAX_MESSAGE as u64);
        if is_announced || !read_body(&mut response, &mut body, MAX_MESSAGE).await.map_err(failure)? {
            return self.refuse(awaited, CallFailure::TooLarge(MAX_RESULT));
        }
        // The rest of the response is not needed while the body is parsed.
        drop(response);
        if is_packed {
            body = match unpacked(&body) {
                Ok(body) => body,
                Err(refusal) => return self.refuse(awaited, refusal),
            };
        }
        let start = shortened(&String::from_utf8_lossy(&body[..body.len().min(1 << 10)]), 100);
        let reason = match read_apart(body, awaited.is_handshake).await {
            Incoming::Messages(messages) => {
                match messages.into_iter().find_map(|message| answer_to(awaited, message)) {
                    Some(answer) => return Ok(answer),
                    None => format!("it answers something else: `{start}`"),
                }
            }
            Incoming::Unreadable { reason, .. } => reason,
            Incoming::Noise if start.is_empty() => "it is empty".to_owned(),
            Incoming::Noise => format!("it is no message: `{start}`"),
        };
        self.refuse(awaited, CallFailure::Malformed(reason))
    }

    /// Ends a request whose answer was refused.
    fn refuse(
        &self,
        awaited: &AwaitedRequest,
        refusal: CallFailure,
    ) -> Result<ServerJsonRpcMessage, Failure> {
        if !awaited.is_handshake {
            return Ok(self.answers.refused.refuse(awaited.id.clone(), refusal));
        }
        let reason = match refusal {
            CallFailure::Malformed(reason) => reason,
            other => other.describe(),
        };
        Err(StreamableHttpError::UnexpectedServerResponse(reason.into()))
    }

    /// Reads the body of a failure: an error of the protocol, or else the reason why there is none.
    async fn read_failure(
        &self,
        mut response: Response,
        awaited: Option<AwaitedRequest>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        // If the body ends early or is too long, its beginning may still say enough.
        let mut body = Vec::new();
        let _ = read_body(&mut response, &mut body, MAX_FAILURE).await;
        let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if let Some(awaited) = &awaited
            && !is_refused
            && let Incoming::Messages(messages) = read_line(&body, false)
            && let Some(JsonRpcMessage::Error(error)) = messages.into_iter().next()
        {
            let error = JsonRpcMessage::error(error.error, Some(awaited.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(error, None));
        }
        let details = [
            text_of(&response, WWW_AUTHENTICATE.as_str()),
            text_of(&response, LOCATION.as_str()).map(|location| format!("to `{location}`")),
            Some(shortened(String::from_utf8_lossy(&body).trim(), 200)),
        ];
        let details: Vec<_> = details.into_iter().flatten().filter(|detail| !detail.is_empty()).collect();
        let reason = match details.as_slice() {
            [] => format!("HTTP {status}"),
            details => format!("HTTP {status}: {}", details.join(": ")),
        };
        match awaited {
            // The connection goes on: only this request has failed.
            Some(awaited) if !awaited.is_handshake => {
                let refusal = self.refuse(&awaited, CallFailure::Status(status.as_u16(), reason))?;
                Ok(StreamableHttpPostResponse::Json(refusal, None))
            }
            _ => Err(StreamableHttpError::UnexpectedServerResponse(reason.into())),
        }
    }

    /// Sends a request, and sends it again if the server is too busy for it now (RFC 9110, section 10.2.3). The caller
    /// limits the time.
    async fn send(&self, request: RequestBuilder, is_call: bool) -> Result<Response, Failure> {
        let mut waits = FIRST_WAIT;
        loop {
            let Some(same) = request.try_clone() else { return request.send().await.map_err(failure) };
            let response = same.send().await.map_err(failure)?;
            match wait_before_retry(&response, waits, is_call) {
                Some(wait) if waits <= LAST_WAIT => tokio::time::sleep(wait).await,
                _ => return Ok(response),
            }
            waits *= 2;
        }
    }
}

/// How long to wait before a request is sent again; `None` if it should not be. A tool may have done its work before any
/// failure but 429, so its call is then not made twice.
fn wait_before_retry(response: &Response, otherwise: Duration, is_call: bool) -> Option<Duration> {
    let asked = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| retry_after(value.to_str().ok()?, SystemTime::now()));
    match response.status() {
        StatusCode::TOO_MANY_REQUESTS => Some(asked.unwrap_or(otherwise)),
        _ if is_call => None,
        StatusCode::SERVICE_UNAVAILABLE => Some(asked.unwrap_or(otherwise)),
        status if status.is_server_error() => asked,
        _ => None,
    }
    .filter(|wait| *wait <= LONGEST_WAIT)
}

/// A body that the server compressed although it was not asked to.
fn unpacked(body: &[u8]) -> Result<Vec<u8>, CallFailure> {
    let mut unpacked = Vec::new();
    let most = MAX_MESSAGE as u64 + 1;
    let reading = UnpackedReader::new(body).and_then(|reader| reader.take(most).read_to_end(&mut unpacked));
    match reading {
        Ok(_) if unpacked.len() > MAX_MESSAGE => Err(CallFailure::TooLarge(MAX_RESULT)),
        Ok(_) => Ok(unpacked),
        Err(error) => Err(CallFailure::Malformed(format!("it cannot be unpacked: {error}"))),
    }
}

impl StreamableHttpClient for Requests {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        if let JsonRpcMessage::Notification(note) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &note.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.answers.forget(id);
        }
        let awaited = AwaitedRequest::from_message(&message);
        let expected = awaited.as_ref().map(|awaited| self.answers.expect(&awaited.id));
        let mut request = self
            .client
            .post(uri.as_ref())
            .headers(custom_headers.into_iter().collect())
            .header(ACCEPT, format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}"));
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        let has_session = session_id.is_some();
        if let Some(session) = session_id {
            request = request.header(HEADER_SESSION_ID, session.as_ref());
        }
        let is_call = matches!(&message, JsonRpcMessage::Request(sent) if matches!(sent.request, ClientRequest::CallToolRequest(_)));
        let response = self.send(request.json(&message), is_call).await?;
        if has_session && matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::GONE) {
            return Err(StreamableHttpError::SessionExpired);
        }
        let posted = self.read(response, awaited).await?;
        if let Some(expected) = expected {
            expected.keep_waiting();
        }
        Ok(posted)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, Failure> {
        let client = &self.client;
        let events = client
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                MAX_MESSAGE,
            )
            .await?;
        Ok(events::keep_results(events, None, Arc::clone(&self.answers)))
    }
}

/// Follows only redirects that keep the request and lead to the same origin: others would lose the message, or send
/// session and headers to another server.
fn same_origin() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let keeps =
            matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let first = attempt.previous().first();
        if !keeps || first.is_none_or(|first| first.origin() != attempt.url().origin()) {
            attempt.stop()
        } else if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("it redirects too often")
        } else {
            attempt.follow()
        }
    })
}

/// The error without its URL, which the reader knows and which may contain a secret.
fn failure(error: reqwest::Error) -> Failure {
    StreamableHttpError::Client(error.without_url())
}

/// Reads a body, `limit` bytes at most; also returns whether that is all of it.
async fn read_body(
    response: &mut Response,
    body: &mut Vec<u8>,
    limit: usize,
) -> Result<bool, reqwest::Error> {
    while let Some(chunk) = response.chunk().await? {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok(false);
        }
    }
    Ok(true)
}

fn text_of(response: &Response, header: &str) -> Option<String> {
    let value = response.headers().get(header)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
