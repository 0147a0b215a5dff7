//! A model that can be asked: over the network with retries and time limits, or from a cassette.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use m3_support::redact::{Redactor, RedactorError};
use m3_support::text::shortened;

use super::aws::{ACCESS_KEY_VARIABLES, AwsCredentials, Credentials};
use super::cassette::{Cassette, RecordedRequest, Recorder, Then, Try};
use super::network::{Failure, Network};
use super::wires::{self, ImageData, Wire, WireRequest};
use super::{
    Keys, ModelError, ModelName, ModelOptions, PictureLimits, Refusal, Reply, Request, RequestLimits, Scope,
    keys,
};

/// The length of the shortest keys that are searched for in texts, in bytes. Shorter ones are placeholders such as
/// `EMPTY` for servers that need no key, and may be ordinary words.
const LEAST_KEY: usize = 8;

/// A model that several tasks can ask at the same time.
#[derive(Clone)]
pub struct Model {
    inner: Arc<Inner>,
    recorder: Option<Arc<Recorder>>,
}

struct Inner {
    name: ModelName,
    wire: &'static dyn Wire,
    credentials: Option<Credentials>,
    redactor: Redactor,
    notes: Vec<String>,
    source: Source,
}

enum Source {
    Network(Box<Network>),
    Cassette(Arc<Cassette>),
}

impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Model({})", self.inner.name)
    }
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// The model's reply.
    pub reply: Reply,
    /// How often the model was asked.
    pub tries: u32,
    /// The time from asking to the answer, waits included.
    pub elapsed: Duration,
}

/// A failed try after which the model is asked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Why the try failed, made safe to show.
    pub reason: String,
    /// The wait until the next try; zero in a replay.
    pub wait: Duration,
}

impl Model {
    /// A model on the network. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ModelError::NoKey`] where the provider's own address is asked without a key, or [`ModelError`] if the
    /// address or the key cannot be used.
    pub fn open(name: ModelName, options: ModelOptions) -> Result<Self, ModelError> {
        let wire = wires::implementation(name.wire);
        let mut notes = Vec::new();
        let mut credentials = options.key.clone().map(Credentials::Key);
        if credentials.is_none() && name.is_at_provider() {
            let keys = Keys::load();
            notes.extend(keys.warning().map(str::to_owned));
            credentials = Some(own_credentials(&name, wire, &keys)?);
        }
        // This can fail only for hundreds of megabytes of secrets, which no header would hold.
        let redactor = Redactor::new(secrets(credentials.as_ref())).unwrap_or_default();
        let network = Network::new(&name, wire, credentials.as_ref(), options)?;
        let source = Source::Network(Box::new(network));
        Ok(Self::new(Inner { name, wire, credentials, redactor, notes, source }))
    }

    /// The model of a cassette, which gives the recorded replies.
    ///
    /// # Errors
    /// [`ModelError::CassetteModel`] if its name cannot be read.
    pub fn replay(cassette: Arc<Cassette>) -> Result<Self, ModelError> {
        let name = ModelName::parse(&cassette.header().model)
            .map_err(|source| ModelError::CassetteModel { path: cassette.path().to_owned(), source })?;
        let wire = wires::implementation(name.wire);
        let (redactor, notes) = (Redactor::default(), Vec::new());
        let source = Source::Cassette(cassette);
        Ok(Self::new(Inner { name, wire, credentials: None, redactor, notes, source }))
    }

    /// Whether the model's replies come from a cassette.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        matches!(self.inner.source, Source::Cassette(_))
    }

    fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner), recorder: None }
    }

    /// This model, with every try recorded. The recorder hides the model's key from now on.
    #[must_use]
    pub fn recorded_by(mut self, recorder: Arc<Recorder>) -> Self {
        recorder.hide(self.inner.redactor.clone());
        self.recorder = Some(recorder);
        self
    }

    /// The model's name.
    #[must_use]
    pub fn name(&self) -> &ModelName {
        &self.inner.name
    }

    /// The limits of the model for one image.
    #[must_use]
    pub fn image_limits(&self) -> PictureLimits {
        self.inner.wire.image_limits()
    }

    /// The limits of the model for all images of a request together. Other servers of a wire may accept less, or more.
    #[must_use]
    pub fn request_limits(&self) -> RequestLimits {
        self.inner.wire.request_limits()
    }

    /// A redactor for the key and these secrets, for texts that may contain them, such as results of tools.
    ///
    /// # Errors
    /// [`RedactorError`] if the secrets are too many or too long.
    pub fn redactor_with<'s>(
        &'s self,
        secrets: impl IntoIterator<Item = &'s str>,
    ) -> Result<Redactor, RedactorError> {
        Redactor::new(secrets.into_iter().chain(self::secrets(self.inner.credentials.as_ref())))
    }

    /// Notes for the user when the model is opened: problems with `.env`.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    /// The number of requests that the model may get at once now; `None` in a replay.
    #[must_use]
    pub fn concurrency(&self) -> Option<usize> {
        match &self.inner.source {
            Source::Network(network) => Some(network.limiter.limit()),
            Source::Cassette(_) => None,
        }
    }

    /// Asks the model, and again if that may help. `on_retry` gets each failed try before the wait for the next one.
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    /// [`ModelError::NoReply`] after the last try; [`ModelError::ContextOverflow`] where another try cannot help;
    /// [`ModelError::NotRecorded`] for a request that the cassette does not have; [`ModelError::Cassette`] if it cannot be
    /// recorded.
    pub async fn ask(
        &self,
        request: &Request,
        scope: &Scope,
        on_retry: &(dyn Fn(Retry) + Send + Sync),
    ) -> Result<ModelAnswer, ModelError> {
        // A request that cannot be recorded should not be paid for.
        if let Some(error) = self.recorder.as_deref().and_then(Recorder::failure) {
            return Err(error.into());
        }
        match &self.inner.source {
            Source::Network(network) => self.ask_network(network, request, scope, on_retry).await,
            Source::Cassette(cassette) => self.ask_cassette(cassette, request, scope, on_retry),
        }
    }

    async fn ask_network(
        &self,
        network: &Network,
        request: &Request,
        scope: &Scope,
        on_retry: &(dyn Fn(Retry) + Send + Sync),
    ) -> Result<ModelAnswer, ModelError> {
        let written = self.written(request, ImageData::Base64);
        let recording = self.recorder.as_deref().map(|recorder| {
            (recorder, RecordedRequest::new(scope, self.written(request, ImageData::Hash), Some(recorder)))
        });
        let mut asking = network.start(&written);
        drop(written);
        loop {
            let mut tried = asking.next_try(&self.inner.redactor, recording.is_some()).await;
            let reply = self.reply_of(&tried.outcome);
            let wait = asking.decide(&mut tried, &reply);
            if let Some((recorder, recording)) = &recording {
                recorder.record_try(recording, &tried.outcome, tried.elapsed)?;
            }
            match (reply, wait) {
                (Ok(reply), _) => {
                    return Ok(ModelAnswer { reply, tries: asking.tries, elapsed: asking.elapsed() });
                }
                (Err(failure), Some(wait)) => {
                    on_retry(Retry { reason: failure.reason, wait });
                    tokio::time::sleep(wait).await;
                }
                (Err(failure), None) => return Err(self.no_reply(failure, &tried.outcome, asking.tries)),
            }
        }
    }

    fn ask_cassette(
        &self,
        cassette: &Cassette,
        request: &Request,
        scope: &Scope,
        on_retry: &(dyn Fn(Retry) + Send + Sync),
    ) -> Result<ModelAnswer, ModelError> {
        let start = Instant::now();
        let recorder = self.recorder.as_deref();
        let recording = RecordedRequest::new(scope, self.written(request, ImageData::Hash), recorder);
        let recorded_tries = cassette
            .exchange(&recording)
            .map_err(|reason| ModelError::NotRecorded { path: cassette.path().to_owned(), reason })?;
        let mut tries = 0;
        for tried in &recorded_tries {
            tries += 1;
            if let Some(recorder) = recorder {
                recorder.record_try(&recording, tried, Duration::ZERO)?;
            }
            match self.reply_of(tried) {
                Ok(reply) => return Ok(ModelAnswer { reply, tries, elapsed: start.elapsed() }),
                Err(failure) if tried.then == Then::Retry => {
                    on_retry(Retry { reason: failure.reason, wait: Duration::ZERO });
                }
                Err(failure) => return Err(self.no_reply(failure, tried, tries)),
            }
        }
        let reason = "it ends without an answer".to_owned();
        Err(ModelError::NotRecorded { path: cassette.path().to_owned(), reason })
    }

    fn written(&self, request: &Request, images: ImageData) -> WireRequest {
        self.inner.wire.request(self.inner.name.target(), request, images)
    }

    /// The result of a try, read the same way live and in a replay.
    fn reply_of(&self, tried: &Try) -> Result<Reply, Failure> {
        let redact = |text: &str| self.inner.redactor.text(text).into_owned();
        let (Some(status), Some(body)) = (tried.status, &tried.body) else {
            let reason = redact(tried.error.as_deref().unwrap_or("there was no answer"));
            return Err(Failure { is_worth_retrying: true, ..Failure::new(reason) });
        };
        if let Some(location) = tried.headers.get("location").filter(|_| (300..400).contains(&status)) {
            let reason = format!(
                "HTTP {status}: it leads to `{}`, and redirects are not followed\nhint: name that address, if it is \
                 to be trusted with the key",
                shortened(&redact(location), 200)
            );
            return Err(Failure::new(reason));
        }
        let read = self.inner.wire.reply(status, body);
        let read = read.map(|reply| Reply { usage: reply.usage.marked_if_partial(), ..reply });
        read.map_err(|error| {
            let mut reason = redact(&error.to_string());
            if !(200..300).contains(&status) {
                reason = format!("HTTP {status}: {reason}");
            }
            Failure {
                reason,
                is_worth_retrying: error.is_worth_retrying(status),
                is_context_overflow: error.is_context_overflow(status),
                refusal: error.refusal(status),
            }
        })
    }

    fn no_reply(&self, failure: Failure, last: &Try, tries: u32) -> ModelError {
        let Failure { mut reason, mut refusal, is_context_overflow, .. } = failure;
        if is_context_overflow {
            return ModelError::ContextOverflow { model: self.inner.name.to_string(), reason };
        }
        match &last.then {
            Then::GiveUp(why) => reason = format!("{reason}; {why}"),
            Then::LeaveAlone(why) => {
                reason = format!("{reason}; {why}");
                refusal.get_or_insert(Refusal::Later);
            }
            Then::End | Then::Retry => {}
        }
        ModelError::NoReply {
            model: self.inner.name.to_string(),
            status: last.status,
            tries,
            refusal,
            reason,
        }
    }
}

/// The credentials for the provider's own address, from the environment or `.env`.
fn own_credentials(name: &ModelName, wire: &dyn Wire, keys: &Keys) -> Result<Credentials, ModelError> {
    let variables: Vec<&str> =
        [keys::KEY_VARIABLE].into_iter().chain(wire.key_variables().iter().copied()).collect();
    let key = keys.first_of(&variables).map(Credentials::Key);
    let is_signed = wire.signing_name().is_some();
    let access_key = || AwsCredentials::find(keys).filter(|_| is_signed).map(Credentials::Aws);
    key.or_else(access_key).ok_or_else(|| {
        let mut alternatives: Vec<String> =
            variables.iter().map(|variable| format!("`{variable}`")).collect();
        let [id, secret] = ACCESS_KEY_VARIABLES;
        alternatives.extend(is_signed.then(|| format!("`{id}` with `{secret}`")));
        ModelError::NoKey { model: name.to_string(), variables: alternatives.join(" or ") }
    })
}

/// The secrets that are searched for in texts.
fn secrets(credentials: Option<&Credentials>) -> impl Iterator<Item = &str> {
    credentials.into_iter().flat_map(Credentials::secrets).filter(|secret| secret.len() >= LEAST_KEY)
}
