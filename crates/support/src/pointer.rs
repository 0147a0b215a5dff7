//! JSON pointers (RFC 6901): `/steps/0/a~1b` leads to the member `a/b`.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

/// The pointer of the member or item `segment` below `pointer`.
#[must_use]
pub fn pointer_to(pointer: &str, segment: impl Display) -> String {
    let mut below = String::with_capacity(pointer.len() + 16);
    below.push_str(pointer);
    below.push('/');
    let start = below.len();
    // Writing to a string cannot fail.
    let _ = write!(below, "{segment}");
    if below[start..].contains(['~', '/']) {
        let escaped = below[start..].replace('~', "~0").replace('/', "~1");
        below.replace_range(start.., &escaped);
    }
    below
}

/// The keys and indices of a pointer; none for the empty pointer, which means the whole.
pub fn segments(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(|segment| {
        if segment.contains('~') {
            segment.replace("~1", "/").replace("~0", "~").into()
        } else {
            segment.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_as_they_were() {
        let keys = ["a/b", "~1", "", "x"];
        let pointer = keys.iter().fold(String::new(), |pointer, key| pointer_to(&pointer, key));
        assert_eq!(pointer, "/a~1b/~01//x");
        assert_eq!(segments(&pointer).collect::<Vec<_>>(), keys);
        assert_eq!(segments("").count(), 0);
    }
}
