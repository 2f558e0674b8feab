//! `secrets`: credentials that plugins may use and never see. No command shows a value, and none
//! takes one from the command line, where every process could read it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Read as _};
use std::process::ExitCode;

use clap::Subcommand;
use hermes_plugin::name;
use hermes_plugin::registry::{Loaded, PluginSummary};
use hermes_plugin::secret::{Secret, SecretError, SecretSource};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Output, RunArgs, exit, plugins};
use crate::UsageError;
use crate::home::Home;
use crate::render::{Out, printable};
use crate::secrets::{PREFIX, SecretsFile, Sources};

/// Most that is read from standard input, in bytes: more than any value has.
const INPUT_BYTES: u64 = 64 << 10;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Keep a secret; the value is asked for, or read from standard input
    Set {
        /// Its name, such as GITHUB_TOKEN
        name: String,
    },
    /// List secrets: where each is, and which plugins ask for it
    List,
    /// Forget a secret
    Remove {
        /// Its name
        name: String,
    },
}

/// One secret of the list. It holds no value.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    /// Where its value is; absent if it has none.
    source: Option<&'static str>,
    /// Why the value cannot be used.
    problem: Option<String>,
    /// The plugins that ask for it.
    plugins: Vec<Asking>,
}

#[derive(Debug, Serialize)]
struct Asking {
    name: String,
    granted: bool,
}

/// Runs a `secrets` command.
pub(super) fn main(
    command: &SecretsCommand,
    args: &RunArgs,
    home: &Home,
) -> Result<ExitCode, UsageError> {
    let out = Out::new(CancellationToken::new());
    match command {
        SecretsCommand::Set { name } => set(name, home, &out)?,
        SecretsCommand::List => list(args, home, &out)?,
        SecretsCommand::Remove { name } => remove(name, home, &out)?,
    }
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { exit::FINISHED }))
}

fn set(name: &str, home: &Home, out: &Out) -> Result<(), UsageError> {
    let name = legal(name)?;
    let text = ask(&name)
        .map_err(|error| UsageError::new(format!("the value of {name} cannot be read: {error}")))?;
    let secret = Secret::parse(&text)
        .map_err(|what| UsageError::new(format!("{name} was not kept: {what}")))?;
    home.create()?;
    SecretsFile::of(home).set(&name, &secret).map_err(refused)?;
    out.line(&format!("{name} is kept in {}", home.secrets().display()));
    if std::env::var_os(format!("{PREFIX}{name}")).is_some() {
        out.note(&format!("{PREFIX}{name} is set here and goes before it"));
    }
    Ok(())
}

/// The value: typed unseen, or all of standard input.
fn ask(name: &str) -> std::io::Result<String> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return rpassword::prompt_password(format!("Value of {name} (not shown): "));
    }
    let mut text = String::new();
    stdin.by_ref().take(INPUT_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn remove(name: &str, home: &Home, out: &Out) -> Result<(), UsageError> {
    let name = legal(name)?;
    if SecretsFile::of(home).remove(&name).map_err(refused)? {
        out.line(&format!("removed {name}"));
        return Ok(());
    }
    let elsewhere = match std::env::var_os(format!("{PREFIX}{name}")) {
        Some(_) => format!("; it is in the environment, as {PREFIX}{name}"),
        None => "; hermes-host secrets list shows what is kept".into(),
    };
    Err(UsageError::new(format!("no secret {name} is kept{elsewhere}")))
}

fn list(args: &RunArgs, home: &Home, out: &Out) -> Result<(), UsageError> {
    let loaded = plugins::load(args, home)?;
    let sources = Sources::new(home);
    let kept = sources.names().map_err(refused)?;
    let listed = listed(&loaded, &sources, kept);
    if args.output != Output::Text {
        out.json(&listed);
        return Ok(());
    }
    if listed.is_empty() {
        out.note("no secrets; keep one with hermes-host secrets set NAME");
    }
    for secret in &listed {
        let source = secret.source.unwrap_or("no value");
        out.line(&printable(&format!("{:<24} {source:<12} {}", secret.name, askers(secret))));
        if let Some(problem) = &secret.problem {
            out.line(&format!("                         {}", printable(problem)));
        }
    }
    Ok(())
}

fn listed(loaded: &Loaded, sources: &Sources, kept: Vec<String>) -> Vec<Listed> {
    let mut asking: BTreeMap<&str, Vec<Asking>> = BTreeMap::new();
    for plugin in &loaded.plugins {
        for secret in asked(plugin) {
            let granted = plugin.grants.contains(&format!("secret:{secret}"));
            let one = Asking { name: plugin.name.clone(), granted };
            asking.entry(secret).or_default().push(one);
        }
    }
    let names: BTreeSet<&str> =
        kept.iter().map(String::as_str).chain(asking.keys().copied()).collect();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let listed = |name: String| {
        let (source, problem) = match sources.place_of(&name) {
            Ok(source) => (source, None),
            Err(problem) => (None, Some(problem.to_string())),
        };
        let plugins = asking.remove(&*name).unwrap_or_default();
        Listed { name, source, problem, plugins }
    };
    names.into_iter().map(listed).collect()
}

/// The secrets a plugin asks for, each once.
fn asked(plugin: &PluginSummary) -> BTreeSet<&str> {
    plugin.requests.iter().filter_map(|line| line.strip_prefix("secret:")).collect()
}

fn askers(secret: &Listed) -> String {
    let one = |asking: &Asking| match asking.granted {
        true => format!("{} (granted)", asking.name),
        false => format!(
            "{0} (not granted: hermes-host plugins grant {0} secret:{1})",
            asking.name, secret.name
        ),
    };
    secret.plugins.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn legal(name: &str) -> Result<String, UsageError> {
    name::secret(name).map_err(|what| {
        UsageError::new(format!("{:?} names no secret: it {what}", printable(name)))
    })
}

fn refused(error: SecretError) -> UsageError {
    UsageError::new(error.to_string())
}
