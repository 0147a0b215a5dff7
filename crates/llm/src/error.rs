//! Why a model cannot be asked, or gave no answer.

use std::path::PathBuf;

use m3_support::text::counted;

use super::cassette::CassetteError;
use super::wires::says_no_images;
use super::{KeyError, ModelNameError, Refusal};

/// Why a model cannot be asked, or gave no answer. No message contains a key.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The provider requires a key, and there is none.
    #[error(
        "there is no key for `{model}`\nhint: set {variables} in the environment, or in `.env` in this folder"
    )]
    NoKey {
        /// The model.
        model: String,
        /// The variables that may hold the key, in words.
        variables: String,
    },
    /// The key cannot be sent.
    #[error("the key for `{model}` cannot be sent: it holds characters that no header may have")]
    UnusableKey {
        /// The model.
        model: String,
    },
    /// The variable that should hold the key holds no usable one.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The address cannot be used.
    #[error("`{url}` cannot be asked: {reason}")]
    Address {
        /// The base address.
        url: String,
        /// Why not.
        reason: String,
    },
    /// There was no reply, after all tries that were worth it.
    #[error("`{model}` gave no reply{}: {reason}", times(*tries))]
    NoReply {
        /// The model.
        model: String,
        /// The HTTP status of the last try, if there was an answer.
        status: Option<u16>,
        /// How often the model was asked.
        tries: u32,
        /// Why the provider would refuse any other request as well; `None` if it may accept others.
        refusal: Option<Refusal>,
        /// How the last try ended, and why it was the last.
        reason: String,
    },
    /// The prompt did not fit the model's context: the same request will never get a reply.
    #[error("`{model}` gave no reply, for the prompt does not fit its context: {reason}")]
    ContextOverflow {
        /// The model.
        model: String,
        /// The provider's message.
        reason: String,
    },
    /// The cassette has no answer to this request.
    #[error("the cassette `{}` has no answer to this request: {reason}", path.display())]
    NotRecorded {
        /// The cassette.
        path: PathBuf,
        /// How the request differs from the nearest recorded one, or for which task that was recorded; and what to do.
        reason: String,
    },
    /// The cassette was recorded with a model whose name this version cannot read.
    #[error("the cassette `{}` is of no model that is known: {source}", path.display())]
    CassetteModel {
        /// The cassette.
        path: PathBuf,
        /// The problem with the name.
        #[source]
        source: ModelNameError,
    },
    /// The request cannot be recorded any more.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
}

impl ModelError {
    /// Whether no request will get a reply, even if others were answered before: the account is empty, or its limit
    /// is used up for longer than any request waits.
    #[must_use]
    pub fn is_of_used_account(&self) -> bool {
        matches!(self, Self::NoReply { refusal: Some(Refusal::EmptyAccount | Refusal::Later), .. })
    }

    /// Whether the model, or its server, takes no images.
    #[must_use]
    pub fn refuses_images(&self) -> bool {
        matches!(self, Self::NoReply { reason, .. } if says_no_images(reason))
    }
}

fn times(tries: u32) -> String {
    if tries > 1 { format!(" in {}", counted(tries, "try")) } else { String::new() }
}
