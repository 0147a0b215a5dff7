//! Credentials of Amazon Web Services and the signatures that they make: AWS Signature Version 4, as the IAM user guide defines it
//! ("Create a signed AWS API request").

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use m3_support::text::hexadecimal;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ring::hmac;
use sha2::{Digest as _, Sha256};

use super::{Key, Keys};

/// The variables of an access key, in the order that error messages name them.
pub(crate) const ACCESS_KEY_VARIABLES: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

/// The variable of the token that belongs to a temporary access key.
const SESSION_TOKEN_VARIABLE: &str = "AWS_SESSION_TOKEN";

/// The variables that may name the region, and the region without any.
const REGION_VARIABLES: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
const DEFAULT_REGION: &str = "us-east-1";

/// The characters that are escaped in a segment of a path: all but the unreserved ones of RFC 3986.
pub(crate) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// An access key. It is never shown.
#[derive(Debug, Clone)]
pub(crate) struct AwsCredentials {
    access_key: Key,
    secret_key: Key,
    session_token: Option<Key>,
}

/// The credentials by which m3 asks a provider.
#[derive(Debug, Clone)]
pub(crate) enum Credentials {
    /// A key, sent in a header.
    Key(Key),
    /// An access key, which signs each request.
    Aws(AwsCredentials),
}

impl Credentials {
    /// The secrets, which must not be shown.
    pub(crate) fn secrets(&self) -> Vec<&str> {
        match self {
            Self::Key(key) => vec![key.expose()],
            Self::Aws(credentials) => credentials.secrets().map(Key::expose).collect(),
        }
    }
}

/// A POST of JSON that is signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignedPost<'a> {
    /// The service, such as `bedrock`.
    pub(crate) service: &'a str,
    /// The region, such as `eu-west-1`.
    pub(crate) region: &'a str,
    /// The host as the header `host` has it.
    pub(crate) host: &'a str,
    /// The path as it is sent, with a slash in front.
    pub(crate) path: &'a str,
    /// The body.
    pub(crate) body: &'a [u8],
    /// The header `content-type`.
    pub(crate) content_type: &'a str,
    /// The time at which it is sent; servers accept five minutes of difference.
    pub(crate) time: SystemTime,
}

/// The region that the environment or `.env` names. A name with other characters than letters, digits and `-` is
/// ignored, because it would lead to another host.
pub(crate) fn region() -> String {
    let region = Keys::load().first_of(&REGION_VARIABLES);
    let name = region.as_ref().map_or(DEFAULT_REGION, Key::expose);
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_name { name } else { DEFAULT_REGION }.to_owned()
}

impl AwsCredentials {
    /// The access key in the environment or `.env`.
    pub(crate) fn find(keys: &Keys) -> Option<Self> {
        let [access_key, secret_key] = ACCESS_KEY_VARIABLES.map(|variable| keys.get(variable));
        Some(Self {
            access_key: access_key?,
            secret_key: secret_key?,
            session_token: keys.get(SESSION_TOKEN_VARIABLE),
        })
    }

    /// The secrets, which must not be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Key> {
        [&self.access_key, &self.secret_key].into_iter().chain(&self.session_token)
    }

    /// The headers that sign a request.
    pub(crate) fn headers(&self, post: &SignedPost<'_>) -> Vec<(&'static str, String)> {
        let time = Timestamp::try_from(post.time).unwrap_or_default().to_zoned(TimeZone::UTC);
        let (date, time) = (time.strftime("%Y%m%d").to_string(), time.strftime("%Y%m%dT%H%M%SZ").to_string());
        let scope = format!("{date}/{}/{}/aws4_request", post.region, post.service);
        let (names, request) = self.canonical_request(post, &time);
        let hash = hexadecimal(&Sha256::digest(request));
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}");
        let first = format!("AWS4{}", self.secret_key.expose());
        let parts = [date.as_str(), post.region, post.service, "aws4_request", &to_sign];
        let signature = parts.iter().fold(first.into_bytes(), |key, part| sign(&key, part));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            self.access_key.expose(),
            hexadecimal(&signature)
        );
        let token = self.session_token.as_ref();
        let token = token.map(|token| ("x-amz-security-token", token.expose().to_owned()));
        [("x-amz-date", time), ("authorization", authorization)].into_iter().chain(token).collect()
    }

    /// The names of the signed headers, and the request in the form whose hash is signed.
    fn canonical_request(&self, post: &SignedPost<'_>, time: &str) -> (&'static str, String) {
        let mut headers =
            format!("content-type:{}\nhost:{}\nx-amz-date:{time}\n", post.content_type, post.host);
        let mut names = "content-type;host;x-amz-date";
        if let Some(token) = &self.session_token {
            headers = format!("{headers}x-amz-security-token:{}\n", token.expose());
            names = "content-type;host;x-amz-date;x-amz-security-token";
        }
        // The path is escaped as it is sent, and once more.
        let path = utf8_percent_encode(post.path, PATH);
        let hash = hexadecimal(&Sha256::digest(post.body));
        (names, format!("POST\n{path}\n\n{headers}\n{names}\n{hash}"))
    }
}

/// The characters that are escaped in a whole path: those of [`SEGMENT`] without the slash.
const PATH: &AsciiSet = &SEGMENT.remove(b'/');

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;
    use std::sync::mpsc;
    use std::time::Duration;

    use m3_testkit::raw_http::{RawRequest, answer, listen};

    use super::*;
    use crate::http::Poster;
    use crate::wires::implementation;
    use crate::{ModelName, WireKind};

    fn key(text: &str) -> Key {
        Key::new(text).unwrap()
    }

    /// The signatures are those of `botocore.auth.SigV4Auth` (botocore 1.44.8) for the same request, keys and time.
    #[test]
    fn signatures_are_those_of_the_official_sdk() {
        let post = SignedPost {
            service: "bedrock",
            region: "eu-west-1",
            host: "bedrock-runtime.eu-west-1.amazonaws.com",
            path: "/model/anthropic.claude-3-5-sonnet-20240620-v1%3A0/converse",
            body: b"{\"messages\":[]}",
            content_type: "application/json",
            // 2026-11-30T01:02:03Z
            time: SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_000_523),
        };
        for (token, names, signature) in [
            (
                None,
                "content-type;host;x-amz-date",
                "59ec2ef8c55d59cab7d73ad24297bdbb5de4d686612fd630bf378383a9a326fd",
            ),
            (
                Some("a/session+token=="),
                "content-type;host;x-amz-date;x-amz-security-token",
                "fe0fc0471e0f74ed3490e9a2be9aab3f76ac5a953f1c1d837f7e6ad27ae20b85",
            ),
        ] {
            let credentials = AwsCredentials {
                access_key: key("AKIDEXAMPLE"),
                secret_key: key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
                session_token: token.map(key),
            };
            let headers = credentials.headers(&post);
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/eu-west-1/bedrock/aws4_request, SignedHeaders={names}, \
                 Signature={signature}"
            );
            assert_eq!(headers[0], ("x-amz-date", "20261130T010203Z".to_owned()));
            assert_eq!(headers[1], ("authorization", expected));
            assert_eq!(headers.get(2).map(|(_, token)| token.as_str()), token);
            assert!(!format!("{credentials:?}").contains("wJalr"));
        }
    }

    /// The request that arrives has the signature of its own parts.
    #[tokio::test]
    async fn a_request_is_signed_as_it_is_sent() {
        let (sender, arrived) = mpsc::channel();
        let address = listen(move |stream| {
            let request = RawRequest::read(&mut BufReader::new(&stream)).unwrap();
            sender.send(request).unwrap();
            answer(&mut &stream, 200, &[], "{}");
        });
        let credentials = AwsCredentials {
            access_key: key("AKIDEXAMPLE"),
            secret_key: key("a secret of its own"),
            session_token: Some(key("a-token")),
        };
        let name = ModelName::parse(&format!("bedrock@http://{address}/stage:m:0")).unwrap();
        let aws = Credentials::Aws(credentials.clone());
        let poster = Poster::new(&name, implementation(WireKind::Bedrock), Some(&aws)).unwrap();
        let body: &[u8] = b"{\"messages\":[]}";
        poster.post("model/m%3A0/converse", body.into(), Duration::from_mins(1)).await.unwrap();
        let request = arrived.recv().unwrap();
        let header = |name: &str| request.header(name).unwrap();
        let time = Timestamp::strptime("%Y%m%dT%H%M%SZ%z", format!("{}+0000", header("x-amz-date"))).unwrap();
        let expected = credentials.headers(&SignedPost {
            service: "bedrock",
            region: &region(),
            host: &address.to_string(),
            path: "/stage/model/m%3A0/converse",
            body,
            content_type: "application/json",
            time: time.into(),
        });
        for (name, value) in expected {
            assert_eq!(header(name), value, "{name}");
        }
        assert!(!header("authorization").contains("secret"));
    }
}
