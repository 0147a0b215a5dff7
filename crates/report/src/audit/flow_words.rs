//! What both trajectories do, in words: the same for the terminal and the page.

use m3_score::CallPlace;
use m3_score::fidelity::constants::EQUIVALENT;

use super::flow_model::{
    ArtifactAudit, ArtifactPair, CallFlow, LeftAudit, PictureDifference, ReadAudit, ResultPair,
};
use super::text::line;
use crate::{FurtherPairReport, MatchReport};

/// The most columns of a name.
const NAME: usize = 40;

/// A line about a call: the words before the call that it names, that call, and the words after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowLine {
    /// The words before the named call; all words if no call is named.
    pub before: String,
    /// The call that made what is read.
    pub maker: Option<CallPlace>,
    /// The words after the named call.
    pub after: String,
}

impl FlowLine {
    fn plain(before: String) -> Self {
        Self { before, maker: None, after: String::new() }
    }

    /// The whole line.
    #[must_use]
    pub fn words(&self) -> String {
        let maker = self.maker.map(|maker| maker.to_string()).unwrap_or_default();
        format!("{}{maker}{}", self.before, self.after)
    }
}

impl CallFlow {
    /// Lines about what the call reads and makes, at most `most` of each.
    #[must_use]
    pub fn lines(&self, most: usize) -> Vec<FlowLine> {
        let more = |shown: usize, all: usize, verb: &str| {
            (all > shown).then(|| FlowLine::plain(format!("{verb} {} more", all - shown)))
        };
        let reads = self.reads.iter().take(most).map(ReadAudit::line);
        let more_reads = more(self.reads.len().min(most), self.reads.len() + self.more_reads, "reads");
        let makes =
            self.makes.iter().take(most).map(|name| FlowLine::plain(format!("makes {}", line(name, NAME))));
        let more_makes = more(self.makes.len().min(most), self.makes.len() + self.more_makes, "makes");
        reads.chain(more_reads).chain(makes).chain(more_makes).collect()
    }
}

impl ReadAudit {
    fn line(&self) -> FlowLine {
        let Some(maker) = self.maker else { return FlowLine::plain("reads the task's picture".to_owned()) };
        let (verb, made) = match self.kind.as_str() {
            "changed_file" => ("changes", "made"),
            "returned_value" => ("uses", "returned"),
            "named_value" => ("uses", "named"),
            _ => ("reads", "made"),
        };
        let late = if self.is_of_same_step { " in the same step: it may not have been there" } else { "" };
        FlowLine {
            before: format!("{verb} {}, which ", line(&self.name, NAME)),
            maker: Some(maker),
            after: format!(" {made}{late}"),
        }
    }
}

impl ResultPair {
    /// How the results compare, such as `the same text` or `12.4 % of the pixels differ`.
    #[must_use]
    pub fn words(&self) -> String {
        let several = self.pictures.len() > 1;
        let pictures = self.pictures.iter().enumerate().map(|(at, pair)| {
            let words = match (pair.difference, pair.reference_part, pair.predicted_part) {
                (Some(found), ..) => found.words(self.are_same == Some(true)),
                (None, Some(_), Some(_)) => "the pictures cannot be compared".to_owned(),
                (None, Some(_), None) => "a picture of the reference alone".to_owned(),
                (None, ..) => "a picture of the prediction alone".to_owned(),
            };
            if several { format!("picture {}: {words}", at + 1) } else { words }
        });
        let pictures: Vec<String> = pictures.collect();
        if !pictures.is_empty() {
            return pictures.join(", ");
        }
        match self.are_same {
            Some(true) if self.reference_text == self.predicted_text => "the same text".to_owned(),
            Some(true) => "the same, but for names and times".to_owned(),
            Some(false) => "results differ".to_owned(),
            None => "not compared: one of them is an error".to_owned(),
        }
    }

    /// Whether the results are known to differ.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.are_same == Some(false)
    }
}

impl PictureDifference {
    /// The difference in words, such as `the same pixels`. `are_same` is true if the pictures count as the same anyway.
    #[must_use]
    pub fn words(&self, are_same: bool) -> String {
        let ([a, b], [c, d]) =
            ([self.reference_size.0, self.reference_size.1], [self.predicted_size.0, self.predicted_size.1]);
        let sizes = format!("{a} × {b} and {c} × {d} pixels");
        let are_far = a.abs_diff(c) > 2 || b.abs_diff(d) > 2;
        match self.share() {
            _ if are_far => format!("other sizes: {sizes}"),
            None if (a, b) == (c, d) => "the same pixels".to_owned(),
            None => format!("the same pixels where both have some ({sizes})"),
            Some(share) if are_same => format!("{share} of the pixels differ, but hardly"),
            Some(share) => format!("{share} of the pixels differ"),
        }
    }

    /// The share of pixels that differ; `None` where none does.
    fn share(&self) -> Option<String> {
        let percent = 100.0 * self.changed;
        match percent {
            _ if percent <= 0.0 => None,
            _ if percent < 0.1 => Some("less than 0.1 %".to_owned()),
            _ if percent >= 100.0 => Some("100 %".to_owned()),
            // Only a difference of all pixels is written as 100 %.
            _ => Some(format!("{:.1} %", percent.min(99.9))),
        }
    }
}

impl LeftAudit {
    /// The heading, with the artifact agreement if there is one.
    #[must_use]
    pub fn heading(&self) -> String {
        match self.agreement {
            // A sum of nothing may be a negative zero.
            Some(agreement) => format!("left behind, artifact agreement {:.4}", agreement + 0.0),
            None => "left behind".to_owned(),
        }
    }

    /// Sentences about the artifacts left behind: one for each pair, and one for each artifact without a counterpart.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        if self.agreement.is_none() {
            let list = |side: &str, artifacts: &[ArtifactAudit]| {
                let names: Vec<String> = artifacts.iter().map(ArtifactAudit::words).collect();
                format!("{side}: {}", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") })
            };
            return vec![list("reference", &self.reference), list("predicted", &self.prediction)];
        }
        let of_pair = |pair: &ArtifactPair| {
            let (own, given) = (self.reference.get(pair.reference)?, self.prediction.get(pair.predicted)?);
            Some(format!("{} -> {}: {}", own.words(), given.words(), pair.words()))
        };
        let alone =
            |artifacts: &[ArtifactAudit], is_paired: &dyn Fn(usize) -> bool, side: &str, other: &str| {
                let alone = artifacts.iter().enumerate().filter(|(at, _)| !is_paired(*at));
                alone
                    .map(|(_, it)| format!("{side} {}: no counterpart in the {other}", it.words()))
                    .collect::<Vec<_>>()
            };
        let has_own = |at: usize| self.pairs.iter().any(|pair| pair.reference == at);
        let has_given = |at: usize| self.pairs.iter().any(|pair| pair.predicted == at);
        let mut sentences: Vec<String> = self.pairs.iter().filter_map(of_pair).collect();
        sentences.extend(alone(&self.reference, &has_own, "reference", "prediction"));
        sentences.extend(alone(&self.prediction, &has_given, "predicted", "reference"));
        sentences
    }
}

impl ArtifactAudit {
    /// The artifact's name and its maker, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.name {
            Some(name) => format!("{} of {}", line(name, NAME), self.maker),
            None if self.pictured_by.is_some() => format!("the picture of {}", self.maker),
            None => format!("the answer of {}", self.maker),
        }
    }
}

impl ArtifactPair {
    /// How alike both are.
    #[must_use]
    pub fn words(&self) -> String {
        // 1.00 is for the same pixels only.
        let likeness = if self.likeness < 1.0 { self.likeness.min(0.99) } else { 1.0 };
        match self.difference {
            Some(found) if found.changed <= 0.0 => found.words(self.are_same),
            Some(found) => format!("{}, likeness {likeness:.2}", found.words(self.are_same)),
            None if self.are_same => "the same".to_owned(),
            None if self.is_unreadable => "a picture of them cannot be read".to_owned(),
            None if self.likeness <= 0.0 => "another one".to_owned(),
            None => format!("likeness {likeness:.2}"),
        }
    }
}

/// A note that the arguments of a match are compared with another predicted call than the alignment's; `None` if not.
pub(super) fn compared_with(pair: &MatchReport) -> Option<String> {
    let other = pair.compared_with?;
    let why = why_compared(pair.argument_fidelity);
    Some(format!("arguments compared with {other} ({why}; the alignment has {})", pair.predicted))
}

/// A note that the arguments of a call are compared although the alignment leaves it unmatched.
pub(super) fn compared_nevertheless(pair: &FurtherPairReport) -> String {
    let (predicted, fidelity) = (pair.predicted, pair.argument_fidelity);
    format!("arguments compared with {predicted} ({}), fidelity {fidelity:.4}", why_compared(fidelity))
}

fn why_compared(fidelity: f64) -> &'static str {
    if fidelity >= EQUIVALENT { "asks for the same" } else { "nearest in what it asks for" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(changed: f64, predicted_size: (u32, u32)) -> String {
        PictureDifference { changed, reference_size: (40, 30), predicted_size }.words(false)
    }

    #[test]
    fn shares_of_pixels_are_never_rounded_to_none_or_all() {
        assert_eq!(difference(0.0, (40, 30)), "the same pixels");
        assert_eq!(difference(0.124, (40, 30)), "12.4 % of the pixels differ");
        assert_eq!(difference(1e-6, (40, 30)), "less than 0.1 % of the pixels differ");
        assert_eq!(difference(0.9999, (40, 30)), "99.9 % of the pixels differ");
        assert_eq!(difference(1.0, (40, 30)), "100 % of the pixels differ");
        assert_eq!(difference(1.0, (40, 60)), "other sizes: 40 × 30 and 40 × 60 pixels");
        assert!(difference(0.0, (41, 30)).starts_with("the same pixels where both"));
    }

    #[test]
    fn names_of_others_are_harmless() {
        let place = CallPlace { step: 0, call: 0, index: 0 };
        let call = CallFlow {
            call: place,
            reads: vec![ReadAudit {
                kind: "file".to_owned(),
                argument: "a".to_owned(),
                name: format!("\u{1b}[2J{}.png", "x".repeat(9_000)),
                maker: Some(place),
                is_of_same_step: true,
            }],
            more_reads: 7,
            makes: Vec::new(),
            more_makes: 0,
        };
        let lines: Vec<String> = call.lines(1).iter().map(FlowLine::words).collect();
        assert!(
            lines[0].starts_with("reads \\u{1b}[2J") && lines[0].ends_with("it may not have been there"),
            "{lines:?}"
        );
        assert!(lines[0].chars().count() < 120);
        assert_eq!(lines[1], "reads 7 more");
    }
}
