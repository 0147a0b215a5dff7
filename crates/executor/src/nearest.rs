//! Tools that are nearest to a sentence, by the sentence encoder.

use m3_embedding::{Embedder, EncoderError, cosine};
use m3_mcp::{ServerTools, Tool, ToolCatalog, ToolName};
use m3_support::text::head;

/// How many texts are embedded before `go_on` is asked again.
const CHUNK: usize = 32;

/// The most bytes of a description; the rest is cut off, because the encoder reads only 256 tokens.
const MAX_DESCRIPTION: usize = 4000;

/// The similarity of each tool to the sentence: the cosine of the sentence's embedding and that of the tool's name and
/// description. `go_on` gets the number of tools done; once it returns false, nothing is returned.
///
/// # Errors
/// [`EncoderError`].
pub fn similarities(
    embedder: &mut Embedder,
    sentence: &str,
    tools: &[(ToolName, &Tool)],
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<Vec<f64>>, EncoderError> {
    let texts: Vec<String> = tools.iter().map(|(_, tool)| searched_text(tool)).collect();
    let sentence = embed(embedder, &[sentence])?.remove(0);
    let mut similarities = Vec::with_capacity(texts.len());
    for chunk in texts.chunks(CHUNK) {
        if !go_on(similarities.len()) {
            return Ok(None);
        }
        let chunk: Vec<&str> = chunk.iter().map(String::as_str).collect();
        similarities.extend(embed(embedder, &chunk)?.iter().map(|vector| cosine(&sentence, vector)));
    }
    Ok(go_on(similarities.len()).then_some(similarities))
}

/// The `count` tools nearest to the sentence, in the catalog's order, which does not reveal how near they are.
/// `go_on` gets the number done; once it returns false, nothing is returned.
///
/// # Errors
/// [`EncoderError`].
pub fn nearest_tools(
    embedder: &mut Embedder,
    sentence: &str,
    catalog: &ToolCatalog,
    count: usize,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<ToolCatalog>, EncoderError> {
    let tools: Vec<(ToolName, &Tool)> = catalog.tools().collect();
    let Some(found) = similarities(embedder, sentence, &tools, go_on)? else { return Ok(None) };
    let mut ranked: Vec<(f64, &ToolName)> =
        found.into_iter().zip(tools.iter().map(|(name, _)| name)).collect();
    // The sort is stable: equally near tools stay in the catalog's order.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let kept: Vec<&ToolName> = ranked.into_iter().take(count).map(|(_, name)| name).collect();
    let servers = catalog.servers.iter().map(|server| {
        let is_kept =
            |tool: &&Tool| kept.iter().any(|name| name.server == server.server && name.tool == tool.name);
        let tools = server.tools.iter().filter(is_kept).cloned().collect();
        ServerTools { server: server.server.clone(), tools, rejected: Vec::new() }
    });
    Ok(Some(ToolCatalog { servers: servers.filter(|server| !server.tools.is_empty()).collect() }))
}

/// The text by which a tool is found. Names are split into words, because the encoder knows words.
fn searched_text(tool: &Tool) -> String {
    let name = tool.name.replace(['_', '-', '.'], " ");
    let description = tool.description.as_deref().unwrap_or_default();
    let start = head(description, MAX_DESCRIPTION);
    format!("{name}: {}", start.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn embed(embedder: &mut Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
    let inputs = embedder.inputs(texts)?;
    let pairs: Vec<_> = inputs.iter().copied().zip(texts.iter().copied()).collect();
    embedder.embed(&pairs, &mut |_, _| ())?;
    Ok(inputs.iter().map(|input| embedder.vector(input).to_vec()).collect())
}
