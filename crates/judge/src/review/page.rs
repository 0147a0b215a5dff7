//! The pages of reviews: one template, one style, and a script for each mode.

use std::sync::LazyLock;

use askama::Template;
use m3_support::pages::{BASE_STYLE, MAKE_SCRIPT, source_of};

use super::server::Page;

static STYLE: LazyLock<String> = LazyLock::new(|| [BASE_STYLE, include_str!("page/review.css")].concat());
const COMMON: &str = include_str!("page/common.js");
/// The script for pages that show pairs one after the other.
const SERIES: &str = include_str!("page/series.js");

/// The purpose of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Review,
    Pairs,
    Labels,
}

#[derive(Template)]
#[template(path = "review.html")]
struct PageTemplate<'a> {
    title: &'static str,
    /// The file that is reviewed.
    source: &'a str,
    name: &'a str,
    mode: Mode,
    style: &'static str,
    script: &'a str,
}

impl Mode {
    fn title(self) -> &'static str {
        match self {
            Self::Review => "m3 review",
            Self::Pairs => "m3 review, pairs",
            Self::Labels => "m3 review, labels",
        }
    }

    fn script(self) -> [&'static str; 4] {
        match self {
            Self::Review => {
                [MAKE_SCRIPT, COMMON, include_str!("page/graph.js"), include_str!("page/review.js")]
            }
            Self::Pairs => [MAKE_SCRIPT, COMMON, SERIES, include_str!("page/pairs.js")],
            Self::Labels => [MAKE_SCRIPT, COMMON, SERIES, include_str!("page/labels.js")],
        }
    }
}

fn strict(mode: Mode) -> String {
    format!("\"use strict\";\n{}", mode.script().concat())
}

/// The page of a mode. Of data from others it contains only the file's name; its script requests the rest and shows
/// it as text.
pub(super) fn page(mode: Mode, source: &str, name: &str) -> Page {
    let script = strict(mode);
    let page = PageTemplate { title: mode.title(), source, name, mode, style: &STYLE, script: &script };
    // Writing to a string cannot fail.
    Page { html: page.render().unwrap_or_default(), policy: policy(&script) }
}

/// Allows only the page's own style and script, and images and answers of this server.
fn policy(script: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        source_of(script),
        source_of(&STYLE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An end tag inside a style or script would end it early, and its hash would no longer match.
    #[test]
    fn style_and_scripts_hold_no_end_tag() {
        for mode in [Mode::Review, Mode::Pairs, Mode::Labels] {
            for text in mode.script().into_iter().chain([STYLE.as_str()]) {
                assert!(!text.contains("</") && !text.contains("<!--") && !text.contains('\r'));
            }
        }
    }

    /// Scripts must not build markup from strings.
    #[test]
    fn scripts_make_no_markup() {
        for mode in [Mode::Review, Mode::Pairs, Mode::Labels] {
            let script = strict(mode);
            for word in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
            {
                assert!(!script.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn names_of_files_and_people_are_escaped_and_nothing_comes_from_elsewhere() {
        let page = page(Mode::Review, "\"><script>x</script>", "<img src=x onerror=y>");
        assert_eq!(page.html.matches("<script").count(), 1);
        assert!(!page.html.contains("<img src=x"));
        assert!(
            !page.policy.contains("unsafe") && !page.policy.contains("http") && !page.policy.contains('*')
        );
    }
}
