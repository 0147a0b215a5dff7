//! Our servers by name, for the command line and for hosts that run them in their own process.

use std::path::Path;
use std::sync::Arc;

use m3_mcp::Toolbox;

use super::WorkspaceError;
use super::barcode::BarcodeServer;
use super::image::ImageServer;
use super::math::MathServer;

/// The names that [`builtin`] knows.
pub const BUILTIN: [&str; 3] = ["barcode", "image", "math"];

/// The server of this name, which reads and writes in the workspace and nowhere else. `None` for another name.
///
/// # Errors
/// [`WorkspaceError::Unusable`] if the folder cannot be used.
pub fn builtin(name: &str, workspace: &Path) -> Result<Option<Arc<dyn Toolbox>>, WorkspaceError> {
    Ok(match name {
        "barcode" => Some(Arc::new(BarcodeServer::new(workspace)?)),
        "image" => Some(Arc::new(ImageServer::new(workspace)?)),
        "math" => Some(Arc::new(MathServer::default())),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use m3_mcp::arguments::ArgumentSchema;

    use super::*;

    #[test]
    fn every_name_is_a_server_of_that_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in BUILTIN {
            let server = builtin(name, folder.path()).unwrap().unwrap();
            assert!(server.name() == name && !server.tools().is_empty());
            // A schema that cannot be used would accept every argument.
            for tool in server.tools() {
                ArgumentSchema::new(&tool.input_schema).unwrap();
            }
        }
        assert!(builtin("weather", folder.path()).unwrap().is_none());
        let missing = folder.path().join("none");
        assert!(matches!(builtin("barcode", &missing), Err(WorkspaceError::Unusable { .. })));
    }
}
