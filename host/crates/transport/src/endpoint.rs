//! From the base URL a user writes to the address a request goes to.
//!
//! Pure: nothing is resolved or connected. Which leaf an api mode has is the mode's own row.

use url::Url;

/// What an api mode adds to a base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// The last segments of the address, such as `chat/completions`.
    pub leaf: &'static str,
    /// When the version segment `v1` is added before the leaf.
    pub version: Version,
}

/// When `v1` is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Only to a base URL without any path: a path is taken to name its version itself.
    WithoutPath,
    /// To every base URL whose path does not end in `v1`.
    UnlessThere,
}

/// Why a base URL is no good. Never shows the credentials in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It does not parse.
    #[error("base URL {given:?} is no URL ({reason}); write it like https://api.example.com/v1")]
    Malformed {
        /// What was given.
        given: String,
        /// What the parser says.
        reason: String,
    },
    /// Neither `http` nor `https`.
    #[error("base URL {given:?} is neither http:// nor https://; write it like http://{given}")]
    Scheme {
        /// What was given.
        given: String,
    },
    /// It carries a user name or a password.
    #[error("the base URL carries a user name or password; remove it and give the key instead")]
    Credentials,
}

/// The address for `base` with `endpoint` added where it is not there already. The query stays.
///
/// # Errors
///
/// [`EndpointError`].
pub fn endpoint(base: &str, endpoint: Endpoint) -> Result<Url, EndpointError> {
    let mut url = parse(base)?;
    url.set_fragment(None);
    let mut path: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
    let leaf: Vec<&str> = endpoint.leaf.split('/').collect();
    if !path.ends_with(&leaf) {
        let version = match endpoint.version {
            Version::WithoutPath => path.is_empty(),
            Version::UnlessThere => path.last() != Some(&"v1"),
        };
        if version {
            path.push("v1");
        }
        path.extend(leaf);
    }
    let path = format!("/{}", path.join("/"));
    url.set_path(&path);
    Ok(url)
}

fn parse(base: &str) -> Result<Url, EndpointError> {
    let given = base.trim();
    let shown = || match given.contains('@') {
        true => "…".to_owned(), // what stands before an @ may be a password
        false => given.to_owned(),
    };
    let url = Url::parse(given)
        .map_err(|error| EndpointError::Malformed { given: shown(), reason: error.to_string() })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::Credentials);
    }
    // `localhost:8080/v1` parses, as a URL of the scheme `localhost`.
    if !matches!(url.scheme(), "http" | "https") {
        return Err(EndpointError::Scheme { given: shown() });
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: Endpoint = Endpoint { leaf: "chat/completions", version: Version::WithoutPath };
    const RESPONSES: Endpoint = Endpoint { leaf: "responses", version: Version::WithoutPath };
    const MESSAGES: Endpoint = Endpoint { leaf: "messages", version: Version::UnlessThere };

    #[test]
    fn base_urls_become_endpoints() {
        let cases = [
            (CHAT, "https://api.x.com", "https://api.x.com/v1/chat/completions"),
            (CHAT, "https://api.x.com/", "https://api.x.com/v1/chat/completions"),
            (CHAT, " http://localhost:11434 ", "http://localhost:11434/v1/chat/completions"),
            (CHAT, "https://api.x.com/v1", "https://api.x.com/v1/chat/completions"),
            (CHAT, "https://api.x.com/v1/", "https://api.x.com/v1/chat/completions"),
            (CHAT, "https://x.ai/api/paas/v4", "https://x.ai/api/paas/v4/chat/completions"),
            (CHAT, "https://x.ai/v1/chat/completions", "https://x.ai/v1/chat/completions"),
            (CHAT, "https://x.ai/chat/completions/", "https://x.ai/chat/completions"),
            (CHAT, "https://x.ai/completions", "https://x.ai/completions/chat/completions"),
            (CHAT, "https://x.ai/v1#frag", "https://x.ai/v1/chat/completions"),
            (CHAT, "https://x.ai?key=a%20b", "https://x.ai/v1/chat/completions?key=a%20b"),
            (
                CHAT,
                "https://r.x.com/openai/deployments/d?api-version=1",
                "https://r.x.com/openai/deployments/d/chat/completions?api-version=1",
            ),
            (CHAT, "http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
            (CHAT, "https://x.ai/a%2Fb", "https://x.ai/a%2Fb/chat/completions"),
            (RESPONSES, "https://api.x.com", "https://api.x.com/v1/responses"),
            (RESPONSES, "https://api.x.com/v1", "https://api.x.com/v1/responses"),
            (RESPONSES, "https://api.x.com/v1/responses", "https://api.x.com/v1/responses"),
            (MESSAGES, "https://api.x.com", "https://api.x.com/v1/messages"),
            (MESSAGES, "https://api.x.com/v1", "https://api.x.com/v1/messages"),
            (MESSAGES, "https://x.ai/anthropic", "https://x.ai/anthropic/v1/messages"),
            (MESSAGES, "https://x.ai/v1/messages", "https://x.ai/v1/messages"),
            (MESSAGES, "https://x.ai/messages?a=b", "https://x.ai/messages?a=b"),
        ];
        for (mode, base, expected) in cases {
            assert_eq!(endpoint(base, mode).map(String::from), Ok(expected.to_owned()), "{base}");
        }
    }

    #[test]
    fn bad_base_urls_are_refused_without_showing_credentials() {
        let cases = [
            (
                "https://me:pw@x.ai/v1",
                "the base URL carries a user name or password; remove it and give the key instead",
            ),
            (
                "https://me@x.ai/v1",
                "the base URL carries a user name or password; remove it and give the key instead",
            ),
            (
                "localhost:8080/v1",
                "base URL \"localhost:8080/v1\" is neither http:// nor https://; write it like http://localhost:8080/v1",
            ),
            (
                "api.x.com/v1",
                "base URL \"api.x.com/v1\" is no URL (relative URL without a base); write it like https://api.example.com/v1",
            ),
            (
                "https://me:pw@",
                "base URL \"…\" is no URL (empty host); write it like https://api.example.com/v1",
            ),
            (
                "",
                "base URL \"\" is no URL (relative URL without a base); write it like https://api.example.com/v1",
            ),
        ];
        for (base, expected) in cases {
            let error = endpoint(base, CHAT).expect_err(base);
            assert_eq!(error.to_string(), expected, "{base}");
        }
    }
}
