//! The pages of reviews: one style, and a script for each mode.

use std::sync::LazyLock;

use m3_support::pages::{BASE_STYLE, MAKE_SCRIPT, Shell, escaped, filled};

use m3_web::Page;

static STYLE: LazyLock<String> = LazyLock::new(|| [BASE_STYLE, include_str!("page/review.css")].concat());
const COMMON: &str = include_str!("page/common.js");
/// The script for pages that show pairs one after the other.
const SERIES: &str = include_str!("page/series.js");

const HEAD: &str = r#"<h1>{{title}}</h1>
<p class="provenance">{{source}}</p>
<label class="person">Your name<input id="name" maxlength="100" value="{{name}}" autocomplete="off"></label>
"#;

/// The main part of the page that shows references; `PAIRS` is that of the pages that show pairs.
const REFERENCES: &str = include_str!("page/review.html");
const PAIRS: &str = r#"<main id="main" class="single" tabindex="-1"><p class="count" id="count" role="status"></p><div id="detail"></div></main>
"#;

const INSTEAD: &str = "<code>m3 review REF --export FILE.csv</code>";

/// The purpose of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Review,
    Pairs,
    Labels,
}

impl Mode {
    fn title(self) -> &'static str {
        match self {
            Self::Review => "m3 review",
            Self::Pairs => "m3 review, pairs",
            Self::Labels => "m3 review, labels",
        }
    }

    fn script(self) -> String {
        let own: &[&str] = match self {
            Self::Review => &[
                include_str!("page/graph.js"),
                include_str!("page/list.js"),
                include_str!("page/writing.js"),
                include_str!("page/review.js"),
            ],
            Self::Pairs => &[SERIES, include_str!("page/pairs.js")],
            Self::Labels => &[SERIES, include_str!("page/labels.js")],
        };
        format!("\"use strict\";\n{MAKE_SCRIPT}{COMMON}{}", own.concat())
    }
}

/// The page of a mode. The only texts of others in it are the file's name and the person's name; its script requests
/// the rest and shows it as text.
pub(super) fn page(mode: Mode, source: &str, name: &str) -> Page {
    let texts = [("title", mode.title().to_owned()), ("source", escaped(source)), ("name", escaped(name))];
    let script = mode.script();
    let shell = Shell {
        title: mode.title(),
        instead: INSTEAD,
        head: &filled(HEAD, &texts.each_ref().map(|(place, text)| (*place, text.as_str()))),
        body: if mode == Mode::Review { REFERENCES } else { PAIRS },
        style: &STYLE,
        script: &script,
    };
    let (html, policy) = shell.served();
    Page { html, policy }
}

#[cfg(test)]
mod tests {
    use m3_support::pages::fault;

    use super::*;

    #[test]
    fn styles_and_scripts_have_no_fault() {
        for mode in [Mode::Review, Mode::Pairs, Mode::Labels] {
            assert_eq!((fault(&mode.script()), fault(&STYLE)), (None, None), "{mode:?}");
        }
    }

    #[test]
    fn names_of_files_and_people_are_escaped_and_nothing_comes_from_elsewhere() {
        let page = page(Mode::Review, "\"><script>x</script>", "<img src=x onerror=y>");
        assert_eq!(page.html.matches("<script").count(), 1);
        assert!(!page.html.contains("<img src=x"));
    }
}
