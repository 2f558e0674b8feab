//! Which wire format a provider is spoken to in: what is said explicitly, else what the provider is
//! known to speak, else what its address tells, else `chat_completions`.

use url::Url;

const CHAT_COMPLETIONS: &str = "chat_completions";
const RESPONSES: &str = "responses";
const ANTHROPIC_MESSAGES: &str = "anthropic_messages";

/// Decides the api mode. A name nobody knows is passed on: the transport refuses it with the names
/// there are.
pub(crate) fn resolve(explicit: Option<&str>, provider: Option<&str>, base_url: &str) -> String {
    explicit.or(provider).unwrap_or_else(|| told_by(base_url)).to_owned()
}

/// What an address tells.
fn told_by(base_url: &str) -> &'static str {
    let Ok(url) = Url::parse(base_url.trim()) else { return CHAT_COMPLETIONS };
    let path: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
    match (url.host_str(), path.as_slice()) {
        (_, [.., "chat", "completions"]) => CHAT_COMPLETIONS,
        (_, [.., "responses"]) => RESPONSES,
        (_, [.., "messages" | "anthropic"] | [.., "anthropic", "v1"]) => ANTHROPIC_MESSAGES,
        (Some("api.anthropic.com"), _) => ANTHROPIC_MESSAGES,
        // Only there do OpenAI's models keep what they reasoned from one call to the next.
        (Some("api.openai.com"), _) => RESPONSES,
        _ => CHAT_COMPLETIONS,
    }
}

/// The variable that customarily holds a key for servers that speak this mode, whoever runs them.
pub(crate) fn usual_key(api_mode: &str) -> &'static str {
    if api_mode == ANTHROPIC_MESSAGES { "ANTHROPIC_API_KEY" } else { "OPENAI_API_KEY" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_before_provider_before_address_before_chat_completions() {
        for (explicit, provider, base_url, expected) in [
            (Some("responses"), Some("anthropic_messages"), "https://x.ai/anthropic", RESPONSES),
            (None, Some("chat_completions"), "https://api.anthropic.com", CHAT_COMPLETIONS),
            (None, None, "https://api.anthropic.com", ANTHROPIC_MESSAGES),
            (None, None, "https://api.anthropic.com/v1", ANTHROPIC_MESSAGES),
            (None, None, "https://x.ai/anthropic", ANTHROPIC_MESSAGES),
            (None, None, "https://x.ai/anthropic/", ANTHROPIC_MESSAGES),
            (None, None, "https://x.ai/anthropic/v1", ANTHROPIC_MESSAGES),
            (None, None, "https://x.ai/v1/messages?beta=1", ANTHROPIC_MESSAGES),
            (None, None, "https://x.ai/v1/responses", RESPONSES),
            (None, None, "https://api.openai.com/v1", RESPONSES),
            (None, None, "https://api.openai.com/v1/chat/completions", CHAT_COMPLETIONS),
            (None, None, "https://x.ai/anthropic/v1/chat/completions", CHAT_COMPLETIONS),
            (None, None, "https://x.ai/v1", CHAT_COMPLETIONS),
            (None, None, "https://x.ai/anthropic/models", CHAT_COMPLETIONS),
            (None, None, "https://api.anthropic.com.example.net", CHAT_COMPLETIONS),
            (None, None, "nonsense", CHAT_COMPLETIONS),
            (Some("soap"), None, "https://x.ai", "soap"),
        ] {
            assert_eq!(resolve(explicit, provider, base_url), expected, "{base_url}");
        }
    }
}
