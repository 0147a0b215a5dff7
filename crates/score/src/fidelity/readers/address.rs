//! Paths, names of files, and URLs.

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;
use url::Url;

use super::super::constants::{NOTHING, ORIGIN_SAID_ONCE, SAME_OTHERWISE, UNIT_SAID_ONCE};
use super::super::{Finding, Kind};
use super::{ArgumentContext, Values, code};

/// The most bytes of a path or a URL.
const LONGEST: usize = 4096;

/// The score of files of the same name whose folders differ or are not both known.
const OTHER_FOLDER: f64 = 0.2;

/// Endings of files.
const ENDINGS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "svg", "pdf", "doc", "docx", "xls", "xlsx",
    "ppt", "pptx", "csv", "tsv", "json", "jsonl", "xml", "yaml", "yml", "toml", "txt", "md", "html", "htm",
    "py", "rs", "js", "ts", "zip", "gz", "tar", "mp3", "mp4", "wav", "avi", "mov", "mkv", "log", "ini", "db",
    "sqlite", "parquet",
];

/// Pairs of endings that mean the same kind of file.
const ALIKE: &[(&str, &str)] = &[("jpg", "jpeg"), ("tif", "tiff"), ("htm", "html"), ("yml", "yaml")];

/// Whether a text is a path; `is_named` where its argument's name says so.
fn is_path(text: &str, is_named: bool) -> bool {
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

/// The segments of a path without `.`, `..` and empty ones, and whether it is absolute.
fn segments(path: &str) -> (Vec<String>, bool) {
    let path = path.trim().trim_matches(['"', '\'']);
    let path =
        path.strip_prefix("file://").map_or(path, |rest| rest.strip_prefix("localhost").unwrap_or(rest));
    let path = path.replace('\\', "/");
    // `/C:/a` in a URL is `C:/a`.
    let path = path.strip_prefix('/').filter(|rest| rest.get(1..3) == Some(":/")).unwrap_or(&path);
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| last != "..") => {
                segments.pop();
            }
            // Names of files are escaped in addresses, and programs that make paths of addresses leave them so.
            segment => segments.push(unescaped(segment)),
        }
    }
    let is_absolute = path.starts_with('/') || path.starts_with('~');
    (segments, is_absolute)
}

/// A part of a path without the escapes of addresses, its accents part of their letters.
fn unescaped(part: &str) -> String {
    percent_decode_str(part).decode_utf8().map_or_else(|_| part.to_owned(), |part| part.nfc().collect())
}

/// Compares two texts if both are paths.
pub(super) fn paths(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let is_named = context.name.is_of("paths");
    (is_path(a, is_named) && is_path(b, is_named)).then(|| compare_paths(a, b))
}

fn compare_paths(a: &str, b: &str) -> Finding {
    // A path that begins with `./` says in which folder it is.
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
            Finding::new(kind, OTHER_FOLDER, "same file name; only one side gives the folder")
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
        return Finding::new(kind, OTHER_FOLDER, "a file of this name in another folder");
    }
    Finding::new(kind, NOTHING, "another file")
}

fn ending(name: Option<&String>) -> (&str, &str) {
    name.map_or(("", ""), |name| name.rsplit_once('.').unwrap_or((name, "")))
}

/// Compares two texts if both are URLs, or one is and the other is one without its scheme.
pub(super) fn urls(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let is_told = |text: &str| {
        let is_named = context.name.is_of("urls") || text.starts_with("www.");
        text.contains("://") && !text.starts_with("file:") || text.starts_with("git@") || is_named
    };
    if !is_told(a) && !is_told(b) {
        return None;
    }
    let (x, y) = (url(a)?, url(b)?);
    // An identifier and its page: `10.1038/nature14539` is not the name of a host.
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if (is_number(a) || is_number(b)) && code::is_end_of_other(a, b, &['/']) {
        return Some(Finding::new(Kind::Url, ORIGIN_SAID_ONCE, code::SAID_ONCE));
    }
    Some(compare_urls(&x, &y))
}

/// A text as a URL, whose scheme may be left out.
fn url(text: &str) -> Option<Url> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let has_scheme = text.contains("://");
    let text = match text.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        Some((host, path)) => format!("https://{host}/{path}"),
        None if has_scheme => text.to_owned(),
        None if text.contains(char::is_whitespace) => return None,
        None => format!("https://{text}"),
    };
    // Without a scheme, a name without a point is not a host.
    let url = Url::parse(&text).ok()?;
    let is_host = has_scheme || url.host_str().is_some_and(|host| host.contains('.'));
    // A text with several addresses is not a URL.
    let is_one = !url.host_str().unwrap_or_default().contains(',');
    (is_host && is_one)
        .then(|| if url.host_str() == Some("youtu.be") { page_of_video(&url).unwrap_or(url) } else { url })
}

/// The page that a short address of a video leads to.
fn page_of_video(url: &Url) -> Option<Url> {
    let mut page = Url::parse("https://www.youtube.com/watch").ok()?;
    let id = url.path().trim_matches('/').to_owned();
    page.query_pairs_mut().append_pair("v", &id).extend_pairs(url.query_pairs());
    Some(page)
}

fn compare_urls(a: &Url, b: &Url) -> Finding {
    let host = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        let host = host
            .strip_prefix("www.")
            .or_else(|| host.strip_prefix("m."))
            .unwrap_or(host)
            .trim_end_matches('.')
            .to_owned();
        (url.username().to_owned(), url.password().map(str::to_owned), host)
    };
    // The path is decoded part by part: a slash that is written `%2F` divides nothing.
    let path = |url: &Url| {
        let path = url.path().trim_end_matches('/').trim_end_matches("/index.html").trim_end_matches(".git");
        path.split('/').map(unescaped).collect::<Vec<String>>()
    };
    let query = |url: &Url| {
        let mut members: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        // Parameters that only say who shared the address are ignored.
        members.retain(|(key, _)| !key.starts_with("utm_") && key != "si");
        members.sort_unstable();
        members
    };
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
    let (score, reason) = if host(a) != host(b) {
        (NOTHING, "another host")
    } else if a.port().is_some_and(|port| b.port().is_some_and(|other| port != other)) {
        (NOTHING, "another port")
    } else if path(a) != path(b) {
        let folded = |url: &Url| path(url).iter().map(|part| part.to_lowercase()).collect::<Vec<_>>();
        let is_case = folded(a) == folded(b);
        if is_case { (0.5, "the path differs in the case of letters") } else { (NOTHING, "another page") }
    } else if query(a) != query(b) {
        (0.05, "another query")
    } else if a.fragment() != b.fragment() {
        let is_once = a.fragment().is_none() || b.fragment().is_none();
        (if is_once { 0.9 } else { 0.4 }, "another part of the page")
    } else if a.scheme() != b.scheme() && !(is_web(a) && is_web(b)) {
        (0.1, "another protocol")
    } else if a.port() != b.port() {
        // Both schemes of the web have a default port, which `url` leaves out; those of other schemes are not known
        // here.
        (if is_web(a) { NOTHING } else { UNIT_SAID_ONCE }, "the port said once")
    } else {
        (SAME_OTHERWISE, "the same address")
    };
    Finding::new(Kind::Url, score, reason)
}
