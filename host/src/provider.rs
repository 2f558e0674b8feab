//! From what was said on the command line and in the configuration to the route a model is asked
//! by. The key stays with the host the user named it for.

use std::time::Duration;

use hermes_core::router::Route;
use hermes_core::transport::Sampling;
use hermes_transport::{ProxyChoice, Secret, Settings, Timeouts};

use crate::UsageError;
use crate::config::{Config, ProviderConfig};

/// What the command line or an embedding program says about the model; all optional.
#[derive(Debug, Clone, Default)]
pub struct ModelChoice {
    /// A name under `[providers]`.
    pub provider: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// Where the provider is.
    pub base_url: Option<String>,
    /// The wire format.
    pub api_mode: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Whole replies instead of streamed ones.
    pub no_stream: bool,
}

/// The variable that holds a key for whatever the primary is.
const GENERIC_KEY: &str = "HERMES_HOST_API_KEY";

/// The variables that customarily hold a key, by api mode; the first serves where no mode matches.
const USUAL_KEYS: &[(&str, &str)] = &[
    ("chat_completions", "OPENAI_API_KEY"),
    ("responses", "OPENAI_API_KEY"),
    ("anthropic_messages", "ANTHROPIC_API_KEY"),
];

/// The name of a provider that exists only on the command line.
const CUSTOM: &str = "custom";

/// Decides the primary's route.
///
/// # Errors
/// Nothing says which model to ask, or what is said cannot be used.
pub(crate) fn primary(choice: &ModelChoice, config: &Config) -> Result<Route, UsageError> {
    let (name, provider) = configured(choice, config)?;
    let base_url = choice.base_url.clone().or(provider.base_url.clone()).ok_or_else(|| {
        UsageError::new(format!(
            "provider {name:?} has no base_url; add one under [providers.{name}] or say --base-url"
        ))
    })?;
    let model = choice.model.clone().or(provider.model.clone()).ok_or_else(|| {
        UsageError::new(format!("no model is named for provider {name:?}; say --model NAME"))
    })?;
    let api_mode = choice.api_mode.clone().or(provider.api_mode.clone());
    let api_mode = api_mode.unwrap_or_else(|| "chat_completions".into());
    let key = key(&name, &provider, &api_mode)?;
    let seconds = |value: Option<u64>, default| value.map_or(default, Duration::from_secs);
    let defaults = Timeouts::default();
    let settings = Settings {
        api_key: key,
        timeouts: Timeouts {
            connect: seconds(provider.connect_timeout_s, defaults.connect),
            stall: seconds(provider.stall_timeout_s, defaults.stall),
            total: seconds(provider.total_timeout_s, defaults.total),
        },
        proxy: ProxyChoice::from_variables(|name| std::env::var(name).ok()),
        ..Settings::new(api_mode, base_url)
    };
    let transport = hermes_transport::open(&settings)
        .map_err(|error| UsageError::new(format!("provider {name:?}: {error}")))?;
    let sampling = Sampling {
        temperature: choice.temperature.or(provider.params.temperature),
        ..provider.params.clone()
    };
    let context_window = provider.context_window;
    let stream = !choice.no_stream;
    let prices = None;
    Ok(Route { provider: name, model, context_window, prices, sampling, stream, transport })
}

/// The provider that is meant, and what the configuration says of it.
fn configured(
    choice: &ModelChoice,
    config: &Config,
) -> Result<(String, ProviderConfig), UsageError> {
    let only = match config.providers.len() {
        1 => config.providers.keys().next(),
        _ => None,
    };
    // A base URL on the command line replaces the primary, unless a provider is named beside it.
    let named = choice.provider.as_ref().or(match choice.base_url {
        Some(_) => None,
        None => config.provider.as_ref().or(only),
    });
    let Some(name) = named else {
        return match &choice.base_url {
            Some(_) => Ok((CUSTOM.into(), ProviderConfig::default())),
            None => Err(UsageError::new(NOTHING_CONFIGURED)),
        };
    };
    match config.providers.get(name) {
        Some(provider) => Ok((name.clone(), provider.clone())),
        None if choice.base_url.is_some() => Ok((name.clone(), ProviderConfig::default())),
        None => {
            let known: Vec<&str> = config.providers.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "none is configured".into()
            } else {
                format!("configured: {}", known.join(", "))
            };
            Err(UsageError::new(format!(
                "no provider is named {name:?} ({known}); add [providers.{name}] to config.toml"
            )))
        }
    }
}

const NOTHING_CONFIGURED: &str = "no model is configured. Say where one is, for example
  hermes-host --base-url http://localhost:11434/v1 --model llama3.2 -q \"hello\"
or put it into config.toml in the home folder:
  [providers.openai]
  base_url = \"https://api.openai.com/v1\"
  model = \"gpt-4.1\"
  key_env = \"OPENAI_API_KEY\"
Without any model: hermes-host demo";

/// The variables that may hold a key: no plugin ever sees them.
pub(crate) fn key_variables(config: &Config) -> Vec<String> {
    let own = config.providers.values().filter_map(|provider| provider.key_env.clone());
    let usual = USUAL_KEYS.iter().map(|(_, variable)| (*variable).to_owned());
    own.chain(usual).chain([GENERIC_KEY.to_owned()]).collect()
}

/// The key: the provider's own, else the generic one, else the api mode's usual one.
fn key(
    name: &str,
    provider: &ProviderConfig,
    api_mode: &str,
) -> Result<Option<Secret>, UsageError> {
    if let Some(command) = &provider.key_command {
        return run_key_command(name, command).map(Some);
    }
    if let Some(variable) = &provider.key_env {
        return match variable_value(variable) {
            Some(key) => Ok(Some(key)),
            None => Err(UsageError::new(format!(
                "the key of provider {name:?} is missing: set {variable} (its key_env)"
            ))),
        };
    }
    let usual =
        if api_mode == "anthropic_messages" { "ANTHROPIC_API_KEY" } else { "OPENAI_API_KEY" };
    Ok(variable_value(GENERIC_KEY).or_else(|| variable_value(usual)))
}

fn variable_value(variable: &str) -> Option<Secret> {
    let value = std::env::var(variable).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| Secret::new(value))
}

fn run_key_command(name: &str, command: &str) -> Result<Secret, UsageError> {
    let output = std::process::Command::new("sh").args(["-c", command]).output();
    let output = output.map_err(|error| {
        UsageError::new(format!("the key_command of provider {name:?} cannot run: {error}"))
    })?;
    let key = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || key.is_empty() {
        let why = if output.status.success() {
            "printed nothing".into()
        } else {
            output.status.to_string()
        };
        return Err(UsageError::new(format!(
            "the key_command of provider {name:?} gave no key ({why})"
        )));
    }
    Ok(Secret::new(&key))
}
