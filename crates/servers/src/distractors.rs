//! Tools that a task does not need, offered beside those that it does.
//!
//! `MCPAgentBench`, section 3: of K candidates, n are correct and K - n are distractors. They are either near ones, whose
//! descriptions are easily confused with that of a needed tool, or random ones. The seed decides the order of the offered
//! tools, so that the place of a tool reveals nothing.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use m3_embedding::{Embedder, EncoderError, InputKey, cosine};
use m3_mcp::{ServerTools, Tool, ToolCatalog, ToolName};
use m3_support::text::head;

use crate::seed::Seed;

/// How distractors are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum DistractorKind {
    /// Those whose names and descriptions are nearest to a needed tool's, by the sentence encoder
    #[default]
    Near,
    /// Any
    Random,
}

/// The most bytes of a description that are compared, from its start: encoders read some 256 tokens.
const MAX_DESCRIPTION: usize = 4_096;

/// Why distractors cannot be chosen.
#[derive(Debug, thiserror::Error)]
pub enum DistractorError {
    /// There are not enough other tools.
    #[error(
        "{asked} distractors are asked for, and {there} other tools may be offered\nhint: ask for fewer, or use a larger catalog"
    )]
    TooFewTools {
        /// The number that was asked for.
        asked: usize,
        /// The number of tools that may be chosen.
        there: usize,
    },
    /// Near distractors need an encoder, and there is none.
    #[error("near distractors are chosen with the encoder, and there is none\nhint: random ones do without")]
    NoEncoder,
    /// The encoder failed.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
}

/// Chooses `count` of the `others`, tools of the catalog that may be distractors. Near ones come nearest first, those
/// of equal similarity by name; random ones in the order that the seed gives them. A smaller choice is a part of a
/// larger one, and the order of the others does not matter.
///
/// # Errors
/// [`DistractorError`].
pub(crate) fn distractors(
    catalog: &ToolCatalog,
    needed: &[ToolName],
    mut others: Vec<ToolName>,
    (count, kind): (usize, DistractorKind),
    seed: Seed,
    embedder: Option<&mut Embedder>,
) -> Result<Vec<ToolName>, DistractorError> {
    if others.len() < count {
        return Err(DistractorError::TooFewTools { asked: count, there: others.len() });
    }
    others.sort();
    if count == 0 {
        return Ok(Vec::new());
    }
    match (kind, embedder) {
        (DistractorKind::Random, _) => others.sort_by_cached_key(|name| seed.child(name.to_string()).rank()),
        (DistractorKind::Near, None) => return Err(DistractorError::NoEncoder),
        (DistractorKind::Near, Some(embedder)) => others = by_nearness(catalog, needed, others, embedder)?,
    }
    others.truncate(count);
    Ok(others)
}

/// The catalog with these tools only; servers without any of them are left out. With a `seed`, servers and tools are
/// put into an order that it decides; without one they keep their order.
pub(crate) fn narrowed(
    catalog: &ToolCatalog,
    offered: &BTreeSet<ToolName>,
    seed: Option<Seed>,
) -> ToolCatalog {
    let of_server = |server: &ServerTools| {
        let names = offered.iter().filter(|name| name.server == server.server);
        let names: HashSet<&str> = names.map(|name| name.tool.as_str()).collect();
        let mut tools: Vec<Tool> =
            server.tools.iter().filter(|tool| names.contains(tool.name.as_str())).cloned().collect();
        if let Some(seed) = seed {
            let seed = seed.child("order").child(&server.server);
            tools.sort_by_cached_key(|tool| seed.child(&tool.name).rank());
        }
        ServerTools { server: server.server.clone(), tools, rejected: server.rejected.clone() }
    };
    let servers = catalog.servers.iter().map(of_server).filter(|server| !server.tools.is_empty());
    let mut servers: Vec<ServerTools> = servers.collect();
    if let Some(seed) = seed {
        let seed = seed.child("order");
        servers.sort_by_cached_key(|server| seed.child(&server.server).rank());
    }
    ToolCatalog { servers }
}

/// Sorts by the similarity to the nearest needed tool.
fn by_nearness(
    catalog: &ToolCatalog,
    needed: &[ToolName],
    others: Vec<ToolName>,
    embedder: &mut Embedder,
) -> Result<Vec<ToolName>, DistractorError> {
    let texts: Vec<String> = needed.iter().chain(&others).map(|name| described(catalog, name)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let keys = embedder.inputs(&texts)?;
    let wanted: Vec<(InputKey, &str)> = keys.iter().copied().zip(texts).collect();
    embedder.embed(&wanted, &mut |_, _| ())?;
    let (right, candidates) = keys.split_at(needed.len());
    let nearness = |key: &InputKey| {
        let vector = embedder.vector(key);
        right.iter().map(|right| cosine(embedder.vector(right), vector)).fold(-1.0, f64::max)
    };
    let mut ranked: Vec<(f64, ToolName)> = candidates.iter().map(nearness).zip(others).collect();
    ranked.sort_by(|(a, a_name), (b, b_name)| {
        b.partial_cmp(a).unwrap_or(Ordering::Equal).then_with(|| a_name.cmp(b_name))
    });
    Ok(ranked.into_iter().map(|(_, name)| name).collect())
}

/// The text by which a tool is compared: its own name and its description, without its server's name.
fn described(catalog: &ToolCatalog, name: &ToolName) -> String {
    let description = catalog.get(name).and_then(|tool| tool.description.as_deref()).unwrap_or_default();
    format!("{}: {}", name.tool, head(description, MAX_DESCRIPTION))
}
