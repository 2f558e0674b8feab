//! `config.toml`: what a user decides once. Pure data; what follows from it is decided where it is
//! used.

mod one_or_more;
mod unknown_key;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::budget::BudgetLimits;
use hermes_core::compress::CompressionSettings;
use hermes_core::notice::{BudgetNotice, ContextNotice, PromptNotice};
use hermes_native::Memory;
use hermes_plugin::registry::PluginSettings;
use serde::Deserialize;

use crate::{UsageError, checkpoint};

pub use one_or_more::OneOrMore;

/// The whole file. Every key is optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The provider used where `--provider` names none.
    pub provider: Option<String>,
    /// Providers that take over when the primary cannot answer, in order.
    pub fallback_providers: Vec<String>,
    /// Who does the side tasks.
    pub auxiliary: AuxiliaryConfig,
    /// Limits of a turn and the like.
    pub agent: AgentConfig,
    /// What a turn may spend besides model calls.
    pub budget: BudgetConfig,
    /// When the history is compressed.
    pub compression: CompressionConfig,
    /// What is kept of folders before turns change them.
    pub checkpoints: CheckpointConfig,
    /// Configured providers, by name. One that is known by itself, such as `groq`, is overlaid.
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
    /// What the model is told at the end of a request while it matters. Default: nothing.
    pub notices: Vec<Notice>,
}

/// A word about limits that the model cannot see by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// Most of the turn's budget is spent.
    Budget,
    /// The history is about to be compressed.
    Context,
}

impl Notice {
    /// What gives it.
    pub(crate) fn port(self) -> Arc<dyn PromptNotice> {
        match self {
            Self::Budget => Arc::new(BudgetNotice),
            Self::Context => Arc::new(ContextNotice),
        }
    }
}

/// `[budget]`: what a turn may spend; what is left out does not limit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetConfig {
    /// Tokens of all its model calls.
    pub tokens: Option<u64>,
    /// US dollars, as far as prices are known.
    pub usd: Option<f64>,
    /// Seconds.
    pub wall_s: Option<u64>,
}

impl BudgetConfig {
    /// The limits it comes to.
    ///
    /// # Errors
    /// One of them is nothing, or less.
    pub fn limits(&self) -> Result<BudgetLimits, UsageError> {
        let nothing = [
            ("tokens", self.tokens == Some(0)),
            ("usd", self.usd.is_some_and(|usd| !usd.is_finite() || usd <= 0.0)),
            ("wall_s", self.wall_s == Some(0)),
        ];
        if let Some((name, _)) = nothing.into_iter().find(|(_, is_nothing)| *is_nothing) {
            return Err(UsageError::new(format!(
                "budget.{name} leaves nothing to spend; give more than 0, or leave it out for no limit"
            )));
        }
        let wall = self.wall_s.map(Duration::from_secs);
        Ok(BudgetLimits { tokens: self.tokens, usd: self.usd, wall })
    }
}

/// `[compression]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompressionConfig {
    /// Whether to compress at all. Default true.
    pub enabled: Option<bool>,
    /// Part of the usable window above which to compress, above 0 and below 1. Default 0.5, and 0.75
    /// at least for windows below 512 000 tokens.
    pub threshold: Option<f64>,
    /// Part of the threshold that the kept end of the conversation may take. Default 0.2.
    pub target_ratio: Option<f64>,
    /// Messages kept at the beginning, until there is a summary. Default 3.
    pub protect_first_n: Option<usize>,
    /// Messages at the end whose tool output stays. Default 20.
    pub protect_last_n: Option<usize>,
    /// Where the compressed history goes. Default: in the place of the one there was.
    pub mode: CompressionMode,
    /// Whether the model is asked first what the memory should keep. Default true.
    pub flush_memory: Option<bool>,
}

/// Where a compressed history goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompressionMode {
    /// It takes the place of the one there was, which is archived in the same session.
    #[default]
    InPlace,
    /// It is a session of its own that continues the one there was.
    Child,
}

impl CompressionConfig {
    /// The settings it comes to.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn settings(&self) -> Result<CompressionSettings, UsageError> {
        let part = |name: &str, value: Option<f64>, default| match value {
            Some(value) if value > 0.0 && value < 1.0 => Ok(value),
            Some(value) => Err(UsageError::new(format!(
                "compression.{name} is {value}; give a number between 0 and 1, such as {default}"
            ))),
            None => Ok(default),
        };
        let defaults = CompressionSettings::default();
        Ok(CompressionSettings {
            enabled: self.enabled.unwrap_or(defaults.enabled),
            threshold: part("threshold", self.threshold, defaults.threshold)?,
            target_ratio: part("target_ratio", self.target_ratio, defaults.target_ratio)?,
            protect_first_n: self.protect_first_n.unwrap_or(defaults.protect_first_n),
            protect_last_n: self.protect_last_n.unwrap_or(defaults.protect_last_n),
            in_child: self.mode == CompressionMode::Child,
            memory_tool: self.flush_memory.unwrap_or(true).then(|| Memory::NAME.into()),
            ..defaults
        })
    }
}

/// `[providers.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// The wire format. Default: what the provider is known for, or its address tells.
    pub api_mode: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The model used where `--model` names none.
    pub model: Option<String>,
    /// The variable that holds its key, or several of them with a key each.
    pub key_env: Option<OneOrMore>,
    /// What prints its key: a command for the shell, or a program with its arguments.
    pub key_command: Option<OneOrMore>,
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
    /// What its tokens cost, in US dollars a million, instead of what our table says.
    pub prices: Option<hermes_core::usage::Prices>,
    /// How its server differs from what OpenAI's documentation says, all of it, instead of what
    /// our table says.
    pub quirks: Option<hermes_transport::Quirks>,
}

/// `[checkpoints]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointConfig {
    /// Whether any are taken. Default true.
    pub enabled: Option<bool>,
    /// Most files of a folder; one with more is not kept. Default 20 000.
    pub max_files: Option<usize>,
    /// Largest file that is kept, in MiB. Default 10.
    pub max_file_mib: Option<u64>,
    /// All that is kept, in MiB; the oldest checkpoints go first. Default 500.
    pub max_mib: Option<u64>,
    /// Checkpoints kept of a folder. Default 20.
    pub keep: Option<usize>,
}

impl CheckpointConfig {
    /// The limits it comes to.
    ///
    /// # Errors
    /// One of them is nothing.
    pub(crate) fn limits(&self) -> Result<checkpoint::Limits, UsageError> {
        let nothing = [
            ("max_files", self.max_files == Some(0)),
            ("max_file_mib", self.max_file_mib == Some(0)),
            ("max_mib", self.max_mib == Some(0)),
            ("keep", self.keep == Some(0)),
        ];
        if let Some((name, _)) = nothing.into_iter().find(|(_, is_nothing)| *is_nothing) {
            return Err(UsageError::new(format!(
                "checkpoints.{name} is 0; give at least 1, or say enabled = false for no checkpoints"
            )));
        }
        Ok(checkpoint::Limits {
            files: self.max_files.unwrap_or(20_000),
            file_bytes: self.max_file_mib.unwrap_or(10).saturating_mul(1 << 20),
            total_bytes: self.max_mib.unwrap_or(500).saturating_mul(1 << 20),
            checkpoints: self.keep.unwrap_or(20),
        })
    }
}

/// `[auxiliary]`: who does a side task. A task without an entry is done by the main providers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuxiliaryConfig {
    /// Summing up a history that outgrows its window.
    pub compression: Option<TaskConfig>,
    /// Naming sessions.
    pub title: Option<TaskConfig>,
    /// Looking at images for a model that cannot.
    pub vision: Option<TaskConfig>,
    /// Reading web pages.
    pub web_extract: Option<TaskConfig>,
    /// Judging what a person would otherwise be asked.
    pub approval: Option<TaskConfig>,
}

impl AuxiliaryConfig {
    /// The configured tasks, by name.
    pub fn tasks(&self) -> impl Iterator<Item = (&'static str, &TaskConfig)> {
        let all = [
            ("compression", &self.compression),
            ("title", &self.title),
            ("vision", &self.vision),
            ("web_extract", &self.web_extract),
            ("approval", &self.approval),
        ];
        all.into_iter().filter_map(|(name, task)| task.as_ref().map(|task| (name, task)))
    }
}

/// `[auxiliary.TASK]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskConfig {
    /// Who does it; tried in order, and the main providers last.
    #[serde(alias = "providers")]
    pub provider: Option<OneOrMore>,
    /// The model, instead of the one the first provider is configured for.
    pub model: Option<String>,
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

    /// Whether a provider is there as a fallback or for a side task.
    pub(crate) fn employs(&self, name: &str) -> bool {
        let side = self.auxiliary.tasks().filter_map(|(_, task)| task.provider.as_ref());
        self.fallback_providers.iter().chain(side.flat_map(OneOrMore::all)).any(|n| n == name)
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
            fallback_providers = ["groq", "local"]
            [agent]
            max_turns = 40
            [budget]
            tokens = 2000000
            usd = 5.0
            wall_s = 3600
            [compression]
            enabled = true
            threshold = 0.6
            target_ratio = 0.3
            protect_first_n = 2
            protect_last_n = 12
            [providers.work]
            api_mode = "chat_completions"
            base_url = "https://llm.example/v1"
            model = "m"
            key_env = "WORK_KEY"
            stall_timeout_s = 60
            params = { temperature = 0.2, top_k = 40 }
            prices = { input = 1.5, output = 6.0 }
            [providers.local]
            base_url = "http://localhost:8080/v1"
            key_env = ["LOCAL_KEY_1", "LOCAL_KEY_2"]
            [providers.vault]
            key_command = ["pass", "show", "llm"]
            [auxiliary.title]
            providers = ["groq", "local"]
            model = "small"
            [plugins.guard]
            required = true
            config = { defaults = false }
            limits = { wall_ms = 100 }
            "#,
        )
        .unwrap();
        assert_eq!(config.agent.max_turns, Some(40));
        let compression = config.compression.settings().unwrap();
        assert_eq!((compression.threshold, compression.protect_last_n), (0.6, 12));
        assert_eq!(config.providers["work"].params.temperature, Some(0.2));
        assert_eq!(config.providers["work"].params.extra["top_k"], 40);
        assert_eq!(config.providers["work"].prices.unwrap().output, 6.0);
        assert_eq!(config.providers["local"].key_env.as_ref().unwrap().all().len(), 2);
        let tasks: Vec<_> = config.auxiliary.tasks().map(|(name, _)| name).collect();
        assert_eq!((config.fallback_providers.len(), tasks), (2, vec!["title"]));
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
            "line 2: unknown key \"zzz\"; known keys here: max_turns, system, context_files, result_bytes, notices"
        );
    }

    #[test]
    fn a_budget_of_nothing_is_refused() {
        let budget = |text: &str| Config::parse(text).unwrap().budget.limits();
        assert_eq!(budget("").unwrap(), BudgetLimits::default());
        assert_eq!(budget("[budget]\nwall_s = 60").unwrap().wall, Some(Duration::from_secs(60)));
        for text in ["tokens = 0", "usd = 0.0", "usd = -1.0", "usd = nan", "wall_s = 0"] {
            assert!(budget(&format!("[budget]\n{text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn a_part_that_is_none_is_refused() {
        let config = Config::parse("[compression]\nthreshold = 50.0").unwrap();
        assert_eq!(
            config.compression.settings().unwrap_err().to_string(),
            "compression.threshold is 50; give a number between 0 and 1, such as 0.5"
        );
    }

    #[test]
    fn a_wrong_value_is_named_with_its_line() {
        assert_eq!(
            Config::parse("[agent]\nmax_turns = \"many\"").unwrap_err(),
            "line 2: invalid type: string \"many\", expected u32"
        );
        assert_eq!(
            Config::parse("[providers.a]\nkey_env = 3").unwrap_err(),
            "line 2: invalid type: integer `3`, expected a string or a list of strings"
        );
        assert_eq!(
            Config::parse("[auxiliary.titel]\nmodel = \"m\"").unwrap_err(),
            "line 1: unknown key \"titel\"; did you mean \"title\"?"
        );
    }
}
