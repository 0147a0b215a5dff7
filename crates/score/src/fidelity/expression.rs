//! Mathematical expressions and formulas of spreadsheets, compared as trees: how operators and brackets are written
//! says nothing, what they are applied to says all.

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::{Finding, Kind};

/// Longer texts are none.
const LONGEST: usize = 1024;

/// Deeper expressions are none.
const DEEPEST: usize = 48;

/// Compares two texts if both can be read as expressions.
pub(super) fn compare(a: &str, b: &str) -> Option<Finding> {
    let is_same = canonical(a)? == canonical(b)?;
    Some(if is_same {
        Finding::new(Kind::Code, SAME_OTHERWISE, "the same expression")
    } else {
        Finding::new(Kind::Code, NOTHING, "another expression")
    })
}

/// One writing of all expressions that are the same; `None` where a text is none.
fn canonical(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let tree = parser.binary(0)?;
    (parser.at == tokens.len()).then(|| tree.written())
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(String),
    Word(String),
    /// In quotation marks.
    Text(String),
    Operator(&'static str),
    Open,
    Close,
    Comma,
}

/// Signs that are longer than a character first.
const OPERATORS: &[(&str, &str)] = &[
    ("**", "^"),
    ("//", "//"),
    ("<=", "<="),
    (">=", ">="),
    ("<>", "!="),
    ("!=", "!="),
    ("==", "="),
    ("&&", "and"),
    ("||", "or"),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
    ("–", "-"),
    ("*", "*"),
    ("×", "*"),
    ("·", "*"),
    ("⋅", "*"),
    ("∗", "*"),
    ("•", "*"),
    ("/", "/"),
    ("÷", "/"),
    ("∕", "/"),
    ("⁄", "/"),
    ("^", "^"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("%", "%"),
    (":", ":"),
    ("&", "&"),
    ("!", "!"),
];

/// Commands of LaTeX that are operators.
const COMMANDS: &[(&str, &str)] = &[
    ("times", "*"),
    ("cdot", "*"),
    ("ast", "*"),
    ("div", "/"),
    ("le", "<="),
    ("leq", "<="),
    ("ge", ">="),
    ("geq", ">="),
    ("ne", "!="),
    ("neq", "!="),
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let text = text.trim();
    let is_formula = text.starts_with('=');
    let mut rest = text.strip_prefix('=').unwrap_or(text).trim_end_matches(['=', '?', ' ']);
    let mut found = Vec::new();
    while let Some(c) = rest.chars().next() {
        let (token, length) = match c {
            _ if c.is_whitespace() || c == '$' => (None, c.len_utf8()),
            '(' | '[' | '{' => (Some(Token::Open), 1),
            ')' | ']' | '}' => (Some(Token::Close), 1),
            ',' | ';' => (Some(Token::Comma), 1),
            'π' => (Some(Token::Word("pi".to_owned())), c.len_utf8()),
            '√' => (Some(Token::Word("sqrt".to_owned())), c.len_utf8()),
            '²' | '³' => {
                found.push(Token::Operator("^"));
                (Some(Token::Number(if c == '²' { "2" } else { "3" }.to_owned())), c.len_utf8())
            }
            '"' => {
                let end = rest[1..].find('"')? + 1;
                (Some(Token::Text(rest[1..end].to_owned())), end + 1)
            }
            '\\' => command(rest)?,
            _ if c.is_ascii_digit() || c == '.' => number(rest)?,
            _ if c.is_alphabetic() || c == '_' => word(rest, is_formula),
            _ => {
                let (sign, operator) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign))?;
                (Some(Token::Operator(operator)), sign.len())
            }
        };
        found.extend(token);
        rest = &rest[length..];
    }
    Some(found)
}

fn number(rest: &str) -> Option<(Option<Token>, usize)> {
    let digits = |text: &str| text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let mut length = digits(rest);
    // An exponent, unless the letter begins a name.
    let exponent = &rest[length..];
    if let Some(power) = exponent.strip_prefix(['e', 'E']) {
        let signed = power.strip_prefix(['-', '+']).unwrap_or(power);
        let count = signed.bytes().take_while(u8::is_ascii_digit).count();
        if count > 0 && !signed[count..].starts_with(|c: char| c.is_alphanumeric()) {
            length += 1 + (power.len() - signed.len()) + count;
        }
    }
    let value: f64 = rest[..length].parse().ok()?;
    Some((Some(Token::Number(value.to_string())), length))
}

fn word(rest: &str, is_formula: bool) -> (Option<Token>, usize) {
    let end =
        rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))).unwrap_or(rest.len());
    let word: String = rest[..end].chars().filter(|c| *c != '$').map(super::code::lowered).collect();
    // The names of functions are written in any case, those of variables are not.
    let is_function = rest[end..].trim_start().starts_with('(');
    let word = if is_formula || is_function { word.to_lowercase() } else { word };
    let word = word.strip_prefix("math.").or_else(|| word.strip_prefix("Math.")).unwrap_or(&word).to_owned();
    (Some(Token::Word(word)), end)
}

fn command(rest: &str) -> Option<(Option<Token>, usize)> {
    let name: String = rest[1..].chars().take_while(char::is_ascii_alphabetic).collect();
    let length = 1 + name.len();
    if let Some((_, operator)) = COMMANDS.iter().find(|(command, _)| *command == name) {
        return Some((Some(Token::Operator(operator)), length));
    }
    match name.as_str() {
        "" => Some((None, 1 + rest[1..].chars().next()?.len_utf8())),
        "left" | "right" | "displaystyle" => Some((None, length)),
        "dfrac" | "tfrac" => Some((Some(Token::Word("frac".to_owned())), length)),
        _ => Some((Some(Token::Word(name)), length)),
    }
}

/// What an expression is made of.
#[derive(Debug, PartialEq)]
enum Tree {
    Leaf(String),
    Node(String, Vec<Tree>),
}

impl Tree {
    fn node(name: &str, parts: Vec<Tree>) -> Self {
        Self::Node(name.to_owned(), parts)
    }

    /// Sums and products have no brackets within and no order.
    fn joined(name: &str, left: Tree, right: Tree) -> Self {
        let mut parts = Vec::new();
        for tree in [left, right] {
            match tree {
                Tree::Node(inner, within) if inner == name => parts.extend(within),
                tree => parts.push(tree),
            }
        }
        Self::node(name, parts)
    }

    fn negated(self) -> Self {
        match self {
            Tree::Leaf(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                Tree::Leaf(format!("-{number}"))
            }
            tree => Tree::node("neg", vec![tree]),
        }
    }

    fn written(&self) -> String {
        match self {
            Tree::Leaf(text) => text.clone(),
            Tree::Node(name, parts) => {
                let mut parts: Vec<String> = parts.iter().map(Tree::written).collect();
                if matches!(name.as_str(), "+" | "*" | "=" | "!=" | "and" | "or") {
                    parts.sort_unstable();
                }
                format!("{name}({})", parts.join(","))
            }
        }
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

/// Operators from those that bind least.
const LEVELS: &[&[&str]] =
    &[&["or"], &["and"], &["=", "!=", "<", "<=", ">", ">="], &["&"], &["+", "-"], &["*", "/", "//", "%"]];

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn operator(&self) -> Option<&'static str> {
        match self.peek() {
            Some(Token::Operator(operator)) => Some(operator),
            Some(Token::Word(word)) => match word.as_str() {
                "mod" => Some("%"),
                "and" | "AND" => Some("and"),
                "or" | "OR" => Some("or"),
                _ => None,
            },
            _ => None,
        }
    }

    fn takes(&mut self, token: &Token) -> bool {
        let is_it = self.peek() == Some(token);
        self.at += usize::from(is_it);
        is_it
    }

    /// What operators of this level and tighter ones make of what follows.
    fn binary(&mut self, level: usize) -> Option<Tree> {
        let Some(operators) = LEVELS.get(level) else { return self.signed() };
        let mut left = self.binary(level + 1)?;
        loop {
            let (operator, is_written) = match self.operator() {
                Some(operator) if operators.contains(&operator) => (operator, true),
                None if operators.contains(&"*") && self.is_factor() => ("*", false),
                _ => return Some(left),
            };
            self.at += usize::from(is_written);
            let right = self.binary(level + 1)?;
            left = match operator {
                "+" | "*" | "and" | "or" => Tree::joined(operator, left, right),
                "-" => Tree::joined("+", left, right.negated()),
                "/" => Tree::joined("*", left, Tree::node("inverse", vec![right])),
                ">" => Tree::node("<", vec![right, left]),
                ">=" => Tree::node("<=", vec![right, left]),
                operator => Tree::node(operator, vec![left, right]),
            };
        }
    }

    /// Whether a factor follows without a sign, as in `2x` and `3(4)`.
    fn is_factor(&self) -> bool {
        let is_operand = |token: &Token| matches!(token, Token::Number(_) | Token::Word(_) | Token::Open);
        let before = self.at.checked_sub(1).and_then(|before| self.tokens.get(before));
        // Words beside words are text.
        let is_after_operand = matches!(before, Some(Token::Number(_) | Token::Close));
        is_after_operand && self.peek().is_some_and(is_operand)
    }

    fn signed(&mut self) -> Option<Tree> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let tree = if self.takes(&Token::Operator("-")) {
            self.signed()?.negated()
        } else if self.takes(&Token::Operator("+")) {
            self.signed()?
        } else {
            let base = self.postfix()?;
            if self.takes(&Token::Operator("^")) { Tree::node("^", vec![base, self.signed()?]) } else { base }
        };
        self.depth -= 1;
        Some(tree)
    }

    fn postfix(&mut self) -> Option<Tree> {
        let mut tree = self.primary()?;
        loop {
            let next = self.tokens.get(self.at + 1);
            let is_last =
                !matches!(next, Some(Token::Number(_) | Token::Word(_) | Token::Open | Token::Text(_)));
            match self.peek() {
                Some(Token::Operator("%")) if is_last => {
                    self.at += 1;
                    tree = Tree::node("percent", vec![tree]);
                }
                Some(Token::Operator("!")) if is_last => {
                    self.at += 1;
                    tree = Tree::node("factorial", vec![tree]);
                }
                // Ranges of cells, and cells of another sheet.
                Some(Token::Operator(sign @ (":" | "!"))) => {
                    let sign = *sign;
                    self.at += 1;
                    let right = self.primary()?;
                    tree = Tree::node(sign, vec![tree, right]);
                }
                _ => return Some(tree),
            }
        }
    }

    fn primary(&mut self) -> Option<Tree> {
        let token = self.peek()?.clone();
        self.at += 1;
        match token {
            Token::Number(number) => {
                // The letter between two numbers is a sign.
                let is_sign = matches!(self.peek(), Some(Token::Word(word)) if word == "x" || word == "X")
                    && matches!(self.tokens.get(self.at + 1), Some(Token::Number(_)));
                if is_sign {
                    self.at += 1;
                    let other = self.primary()?;
                    return Some(Tree::joined("*", Tree::Leaf(number), other));
                }
                Some(Tree::Leaf(number))
            }
            Token::Text(text) => Some(Tree::Leaf(format!("\"{text}\""))),
            Token::Open => {
                let tree = self.nested()?;
                self.takes(&Token::Close).then_some(tree)
            }
            Token::Word(word) if word == "frac" => {
                let (above, below) = (self.group()?, self.group()?);
                Some(Tree::joined("*", above, Tree::node("inverse", vec![below])))
            }
            Token::Word(word) if word == "sqrt" => {
                let under = if self.peek() == Some(&Token::Open) { self.group()? } else { self.primary()? };
                Some(Tree::node("^", vec![under, Tree::Leaf("0.5".to_owned())]))
            }
            Token::Word(word) if self.takes(&Token::Open) => self.call(&word),
            Token::Word(word) => Some(Tree::Leaf(word)),
            Token::Operator(_) | Token::Close | Token::Comma => None,
        }
    }

    fn nested(&mut self) -> Option<Tree> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let tree = self.binary(0);
        self.depth -= 1;
        tree
    }

    fn group(&mut self) -> Option<Tree> {
        if !self.takes(&Token::Open) {
            return None;
        }
        let tree = self.nested()?;
        self.takes(&Token::Close).then_some(tree)
    }

    fn call(&mut self, name: &str) -> Option<Tree> {
        let mut arguments = Vec::new();
        while !self.takes(&Token::Close) {
            if !arguments.is_empty() && !self.takes(&Token::Comma) {
                return None;
            }
            arguments.push(self.nested()?);
        }
        let is_power = matches!(name, "pow" | "power") && arguments.len() == 2;
        Some(Tree::Node(if is_power { "^".to_owned() } else { format!("call {name}") }, arguments))
    }
}
