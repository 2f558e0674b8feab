//! Everything that is decided before the first request: whom to call, with which key, how long to
//! wait, and through which proxy. Nothing here reads the environment or a file.

use std::time::Duration;

use crate::credentials::Credentials;
use crate::endpoint::EndpointError;
use crate::quirks::Quirks;
use crate::secret::Secret;

/// How to reach one provider.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A name of the table of api modes, such as `chat_completions`.
    pub api_mode: String,
    /// Where the API is; completed by the api mode's endpoint.
    pub base_url: String,
    /// Sent as the api mode wants it; empty for servers that want none.
    pub credentials: Credentials,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// Through which proxies.
    pub proxy: ProxyChoice,
    /// What is special about the server.
    pub quirks: Quirks,
    /// Further headers. They replace ours of the same name, `authorization` included.
    pub headers: Vec<(String, Secret)>,
}

impl Settings {
    /// Settings without a key, with default timeouts and no proxy.
    pub fn new(api_mode: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            api_mode: api_mode.into(),
            base_url: base_url.into(),
            credentials: Credentials::default(),
            timeouts: Timeouts::default(),
            proxy: ProxyChoice::default(),
            quirks: Quirks::default(),
            headers: Vec::new(),
        }
    }
}

/// How long one model call may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection, TLS included. 30 s by default.
    pub connect: Duration,
    /// For the next byte, the first one included. 180 s by default, and longer for models known to
    /// reason in silence; any other value holds for every model.
    pub stall: Duration,
    /// For the whole call. 1800 s by default.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            stall: Duration::from_secs(180),
            total: Duration::from_secs(1800),
        }
    }
}

/// Models that reason for minutes before their first byte, by the start of their names without a
/// maker's prefix, and how many seconds to bear it. The first row that fits counts. The numbers
/// are those Hermes Agent bears them for.
const SILENT: &[(&str, u64)] = &[
    ("o3-mini", 300),
    ("o4-mini", 300),
    ("o1", 600),
    ("o3", 600),
    ("deepseek-r1", 600),
    ("deepseek-reasoner", 600),
    ("deepseek-v4", 600),
    ("qwq", 300),
    ("claude-opus-4", 240),
];

impl Timeouts {
    /// The same for this model: a default silence is lengthened where the model needs it.
    #[must_use]
    pub fn for_model(self, model: &str) -> Self {
        if self.stall != Self::default().stall {
            return self;
        }
        let model = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        // `o1` and `o1-pro`, but not `o1x`.
        let fits = |name: &str| {
            model.strip_prefix(name).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(|c: char| !c.is_ascii_alphanumeric())
            })
        };
        let found = SILENT.iter().find(|(name, _)| fits(name));
        found.map_or(self, |(_, seconds)| Self { stall: Duration::from_secs(*seconds), ..self })
    }
}

/// Which proxies to use. The default is none, whatever the system is configured for; addresses
/// of this machine are always reached directly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyChoice {
    /// For `http:` URLs.
    pub http: Option<Secret>,
    /// For `https:` URLs.
    pub https: Option<Secret>,
    /// Hosts to reach directly, in the usual comma separated form.
    pub no_proxy: Option<String>,
}

impl ProxyChoice {
    /// The choice that the customary variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY` make, in either case, the lower one first. `lookup` reads a variable.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&str]| {
            let values = names.iter().filter_map(|name| lookup(name));
            values.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
        };
        Self {
            http: first(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]).map(Secret::from),
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
                .map(Secret::from),
            no_proxy: first(&["no_proxy", "NO_PROXY"]),
        }
    }
}

/// Why settings cannot be used. Never shows a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No such api mode.
    #[error("unknown api mode {given:?}; known are {known}{}", suggestion(.nearest))]
    ApiMode {
        /// What was given.
        given: String,
        /// The modes there are.
        known: String,
        /// The one most like it.
        nearest: Option<String>,
    },
    /// The base URL is no good.
    #[error(transparent)]
    BaseUrl(#[from] EndpointError),
    /// A header cannot be sent.
    #[error("header {name:?} cannot be sent: {reason}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The key cannot be sent.
    #[error("the key holds characters no header can carry; check that it was copied whole")]
    Key,
    /// A proxy's address is no good.
    #[error(
        "the proxy for {scheme} is no http:// or https:// address; write it like http://proxy.example.com:3128"
    )]
    Proxy {
        /// Whose proxy it is.
        scheme: &'static str,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_come_from_the_customary_variables() {
        let choice = |variables: &[(&str, &str)]| {
            ProxyChoice::from_variables(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let proxies = |http: Option<&str>, https: Option<&str>, none: Option<&str>| ProxyChoice {
            http: http.map(Secret::new),
            https: https.map(Secret::new),
            no_proxy: none.map(str::to_owned),
        };
        assert_eq!(choice(&[]), ProxyChoice::default());
        assert_eq!(
            choice(&[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "a,b")]),
            proxies(None, Some("http://p:1"), Some("a,b"))
        );
        assert_eq!(
            choice(&[
                ("ALL_PROXY", "http://all"),
                ("http_proxy", "http://low"),
                ("HTTP_PROXY", "http://up")
            ]),
            proxies(Some("http://low"), Some("http://all"), None)
        );
        assert_eq!(choice(&[("http_proxy", " "), ("HTTP_PROXY", "")]), ProxyChoice::default());
    }

    #[test]
    fn silent_models_are_borne_longer_unless_somebody_says_otherwise() {
        let cases = [
            ("gpt-x", 180),
            ("o1", 600),
            ("openai/o3-pro", 600),
            ("o3-mini-high", 300),
            ("o1x", 180),
            ("deepseek/deepseek-r1:free", 600),
            ("Claude-Opus-4-7", 240),
            ("", 180),
        ];
        for (model, seconds) in cases {
            let timeouts = Timeouts::default().for_model(model);
            assert_eq!(timeouts.stall, Duration::from_secs(seconds), "{model}");
        }
        let own = Timeouts { stall: Duration::from_secs(5), ..Timeouts::default() };
        assert_eq!(own.for_model("o1"), own);
    }

    #[test]
    fn debug_output_shows_no_credential() {
        let settings = Settings {
            credentials: Credentials::new([Secret::new("sk-0123456789")]),
            proxy: ProxyChoice { http: Some(Secret::new("http://me:pw@p")), ..Default::default() },
            headers: vec![("x-key".into(), Secret::new("abcdefgh"))],
            ..Settings::new("chat_completions", "http://localhost")
        };
        let shown = format!("{settings:?}");
        for secret in ["sk-0", "pw", "abcdefgh"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
