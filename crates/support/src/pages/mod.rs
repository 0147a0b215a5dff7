//! Shared parts of the pages that m3 makes for a browser: their common style, and how a content security policy names
//! parts of a page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style at the beginning of each page's own style.
pub const BASE_STYLE: &str = include_str!("base.css");

/// The script at the beginning of a page's own scripts: elements made from texts, drawings, keys.
pub const MAKE_SCRIPT: &str = include_str!("make.js");

/// The source expression of a content security policy that allows this style or script, by its hash.
#[must_use]
pub fn source_of(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        // Content Security Policy Level 3, section 2.3.1: `echo -n "alert('Hello, world.');" | openssl dgst -sha256`.
        let expected = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
        assert_eq!(source_of("alert('Hello, world.');"), expected);
    }
}
