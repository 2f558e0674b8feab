//! The command line: what was typed. What it means is decided in the file of each command.

mod chat;
mod demo;
mod interrupt;
mod plugins;
mod prompt;
mod providers;
mod rollback;
mod run;
mod secrets;
mod sessions;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::home::Home;
use crate::provider::ModelChoice;

/// Exit codes; other programs depend on them.
pub mod exit {
    /// Finished.
    pub const FINISHED: u8 = 0;
    /// Failed, or stopped by a hook.
    pub const FAILED: u8 = 1;
    /// Usage, configuration or grant error.
    pub const USAGE: u8 = 2;
    /// The budget is spent.
    pub const BUDGET_SPENT: u8 = 3;
    /// Interrupted (128 + SIGINT).
    pub const INTERRUPTED: u8 = 130;
    /// Whoever read our output went away (128 + SIGPIPE).
    pub const BROKEN_PIPE: u8 = 141;
    /// Terminated (128 + SIGTERM).
    pub const TERMINATED: u8 = 143;
}

/// Runs an LLM agent whose tools are sandboxed WebAssembly components.
#[derive(Debug, Parser)]
#[command(name = "hermes-host", version, max_term_width = 100)]
#[command(
    after_help = "Without -q: a chat when standard input is a terminal, else all of standard input is the prompt."
)]
pub struct Cli {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What a run needs to know.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Ask this and print the answer; `-` reads the prompt from standard input
    #[arg(short = 'q', long = "query", value_name = "PROMPT", allow_hyphen_values = true)]
    pub(crate) query: Option<String>,
    /// Append standard input to the prompt, as a fenced block
    #[arg(long, requires = "query")]
    pub(crate) stdin: bool,
    /// Load plugins from this folder (repeatable) [default: plugins/ in the home folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) plugins: Vec<PathBuf>,
    /// Grant a power to a plugin for this process, such as files:fs:.:rw (repeatable)
    #[arg(long, value_name = "NAME:KIND:REST", global = true)]
    pub(crate) grant: Vec<String>,
    /// Approve whatever is asked; never overrides a deny
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// Trust the plugin folders by path, whatever their bytes are
    #[arg(long, global = true)]
    pub(crate) dev: bool,
    /// A known provider, such as groq, or one of config.toml
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Where the provider is, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The wire format, such as chat_completions
    #[arg(long, value_name = "MODE")]
    pub(crate) api_mode: Option<String>,
    /// Sampling temperature
    #[arg(long, value_name = "T")]
    pub(crate) temperature: Option<f64>,
    /// Ask for whole replies instead of streamed ones
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Most model calls of a turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// The whole system prompt, or @FILE to read it from; without it, see `prompt show`
    #[arg(long, value_name = "TEXT|@FILE")]
    pub(crate) system: Option<String>,
    /// Go on with a stored session (its id or title, or the start of one)
    #[arg(long, value_name = "ID", conflicts_with = "continue_latest")]
    pub(crate) resume: Option<String>,
    /// Go on with the latest session
    #[arg(long = "continue")]
    pub(crate) continue_latest: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = Output::Text, global = true)]
    pub(crate) output: Output,
    /// Say more on standard error (repeatable)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people: standard output carries only the answer
    Text,
    /// One result object
    Json,
    /// One event a line
    StreamJson,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// List, inspect, build, grant and call plugins
    #[command(subcommand)]
    Plugins(plugins::PluginsCommand),
    /// Show the system prompt, layer by layer
    #[command(subcommand)]
    Prompt(prompt::PromptCommand),
    /// List the providers: where each is, and whether there is a key for it
    Providers,
    /// Set, list and remove the secrets that plugins may use and never see
    #[command(subcommand)]
    Secrets(secrets::SecretsCommand),
    /// List, show, search, export, rename and delete stored sessions
    #[command(subcommand)]
    Sessions(sessions::SessionsCommand),
    /// Bring folders back to what they were before the last turns that changed them
    Rollback(rollback::RollbackArgs),
    /// A whole conversation without any key: a scripted model, real plugins, a real folder
    Demo,
}

impl Cli {
    /// How often `-v` was given.
    pub fn verbosity(&self) -> u8 {
        self.run.verbose
    }
}

impl RunArgs {
    /// What is said about the model.
    pub(crate) fn model_choice(&self) -> ModelChoice {
        ModelChoice {
            provider: self.provider.clone(),
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            api_mode: self.api_mode.clone(),
            temperature: self.temperature,
            no_stream: self.no_stream,
        }
    }
}

/// Runs what was typed and returns the exit code.
pub async fn main(cli: Cli) -> ExitCode {
    let home = match Home::from_env() {
        Ok(home) => home,
        Err(error) => return run::refuse(&cli.run, &error),
    };
    let code = match &cli.command {
        None => run::main(&cli.run, &home).await,
        Some(Command::Plugins(command)) => plugins::main(command, &cli.run, &home).await,
        Some(Command::Prompt(command)) => prompt::main(command, &cli.run, &home).await,
        Some(Command::Providers) => providers::main(&cli.run, &home),
        Some(Command::Secrets(command)) => secrets::main(command, &cli.run, &home),
        Some(Command::Sessions(command)) => sessions::main(command, &cli.run, &home).await,
        Some(Command::Rollback(command)) => rollback::main(command, &cli.run, &home),
        Some(Command::Demo) => demo::main(&cli.run, &home).await,
    };
    code.unwrap_or_else(|error| run::refuse(&cli.run, &error))
}
