//! `providers`: who can be asked. Says which variable holds a key, never the key.

use std::process::ExitCode;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Output, RunArgs, exit};
use crate::UsageError;
use crate::config::Config;
use crate::home::Home;
use crate::provider::key::{self, KeyFrom, Role};
use crate::provider::spec::Spec;
use crate::provider::{ModelChoice, known};
use crate::render::{Out, printable};

/// One provider, as programs read it.
#[derive(Debug, PartialEq, Serialize)]
struct Listed {
    name: String,
    /// Absent where only the customer knows it.
    base_url: Option<String>,
    api_mode: Option<String>,
    model: Option<String>,
    key: Key,
}

/// Whether there is a key.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum Key {
    /// In these variables.
    Found { variables: Vec<String> },
    /// In none of these.
    Missing { variables: Vec<String> },
    /// There is none, and none is needed; these would be looked into.
    NotNeeded { variables: Vec<String> },
    /// A command prints it when it is needed.
    Command,
    /// Not known before it is said where the provider is.
    Unknown,
}

/// Runs `providers`.
pub(super) fn main(args: &RunArgs, home: &Home) -> Result<ExitCode, UsageError> {
    let config = Config::load(&home.config())?;
    let listed = list(&config, &|name| std::env::var(name).ok());
    let out = Out::new(CancellationToken::new());
    if args.output == Output::Text {
        for provider in &listed {
            out.line(&printable(&line(provider)));
        }
    } else {
        out.json(&listed);
    }
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { exit::FINISHED }))
}

/// The configured providers, then the known ones that are not among them.
fn list(config: &Config, lookup: key::Lookup<'_>) -> Vec<Listed> {
    let configured = config.providers.keys().map(String::as_str);
    let known =
        known::all().iter().filter(|row| !config.providers.keys().any(|name| row.is_called(name)));
    let names = configured.chain(known.map(|row| row.name.as_str()));
    names.map(|name| listed(name, config, lookup)).collect()
}

fn listed(name: &str, config: &Config, lookup: key::Lookup<'_>) -> Listed {
    let spec = Spec::new(Some(name), &ModelChoice::default(), config, Role::Other);
    let Ok(spec) = spec else {
        let name = name.to_owned();
        return Listed { name, base_url: None, api_mode: None, model: None, key: Key::Unknown };
    };
    let key = match spec.keys {
        KeyFrom::Command(_) => Key::Command,
        KeyFrom::Variables { names, several, required } => {
            let found = key::read(&names, several, lookup);
            let variables = found.into_iter().map(|(variable, _)| variable).collect::<Vec<_>>();
            match (variables.is_empty(), required) {
                (false, _) => Key::Found { variables },
                (true, true) => Key::Missing { variables: names },
                (true, false) => Key::NotNeeded { variables: names },
            }
        }
    };
    Listed {
        name: spec.name,
        base_url: Some(spec.base_url),
        api_mode: Some(spec.api_mode),
        model: spec.model,
        key,
    }
}

fn line(provider: &Listed) -> String {
    let key = match &provider.key {
        Key::Found { variables } => format!("key in {}", variables.join(", ")),
        Key::Missing { variables } => format!("no key: set {}", variables.join(" or ")),
        Key::NotNeeded { .. } => "needs no key".into(),
        Key::Command => "key from its key_command".into(),
        Key::Unknown => format!("needs a base_url under [providers.{}]", provider.name),
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let (mode, url) = (or_none(&provider.api_mode), or_none(&provider.base_url));
    format!(
        "{:<12} {mode:<18} {key}\n{:<12} {url}  {}",
        provider.name,
        "",
        or_none(&provider.model)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_provider_is_listed_once_with_the_variable_and_without_the_key() {
        let config: Config = toml::from_str(
            "[providers.kimi]\nmodel = \"k\"\n[providers.work]\nbase_url = \"http://w/anthropic\"\n\
             key_command = \"vault\"",
        )
        .unwrap();
        let listed = list(&config, &|name| (name == "KIMI_API_KEY").then(|| "sk-1".to_owned()));
        let lines: Vec<String> = listed.iter().map(line).collect();
        assert_eq!(
            lines[..2],
            [
                "kimi         chat_completions   key in KIMI_API_KEY\n             \
                 https://api.moonshot.ai/v1  k",
                "work         anthropic_messages key from its key_command\n             \
                 http://w/anthropic  -",
            ]
        );
        assert_eq!(listed.len(), known::all().len() + 1);
        let shown = |name: &str| {
            lines.iter().find(|line| line.starts_with(&format!("{name} "))).unwrap().clone()
        };
        assert!(shown("groq").contains("no key: set GROQ_API_KEY"), "{}", shown("groq"));
        assert!(shown("azure").contains("needs a base_url under [providers.azure]"));
        assert!(shown("ollama").contains("needs no key"));
        let json = serde_json::to_string(&listed).unwrap();
        assert!(!json.contains("sk-1") && !lines.concat().contains("sk-1"));
        assert!(json.starts_with(
            "[{\"name\":\"kimi\",\"base_url\":\"https://api.moonshot.ai/v1\",\"api_mode\":\
             \"chat_completions\",\"model\":\"k\",\"key\":{\"state\":\"found\",\"variables\":\
             [\"KIMI_API_KEY\"]}}"
        ));
    }
}
