//! The providers everybody can name: a table of data. What a row leaves open is the user's to say.

use std::sync::LazyLock;

use hermes_transport::Quirks;
use serde::Deserialize;
use url::Url;

/// One row of the table. What each part means is explained at the head of `providers.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) example: Option<String>,
    pub(crate) api_mode: Option<String>,
    pub(crate) keys: Vec<String>,
    pub(crate) model: Option<String>,
    pub(crate) local: bool,
    pub(crate) quirks: Quirks,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    provider: Vec<Known>,
}

static TABLE: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("providers.toml")).expect("the table is tested to parse");
    table.provider
});

/// All rows, in the order in which a key is looked for.
pub(crate) fn all() -> &'static [Known] {
    &TABLE
}

/// The row with this name or alias.
pub(crate) fn named(name: &str) -> Option<&'static Known> {
    all().iter().find(|row| row.is_called(name))
}

/// The row whose servers this address belongs to. Local rows have no host of their own.
pub(crate) fn at(base_url: &str) -> Option<&'static Known> {
    all().iter().find(|row| row.serves(base_url))
}

impl Known {
    /// Whether `name` means this row.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Whether this address is one of the provider's own servers, over TLS.
    pub(crate) fn serves(&self, base_url: &str) -> bool {
        let (Some(url), false) = (parse(base_url), self.local) else { return false };
        let Some(host) = url.host_str() else { return false };
        let own = self.base_url.as_deref().and_then(parse);
        let own = own.as_ref().and_then(Url::host_str);
        url.scheme() == "https"
            && own.into_iter().chain(self.hosts.iter().map(String::as_str)).any(|known| match known
                .strip_prefix('.')
            {
                Some(_) => host.ends_with(known),
                None => host == known,
            })
    }
}

fn parse(base_url: &str) -> Option<Url> {
    Url::parse(base_url.trim()).ok()
}

/// Whether this address is on the user's own machine or network, as far as it tells by itself.
pub(crate) fn is_local(base_url: &str) -> bool {
    use url::Host::{Domain, Ipv4, Ipv6};
    let Some(url) = parse(base_url) else { return false };
    match url.host() {
        Some(Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost"
                || [".localhost", ".local", ".internal"].iter().any(|end| name.ends_with(end))
        }
        Some(Ipv4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Some(Ipv6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_table_holds_what_is_promised_and_each_word_means_one_row() {
        let names: Vec<&str> = all().iter().map(|row| row.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "anthropic",
                "openai",
                "openrouter",
                "gemini",
                "deepseek",
                "moonshot",
                "mistral",
                "groq",
                "xai",
                "together",
                "azure",
                "ollama",
                "vllm",
                "lm-studio",
            ]
        );
        let words = all().iter().flat_map(|row| row.aliases.iter().chain([&row.name]));
        for word in words {
            assert_eq!(all().iter().filter(|row| row.is_called(word)).count(), 1, "{word}");
        }
        for row in all() {
            assert!(row.base_url.is_some() || row.example.is_some(), "{}", row.name);
            assert!(!row.keys.is_empty(), "{}", row.name);
            let url = row.base_url.as_deref().map(|url| Url::parse(url).unwrap());
            let scheme = if row.local { "http" } else { "https" };
            assert!(url.is_none_or(|url| url.scheme() == scheme), "{}", row.name);
        }
        let mut keys: Vec<&String> = all().iter().flat_map(|row| &row.keys).collect();
        keys.sort();
        let all_keys = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), all_keys, "no variable serves two providers");
    }

    #[test]
    fn addresses_are_recognised_by_their_host_and_never_by_a_part_of_it() {
        let name = |url: &str| at(url).map(|row| row.name.as_str());
        for (url, expected) in [
            ("https://api.groq.com/openai/v1", Some("groq")),
            (" https://API.GROQ.com", Some("groq")),
            ("https://api.moonshot.cn/v1", Some("moonshot")),
            ("https://me.openai.azure.com/openai/v1", Some("azure")),
            ("http://api.groq.com/openai/v1", None),
            ("https://api.groq.com.example.net/v1", None),
            ("https://notapi.groq.com/v1", None),
            ("https://openai.azure.com.example.net/", None),
            ("https://example.net/api.groq.com", None),
            ("https://api.groq.com@example.net/v1", None),
            ("http://127.0.0.1:11434/v1", None),
            ("nonsense", None),
        ] {
            assert_eq!(name(url), expected, "{url}");
        }
    }

    #[test]
    fn ones_own_network_is_told_from_the_internet() {
        for (url, expected) in [
            ("http://localhost:1234/v1", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:8080/v1", true),
            ("http://192.168.1.9/v1", true),
            ("http://box.local:8000/v1", true),
            ("http://host.docker.internal:11434", true),
            ("https://localhost.example.net", false),
            ("https://8.8.8.8/v1", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_local(url), expected, "{url}");
        }
    }
}
