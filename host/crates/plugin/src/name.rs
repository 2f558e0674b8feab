//! The names that cross the border between a plugin and its user: which are legal, and what to
//! write instead of one that is not.

/// A plugin's name: `[a-z0-9-]{1,40}`.
///
/// # Errors
/// The text says what to write instead.
pub fn plugin(text: &str) -> Result<String, String> {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if (1..=40).contains(&text.len()) && text.bytes().all(legal) {
        return Ok(text.to_owned());
    }
    Err("must be 1 to 40 of the characters a-z, 0-9 and -".into())
}

/// A secret's name: `[A-Z0-9_]{1,64}`.
///
/// # Errors
/// The text says what to write instead.
pub fn secret(text: &str) -> Result<String, String> {
    let legal = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    if (1..=64).contains(&text.len()) && text.bytes().all(legal) {
        return Ok(text.to_owned());
    }
    Err("must be 1 to 64 of the characters A-Z, 0-9 and _, as SERVICE_TOKEN".into())
}

/// An environment variable's name.
pub(crate) fn variable(text: &str) -> Result<String, String> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if (1..=128).contains(&text.len()) && text.bytes().all(legal) && !text.starts_with(digit) {
        return Ok(text.to_owned());
    }
    Err("must be the name of an environment variable, as LANG".into())
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The name of a header or a query parameter (RFC 9110 calls it a token).
pub(crate) fn token(text: &str) -> Result<String, String> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if (1..=64).contains(&text.len()) && text.bytes().all(legal) {
        return Ok(text.to_owned());
    }
    Err("must be a name without spaces, as \"Authorization\"".into())
}

/// Text of one line that a terminal can show as it is.
pub(crate) fn one_line(text: &str) -> Result<String, String> {
    const MAX: usize = 1000;
    if text.len() <= MAX && !text.contains(char::is_control) {
        return Ok(text.to_owned());
    }
    Err(format!("must be one line of at most {MAX} bytes"))
}
