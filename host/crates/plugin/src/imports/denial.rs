//! The failure of a power that is not granted: what was denied, and the one command that allows it.

use hermes_core::failure::code;

use crate::bindings::plugin_types::Failure;
use crate::convert::refusal;
use crate::guest::Guest;

/// Longest text of a guest's that is repeated in a denial.
const SHOWN_BYTES: usize = 300;

impl Guest {
    /// Why `what` is denied and what would allow it.
    pub(super) fn denied(&self, what: &str, kind: &str, granted: &[String], rest: &str) -> Failure {
        let name = &self.scope.identity.name;
        let what = hermes_core::text::ellipsis(what, SHOWN_BYTES).replace(char::is_control, " ");
        if granted.is_empty() {
            let allow = grant_argument(kind, rest).map_or_else(String::new, |argument| {
                format!(" To allow it: hermes-host plugins grant {name} {argument}")
            });
            let message = format!(
                "denied: {what} is not in the {kind} grants of plugin {name:?}. Not retryable.{allow}"
            );
            return refusal(code::DENIED, message);
        }
        let message =
            format!("denied: {what}: plugins cannot use {kind} in this version. Not retryable");
        refusal(code::UNAVAILABLE, message)
    }
}

/// A grant as an argument that can be pasted into a shell, or nothing: the guest chose the text,
/// and must not choose what its user runs.
fn grant_argument(kind: &str, rest: &str) -> Option<String> {
    if rest.is_empty()
        || rest.len() > SHOWN_BYTES
        || rest.contains(|c: char| c.is_control() || c == '\'')
    {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@%+=,".contains(c);
    let argument = format!("{kind}:{rest}");
    Some(if argument.chars().all(plain) { argument } else { format!("'{argument}'") })
}

#[cfg(test)]
mod tests {
    use super::grant_argument;

    #[test]
    fn a_suggested_grant_cannot_run_anything_when_pasted() {
        let argument = |kind, rest| grant_argument(kind, rest);
        assert_eq!(argument("http", "https://x.y/a"), Some("http:https://x.y/a".into()));
        assert_eq!(argument("http", "https://x.y/;id"), Some("'http:https://x.y/;id'".into()));
        assert_eq!(
            argument("process", "git status $(id)"),
            Some("'process:git status $(id)'".into())
        );
        assert_eq!(argument("http", "https://x.y/';id;'"), None);
        assert_eq!(argument("secret", "a\nb"), None);
        assert_eq!(argument("http", &"x".repeat(301)), None);
    }
}
