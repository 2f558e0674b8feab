//! What a manifest says of a secret: who may receive it, and how it gets into a request.

use url::{Origin, Url};

/// One `[[request.secret]]` table. Several may name one secret, with an audience each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRule {
    /// The secret's name.
    pub name: String,
    /// The origin that may receive it, as `https://api.github.com`.
    pub audience: Origin,
    /// How it gets into a request.
    pub inject: Inject,
    /// Whether a placeholder in a JSON body is swapped too.
    pub body: bool,
    /// Where the user gets one.
    pub hint: Option<String>,
}

/// How a secret gets into a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inject {
    /// The plugin places the inert placeholder itself.
    Placeholder,
    /// In a header, after a prefix.
    Header {
        /// The header's name.
        header: String,
        /// What stands before the value.
        prefix: String,
    },
    /// As a parameter of the query.
    Query {
        /// The parameter's name.
        query: String,
    },
}

impl SecretRule {
    /// Whether a request to `url` reaches the audience.
    pub fn is_for(&self, url: &Url) -> bool {
        url.origin() == self.audience
    }
}

/// What is said of a secret that is granted and has no value.
pub(crate) fn missing(rule: &SecretRule) -> String {
    let name = &rule.name;
    let hint = rule.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!(
        "the secret {name:?} has no value{hint}. To give it one: hermes-host secrets set {name}"
    )
}
