//! Shared parts of the pages that m3 makes for a browser: their document, content security policy, style and script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style at the beginning of each page's own style.
pub const BASE_STYLE: &str = include_str!("base.css");

/// The script at the beginning of a page's own scripts: elements made from texts, drawings, keys.
pub const MAKE_SCRIPT: &str = include_str!("make.js");

/// The sources, besides its own style and script, of a page whose images and documents come from a server.
pub const OF_SERVER: &str = "img-src 'self' data:; connect-src 'self'";

/// The sources that a page in one file may load from.
pub const OF_FILE: &str = "img-src data:";

/// The note on a page whose script does not run; most pages are then empty.
const NO_SCRIPT: &str = "This page is made by its own script, which is not running. At a terminal:";

/// A page: a document around its parts.
#[derive(Debug, Clone, Copy)]
pub struct Shell<'a> {
    /// The title, as text.
    pub title: &'a str,
    /// The command to run in place of the page's script, as HTML; empty if the page works without the script.
    pub instead: &'a str,
    /// The top of the page, as HTML.
    pub head: &'a str,
    /// The main part and everything after it, as HTML.
    pub body: &'a str,
    /// The whole style.
    pub style: &'a str,
    /// The whole script.
    pub script: &'a str,
}

impl Shell<'_> {
    /// The page for a server, and the policy that the server sends with it.
    #[must_use]
    pub fn served(&self) -> (String, String) {
        let policy = format!("{}; frame-ancestors 'none'", self.policy(OF_SERVER));
        (self.html("", ""), policy)
    }

    /// The page as a file, with data as HTML. A file has no headers, so the policy is part of the page.
    #[must_use]
    pub fn file(&self, sources: &str, data: &str) -> String {
        let policy = self.policy(sources);
        self.html(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n"), data)
    }

    /// The content security policy that allows this style and script alone, by their hashes, and these other sources.
    fn policy(&self, sources: &str) -> String {
        format!(
            "default-src 'none'; script-src {}; style-src {}; {sources}; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'",
            source_of(self.script),
            source_of(self.style)
        )
    }

    fn html(&self, meta: &str, data: &str) -> String {
        let title = escaped(self.title);
        let noscript = match self.instead {
            "" => String::new(),
            instead => format!("<noscript><p class=\"notice\">{NO_SCRIPT} {instead}.</p></noscript>\n"),
        };
        let parts = [
            ("meta", meta),
            ("title", &title),
            ("style", self.style),
            ("noscript", &noscript),
            ("head", self.head),
            ("body", self.body),
            ("data", data),
            ("script", self.script),
        ];
        filled(include_str!("shell.html"), &parts)
    }
}

/// Fills the places of a template, such as `{{title}}`. The inserted text may hold anything: it is not searched for
/// places.
#[must_use]
pub fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut pieces = template.split("{{");
    let mut html = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or_default();
        html.push_str(parts.iter().find(|(known, _)| *known == name).map_or("", |(_, part)| part));
        html.push_str(rest);
    }
    html
}

/// A text escaped for HTML, in elements and in attributes between quotation marks.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// The source expression of a content security policy that allows this style or script, by its hash.
#[must_use]
pub fn source_of(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The reason why a style or script cannot be part of a page: an end tag would end it early, so that its hash no longer
/// matches, and a script must not make markup from strings.
#[must_use]
pub fn fault(text: &str) -> Option<&'static str> {
    let barred = [
        "</",
        "<!--",
        "\r",
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
    ];
    barred.into_iter().find(|word| text.contains(word))
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

    fn shell<'a>(title: &'a str, body: &'a str) -> Shell<'a> {
        Shell {
            title,
            instead: "<code>m3</code>",
            head: "<h1>m3</h1>\n",
            body,
            style: "p { }",
            script: "\"use strict\";",
        }
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again_and_titles_are_texts() {
        let (html, policy) = shell("<script>{{script}}", "{{style}}").served();
        assert_eq!(html.matches("<script").count(), 1);
        assert!(
            html.contains("<title>&lt;script&gt;{{script}}</title>") && html.contains("\n{{style}}<p id")
        );
        assert_eq!(escaped("a\"'&"), "a&quot;&#39;&amp;");
        assert!(policy.ends_with("frame-ancestors 'none'") && policy.contains(&source_of("p { }")));
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'));
    }

    #[test]
    fn a_file_has_its_policy_and_its_data_in_it() {
        let html = shell("x", "").file(OF_FILE, "<i>data</i>");
        assert!(html.contains("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "));
        assert!(html.contains("<i>data</i><script>") && !html.contains("connect-src"));
    }

    #[test]
    fn faults_are_found() {
        assert_eq!(
            (fault("a < b"), fault("x.innerHTML = y"), fault("</style>")),
            (None, Some("innerHTML"), Some("</"))
        );
        assert_eq!((fault(BASE_STYLE), fault(MAKE_SCRIPT)), (None, None));
    }
}
