//! What can be said of a call.

/// What became of a call; exactly one for each call that is judged, the first that fits in this order
/// (M³-Bench, section 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It is no call of the protocol: without a name, or with arguments that are no object.
    IllegalFormat,
    /// The tool does not exist or was not offered.
    UnknownTool,
    /// The tool does not take these arguments.
    InvalidArguments,
    /// The call was right, and the backend did not have or give what was asked for.
    ResourceNotFound,
    /// The tool ran and gave a normal result.
    Success,
}

/// Why a call has no outcome: nothing answered it, or its image was not there, and that says nothing about the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotJudged {
    /// Its server could not be started, or is not in the configuration.
    ServerNotAvailable,
    /// No answer came in time.
    TimedOut,
    /// The server ended, or the connection broke, while it was called.
    ServerLost,
    /// What it answered cannot be read, or is too large.
    Unreadable,
    /// It failed, and the image that it or an earlier call needed was not found for the replay.
    ImageMissing,
}

/// An outcome, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The outcome.
    Outcome(Outcome),
    /// The call fits its schema, and nobody was asked: neither success nor failure.
    NotExecuted,
    /// Why there is none.
    NotJudged(NotJudged),
}

/// How much a rule can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// The evidence says it.
    Sure,
    /// Nothing better was found: a reader, or a language model, may decide otherwise.
    Unsure,
    /// A language model was asked, and decided.
    Asked,
}

/// A rule that decides.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, which stands beside every call that it decided.
    pub name: &'static str,
    /// What it decides.
    pub verdict: Verdict,
    /// How sure it is.
    pub confidence: Confidence,
    /// When it applies, in words.
    pub applies: &'static str,
}

impl Outcome {
    /// All of them, in the order in which they are decided.
    pub const ALL: [Self; 5] = [
        Self::IllegalFormat,
        Self::UnknownTool,
        Self::InvalidArguments,
        Self::ResourceNotFound,
        Self::Success,
    ];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IllegalFormat => "illegal_format",
            Self::UnknownTool => "unknown_tool",
            Self::InvalidArguments => "invalid_arguments",
            Self::ResourceNotFound => "resource_not_found",
            Self::Success => "success",
        }
    }

    /// Its place in [`Outcome::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl NotJudged {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ServerNotAvailable, Self::TimedOut, Self::ServerLost, Self::Unreadable, Self::ImageMissing];

    /// The reason of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.name() == name)
    }

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ServerNotAvailable => "server_not_available",
            Self::TimedOut => "timed_out",
            Self::ServerLost => "server_lost",
            Self::Unreadable => "unreadable",
            Self::ImageMissing => "image_missing",
        }
    }

    /// Its place in [`NotJudged::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl Verdict {
    /// The outcome, if there is one.
    #[must_use]
    pub fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Outcome(outcome) => Some(outcome),
            Self::NotExecuted | Self::NotJudged(_) => None,
        }
    }

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Outcome(outcome) => outcome.name(),
            Self::NotExecuted => "not_executed",
            Self::NotJudged(why) => why.name(),
        }
    }
}

impl Confidence {
    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Unsure => "unsure",
            Self::Asked => "asked",
        }
    }
}

impl Rule {
    /// A rule that is sure of an outcome.
    pub(super) const fn sure(name: &'static str, outcome: Outcome, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::Outcome(outcome), confidence: Confidence::Sure, applies }
    }

    /// A rule that is not.
    pub(super) const fn unsure(name: &'static str, outcome: Outcome, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::Outcome(outcome), confidence: Confidence::Unsure, applies }
    }

    /// What a language model decided.
    pub(super) const fn asked(name: &'static str, outcome: Outcome, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::Outcome(outcome), confidence: Confidence::Asked, applies }
    }

    /// A rule over what nobody was asked.
    pub(super) const fn not_executed(name: &'static str, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::NotExecuted, confidence: Confidence::Sure, applies }
    }

    /// A rule that says why there is no outcome.
    pub(super) const fn no_answer(name: &'static str, why: NotJudged, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::NotJudged(why), confidence: Confidence::Sure, applies }
    }
}
