//! Names of tools: `server/tool`, or the tool alone.

/// Whether two names are of one tool. m3's names have a server, those of other programs mostly not: where one of
/// two has none, the rest is compared.
pub(crate) fn is_same_tool(a: &str, b: &str) -> bool {
    let has_server = |name: &str| name.contains('/');
    if has_server(a) == has_server(b) { a == b } else { bare(a) == bare(b) }
}

/// A tool's name without its server.
pub(crate) fn bare(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, bare)| bare)
}
