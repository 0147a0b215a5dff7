//! Posts HTTP requests: one client, answers of limited size, no redirects. What an answer means is decided elsewhere.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use m3_support::text::{error_with_causes, shortened};
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use reqwest::{Client, ClientBuilder, Url, redirect};
use rustls::CertificateError;
use tokio::time::timeout;

use super::aws::{self, AwsCredentials, Credentials, SignedPost};
use super::wires::Wire;
use super::{ModelError, ModelName};

/// The media type of requests.
const JSON: &str = "application/json";

/// The longest answer, in bytes.
const MAX_BODY: usize = 64 << 20;

/// The time limit for reaching a server; its answer may take much longer.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// A more precise header that some providers send besides `retry-after`.
const RETRY_AFTER_MS: &str = "retry-after-ms";

/// The hint for a certificate that no known authority has signed.
const UNKNOWN_ISSUER: &str = "\nhint: the certificate of the server, or of a proxy before it, is signed by nobody that \
                              this machine trusts; add that authority to those of the system, or on Linux name a \
                              file of PEM certificates in `SSL_CERT_FILE`";

/// The hint for a certificate for another name.
const OTHER_NAME: &str = "\nhint: the certificate is for another name; ask the server by a name that the certificate \
                          has, and see whether a proxy answers in its place";

/// The hint for a certificate that is not valid now.
const OTHER_TIME: &str = "\nhint: the certificate is not valid now; whoever runs the server has to renew it, unless the \
                          clock of this machine is wrong";

/// The hint for a revoked certificate.
const REVOKED: &str = "\nhint: the certificate was revoked; whoever runs the server has to replace it";

/// Posts requests to one address.
#[derive(Debug)]
pub(super) struct Poster {
    client: Client,
    base_url: String,
    headers: HeaderMap,
    signer: Option<Signer>,
}

/// Signs each request with an access key.
#[derive(Debug)]
struct Signer {
    credentials: AwsCredentials,
    service: &'static str,
    region: String,
    /// The host and the path of the base address.
    host: String,
    base_path: String,
}

impl Signer {
    fn headers(&self, path: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        let path = format!("{}/{path}", self.base_path);
        self.credentials.headers(&SignedPost {
            service: self.service,
            region: &self.region,
            host: &self.host,
            path: &path,
            body,
            content_type: JSON,
            time: SystemTime::now(),
        })
    }
}

/// A server's answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The headers that decide the next action.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NoAnswer {
    pub(super) reason: String,
    pub(super) is_worth_retrying: bool,
    /// The HTTP status, if an answer had begun but could not be read to its end.
    pub(super) status: Option<u16>,
}

impl Poster {
    /// # Errors
    /// [`ModelError`] where the address or the key cannot be used.
    pub(super) fn new(
        name: &ModelName,
        wire: &dyn Wire,
        credentials: Option<&Credentials>,
    ) -> Result<Self, ModelError> {
        let base_url = name.address().into_owned();
        let unusable = |reason: String| ModelError::Address { url: shortened(&base_url, 200), reason };
        let url: Url = base_url.parse().map_err(|error| unusable(format!("{error}")))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let unusable_key = || ModelError::UnusableKey { model: name.to_string() };
        let key = match credentials {
            Some(Credentials::Key(key)) => Some(key.expose()),
            _ => None,
        };
        insert_all(&mut headers, wire.headers(key)).map_err(|_| unusable_key())?;
        let signer = signer(&url, wire, credentials);
        if let Some(signer) = &signer {
            // An access key that no header can hold is refused here, not at the first request.
            insert_all(&mut HeaderMap::new(), signer.headers("", &[])).map_err(|_| unusable_key())?;
        }
        // The call fails if another provider of cryptography was installed before, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = match builder(&url).build() {
            // Plain HTTP works without certificates.
            Err(_) if url.scheme() == "http" => builder(&url).tls_certs_only([]).build(),
            built => built,
        };
        let client = client.map_err(|error| unusable(error_with_causes(&error)))?;
        Ok(Self { client, base_url, headers, signer })
    }

    /// Posts a body and reads the whole answer, whatever its status.
    pub(super) async fn post(&self, path: &str, body: Bytes, limit: Duration) -> Result<Answer, NoAnswer> {
        let url = format!("{}/{path}", self.base_url);
        let mut headers = self.headers.clone();
        if let Some(signer) = &self.signer {
            // A header of this form was tried when the model was opened.
            let _ = insert_all(&mut headers, signer.headers(path, &body));
        }
        let request = self.client.post(url).headers(headers).body(body);
        match timeout(limit, read(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(NoAnswer {
                reason: format!("there was no whole answer within {limit:?}"),
                is_worth_retrying: true,
                status: None,
            }),
        }
    }
}

/// The signer of requests to this address, if they are signed.
fn signer(url: &Url, wire: &dyn Wire, credentials: Option<&Credentials>) -> Option<Signer> {
    let (Some(service), Some(Credentials::Aws(credentials))) = (wire.signing_name(), credentials) else {
        return None;
    };
    let host = url.host_str()?;
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let (credentials, region) = (credentials.clone(), aws::region());
    let base_path = url.path().trim_end_matches('/').to_owned();
    Some(Signer { credentials, service, region, host, base_path })
}

/// Adds headers that are not shown anywhere.
fn insert_all(headers: &mut HeaderMap, added: Vec<(&'static str, String)>) -> Result<(), InvalidHeaderValue> {
    for (name, value) in added {
        let mut value = HeaderValue::from_str(&value)?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(())
}

fn builder(url: &Url) -> ClientBuilder {
    let builder = Client::builder()
        // After a redirect the key must not be sent on, and a POST would become a GET.
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIME);
    if !is_loopback(url) {
        return builder;
    }
    // Proxies are taken from the environment, but no proxy can reach servers on this machine.
    let builder = builder.no_proxy();
    // Plain HTTP without a proxy needs no certificates: reading those of the system takes longer than the start of a
    // run.
    if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder }
}

async fn read(request: reqwest::RequestBuilder) -> Result<Answer, NoAnswer> {
    let mut response = request.send().await.map_err(no_answer)?;
    let status = response.status().as_u16();
    let too_large = || NoAnswer {
        reason: format!("the answer is larger than {MAX_BODY} bytes"),
        is_worth_retrying: false,
        status: Some(status),
    };
    if response.content_length().is_some_and(|length| length > MAX_BODY as u64) {
        return Err(too_large());
    }
    let headers = [RETRY_AFTER.as_str(), RETRY_AFTER_MS, LOCATION.as_str()]
        .into_iter()
        .filter_map(|name| {
            let value = String::from_utf8_lossy(response.headers().get(name)?.as_bytes()).into_owned();
            Some((name.to_owned(), shortened(&value, 200)))
        })
        .collect();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(no_answer)? {
        if body.len() + chunk.len() > MAX_BODY {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, headers, body })
}

fn no_answer(error: reqwest::Error) -> NoAnswer {
    let untrusted = untrusted(&error).map(hint);
    let is_worth_retrying = !error.is_builder() && untrusted.is_none();
    // The address is known already, and may contain secrets.
    let error = error.without_url();
    let mut reason = shortened(&error_with_causes(&error), 300);
    reason.push_str(untrusted.unwrap_or_default());
    NoAnswer { reason, is_worth_retrying, status: None }
}

/// The certificate error, if this is the problem: trying again does not help.
fn untrusted<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e CertificateError> {
    if let Some(rustls::Error::InvalidCertificate(wrong)) = error.downcast_ref() {
        return Some(wrong);
    }
    // The error inside an I/O error is not its source.
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match inner {
        Some(inner) => untrusted(inner),
        None => error.source().and_then(untrusted),
    }
}

/// The hint for a certificate error; empty if there is no advice.
fn hint(wrong: &CertificateError) -> &'static str {
    use CertificateError as Wrong;
    match wrong {
        Wrong::UnknownIssuer => UNKNOWN_ISSUER,
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => OTHER_NAME,
        Wrong::Expired
        | Wrong::ExpiredContext { .. }
        | Wrong::NotValidYet
        | Wrong::NotValidYetContext { .. } => OTHER_TIME,
        Wrong::Revoked => REVOKED,
        _ => "",
    }
}

/// How long the server wants to be left alone, by the headers of its answer: `Retry-After` (RFC 9110, section 10.2.3)
/// has seconds or a date; `retry-after-ms` goes first.
pub(super) fn retry_after(headers: &BTreeMap<String, String>, now: SystemTime) -> Option<Duration> {
    let milliseconds = headers.get(RETRY_AFTER_MS).and_then(|text| text.trim().parse::<f64>().ok());
    match milliseconds.filter(|milliseconds| *milliseconds >= 0.0) {
        Some(milliseconds) => {
            Some(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX))
        }
        None => m3_support::retry_after::retry_after(headers.get(RETRY_AFTER.as_str())?, now),
    }
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let is_local =
            host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost");
        is_local || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_seconds_milliseconds_or_as_a_date() {
        // The same moment in the three formats of RFC 9110, section 5.6.7.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 - 30);
        for (header, text, expected) in [
            ("retry-after", "120", Some(Duration::from_mins(2))),
            ("retry-after", " 1.5 ", Some(Duration::from_millis(1500))),
            ("retry-after", "0", Some(Duration::ZERO)),
            ("retry-after", "1e300", Some(Duration::MAX)),
            ("retry-after", "-5", None),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::from_secs(30))),
            ("retry-after", "Sunday, 06-Nov-94 08:49:37 GMT", Some(Duration::from_secs(30))),
            ("retry-after", "Sun Nov  6 08:49:37 1994", Some(Duration::from_secs(30))),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(Duration::ZERO)),
            ("retry-after-ms", "250", Some(Duration::from_millis(250))),
        ] {
            let headers = BTreeMap::from([(header.to_owned(), text.to_owned())]);
            assert_eq!(retry_after(&headers, now), expected, "{text}");
        }
        assert_eq!(retry_after(&BTreeMap::new(), now), None);
    }

    #[test]
    fn each_fault_of_a_certificate_gets_its_own_hint() {
        use rustls::pki_types::{ServerName, UnixTime};
        let (now, past) =
            (UnixTime::since_unix_epoch(Duration::from_secs(2)), UnixTime::since_unix_epoch(Duration::ZERO));
        let expected = ServerName::try_from("a.example").unwrap();
        let other_name = CertificateError::NotValidForNameContext { expected, presented: Vec::new() };
        for (wrong, words) in [
            (CertificateError::UnknownIssuer, "`SSL_CERT_FILE`"),
            (other_name, "for another name"),
            (CertificateError::ExpiredContext { time: now, not_after: past }, "not valid now"),
            (CertificateError::NotValidYetContext { time: past, not_before: now }, "not valid now"),
            (CertificateError::Revoked, "revoked"),
        ] {
            let hint = hint(&wrong);
            assert!(hint.starts_with("\nhint: ") && hint.contains(words), "{wrong}: {hint}");
        }
        assert_eq!(hint(&CertificateError::BadEncoding), "");
        // As it really occurs: inside an I/O error that is the source of others.
        let error =
            io::Error::other(io::Error::other(rustls::Error::InvalidCertificate(CertificateError::Revoked)));
        assert_eq!(untrusted(&error), Some(&CertificateError::Revoked));
        assert_eq!(untrusted(&io::Error::other("no route")), None);
    }

    #[test]
    fn this_machine_is_told_from_others() {
        for (url, expected) in [
            ("http://127.0.0.1:8000/v1", true),
            ("http://[::1]/v1", true),
            ("http://LOCALHOST:1", true),
            ("http://10.0.0.1/v1", false),
            ("https://localhost.example/v1", false),
        ] {
            assert_eq!(is_loopback(&url.parse().unwrap()), expected, "{url}");
        }
    }
}
