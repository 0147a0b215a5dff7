//! The page: one document without data, whose script asks for what it shows.

use std::sync::LazyLock;

use m3_judge::review::Page;
use m3_support::pages::{BASE_STYLE, MAKE_SCRIPT, source_of};

static STYLE: LazyLock<String> = LazyLock::new(|| [BASE_STYLE, include_str!("page/view.css")].concat());

/// The scripts, in the order in which they use each other.
const SCRIPTS: [&str; 10] = [
    MAKE_SCRIPT,
    include_str!("page/data.js"),
    include_str!("page/table.js"),
    include_str!("page/home.js"),
    include_str!("page/run.js"),
    include_str!("page/task.js"),
    include_str!("page/audit.js"),
    include_str!("page/compare.js"),
    include_str!("page/matrix.js"),
    include_str!("page/route.js"),
];

static SCRIPT: LazyLock<String> = LazyLock::new(|| format!("\"use strict\";\n{}", SCRIPTS.concat()));

/// Where the document has its parts; they stand nowhere else in it.
const PLACES: [&str; 4] = ["{{title}}", "{{meta}}", "{{style}}", "{{script}}"];

/// Where the data of a page that stands alone begin.
const DATA: &str = "{{data}}";

/// The page that is served.
pub(crate) fn page() -> Page {
    let policy = format!("{}; frame-ancestors 'none'", policy(OF_SERVER));
    Page { html: html("m3 view", "").replacen(DATA, "", 1), policy }
}

/// The page of a bundle: a file has no headers, so its policy stands in it.
pub(crate) fn page_for_files() -> String {
    html("m3 view", &meta(&policy(OF_SERVER))).replacen(DATA, "", 1)
}

/// A page that asks for nothing: what stands before its data, and after.
pub(crate) fn page_alone(title: &str) -> (String, String) {
    let page = html(title, &meta(&policy("img-src data:")));
    let (before, after) = page.split_once(DATA).unwrap_or((&page, ""));
    (before.to_owned(), after.to_owned())
}

fn meta(policy: &str) -> String {
    format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n")
}

fn html(title: &str, meta: &str) -> String {
    let parts = [title, meta, &STYLE, &SCRIPT];
    let document = include_str!("page/view.html");
    PLACES.iter().zip(parts).fold(document.to_owned(), |made, (place, part)| made.replace(place, part))
}

/// Images and documents of where the page is.
const OF_SERVER: &str = "img-src 'self' data:; connect-src 'self'";

/// Allows only the page's own style and script, and these images and documents.
fn policy(more: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; {more}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'",
        source_of(&SCRIPT),
        source_of(&STYLE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An end tag inside a style or script would end it early, and its hash would no longer match.
    #[test]
    fn style_and_scripts_hold_no_end_tag() {
        for text in [&*STYLE, &*SCRIPT] {
            assert!(!text.contains("</") && !text.contains("<!--") && !text.contains('\r'));
            assert!(PLACES.iter().chain([&DATA]).all(|place| !text.contains(place)));
        }
    }

    /// Scripts must not build markup from strings.
    #[test]
    fn scripts_make_no_markup() {
        for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        let page = page();
        assert_eq!(page.html.matches("<script").count(), 1);
        assert!(
            !page.policy.contains("unsafe") && !page.policy.contains("http") && !page.policy.contains('*')
        );
        // The name of SVG is no address that anybody is asked at.
        let page = page.html.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains("http://") && !page.contains("https://"));
    }
}
