//! Placeholders: inert random tokens that stand for secrets inside one call.

use memchr::memmem;

/// What a placeholder begins with, so that one can be recognised wherever it turns up.
const PREFIX: &str = "hmx_placeholder_";

/// The random hex digits after it: 128 bits.
const DIGITS: usize = 32;

/// The placeholders of one call.
#[derive(Debug, Default)]
pub struct Placeholders(Vec<(String, String)>);

impl Placeholders {
    /// The token that stands for a secret in this call.
    pub fn issue(&mut self, name: &str) -> String {
        if let Some((_, token)) = self.0.iter().find(|(known, _)| known == name) {
            return token.clone();
        }
        let token = format!("{PREFIX}{:0DIGITS$x}", rand::random::<u128>());
        self.0.push((name.to_owned(), token.clone()));
        token
    }

    /// Each secret's name and token.
    pub(super) fn issued(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, token)| (name.as_str(), token.as_str()))
    }

    pub(super) fn knows(&self, token: &str) -> bool {
        self.0.iter().any(|(_, known)| known == token)
    }
}

/// Whatever has the shape of a placeholder. What is cut, split or mistyped has not: it stays inert
/// text.
pub(super) fn tokens_in(bytes: &[u8]) -> impl Iterator<Item = &str> {
    memmem::find_iter(bytes, PREFIX).filter_map(|at| {
        let token = bytes.get(at..at + PREFIX.len() + DIGITS)?;
        let digits = &token[PREFIX.len()..];
        let legal = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if digits.iter().all(legal) { std::str::from_utf8(token).ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_random_recognisable_and_the_same_within_a_call() {
        let (mut one, mut two) = (Placeholders::default(), Placeholders::default());
        let token = one.issue("A");
        assert_eq!(token, one.issue("A"));
        assert_ne!(token, one.issue("B"));
        assert_ne!(token, two.issue("A"));
        let text = format!("x{token}y hmx_placeholder_ hmx_placeholder_0123 {token}");
        assert_eq!(tokens_in(text.as_bytes()).collect::<Vec<_>>(), [&token, &token]);
    }

    #[test]
    fn half_a_placeholder_is_none() {
        let token = Placeholders::default().issue("A");
        let (one, two) = token.split_at(30);
        assert_eq!(tokens_in(format!("{one} {two}").as_bytes()).count(), 0);
        assert_eq!(tokens_in(token.to_uppercase().as_bytes()).count(), 0);
    }
}
