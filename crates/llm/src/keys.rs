//! Keys of providers: from the environment, or from `.env` in the current folder.
//!
//! A key is sent only to the provider it belongs to. An address from the user gets a key only if the user names its
//! variable ([`Keys::from_variable`]), because anybody may be listening there.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use m3_support::text::shortened;

/// The variable for the key of any provider, which takes precedence over the provider's own variables.
pub const KEY_VARIABLE: &str = "M3_LLM_KEY";

/// The largest `.env` that is read, in bytes.
const MAX_DOTENV: u64 = 1 << 20;

/// A key. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key in a text, without the space around it; `None` if it is empty.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The key itself, for sending it or searching for it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(***)")
    }
}

/// A variable that the user named does not hold a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{variable}` is not set\nhint: set it in the environment, or in `.env` in this folder")]
pub struct KeyError {
    /// The variable.
    pub variable: String,
}

/// The keys in the environment and in `.env`.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    dotenv: HashMap<String, Key>,
    warning: Option<String>,
}

impl Keys {
    /// Reads `.env` in the current folder, if it is there.
    #[must_use]
    pub fn load() -> Self {
        Self::read(Path::new(".env"))
    }

    /// Reads a file of variables, if it is there.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let mut keys = Self::default();
        let problem = match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return keys,
            Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_DOTENV => None,
            Ok(_) => Some("it is no small file".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = problem {
            keys.warning = Some(format!("`{}` is left aside: {problem}", path.display()));
            return keys;
        }
        // The message does not quote the broken line, which may hold a key.
        let mut broken = false;
        match dotenvy::from_path_iter(path) {
            Ok(variables) => {
                for variable in variables {
                    match variable {
                        Ok((name, value)) => {
                            if let Some(key) = Key::new(&value) {
                                keys.dotenv.entry(name).or_insert(key);
                            }
                        }
                        Err(dotenvy::Error::LineParse(..)) => broken = true,
                        Err(_) => {
                            broken = true;
                            break;
                        }
                    }
                }
            }
            Err(_) => broken = true,
        }
        if broken {
            keys.warning = Some(format!(
                "`{}` has lines that cannot be read; the others are used\nhint: a line is `NAME=value`, with quotes \
                 around a value with spaces",
                path.display()
            ));
        }
        keys
    }

    /// A problem with the file, described without its content.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The value of a variable, from the environment or else from the file. An empty value counts as missing.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<Key> {
        let given = std::env::var(variable).ok();
        given.as_deref().and_then(Key::new).or_else(|| self.dotenv.get(variable).cloned())
    }

    /// The key in a variable that the user names, for any address.
    ///
    /// # Errors
    /// [`KeyError`] where it is not set.
    pub fn from_variable(&self, variable: &str) -> Result<Key, KeyError> {
        self.get(variable).ok_or_else(|| KeyError { variable: shortened(variable, 100) })
    }

    /// The first key in these variables.
    pub(super) fn first_of(&self, variables: &[&str]) -> Option<Key> {
        variables.iter().find_map(|variable| self.get(variable))
    }
}

/// The key in a variable that the user names, from the environment or `.env` in the current folder.
///
/// # Errors
/// [`KeyError`] where it is not set.
pub fn key_from(variable: &str) -> Result<Key, KeyError> {
    Keys::load().from_variable(variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_what_the_environment_has_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        assert_eq!(Keys::read(&path).warning(), None);
        std::fs::write(&path, "# keys\nM3_TEST_A='a key'\nexport M3_TEST_B=b\nPATH='not this'\nM3_TEST_C=\n")
            .unwrap();
        let keys = Keys::read(&path);
        assert_eq!(keys.warning(), None);
        assert_eq!(keys.get("M3_TEST_A"), Key::new("a key"));
        assert_eq!(keys.first_of(&["M3_TEST_C", "M3_TEST_B", "M3_TEST_A"]), Key::new("b"));
        assert_ne!(keys.get("PATH"), Key::new("not this"));
        let error = keys.from_variable("M3_TEST_C").unwrap_err();
        assert!(error.to_string().contains("`M3_TEST_C` is not set"), "{error}");
    }

    #[test]
    fn a_broken_file_is_told_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        std::fs::write(&path, "M3_TEST_A=sk-secret spaced\nM3_TEST_B=b\n'sk-other\n").unwrap();
        let keys = Keys::read(&path);
        let warning = keys.warning().unwrap();
        assert!(warning.contains("cannot be read") && !warning.contains("sk-"), "{warning}");
        assert_eq!(keys.get("M3_TEST_B"), Key::new("b"));
        assert!(!format!("{keys:?}").contains("sk-"));
        std::fs::write(&path, b"M3_TEST_A=\xff\xfe\nM3_TEST_B=b\n").unwrap();
        assert!(Keys::read(&path).warning().is_some());
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(Keys::read(&path).warning().unwrap().contains("no small file"));
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::new(" sk-123\n").unwrap();
        assert_eq!((format!("{key:?}").as_str(), key.expose()), ("Key(***)", "sk-123"));
        assert_eq!(Key::new(" \n"), None);
    }
}
