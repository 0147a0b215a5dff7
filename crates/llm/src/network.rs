//! The tries at one request: sending, the answer, and the decision whether and when to send again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use bytes::Bytes;
use m3_support::redact::Redactor;
use tokio::time::Instant;

use super::aws::Credentials;
use super::cassette::{Then, Try, normalized};
use super::concurrency_limiter::ConcurrencyLimiter;
use super::http::{NoAnswer, Poster, retry_after};
use super::wires::{Wire, WireRequest};
use super::{ModelError, ModelName, ModelOptions, Refusal, Reply};

/// The longest wait, unless the provider asks for a longer one.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The most tries of a request, unless the user sets another number.
const TRIES: u32 = 8;

/// The most tries of a request while the provider has never answered, with short waits between them: a server that does
/// not answer at all is probably down, or not a provider, rather than busy.
const TRIES_BEFORE_AN_ANSWER: u32 = 3;
const WAIT_BEFORE_AN_ANSWER: Duration = Duration::from_secs(2);

/// The message when an address refuses a request without a key.
const NO_KEY_SENT: &str = "no key was sent\nhint: an address of your own gets the key of the variable that \
                           `--llm-key-from VARIABLE` names";

/// A provider, and the options for asking it.
#[derive(Debug)]
pub(super) struct Network {
    poster: Poster,
    pub(super) limiter: ConcurrencyLimiter,
    options: ModelOptions,
    /// Whether any request had an answer below 500, or one that says that the provider is too busy.
    has_answered: AtomicBool,
}

/// A request that is being asked.
pub(super) struct Asking<'a> {
    network: &'a Network,
    path: String,
    body: Bytes,
    start: Instant,
    deadline: Instant,
    waits: ExponentialBackoff,
    /// The number of tries so far.
    pub(super) tries: u32,
}

/// A try that has ended.
pub(super) struct FinishedTry {
    pub(super) outcome: Try,
    pub(super) elapsed: Duration,
    is_worth_retrying: bool,
    retry_after: Option<Duration>,
}

impl Network {
    /// # Errors
    /// [`ModelError`] where the address or the key cannot be used.
    pub(super) fn new(
        name: &ModelName,
        wire: &dyn Wire,
        credentials: Option<&Credentials>,
        options: ModelOptions,
    ) -> Result<Self, ModelError> {
        let poster = Poster::new(name, wire, credentials)?;
        let limiter = ConcurrencyLimiter::new(options.concurrency);
        Ok(Self { poster, limiter, options, has_answered: AtomicBool::new(false) })
    }

    /// Whether the provider has answered nothing but failures of its own, and the user has not set the number of tries.
    fn is_silent(&self) -> bool {
        self.options.tries.is_none() && !self.has_answered.load(Ordering::Relaxed)
    }

    /// Starts a request; its time limit runs from now on.
    pub(super) fn start(&self, request: &WireRequest) -> Asking<'_> {
        let start = Instant::now();
        let retries =
            usize::try_from(self.options.tries.unwrap_or(TRIES).saturating_sub(1)).unwrap_or(usize::MAX);
        let waits = ExponentialBuilder::new()
            .with_min_delay(self.options.first_wait)
            .with_max_delay(LONGEST_WAIT)
            .with_max_times(retries)
            .with_jitter()
            .build();
        Asking {
            network: self,
            path: request.path.clone(),
            body: Bytes::from(request.to_bytes()),
            start,
            // If the sum is out of range, a time further away than anyone waits.
            deadline: start
                .checked_add(self.options.total_time)
                .unwrap_or(start + Duration::from_hours(24 * 365)),
            waits,
            tries: 0,
        }
    }
}

impl Asking<'_> {
    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Waits for a place, sends the request and reads the answer. The result does not contain the key. If it will be
    /// recorded, the answer is read in the form in which it is recorded.
    pub(super) async fn next_try(&mut self, redactor: &Redactor, is_recorded: bool) -> FinishedTry {
        self.tries += 1;
        let place = match self.network.limiter.take(self.deadline).await {
            Ok(place) => place,
            Err(reason) => {
                let no_answer = NoAnswer { reason, is_worth_retrying: false, status: None };
                return FinishedTry::without_answer(&no_answer, Duration::ZERO, redactor);
            }
        };
        let start = Instant::now();
        let limit = self.network.options.try_time.min(self.left());
        let answer = self.network.poster.post(&self.path, self.body.clone(), limit).await;
        let elapsed = start.elapsed();
        let answer = match answer {
            Ok(answer) => answer,
            Err(no_answer) => return FinishedTry::without_answer(&no_answer, elapsed, redactor),
        };
        let retry_after = retry_after(&answer.headers, SystemTime::now());
        if answer.status < 500 || says_busy(answer.status, retry_after) {
            self.network.has_answered.store(true, Ordering::Relaxed);
        }
        match answer.status {
            // A pause longer than any request waits concerns only the request that got it.
            429 => place.too_many(retry_after.filter(|wait| *wait < self.network.options.total_time)),
            200..300 => place.answered(),
            _ => {}
        }
        drop(place);
        let mut body = redacted(answer.body, redactor);
        if is_recorded {
            body = normalized(&body);
        }
        let headers =
            answer.headers.into_iter().map(|(name, value)| (name, redactor.text(&value).into_owned()));
        let outcome = Try {
            status: Some(answer.status),
            headers: headers.collect(),
            body: Some(body),
            error: None,
            then: Then::End,
        };
        FinishedTry { outcome, elapsed, is_worth_retrying: true, retry_after }
    }

    /// Decides the action after a try. `Some` is the wait until the next try.
    pub(super) fn decide(
        &mut self,
        tried: &mut FinishedTry,
        reply: &Result<Reply, Failure>,
    ) -> Option<Duration> {
        let Err(failure) = reply else { return None };
        if !failure.is_worth_retrying || !tried.is_worth_retrying {
            // Only an address from the user is asked without a key. This is recorded, so that a replay gives the same
            // message.
            if matches!(tried.outcome.status, Some(401 | 403)) && self.network.options.key.is_none() {
                tried.outcome.then = Then::GiveUp(NO_KEY_SENT.to_owned());
            }
            return None;
        }
        let Some(wait) = self.waits.next() else {
            // The error gives the number of tries.
            return None;
        };
        let is_silent = self.network.is_silent();
        if is_silent && self.tries >= TRIES_BEFORE_AN_ANSWER {
            tried.outcome.then = Then::GiveUp("it has not answered anything yet".to_owned());
            return None;
        }
        let wait = if is_silent { wait.min(WAIT_BEFORE_AN_ANSWER) } else { wait };
        // The wait is as long as the provider asks for, but not shorter than the normal wait: `Retry-After: 0`, or a
        // date that has passed on this clock, would use up all tries at once. A provider that has answered nothing but
        // errors yet does not get a longer wait.
        let most = if is_silent && tried.outcome.status.is_some_and(|status| status >= 500) {
            WAIT_BEFORE_AN_ANSWER
        } else {
            Duration::MAX
        };
        let wait = wait.min(LONGEST_WAIT).max(tried.retry_after.unwrap_or_default().min(most));
        let left = self.left();
        if wait >= left {
            let total = self.network.options.total_time;
            tried.outcome.then = match tried.retry_after {
                // No other request could wait so long either.
                Some(wanted) if wanted >= total => Then::LeaveAlone(format!(
                    "it wants to be left alone for {}, and no request waits longer than {}",
                    long(wanted),
                    long(total)
                )),
                Some(wanted) if wanted >= left => Then::GiveUp(format!(
                    "it wants to be left alone for {}, which is more than is left of {}",
                    long(wanted),
                    long(total)
                )),
                _ => Then::GiveUp(format!("nothing is left of {} for another try", long(total))),
            };
            return None;
        }
        tried.outcome.then = Then::Retry;
        Some(wait)
    }
}

/// Whether an answer of 500 and above shows that the provider is up and has too much to do.
fn says_busy(status: u16, retry_after: Option<Duration>) -> bool {
    status == 529 || status == 503 && retry_after.is_some_and(|wait| !wait.is_zero())
}

impl FinishedTry {
    fn without_answer(no_answer: &NoAnswer, elapsed: Duration, redactor: &Redactor) -> Self {
        let error = Some(redactor.text(&no_answer.reason).into_owned());
        let outcome = Try {
            status: no_answer.status,
            headers: std::collections::BTreeMap::new(),
            body: None,
            error,
            then: Then::End,
        };
        Self { outcome, elapsed, is_worth_retrying: no_answer.is_worth_retrying, retry_after: None }
    }
}

/// A wait in words; a server may ask for any length.
fn long(wait: Duration) -> String {
    const YEAR: Duration = Duration::from_hours(24 * 365);
    if wait > YEAR { "more than a year".to_owned() } else { m3_support::text::duration(wait) }
}

/// A body without the key; it is still JSON if it was.
fn redacted(body: Vec<u8>, redactor: &Redactor) -> Vec<u8> {
    let text = String::from_utf8_lossy(&body);
    let redacted = redactor.text(&text);
    if *redacted == *text {
        return body;
    }
    match serde_json::from_slice(&body) {
        Ok(mut value) => {
            redactor.value(&mut value);
            value.to_string().into_bytes()
        }
        Err(_) => redacted.into_owned().into_bytes(),
    }
}

/// A try without a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) reason: String,
    pub(super) is_worth_retrying: bool,
    /// Whether the prompt did not fit the model's context.
    pub(super) is_context_overflow: bool,
    /// Whether any other request would be refused as well.
    pub(super) refusal: Option<Refusal>,
}

impl Failure {
    /// A failure that ends the tries and does not concern other requests.
    pub(super) fn new(reason: String) -> Self {
        Self { reason, is_worth_retrying: false, is_context_overflow: false, refusal: None }
    }
}
