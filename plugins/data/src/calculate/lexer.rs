//! Splits an expression into tokens. Knows no names and no precedence.

use super::Fault;
use crate::exact::{self, Number};

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// The character it starts at, from 0.
    pub(super) at: usize,
    /// The byte it starts at.
    pub(super) byte: usize,
    /// Whether a blank stands before it.
    pub(super) spaced: bool,
}

/// The kinds of token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A literal number.
    Number(Number),
    /// A function, constant, unit or variable.
    Name(String),
    /// An operator or bracket.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// Longest first, so that `**` is not read as two `*`.
const SYMBOLS: [(&str, &str); 32] = [
    ("**", "^"),
    ("<<", "<<"),
    (">>", ">>"),
    ("==", "=="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
    ("–", "-"),
    ("*", "*"),
    ("×", "*"),
    ("·", "*"),
    ("/", "/"),
    ("÷", "/"),
    ("^", "^"),
    ("%", "%"),
    ("!", "!"),
    ("&", "&"),
    ("|", "|"),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("(", "("),
    (")", ")"),
    (",", ","),
    (";", ";"),
    ("\n", ";"),
];

const BASES: [(&str, u32); 3] = [("0x", 16), ("0b", 2), ("0o", 8)];

/// Splits the text; the last token is [`Kind::End`].
pub(super) fn split(text: &str) -> Result<Vec<Token>, Fault> {
    let mut tokens = Vec::new();
    let (mut byte, mut at, mut spaced) = (0, 0, false);
    while let Some(rest) = text.get(byte..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = match next(rest) {
            Ok(Some((kind, length))) => (Some(kind), length),
            Ok(None) => (None, rest.chars().next().map_or(1, char::len_utf8)),
            Err(message) => return Err(Fault { at, message }),
        };
        spaced = match kind {
            Some(kind) => {
                tokens.push(Token { kind, at, byte, spaced });
                false
            }
            None => true,
        };
        at += rest.get(..length).map_or(1, |part| part.chars().count());
        byte += length;
    }
    tokens.push(Token { kind: Kind::End, at, byte, spaced });
    Ok(tokens)
}

/// The token at the start of the text and its bytes, or nothing at a blank.
fn next(rest: &str) -> Result<Option<(Kind, usize)>, String> {
    if let Some((written, symbol)) = SYMBOLS.iter().find(|(written, _)| rest.starts_with(written)) {
        return Ok(Some((Kind::Symbol(symbol), written.len())));
    }
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_whitespace() {
        return Ok(None);
    }
    let followed_by_digit = rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if first.is_ascii_digit() || (first == '.' && followed_by_digit) {
        return number(rest).map(Some);
    }
    if starts_name(first) {
        let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or(rest);
        return Ok(Some((Kind::Name(name.to_owned()), length)));
    }
    Err(match first {
        '$' | '€' | '£' | '¥' => format!("`{first}`: write amounts of money as plain numbers"),
        '\'' => "feet and inches are written `5 ft + 6 inch`".to_owned(),
        _ => format!("`{first}` means nothing here"),
    })
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '°')
}

fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

fn number(rest: &str) -> Result<(Kind, usize), String> {
    for (prefix, base) in BASES {
        let Some(digits) = rest.strip_prefix(prefix) else { continue };
        let length = digits.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let length = length.unwrap_or(digits.len());
        let written = digits.get(..length).unwrap_or("").replace('_', "");
        let value = num_bigint::BigInt::parse_bytes(written.as_bytes(), base)
            .filter(|_| written.len() <= 2_000)
            .ok_or_else(|| format!("`{prefix}{written}` is not a number of base {base}"))?;
        return Ok((Kind::Number(Number::from_integer(value)), prefix.len() + length));
    }
    let length = decimal_length(rest);
    let written = rest.get(..length).unwrap_or(rest).replace('_', "");
    match exact::parse(&written) {
        Some(value) => Ok((Kind::Number(value), length)),
        None => Err("this number is too long, or its power of ten is beyond 4000".to_owned()),
    }
}

/// Digits with `_` between, a fraction, and an exponent only if digits follow it: `5e` is 5 times e.
fn decimal_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'_') {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    end
}
