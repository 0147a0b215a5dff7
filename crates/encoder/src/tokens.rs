//! Turns texts into token ids, in memory that does not grow with the texts.
//!
//! The tokenizer takes some 300 bytes for each byte of text before it cuts what is too long. So texts are tokenized
//! in groups, and of a long text only its beginning, if that is enough to know all tokens that count.

use tokenizers::{Result, Tokenizer};

/// The most bytes of text that are tokenized at once.
const GROUP_BYTES: usize = 64 << 10;

/// The bytes at the beginning of a longer text that are tokenized first; doubled until they are enough.
const BEGINNING: usize = 16 << 10;

/// The ids of each text, at most `max_tokens` of them, special tokens included; `tokenizer` is set to cut there.
pub(super) fn tokenize(tokenizer: &Tokenizer, max_tokens: usize, texts: &[&str]) -> Result<Vec<Vec<u32>>> {
    let mut ids = Vec::with_capacity(texts.len());
    let mut rest = texts;
    while let Some(first) = rest.first() {
        if first.len() > BEGINNING {
            ids.push(tokenize_long(tokenizer, max_tokens, first)?);
            rest = &rest[1..];
            continue;
        }
        let mut bytes = 0;
        let group = rest.iter().take_while(|text| {
            bytes += text.len();
            text.len() <= BEGINNING && bytes <= GROUP_BYTES
        });
        let (group, others) = rest.split_at(group.count());
        for encoding in tokenizer.encode_batch_fast(group.to_vec(), true)? {
            ids.push(encoding.get_ids().to_vec());
        }
        rest = others;
    }
    Ok(ids)
}

/// Tokenizes as much of a long text as is needed. Tokens depend on the text around them, within a word or so. When all
/// tokens that count end in the first half of the tokenized part, the text after this part cannot change them.
fn tokenize_long(tokenizer: &Tokenizer, max_tokens: usize, text: &str) -> Result<Vec<u32>> {
    let mut length = BEGINNING;
    loop {
        let end = text.floor_char_boundary(length);
        let encoding = tokenizer.encode(&text[..end], true)?;
        let last = encoding.get_offsets().iter().map(|&(_, end)| end).max().unwrap_or(0);
        if end == text.len() || (encoding.len() >= max_tokens && last <= end / 2) {
            return Ok(encoding.get_ids().to_vec());
        }
        length = length.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::TruncationParams;

    use super::*;

    /// Makes a tokenizer that knows the words `a` and `b`, with the `max_length` that an encoder would set.
    fn tokenizer(max_tokens: usize) -> Tokenizer {
        let json = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
            "model": {"type": "WordLevel", "vocab": {"?": 0, "a": 1, "b": 2}, "unk_token": "?"}}"#;
        let mut tokenizer = Tokenizer::from_bytes(json).unwrap();
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).unwrap();
        tokenizer
    }

    #[test]
    fn a_beginning_gives_the_tokens_of_the_whole() {
        let tokenizer = tokenizer(16);
        let white = " ".repeat(100_000);
        let texts = [
            "a b ".repeat(50_000),
            format!("a {white} b"),
            format!("{white}{}", "b ".repeat(20)),
            "é".repeat(60_000),
            String::new(),
            "b a".to_owned(),
        ];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let whole = |text: &&str| tokenizer.encode(*text, true).unwrap().get_ids().to_vec();
        let expected: Vec<Vec<u32>> = texts.iter().map(whole).collect();
        assert_eq!(tokenize(&tokenizer, 16, &texts).unwrap(), expected);
        assert_eq!(expected[0].len(), 16);
    }
}
