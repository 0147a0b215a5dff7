//! The outcomes of calls, and the rules that decide them.

/// The outcome of a call. Each call that is judged has exactly one, the first that fits in this order (M³-Bench,
/// section 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The call is not valid in the protocol: it has no name, or its arguments are not an object.
    IllegalFormat,
    /// The tool does not exist or was not offered.
    UnknownTool,
    /// The tool does not accept these arguments.
    InvalidArguments,
    /// The call was right, but the backend did not have or return the requested resource.
    ResourceNotFound,
    /// The tool ran and gave a normal result.
    Success,
}

/// Why a call has no outcome: it was not answered, or its image was missing. This reveals nothing about the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotJudged {
    /// The server of the tool could not be started, or is not in the configuration.
    ServerNotAvailable,
    /// No answer came in time.
    TimedOut,
    /// The server ended, or the connection broke, during the call.
    ServerLost,
    /// The answer cannot be read, or is too large.
    Unreadable,
    /// The call failed, and the image that it or an earlier call needed was not found for the replay.
    ImageMissing,
}

/// The verdict on a call: an outcome, or the reason why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The outcome.
    Outcome(Outcome),
    /// The call fits its schema but was not executed: neither success nor failure.
    NotExecuted,
    /// The reason why there is no outcome.
    NotJudged(NotJudged),
}

/// How reliable a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// The evidence is clear.
    Sure,
    /// Nothing better was found: a reader, or a language model, may decide otherwise.
    Unsure,
    /// A language model decided.
    Asked,
}

/// A rule that decides the verdict on a call.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name of the rule, which is given with every call that it decided.
    pub name: &'static str,
    /// The verdict that the rule gives.
    pub verdict: Verdict,
    /// How sure the rule is.
    pub confidence: Confidence,
    /// When the rule applies, in words.
    pub applies: &'static str,
}

impl Outcome {
    /// All outcomes, in the order in which they are checked.
    pub const ALL: [Self; 5] = [
        Self::IllegalFormat,
        Self::UnknownTool,
        Self::InvalidArguments,
        Self::ResourceNotFound,
        Self::Success,
    ];

    /// The outcome's name in files.
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

    /// The outcome's place in [`Outcome::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl NotJudged {
    /// All reasons.
    pub const ALL: [Self; 5] =
        [Self::ServerNotAvailable, Self::TimedOut, Self::ServerLost, Self::Unreadable, Self::ImageMissing];

    /// The reason with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.name() == name)
    }

    /// The reason's name in files.
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

    /// The reason's place in [`NotJudged::ALL`].
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

    /// The verdict's name in files.
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
    /// The confidence's name in files.
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
    /// A rule that is sure of its outcome.
    pub(super) const fn sure(name: &'static str, outcome: Outcome, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::Outcome(outcome), confidence: Confidence::Sure, applies }
    }

    /// A rule that is not sure of its outcome.
    pub(super) const fn unsure(name: &'static str, outcome: Outcome, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::Outcome(outcome), confidence: Confidence::Unsure, applies }
    }

    /// A rule for the decision of a language model.
    pub(super) const fn asked(name: &'static str, outcome: Outcome, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::Outcome(outcome), confidence: Confidence::Asked, applies }
    }

    /// A rule for calls that were not executed.
    pub(super) const fn not_executed(name: &'static str, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::NotExecuted, confidence: Confidence::Sure, applies }
    }

    /// A rule that decides why there is no outcome.
    pub(super) const fn no_answer(name: &'static str, why: NotJudged, applies: &'static str) -> Self {
        Self { name, verdict: Verdict::NotJudged(why), confidence: Confidence::Sure, applies }
    }
}
