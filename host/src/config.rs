//! `config.toml`: what a user decides once. Pure data; what follows from it is decided where it is
//! used.

mod unknown_key;

use std::collections::BTreeMap;
use std::path::Path;

use hermes_plugin::registry::PluginSettings;
use serde::Deserialize;

use crate::UsageError;

/// The whole file. Every key is optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The provider used where `--provider` names none.
    pub provider: Option<String>,
    /// Limits of a turn and the like.
    pub agent: AgentConfig,
    /// Configured providers, by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Settings of plugins, by name.
    pub plugins: BTreeMap<String, PluginSettings>,
}

/// `[agent]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Model calls a turn may make. Default 500.
    pub max_turns: Option<u32>,
    /// Who the model is, instead of `SOUL.md` or the default; the rest of the prompt follows it.
    pub system: Option<String>,
    /// Whether `AGENTS.md` and the like are read from the working directory. Default true.
    pub context_files: Option<bool>,
    /// Most text of one tool result that the model sees whole, in bytes. Default 100 000.
    pub result_bytes: Option<usize>,
}

/// `[providers.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// The wire format. Default `chat_completions`.
    pub api_mode: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The model used where `--model` names none.
    pub model: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// A shell command that prints its key.
    pub key_command: Option<String>,
    /// Tokens the model can hold.
    pub context_window: Option<u64>,
    /// Seconds to wait for a connection.
    pub connect_timeout_s: Option<u64>,
    /// Seconds without a byte after which a reply counts as dead.
    pub stall_timeout_s: Option<u64>,
    /// Seconds a whole reply may take.
    pub total_timeout_s: Option<u64>,
    /// Sampling parameters; unknown ones are passed through.
    pub params: hermes_core::transport::Sampling,
}

impl Config {
    /// Reads the file; one that is not there is an empty one.
    ///
    /// # Errors
    /// It cannot be read, is not TOML, or holds an unknown key or a wrong value.
    pub fn load(path: &Path) -> Result<Self, UsageError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text)
                .map_err(|problem| UsageError::new(format!("{}: {problem}", path.display()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(UsageError::new(format!("cannot read {}: {error}", path.display()))),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| unknown_key::explain(text, &error))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_key_of_the_documentation_is_known() {
        let config = Config::parse(
            r#"
            provider = "work"
            [agent]
            max_turns = 40
            [providers.work]
            api_mode = "chat_completions"
            base_url = "https://llm.example/v1"
            model = "m"
            key_env = "WORK_KEY"
            stall_timeout_s = 60
            params = { temperature = 0.2, top_k = 40 }
            [plugins.guard]
            required = true
            config = { defaults = false }
            limits = { wall_ms = 100 }
            "#,
        )
        .unwrap();
        assert_eq!(config.agent.max_turns, Some(40));
        assert_eq!(config.providers["work"].params.temperature, Some(0.2));
        assert_eq!(config.providers["work"].params.extra["top_k"], 40);
        assert!(config.plugins["guard"].required && config.plugins["guard"].enabled);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest_right_one() {
        assert_eq!(
            Config::parse("[agent]\nmax_turn = 4").unwrap_err(),
            "line 2: unknown key \"max_turn\"; did you mean \"max_turns\"?"
        );
        assert_eq!(
            Config::parse("[agent]\nzzz = 4").unwrap_err(),
            "line 2: unknown key \"zzz\"; known keys here: max_turns, system, context_files, result_bytes"
        );
    }

    #[test]
    fn a_wrong_value_is_named_with_its_line() {
        assert_eq!(
            Config::parse("[agent]\nmax_turns = \"many\"").unwrap_err(),
            "line 2: invalid type: string \"many\", expected u32"
        );
    }
}
