//! Paths of files, and which of them may be the same.

/// A file's or folder's path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilePath {
    parts: Vec<String>,
    pub(crate) is_file: bool,
    is_absolute: bool,
}

impl FilePath {
    /// A path, if the text looks like one: it contains a folder (`./media`, `/tmp/x`) or ends like a file
    /// (`poster.png`).
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix("file://").unwrap_or(text);
        if text.is_empty()
            || text.len() > 4096
            || text.contains("://")
            || text.contains(['\n', '\0', '?', '*', '"'])
        {
            return None;
        }
        let is_rooted = ["/", "./", "../", "~/", ".\\"].iter().any(|root| text.starts_with(root));
        let parts: Vec<String> = text
            .split(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_owned)
            .collect();
        let name = parts.last()?;
        let is_file = name.rsplit_once('.').is_some_and(|(stem, end)| {
            (1..=5).contains(&end.len())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && end.bytes().any(|byte| byte.is_ascii_alphabetic())
                && stem.chars().any(char::is_alphanumeric)
        });
        (is_file || is_rooted).then_some(Self { is_file, is_absolute: text.starts_with('/'), parts })
    }

    /// Whether both may be the same file, or one a folder that contains the other. A path and a shorter one that it
    /// ends with may be the same.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let (short, long) = if self.parts.len() <= other.parts.len() { (self, other) } else { (other, self) };
        let is_end = !(short.is_absolute && long.is_absolute && short.parts.len() != long.parts.len())
            && long.parts.ends_with(&short.parts);
        is_end || (!short.is_file && long.parts.starts_with(&short.parts))
    }

    /// Its folders and its name.
    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_meet_where_they_may_be_the_same() {
        let meet = |a: &str, b: &str| FilePath::new(a).unwrap().may_meet(&FilePath::new(b).unwrap());
        assert!(meet("a.png", "./a.png") && meet("a.png", "media/a.png") && meet("./out", "out/a.png"));
        assert!(!meet("a.png", "b.png") && !meet("x/a.png", "y/a.png") && !meet("/a.png", "/x/a.png"));
        for text in ["Porto", "https://a.org/b.png", "en-US", "2510.08638v1", "", "1.5", "/"] {
            assert_eq!(FilePath::new(text), None, "{text}");
        }
    }
}
