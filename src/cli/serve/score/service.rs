//! The reward service over HTTP: `/score`, `/healthz`, `/metrics`, and the MCP server beside them.
//!
//! Every request gets an answer: 200 with scores, or an error with the reason, such as 400 not a batch, 408 too slow,
//! 413 too large, 429 too much at once. When the service ends, it answers the requests that it has accepted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::StreamExt as _;
use m3_mcp::serve::{HttpOptions, HttpServer, ServeError, http_beside};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use super::body::Batch;
use super::desk::Desk;

/// The longest time for the body of a request to arrive.
const BODY_WAIT: Duration = Duration::from_secs(30);

/// The time after which a refused client may try again, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// Starts the service.
///
/// # Errors
/// [`ServeError::Bind`] and [`ServeError::Remote`].
pub(crate) async fn serve(desk: &Arc<Desk>, options: &HttpOptions) -> Result<HttpServer, ServeError> {
    let router = Router::new()
        .route("/score", post(score))
        .route("/healthz", get(health))
        .route("/metrics", get(metrics))
        .with_state(Arc::clone(desk));
    http_beside(router, vec![super::toolbox(desk)], options).await
}

/// The answer to a request that is not scored: its status and the reason.
type Refusal = (StatusCode, String);

async fn score(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    let answered = answer(&desk, request).await;
    let mut response = match answered {
        Ok(body) => with_body(StatusCode::OK, body),
        Err((status, why)) => {
            let mut response = with_body(status, json!({ "error": why }).to_string());
            if status == StatusCode::TOO_MANY_REQUESTS {
                response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
            }
            response
        }
    };
    if desk.is_ending() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    desk.counts.request(response.status().as_u16());
    response
}

async fn answer(desk: &Arc<Desk>, request: Request) -> Result<String, Refusal> {
    let start = Instant::now();
    let (head, body) = request.into_parts();
    let (body, _held) = read(desk, &head.headers, body).await?;
    let batch: Batch = serde_json::from_slice(&body).map_err(|error| {
        let why = format!(
            "not a batch: {error}; it should be {{\"pairs\": [{{\"prediction\": .., \"reference\": ..}}]}}"
        );
        (StatusCode::BAD_REQUEST, why)
    })?;
    let (pairs, most) = (batch.pairs.len(), desk.limits.pairs);
    if pairs > most {
        return Err((
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("{pairs} pairs; at most {most} go into one request"),
        ));
    }
    let too_many =
        || (StatusCode::TOO_MANY_REQUESTS, "too many pairs are waiting; try again later".to_owned());
    let place = desk.enqueue(pairs).ok_or_else(too_many)?;
    let crashed = || (StatusCode::INTERNAL_SERVER_ERROR, "scoring crashed; this is a bug".to_owned());
    let scored = desk
        .work(move |scorer| {
            let _place = place;
            let answer = batch.score(scorer)?;
            let text = serde_json::to_string(&answer).unwrap_or_default();
            Ok::<_, crate::cli::library::pairs::PairError>((text, answer.refused))
        })
        .await
        .map_err(|_| crashed())?;
    let (text, refused) = scored.map_err(|error| (StatusCode::SERVICE_UNAVAILABLE, error.message))?;
    desk.counts.pairs(pairs - refused, refused, start.elapsed());
    Ok(text)
}

/// Reads a body within its limits. The permit that it returns holds the body's share of the memory.
async fn read(
    desk: &Desk,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Vec<u8>, OwnedSemaphorePermit), Refusal> {
    let mut body = body.into_data_stream();
    let reading = async {
        let gathered = gather(desk, headers, &mut body).await;
        // A client that waits for `100 Continue` has sent nothing yet.
        if gathered.is_err() && !headers.contains_key(header::EXPECT) {
            discard(&mut body, desk.limits.body).await;
        }
        gathered
    };
    let too_slow = || (StatusCode::REQUEST_TIMEOUT, "the body took too long".to_owned());
    tokio::time::timeout(BODY_WAIT, reading).await.unwrap_or_else(|_| Err(too_slow()))
}

async fn gather(
    desk: &Desk,
    headers: &HeaderMap,
    body: &mut BodyDataStream,
) -> Result<(Vec<u8>, OwnedSemaphorePermit), Refusal> {
    let most = desk.limits.body;
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let too_large = || (StatusCode::PAYLOAD_TOO_LARGE, format!("a request has at most {} MiB", most >> 20));
    if length.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let too_much = || {
        (
            StatusCode::TOO_MANY_REQUESTS,
            "other requests fill the memory for bodies; try again later".to_owned(),
        )
    };
    let mut held = desk.hold(length.unwrap_or_default()).ok_or_else(too_much)?;
    let mut bytes = Vec::with_capacity(length.unwrap_or_default());
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| (StatusCode::BAD_REQUEST, "the body broke off".to_owned()))?;
        if bytes.len() + piece.len() > most {
            return Err(too_large());
        }
        if length.is_none() {
            held.merge(desk.hold(piece.len()).ok_or_else(too_much)?);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok((bytes, held))
}

/// Reads the rest of a refused body, up to four times the limit: a client that is still writing would not see the
/// answer.
async fn discard(body: &mut BodyDataStream, most: usize) {
    let mut left = most.saturating_mul(4);
    while let Some(Ok(piece)) = body.next().await
        && let Some(less) = left.checked_sub(piece.len())
    {
        left = less;
    }
}

async fn health(State(desk): State<Arc<Desk>>) -> (StatusCode, &'static str) {
    if desk.is_ending() { (StatusCode::SERVICE_UNAVAILABLE, "ending\n") } else { (StatusCode::OK, "ok\n") }
}

async fn metrics(State(desk): State<Arc<Desk>>) -> Response {
    const KIND: (HeaderName, &str) = (header::CONTENT_TYPE, "text/plain; version=0.0.4");
    ([KIND], desk.counts.text(desk.waiting())).into_response()
}

fn with_body(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
