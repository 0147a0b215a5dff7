//! A reply as words, numbers and codes, in one spelling: no Markdown, no accents, lower case, one kind of dash and quote.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, or a sign such as `$` or `%`.
    Word,
    /// Digits that can be read as a number or a time, such as `4:20`.
    Number,
    /// An identifier, a file name, an address, a date in digits.
    Code,
}

/// How strongly a token is separated from the one before it, from weakest to strongest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    None,
    /// A colon, which binds what follows to what stands before.
    Colon,
    /// A comma or bracket.
    Comma,
    /// A dash, an arrow or the like.
    Clause,
    Sentence,
    /// Also the separation of a text's first token from nothing.
    #[default]
    Line,
}

/// A word, a number or a code.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// The token as the reply writes it.
    pub(super) shown: String,
    /// The token in the form in which it is compared.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// The separation from the token before it.
    pub(super) gap: Break,
    /// Whether the token is the first of an item in a list.
    pub(super) is_item: bool,
    /// Whether a colon follows.
    pub(super) is_label: bool,
    /// The number of the quotation that the token is in, counted from 1; 0 outside of quotations.
    pub(super) quotation: usize,
}

/// Currencies' signs.
const SIGNS: [char; 6] = ['$', '€', '£', '¥', '₹', '₽'];

/// The tokens of a reply.
pub(super) fn tokens(reply: &str) -> Vec<Token> {
    let mut reader = Reader::default();
    for line in plain(reply).lines() {
        reader.read_line(line);
    }
    reader.tokens
}

/// Lower case, without accents.
pub(super) fn folded(word: &str) -> String {
    word.nfd().filter(|&c| !is_combining_mark(c)).collect::<String>().to_lowercase()
}

/// A reply with one kind of space, quote and dash, and without the marks of Markdown.
fn plain(reply: &str) -> String {
    // Narrow and no-break spaces between two digits group the digits of a number. They are removed here, before the
    // normalization makes plain spaces of them.
    let parted: Vec<char> = reply.chars().collect();
    let digit = |at: usize| parted.get(at).is_some_and(char::is_ascii_digit);
    let kept = parted.iter().enumerate().filter(|&(at, c)| {
        !(matches!(c, '\u{a0}' | '\u{202f}' | '\u{2009}') && at > 0 && digit(at - 1) && digit(at + 1))
    });
    let text: String = kept.map(|(_, &c)| c).nfkc().collect();
    let text = text.replace("**", "");
    text.chars()
        .map(|c| match c {
            '“' | '”' | '„' | '«' | '»' => '"',
            '‘' | '’' | '´' => '\'',
            '‐' | '‒' | '–' | '−' => '-',
            '`' | '*' => ' ',
            _ => c,
        })
        .collect()
}

/// Reads tokens: those so far, and the state in which the next one begins.
#[derive(Debug, Default)]
struct Reader {
    tokens: Vec<Token>,
    gap: Break,
    is_item: bool,
    quotation: usize,
    quotations: usize,
    /// The number of open braces. The members of a JSON object belong together, even on several lines.
    depth: usize,
}

impl Reader {
    fn read_line(&mut self, line: &str) {
        self.quotation = 0;
        self.part(if self.depth > 0 { Break::Comma } else { Break::Line });
        let line = line.trim_start();
        let rest = after_mark(line);
        self.is_item = rest.len() < line.len();
        let mut rest = rest;
        while let Some(first) = rest.chars().next() {
            let length = chunk_length(rest);
            if length == 0 {
                self.read_separator(first, &rest[first.len_utf8()..]);
                rest = &rest[first.len_utf8()..];
            } else {
                self.read_chunk(&rest[..length]);
                rest = &rest[length..];
            }
        }
    }

    fn read_separator(&mut self, separator: char, rest: &str) {
        match separator {
            '"' if self.quotation > 0 => self.quotation = 0,
            '"' if rest.contains('"') => {
                self.quotations += 1;
                self.quotation = self.quotations;
            }
            ',' | '(' | ')' => self.part(Break::Comma),
            ':' => {
                self.label();
                self.part(Break::Colon);
            }
            '{' => {
                self.depth += 1;
                self.part(Break::Line);
            }
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                self.part(Break::Line);
            }
            ';' => self.part(Break::Sentence),
            c if c.is_whitespace() || "~≈<>≤≥×".contains(c) => {}
            _ => self.part(Break::Clause),
        }
    }

    /// Makes the last token a label. A code such as `avg_close` becomes two words first.
    fn label(&mut self) {
        let is_words = |token: &Token| {
            token.kind == Kind::Code && token.text.chars().all(|c| c.is_alphabetic() || c == '_')
        };
        if let Some(code) = self.tokens.pop_if(|token| is_words(token)) {
            let mut gap = code.gap;
            for word in code.shown.split('_').filter(|word| !word.is_empty()) {
                let (shown, text) = (word.to_owned(), folded(word));
                self.tokens.push(Token { shown, text, kind: Kind::Word, gap, ..code.clone() });
                gap = Break::None;
            }
        }
        if let Some(last) = self.tokens.last_mut() {
            last.is_label = true;
        }
    }

    fn part(&mut self, gap: Break) {
        self.gap = self.gap.max(gap);
    }

    /// Reads the characters between two spaces or separators, without the marks around them.
    fn read_chunk(&mut self, chunk: &str) {
        let is_kept = |c: char| c.is_alphanumeric() || SIGNS.contains(&c) || matches!(c, '%' | '°');
        let begin = chunk.find(is_kept).map_or(chunk.len(), |at| {
            let before = chunk[..at].chars().next_back();
            let number = chunk[at..].starts_with(|c: char| c.is_ascii_digit() || SIGNS.contains(&c));
            at - before.filter(|&c| number && matches!(c, '-' | '.')).map_or(0, char::len_utf8)
        });
        if chunk[..begin].ends_with('-') || begin == chunk.len() && chunk.starts_with(['-', '—', '→']) {
            self.part(Break::Clause);
        }
        let end = chunk
            .rfind(is_kept)
            .map_or(begin, |at| at + chunk[at..].chars().next().map_or(0, char::len_utf8));
        self.read_trimmed(&chunk[begin..end.max(begin)]);
        if chunk[end..].contains(['.', '!', '?']) && !is_abbreviation(&chunk[..end]) {
            self.part(Break::Sentence);
        }
    }

    fn read_trimmed(&mut self, mut chunk: &str) {
        while !chunk.is_empty() {
            if is_address(chunk) {
                return self.push(chunk, Kind::Code);
            }
            let unsigned = chunk.trim_start_matches(|c: char| c == '-' || c == '.' || SIGNS.contains(&c));
            if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
                chunk = self.read_digits(chunk);
                continue;
            }
            let is_sign = |c: char| SIGNS.contains(&c) || matches!(c, '%' | '°');
            let Some(sign) = chunk.chars().next().filter(|c| is_sign(*c)) else {
                return self.read_words(chunk);
            };
            let (sign, rest) = if sign == '°' { (chunk, "") } else { chunk.split_at(sign.len_utf8()) };
            self.push(sign, Kind::Word);
            // Repeated signs (`$$`) count as one.
            chunk = rest.trim_start_matches(is_sign);
        }
    }

    fn read_words(&mut self, chunk: &str) {
        let has_digit = chunk.contains(|c: char| c.is_ascii_digit());
        if has_digit && !chunk.contains('/') || is_file_like(chunk) {
            return self.push(chunk, Kind::Code);
        }
        if chunk.contains(['/', '-', '+', '&']) {
            return chunk.split(['/', '-', '+', '&']).for_each(|part| self.read_trimmed(part));
        }
        self.push_word(chunk);
    }

    /// Reads `12km`, `-3.5`, `200-400`, `$15.33`, `3/5` or `8:00AM`; anything else becomes a code. Returns the rest
    /// that still has to be read.
    fn read_digits<'c>(&mut self, chunk: &'c str) -> &'c str {
        let negative = chunk.starts_with('-');
        let mut rest = chunk.trim_start_matches('-');
        if let Some(sign) = rest.chars().next().filter(|c| SIGNS.contains(c)) {
            self.push(&rest[..sign.len_utf8()], Kind::Word);
            rest = rest.trim_start_matches(|c: char| c == '-' || SIGNS.contains(&c));
        }
        let length = number_length(rest);
        let (number, after) = rest.split_at(length);
        let next = after.chars().next();
        let shown = if negative { format!("-{number}") } else { number.to_owned() };
        let letters: usize = after.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
        let is_zip =
            number.len() > 1 && number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit());
        let rest = match next {
            _ if is_zip || number.is_empty() => None,
            None | Some('%' | '°') => Some(after),
            Some('-' | '/') if is_second(&after[1..]) => Some(&after[1..]),
            Some('x') if after[1..].starts_with(|c: char| c.is_ascii_digit()) => Some(&after[1..]),
            Some(_) if (1..=8).contains(&letters) && is_tail(&after[letters..]) => Some(after),
            Some(_) => None,
        };
        let (shown, kind) = rest.map_or((chunk, Kind::Code), |_| (&*shown, Kind::Number));
        self.push(shown, kind);
        rest.unwrap_or_default()
    }

    /// Adds a word: `isn't` becomes `is` and `not`, `Rose's` becomes `rose`.
    fn push_word(&mut self, word: &str) {
        let lower = folded(word);
        if let Some(verb) = lower.strip_suffix("n't") {
            self.push_as(word, verb.to_owned(), Kind::Word);
            return self.push_as("not", "not".to_owned(), Kind::Word);
        }
        let bare = lower.strip_suffix("'s").unwrap_or(&lower).replace(['\'', '.'], "");
        self.push_as(word, bare, Kind::Word);
    }

    fn push(&mut self, shown: &str, kind: Kind) {
        let text = if kind == Kind::Number { shown.replace(',', "") } else { shown.to_owned() };
        self.push_as(shown, folded(&text), kind);
    }

    fn push_as(&mut self, shown: &str, text: String, kind: Kind) {
        if text.is_empty() {
            return;
        }
        let Self { gap, is_item, quotation, .. } = *self;
        let shown = shown.to_owned();
        let token = Token { shown, text, kind, gap, is_item, is_label: false, quotation };
        self.tokens.push(token);
        (self.gap, self.is_item) = (Break::None, false);
    }
}

/// What follows a list's mark (`-`, `•`, `2.`, `2)`) or a heading's.
fn after_mark(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if (1..=2).contains(&digits) {
        line[digits..].strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '•', '·'])
            .or_else(|| line.starts_with('#').then(|| line.trim_start_matches('#')))
    };
    rest.filter(|rest| rest.starts_with(char::is_whitespace)).map_or(line, str::trim_start)
}

/// The bytes up to the next space or separator; 0 where one stands first.
fn chunk_length(rest: &str) -> usize {
    if is_address(rest) {
        return rest.find(|c: char| c.is_whitespace() || "\"<>|)]},".contains(c)).unwrap_or(rest.len());
    }
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let ends = |(at, c): &(usize, char)| match c {
        ',' => !(is_thousands(&bytes[..*at], &bytes[at + 1..])),
        ':' => !(*at > 0 && digit(at - 1) && digit(at + 1)),
        '"' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | ';' | '=' | '—' | '→' | '·' | '…' | '<' | '>'
        | '~' | '≈' | '≥' | '≤' | '×' | '\\' => true,
        c => c.is_whitespace(),
    };
    rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at)
}

/// Whether a comma between these bytes groups thousands, as in `1,200`.
fn is_thousands(before: &[u8], after: &[u8]) -> bool {
    let group = after.iter().take_while(|b| b.is_ascii_digit()).count();
    let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let begin = before.len() - digits;
    let is_fraction = begin > 0 && before[begin - 1] == b'.';
    group == 3 && (1..=3).contains(&digits) && !is_fraction
}

/// The bytes of a number at the start: `1,200.5`, `4:20`, `1e-5`.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    while digit(at) || matches!(bytes.get(at), Some(b'.' | b',' | b':')) && digit(at + 1) {
        at += 1;
    }
    let exponent = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+'))) + 1;
    if matches!(bytes.get(at), Some(b'e' | b'E')) && digit(at + exponent) {
        at += exponent;
        while digit(at) {
            at += 1;
        }
    }
    at
}

/// Whether this may follow a number and its unit.
fn is_tail(text: &str) -> bool {
    text.is_empty() || text.starts_with(['-', '/']) && is_second(&text[1..])
}

/// Whether this may follow a number and a dash: another number, or words.
fn is_second(text: &str) -> bool {
    let length = number_length(text.trim_start_matches(SIGNS));
    let rest = &text.trim_start_matches(SIGNS)[length..];
    let is_plain = rest.chars().all(|c| c.is_alphabetic() || matches!(c, '%' | '°' | '-' | '/'));
    is_plain
        && !(length > 0
            && (rest.contains(['-', '/'])
                || text.len() > 1 && text.starts_with('0') && !text.contains(['.', ':'])))
}

fn is_address(text: &str) -> bool {
    ["http://", "https://", "www."].iter().any(|begin| text.starts_with(begin))
}

/// Whether a point after this word ends no sentence, as after `e.g.`, `U.S.` and `St.`.
fn is_abbreviation(word: &str) -> bool {
    let has_capital = word.contains(char::is_uppercase);
    let is_short = word.split('.').all(|part| part.chars().count() <= 1);
    is_short && (has_capital || word.contains('.'))
        || matches!(word, "approx" | "Approx" | "St" | "Mr" | "Mrs" | "Dr" | "No" | "vs" | "etc")
}

/// Whether a word is a file's name, an identifier or an address: `moon.png`, `a_b`, `ada@example.org`,
/// `images/moon.png`.
fn is_file_like(word: &str) -> bool {
    let has_point = word.split('.').count() > 1 && !word.split('.').all(|part| part.chars().count() <= 1);
    has_point && word.split('.').all(|part| !part.is_empty()) || word.contains(['_', '@'])
}
