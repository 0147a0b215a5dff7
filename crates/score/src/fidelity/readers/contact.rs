//! Mail addresses: the same or different, however similar their letters are.

use super::super::{Finding, Kind};
use super::{ArgumentContext, Values};

/// The most bytes of a text with mail addresses.
const LONGEST: usize = 4096;

/// Compares two texts if both are mail addresses, or lists of them.
pub(super) fn mails(_: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let is_same = addresses(a)? == addresses(b)?;
    Some(Finding::same_or_not(Kind::Contact, is_same, ["the same address", "another address"]))
}

/// The addresses that a text consists of, in the order of the alphabet; `None` if there is anything else in it.
fn addresses(text: &str) -> Option<Vec<String>> {
    if text.len() > LONGEST || !text.contains('@') {
        return None;
    }
    let mut addresses: Vec<String> = text
        .split([',', ';'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(address)
        .collect::<Option<_>>()?;
    addresses.sort_unstable();
    addresses.dedup();
    Some(addresses)
}

/// The address of `Nadia <nadia@example.com>`, `mailto:nadia@example.com`, or of an account or group of a server as
/// `@nadia@example.com` and `!cooking@example.com`, in lower case: hardly any server distinguishes capitals.
fn address(text: &str) -> Option<String> {
    let bare = match text.strip_suffix('>') {
        Some(named) => named.rsplit_once('<')?.1,
        None => text.strip_prefix("mailto:").or_else(|| text.strip_prefix(['@', '!'])).unwrap_or(text),
    };
    let (person, domain) = bare.split_once('@')?;
    let is_sign = |c: char| c.is_whitespace() || "@/:<>()[]\"'".contains(c);
    let labels = || domain.split('.');
    let is_address = !person.is_empty()
        && !bare.contains("..")
        && !person.contains(is_sign)
        && !domain.contains(is_sign)
        && labels().count() > 1
        && labels().all(|label| !label.is_empty())
        && labels().next_back().is_some_and(|last| last.chars().all(char::is_alphabetic));
    is_address.then(|| bare.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (a, b, are_same) in [
            ("nadia.moreau@atlas.com", "nadia@example.com", Some(false)),
            ("Nadia@Atlas.com", "nadia@atlas.com", Some(true)),
            ("Nadia Moreau <nadia@atlas.com>", "mailto:nadia@atlas.com", Some(true)),
            ("a@b.com, c@d.org", "c@d.org; a@b.com", Some(true)),
            ("a@b.com, c@d.org", "a@b.com", Some(false)),
            ("nadia@atlas.com", "nadia", None),
            ("git@host.com:group/project", "git@host.com:other/project", None),
            ("user@10.0.0.1", "user@10.0.0.2", None),
            ("@handle", "@other", None),
            ("@nadia@atlas.com", "nadia@atlas.com", Some(true)),
            ("!cooking@atlas.com", "!baking@atlas.com", Some(false)),
        ] {
            let equality = addresses(a).zip(addresses(b)).map(|(a, b)| a == b);
            assert_eq!(equality, are_same, "{a} {b}");
        }
    }
}
