//! Which values of a configuration are secrets, never to be written anywhere.
//!
//! A server's environment variables hold keys, but also paths, languages and switches. Replacing the latter in
//! results would garble the results, so a value counts as a secret if its name says so (`API_KEY`, `TOKEN`, ...), or
//! if it looks like a key; and never if it is short, a switch, a number or, without such a name, an address.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use m3_support::names;
use percent_encoding::percent_decode_str;

/// The shortest values that are replaced, in bytes: shorter ones occur inside other words.
const MIN_LENGTH: usize = 4;

/// A run of letters and digits of at least this length may be a key.
const MIN_KEY: usize = 8;

/// Words in the names of secrets; their plurals too. `PAT` is a personal access token.
const SECRET_WORDS: [&str; 9] =
    ["KEY", "TOKEN", "SECRET", "CREDENTIAL", "AUTH", "AUTHORIZATION", "COOKIE", "SIGNATURE", "PAT"];

/// Endings of words in the names of secrets: `MYKEY`, `ACCESSTOKEN`.
const SECRET_ENDS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// Words with these endings that mean something else.
const NO_KEYS: [&str; 7] = ["MONKEY", "DONKEY", "TURKEY", "HOCKEY", "JOCKEY", "WHISKEY", "HOTKEY"];

/// Words in the names of secrets that count even if the value is a short number.
const PASSWORD_WORDS: [&str; 5] = ["PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD"];

/// Pairs of words that together name a secret: one half of a credential.
const SECRET_PAIRS: [[&str; 2]; 2] = [["APP", "ID"], ["CLIENT", "ID"]];

/// Words in the names of settings that give the file of a secret.
const FILE_WORDS: [&str; 4] = ["FILE", "PATH", "DIR", "DIRECTORY"];

/// Placeholders for missing values, and switches.
const SWITCHES: [&str; 12] = [
    "true",
    "false",
    "none",
    "null",
    "undefined",
    "auto",
    "default",
    "enabled",
    "disabled",
    "info",
    "debug",
    "warn",
];

/// Collects the secrets of one server.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// All secrets, longest first.
    pub(super) fn into_vec(mut self) -> Vec<String> {
        self.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.0.dedup();
        self.0
    }

    /// Adds a value of `env`, or of a variable that is used anywhere, if it is a secret.
    pub(super) fn variable(&mut self, name: &str, value: &str) {
        if is_secret(name, value) {
            self.0.push(value.to_owned());
        }
        self.address(value);
    }

    /// Adds a value from a file that is meant for secrets: it counts as if its name said so.
    pub(super) fn in_file(&mut self, name: &str, value: &str) {
        if is_secret("KEY", value) {
            self.0.push(value.to_owned());
        }
        self.variable(name, value);
    }

    /// Adds a header's value, if it is a secret.
    pub(super) fn header(&mut self, name: &str, value: &str) {
        if !is_secret(name, value) {
            return;
        }
        self.0.push(value.to_owned());
        // In `Bearer TOKEN` the token alone is secret too; in `Basic BASE64` so is the password in it.
        let Some((scheme, token)) = value.split_once(' ') else { return };
        let token = token.trim();
        self.credential(token);
        if scheme.eq_ignore_ascii_case("basic")
            && let Ok(decoded) = BASE64.decode(token)
            && let Ok(pair) = String::from_utf8(decoded)
            && let Some((_, password)) = pair.split_once(':')
        {
            self.credential(password);
        }
    }

    /// Adds the secrets of an address: the password before its host, and keys in its query.
    pub(super) fn address(&mut self, address: &str) {
        let Some((_, rest)) = address.split_once("://") else { return };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if let Some((user, _)) = authority.rsplit_once('@') {
            let password = user.split_once(':').map_or(user, |(_, password)| password);
            self.credential(password);
            // The server sees the decoded password.
            self.credential(&percent_decode_str(password).decode_utf8_lossy());
        }
        let query = rest.split_once('?').map_or("", |(_, query)| query);
        for pair in query.split(['&', '#']) {
            if let Some((name, value)) = pair.split_once('=')
                && is_secret(name, value)
            {
                self.credential(value);
            }
        }
    }

    /// Adds the secrets in the arguments of a command: `--api-key VALUE` and `--api-key=VALUE`; `NAME=VALUE`, as
    /// after `-e` of `docker run`; `Name: value`, as after `--header`.
    pub(super) fn arguments(&mut self, arguments: &[String]) {
        for (index, argument) in arguments.iter().enumerate() {
            self.address(argument);
            if let Some((name, value)) = argument.split_once(": ") {
                let name = name.rsplit('=').next().unwrap_or(name);
                self.header(name, value.trim());
            }
            if !argument.starts_with('-') {
                if let Some((name, value)) = argument.split_once('=') {
                    self.variable(name, value);
                }
                continue;
            }
            // For example `--env=NAME=VALUE`.
            if let Some((name, value)) = argument.split_once('=').and_then(|(_, rest)| rest.split_once('=')) {
                self.variable(name, value);
            }
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument.as_str(), arguments.get(index + 1).map(String::as_str)),
            };
            if let Some(value) = value.filter(|value| !value.starts_with('-') && is_secret(name, value)) {
                self.credential(value);
            }
        }
    }

    fn credential(&mut self, value: &str) {
        if value.len() >= MIN_LENGTH {
            self.0.push(value.to_owned());
        }
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    if value.len() < MIN_LENGTH || SWITCHES.iter().any(|word| value.eq_ignore_ascii_case(word)) {
        return false;
    }
    let words = words(name);
    let names_a_file =
        || is_path(value) && (words.iter().any(|word| has(&FILE_WORDS, word)) || Path::new(value).exists());
    if words.iter().any(|word| has(&PASSWORD_WORDS, word)) {
        return !names_a_file();
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_pair = |pair: &[String]| SECRET_PAIRS.iter().any(|secret| pair == secret);
    let is_secret_word = |word: &String| has(&SECRET_WORDS, word) || ends_like_a_secret(word);
    if words.iter().any(is_secret_word) || words.windows(2).any(is_pair) {
        // `MAX_TOKENS=4096` is a number, `KEY_FILE=/path` gives the file of a secret.
        return !(names_a_file() || is_number && value.len() < MIN_KEY);
    }
    !value.contains("://") && !is_path(value) && looks_like_a_key(value)
}

fn has(secrets: &[&str], word: &str) -> bool {
    secrets.contains(&word) || word.strip_suffix('S').is_some_and(|word| secrets.contains(&word))
}

fn ends_like_a_secret(word: &str) -> bool {
    let word = word.strip_suffix('S').unwrap_or(word);
    !NO_KEYS.contains(&word) && SECRET_ENDS.iter().any(|end| word.ends_with(end))
}

/// The words of `API_KEY`, `api-key` and `apiKey`, in capital letters.
fn words(name: &str) -> Vec<String> {
    names::words(name, |c| !c.is_alphanumeric()).iter().map(|word| word.to_uppercase()).collect()
}

fn is_path(value: &str) -> bool {
    let starts = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    let bytes = value.as_bytes();
    let is_windows =
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\';
    // Base64 may start with a slash too; a path has another one, or a dot.
    is_windows || (starts && (value[1..].contains('/') || value.contains('.')))
}

/// Whether letters and digits are mixed in one run, unlike in words, dates and versions.
fn looks_like_a_key(value: &str) -> bool {
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        run.len() >= MIN_KEY
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_looks_tell_secrets_from_settings() {
        for (name, value) in [
            ("TMDB_API_KEY", "abcdef"),
            ("TMDB_ACCESS_TOKEN", "eyJhbGciOi.J9"),
            ("apiKey", "word"),
            ("MYKEY", "words"),
            ("OPENAIKEYS", "words"),
            ("GITHUB_PAT", "words"),
            ("accesstoken", "words"),
            ("EDAMAM_APP_ID", "1a2b3c4d"),
            ("REDDIT_CLIENT_ID", "some-words"),
            ("DB_PASSWORD", "123456"),
            ("SERVICE_KEY", "/9j4AAQSkZJRgABAQ"),
            ("SERVICE_KEY", "123456789"),
            ("ANYTHING", "sk-proj-a1B2c3D4e5"),
            ("CREDENTIALS", "user:words"),
            ("AWS_SECRET_ACCESS_KEY", "/bPxRfiCYEXAMPLE/K7MDENG"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("API_KEY", ""),
            ("API_KEY", "abc"),
            ("API_KEY", "none"),
            ("USE_TOKEN", "true"),
            ("MAX_TOKENS", "4096"),
            ("KEY_FILE", "/folder/keys/key.pem"),
            ("KEY_FILE", "keys/../key.pem".trim_start_matches("keys/")),
            ("KEYBOARD", "german"),
            ("MONKEY", "banana"),
            ("TURKEYS", "many"),
            ("TOKENIZERS_PARALLELISM", "never"),
            ("PATTERN", "dots"),
            ("AUTHOR", "somebody"),
            ("LANG", "en_US.UTF-8"),
            ("OUTPUT_DIR", "./media"),
            ("MODEL", "gpt-4o-mini-2024-07-18"),
            ("ELASTICSEARCH_URL", "https://search.example.org/backend1234abcd"),
            ("REGION", "us-east-1"),
            ("LIMIT", "1234567890"),
            ("PATH", "/usr/bin:/bin"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn the_parts_of_headers_addresses_and_arguments_are_secret() {
        let mut secrets = Secrets::default();
        secrets.header("Authorization", "Bearer tokentoken");
        // The value is the output of `printf 'user:passpass' | base64`.
        secrets.header("authorization", "Basic dXNlcjpwYXNzcGFzcw==");
        secrets.header("Accept", "application/json");
        secrets.address("https://user:inaddress@host/path?api_key=inquery&page=1234");
        let arguments =
            ["-y", "--api-key", "asargument", "--token=withequals", "--port", "8080", "--verbose"];
        secrets.arguments(&arguments.map(str::to_owned));
        let arguments = [
            "-e",
            "SEARCH_API_KEY=inpair",
            "--header",
            "Authorization: Bearer inheader",
            "--env=A_KEY=inenv",
        ];
        secrets.arguments(&arguments.map(str::to_owned));
        secrets.address("https://user:p%40ssed@host/");
        let mut secrets = secrets.into_vec();
        secrets.sort();
        assert_eq!(
            secrets,
            [
                "Basic dXNlcjpwYXNzcGFzcw==",
                "Bearer inheader",
                "Bearer tokentoken",
                "asargument",
                "dXNlcjpwYXNzcGFzcw==",
                "inaddress",
                "inenv",
                "inheader",
                "inpair",
                "inquery",
                "p%40ssed",
                "p@ssed",
                "passpass",
                "tokentoken",
                "withequals"
            ]
        );
    }
}
