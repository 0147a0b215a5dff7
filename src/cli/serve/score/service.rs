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
use m3_report::AggregateReport;
use m3_trajectory::Problem;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use crate::cli::library::pairs::{self, PairError, PairScorer, ScoredPair};
use crate::cli::serve::score::desk::Desk;

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
            Ok::<_, PairError>((text, answer.refused))
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

/// A request of a trainer: the pairs to score.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    pub(super) pairs: Vec<Pair>,
    /// Whether each result is a whole report, with the calls that are matched.
    #[serde(default)]
    detail: bool,
}

/// A prediction, null for a missing one, and its reference: trajectories in m3's form, or message lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    prediction: Option<Box<RawValue>>,
    reference: Box<RawValue>,
}

/// The answer, a result for each pair in their order.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    results: Vec<Box<RawValue>>,
    #[serde(skip)]
    pub(super) refused: usize,
}

/// A scored pair without its calls.
#[derive(Debug, Serialize)]
struct Brief<'p> {
    id: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    metrics: Option<&'p AggregateReport>,
}

/// A pair that cannot be read.
#[derive(Debug, Serialize)]
struct RefusedPair {
    error: String,
    problems: Vec<Place>,
}

/// A problem and its place.
#[derive(Debug, Serialize)]
struct Place {
    of: String,
    pointer: String,
    message: String,
}

impl From<Problem> for Place {
    fn from(problem: Problem) -> Self {
        Self { of: problem.place.file, pointer: problem.place.pointer, message: problem.message }
    }
}

impl Batch {
    /// Scores the pairs. A pair that cannot be read does not stop the others.
    pub(super) fn score(self, scorer: &PairScorer) -> Result<Answer, PairError> {
        let outcomes = scorer.score_read(self.pairs.iter().map(|pair| pair.read(scorer)))?;
        let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        let results = outcomes.into_iter().map(|outcome| match outcome {
            Ok(pair) => pair_to_json(&pair, self.detail),
            Err(error) => {
                let problems = error.problems.into_iter().map(Place::from).collect();
                raw(&RefusedPair { error: error.message, problems })
            }
        });
        Ok(Answer { results: results.collect(), refused })
    }
}

impl Pair {
    fn read(&self, scorer: &PairScorer) -> Result<pairs::Pair, PairError> {
        let read = |name: &str, value: &RawValue| scorer.read(name, value.get().as_bytes());
        let prediction = self.prediction.as_deref().map(|value| read("prediction", value)).transpose()?;
        Ok((prediction, read("reference", &self.reference)?))
    }
}

fn pair_to_json(pair: &ScoredPair, has_detail: bool) -> Box<RawValue> {
    if has_detail {
        let text = pair.to_json().unwrap_or_default();
        return RawValue::from_string(text).unwrap_or_default();
    }
    let report = pair.report.as_ref();
    let id = report.map(|report| report.id.as_str());
    let failure = pair.failure.map(m3_trajectory::FailureClass::name);
    raw(&Brief { id, failure, metrics: report.map(|report| &report.metrics) })
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}
