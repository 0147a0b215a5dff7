//! Paths, names of files, and URLs.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::{Finding, Kind, code};

/// Longer texts are none.
const LONGEST: usize = 4096;

/// Endings of files.
const ENDINGS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "svg", "pdf", "doc", "docx", "xls", "xlsx",
    "ppt", "pptx", "csv", "tsv", "json", "jsonl", "xml", "yaml", "yml", "toml", "txt", "md", "html", "htm",
    "py", "rs", "js", "ts", "zip", "gz", "tar", "mp3", "mp4", "wav", "avi", "mov", "mkv", "log", "ini", "db",
    "sqlite", "parquet",
];

/// Endings of one kind of file.
const ALIKE: &[(&str, &str)] = &[("jpg", "jpeg"), ("tif", "tiff"), ("htm", "html"), ("yml", "yaml")];

/// Whether a text is a path; `is_named` where its argument's name says so.
pub(super) fn is_path(text: &str, is_named: bool) -> bool {
    let text = text.trim();
    if text.is_empty()
        || text.len() > LONGEST
        || text.contains(['\n', '?'])
        || text.contains("://") && !text.starts_with("file:")
    {
        return false;
    }
    let starts =
        ["./", "../", "/", "~/", "file://", ".\\", "..\\"].iter().any(|start| text.starts_with(start));
    let is_drive = text.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
    let ending = text.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let has_ending = ENDINGS.contains(&ending.as_str());
    is_named || starts || is_drive || has_ending && (!text.contains(' ') || text.contains(['/', '\\']))
}

/// The segments of a path without what says nothing, and whether it is absolute.
fn segments(path: &str) -> (Vec<String>, bool) {
    let path = path.trim().trim_matches(['"', '\'']);
    let path: Cow<'_, str> = match path.strip_prefix("file://") {
        Some(rest) => decoded(rest.strip_prefix("localhost").unwrap_or(rest)),
        None => path.into(),
    };
    let path = path.replace('\\', "/");
    // `/C:/a` in a URL is `C:/a`.
    let path = path.strip_prefix('/').filter(|rest| rest.get(1..3) == Some(":/")).unwrap_or(&path);
    let mut found: Vec<String> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if found.last().is_some_and(|last| last != "..") => {
                found.pop();
            }
            segment => found.push(segment.to_owned()),
        }
    }
    let is_absolute = path.starts_with('/') || path.starts_with('~');
    (found, is_absolute)
}

/// Compares two paths.
pub(super) fn paths(a: &str, b: &str) -> Finding {
    // What begins with the current folder says in which folder it is.
    let are_told = [a, b].iter().all(|path| path.trim().starts_with("./"));
    let ((a, a_is_absolute), (b, b_is_absolute)) = (segments(a), segments(b));
    let kind = Kind::Path;
    let lower = |path: &[String]| path.iter().map(|segment| segment.to_lowercase()).collect::<Vec<_>>();
    let (low_a, low_b) = (lower(&a), lower(&b));
    if a == b && a_is_absolute == b_is_absolute {
        return Finding::new(kind, SAME_OTHERWISE, "the same path");
    }
    if low_a == low_b && a_is_absolute == b_is_absolute {
        return Finding::new(kind, 0.8, "the same path but for the case of letters");
    }
    let (short, long) = if a.len() < b.len() { (&low_a, &low_b) } else { (&low_b, &low_a) };
    let ((stem_a, end_a), (stem_b, end_b)) = (ending(low_a.last()), ending(low_b.last()));
    if !short.is_empty() && long.ends_with(short) && (!are_told || short.len() == long.len()) {
        if long[..long.len() - short.len()].iter().any(|segment| segment == "..") {
            return Finding::new(kind, 0.1, "a file of this name in another folder");
        }
        return if short.len() > 1 || a.len() == b.len() {
            Finding::new(kind, 0.7, "the same path from another folder")
        } else {
            Finding::new(kind, 0.6, "the same file, the folder said once")
        };
    }
    if stem_a == stem_b
        && low_a.len() == low_b.len()
        && low_a[..low_a.len().saturating_sub(1)] == low_b[..low_b.len().saturating_sub(1)]
    {
        let are_alike = ALIKE.iter().any(|&(x, y)| (x, y) == (end_a, end_b) || (y, x) == (end_a, end_b));
        return if are_alike {
            Finding::new(kind, 0.9, "two endings of one kind of file")
        } else {
            Finding::new(kind, 0.15, "another kind of file")
        };
    }
    if low_a.last() == low_b.last() {
        return Finding::new(kind, 0.2, "a file of this name in another folder");
    }
    Finding::new(kind, NOTHING, "another file")
}

fn ending(name: Option<&String>) -> (&str, &str) {
    name.map_or(("", ""), |name| name.rsplit_once('.').unwrap_or((name, "")))
}

/// Compares two texts if both are URLs, or one is and the other is one without its scheme.
pub(super) fn urls(a: &str, b: &str, is_named: bool) -> Option<Finding> {
    let has_scheme = |text: &str| text.contains("://") && !text.starts_with("file:");
    let is_bare = |text: &str| {
        let host = text.split(['/', '?']).next().unwrap_or_default();
        host.contains('.') && !host.starts_with('.') && !host.ends_with('.')
    };
    let (a, b) = (with_scheme(a.trim()), with_scheme(b.trim()));
    let (a, b) = (&*a, &*b);
    // Spaces are not always encoded.
    let is_text = |text: &str| text.contains(char::is_whitespace) && !text.starts_with("http");
    if is_text(a) || is_text(b) || a.len().max(b.len()) > LONGEST {
        return None;
    }
    let is_url = |text: &str| has_scheme(text) || ((is_named || text.starts_with("www.")) && is_bare(text));
    let is_pair = (is_url(a) && (is_url(b) || is_bare(b))) || (is_url(b) && is_bare(a));
    is_pair.then(|| compare_urls(&Url::new(a), &Url::new(b)))
}

/// Compares the title of an article with its address in the encyclopedia, if they are the same one.
pub(super) fn articles(a: &str, b: &str) -> Option<Finding> {
    let title = |text: &str| {
        let (host, page) = text.trim().split_once("://")?.1.split_once("/wiki/")?;
        let is_known = (host == "wikipedia.org" || host.ends_with(".wikipedia.org"))
            && page.len() <= LONGEST
            && !page.contains(['?', '#']);
        is_known.then(|| plain(&decoded(page))).filter(|title| !title.is_empty())
    };
    let is_same = match (title(a), title(b)) {
        (Some(title), None) => title == plain(b),
        (None, Some(title)) => title == plain(a),
        _ => false,
    };
    is_same.then(|| Finding::new(Kind::Url, SAME_OTHERWISE, "an article and its address"))
}

/// A text without percent signs for its bytes; as it is where those are no text, so that two of them stay two.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// A title in small letters, with spaces.
fn plain(title: &str) -> String {
    title.trim().replace('_', " ").to_lowercase()
}

/// `git@host:path` as a URL.
fn with_scheme(text: &str) -> Cow<'_, str> {
    match text.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        Some((host, path)) => format!("https://{host}/{path}").into(),
        None => text.into(),
    }
}

#[derive(Debug, PartialEq)]
struct Url<'a> {
    scheme: String,
    host: String,
    path: String,
    query: Vec<Cow<'a, str>>,
    fragment: &'a str,
}

impl<'a> Url<'a> {
    fn new(text: &'a str) -> Self {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let user = rest.split(['/', '?']).next().and_then(|host| host.rsplit_once('@'));
        let rest = user.filter(|(user, _)| *user == "git").map_or(rest, |(user, _)| &rest[user.len() + 1..]);
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let scheme = scheme.to_lowercase();
        let host = host.to_lowercase();
        let host = host.strip_suffix(if scheme == "http" { ":80" } else { ":443" }).unwrap_or(&host);
        let host = host.strip_prefix("www.").unwrap_or(host).trim_end_matches('.').to_owned();
        let path = decoded(path);
        let path =
            path.trim_end_matches('/').trim_end_matches("/index.html").trim_end_matches(".git").to_owned();
        let is_of_visit = |part: &str| {
            let key = part.split('=').next().unwrap_or_default();
            let is_of_host = |hosts: &[&str]| hosts.iter().any(|known| host.ends_with(known));
            key.starts_with("utm_")
                || VISITS.contains(&key)
                || matches!(key, "si" | "feature") && is_of_host(&["youtube.com", "youtu.be"])
                || key == "ref_src" && is_of_host(&["twitter.com", "x.com"])
        };
        let mut query: Vec<Cow<'_, str>> = query
            .split('&')
            .filter(|part| !part.is_empty() && !is_of_visit(part))
            .map(|part| {
                if part.contains('+') {
                    decoded(&part.replace('+', " ")).into_owned().into()
                } else {
                    decoded(part)
                }
            })
            .collect();
        let (host, path) = long_form(&host, path, &mut query);
        query.sort_unstable();
        Self { scheme, host, path, query, fragment }
    }
}

/// Members of queries that say who came from where.
const VISITS: &[&str] = &["fbclid", "gclid", "igshid", "mc_cid", "mc_eid"];

/// The usual form of addresses that have a short one or one for telephones.
fn long_form(host: &str, path: String, query: &mut Vec<Cow<'_, str>>) -> (String, String) {
    let host = host.strip_prefix("m.").unwrap_or(host).replace(".m.", ".");
    let video = match host.as_str() {
        "youtu.be" => Some(path.as_str()),
        "youtube.com" | "youtube-nocookie.com" => {
            ["embed/", "v/", "live/", "shorts/"].iter().find_map(|before| path.strip_prefix(before))
        }
        _ => None,
    };
    let Some(video) = video.filter(|video| !video.is_empty() && !video.contains('/')) else {
        let host = if host == "twitter.com" { "x.com".to_owned() } else { host };
        return (host, path);
    };
    query.push(format!("v={video}").into());
    ("youtube.com".to_owned(), "watch".to_owned())
}

fn compare_urls(a: &Url<'_>, b: &Url<'_>) -> Finding {
    let kind = Kind::Url;
    if a.host != b.host {
        return Finding::new(kind, NOTHING, "another host");
    }
    if a.path != b.path {
        let is_case = a.path.to_lowercase() == b.path.to_lowercase();
        let is_other_code = || {
            let codes = |path: &str| -> Vec<String> { path.split(['/', '-']).map(str::to_owned).collect() };
            codes(&a.path)
                .iter()
                .zip(&codes(&b.path))
                .any(|(a, b)| a != b && (code::is_cased(a, true) || code::is_cased(b, true)))
        };
        let (score, reason) = if is_case && is_other_code() {
            (NOTHING, "another identifier in the path")
        } else if is_case {
            (0.7, "the path differs in the case of letters")
        } else {
            (NOTHING, "another page")
        };
        return Finding::new(kind, score, reason);
    }
    if a.query != b.query {
        return Finding::new(kind, 0.05, "another query");
    }
    if a.fragment != b.fragment {
        let is_once = a.fragment.is_empty() || b.fragment.is_empty();
        return Finding::new(kind, if is_once { 0.9 } else { 0.4 }, "another part of the page");
    }
    let is_web = |url: &Url<'_>| matches!(url.scheme.as_str(), "" | "http" | "https");
    if a.scheme != b.scheme && !(is_web(a) && is_web(b)) {
        return Finding::new(kind, 0.1, "another protocol");
    }
    Finding::new(kind, SAME_OTHERWISE, "the same address")
}
