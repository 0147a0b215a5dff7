//! A line of a session, with the members that a trajectory needs.

use crate::formats::prelude::*;

/// The author of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Assistant,
    User,
    /// The program; its lines only join others.
    Other,
}

/// A line of a session.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) uuid: Option<String>,
    /// The uuid of the line before, also across a compaction.
    pub(super) parent: Option<String>,
    pub(super) session: Option<String>,
    /// The sub-agent that the line belongs to.
    pub(super) agent: Option<String>,
    pub(super) is_side: bool,
    /// Whether the program wrote the text in the user's place.
    pub(super) is_own: bool,
    pub(super) time: Option<f64>,
    pub(super) message: Json,
    /// The sub-agent whose result the line holds.
    pub(super) ran: Option<String>,
}

impl Line {
    /// Reads a line; other members, such as the program's own record of a result, are dropped.
    fn new(mut value: Json) -> Self {
        let kind = match value.text("type") {
            Some("assistant") => Kind::Assistant,
            Some("user") => Kind::User,
            _ => Kind::Other,
        };
        let id = |key: &str| value.id(key).filter(|id| !id.is_empty());
        let mut line = Self {
            kind,
            uuid: id("uuid"),
            parent: id("parentUuid").or_else(|| id("logicalParentUuid")),
            session: id("sessionId"),
            agent: id("agentId"),
            is_side: value.is("isSidechain"),
            is_own: value.is("isMeta") || value.is("isCompactSummary"),
            time: value.member("timestamp").and_then(time),
            message: Json::Null,
            ran: value.text_below(&["toolUseResult", "agentId"]).map(str::to_owned),
        };
        if let Json::Object(members) = &mut value
            && let Some((_, message)) = members.iter_mut().find(|(key, _)| key == "message")
            && kind != Kind::Other
        {
            line.message = std::mem::replace(message, Json::Null);
        }
        line
    }

    /// Whether the program wrote the line in the model's place, such as the report of a failed request.
    pub(super) fn is_synthetic(&self) -> bool {
        self.message.says("model", "<synthetic>")
    }

    /// The id of the reply that the line is a part of.
    pub(super) fn reply(&self) -> Option<&str> {
        self.message.text("id").filter(|_| self.kind == Kind::Assistant)
    }
}

/// All lines of a file, each uuid once: a resumed session begins with copies of earlier lines.
pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Vec<Line>, ReadError> {
    let mut lines: Vec<Line> = Vec::new();
    let mut seen = HashSet::new();
    input.values(sink, |_, record| {
        let line = Line::new(record.value);
        if line.uuid.as_ref().is_none_or(|uuid| seen.insert(uuid.clone())) {
            lines.push(line);
        }
        Ok(())
    })?;
    Ok(lines)
}
