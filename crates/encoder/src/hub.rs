//! Reads files of one repository of the Hugging Face Hub, or of the mirror that `HF_ENDPOINT` names.
//!
//! m3 does not use hf-hub, the client that fastembed fetches with: it waits forever for a silent server, compares no
//! digest, and would be a second HTTP client beside m3's own.

use std::time::Duration;

use m3_support::text::{error_with_causes, shortened};
use reqwest::header::{
    AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, HeaderValue, LOCATION, RANGE,
};
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url, redirect};

/// The server of the models, unless `HF_ENDPOINT` names another one.
const ENDPOINT: &str = "https://huggingface.co";

/// The branch that is fetched; fastembed fetches the same one.
const REVISION: &str = "main";

/// The time limit for reaching a server.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// A server that sends nothing for this long is given up, unless `HF_HUB_DOWNLOAD_TIMEOUT` says otherwise.
const SILENCE: Duration = Duration::from_mins(1);

/// The most redirections on the way to one file.
const MAX_REDIRECTIONS: usize = 10;

/// The headers in which the Hub describes the file behind a redirection: its SHA-256, its size and its commit.
const LINKED_ETAG: HeaderName = HeaderName::from_static("x-linked-etag");
const LINKED_SIZE: HeaderName = HeaderName::from_static("x-linked-size");
const COMMIT: HeaderName = HeaderName::from_static("x-repo-commit");

/// The reason why a server gives no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HubFailure {
    /// What went wrong, for a message.
    pub(super) reason: String,
    /// What the user can do.
    pub(super) hint: &'static str,
    /// Whether the answer was interrupted, so that asking for the rest may help.
    pub(super) is_interruption: bool,
}

impl HubFailure {
    pub(super) fn new(reason: impl Into<String>, hint: &'static str) -> Self {
        Self { reason: reason.into(), hint, is_interruption: false }
    }
}

const REACH: &str = "make the server reachable, or name a mirror in `HF_ENDPOINT`; what was fetched is kept, and the next \
                     run goes on there";
const WRONG_PLACE: &str =
    "see whether `HF_ENDPOINT` names the Hub or a mirror of it, without the path of a model";
const TOKEN: &str = "set `HF_TOKEN` to a token that may read this model, and accept its terms on the Hub";

/// A repository on a server.
#[derive(Debug)]
pub(super) struct Hub {
    client: Client,
    endpoint: Url,
    repository: String,
    token: Option<HeaderValue>,
    silence: Duration,
}

/// Facts about a file, from the headers of a server's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The file's size in bytes.
    pub(super) size: Option<u64>,
    /// A text that changes with the file's content.
    pub(super) etag: Option<String>,
    /// The file's SHA-256, hexadecimal: for large files only.
    pub(super) sha256: Option<String>,
    /// The commit that the file belongs to.
    pub(super) commit: Option<String>,
}

impl Hub {
    /// The repository at the place that `HF_ENDPOINT` names, read with the token in `HF_TOKEN`. Nothing is sent yet.
    pub(super) fn from_env(repository: &str) -> Result<Self, HubFailure> {
        let value = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        if value("HF_HUB_OFFLINE")
            .is_some_and(|value| !["0", "false", "no", "off"].contains(&&*value.to_lowercase()))
        {
            return Err(HubFailure::new(
                "`HF_HUB_OFFLINE` is set",
                "unset it, or name the folder of an encoder",
            ));
        }
        let endpoint = value("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let endpoint = Url::parse(endpoint.trim().trim_end_matches('/')).ok();
        let endpoint = endpoint.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let endpoint = endpoint.ok_or_else(|| {
            HubFailure::new("`HF_ENDPOINT` is no address", "it should be like `https://huggingface.co`")
        })?;
        let token = value("HF_TOKEN").map(|token| HeaderValue::from_str(&format!("Bearer {}", token.trim())));
        let mut token = token.transpose().map_err(|_| {
            HubFailure::new(
                "`HF_TOKEN` has characters that no token has",
                "copy the token again, or unset it",
            )
        })?;
        if let Some(token) = &mut token {
            token.set_sensitive(true);
        }
        let silence = value("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|seconds| seconds.trim().parse().ok());
        let silence = silence.filter(|seconds| *seconds > 0).map_or(SILENCE, Duration::from_secs);
        let client = client(&endpoint, silence)?;
        Ok(Self { client, endpoint, repository: repository.to_owned(), token, silence })
    }

    /// The repository's address, without passwords.
    pub(super) fn shown(&self) -> String {
        let mut url = self.endpoint.clone();
        url.set_query(None);
        url.set_fragment(None);
        // An address with a host may have a user and a password, so neither call can fail.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        format!("{}/{}", url.as_str().trim_end_matches('/'), self.repository)
    }

    /// Asks the server for the facts about a file.
    pub(super) async fn describe(&self, path: &str) -> Result<Facts, HubFailure> {
        // Asks for one byte, as hf-hub does: not every mirror answers `HEAD`.
        let (_, facts) = self.open(path, Some("bytes=0-0".to_owned())).await?;
        Ok(facts)
    }

    /// Asks for a file from this byte on. The server may answer with the whole file: see [`first_byte`].
    pub(super) async fn read_from(&self, path: &str, start: u64) -> Result<(Response, Facts), HubFailure> {
        self.open(path, (start > 0).then(|| format!("bytes={start}-"))).await
    }

    /// The next bytes of an answer; `None` at its end.
    pub(super) async fn next(
        &self,
        response: &mut Response,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, HubFailure> {
        response.chunk().await.map_err(|error| HubFailure { is_interruption: true, ..self.no_answer(error) })
    }

    async fn open(&self, path: &str, range: Option<String>) -> Result<(Response, Facts), HubFailure> {
        let endpoint = self.endpoint.as_str().trim_end_matches('/');
        let address = format!("{endpoint}/{}/resolve/{REVISION}/{path}", self.repository);
        let no_address = |_| HubFailure::new("its address cannot be made", WRONG_PLACE);
        let mut url: Url = address.parse().map_err(no_address)?;
        let mut facts = Facts::default();
        for _ in 0..=MAX_REDIRECTIONS {
            let is_hub = url.origin() == self.endpoint.origin();
            let mut request = self.client.get(url.clone());
            if let Some(range) = &range {
                request = request.header(RANGE, range);
            }
            // The token is for the Hub, not for the store that it redirects to.
            if let Some(token) = self.token.as_ref().filter(|_| is_hub) {
                request = request.header(AUTHORIZATION, token);
            }
            let response = request.send().await.map_err(|error| self.no_answer(error))?;
            if is_hub {
                facts.learn(response.headers());
            }
            if response.status().is_redirection() {
                url = redirection(&response, &url)?;
                continue;
            }
            if !response.status().is_success() {
                return Err(refusal(response.status()));
            }
            facts.size = facts.size.or_else(|| size(&response));
            return Ok((response, facts));
        }
        Err(HubFailure::new(format!("it redirects more than {MAX_REDIRECTIONS} times"), WRONG_PLACE))
    }

    fn no_answer(&self, error: reqwest::Error) -> HubFailure {
        let reason = if error.is_timeout() && error.is_connect() {
            format!("it could not be reached within {} seconds", CONNECT_TIME.as_secs())
        } else if error.is_timeout() {
            format!("it sent nothing for {} seconds", self.silence.as_secs())
        } else {
            // The address may have a password in it.
            shortened(&error_with_causes(&error.without_url()), 300)
        };
        HubFailure::new(reason, REACH)
    }
}

impl Facts {
    /// Adds the facts in these headers that earlier answers of the Hub did not give.
    fn learn(&mut self, headers: &HeaderMap) {
        let text = |name: &HeaderName| headers.get(name)?.to_str().ok().map(plain_etag);
        let is_sha256 = |etag: &String| etag.len() == 64 && etag.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.commit = self.commit.take().or_else(|| text(&COMMIT));
        self.size = self.size.or_else(|| text(&LINKED_SIZE)?.parse().ok());
        self.sha256 = self.sha256.take().or_else(|| text(&LINKED_ETAG).filter(is_sha256));
        self.etag = self.etag.take().or_else(|| text(&LINKED_ETAG)).or_else(|| text(&ETAG));
    }
}

/// A validator in lower case, without its quotes and the mark `W/` of weak ones (RFC 9110, section 8.8.3).
fn plain_etag(etag: &str) -> String {
    etag.trim().trim_start_matches("W/").trim_matches('"').to_lowercase()
}

/// The position of an answer's first byte in the file.
pub(super) fn first_byte(response: &Response) -> u64 {
    let range =
        response.headers().get(CONTENT_RANGE).filter(|_| response.status() == StatusCode::PARTIAL_CONTENT);
    let range = range.and_then(|range| range.to_str().ok()).and_then(|range| range.strip_prefix("bytes "));
    range.and_then(|range| range.split('-').next()?.parse().ok()).unwrap_or_default()
}

/// The size of the whole file that an answer belongs to.
fn size(response: &Response) -> Option<u64> {
    if response.status() != StatusCode::PARTIAL_CONTENT {
        return response.content_length();
    }
    response.headers().get(CONTENT_RANGE)?.to_str().ok()?.rsplit('/').next()?.parse().ok()
}

fn redirection(response: &Response, from: &Url) -> Result<Url, HubFailure> {
    let place = response.headers().get(LOCATION).and_then(|place| place.to_str().ok());
    let url = place.and_then(|place| from.join(place).ok());
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| HubFailure::new("it redirects to no address", WRONG_PLACE))
}

fn refusal(status: StatusCode) -> HubFailure {
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => TOKEN,
        StatusCode::NOT_FOUND => WRONG_PLACE,
        _ => REACH,
    };
    HubFailure::new(format!("it answered with status {}", status.as_u16()), hint)
}

fn client(endpoint: &Url, silence: Duration) -> Result<Client, HubFailure> {
    // Fails if another provider was installed before, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = match builder(endpoint, silence).build() {
        // Plain HTTP works without certificates.
        Err(_) if endpoint.scheme() == "http" => builder(endpoint, silence).tls_certs_only([]).build(),
        built => built,
    };
    client.map_err(|error| HubFailure::new(error_with_causes(&error.without_url()), REACH))
}

fn builder(endpoint: &Url, silence: Duration) -> ClientBuilder {
    // Redirections are followed here: the Hub's own answer has the digest, and the token stays with the Hub.
    let builder = Client::builder().redirect(redirect::Policy::none());
    let builder = builder.connect_timeout(CONNECT_TIME).read_timeout(silence).user_agent("m3");
    // Proxies are taken from the environment, but no proxy can reach servers on this machine.
    let is_here = endpoint.host_str().is_some_and(|host| {
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    });
    if is_here { builder.no_proxy() } else { builder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_says_the_digest_and_the_store_does_not_change_it() {
        let headers = |pairs: &[(&'static str, &str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
                .collect::<HeaderMap>()
        };
        let digest = "a".repeat(64);
        let mut facts = Facts::default();
        facts.learn(&headers(&[
            ("etag", "\"of-the-redirection\""),
            ("x-linked-etag", &format!("\"{digest}\"")),
            ("x-linked-size", "90"),
            ("x-repo-commit", "c0ffee"),
        ]));
        facts.learn(&headers(&[("x-linked-etag", "\"b\""), ("x-linked-size", "7"), ("x-repo-commit", "d")]));
        assert_eq!(facts.sha256.as_deref(), Some(&*digest));
        assert_eq!((facts.size, facts.commit.as_deref()), (Some(90), Some("c0ffee")));
        // The validator of a small file is not a SHA-256.
        let mut facts = Facts::default();
        facts.learn(&headers(&[("etag", "W/\"8f3c\"")]));
        assert_eq!((facts.etag.as_deref(), facts.sha256), (Some("8f3c"), None));
    }
}
